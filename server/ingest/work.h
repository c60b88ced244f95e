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
  virtual size_t memory_bytes() const = 0;  // held in memory now, for the queue's bound
};

enum class WorkKind {
  kTransaction,  // one source transaction: one snapshot (none when its net effect is nothing)
  kProgress,     // no change; only `state` (a keepalive's position, a phase)
  kCopyRows,     // rows of a running copy
  kCopyEnd,      // the copy of `copied` is complete: sweep older generations, finish loading
};

struct Work {
  WorkKind kind = WorkKind::kProgress;
  std::string source;
  std::unique_ptr<EventList> events;  // kTransaction, kCopyRows
  tables::EventOrigin origin;
  // What the snapshot records as the source's position (compares like memcmp). kCopyEnd: the
  // greatest position that the copy holds everything up to and including.
  std::string position;
  absl::Time event_time = absl::InfinitePast();
  // Entries of AuxSpace::kSourceState written in the same batch; nullopt deletes.
  std::vector<std::pair<std::string, std::optional<std::string>>> state;
  // kCopyEnd: relations whose older generations are swept (generation per relation). Tables of
  // which every relation is now copied become readable in this snapshot.
  std::vector<std::pair<tables::RelationRef, uint64_t>> copied;
  // Set: from this work's commit on, the source's tables are degraded, or no longer.
  std::optional<bool> degraded;
  // Called once on the applier's thread, after the work is durable and published (OK), or was not
  // applied and never will be (the error: the applier took nothing of it). Quick; may queue no
  // work.
  std::function<void(const absl::Status&)> done;
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_WORK_H_
