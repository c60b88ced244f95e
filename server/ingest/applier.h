// The applier: the only writer of the state table. Takes queued work of all sources, groups what is
// waiting into one synced batch (no timer), publishes, and tells the sources.
//
// Example (a source's thread):
//   TIDEMARK_ASSIGN_OR_RETURN(DurableState state, applier.ReadState(name));   // where were we?
//   ... connect, then for every source transaction:
//   absl::Status queued = applier.Queue(std::move(work));    // waits while the queue is full
//   ... an error, here or in `done`: forget what was sent, applier.RestartSource(name), ReadState,
//   and connect again from there.
#ifndef TIDEMARK_SERVER_INGEST_APPLIER_H_
#define TIDEMARK_SERVER_INGEST_APPLIER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/ingest/source_state.h"
#include "server/ingest/work.h"
#include "storage/state/state_store.h"
#include "storage/tables/catalog.h"

namespace tidemark::ingest {

struct ApplierOptions {
  // Of one source: a full queue stops its reading, and no other's. A work larger than the bound is
  // taken when nothing else of its source is queued.
  size_t max_queue_bytes = 64 << 20;  // of events in memory
  size_t max_queue_works = 10000;
  size_t max_batch_bytes = 8 << 20;  // a batch ends when its staged bytes pass it
  size_t max_batch_works = 2000;
  size_t sweep_slice_rows = 10000;  // stored entries one slice of a copy's sweep looks at
  // Rows are read ahead for works that find this many waiting before them; fewer are applied before
  // that would help.
  size_t read_ahead_works = 64;
};

// Numbers since start.
struct ApplierCounters {
  uint64_t events = 0, transactions = 0, snapshots = 0, batches = 0;
  uint64_t rejected = 0;                        // works whose `done` got an error
  uint64_t queued_works = 0, queued_bytes = 0;  // now
};

// Thread-safe.
class Applier {
 public:
  virtual ~Applier() = default;  // Stop()

  // Commits what the store holds uncommitted (tables the catalog created), then applies. An error
  // of the store: it takes no writes; Stop still works. Once only, not after Stop. Work may be
  // queued before.
  virtual absl::Status Start() = 0;
  // Applies nothing more after the batch in hand (a transaction of many events in hand is
  // abandoned); `done` of what is still queued is called with SHUTTING_DOWN. Idempotent.
  virtual void Stop() = 0;

  // Queues work; waits while the source's queue is full. Works of one source are applied in the
  // order they were queued, works of different sources in about that order. When it returns an
  // error the work is gone and `done` is not called:
  //  SHUTTING_DOWN after Stop;
  //  the error of an earlier work of the same source, until RestartSource: later works build on
  //  it, so what is queued behind a failed one is refused with its error too.
  // STORE_READ_ONLY is such an error: the store took no more writes.
  virtual absl::Status Queue(Work work) = 0;

  // Takes works of the source again after an error. Those queued before the call stay refused.
  // Call it from the thread that queues, when it has stopped sending what followed the failed work.
  virtual void RestartSource(std::string_view source) = 0;

  // What is durable of the source. Waits for the batch in hand. SHUTTING_DOWN after Stop. Must not
  // be called before Start or from `done`.
  virtual absl::StatusOr<DurableState> ReadState(std::string_view source) = 0;

  // Gives the sources' freshness, which a commit records beside their positions; a position counts
  // only for a source the applier knows none of. Asked on the applier's thread once per batch; set
  // it before Start.
  using MarkProvider = std::function<std::vector<state::SourceMark>()>;
  virtual void SetMarkProvider(MarkProvider provider) = 0;

  virtual ApplierCounters Counters() const = 0;
};

// `catalog` and `store` outlive the applier. From here on only the applier uses the store's writer.
std::unique_ptr<Applier> MakeApplier(const tables::Catalog& catalog, state::StateStore& store,
                                     ApplierOptions options);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_APPLIER_H_
