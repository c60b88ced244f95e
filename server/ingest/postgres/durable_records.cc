#include "server/ingest/postgres/durable_records.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"
#include "storage/state/coding.h"

namespace tidemark::ingest {
namespace {

// Partition names and formats are on disk: never change what one means.
constexpr std::string_view kIdentity = "identity";
constexpr std::string_view kPosition = "position";
constexpr std::string_view kRelationPrefix = "relation ";
constexpr char kFormat = 1;

uint32_t Zigzag(int32_t number) {
  return static_cast<uint32_t>(number) << 1 ^ static_cast<uint32_t>(number >> 31);
}
int32_t Unzigzag(uint32_t number) {
  return static_cast<int32_t>(number >> 1 ^ (~(number & 1) + 1));
}

bool ReadFormat(state::ByteReader& in) {
  uint8_t format = 0;
  return in.ReadByte(&format) && format == kFormat;
}

bool ReadIdentity(std::string_view bytes, SourceIdentity* identity) {
  state::ByteReader in(bytes);
  return ReadFormat(in) && in.ReadString(&identity->system_identifier) &&
         in.ReadVarint32(&identity->timeline) && in.ReadString(&identity->database) &&
         in.ReadVarint32(&identity->database_oid) && in.ReadString(&identity->slot) &&
         in.ReadString(&identity->publications) && in.done();
}

bool ReadPosition(std::string_view bytes, SourcePosition* position) {
  state::ByteReader in(bytes);
  return ReadFormat(in) && in.ReadBigEndian64(&position->commit_lsn) &&
         in.ReadVarint(&position->event_number) && in.ReadBigEndian64(&position->resume_lsn) &&
         in.done();
}

bool ReadColumn(state::ByteReader& in, ColumnLayout* column) {
  uint32_t number = 0, modifier = 0;
  uint8_t key = 0;
  if (!in.ReadString(&column->name) || !in.ReadVarint32(&number) ||
      !in.ReadVarint32(&column->type) || !in.ReadVarint32(&modifier) || !in.ReadByte(&key) ||
      key > 1) {
    return false;
  }
  column->key = key == 1;
  column->number = Unzigzag(number);
  column->modifier = Unzigzag(modifier);
  return true;
}

bool ReadRelation(std::string_view bytes, RelationRecord* record) {
  state::ByteReader in(bytes);
  uint8_t phase = 0;
  uint64_t columns = 0;
  if (!ReadFormat(in) || !in.ReadByte(&phase) || !in.ReadVarint(&record->generation) ||
      !in.ReadBigEndian64(&record->consistent_point) || !in.ReadVarint32(&record->oid) ||
      !in.ReadString(&record->membership) || !in.ReadVarint(&columns)) {
    return false;
  }
  record->phase = static_cast<RelationPhase>(phase);
  if (record->phase != RelationPhase::kCopying && record->phase != RelationPhase::kStreaming) {
    return false;
  }
  for (uint64_t i = 0; i < columns; ++i) {
    ColumnLayout column;
    if (!ReadColumn(in, &column)) return false;
    record->columns.push_back(std::move(column));
  }
  return in.done();
}

}  // namespace

uint64_t PostgresRecords::generation() const {
  uint64_t newest = 0;
  for (const auto& [name, record] : relations) newest = std::max(newest, record.generation);
  return newest;
}

absl::StatusOr<PostgresRecords> DecodeRecords(const DurableState& state) {
  PostgresRecords records;
  for (const auto& [partition, bytes] : state.partitions) {
    bool ok = false;
    if (partition == kIdentity) {
      ok = ReadIdentity(bytes, &records.identity.emplace());
    } else if (partition == kPosition) {
      ok = ReadPosition(bytes, &records.position.emplace());
    } else if (partition.compare(0, kRelationPrefix.size(), kRelationPrefix) == 0) {
      ok = ReadRelation(bytes, &records.relations[partition.substr(kRelationPrefix.size())]);
    }
    if (!ok) {
      return MakeError(
          Reason::kDataDamaged,
          absl::StrCat("The durable state of a postgres source holds an entry ", Quoted(partition),
                       " of unknown form. Restore a backup, or check the directory "
                       "with --verify."));
    }
  }
  return records;
}

StateEntry EncodeIdentity(std::string_view source, const SourceIdentity& identity) {
  std::string bytes(1, kFormat);
  state::AppendBytes(&bytes, identity.system_identifier);
  state::AppendVarint(&bytes, identity.timeline);
  state::AppendBytes(&bytes, identity.database);
  state::AppendVarint(&bytes, identity.database_oid);
  state::AppendBytes(&bytes, identity.slot);
  state::AppendBytes(&bytes, identity.publications);
  return {PartitionKey(source, kIdentity), std::move(bytes)};
}

StateEntry EncodePosition(std::string_view source, const SourcePosition& position) {
  std::string bytes(1, kFormat);
  state::AppendBigEndian64(&bytes, position.commit_lsn);
  state::AppendVarint(&bytes, position.event_number);
  state::AppendBigEndian64(&bytes, position.resume_lsn);
  return {PartitionKey(source, kPosition), std::move(bytes)};
}

StateEntry EncodeRelation(std::string_view source, const std::string& relation,
                          const RelationRecord& record) {
  std::string bytes(1, kFormat);
  bytes.push_back(static_cast<char>(record.phase));
  state::AppendVarint(&bytes, record.generation);
  state::AppendBigEndian64(&bytes, record.consistent_point);
  state::AppendVarint(&bytes, record.oid);
  state::AppendBytes(&bytes, record.membership);
  state::AppendVarint(&bytes, record.columns.size());
  for (const ColumnLayout& column : record.columns) {
    state::AppendBytes(&bytes, column.name);
    state::AppendVarint(&bytes, Zigzag(column.number));
    state::AppendVarint(&bytes, column.type);
    state::AppendVarint(&bytes, Zigzag(column.modifier));
    bytes.push_back(column.key ? '\1' : '\0');
  }
  return {PartitionKey(source, std::string(kRelationPrefix) + relation), std::move(bytes)};
}

}  // namespace tidemark::ingest
