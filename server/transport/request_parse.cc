#include "server/transport/request_parse.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"

namespace tidemark {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

// A path is an error's metadata: bounded, its innermost names are left out.
constexpr size_t kMaxPathBytes = 200;

// Walks the bytes as protobuf's parser does, but with names, until something is wrong.
class Walk {
 public:
  // Whether nothing was found.
  bool Message(const Descriptor& type, std::string_view bytes) { return Fields(&type, bytes, 0); }

  const std::string& problem() const { return problem_; }
  // Of the field; "request" outside of any.
  std::string field() const {
    std::string path;
    for (const std::string& name : path_) {
      if (path.size() + name.size() > kMaxPathBytes) return path + "...";
      absl::StrAppend(&path, path.empty() ? "" : ".", name);
    }
    return path.empty() ? "request" : path;
  }

 private:
  using Input = google::protobuf::io::CodedInputStream;

  // `type` is null inside of what is unknown. `group`: the field number that ends it, 0 for none.
  bool Fields(const Descriptor* type, std::string_view bytes, int depth) {
    Input input(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
    return FieldsOf(type, bytes, depth, 0, input);
  }
  bool FieldsOf(const Descriptor* type, std::string_view bytes, int depth, int group, Input& input);
  bool Bytes(const FieldDescriptor* field, std::string_view value, int depth);
  bool Wrong(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool Cut(const Descriptor* type) {
    return Wrong(type == nullptr ? "is damaged: its bytes end early or are no fields."
                                 : absl::StrCat("is no message of type ", type->full_name(),
                                                ": its bytes end early or are no fields."));
  }

  std::vector<std::string> path_;
  std::string problem_;
};

bool Walk::FieldsOf(const Descriptor* type, std::string_view bytes, int depth, int group,
                    Input& input) {
  // As protobuf counts: the request itself is the first level.
  if (depth > Input::GetDefaultRecursionLimit()) {
    return Wrong(absl::StrCat("is nested too deeply: at most ", Input::GetDefaultRecursionLimit(),
                              " messages may lie in each other."));
  }
  std::map<int, int> seen;  // of repeated fields
  while (static_cast<size_t>(input.CurrentPosition()) < bytes.size()) {
    const uint32_t tag = input.ReadTag();
    const int number = WireFormatLite::GetTagFieldNumber(tag);
    const auto wire = WireFormatLite::GetTagWireType(tag);
    if (number == 0) return Cut(type);
    const FieldDescriptor* field = type == nullptr ? nullptr : type->FindFieldByNumber(number);
    uint64_t varint = 0, fixed64 = 0;
    uint32_t fixed32 = 0;
    bool ok = true;
    switch (wire) {
      case WireFormatLite::WIRETYPE_VARINT:
        ok = input.ReadVarint64(&varint);
        break;
      case WireFormatLite::WIRETYPE_FIXED64:
        ok = input.ReadLittleEndian64(&fixed64);
        break;
      case WireFormatLite::WIRETYPE_FIXED32:
        ok = input.ReadLittleEndian32(&fixed32);
        break;
      case WireFormatLite::WIRETYPE_END_GROUP:
        return number == group || Cut(type);
      case WireFormatLite::WIRETYPE_START_GROUP:
        // The contract has no groups: unknown, whatever its number.
        if (!FieldsOf(nullptr, bytes, depth + 1, number, input)) return false;
        break;
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
        uint32_t size = 0;
        ok = input.ReadVarint32(&size);
        const size_t start = input.CurrentPosition();
        if (field != nullptr) {
          path_.push_back(field->is_repeated()
                              ? absl::StrCat(field->name(), "[", seen[number]++, "]")
                              : field->name());
        }
        if (!ok || size > bytes.size() - start) {
          return Wrong("is cut: it is said to be longer than what was sent.");
        }
        if (field != nullptr) {
          if (!Bytes(field, bytes.substr(start, size), depth)) return false;
          path_.pop_back();
        }
        input.Skip(static_cast<int>(size));
        break;
      }
      default:
        return Cut(type);
    }
    if (!ok) return Cut(type);
  }
  return group == 0 || Cut(type);
}

bool Walk::Bytes(const FieldDescriptor* field, std::string_view value, int depth) {
  if (field->type() == FieldDescriptor::TYPE_MESSAGE) {
    return Fields(field->message_type(), value, depth + 1);
  }
  if (field->type() == FieldDescriptor::TYPE_STRING && !IsUtf8(value)) {
    return Wrong("is text, and what was sent is not UTF-8.");
  }
  return true;
}

}  // namespace

absl::Status UnparsableAs(const Descriptor& type, std::string_view bytes) {
  Walk walk;
  if (!walk.Message(type, bytes)) return FieldInvalid(walk.field(), walk.problem());
  return FieldInvalid("request", absl::StrCat("is no message of type ", type.full_name(), "."));
}

absl::Status ParseRequest(const grpc::ByteBuffer& wire, google::protobuf::Message* message) {
  grpc::ByteBuffer buffer = wire;  // the reader wants one it may change; shares the bytes
  grpc::ProtoBufferReader reader(&buffer);
  if (reader.status().ok() && message->ParseFromZeroCopyStream(&reader)) return absl::OkStatus();
  grpc::Slice bytes;
  if (!wire.DumpToSingleSlice(&bytes).ok()) return UnparsableAs(*message->GetDescriptor(), "");
  return UnparsableAs(*message->GetDescriptor(),
                      {reinterpret_cast<const char*>(bytes.begin()), bytes.size()});
}

}  // namespace tidemark
