// Prefix S: what is kept about a range of consecutive snapshots of one batch.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_LAYOUT_SNAPSHOT_RECORD_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_LAYOUT_SNAPSHOT_RECORD_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "storage/state/types.h"

namespace tidemark::state::engine {

// Snapshots of one record; a batch of more gets several, so that looking one up stays cheap.
inline constexpr size_t kMaxSnapshotsPerRecord = 512;

// One source over a record's range.
struct SourceSpan {
  std::string source;
  // Whether there was a mark of it before the range, and at its end.
  bool known_before = false;
  bool known_after = false;
  // The mark last seen before the first snapshot of the range.
  std::string position_before;
  absl::Time fresh_before = absl::InfinitePast();
  // The mark at the end of the range.
  std::string position;
  absl::Time fresh = absl::InfinitePast();
  // Position of the source's newest transaction that made a snapshot, up to the end of the range;
  // empty when there was none. Unlike the mark it moves only with snapshots, which is what a read
  // "before position p" must be found by.
  std::string last_transaction;
};

// One snapshot of the range.
struct SnapshotEntry {
  // Index into `sources` + 1 of the source whose transaction made it; 0 = none.
  uint32_t source = 0;
  std::string position;
  absl::Time event_time = absl::InfinitePast();
};

struct SnapshotRecord {
  SnapshotId first = kNoSnapshot;
  absl::Time commit_time;
  std::vector<TableId> degraded;       // sorted
  std::vector<SourceSpan> sources;     // sorted by name
  std::vector<SnapshotEntry> entries;  // of first, first + 1, ...

  SnapshotId last() const { return first + entries.size() - 1; }
  const SnapshotEntry& entry(SnapshotId id) const { return entries[id - first]; }
  // nullptr when the record does not know it.
  const SourceSpan* Find(std::string_view source) const;

  // Marks as last seen before `first`.
  std::vector<SourceMark> MarksBefore() const;
  std::vector<SourceMark> MarksAtEnd() const;
  // Marks at `id`, which is before last(): those before the range, moved by the transactions up to
  // it.
  std::vector<SourceMark> MarksWithin(SnapshotId id) const;
  // Everything but the marks.
  SnapshotInfo InfoWithoutMarks(SnapshotId id) const;
};

std::string SnapshotRecordValue(const SnapshotRecord& record);
// False when `bytes` is no record, or its last id is not that of `db_key`.
bool ParseSnapshotRecord(std::string_view db_key, std::string_view bytes, SnapshotRecord* record);

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_LAYOUT_SNAPSHOT_RECORD_H_
