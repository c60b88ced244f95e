// What the parts of one postgres source share. Inside of this folder.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_SOURCE_PARTS_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_SOURCE_PARTS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "server/ingest/applier.h"
#include "server/ingest/postgres/connection.h"
#include "server/ingest/postgres/durable_records.h"
#include "server/ingest/postgres/lsn.h"
#include "server/ingest/postgres/outbox.h"
#include "server/ingest/postgres/postgres_source.h"
#include "server/ingest/postgres/status_board.h"
#include "server/ingest/postgres/wake_fd.h"
#include "server/ingest/progress.h"
#include "storage/tables/catalog.h"

namespace tidemark::ingest {

// The database the source follows, once it is known to be the right one.
struct DatabaseName {
  std::string system_identifier;
  std::string database;
  bool operator==(const DatabaseName&) const = default;
};

// Fields say who writes them; those that are const or have a lock of their own are for everyone.
struct SourceParts {
  SourceParts(PostgresSourceOptions source_options, const tables::Catalog& the_catalog,
              Applier& the_applier, const Clock& the_clock);

  ConnectOptions connect_options(bool replication) const;

  const PostgresSourceOptions options;
  const std::vector<std::string> publications;  // sorted
  const std::vector<std::string> relations;     // that feed a table, and those listed; sorted
  const std::vector<std::string> fed;           // those that feed a table
  const tables::Catalog& catalog;
  Applier& applier;
  const Clock& clock;

  // Shared with works that outlive the source.
  const std::shared_ptr<WakeFd> wake = std::make_shared<WakeFd>();
  const std::shared_ptr<Progress> progress;
  const std::shared_ptr<StatusBoard> board;

  WakeFd interrupt;  // set once, to stop
  Outbox outbox;

  // Requests of other threads to the one that follows; it looks at them when woken.
  std::atomic<bool> paused{false};
  std::atomic<bool> resumed{false};      // try again now, and accept a gap
  std::atomic<bool> check_again{false};  // something at the source has changed
  std::atomic<Lsn> wanted_head{0};       // of the newest probe

  // Set by the thread that follows. Joined: the server was found to go on where we are, and has
  // not been lost sight of since; what it says of its log counts.
  std::atomic<bool> joined{false};
  std::atomic<bool> streaming{false};

  // That thread's own. A gap found in the stream, until the copy that mends it: when the source has
  // changed back meanwhile, nothing but the stream shows it.
  absl::Status gap_in_stream;

  DatabaseName database() const TIDEMARK_EXCLUDES(mutex_);
  void set_database(DatabaseName database) TIDEMARK_EXCLUDES(mutex_);
  // The relations whose changes are applied, as they were copied. The version rises with every
  // set_followed.
  std::map<std::string, RelationRecord> followed(uint64_t* version) const TIDEMARK_EXCLUDES(mutex_);
  void set_followed(std::map<std::string, RelationRecord> relations) TIDEMARK_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  DatabaseName database_ TIDEMARK_GUARDED_BY(mutex_);
  std::map<std::string, RelationRecord> followed_ TIDEMARK_GUARDED_BY(mutex_);
  uint64_t followed_version_ TIDEMARK_GUARDED_BY(mutex_) = 0;
};

// Waits until `wake` or the interrupt is set, or the time is over, and clears `wake`.
void AwaitWake(SourceParts& parts, absl::Duration timeout);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_SOURCE_PARTS_H_
