#include "server/ingest/decode/pgoutput.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"

namespace tidemark::ingest::pgoutput {
namespace {

// Reads big-endian numbers and strings. After the first failure every read gives zero or nothing,
// and the place and cause of that failure are kept.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return problem_ == nullptr; }
  size_t left() const { return bytes_.size() - offset_; }
  size_t offset() const { return offset_; }
  const char* problem() const { return problem_; }

  void Fail(const char* problem) {
    if (problem_ == nullptr) problem_ = problem;
  }
  uint64_t Number(size_t size) {
    const std::string_view bytes = Bytes(size);
    uint64_t number = 0;
    for (char c : bytes) number = number << 8 | static_cast<uint8_t>(c);
    return number;
  }
  uint8_t Byte() { return static_cast<uint8_t>(Number(1)); }
  uint16_t Int16() { return static_cast<uint16_t>(Number(2)); }
  uint32_t Int32() { return static_cast<uint32_t>(Number(4)); }
  uint64_t Int64() { return Number(8); }
  absl::Time Time() {
    // Microseconds since 2000-01-01T00:00:00Z.
    constexpr int64_t kEpochSeconds = 946684800;
    return absl::FromUnixMicros(static_cast<int64_t>(Int64())) + absl::Seconds(kEpochSeconds);
  }
  std::string_view Bytes(size_t size) {
    if (!ok()) return {};
    if (size > left()) {
      Fail("the message ends early");
      return {};
    }
    const std::string_view bytes = bytes_.substr(offset_, size);
    offset_ += size;
    return bytes;
  }
  // Zero-terminated.
  std::string_view String() {
    if (!ok()) return {};
    const size_t end = bytes_.find('\0', offset_);
    if (end == std::string_view::npos) {
      Fail("a name has no end");
      return {};
    }
    const std::string_view text = bytes_.substr(offset_, end - offset_);
    offset_ = end + 1;
    return text;
  }
  // A count of things of at least `size` bytes each that must still be there: hostile counts
  // allocate nothing.
  size_t Count(int64_t count, size_t size) {
    if (ok() && (count < 0 || static_cast<uint64_t>(count) * size > left())) {
      Fail("a count is larger than the message");
    }
    return ok() ? static_cast<size_t>(count) : 0;
  }

