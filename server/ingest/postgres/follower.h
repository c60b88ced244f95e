// One try of following a system of record: connect, see whether what is there joins what is
// applied here, copy what must be copied, then stream until something ends it.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_FOLLOWER_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_FOLLOWER_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/ingest/postgres/connection.h"
#include "server/ingest/postgres/durable_records.h"
#include "server/ingest/postgres/source_checks.h"
#include "server/ingest/postgres/source_parts.h"
#include "server/ingest/postgres/streamer.h"

namespace tidemark::ingest {

// Not thread-safe: made and used by the thread that follows.
class Follower {
 public:
  // `accept_gap`: copy everything again over a gap, also with on_gap: stop. `parts` outlives it.
  Follower(SourceParts& parts, bool accept_gap) : parts_(parts), accept_gap_(accept_gap) {}

  // Returns only with a failure, or kCancelled when stopped, paused or asked to check again.
  absl::Status Run();

 private:
  // What a copy is for.
  enum class Copying {
    kFirst,     // nothing is applied yet
    kAfterGap,  // everything again; tables are degraded meanwhile
    kBackfill,  // relations of tables made later; the stream waits
  };

  absl::Status DrainAndReadState();
  absl::Status Connect();
  // What is to be done before streaming; nothing when the stream can go on. GAP when it cannot.
  absl::Status CheckJoin();
  std::vector<std::string> RelationsToBackfill() const;
  // Whether every relation that feeds a table can be read and taken.
  absl::Status CheckCopyable();
  absl::Status Copy(Copying why, const std::vector<std::string>& relations);
  absl::Status CopyOver(const absl::Status& gap);
  absl::Status Backfill(const std::vector<std::string>& relations);
  absl::Status MarkCopying(Copying why, const std::vector<std::string>& relations);
  absl::StatusOr<std::pair<std::string, Lsn>> CreateSlot(const std::string& slot, bool temporary);
  absl::Status FinishCopy(Copying why, std::map<std::string, RelationRecord> copied, Lsn point);
  absl::Status Stream();
  absl::Status RunStreamer(Streamer& streamer);
  StreamPlan StreamPlanUntil(std::optional<Lsn> until) const;
  // Sends `work` and waits until it is durable.
  absl::Status SendAndAwait(Work work);
  absl::Status AwaitSettled();
  SourceIdentity identity() const;

  SourceParts& parts_;
  const bool accept_gap_;
  DurableState durable_;
  PostgresRecords records_;
  ServerIdentity server_;
  std::unique_ptr<PgConnection> connection_;
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_FOLLOWER_H_
