// The real server following a real PostgreSQL, seen as a default client sees it: for cases whose
// outcome is what a reader is told.
//
// Example:
//   CaseWorld world("CREATE TABLE t ...; CREATE PUBLICATION tidemark FOR TABLE t", kTables);
//   ASSERT_TRUE(world.Start()) << world.output();
//   const v1::SnapshotStamp start = world.Now();
//   world.sql().Exec("UPDATE t SET n = 2 WHERE id = 1");
//   EXPECT_THAT(world.Feed(start, {"t"}), ElementsAre("+1 UPDATE t(1) id=1 n=1 -> id=1 n=2"));
#ifndef TIDEMARK_TESTS_INTEGRATION_CASES_CASE_WORLD_H_
#define TIDEMARK_TESTS_INTEGRATION_CASES_CASE_WORLD_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/postgres_server.h"
#include "tests/support/sql_client.h"
#include "tests/support/tidemarkd_process.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "tidemark/v1/state_service.grpc.pb.h"

namespace tidemark::testing {

using Texts = std::vector<std::string>;

// Check-fails where the world itself does not work; everything waits for a minute or two at most.
// Not thread-safe.
class CaseWorld {
 public:
  // A database of its own in `server` (the shared one if null) where `schema` has run, and a
  // configuration with the source "erp" and `tables`, the YAML below `tables:`.
  CaseWorld(const std::string& schema, const std::string& tables, PostgresServer* server = nullptr);
  ~CaseWorld();

  SqlClient& sql() { return sql_; }
  const std::string& slot() const { return slot_; }
  // Waits at the server until a query's one value is true.
  void AwaitSql(const std::string& condition);

  // False when it does not serve; output() says why.
  bool Start();
  int Stop() { return server_.Stop(); }
  // Runs to its end what must not start.
  RunResult StartInVain();
  std::string output() const { return server_.output(); }
  std::string state_dir() const { return server_.data_dir() + "/state"; }
  v1::StateService::Stub& state() { return *state_; }
  v1::IngestService::Stub& ingest() { return *ingest_; }

  // The newest snapshot, with its sources, once it holds all that is committed at the source now.
  v1::SnapshotStamp Now();
  v1::SourceStatus SourceStatus();
  // Until the source says so.
  void AwaitSource(v1::SourceState state);

  // --- Reads. One row as "id=1 note=a", columns by name.
  grpc::Status GetRow(const std::string& table, const std::vector<v1::Value>& key,
                      const v1::Consistency& consistency, v1::GetRowResponse* response,
                      absl::Duration deadline = absl::Minutes(1));
  // All rows in key order, of the newest snapshot or exactly of `stamp`.
  Texts Rows(const std::string& table);
  Texts Rows(const std::string& table, const v1::SnapshotStamp& stamp);
  Texts Rows(const std::string& table, const v1::Consistency& consistency);

  // --- Changes after `start`, with the rows before: "+2 UPDATE t(1) id=1 n=1 -> id=1 n=2" is a
  // change of the second snapshot after it. Up to the last snapshot that holds what is committed
  // now, so that a change too many shows too.
  Texts Feed(const v1::SnapshotStamp& start, const Texts& tables);
  // The messages they came in.
  std::vector<v1::WatchChangesResponse> Messages(const v1::SnapshotStamp& start,
                                                 const Texts& tables);

 private:
  const std::string slot_;
  const std::string dsn_;
  SqlClient sql_;
  TempDirectory dir_;
  TidemarkdProcess server_{dir_};
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::StateService::Stub> state_;
  std::unique_ptr<v1::IngestService::Stub> ingest_;
};

v1::Value IntValue(int64_t number);
v1::Consistency Exactly(const v1::SnapshotStamp& stamp);
v1::Consistency AtPosition(const std::string& position);
std::string RowText(const v1::Row& row);
std::string ChangeText(const v1::Change& change);
// What SQL says, in the form of RowText: `columns` sorted, and selected in that order.
Texts SqlTexts(const SqlRows& rows, const Texts& columns);

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_INTEGRATION_CASES_CASE_WORLD_H_
