// The interface's methods; how batches reach LevelDB is in batch_writer.cc.
#include "storage/state/engine/writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/error.h"
#include "storage/state/state_errors.h"

namespace tidemark::state::engine {

LevelDbWriter::LevelDbWriter(Engine& engine, Recovered recovered)
    : engine_(engine),
      state_(recovered.state),
      live_(recovered.newest.InfoWithoutMarks(recovered.state.published)),
      sealed_tables_(std::make_shared<const TableSet>(recovered.tables)),
      pins_(std::make_shared<const PinSet>(std::move(recovered.pins))),
      identity_(std::make_shared<const Identity>(std::move(recovered.identity))),
      staging_(*engine.database, engine.row_cache),
      versions_(staging_),
      tables_(recovered.tables),
      ended_tables_(recovered.tables),
      committer_(engine) {
  live_.sources = recovered.newest.MarksAtEnd();
  recorder_.Restore(recovered.newest);
  engine_.counters.undone = recovered.undone_chunks;
  committer_.Publish(PublicationParts());
}

// --- Tables.

std::vector<TableRecord> LevelDbWriter::Tables() const {
  std::vector<TableRecord> records;
  for (const TableState* table : tables_.all()) records.push_back(table->record);
  return records;
}

const TableRecord* LevelDbWriter::FindTable(TableId table) const {
  const TableState* found = tables_.Find(table);
  return found == nullptr ? nullptr : &found->record;
}

void LevelDbWriter::SetTable(TableState table) {
  staging_.Put(TableKey(table.record.id), TableValue(table));
  tables_.Set(std::move(table));
  tables_changed_ = true;
  if (in_snapshot_) {
    open_changed_tables_ = true;
  } else {
    ended_tables_ = tables_;
  }
}

absl::StatusOr<TableId> LevelDbWriter::CreateTable(std::string_view definition) {
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_CHECK(!in_snapshot_);
  TableState table;
  table.record.id = state_.next_table++;
  table.record.definition = std::string(definition);
  table.record.loading = true;
  table.storages.push_back({table.next_number++, kNoSnapshot, ""});
  const TableId id = table.record.id;
  SetTable(std::move(table));
  return id;
}

absl::Status LevelDbWriter::SetDefinition(TableId table, std::string_view definition) {
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_CHECK(!in_snapshot_);
  const TableState* found = tables_.Find(table);
  if (found == nullptr) return NoSuchTable(table);
  TableState changed = *found;
  changed.record.definition = std::string(definition);
  SetTable(std::move(changed));
  return absl::OkStatus();
}

absl::Status LevelDbWriter::FinishLoading(TableId table) {
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_CHECK(in_snapshot_);
  const TableState* found = tables_.Find(table);
  if (found == nullptr) return NoSuchTable(table);
  TIDEMARK_CHECK(found->record.loading);
  TableState changed = *found;
  changed.storages.back().from = next_id();
  changed.record.loading = false;
  SetTable(std::move(changed));
  ++tables_finished_;
  return LimitOpen();
}

bool LevelDbWriter::IsInPlace(const TableState& table) const {
  return table.record.loading || table.first() == next_id();
}

Storage LevelDbWriter::CurrentStorage(const TableState& table) const {
  return {{table.record.id, table.current().number}, table.current().from};
}

absl::Status LevelDbWriter::Truncate(TableId table, std::string_view truncation_sequence) {
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_CHECK(in_snapshot_);
  const TableState* found = tables_.Find(table);
  if (found == nullptr) return NoSuchTable(table);
  TableState changed = *found;
  const bool in_place = IsInPlace(changed);
  const bool first_in_snapshot = changed.current().from != next_id();
  if (in_place || !first_in_snapshot) {
    // No snapshot ever showed what is in it.
    changed.dropped.push_back(changed.current().number);
    changed.storages.back().number = changed.next_number++;
    changed.storages.back().truncation_sequence = std::string(truncation_sequence);
  } else {
    changed.storages.push_back(
        {changed.next_number++, next_id(), std::string(truncation_sequence)});
  }
  changed.record.truncation_sequence = std::string(truncation_sequence);
  SetTable(std::move(changed));
  if (!in_place && first_in_snapshot) versions_.Truncate(table);
  clear_row_cache_ = true;
  return LimitOpen();
}

absl::Status LevelDbWriter::StartIncarnation() {
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_CHECK(!in_snapshot_);
  Identity next = *identity_;
  next.ancestors.push_back({identity_->incarnation, live_.id});
  next.incarnation = NewIncarnation(engine_.random);
  staging_.Put(MetaKey(kIdentityName), IdentityValue(next));
  next_identity_ = std::make_shared<const Identity>(std::move(next));
  return absl::OkStatus();
}

// --- One snapshot.

absl::Status LevelDbWriter::BeginSnapshot() {
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_CHECK(!in_snapshot_);
  in_snapshot_ = true;
  tables_finished_ = 0;
  open_has_chunks_ = false;
  open_changed_tables_ = false;
  staging_.BeginSnapshot();
  versions_.BeginSnapshot(next_id());
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Version>> LevelDbWriter::Current(TableId table, std::string_view key) {
  TIDEMARK_RETURN_IF_ERROR(health_);
  const TableState* found = tables_.Find(table);
  if (found == nullptr) return NoSuchTable(table);
  std::string bytes;
  VersionView version;
  TIDEMARK_ASSIGN_OR_RETURN(const bool known,
                            versions_.Current(CurrentStorage(*found), key, &bytes, &version));
  if (!known) return std::nullopt;
  return ToVersion(version);
}

absl::Status LevelDbWriter::Put(TableId table, std::string_view key, RowKind kind,
                                std::string_view meta, std::string_view row,
                                const PutOptions& options) {
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_CHECK(in_snapshot_);
  TIDEMARK_RETURN_IF_ERROR(CheckRowSize(key, row));
  const TableState* found = tables_.Find(table);
  if (found == nullptr) return NoSuchTable(table);
  const VersionWriter::Row version{kind, meta, row, options.remember};
  const Storage storage = CurrentStorage(*found);
  TIDEMARK_RETURN_IF_ERROR(IsInPlace(*found) ? versions_.PutInPlace(storage, key, version)
                                             : versions_.Put(storage, key, version));
  return LimitOpen();
}

absl::Status LevelDbWriter::VisitRows(TableId table, std::string_view from,
                                      const RowVisitor& visit) {
  Land();
  TIDEMARK_RETURN_IF_ERROR(health_);
  const TableState* found = tables_.Find(table);
  if (found == nullptr) return NoSuchTable(table);
  const Storage storage = CurrentStorage(*found);
  const std::string prefix = CurrentPrefix(storage.id);
  absl::Status damage;
  const absl::Status walked = staging_.Visit(
      prefix, CurrentKey(storage.id, from), /*reverse=*/false,
      [&](std::string_view db_key, std::string_view value) {
        VersionView version;
        if (!ParseVersion(value, storage.from, &version)) {
          damage = DataDamaged(absl::StrCat("a row of table ", table, " does not decode"));
          return false;
        }
        return visit(db_key.substr(prefix.size()), ToVersion(version));
      });
  TIDEMARK_RETURN_IF_ERROR(walked);
  return damage;
}

absl::StatusOr<std::optional<SnapshotId>> LevelDbWriter::EndSnapshot(const SnapshotOrigin& origin) {
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_CHECK(in_snapshot_);
  const SnapshotId id = next_id();
  const bool nothing = versions_.changes() == 0 && tables_finished_ == 0;
  in_snapshot_ = false;
  staging_.EndSnapshot();
  if (open_changed_tables_) ended_tables_ = tables_;
  ended_has_chunks_ |= open_has_chunks_;
  open_has_chunks_ = false;
  if (nothing) return std::nullopt;
  ended_.push_back(origin);
  return id;
}

// --- Auxiliary entries. Those of kContribution carry a mark in front (format.h).

absl::StatusOr<std::optional<std::string>> LevelDbWriter::GetAux(AuxSpace space,
                                                                 std::string_view key) {
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_ASSIGN_OR_RETURN(std::optional<std::string> found, staging_.Get(AuxKey(space, key)));
  if (!found.has_value() || space != AuxSpace::kContribution) return found;
  std::string_view value;
  SnapshotId queued = kNoSnapshot;
  if (!ParseContributionValue(*found, &value, &queued)) {
    return DataDamaged("a contribution does not decode");
  }
  return std::string(value);
}

absl::Status LevelDbWriter::PutAux(AuxSpace space, std::string_view key, std::string_view value,
                                   bool tombstone) {
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_CHECK(!tombstone || space == AuxSpace::kContribution);
  if (space != AuxSpace::kContribution) {
    staging_.Put(AuxKey(space, key), std::string(value));
    return LimitOpen();
  }
  const SnapshotId queued = tombstone ? next_id() : kNoSnapshot;
  if (tombstone) staging_.Put(QueueContributionKey(queued, key), "");
  staging_.Put(AuxKey(space, key), ContributionValue(value, queued));
  return LimitOpen();
}

absl::Status LevelDbWriter::DeleteAux(AuxSpace space, std::string_view key) {
  TIDEMARK_RETURN_IF_ERROR(health_);
  staging_.Delete(AuxKey(space, key));
  return LimitOpen();
}

absl::Status LevelDbWriter::VisitAux(AuxSpace space, std::string_view prefix, std::string_view from,
                                     bool reverse, const AuxVisitor& visit,
                                     std::string_view fence) {
  Land();
  TIDEMARK_RETURN_IF_ERROR(health_);
  const auto key_of = [space](std::string_view key) {
    return key.empty() ? std::string() : AuxKey(space, key);
  };
  absl::Status damage;
  const absl::Status walked = staging_.Visit(
      AuxKey(space, prefix), key_of(from), reverse,
      [&](std::string_view db_key, std::string_view value) {
        SnapshotId queued = kNoSnapshot;
        if (space == AuxSpace::kContribution && !ParseContributionValue(value, &value, &queued)) {
          damage = DataDamaged("a contribution does not decode");
          return false;
        }
        return visit(db_key.substr(1), value);
      },
      key_of(fence));
  TIDEMARK_RETURN_IF_ERROR(walked);
  return damage;
}

}  // namespace tidemark::state::engine
