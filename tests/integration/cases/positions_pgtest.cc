// Numbers and log positions that a double cannot hold, and log records that are not for us.
#include <google/protobuf/util/json_util.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/cases/case_world.h"
#include "tests/support/child_process.h"
#include "tests/support/rpc_matchers.h"
#include "tests/support/status_matchers.h"

namespace tidemark::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kSchema[] =
    "CREATE TABLE t (id bigint PRIMARY KEY, n bigint, v text); "
    "CREATE PUBLICATION tidemark FOR TABLE t;";
constexpr char kTables[] = R"(
  - name: t
    key: [id]
    readers: [default]
    columns: {id: int, n: int, v: string}
    from: {source: erp, relation: public.t}
)";

class PositionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (PostgresBinDir().empty()) GTEST_SKIP() << "PostgreSQL is not installed";
  }
  static std::string CommitAnd(CaseWorld& world, const std::string& sql) {
    world.sql().Exec(sql);
    return world.sql().Value("SELECT pg_current_wal_lsn()");
  }
};

// Case O-CDC-08, as far as pgoutput can send it. Its Debezium JSON, and its delivery in the order
// 1, 3, 2, wait for a source that takes events which say their position themselves: PostgreSQL
// sends in commit order. (The conformance tests of merging give such events to the tables.) The
// server's log is set close to the end of its 64 bits, where a double has a step of 2048 and a
// signed number is negative.
TEST_F(PositionsTest, OCDC08_PositionsOfAllSixtyFourBitsStayApart) {
  auto server = PostgresServer::Create({.own_system_identifier = true});
  ASSERT_THAT(server, IsOk());
  ASSERT_THAT((*server)->Stop(), IsOk());
  ASSERT_THAT(RunToEnd({.argv = {PostgresBinDir() + "/pg_resetwal", "-l",
                                 "00000001FFFFFFF000000001", "-D", (*server)->data_dir()},
                        .output_file = (*server)->data_dir() + "/resetwal.out",
                        .run_as = "postgres",
                        .directory = "/"},
                       absl::Seconds(60)),
              IsOk());
  ASSERT_THAT((*server)->Start(), IsOk());
  CaseWorld world(kSchema, kTables, server->get());
  world.sql().Exec("INSERT INTO t VALUES (1, 0, 'start')");
  ASSERT_TRUE(world.Start()) << world.output();
  const v1::SnapshotStamp start = world.Now();
  const std::string before = CommitAnd(world, "SELECT 1");
  ASSERT_THAT(before, StartsWith("FFFFFFF0/"));
  const std::string after_a = CommitAnd(world, "UPDATE t SET v = 'a' WHERE id = 1");
  const std::string after_b = CommitAnd(world, "UPDATE t SET v = 'b' WHERE id = 1");
  const std::string after_c = CommitAnd(world, "UPDATE t SET v = 'c' WHERE id = 1");
  ASSERT_EQ(world.sql().Value("SELECT '" + after_c + "'::pg_lsn - '" + before + "' < 2048"), "t")
      << "not neighbours";
  EXPECT_THAT(world.Feed(start, {"t"}),
              ElementsAre("+1 UPDATE t(1) id=1 n=0 v=start -> id=1 n=0 v=a",
                          "+2 UPDATE t(1) id=1 n=0 v=a -> id=1 n=0 v=b",
                          "+3 UPDATE t(1) id=1 n=0 v=b -> id=1 n=0 v=c"));
  EXPECT_THAT(world.Rows("t", AtPosition(before)), ElementsAre("id=1 n=0 v=start"));
  EXPECT_THAT(world.Rows("t", AtPosition(after_a)), ElementsAre("id=1 n=0 v=a"));
  EXPECT_THAT(world.Rows("t", AtPosition(after_b)), ElementsAre("id=1 n=0 v=b"));
  EXPECT_THAT(world.Rows("t", AtPosition(after_c)), ElementsAre("id=1 n=0 v=c"));
  // The durable position is compared in the same way.
  ASSERT_EQ(world.Stop(), 0);
  world.sql().Exec("UPDATE t SET v = 'd' WHERE id = 1");
  ASSERT_TRUE(world.Start()) << world.output();
  EXPECT_THAT(world.Feed(start, {"t"}), ::testing::SizeIs(4));
  EXPECT_THAT(world.Rows("t"), ElementsAre("id=1 n=0 v=d"));
}

