// The contract as the descriptors have it: every promised name exists, and the conventions that
// callers rely on hold for all of it.
#include <google/protobuf/descriptor.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/proto/contract_names.h"
#include "tidemark/v1/admin_service.pb.h"
#include "tidemark/v1/checkpoint_service.pb.h"
#include "tidemark/v1/decision_service.pb.h"
#include "tidemark/v1/error_reason.pb.h"
#include "tidemark/v1/ingest_service.pb.h"
#include "tidemark/v1/memory_service.pb.h"
#include "tidemark/v1/run_service.pb.h"
#include "tidemark/v1/state_service.pb.h"
#include "tidemark/v1/tag_service.pb.h"

namespace tidemark {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

// Every file of the package. The first ones bring in the files they import.
std::vector<const FileDescriptor*> Files() {
  std::set<const FileDescriptor*> files;
  std::vector<const FileDescriptor*> open = {
      v1::GetStatusRequest::descriptor()->file(),       v1::CommitStepRequest::descriptor()->file(),
      v1::GetDecisionSpecRequest::descriptor()->file(), v1::ErrorReason_descriptor()->file(),
      v1::StreamEventsRequest::descriptor()->file(),    v1::PutMemoryRequest::descriptor()->file(),
      v1::CreateRunRequest::descriptor()->file(),       v1::GetRowRequest::descriptor()->file(),
      v1::CreateTagRequest::descriptor()->file()};
  while (!open.empty()) {
    const FileDescriptor* file = open.back();
    open.pop_back();
    if (file->package() != "tidemark.v1" || !files.insert(file).second) continue;
    for (int i = 0; i < file->dependency_count(); ++i) open.push_back(file->dependency(i));
  }
  return {files.begin(), files.end()};
}

std::vector<const MethodDescriptor*> Methods() {
  std::vector<const MethodDescriptor*> methods;
  for (const FileDescriptor* file : Files()) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        methods.push_back(file->service(s)->method(m));
      }
    }
  }
  return methods;
}

std::set<std::string> Words(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::set<std::string> words;
  for (std::string word; in >> word;) words.insert(word);
  return words;
}

std::string Qualified(std::string_view name) { return "tidemark.v1." + std::string(name); }

// "OnInFlight" -> "ON_IN_FLIGHT_"
std::string PrefixOf(const EnumDescriptor& type) {
  std::string prefix;
  for (char c : type.name()) {
    if (c >= 'A' && c <= 'Z') {
      if (!prefix.empty()) prefix += '_';
      prefix += c;
    } else {
      prefix += static_cast<char>(c - 'a' + 'A');
    }
  }
  return prefix + "_";
}

TEST(ContractTest, EveryServiceHasExactlyItsPromisedMethods) {
  std::set<std::string> found;
  std::set<std::string> promised;
  for (const MethodDescriptor* method : Methods()) found.insert(method->full_name());
  for (const Names& service : kMethods) {
    for (const std::string& method : Words(service.names)) {
      promised.insert(Qualified(service.of) + "." + method);
    }
  }
  EXPECT_EQ(found, promised);
}

TEST(ContractTest, OnlyThePromisedMethodsStream) {
  std::set<std::string> client;
  std::set<std::string> server;
  for (const MethodDescriptor* method : Methods()) {
    if (method->client_streaming()) client.insert(method->name());
    if (method->server_streaming()) server.insert(method->name());
  }
  EXPECT_EQ(client, Words(kStreaming[0].names));
  EXPECT_EQ(server, Words(kStreaming[1].names));
}

TEST(ContractTest, EveryMethodHasARequestAndAResponseOfItsOwn) {
  for (const MethodDescriptor* method : Methods()) {
    EXPECT_EQ(method->input_type()->full_name(), Qualified(method->name() + "Request"));
    EXPECT_EQ(method->output_type()->full_name(), Qualified(method->name() + "Response"));
  }
}

TEST(ContractTest, EveryPromisedFieldExists) {
  for (const Names& message : kFields) {
    const Descriptor* type =
        DescriptorPool::generated_pool()->FindMessageTypeByName(Qualified(message.of));
    ASSERT_NE(type, nullptr) << message.of;
    for (const std::string& field : Words(message.names)) {
      EXPECT_NE(type->FindFieldByName(field), nullptr) << message.of << "." << field;
    }
  }
}

TEST(ContractTest, EveryPromisedEnumHasItsValues) {
  for (const Names& promised : kEnumValues) {
    const EnumDescriptor* type =
        DescriptorPool::generated_pool()->FindEnumTypeByName(Qualified(promised.of));
    ASSERT_NE(type, nullptr) << promised.of;
    for (const std::string& value : Words(promised.names)) {
      EXPECT_NE(type->FindValueByName(PrefixOf(*type) + value), nullptr)
          << promised.of << " " << value;
    }
  }
}

TEST(ContractTest, EveryEnumValueIsPrefixedAndZeroIsUnspecified) {
  for (const FileDescriptor* file : Files()) {
    for (int e = 0; e < file->enum_type_count(); ++e) {
      const EnumDescriptor& type = *file->enum_type(e);
      EXPECT_EQ(type.FindValueByNumber(0)->name(), PrefixOf(type) + "UNSPECIFIED");
      for (int v = 0; v < type.value_count(); ++v) {
        EXPECT_EQ(type.value(v)->name().rfind(PrefixOf(type), 0), 0u) << type.value(v)->name();
      }
    }
  }
}

// Lists page alike, so that one helper of a client can page through any of them.
TEST(ContractTest, EveryListPages) {
  for (const MethodDescriptor* method : Methods()) {
    if (method->name().rfind("List", 0) != 0) continue;
    EXPECT_NE(method->input_type()->FindFieldByName("page_size"), nullptr) << method->full_name();
    EXPECT_NE(method->input_type()->FindFieldByName("page_token"), nullptr) << method->full_name();
    EXPECT_NE(method->output_type()->FindFieldByName("next_page_token"), nullptr)
        << method->full_name();
  }
}

// S1: every answer of a read names the snapshot it was read at.
TEST(ContractTest, S1_EveryRowReadIsStamped) {
  for (const char* name : {"GetRow", "BatchGetRows", "ScanRows", "GetRowHistory", "ExplainRow"}) {
    const Descriptor* response =
        DescriptorPool::generated_pool()->FindMessageTypeByName(Qualified(name) + "Response");
    const FieldDescriptor* read_at = response->FindFieldByName("read_at");
    ASSERT_NE(read_at, nullptr) << name;
    EXPECT_EQ(read_at->message_type(), v1::SnapshotStamp::descriptor()) << name;
  }
}

// GetRow is answered without parsing the stored row: tag, length and the stored bytes, then the
// version, then the stamp, which was serialised once for all readers of the snapshot.
TEST(ContractTest, SplicedPartsOfGetRowAreTheMessage) {
  v1::GetRowResponse response;
  (*response.mutable_row()->mutable_columns())["name"].set_string_value("x");
  response.set_row_version(5);
  response.mutable_read_at()->set_token("t");
  response.mutable_read_at()->set_snapshot_id(7);
  const std::string row = response.row().SerializeAsString();
  const std::string stamp = response.read_at().SerializeAsString();
  std::string spliced;
  spliced += '\x0a';
  spliced += static_cast<char>(row.size());
  spliced += row;
  spliced += "\x10\x05\x1a";
  spliced += static_cast<char>(stamp.size());
  spliced += stamp;
  EXPECT_EQ(spliced, response.SerializeAsString());
}

}  // namespace
}  // namespace tidemark
