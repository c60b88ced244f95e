// Finding snapshots in prefix S through one publication: by id, by time, by a source's position.
// Every search enters the prefix by an id at or above the floor, so that it never walks over what
// was collected.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_SNAPSHOT_INDEX_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_SNAPSHOT_INDEX_H_

#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/state/engine/disk/database.h"
#include "storage/state/engine/layout/snapshot_record.h"
#include "storage/state/engine/publication.h"

namespace tidemark::state::engine {

// Use within a call; `publication` outlives it.
class SnapshotIndex {
 public:
  explicit SnapshotIndex(const LevelDbPublication& publication);

  // The record whose range holds `id`, which is in [floor, publication id].
  absl::StatusOr<SnapshotRecord> RecordOf(SnapshotId id);
  // What is known of `id`, marks included.
  absl::StatusOr<SnapshotInfo> Describe(SnapshotId id);
  // The newest snapshot committed at or before `time`; kNoSnapshot when it lies below the floor.
  absl::StatusOr<SnapshotId> NewestAt(absl::Time time);
  // The newest snapshot before the first one that a transaction of `source` at or after `position`
  // made; the publication's when there is none. May be just below the floor.
  absl::StatusOr<SnapshotId> NewestBefore(std::string_view source, std::string_view position);

 private:
  // The first record of [floor, publication id] for which `holds` is true; it is false for all
  // before and true for all after. Sets *found to false when there is none.
  using Predicate = std::function<bool(const SnapshotRecord&)>;
  absl::Status FirstRecord(const Predicate& holds, SnapshotRecord* record, bool* found);

  const LevelDbPublication& publication_;
  std::unique_ptr<leveldb::Iterator> iterator_;
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_SNAPSHOT_INDEX_H_
