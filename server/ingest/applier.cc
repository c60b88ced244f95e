#include "server/ingest/applier.h"

#include <atomic>
#include <deque>
#include <optional>
#include <utility>

#include "common/background_worker.h"
#include "common/check.h"
#include "common/error.h"
#include "common/mutex.h"
#include "server/ingest/batch_writer.h"
#include "server/ingest/read_ahead.h"
#include "server/ingest/work_queue.h"

namespace tidemark::ingest {
namespace {

class QueueApplier final : public Applier {
 public:
  QueueApplier(const tables::Catalog& catalog, state::StateStore& store, ApplierOptions options)
      : options_(options),
        store_(store),
        queue_(options.max_queue_bytes, options.max_queue_works),
        read_ahead_(catalog, store.reader()),
        batch_(catalog, store, {options.max_batch_bytes, options.sweep_slice_rows}, stopping_) {}
  ~QueueApplier() override { Stop(); }

  absl::Status Start() override;
  void Stop() override;
  absl::Status Queue(Work work) override;
  void RestartSource(std::string_view source) override { queue_.Restart(source); }
  absl::StatusOr<DurableState> ReadState(std::string_view source) override;
  void SetMarkProvider(MarkProvider provider) override { provider_ = std::move(provider); }
  ApplierCounters Counters() const override;

 private:
  // What is to be told once the batch is durable.
  struct Outcome {
    std::string source;
    uint64_t epoch = 0;
    std::function<void(const absl::Status&)> done;  // empty for an unfinished sweep
    absl::Status status;
  };
  struct Read {
    std::string source;
    std::optional<absl::StatusOr<DurableState>> result;
  };

  // --- The applier's thread.
  void ApplyWaiting();
  bool ApplyBatch();
  void ApplyOne(QueuedWork queued);
  // Begins to commit what was applied; the batch before is told first.
  void EndBatch();
  // Waits for the batch being committed and tells its outcomes; false when there is none.
  bool Settle();
  void Tell(std::vector<Outcome> outcomes, const absl::StatusOr<BatchCounts>& committed);
  void AnswerReads();

  void Wake() TIDEMARK_EXCLUDES(mutex_);
  static absl::Status ShuttingDown() {
    return MakeError(Reason::kShuttingDown, "The server is shutting down; nothing was applied.");
  }

  // Constant after Start.
  const ApplierOptions options_;
  state::StateStore& store_;
  MarkProvider provider_;

  // Have their own synchronization.
  std::atomic<bool> stopping_{false};
  WorkQueue queue_;
  ReadAhead read_ahead_;

  // The applier's thread only.
  BatchWriter batch_;
  std::vector<Outcome> outcomes_;                   // of what was applied since EndBatch
  std::optional<std::vector<Outcome>> committing_;  // of the batch being committed

