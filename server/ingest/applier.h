// The applier: the only writer of the state table. Takes queued work of all sources, groups what is
// waiting into one synced batch (no timer), publishes, and tells the sources.
#ifndef TIDEMARK_SERVER_INGEST_APPLIER_H_
#define TIDEMARK_SERVER_INGEST_APPLIER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/ingest/work.h"
#include "storage/state/state_store.h"
#include "storage/tables/catalog.h"

namespace tidemark::ingest {

struct ApplierOptions {
  size_t max_queue_bytes = 64 << 20;  // of events in memory; a full queue stops the reading
  size_t max_queue_works = 10000;
  size_t max_batch_bytes = 8 << 20;  // a batch ends when its staged bytes pass it
  size_t max_batch_works = 2000;
};

// Numbers since start.
struct ApplierCounters {
  uint64_t events = 0, transactions = 0, snapshots = 0, batches = 0, rejected = 0;
  uint64_t queued_works = 0, queued_bytes = 0;  // now
};

// Thread-safe.
class Applier {
 public:
  virtual ~Applier() = default;  // Stop()

  virtual void Start() = 0;
  // Applies nothing more after the batch in hand; `done` of what is still queued is called with
  // SHUTTING_DOWN. Idempotent.
  virtual void Stop() = 0;

  // Queues work; waits while the queue is full. Works of one source are applied in the order they
  // were queued. SHUTTING_DOWN after Stop (`done` is then not called); STORE_READ_ONLY when the
  // store takes no more writes.
  virtual absl::Status Queue(Work work) = 0;

  // The marks a commit records: every source's position and freshness, asked on the applier's
  // thread once per batch.
  using MarkProvider = std::function<std::vector<state::SourceMark>()>;
  virtual void SetMarkProvider(MarkProvider provider) = 0;

  virtual ApplierCounters Counters() const = 0;
};

// `catalog` and `store` outlive the applier.
std::unique_ptr<Applier> MakeApplier(const tables::Catalog& catalog, state::StateStore& store,
                                     ApplierOptions options);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_APPLIER_H_
