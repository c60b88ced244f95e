// StateWriter over LevelDB.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_WRITER_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_WRITER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/state/engine/committer.h"
#include "storage/state/engine/engine.h"
#include "storage/state/engine/layout/table_set.h"
#include "storage/state/engine/snapshot_recorder.h"
#include "storage/state/engine/staging.h"
#include "storage/state/engine/version_writer.h"
#include "storage/state/state_writer.h"

namespace tidemark::state::engine {

// What a store is found with when it is opened; recovery has made it whole (recovery.h).
struct Recovered {
  Identity identity;
  StoreState state;
  TableSet tables;
  SnapshotRecord newest;
  PinSet pins;
  uint64_t undone_chunks = 0;  // of a transaction that was left open
};

// One thread, and the committer's behind it. `engine` outlives it.
//
// At most one batch is in flight. The writer reads through it (staging.h); whatever reads LevelDB
// past the staging lets it land first.
class LevelDbWriter final : public StateWriter {
 public:
  // Publishes what was found.
  LevelDbWriter(Engine& engine, Recovered recovered);

  std::vector<TableRecord> Tables() const override;
  const TableRecord* FindTable(TableId table) const override;
  absl::StatusOr<TableId> CreateTable(std::string_view definition) override;
  absl::Status SetDefinition(TableId table, std::string_view definition) override;
  absl::Status FinishLoading(TableId table) override;
  absl::Status StartIncarnation() override;
  absl::Status BeginSnapshot() override;
  absl::StatusOr<std::optional<Version>> Current(TableId table, std::string_view key) override;
  absl::Status Put(TableId table, std::string_view key, RowKind kind, std::string_view meta,
                   std::string_view row, const PutOptions& options) override;
  absl::Status Truncate(TableId table, std::string_view truncation_sequence) override;
  absl::StatusOr<std::optional<std::string>> GetAux(AuxSpace space, std::string_view key) override;
  absl::Status PutAux(AuxSpace space, std::string_view key, std::string_view value,
                      bool tombstone) override;
  absl::Status DeleteAux(AuxSpace space, std::string_view key) override;
  absl::Status VisitAux(AuxSpace space, std::string_view prefix, std::string_view from,
                        bool reverse, const AuxVisitor& visit, std::string_view fence) override;
  absl::Status VisitRows(TableId table, std::string_view from, const RowVisitor& visit) override;
  absl::StatusOr<std::optional<SnapshotId>> EndSnapshot(const SnapshotOrigin& origin) override;
  absl::Status AbandonSnapshot() override;
  size_t staged_bytes() const override;
  absl::Status Commit(const CommitInfo& info) override;
  absl::Status StartCommit(const CommitInfo& info) override;
  bool IsCommitting() const override { return in_flight_ && committer_.busy(); }
  absl::Status FinishCommit() override;
  absl::Status Health() const override { return health_; }

 private:
  // The id of the snapshot being written, or of the next one.
  SnapshotId next_id() const { return state_.published + ended_.size() + 1; }
  // No reader can ask for the table below the snapshot being written.
  bool IsInPlace(const TableState& table) const;
  Storage CurrentStorage(const TableState& table) const;
  void SetTable(TableState table);

  // Writes the snapshot's entries out when they have grown too large to be held.
  absl::Status LimitOpen();
  absl::Status WriteChunk();
  // Hands what was ended to the committer. From here on it counts as written: when it turns out
  // not to be, nothing that builds on it ever is either.
  void Seal(const CommitInfo& info);
  // Waits for the batch in flight, if there is one.
  void Land();
  bool HasSomethingToWrite() const;
  void AddSnapshotRecords(const CommitInfo& info, leveldb::WriteBatch* batch);
  LevelDbPublication::Parts PublicationParts() const;
  absl::Status CleanUndo();
  // Past the committer, with nothing in flight. After a failure the store is closed for writing.
  absl::Status Write(leveldb::WriteBatch* batch);

  Engine& engine_;
  absl::Status health_;
  absl::Status committed_;  // what became of the last batch

  // As in LevelDB once the batch in flight is.
  StoreState state_;
  // Published once the batch in flight is.
  SnapshotInfo live_;
  std::shared_ptr<const TableSet> sealed_tables_;
  std::shared_ptr<const PinSet> pins_;
  std::shared_ptr<const Identity> identity_;
  uint64_t sequence_ = 0;

  // Staged.
  Staging staging_;
  VersionWriter versions_;
  SnapshotRecorder recorder_;
  std::shared_ptr<const Identity> next_identity_;  // nullptr: none was started
  std::vector<SnapshotOrigin> ended_;              // of snapshots ended since the last publication
  TableSet tables_;                                // with the changes of the snapshot being written
  TableSet ended_tables_;
  bool tables_changed_ = false;  // since the last publication
  bool in_snapshot_ = false;
  bool open_changed_tables_ = false;  // the snapshot being written
  uint64_t tables_finished_ = 0;      // by the snapshot being written
  // The row cache cannot be kept exact entry by entry: a truncate, or chunks, are in the batch.
  bool clear_row_cache_ = false;
  bool open_has_chunks_ = false;   // of the snapshot being written
  bool ended_has_chunks_ = false;  // of a snapshot that has ended

  bool in_flight_ = false;  // a batch was sealed and has not landed
  Committer committer_;
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_WRITER_H_
