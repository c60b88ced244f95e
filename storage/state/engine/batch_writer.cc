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
  TIDEMARK_RETURN_IF_ERROR(health_);
  const leveldb::Status status = engine_.database->Write(batch);
  if (!status.ok()) {
    // What the log holds now is known to nobody until it is opened again.
    health_ = MakeError(Reason::kStoreReadOnly,
                        absl::StrCat("The state store takes no more writes, since one failed: ",
                                     status.ToString(), ". What is published can still be read."),
                        {{"cause", status.ToString()}});
    return health_;
  }
  engine_.counters.batches.fetch_add(1, std::memory_order_relaxed);
  engine_.counters.syncs.fetch_add(1, std::memory_order_relaxed);
  engine_.counters.batch_bytes.fetch_add(batch->ApproximateSize(), std::memory_order_relaxed);
  return absl::OkStatus();
}

// --- A snapshot too large to be held.

absl::Status LevelDbWriter::LimitOpen() {
  if (!in_snapshot_ || staging_.open().bytes() <= engine_.max_batch_bytes) {
    return absl::OkStatus();
  }
  // Chunks change LevelDB under the open id only: what was ended before goes first, with its own
  // publication. Nobody told us newer marks than those its transactions carry.
  if (HasSomethingToWrite()) {
    TIDEMARK_RETURN_IF_ERROR(Flush({MarksAfter(live_.sources, ended_), live_.degraded}));
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
  TIDEMARK_RETURN_IF_ERROR(health_);
  TIDEMARK_CHECK(!in_snapshot_);
  return Flush(info);
}

absl::Status LevelDbWriter::Flush(const CommitInfo& info) {
  TIDEMARK_CHECK(!open_has_chunks_);
  if (HasSomethingToWrite()) {
    leveldb::WriteBatch batch;
    for (const Layer::Entry* entry : staging_.ended().ordered()) {
      const auto& [key, value] = *entry;
      if (value.has_value()) {
        batch.Put(key, *value);
      } else {
        batch.Delete(key);
      }
    }
    const SnapshotInfo before = live_;
    AddSnapshotRecords(info, &batch);
    StoreState state = state_;
    state.published = live_.id;
    if (ended_has_chunks_) {
      state.open = kNoSnapshot;
      state.undo_begin = state.undo_end = state.next_chunk;
      clear_row_cache_ = true;
    }
    batch.Put(MetaKey(kStateName), StateValue(state));
    if (const absl::Status status = Write(&batch); !status.ok()) {
      live_ = before;
      return status;
    }
    state_ = state;
    ended_.clear();
  }
  if (next_identity_ != nullptr) identity_ = std::move(next_identity_);
  live_.sources = info.sources;
  live_.degraded = info.degraded;
  ++sequence_;
  UpdateRowCache();
  staging_.Forget(/*row_cache_is_newest=*/true);
  staging_.ClearEnded();
  ended_has_chunks_ = false;
  if (tables_changed_) {
    published_tables_ = std::make_shared<const TableSet>(ended_tables_);
    tables_changed_ = in_snapshot_;
  }
  Publish();
  // What was committed stays so: a failure shows in Health and at the next write.
  CleanUndo().IgnoreError();
  return absl::OkStatus();
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

void LevelDbWriter::UpdateRowCache() {
  if (clear_row_cache_) {
    engine_.row_cache.Clear(sequence_);
    clear_row_cache_ = in_snapshot_;
    return;
  }
  const Layer::Ordered& entries = staging_.ended().ordered();
  const char prefix = static_cast<char>(Prefix::kCurrent);
  for (auto at = entries.lower_bound(std::string_view(&prefix, 1)); at != entries.end(); ++at) {
    const auto& [current_key, value] = **at;
    if (current_key.front() != prefix) break;
    StorageId storage;
    std::string_view key;
    TIDEMARK_CHECK(ParseCurrentKey(current_key, &storage, &key));
    const SnapshotId from = ended_tables_.FromOf(storage);
    if (from == kNoSnapshot) continue;  // loading: no reader has been there
    RowToCache row;
    if (value.has_value()) {
      row.value = *value;
      TIDEMARK_CHECK(ParseVersion(row.value, from, &row.version));
    }
    engine_.row_cache.Update(current_key, value.has_value() ? &row : nullptr, sequence_);
  }
}

void LevelDbWriter::Publish() {
  LevelDbPublication::Parts parts;
  parts.info = live_;
  parts.floor = state_.floor;
  const std::string token = EncodeToken({identity_->incarnation, live_.id});
  parts.stamp = engine_.stamp_encoder(live_, token, false);
  parts.degraded_stamp = engine_.stamp_encoder(live_, token, true);
  parts.tables = published_tables_;
  parts.pins = pins_;
  parts.identity = identity_;
  parts.sequence = sequence_;
  engine_.board.Publish(
      std::make_shared<const LevelDbPublication>(std::move(parts), engine_.database));
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
