// StateReader over LevelDB.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_READER_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_READER_H_

#include <memory>
#include <string>

#include "storage/state/engine/engine.h"
#include "storage/state/state_reader.h"

namespace tidemark::state::engine {

// Thread-safe. `engine` outlives it.
class LevelDbReader final : public StateReader {
 public:
  explicit LevelDbReader(Engine& engine) : engine_(engine) {}

  PublicationPtr Latest() const override { return engine_.board.Latest(); }
  std::shared_ptr<void> AddListener(Listener listener) override {
    return engine_.board.AddListener(std::move(listener));
  }
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
  Engine& engine_;
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_READER_H_
