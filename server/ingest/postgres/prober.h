// The side connection: asks the system of record how far it is, for freshness, and in the same
// query whether what is followed is still defined and published as it was: some changes of
// definitions change rows without an event, and nothing is fresh then.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_PROBER_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_PROBER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/ingest/decode/pg_types.h"
#include "server/ingest/postgres/connection.h"
#include "server/ingest/postgres/lsn.h"
#include "server/ingest/postgres/source_parts.h"

namespace tidemark::ingest {

// Not thread-safe: one thread of its own runs it.
class Prober {
 public:
  // `parts` outlives it.
  explicit Prober(SourceParts& parts) : parts_(parts) {}

  // Probes until the source's Progress is stopped: every probe_every, and sooner when somebody
  // waits, at most one per 100 ms.
  void Run();

 private:
  absl::StatusOr<Lsn> Probe();
  absl::Status Connect();
  // Moves the end of the log to the end of a record when it stands inside one.
  absl::Status NudgeIfStuck(Lsn head);
  // `fingerprint`: of the source's catalog. Looks closer when it is another than last time.
  absl::Status CheckRelations(const std::string& fingerprint);

  SourceParts& parts_;
  std::unique_ptr<PgConnection> connection_;
  DatabaseName database_;  // of connection_
  PgTypeMap types_;
  Lsn last_head_ = 0;
  absl::Time head_since_;
  std::string fingerprint_;  // at which everything was as it must be
  uint64_t version_ = 0;     // of what was followed then
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_PROBER_H_
