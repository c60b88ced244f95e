#include "storage/state/memory/memory_writer.h"

#include <algorithm>

#include "common/check.h"
#include "common/error.h"
#include "storage/state/state_errors.h"
#include "storage/state/tuple_key.h"

namespace tidemark::state::memory {
namespace {

// The row as readers see it is the same before and after.
bool LooksTheSame(const Version* before, RowKind kind, std::string_view row) {
  if (!IsVisible(before)) return kind != RowKind::kPresent;
  return kind == RowKind::kPresent && before->row == row;
}

void ApplyOrigin(const Snapshot& snapshot, std::vector<SourceMark>* marks) {
  if (snapshot.info.source.empty()) return;
  const auto at = std::lower_bound(
      marks->begin(), marks->end(), snapshot.info.source,
      [](const SourceMark& mark, const std::string& name) { return mark.source < name; });
  if (at != marks->end() && at->source == snapshot.info.source) {
    at->position = snapshot.position;
  } else {
    marks->insert(at, SourceMark{snapshot.info.source, snapshot.position});
  }
}

}  // namespace

MemoryWriter::MemoryWriter(MemoryReader& reader, const Clock& clock)
    : reader_(reader), clock_(clock) {
  auto first = std::make_shared<Snapshot>();
  first->info.id = kFirstSnapshot;
  first->info.commit_time = absl::FromUnixMicros(absl::ToUnixMicros(clock.Now()));
  live_ = first->info;
  history_.push_back(std::move(first));
  reader_.Publish(history_, live_);
}

// --- Tables.

const Table* MemoryWriter::Find(TableId table) const {
  const auto at = now_.tables.find(table);
  return at == now_.tables.end() ? nullptr : at->second.get();
}

Table* MemoryWriter::Mutable(TableId table) {
  const auto at = now_.tables.find(table);
  if (at == now_.tables.end()) return nullptr;
  // Snapshots share tables: the one being changed becomes a copy first.
  std::shared_ptr<Table>& own = own_[table];
  if (own == nullptr || own != at->second) {
    own = std::make_shared<Table>(*at->second);
    at->second = own;
  }
  return own.get();
}

std::vector<TableRecord> MemoryWriter::Tables() const {
  std::vector<TableRecord> records;
  for (const auto& [id, table] : now_.tables) records.push_back(table->record);
  return records;
}

const TableRecord* MemoryWriter::FindTable(TableId table) const {
  const Table* found = Find(table);
  return found == nullptr ? nullptr : &found->record;
}

absl::StatusOr<TableId> MemoryWriter::CreateTable(std::string_view definition) {
  TIDEMARK_CHECK(!open());
  auto table = std::make_shared<Table>();
  table->record.id = next_table_++;
  table->record.definition = std::string(definition);
  table->record.loading = true;
  const TableId id = table->record.id;
  now_.tables[id] = std::move(table);
  return id;
}

absl::Status MemoryWriter::SetDefinition(TableId table, std::string_view definition) {
  TIDEMARK_CHECK(!open());
  Table* found = Mutable(table);
  if (found == nullptr) return NoSuchTable(table);
  found->record.definition = std::string(definition);
  return absl::OkStatus();
}

absl::Status MemoryWriter::FinishLoading(TableId table) {
  TIDEMARK_CHECK(open());
  Table* found = Mutable(table);
  if (found == nullptr) return NoSuchTable(table);
  TIDEMARK_CHECK(found->first == kNoSnapshot);
  found->first = next_id();
  found->record.loading = false;
  finished_.insert(table);
  for (auto& [key, version] : found->rows) version.id = version.birth = next_id();
  return absl::OkStatus();
}

// --- One snapshot.

absl::Status MemoryWriter::BeginSnapshot() {
  TIDEMARK_CHECK(!open());
  begin_ = now_;
  own_.clear();
  touched_.clear();
  truncated_.clear();
  finished_.clear();
  return absl::OkStatus();
}

bool MemoryWriter::IsInPlace(const Table& table) const {
  return table.first == kNoSnapshot || table.first == next_id();
}

const Version* MemoryWriter::Base(TableId table, std::string_view key) const {
  const auto at = begin_->tables.find(table);
  if (at == begin_->tables.end() || truncated_.count(table) > 0) return nullptr;
  const auto row = at->second->rows.find(std::string(key));
  return row == at->second->rows.end() ? nullptr : &row->second;
}

absl::StatusOr<std::optional<Version>> MemoryWriter::Current(TableId table, std::string_view key) {
  const Table* found = Find(table);
  if (found == nullptr) return NoSuchTable(table);
  const auto at = found->rows.find(std::string(key));
  if (at == found->rows.end()) return std::nullopt;
  return at->second;
}

absl::Status MemoryWriter::Put(TableId table, std::string_view key, RowKind kind,
                               std::string_view meta, std::string_view row,
                               const PutOptions& options) {
  TIDEMARK_CHECK(open());
  TIDEMARK_RETURN_IF_ERROR(CheckRowSize(key, row));
  Table* found = Mutable(table);
  if (found == nullptr) return NoSuchTable(table);
  now_.staged_bytes += key.size() + meta.size() + row.size();

  Version version;
  version.kind = kind;
  version.meta = std::string(meta);
  if (kind != RowKind::kTombstone) version.row = std::string(row);
  const bool forget = kind == RowKind::kTombstone && !options.remember;
  if (IsInPlace(*found)) {
    version.id = version.birth = found->first;
    if (forget) {
      found->rows.erase(std::string(key));
    } else {
      found->rows[std::string(key)] = std::move(version);
    }
    return absl::OkStatus();
  }

  touched_.insert({table, std::string(key)});
  const Version* base = Base(table, key);
  const bool unknown = WasNeverVisible(base);
  if (!LooksTheSame(base, kind, row)) {
    version.id = next_id();
    version.prev = unknown ? kNoSnapshot : base->id;
    version.birth = unknown ? next_id() : base->birth;
  } else if (!unknown) {
    version.id = base->id;
    version.prev = base->prev;
    version.birth = base->birth;
  } else if (forget) {
    found->rows.erase(std::string(key));
    return absl::OkStatus();
  } else {
    version.id = version.birth = last_id();
  }
  found->rows[std::string(key)] = std::move(version);
  return absl::OkStatus();
}

absl::Status MemoryWriter::Truncate(TableId table, std::string_view truncation_sequence) {
  TIDEMARK_CHECK(open());
  Table* found = Mutable(table);
  if (found == nullptr) return NoSuchTable(table);
  found->rows.clear();
  found->record.truncation_sequence = std::string(truncation_sequence);
  if (!IsInPlace(*found)) truncated_.insert(table);
  return absl::OkStatus();
}

// --- Auxiliary entries.

absl::StatusOr<std::optional<std::string>> MemoryWriter::GetAux(AuxSpace space,
                                                                std::string_view key) {
  const auto& entries = now_.aux[space];
  const auto at = entries.find(std::string(key));
  if (at == entries.end()) return std::nullopt;
  return at->second;
}

absl::Status MemoryWriter::PutAux(AuxSpace space, std::string_view key, std::string_view value,
                                  bool tombstone) {
  TIDEMARK_CHECK(!tombstone || space == AuxSpace::kContribution);
  now_.aux[space][std::string(key)] = std::string(value);
  now_.staged_bytes += key.size() + value.size();
  return absl::OkStatus();
}

absl::Status MemoryWriter::DeleteAux(AuxSpace space, std::string_view key) {
  now_.aux[space].erase(std::string(key));
  now_.staged_bytes += key.size();
  return absl::OkStatus();
}

absl::Status MemoryWriter::VisitAux(AuxSpace space, std::string_view prefix, std::string_view from,
                                    bool reverse, const AuxVisitor& visit,
                                    std::string_view /*fence*/) {
  const auto& entries = now_.aux[space];
  std::vector<std::pair<std::string, std::string>> matching;
  for (const auto& [key, value] : entries) {
    if (std::string_view(key).substr(0, prefix.size()) != prefix) continue;
    if (from.empty() || (reverse ? key <= from : key >= from)) matching.push_back({key, value});
  }
  if (reverse) std::reverse(matching.begin(), matching.end());
  for (const auto& [key, value] : matching) {
    if (!visit(key, value)) break;
  }
  return absl::OkStatus();
}

absl::Status MemoryWriter::VisitRows(TableId table, std::string_view from,
                                     const RowVisitor& visit) {
  const Table* found = Find(table);
  if (found == nullptr) return NoSuchTable(table);
  for (auto at = found->rows.lower_bound(std::string(from)); at != found->rows.end(); ++at) {
    if (!visit(at->first, at->second)) break;
  }
  return absl::OkStatus();
}

// --- The end of a snapshot and of a batch.

std::vector<Change> MemoryWriter::NetChanges() const {
  std::vector<Change> changes;
  for (const TableId table : truncated_) {
    changes.push_back({next_id(), table, ChangeOp::kTruncate, "", kNoSnapshot});
  }
  for (const auto& [table, key] : touched_) {
    const Version* before = Base(table, key);
    const Rows& rows = now_.tables.at(table)->rows;
    const auto at = rows.find(key);
    const Version* after = at == rows.end() ? nullptr : &at->second;
    if (!IsVisible(before) && !IsVisible(after)) continue;
    if (IsVisible(after) && LooksTheSame(before, RowKind::kPresent, after->row)) continue;
    const ChangeOp op = !IsVisible(after)   ? ChangeOp::kDelete
                        : IsVisible(before) ? ChangeOp::kUpdate
                                            : ChangeOp::kInsert;
    changes.push_back(
        {next_id(), table, op, key, WasNeverVisible(before) ? kNoSnapshot : before->id});
  }
  return changes;
}

absl::StatusOr<std::optional<SnapshotId>> MemoryWriter::EndSnapshot(const SnapshotOrigin& origin) {
  TIDEMARK_CHECK(open());
  std::vector<Change> changes = NetChanges();
  const bool nothing = changes.empty() && finished_.empty();
  begin_.reset();
  own_.clear();
  if (nothing) {
    // What was written without effect belongs to the newest snapshot there is.
    auto newest = std::make_shared<Snapshot>(*history_.back());
    newest->tables = now_.tables;
    history_.back() = std::move(newest);
    return std::nullopt;
  }
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->info.id = next_id();
  snapshot->info.source = origin.source;
  snapshot->info.event_time = origin.event_time;
  snapshot->position = origin.position;
  snapshot->tables = now_.tables;
  snapshot->changes = std::move(changes);
  history_.push_back(std::move(snapshot));
  return last_id();
}

absl::Status MemoryWriter::AbandonSnapshot() {
  TIDEMARK_CHECK(open());
  now_ = *std::move(begin_);
  begin_.reset();
  own_.clear();
  return absl::OkStatus();
}

absl::Status MemoryWriter::StartIncarnation() {
  TIDEMARK_CHECK(!open());
  new_incarnation_ = true;
  return absl::OkStatus();
}

absl::Status MemoryWriter::Commit(const CommitInfo& info) {
  TIDEMARK_CHECK(!open());
  const SnapshotId published = live_.id;
  if (std::exchange(new_incarnation_, false)) reader_.StartIncarnation(published);
  if (last_id() > published) {
    const absl::Time now = absl::FromUnixMicros(absl::ToUnixMicros(clock_.Now()));
    const absl::Time commit_time = std::max(now, live_.commit_time + absl::Microseconds(1));
    // What was the newest keeps the marks last seen before its successor; its degraded tables stay
    // those of its own commit.
    auto superseded = std::make_shared<Snapshot>(*history_[published - 1]);
    superseded->info.sources = live_.sources;
    history_[published - 1] = superseded;
    std::vector<SourceMark> marks = live_.sources;
    for (SnapshotId id = published + 1; id <= last_id(); ++id) {
      auto snapshot = std::make_shared<Snapshot>(*history_[id - 1]);
      ApplyOrigin(*snapshot, &marks);
      snapshot->info.sources = marks;
      snapshot->info.commit_time = commit_time;
      snapshot->info.degraded = info.degraded;
      history_[id - 1] = std::move(snapshot);
    }
    live_ = history_.back()->info;
  }
  // Tables made or described since are known to readers from here on.
  auto newest = std::make_shared<Snapshot>(*history_.back());
  newest->tables = now_.tables;
  history_.back() = std::move(newest);
  live_.sources = info.sources;
  live_.degraded = info.degraded;
  now_.staged_bytes = 0;
  own_.clear();
  reader_.Publish(history_, live_);
  return absl::OkStatus();
}

}  // namespace tidemark::state::memory
