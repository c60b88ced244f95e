// The postgres source: follows a PostgreSQL database through logical replication (pgoutput), from
// an exported-snapshot copy on, without gap or overlap (4-state.md, "Sources and exactly once").
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_POSTGRES_SOURCE_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_POSTGRES_SOURCE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"
#include "server/ingest/applier.h"
#include "server/ingest/source.h"
#include "storage/tables/catalog.h"

namespace tidemark::ingest {

struct PostgresSourceOptions {
  std::string name;         // of the source
  std::string dsn;          // libpq connection string of the system of record; never logged
  std::string slot;         // replication slot, created when missing on first contact
  std::string publication;  // must exist; several, separated by commas
  // "schema.table", as the catalog has them, without quotes. Those that feed a table are followed
  // whether they are listed or not; all must exist and be published.
  std::vector<std::string> relations;
  bool resnapshot_on_gap = true;  // false: stay in GAP until resumed
  absl::Duration probe_every = absl::Seconds(1);
  absl::Duration status_every = absl::Seconds(10);  // standby status when idle
  absl::Duration retry_min = absl::Milliseconds(100);
  absl::Duration retry_max = absl::Seconds(10);
  size_t max_transaction_bytes = 64 << 20;
  std::string spool_dir;
  // Called on a thread of the source whenever its state or the detail changes: for logs. Quick;
  // must not call the source.
  std::function<void(SourceState state, const std::string& detail)> on_state;
};

// `catalog`, `applier` (started before the source is) and `clock` outlive the source.
std::unique_ptr<Source> MakePostgresSource(PostgresSourceOptions options,
                                           const tables::Catalog& catalog, Applier& applier,
                                           const Clock& clock);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_POSTGRES_SOURCE_H_
