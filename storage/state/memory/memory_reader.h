// Reading the reference model: look the snapshot up, then look the key up.
#ifndef TIDEMARK_STORAGE_STATE_MEMORY_MEMORY_READER_H_
#define TIDEMARK_STORAGE_STATE_MEMORY_MEMORY_READER_H_

#include <list>
#include <map>
#include <memory>
#include <string>

#include "common/mutex.h"
#include "storage/state/memory/history.h"
#include "storage/state/state_reader.h"
#include "storage/state/state_store.h"

namespace tidemark::state::memory {

// Thread-safe.
class MemoryReader final : public StateReader {
 public:
  MemoryReader(Incarnation incarnation, StampEncoder stamp_encoder);

  // Makes `history` what readers see; `info` is its last snapshot's, with the newest marks.
  void Publish(History history, SnapshotInfo info);
  // Snapshots after `fork` belong to a new incarnation.
  void StartIncarnation(SnapshotId fork);

  PublicationPtr Latest() const override;
  std::shared_ptr<void> AddListener(Listener listener) override;
  absl::StatusOr<ReadPoint> PointAt(PublicationPtr publication, SnapshotId id) const override;
  absl::Status Get(const ReadPoint& point, TableId table, std::string_view key,
                   StoredRow* row) const override;
  absl::StatusOr<std::unique_ptr<RowCursor>> Scan(const ReadPoint& point, TableId table,
                                                  const KeyRange& range) const override;
  absl::StatusOr<std::unique_ptr<ChangeCursor>> Changes(const PublicationPtr& publication,
                                                        SnapshotId after) const override;
  absl::StatusOr<SnapshotInfo> Describe(const ReadPoint& point) const override;
  absl::StatusOr<ReadPoint> NewestAt(PublicationPtr publication, absl::Time time) const override;
  absl::StatusOr<ReadPoint> NewestBefore(PublicationPtr publication, std::string_view source,
                                         std::string_view position) const override;
  std::string TokenOf(SnapshotId id) const override;
  absl::StatusOr<SnapshotId> ResolveToken(std::string_view token) const override;
  Incarnation incarnation() const override;

 private:
  struct Listeners {
    Mutex mutex;
    std::list<Listener> list TIDEMARK_GUARDED_BY(mutex);
  };

  const StampEncoder stamp_encoder_;
  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
  mutable Mutex mutex_;
  PublicationPtr latest_ TIDEMARK_GUARDED_BY(mutex_);
  Incarnation incarnation_ TIDEMARK_GUARDED_BY(mutex_);
  std::map<Incarnation, SnapshotId> ancestors_ TIDEMARK_GUARDED_BY(mutex_);  // with their last
};

}  // namespace tidemark::state::memory

#endif  // TIDEMARK_STORAGE_STATE_MEMORY_MEMORY_READER_H_
