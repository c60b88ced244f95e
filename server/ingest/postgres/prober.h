// The side connection: asks the system of record how far it is, for freshness, and now and then
// whether what is followed is still published as it was.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_PROBER_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_PROBER_H_

#include <memory>

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
  absl::Status CheckRelations();

  SourceParts& parts_;
  std::unique_ptr<PgConnection> connection_;
  DatabaseName database_;  // of connection_
  PgTypeMap types_;
  Lsn last_head_ = 0;
  absl::Time head_since_;
  absl::Time next_check_;  // of the relations
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_PROBER_H_
