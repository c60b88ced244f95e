// A real PostgreSQL, and everything that follows it: source, applier, tables and a LevelDB store in
// a directory of its own. For tests that hold what is read here against what SQL says there.
//
// Example:
//   FollowedWorld world({.tables = kOrders});
//   world.sql().Exec("CREATE TABLE orders ...; CREATE PUBLICATION tidemark FOR TABLE orders");
//   world.Open();
//   ASSERT_THAT(world.AwaitRecent(), IsOk());
//   EXPECT_EQ(world.Rows("orders"), ...);
#ifndef TIDEMARK_TESTS_UNIT_SERVER_INGEST_POSTGRES_FOLLOWED_WORLD_H_
#define TIDEMARK_TESTS_UNIT_SERVER_INGEST_POSTGRES_FOLLOWED_WORLD_H_

#include <deque>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "server/ingest/applier.h"
#include "server/ingest/postgres/postgres_source.h"
#include "storage/state/state_store.h"
#include "storage/tables/catalog.h"
#include "tests/support/postgres_server.h"
#include "tests/support/sql_client.h"

namespace tidemark::ingest {

inline void PrintTo(SourceState state, std::ostream* out) { *out << SourceStateName(state); }

}  // namespace tidemark::ingest

namespace tidemark::testing {

// No test waits longer for anything.
inline constexpr absl::Duration kDeadline = absl::Seconds(120);

// Something that happens on another thread, once.
class Happening {
 public:
  void Happen(const absl::Status& status);
  // The status it happened with; DEADLINE_EXCEEDED when it did not within `timeout`.
  absl::Status Await(absl::Duration timeout = kDeadline);

 private:
  Mutex mutex_;
  CondVar changed_;
  bool happened_ TIDEMARK_GUARDED_BY(mutex_) = false;
  absl::Status status_ TIDEMARK_GUARDED_BY(mutex_);
};

struct WorldOptions {
  std::string tables;                // YAML of `tables:`, sources named "erp" (and "shop")
  PostgresServer* server = nullptr;  // nullptr: the shared one
  // Changes the options of the source before it is made.
  std::function<void(ingest::PostgresSourceOptions&)> configure;
  // A second source "shop" beside "erp", which follows a database of its own.
  bool with_shop = false;
  ingest::ApplierOptions applier;
};

// A row as "column=value" texts joined by ", ", nulls as "null".
using RowTexts = std::vector<std::string>;

// Check-fails where the world itself does not work. Not thread-safe but where said.
class FollowedWorld {
 public:
  explicit FollowedWorld(WorldOptions options);
  ~FollowedWorld();

  PostgresServer& server() { return server_; }
  const std::string& database() const { return database_; }
  std::string dsn() const { return server_.Dsn(database_); }
  // A connection to the database; made anew after the server went away.
  SqlClient& sql();
  void Reconnect() { sql_.reset(); }

  SqlClient& shop_sql();
  // Waits at the server until a query's one value is true.
  void AwaitSql(const std::string& condition);

  // Drops the slot of "erp", once nobody follows it any more.
  void DropSlot();

  // Opens the store and starts following. Close stops everything; Open then goes on from the disk.
  void Open();
  void Close();
  ingest::Source& source() { return *source_; }
  ingest::Source& shop() { return *shop_; }
  ingest::Applier& applier() { return *applier_; }
  state::StateReader& reader() { return store_->reader(); }
  const std::string& state_dir() const { return dir_; }
  // Copies the directory of the closed store away, and back.
  void SaveState(const std::string& name);
  void RestoreState(const std::string& name);
  // Replaces the tables; for the next Open.
  void set_tables(std::string yaml) { options_.tables = std::move(yaml); }

  // Until the source is in `state` with `detail` in its detail.
  absl::Status AwaitState(ingest::SourceState state, const std::string& detail = "");
  // Until everything committed at the sources by now is applied.
  absl::Status AwaitRecent(absl::Duration timeout = kDeadline);
  // Until everything before `lsn` ("0/16B3748") is applied.
  absl::Status AwaitPast(const std::string& lsn);
  // The same, or it was since the last TakeStates: for states that do not last.
  absl::Status AwaitPassed(ingest::SourceState state, const std::string& detail = "");
  // States the source went through since the last call, each with its detail.
  std::vector<std::pair<ingest::SourceState, std::string>> TakeStates();

  // Rows of a table, sorted: of the newest snapshot, or of the newest that holds nothing of the
  // source at or after `lsn`.
  RowTexts Rows(const std::string& table);
  RowTexts RowsAt(const std::string& table, const std::string& lsn);
  RowTexts RowsOf(const std::string& table, const state::ReadPoint& point);
  // One row of the newest snapshot by its one key column; empty when it is absent.
  std::vector<tables::Datum> FindRow(const std::string& table, const tables::Datum& key);
  // All changes since a snapshot.
  std::vector<state::Change> ChangesAfter(state::SnapshotId id);
  state::SnapshotId latest() { return reader().Latest()->id(); }
  bool IsDegraded(const std::string& table);

 private:
  const tables::Table& FindTable(const std::string& name);
  ingest::PostgresSourceOptions SourceOptions(const std::string& name, const std::string& database);
  absl::Status AwaitStates(
      const std::function<bool(const std::pair<ingest::SourceState, std::string>&)>& wanted,
      bool passed);
  absl::Status AwaitRecentOf(ingest::Source& source, absl::Duration timeout);

  WorldOptions options_;
  PostgresServer& server_;
  const std::string database_;
  const std::string dir_;
  const std::string shop_database_;
  std::unique_ptr<SqlClient> sql_, shop_sql_;

  std::unique_ptr<state::LevelDbStore> store_;
  std::unique_ptr<tables::Catalog> catalog_;
  std::unique_ptr<ingest::Applier> applier_;
  std::unique_ptr<ingest::Source> source_, shop_;

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::pair<ingest::SourceState, std::string>> states_ TIDEMARK_GUARDED_BY(mutex_);
  std::pair<ingest::SourceState, std::string> state_ TIDEMARK_GUARDED_BY(mutex_);
};

// One value as text, as psql shows it where that is plain.
std::string DatumText(const tables::Datum& datum);

// What SQL says, in the form of FollowedWorld::Rows: columns named as given.
RowTexts SqlTexts(const SqlRows& rows, const std::vector<std::string>& columns);

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_UNIT_SERVER_INGEST_POSTGRES_FOLLOWED_WORLD_H_
