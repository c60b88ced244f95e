// Whether the server behind the DSN is the one we followed, and whether what it still has joins
// what is applied here: asked on every connect, before anything is streamed.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_SOURCE_CHECKS_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_SOURCE_CHECKS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/ingest/postgres/connection.h"
#include "server/ingest/postgres/durable_records.h"
#include "server/ingest/postgres/lsn.h"

namespace tidemark::ingest {

// What the server says of itself.
struct ServerIdentity {
  std::string system_identifier;
  uint32_t timeline = 0;
  Lsn flushed = 0;  // end of its log
  std::string database;
  uint32_t database_oid = 0;
  absl::Duration sender_timeout;  // wal_sender_timeout; infinite when it is off
};

// Asks, on a replication connection. FAILED when the server is too old or its wal_level is not
// logical, RETRYING while it is a standby.
absl::StatusOr<ServerIdentity> Identify(PgConnection& connection);

// FAILED naming both when `now` is another server or database than the one followed.
absl::Status CheckSameDatabase(const SourceIdentity& followed, const ServerIdentity& now);

// GAP when the server's history does not contain everything before `resume`: another timeline that
// branched off before it, or a log that ends before it.
absl::Status CheckHistory(PgConnection& connection, const SourceIdentity& followed,
                          const ServerIdentity& now, Lsn resume);

struct SlotState {
  bool active = false;
  int active_pid = 0;
  bool lost = false;
  Lsn confirmed = 0;
};

// The slot, or nothing when there is none. FAILED when it is a slot of another kind, plugin or
// database; RETRYING when another session follows it.
absl::StatusOr<std::optional<SlotState>> ReadSlot(PgConnection& connection, const std::string& slot,
                                                  const std::string& database);

// GAP when the slot cannot send everything from `resume` on.
absl::Status CheckSlot(const std::string& slot, const std::optional<SlotState>& state, Lsn resume);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_SOURCE_CHECKS_H_
