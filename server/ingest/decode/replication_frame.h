// What travels inside COPY BOTH of PostgreSQL's streaming replication: log data and keepalives in,
// standby status out.
#ifndef TIDEMARK_SERVER_INGEST_DECODE_REPLICATION_FRAME_H_
#define TIDEMARK_SERVER_INGEST_DECODE_REPLICATION_FRAME_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tidemark::ingest {

struct ReplicationFrame {
  enum class Kind { kData, kKeepalive };
  Kind kind = Kind::kData;
  // kData: one message of the plugin; points into the bytes parsed.
  std::string_view payload;
  // kKeepalive: everything before it in the log has been processed and, where it is for us, sent.
  uint64_t wal_end = 0;
  bool reply_requested = false;
};

// EVENT_MALFORMED for bytes that are no frame.
absl::Status ParseReplicationFrame(std::string_view bytes, ReplicationFrame* frame);

// The standby status update. `written`: received; `flushed`: durable here, the server may forget
// everything before it; `now`: for the server's view of our clock.
std::string EncodeStandbyStatus(uint64_t written, uint64_t flushed, absl::Time now,
                                bool request_reply);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_DECODE_REPLICATION_FRAME_H_
