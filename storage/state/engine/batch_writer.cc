// How LevelDbWriter's batches reach LevelDB: groups of ended snapshots, chunks of a large one,
// undoing it, and publication.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/error.h"
#include "storage/state/engine/undo.h"
#include "storage/state/engine/writer.h"

namespace tidemark::state::engine {

size_t LevelDbWriter::staged_bytes() const {
  return staging_.ended().bytes() + staging_.open().bytes();
}

absl::Status LevelDbWriter::Write(leveldb::WriteBatch* batch) {
  TIDEMARK_CHECK(!in_flight_);
  TIDEMARK_RETURN_IF_ERROR(health_);
  return health_ = committer_.Write(batch);
}

// --- A snapshot too large to be held.

absl::Status LevelDbWriter::LimitOpen() {
  if (!in_snapshot_ || staging_.open().bytes() <= engine_.max_batch_bytes) {
    return absl::OkStatus();
  }
  // Chunks change LevelDB under the open id only: what was ended before goes first, with its own
  // publication. Nobody told us newer marks than those its transactions carry.
  Land();
  if (HasSomethingToWrite()) {
    TIDEMARK_RETURN_IF_ERROR(health_);
    Seal({MarksAfter(live_.sources, ended_), live_.degraded});
    // Not the outcome that FinishCommit is about to be asked for.
    const absl::Status committed = committed_;
    Land();
    committed_ = committed;
  }
  return WriteChunk();
}

absl::Status LevelDbWriter::WriteChunk() {
  TIDEMARK_RETURN_IF_ERROR(CleanUndo());
  StoreState state = state_;
  leveldb::WriteBatch batch;
  TIDEMARK_RETURN_IF_ERROR(
      MakeChunk(*engine_.database, staging_.open(), next_id(), &state, &batch));
  TIDEMARK_RETURN_IF_ERROR(Write(&batch));
  state_ = state;
  open_has_chunks_ = true;
  staging_.ClearOpen();
  staging_.Forget(/*row_cache_is_newest=*/false);
  engine_.counters.chunks.fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status LevelDbWriter::AbandonSnapshot() {
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_CHECK(in_snapshot_);
  while (open_has_chunks_) {
    StoreState state = state_;
    leveldb::WriteBatch batch;
    TIDEMARK_RETURN_IF_ERROR(MakeUndoOfLastChunk(*engine_.database, &state, &batch));
    TIDEMARK_RETURN_IF_ERROR(Write(&batch));
    state_ = state;
    open_has_chunks_ = state_.open != kNoSnapshot;
    engine_.counters.undone.fetch_add(1, std::memory_order_relaxed);
    // Nothing of the transaction was ever published or cached; the rule clears all the same.
    if (!open_has_chunks_) engine_.row_cache.Clear(sequence_);
    staging_.Forget(/*row_cache_is_newest=*/!open_has_chunks_);
  }
  in_snapshot_ = false;
  staging_.AbandonSnapshot();
  if (open_changed_tables_) tables_ = ended_tables_;
  return absl::OkStatus();
}

// --- A batch of ended snapshots.

bool LevelDbWriter::HasSomethingToWrite() const {
  return !staging_.ended().empty() || !ended_.empty() || ended_has_chunks_;
}

absl::Status LevelDbWriter::Commit(const CommitInfo& info) {
  TIDEMARK_RETURN_IF_ERROR(StartCommit(info));
  return FinishCommit();
}

absl::Status LevelDbWriter::StartCommit(const CommitInfo& info) {
  Land();
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_CHECK(!in_snapshot_);
  Seal(info);
  return absl::OkStatus();
}

absl::Status LevelDbWriter::FinishCommit() {
  Land();
  return committed_;
}

void LevelDbWriter::Seal(const CommitInfo& info) {
  TIDEMARK_CHECK(!open_has_chunks_ && !in_flight_);
  SealedBatch batch;
  batch.has_writes = HasSomethingToWrite();
  if (batch.has_writes) {
    AddSnapshotRecords(info, &batch.records);
    state_.published = live_.id;
    if (ended_has_chunks_) {
      state_.open = kNoSnapshot;
      state_.undo_begin = state_.undo_end = state_.next_chunk;
      clear_row_cache_ = true;
    }
    batch.records.Put(MetaKey(kStateName), StateValue(state_));
    ended_.clear();
  }
  live_.sources = info.sources;
  live_.degraded = info.degraded;
  ++sequence_;
  batch.clear_row_cache = clear_row_cache_;
  clear_row_cache_ = clear_row_cache_ && in_snapshot_;
  batch.staged = staging_.Seal();
  ended_has_chunks_ = false;
  if (tables_changed_) {
    sealed_tables_ = std::make_shared<const TableSet>(ended_tables_);
    tables_changed_ = in_snapshot_;
  }
  if (next_identity_ != nullptr) identity_ = std::move(next_identity_);
  batch.publication = PublicationParts();
  in_flight_ = true;
  committer_.Start(std::move(batch));
}

void LevelDbWriter::Land() {
  if (!in_flight_) return;
  in_flight_ = false;
  committed_ = committer_.Finish();
  staging_.Landed();
  health_ = committed_;
  // What was committed stays so: a failure shows in Health and at the next write.
  if (health_.ok()) CleanUndo().IgnoreError();
}

void LevelDbWriter::AddSnapshotRecords(const CommitInfo& info, leveldb::WriteBatch* batch) {
  if (ended_.empty()) return;
  const absl::Time now = absl::FromUnixMicros(absl::ToUnixMicros(engine_.clock.Now()));
  const absl::Time commit_time = std::max(now, live_.commit_time + absl::Microseconds(1));
  for (const SnapshotRecord& record :
       recorder_.Record(state_.published + 1, ended_, live_.sources, info, commit_time)) {
    batch->Put(SnapshotKey(record.last()), SnapshotRecordValue(record));
  }
  live_.id = state_.published + ended_.size();
  live_.commit_time = commit_time;
  live_.source = ended_.back().source;
  live_.event_time = ended_.back().event_time;
}

LevelDbPublication::Parts LevelDbWriter::PublicationParts() const {
  LevelDbPublication::Parts parts;
  parts.info = live_;
  parts.floor = state_.floor;
  parts.tables = sealed_tables_;
  parts.pins = pins_;
  parts.identity = identity_;
  parts.sequence = sequence_;
  return parts;
}

absl::Status LevelDbWriter::CleanUndo() {
  while (state_.undo_cleaned < state_.undo_begin && state_.open == kNoSnapshot) {
    StoreState state = state_;
    leveldb::WriteBatch batch;
    TIDEMARK_RETURN_IF_ERROR(MakeUndoCleaning(*engine_.database, &state, &batch));
    TIDEMARK_RETURN_IF_ERROR(Write(&batch));
    state_ = state;
  }
  return absl::OkStatus();
}

}  // namespace tidemark::state::engine
