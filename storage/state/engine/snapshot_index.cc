#include "storage/state/engine/snapshot_index.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "storage/state/engine/layout/format.h"

namespace tidemark::state::engine {

SnapshotIndex::SnapshotIndex(const LevelDbPublication& publication)
    : publication_(publication), iterator_(publication.handle().NewIterator(false)) {}

absl::StatusOr<SnapshotRecord> SnapshotIndex::RecordOf(SnapshotId id) {
  iterator_->Seek(SnapshotKey(id));
  TIDEMARK_RETURN_IF_ERROR(IteratorStatus(*iterator_));
  SnapshotRecord record;
  if (!iterator_->Valid() ||
      !ParseSnapshotRecord(ToView(iterator_->key()), ToView(iterator_->value()), &record) ||
      id < record.first || id > record.last()) {
    return DataDamaged(absl::StrCat("the record of snapshot ", id, " is missing or damaged"));
  }
  return record;
}

absl::StatusOr<SnapshotInfo> SnapshotIndex::Describe(SnapshotId id) {
  if (id == publication_.id()) return publication_.info();
  TIDEMARK_ASSIGN_OR_RETURN(const SnapshotRecord record, RecordOf(id));
  SnapshotInfo info = record.InfoWithoutMarks(id);
  if (id < record.last()) {
    info.sources = record.MarksWithin(id);
  } else {
    // What was last seen before its successor is kept there.
    TIDEMARK_ASSIGN_OR_RETURN(const SnapshotRecord next, RecordOf(id + 1));
    info.sources = next.MarksBefore();
  }
  return info;
}

absl::Status SnapshotIndex::FirstRecord(const Predicate& holds, SnapshotRecord* record,
                                        bool* found) {
  *found = false;
  SnapshotId low = publication_.floor();
  SnapshotId high = publication_.id() + 1;
  while (low < high) {
    const SnapshotId middle = low + (high - low) / 2;
    TIDEMARK_ASSIGN_OR_RETURN(SnapshotRecord probed, RecordOf(middle));
    if (holds(probed)) {
      high = probed.first;
      *record = std::move(probed);
      *found = true;
    } else {
      low = probed.last() + 1;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SnapshotId> SnapshotIndex::NewestAt(absl::Time time) {
  SnapshotRecord later;
  bool found = false;
  TIDEMARK_RETURN_IF_ERROR(FirstRecord(
      [time](const SnapshotRecord& record) { return record.commit_time > time; }, &later, &found));
  if (!found) return publication_.id();
  return later.first > publication_.floor() ? later.first - 1 : kNoSnapshot;
}

absl::StatusOr<SnapshotId> SnapshotIndex::NewestBefore(std::string_view source,
                                                       std::string_view position) {
  const auto reached = [source, position](const SnapshotRecord& record) {
    const SourceSpan* span = record.Find(source);
    return span != nullptr && !span->last_transaction.empty() && span->last_transaction >= position;
  };
  SnapshotRecord record;
  bool found = false;
  TIDEMARK_RETURN_IF_ERROR(FirstRecord(reached, &record, &found));
  if (!found) return publication_.id();
  for (SnapshotId id = record.first; id <= record.last(); ++id) {
    const SnapshotEntry& entry = record.entry(id);
    if (entry.source == 0 || record.sources[entry.source - 1].source != source) continue;
    if (entry.position >= position) return id - 1;
  }
  // The transaction lies before the first record: below the floor.
  return record.first - 1;
}

}  // namespace tidemark::state::engine
