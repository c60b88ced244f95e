#include "storage/state/engine/recovery.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"
#include "storage/state/coding.h"
#include "storage/state/engine/layout/format.h"
#include "storage/state/engine/undo.h"

namespace tidemark::state::engine {
namespace {

absl::Status WriteOrFail(Database& database, leveldb::WriteBatch* batch) {
  const leveldb::Status status = database.Write(batch);
  if (status.ok()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("the store cannot be written: ", status.ToString()));
}

absl::StatusOr<std::string> GetMeta(const Database& database, std::string_view name) {
  std::string value;
  bool found = false;
  TIDEMARK_RETURN_IF_ERROR(database.Get(MetaKey(name), &value, &found));
  if (!found) return DataDamaged(absl::StrCat("record ", ToAbsl(name), " of the store is missing"));
  return value;
}

absl::Status FinishUndo(Database& database, StoreState* state, uint64_t* undone) {
  while (state->open != kNoSnapshot) {
    leveldb::WriteBatch batch;
    TIDEMARK_RETURN_IF_ERROR(MakeUndoOfLastChunk(database, state, &batch));
    TIDEMARK_RETURN_IF_ERROR(WriteOrFail(database, &batch));
    ++*undone;
  }
  while (state->undo_cleaned < state->undo_begin) {
    leveldb::WriteBatch batch;
    TIDEMARK_RETURN_IF_ERROR(MakeUndoCleaning(database, state, &batch));
    TIDEMARK_RETURN_IF_ERROR(WriteOrFail(database, &batch));
  }
  return absl::OkStatus();
}

absl::StatusOr<TableSet> ReadTables(const Database& database) {
  TableSet tables;
  const char prefix = static_cast<char>(Prefix::kTable);
  const std::unique_ptr<leveldb::Iterator> at = database.NewIterator(/*bulk=*/false);
  for (at->Seek(leveldb::Slice(&prefix, 1)); at->Valid() && at->key()[0] == prefix; at->Next()) {
    TableState table;
    if (!ParseTable(ToView(at->key()), ToView(at->value()), &table)) {
      return DataDamaged("a table's record does not decode");
    }
    tables.Set(std::move(table));
  }
  TIDEMARK_RETURN_IF_ERROR(IteratorStatus(*at));
  return tables;
}

absl::StatusOr<PinSet> ReadPins(const Database& database) {
  std::vector<SnapshotId> live;
  const char prefix = static_cast<char>(Prefix::kPin);
  const std::unique_ptr<leveldb::Iterator> at = database.NewIterator(/*bulk=*/false);
  for (at->Seek(leveldb::Slice(&prefix, 1)); at->Valid() && at->key()[0] == prefix; at->Next()) {
    if (at->key().size() != 1 + sizeof(SnapshotId)) continue;  // a holder, not the head
    PinHead head;
    if (!ParsePinHead(ToView(at->value()), &head)) return DataDamaged("a pin does not decode");
    if (head.state == PinState::kLive) live.push_back(ReadBigEndian64(at->key().data() + 1));
  }
  TIDEMARK_RETURN_IF_ERROR(IteratorStatus(*at));
  return PinSet(std::move(live));
}

absl::StatusOr<SnapshotRecord> ReadNewest(const Database& database, SnapshotId published) {
  std::string value;
  bool found = false;
  TIDEMARK_RETURN_IF_ERROR(database.Get(SnapshotKey(published), &value, &found));
  SnapshotRecord record;
  if (!found || !ParseSnapshotRecord(SnapshotKey(published), value, &record)) {
    return DataDamaged(
        absl::StrCat("the record of snapshot ", published, ", the newest, is missing or damaged"));
  }
  return record;
}

}  // namespace

absl::StatusOr<bool> IsEmpty(const Database& database) {
  const std::unique_ptr<leveldb::Iterator> at = database.NewIterator(/*bulk=*/false);
  at->SeekToFirst();
  TIDEMARK_RETURN_IF_ERROR(IteratorStatus(*at));
  return !at->Valid();
}

absl::Status Initialize(Database& database, const Identity& identity, const Clock& clock) {
  StoreState state;
  state.published = kFirstSnapshot;
  SnapshotRecord first;
  first.first = kFirstSnapshot;
  first.commit_time = clock.Now();
  first.entries.emplace_back();
  leveldb::WriteBatch batch;
  batch.Put(MetaKey(kFormatName), FormatValue(kFormatVersion));
  batch.Put(MetaKey(kIdentityName), IdentityValue(identity));
  batch.Put(MetaKey(kStateName), StateValue(state));
  batch.Put(SnapshotKey(first.last()), SnapshotRecordValue(first));
  return WriteOrFail(database, &batch);
}

absl::Status CheckFormat(const Database& database, const std::string& dir) {
  std::string value;
  bool found = false;
  TIDEMARK_RETURN_IF_ERROR(database.Get(MetaKey(kFormatName), &value, &found));
  uint64_t version = 0;
  if (!found || !ParseFormat(value, &version)) {
    return absl::FailedPreconditionError(
        absl::StrCat(dir, ": holds a LevelDB database that is no state store of Tidemark."));
  }
  if (version != kFormatVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(dir, ": the store has format version ", version, ", and this program knows ",
                     kFormatVersion, " only. Use the program that wrote it, or a newer one."));
  }
  return absl::OkStatus();
}

absl::StatusOr<Recovered> Recover(Database& database) {
  Recovered recovered;
  TIDEMARK_ASSIGN_OR_RETURN(const std::string bytes, GetMeta(database, kStateName));
  if (!ParseState(bytes, &recovered.state)) {
    return DataDamaged("the store's state record does not decode");
  }
  TIDEMARK_ASSIGN_OR_RETURN(const std::string identity, GetMeta(database, kIdentityName));
  if (!ParseIdentity(identity, &recovered.identity)) {
    return DataDamaged("the store's identity does not decode");
  }
  TIDEMARK_RETURN_IF_ERROR(FinishUndo(database, &recovered.state, &recovered.undone_chunks));
  TIDEMARK_ASSIGN_OR_RETURN(recovered.tables, ReadTables(database));
  TIDEMARK_ASSIGN_OR_RETURN(recovered.pins, ReadPins(database));
  TIDEMARK_ASSIGN_OR_RETURN(recovered.newest, ReadNewest(database, recovered.state.published));
  return recovered;
}

}  // namespace tidemark::state::engine
