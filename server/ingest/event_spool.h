// Events in a file instead of in memory: written once, read once, gone with the process.
//
// Example:
//   TIDEMARK_ASSIGN_OR_RETURN(auto spool, EventSpool::Create(dir));
//   TIDEMARK_RETURN_IF_ERROR(spool->Append(event));    // as often as needed
//   TIDEMARK_ASSIGN_OR_RETURN(auto events, EventSpool::Finish(std::move(spool)));
#ifndef TIDEMARK_SERVER_INGEST_EVENT_SPOOL_H_
#define TIDEMARK_SERVER_INGEST_EVENT_SPOOL_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/ingest/event_codec.h"
#include "server/ingest/work.h"

namespace tidemark::ingest {

// The file has no name, so nothing of it is left when the object goes, nor when the process is
// killed. Holds one buffer in memory, and the relations. Not thread-safe.
class EventSpool {
 public:
  // `dir` must exist. UNAVAILABLE when no file can be made there.
  static absl::StatusOr<std::unique_ptr<EventSpool>> Create(const std::string& dir);
  ~EventSpool();
  EventSpool(const EventSpool&) = delete;
  EventSpool& operator=(const EventSpool&) = delete;

  // UNAVAILABLE when the file cannot be written (the disk is full): the spool is of no use any
  // more.
  absl::Status Append(const tables::RowEvent& event);
  // Everything appended, in order.
  static absl::StatusOr<std::unique_ptr<EventList>> Finish(std::unique_ptr<EventSpool> spool);

 private:
  class Reader;
  EventSpool(int file, std::string dir) : file_(file), dir_(std::move(dir)) {}
  absl::Status Flush();

  const int file_;
  const std::string dir_;  // for messages
  SchemaTable schemas_;
  std::string buffer_;
  std::string record_;
  size_t count_ = 0;
  size_t total_bytes_ = 0;
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_EVENT_SPOOL_H_