  mutable Mutex mutex_;
  CondVar read_answered_;
  bool stopped_ TIDEMARK_GUARDED_BY(mutex_) = false;
  std::deque<Read*> reads_ TIDEMARK_GUARDED_BY(mutex_);
  ApplierCounters counters_ TIDEMARK_GUARDED_BY(mutex_);
  std::unique_ptr<BackgroundWorker> worker_ TIDEMARK_GUARDED_BY(mutex_);
};

absl::Status QueueApplier::Start() {
  TIDEMARK_RETURN_IF_ERROR(batch_.Open());
  MutexLock lock(mutex_);
  TIDEMARK_CHECK(!worker_ && !stopped_);
  worker_ = std::make_unique<BackgroundWorker>(BackgroundWorker::Options{.name = "applier"},
                                               [this] { ApplyWaiting(); });
  worker_->Trigger();
  return absl::OkStatus();
}

void QueueApplier::Stop() {
  stopping_ = true;
  queue_.Close();
  read_ahead_.Stop();
  std::unique_ptr<BackgroundWorker> worker;
  {
    MutexLock lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    worker = std::move(worker_);
  }
  worker.reset();
  for (auto queued = queue_.Take(); queued; queued = queue_.Take()) {
    outcomes_.push_back({{}, 0, std::move(queued->work.done), ShuttingDown()});
  }
  EndBatch();
  Settle();
  MutexLock lock(mutex_);
  for (Read* read : reads_) read->result = ShuttingDown();
  reads_.clear();
  read_answered_.NotifyAll();
}

absl::Status QueueApplier::Queue(Work work) {
  // A copy mostly brings rows that are not there yet.
  const ReadAhead::Events events =
      work.kind == WorkKind::kTransaction ? work.events->InMemory() : nullptr;
  TIDEMARK_ASSIGN_OR_RETURN(const size_t before, queue_.Push(std::move(work)));
  if (before == 0) Wake();
  if (events && before >= options_.read_ahead_works) read_ahead_.Add(events);
  return absl::OkStatus();
}

absl::StatusOr<DurableState> QueueApplier::ReadState(std::string_view source) {
  Read read;
  read.source = source;
  MutexLock lock(mutex_);
  if (stopped_) return ShuttingDown();
  TIDEMARK_CHECK(worker_);
  reads_.push_back(&read);
  worker_->Trigger();
  while (!read.result) read_answered_.Wait(mutex_);
  return *std::move(read.result);
}

ApplierCounters QueueApplier::Counters() const {
  MutexLock lock(mutex_);
  ApplierCounters counters = counters_;
  counters.queued_works = queue_.works();
  counters.queued_bytes = queue_.bytes();
  return counters;
}

void QueueApplier::Wake() {
  MutexLock lock(mutex_);
  if (worker_) worker_->Trigger();
}

void QueueApplier::ApplyWaiting() {
  do {
    AnswerReads();
  } while (ApplyBatch());
}

bool QueueApplier::ApplyBatch() {
  size_t works = 0;
  while (works < options_.max_batch_works && batch_.staged_bytes() < options_.max_batch_bytes &&
         !stopping_) {
    // Sources are told as soon as their batch is durable, not when the next one is full.
    if (committing_ && !batch_.committing()) Settle();
    std::optional<QueuedWork> queued = queue_.Take();
    if (!queued) {
      // What comes while a batch is being committed makes one batch.
      if (Settle()) continue;
      break;
    }
    ++works;
    ApplyOne(*std::move(queued));
  }
  EndBatch();
  return works > 0;
}

void QueueApplier::ApplyOne(QueuedWork queued) {
  if (queued.refusal.ok() && batch_.WantsOwnBatch(queued.work, queued.place)) EndBatch();
  Outcome outcome{queued.work.source, queued.epoch, nullptr, queued.refusal};
  bool complete = true;
  if (outcome.status.ok()) {
    absl::StatusOr<bool> applied = batch_.Apply(queued.work, queued.place);
    outcome.status = applied.status();
    if (applied.ok()) {
      complete = *applied;
    } else {
      queue_.Refuse(outcome.source, outcome.epoch, outcome.status);
    }
  }
  if (complete) {
    outcome.done = std::move(queued.work.done);
  } else {
    queue_.PutBack(std::move(queued));
  }
  outcomes_.push_back(std::move(outcome));
}

void QueueApplier::EndBatch() {
  Settle();
  absl::Status started;
  if (batch_.staged()) {
    started = batch_.StartCommit(provider_ ? provider_() : std::vector<state::SourceMark>());
    if (started.ok()) {
      committing_ = std::exchange(outcomes_, {});
      return;
    }
  }
  Tell(std::exchange(outcomes_, {}),
       started.ok() ? absl::StatusOr<BatchCounts>(BatchCounts()) : started);
}

bool QueueApplier::Settle() {
  if (!committing_) return false;
  const absl::StatusOr<BatchCounts> committed = batch_.FinishCommit();
  {
    MutexLock lock(mutex_);
    counters_.batches += committed.ok();
  }
  Tell(*std::exchange(committing_, std::nullopt), committed);
  return true;
}

void QueueApplier::Tell(std::vector<Outcome> outcomes,
                        const absl::StatusOr<BatchCounts>& committed) {
  uint64_t rejected = 0;
  for (Outcome& outcome : outcomes) {
    if (outcome.status.ok() && !committed.ok()) {
      outcome.status = committed.status();
      queue_.Refuse(outcome.source, outcome.epoch, outcome.status);
    }
    rejected += outcome.done && !outcome.status.ok();
  }
  {
    MutexLock lock(mutex_);
    counters_.rejected += rejected;
    if (committed.ok()) {
      counters_.events += committed->events;
      counters_.transactions += committed->transactions;
      counters_.snapshots += committed->snapshots;
    }
  }
  // Told last, so that who is told sees the counters.
  for (Outcome& outcome : outcomes) {
    if (outcome.done) outcome.done(outcome.status);
  }
}

void QueueApplier::AnswerReads() {
  std::deque<Read*> reads;
  {
    MutexLock lock(mutex_);
    reads = std::exchange(reads_, {});
  }
  if (reads.empty()) return;
  // Nothing is staged between batches, nor on its way to the disk now: what is read is durable.
  Settle();
  for (Read* read : reads) {
    absl::StatusOr<DurableState> durable = ReadDurableState(store_.writer(), read->source);
    MutexLock lock(mutex_);
    read->result = std::move(durable);
    read_answered_.NotifyAll();
  }
}

}  // namespace

std::unique_ptr<Applier> MakeApplier(const tables::Catalog& catalog, state::StateStore& store,
                                     ApplierOptions options) {
  return std::make_unique<QueueApplier>(catalog, store, options);
}

}  // namespace tidemark::ingest