// Case O-CDC-08: keys and values, copied and streamed, in both forms of an answer.
TEST_F(PositionsTest, OCDC08_KeysAndValuesAboveTwoToTheFiftyThreeAreReturnedDigitForDigit) {
  CaseWorld world(kSchema, kTables);
  world.sql().Exec("INSERT INTO t VALUES (9007199254740993, 1795000000123456789, 'copied')");
  ASSERT_TRUE(world.Start()) << world.output();
  const v1::SnapshotStamp start = world.Now();
  world.sql().Exec("INSERT INTO t VALUES (9007199254740992, -9223372036854775808, 'sent')");
  EXPECT_THAT(world.Feed(start, {"t"}),
              ElementsAre("+1 INSERT t(9007199254740992) -> id=9007199254740992 "
                          "n=-9223372036854775808 v=sent"));
  EXPECT_THAT(world.Rows("t"), ElementsAre("id=9007199254740992 n=-9223372036854775808 v=sent",
                                           "id=9007199254740993 n=1795000000123456789 v=copied"));
  v1::GetRowResponse response;
  ASSERT_THAT(world.GetRow("t", {IntValue(9007199254740993)}, {}, &response), RpcOk());
  std::string json;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(response.row(), &json).ok());
  EXPECT_THAT(json, HasSubstr(R"("id":{"intValue":"9007199254740993"})"));
  EXPECT_THAT(json, HasSubstr(R"("n":{"intValue":"1795000000123456789"})"));
}

// Case O-CDC-12. Messages are not exposed: only the position shows that they were passed.
TEST_F(PositionsTest, OCDC12_MessagesOfOthersMoveThePositionAndNothingElse) {
  CaseWorld world(kSchema, kTables);
  world.sql().Exec("INSERT INTO t VALUES (1, 1, 'x')");
  ASSERT_TRUE(world.Start()) << world.output();
  const v1::SnapshotStamp start = world.Now();
  const std::string before = world.SourceStatus().position();
  const std::string transactional =
      CommitAnd(world, "SELECT pg_logical_emit_message(true, 'probe', 'cdc ping')");
  const std::string plain =
      world.sql().Value("SELECT pg_logical_emit_message(false, 'probe', 'cdc ping')");
  // It is not flushed with anything: only who waits for its position knows that it was passed.
  EXPECT_THAT(world.Rows("t", AtPosition(plain)), ElementsAre("id=1 n=1 v=x"));
  EXPECT_EQ(world.Now().snapshot_id(), start.snapshot_id());
  const auto past = [&](const std::string& position, const std::string& lsn) {
    return world.sql().Value("SELECT '" + position + "'::pg_lsn >= '" + lsn + "'::pg_lsn");
  };
  EXPECT_EQ(past(before, transactional), "f");
  EXPECT_EQ(past(world.SourceStatus().position(), transactional), "t");
  EXPECT_EQ(past(world.SourceStatus().position(), plain), "t");
  EXPECT_EQ(world.SourceStatus().state(), v1::SOURCE_STATE_STREAMING);
  EXPECT_EQ(world.SourceStatus().detail(), "");
  EXPECT_THAT(world.Feed(start, {"t"}), IsEmpty());
  grpc::ClientContext context;
  v1::ListTablesResponse tables;
  ASSERT_THAT(world.state().ListTables(&context, {}, &tables), RpcOk());
  ASSERT_EQ(tables.tables_size(), 1);
  EXPECT_EQ(tables.tables(0).name(), "t");
  EXPECT_FALSE(tables.read_at().degraded());

  // One inside a transaction with a row is no row of it.
  world.sql().Exec(
      "BEGIN; SELECT pg_logical_emit_message(true, 'probe', 'cdc ping'); "
      "UPDATE t SET v = 'y'; SELECT pg_logical_emit_message(false, '', 'cdc ping'); COMMIT");
  EXPECT_THAT(world.Feed(start, {"t"}), ElementsAre("+1 UPDATE t(1) id=1 n=1 v=x -> id=1 n=1 v=y"));

  // The server may forget them too, and a restart does not go back before them.
  const std::string last =
      CommitAnd(world, "SELECT pg_logical_emit_message(true, 'probe', 'cdc ping')");
  world.AwaitSql("SELECT confirmed_flush_lsn >= '" + last +
                 "' FROM pg_replication_slots WHERE slot_name = '" + world.slot() + "'");
  ASSERT_EQ(world.Stop(), 0);
  ASSERT_TRUE(world.Start()) << world.output();
  world.Now();
  EXPECT_EQ(past(world.SourceStatus().position(), last), "t");
  EXPECT_THAT(world.Rows("t"), ElementsAre("id=1 n=1 v=y"));
}

}  // namespace
}  // namespace tidemark::testing
