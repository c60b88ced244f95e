// One batch of the state table in the making: what the applier's thread does with a work.
#ifndef TIDEMARK_SERVER_INGEST_BATCH_WRITER_H_
#define TIDEMARK_SERVER_INGEST_BATCH_WRITER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/ingest/work.h"
#include "storage/state/state_store.h"
#include "storage/tables/catalog.h"
#include "storage/tables/merging/merger.h"

namespace tidemark::ingest {

// How far the sweep at the end of a copy has come. Relations before `relation` are swept.
struct CopyEndPlace {
  size_t relation = 0;
  std::string cursor;
};

struct BatchWriterOptions {
  size_t max_batch_bytes = 0;
  size_t sweep_slice_rows = 0;
};

// What a batch holds.
struct BatchCounts {
  uint64_t events = 0, transactions = 0, snapshots = 0;
};

// Not thread-safe: the applier's thread. Applying is deterministic: the same works in the same
// order give the same rows, ops and snapshot ids, wherever commits fall between them.
class BatchWriter {
 public:
  // All outlive it. `stopping`: asked now and then in a long transaction or truncate, which is
  // then abandoned.
  BatchWriter(const tables::Catalog& catalog, state::StateStore& store, BatchWriterOptions options,
              const std::atomic<bool>& stopping);

  // Makes what lies in the writer already durable and visible: tables the catalog created.
  absl::Status Open();

  // True when the next step of `work` must not share a batch with what is staged: the batch would
  // grow too large, or one of the two changes which tables are degraded, which a batch records for
  // all of its snapshots.
  bool WantsOwnBatch(const Work& work, const CopyEndPlace& place) const;

  // Applies `work`, or its next step. True when it is complete, false when there is more to do
  // (only kCopyEnd; `place` is moved on). An error: nothing of this step is in the batch.
  absl::StatusOr<bool> Apply(Work& work, CopyEndPlace& place);

  // Whether there is anything to commit.
  bool staged() const { return staged_; }
  size_t staged_bytes() const { return writer_.staged_bytes(); }
  // Begins to make everything applied since the last call durable and visible; `fresh`: see
  // Applier::MarkProvider. What is applied meanwhile belongs to the next batch. Waits for the batch
  // before. After an error nothing of it is, and the next Apply begins from what the store holds.
  absl::Status StartCommit(const std::vector<state::SourceMark>& fresh);
  // Whether FinishCommit would have to wait.
  bool committing() const { return writer_.IsCommitting(); }
  // What became of the batch whose StartCommit was OK: to be called once for each, before the next.
  absl::StatusOr<BatchCounts> FinishCommit();

 private:
  absl::Status Load();
  absl::Status ApplyEvents(Work& work);
  absl::Status WriteState(const Work& work);
  absl::StatusOr<bool> Sweep(const Work& work, CopyEndPlace& place);
  absl::Status FinishCopy(const Work& work);
  absl::StatusOr<bool> IsFullyCopied(const tables::Table& table);
  // Runs `body` as one snapshot, which is taken back when it fails.
  template <typename Body>
  absl::Status InSnapshot(const Work& work, Body body);
  void Note(const Work& work);
  bool ChangesDegraded(const Work& work) const;
  std::vector<state::TableId> DegradedTables() const;

  const tables::Catalog& catalog_;
  state::StateStore& store_;
  state::StateWriter& writer_;
  const BatchWriterOptions options_;
  const std::atomic<bool>& stopping_;
  tables::Merger merger_;

  // As of the last StartCommit with what was applied since; read from the store first, and again
  // after an error: never trusted over what is on disk.
  bool loaded_ = false;
  bool staged_ = false;  // anything applied since the last StartCommit
  BatchCounts counts_;
  BatchCounts committing_counts_;  // of the batch before
  std::map<std::string, state::SourceMark> marks_;
  std::set<std::string> degraded_;  // sources
  bool degraded_changed_ = false;   // by the last work: the batch ends with it
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_BATCH_WRITER_H_
