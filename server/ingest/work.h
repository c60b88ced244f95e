// What a source hands to the applier: one unit that is applied whole, in the order it was queued.
#ifndef TIDEMARK_SERVER_INGEST_WORK_H_
#define TIDEMARK_SERVER_INGEST_WORK_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/tables/row_event.h"
#include "storage/tables/table_definition.h"

namespace tidemark::ingest {

// The events of one source transaction, in order: in memory, or spooled to a file when they are
// larger than max_transaction_bytes. Read once, front to back, by one thread.
class EventList {
 public:
  virtual ~EventList() = default;
  // The next event; nullptr at the end; valid until the next call. An error of the spool file.
  virtual absl::StatusOr<const tables::RowEvent*> Next() = 0;
  virtual size_t count() const = 0;
  // Roughly what the events take in memory, whether they lie there or in a file.
  virtual size_t total_bytes() const = 0;
  virtual size_t memory_bytes() const = 0;  // held in memory now, for the queue's bound
  // All of them, for whoever looks ahead; nullptr when they are not in memory. Thread-safe.
  virtual std::shared_ptr<const std::vector<tables::RowEvent>> InMemory() const { return nullptr; }
};

enum class WorkKind {
  kTransaction,  // one source transaction: one snapshot (none when its net effect is nothing)
  kProgress,     // no change; only `state` (a keepalive's position, a phase) and `degraded`
  kCopyRows,     // rows of a running copy
  kCopyEnd,      // the copy of `copied` is complete: sweep older generations, finish loading
};

struct Work {
  WorkKind kind = WorkKind::kProgress;
  std::string source;
  std::unique_ptr<EventList> events;  // kTransaction, kCopyRows
  // kCopyEnd: only `source` and `position` count; the generations are in `copied`.
  tables::EventOrigin origin;
  // What the snapshot records as the source's position (compares like memcmp), and from then on the
  // source's mark. kCopyEnd: the greatest position that the copy holds everything up to and
  // including. kProgress: empty leaves the mark as it is.
  std::string position;
  absl::Time event_time = absl::InfinitePast();
  // Entries of AuxSpace::kSourceState written in the same batch, with keys of source_state.h;
  // nullopt deletes.
  std::vector<std::pair<std::string, std::optional<std::string>>> state;
  // kCopyEnd: relations whose older generations are swept (generation per relation). Tables of
  // which every relation is now copied become readable in this snapshot.
  std::vector<std::pair<tables::RelationRef, uint64_t>> copied;
  // Set: from this work's commit on (kCopyEnd: from its last snapshot on), the source's tables are
  // degraded, or no longer. Remembered over restarts.
  std::optional<bool> degraded;
  // kProgress: the store goes on as a new incarnation (StateWriter::StartIncarnation).
  bool new_incarnation = false;
  // Called once, after the work is durable and published (OK), or was not applied and never will be
  // (the error: the applier took nothing of it, slices of a sweep aside). On the applier's thread,
  // or on the one that stops the applier. Quick; must not queue work, and must not rely on its
  // source: that may be gone by then.
  std::function<void(const absl::Status&)> done;
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_WORK_H_
