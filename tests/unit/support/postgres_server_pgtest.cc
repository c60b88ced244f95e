#include "tests/support/postgres_server.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/sql_client.h"
#include "tests/support/status_matchers.h"
#include "tests/support/truth_at_lsn.h"

namespace tidemark::testing {
namespace {

using ::testing::ElementsAre;

class PostgresServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (PostgresBinDir().empty()) GTEST_SKIP() << "PostgreSQL is not installed";
  }
};

TEST_F(PostgresServerTest, ServesOverSocketAndLoopbackWithLogicalDecoding) {
  PostgresServer& server = SharedPostgres();
  const std::string database = CreateDatabase(server);
  EXPECT_EQ(SqlClient(server.Dsn(database)).Value("SHOW wal_level"), "logical");
  EXPECT_EQ(SqlClient(server.TcpDsn(database)).Value("SELECT current_database()"), database);
}

TEST_F(PostgresServerTest, KeepsWhatWasCommittedOverKillNine) {
  auto server = PostgresServer::Create();
  ASSERT_THAT(server, IsOk());
  SqlClient before((*server)->Dsn());
  before.Exec("CREATE TABLE t (id int); INSERT INTO t VALUES (1)");
  (*server)->KillNine();
  EXPECT_THAT(before.TryQuery("SELECT 1"), StatusIs(absl::StatusCode::kUnavailable));
  ASSERT_THAT((*server)->Start(), IsOk());
  EXPECT_EQ(SqlClient((*server)->Dsn()).Value("SELECT id FROM t"), "1");
}

TEST_F(PostgresServerTest, TakesSettingsWithARestart) {
  auto server = PostgresServer::Create({.settings = {{"wal_level", "replica"}}});
  ASSERT_THAT(server, IsOk());
  EXPECT_EQ(SqlClient((*server)->Dsn()).Value("SHOW wal_level"), "replica");
  (*server)->Set("wal_level", "logical");
  ASSERT_THAT((*server)->Restart(), IsOk());
  EXPECT_EQ(SqlClient((*server)->Dsn()).Value("SHOW wal_level"), "logical");
}

TEST_F(PostgresServerTest, CanHaveAnIdentifierAndATimelineOfItsOwn) {
  const std::string identifier = "SELECT system_identifier FROM pg_control_system()";
  auto server = PostgresServer::Create({.own_system_identifier = true});
  ASSERT_THAT(server, IsOk());
  EXPECT_NE(SqlClient((*server)->Dsn()).Value(identifier),
            SqlClient(SharedPostgres().Dsn()).Value(identifier));
  ASSERT_THAT((*server)->Stop(), IsOk());
  ASSERT_THAT((*server)->StartOnNewTimeline(), IsOk());
  SqlClient replication((*server)->Dsn() + " replication=database");
  EXPECT_EQ(replication.Query("IDENTIFY_SYSTEM").at(0).at(1), "2");
}

TEST_F(PostgresServerTest, ReportsWhyItDidNotStart) {
  auto server = PostgresServer::Create({.settings = {{"no_such_setting", "1"}}});
  ASSERT_THAT(server, StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(std::string(server.status().message()), ::testing::HasSubstr("no_such_setting"));
}

TEST_F(PostgresServerTest, TruthIsWhatWasCommittedBeforeItsPosition) {
  PostgresServer& server = SharedPostgres();
  const std::string dsn = server.Dsn(CreateDatabase(server));
  SqlClient sql(dsn);
  sql.Exec("CREATE TABLE t (id int); INSERT INTO t VALUES (1)");
  TruthAtLsn truth(dsn);
  sql.Exec("INSERT INTO t VALUES (2)");
  EXPECT_THAT(truth.Query("SELECT id FROM t"), ElementsAre(ElementsAre("1")));
  EXPECT_EQ(sql.Value("SELECT pg_current_wal_lsn() > '" + truth.lsn_text() + "'"), "t");
}

}  // namespace
}  // namespace tidemark::testing
