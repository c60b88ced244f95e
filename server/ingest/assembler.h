// Collects the events of a source transaction while it arrives: in memory up to a bound, then in a
// spool file. Only a transaction received whole is handed on.
#ifndef TIDEMARK_SERVER_INGEST_ASSEMBLER_H_
#define TIDEMARK_SERVER_INGEST_ASSEMBLER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/ingest/event_spool.h"
#include "server/ingest/work.h"

namespace tidemark::ingest {

struct AssemblerOptions {
  size_t max_transaction_bytes = 64 << 20;  // held in memory, then spooled
  std::string spool_dir;                    // for spool files, which leave nothing behind; exists
};

// Not thread-safe: used by one source's thread.
class Assembler {
 public:
  explicit Assembler(AssemblerOptions options) : options_(std::move(options)) {}

  // Adds an event to the open transaction. UNAVAILABLE when the spool file cannot be written: the
  // transaction is incomplete, Discard it.
  absl::Status Add(tables::RowEvent event);
  // Events in the open transaction.
  size_t count() const { return count_; }
  // The collected events; the assembler is empty afterwards, also after an error.
  absl::StatusOr<std::unique_ptr<EventList>> Finish();
  // Drops what was collected (the stream broke off in mid-transaction).
  void Discard();

 private:
  absl::Status StartSpooling();

  const AssemblerOptions options_;
  std::vector<tables::RowEvent> events_;  // empty once there is a spool
  size_t bytes_ = 0;                      // of events_
  size_t count_ = 0;
  std::unique_ptr<EventSpool> spool_;
};

// Events held in memory.
std::unique_ptr<EventList> MakeEventList(std::vector<tables::RowEvent> events);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_ASSEMBLER_H_