 private:
  const std::string_view bytes_;
  size_t offset_ = 0;
  const char* problem_ = nullptr;
};

// The alternative T of *message, keeping its memory when it is there already.
template <typename T>
T& Alternative(Message* message) {
  if (T* present = std::get_if<T>(message)) return *present;
  return message->emplace<T>();
}

void ReadTuple(Reader& in, std::vector<Field>* tuple) {
  const size_t count = in.Count(static_cast<int16_t>(in.Int16()), 1);
  tuple->resize(count);
  for (Field& field : *tuple) {
    field.kind = static_cast<FieldKind>(in.Byte());
    field.bytes = {};
    switch (field.kind) {
      case FieldKind::kNull:
      case FieldKind::kUnchanged:
        break;
      case FieldKind::kText:
      case FieldKind::kBinary:
        field.bytes = in.Bytes(in.Count(static_cast<int32_t>(in.Int32()), 1));
        break;
      default:
        in.Fail("a column is of unknown kind");
    }
    if (!in.ok()) return;
  }
}

void ReadRelation(Reader& in, Relation& relation) {
  relation.id = in.Int32();
  relation.schema = in.String();
  relation.name = in.String();
  relation.identity = static_cast<ReplicaIdentity>(in.Byte());
  switch (relation.identity) {
    case ReplicaIdentity::kDefault:
    case ReplicaIdentity::kNothing:
    case ReplicaIdentity::kFull:
    case ReplicaIdentity::kIndex:
      break;
    default:
      in.Fail("the replica identity is of unknown kind");
  }
  constexpr size_t kMinColumnBytes = 1 + 1 + 4 + 4;
  relation.columns.resize(in.Count(static_cast<int16_t>(in.Int16()), kMinColumnBytes));
  for (RelationColumn& column : relation.columns) {
    column.key = (in.Byte() & 1) != 0;
    column.name = in.String();
    column.type = in.Int32();
    column.modifier = static_cast<int32_t>(in.Int32());
    if (!in.ok()) return;
  }
}

void ReadRowChange(Reader& in, RowOp op, RowChange& change) {
  change.op = op;
  change.relation = in.Int32();
  change.before.clear();
  change.after.clear();
  change.old_image = OldImage::kNone;
  char part = static_cast<char>(in.Byte());
  if (op != RowOp::kInsert && (part == 'K' || part == 'O')) {
    change.old_image = static_cast<OldImage>(part);
    ReadTuple(in, &change.before);
    if (op == RowOp::kDelete) return;
    part = static_cast<char>(in.Byte());
  }
  if (op == RowOp::kDelete || part != 'N') {
    in.Fail("a row image is of unknown kind");
    return;
  }
  ReadTuple(in, &change.after);
}

void ReadTruncate(Reader& in, Truncate& truncate) {
  const int64_t count = static_cast<int32_t>(in.Int32());
  const uint8_t options = in.Byte();
  truncate.cascade = (options & 1) != 0;
  truncate.restart_identity = (options & 2) != 0;
  truncate.relations.resize(in.Count(count, 4));
  for (uint32_t& relation : truncate.relations) relation = in.Int32();
}

void ReadLogicalMessage(Reader& in, LogicalMessage& message) {
  message.transactional = (in.Byte() & 1) != 0;
  message.lsn = in.Int64();
  message.prefix = in.String();
  message.content = in.Bytes(in.Count(static_cast<int32_t>(in.Int32()), 1));
}

void ReadBody(Reader& in, char type, Message* message) {
  switch (type) {
    case 'B': {
      Begin& begin = Alternative<Begin>(message);
      begin.commit_lsn = in.Int64();
      begin.commit_time = in.Time();
      begin.xid = in.Int32();
      return;
    }
    case 'C': {
      Commit& commit = Alternative<Commit>(message);
      if (in.Byte() != 0) in.Fail("a commit has unknown flags");
      commit.commit_lsn = in.Int64();
      commit.end_lsn = in.Int64();
      commit.commit_time = in.Time();
      return;
    }
    case 'O': {
      Origin& origin = Alternative<Origin>(message);
      origin.commit_lsn = in.Int64();
      origin.name = in.String();
      return;
    }
    case 'R':
      return ReadRelation(in, Alternative<Relation>(message));
    case 'Y': {
      Type& type_message = Alternative<Type>(message);
      type_message.id = in.Int32();
      type_message.schema = in.String();
      type_message.name = in.String();
      return;
    }
    case 'I':
      return ReadRowChange(in, RowOp::kInsert, Alternative<RowChange>(message));
    case 'U':
      return ReadRowChange(in, RowOp::kUpdate, Alternative<RowChange>(message));
    case 'D':
      return ReadRowChange(in, RowOp::kDelete, Alternative<RowChange>(message));
    case 'T':
      return ReadTruncate(in, Alternative<Truncate>(message));
    case 'M':
      return ReadLogicalMessage(in, Alternative<LogicalMessage>(message));
    default:
      in.Fail("the message is of unknown type");
  }
}

}  // namespace

absl::Status Parse(std::string_view bytes, Message* message) {
  Reader in(bytes);
  const char type = static_cast<char>(in.Byte());
  if (in.ok()) ReadBody(in, type, message);
  if (in.ok() && in.left() > 0) in.Fail("the message goes on after its end");
  if (in.ok()) return absl::OkStatus();
  const std::string type_text = bytes.empty() ? "" : Printable(bytes.substr(0, 1));
  return MakeError(
      Reason::kEventMalformed,
      absl::StrCat("pgoutput message '", type_text, "' of ", bytes.size(),
                   " bytes is malformed at byte ", in.offset(), ": ", in.problem(), "."),
      {{"message_type", type_text},
       {"offset", absl::StrCat(in.offset())},
       {"problem", in.problem()}});
}

}  // namespace tidemark::ingest::pgoutput
