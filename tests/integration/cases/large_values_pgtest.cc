// Case O-RPC-01: values around the bounds of a message, from the source to a client on default
// settings, which receives at most 4 MiB.
#include <string>

#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/cases/case_world.h"
#include "tests/support/rpc_matchers.h"

namespace tidemark::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kSchema[] =
    "CREATE TABLE t (id int PRIMARY KEY, v text); "
    "ALTER TABLE t ALTER COLUMN v SET STORAGE EXTERNAL; "
    "CREATE PUBLICATION tidemark FOR TABLE t; "
    "INSERT INTO t VALUES (1, 'one'), (2, 'two');";
constexpr char kTables[] = R"(
  - name: t
    key: [id]
    readers: [default]
    columns: {id: int, v: string}
    from: {source: erp, relation: public.t}
)";
const Texts kBefore = {"id=1 v=one", "id=2 v=two"};
constexpr char kFiveMiB[] = "repeat('x', 5 * 1024 * 1024)";

class LargeValuesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (PostgresBinDir().empty()) GTEST_SKIP() << "PostgreSQL is not installed";
    world_ = std::make_unique<CaseWorld>(kSchema, kTables);
  }
  // The documented way on: the row made small, the slot dropped, the table copied as it is now.
  void CorrectAndCopyAgain() {
    world_->sql().Exec("UPDATE t SET v = 'short' WHERE length(v) > 1000000");
    grpc::ClientContext pause, resume;
    v1::PauseSourceRequest pause_request;
    pause_request.set_name("erp");
    v1::PauseSourceResponse paused;
    ASSERT_THAT(world_->ingest().PauseSource(&pause, pause_request, &paused), RpcOk());
    world_->AwaitSql("SELECT NOT active FROM pg_replication_slots WHERE slot_name = '" +
                     world_->slot() + "'");
    world_->sql().Exec("SELECT pg_drop_replication_slot('" + world_->slot() + "')");
    v1::ResumeSourceRequest resume_request;
    resume_request.set_name("erp");
    v1::ResumeSourceResponse resumed;
    ASSERT_THAT(world_->ingest().ResumeSource(&resume, resume_request, &resumed), RpcOk());
  }
  Texts Truth() {
    return SqlTexts(world_->sql().Query("SELECT id, v FROM t ORDER BY id"), {"id", "v"});
  }

  std::unique_ptr<CaseWorld> world_;
};

TEST_F(LargeValuesTest, ORPC01_AValueOfFiveMiBIsRefusedAtWriteTimeAndReadsGoOn) {
  ASSERT_TRUE(world_->Start()) << world_->output();
  const v1::SnapshotStamp start = world_->Now();
  world_->sql().Exec(std::string("UPDATE t SET v = ") + kFiveMiB + " WHERE id = 1");
  world_->sql().Exec("DELETE FROM t WHERE id = 2");
  const std::string after = world_->sql().Value("SELECT pg_current_wal_lsn()");
  world_->AwaitSource(v1::SOURCE_STATE_FAILED);
  const std::string limit = std::to_string(limits::kMaxRowBytes);
  EXPECT_THAT(world_->SourceStatus().detail(),
              AllOf(HasSubstr("A change cannot be applied"), HasSubstr("\"t\""), HasSubstr(limit),
                    HasSubstr("The position stays before it")));

  // GetRow and Scan: the last good rows, and no answer that claims to be fresher.
  v1::GetRowResponse response;
  ASSERT_THAT(world_->GetRow("t", {IntValue(1)}, {}, &response), RpcOk());
  EXPECT_EQ(RowText(response.row()), "id=1 v=one");
  EXPECT_EQ(response.read_at().snapshot_id(), start.snapshot_id());
  EXPECT_EQ(world_->Rows("t"), kBefore);
  EXPECT_THAT(world_->GetRow("t", {IntValue(1)}, AtPosition(after), &response, absl::Seconds(2)),
              AllOf(RpcReason("NOT_YET_APPLIED"), RpcCode(grpc::StatusCode::UNAVAILABLE)));
  v1::Consistency recent;
  recent.mutable_source_recency();
  // The first between two tries of the source, the second while one runs.
  EXPECT_THAT(world_->GetRow("t", {IntValue(1)}, recent, &response, absl::Seconds(2)),
              AnyOf(RpcReason("SOURCE_UNAVAILABLE"), RpcReason("SOURCE_BEHIND")));

  // Watch: nothing was told that is not so, and what follows is whole.
  CorrectAndCopyAgain();
  EXPECT_THAT(world_->Feed(start, {"t"}), ElementsAre("+1 UPDATE t(1) id=1 v=one -> id=1 v=short",
                                                      "+2 DELETE t(2) id=2 v=two"));
  EXPECT_EQ(world_->Rows("t"), Truth());
  world_->AwaitSource(v1::SOURCE_STATE_STREAMING);
}

TEST_F(LargeValuesTest, ORPC01_AValueOfFiveMiBIsRefusedByTheCopyToo) {
  world_->sql().Exec(std::string("INSERT INTO t VALUES (3, ") + kFiveMiB + ")");
  ASSERT_TRUE(world_->Start()) << world_->output();
  world_->AwaitSource(v1::SOURCE_STATE_FAILED);
  EXPECT_THAT(world_->SourceStatus().detail(), HasSubstr(std::to_string(limits::kMaxRowBytes)));
  v1::GetRowResponse response;
  EXPECT_THAT(world_->GetRow("t", {IntValue(1)}, {}, &response), RpcReason("TABLE_LOADING"));
  CorrectAndCopyAgain();
  world_->Now();
  EXPECT_EQ(world_->Rows("t"), Truth());
}

// What can be stored can be read: with the row before and after it in one message.
TEST_F(LargeValuesTest, ORPC01_TheLargestValueReachesADefaultClientByEveryMethod) {
  const std::string a(limits::kMaxRowBytes - 64, 'a');
  const std::string b(limits::kMaxRowBytes - 64, 'b');
  ASSERT_TRUE(world_->Start()) << world_->output();
  world_->sql().Exec("UPDATE t SET v = repeat('a', " + std::to_string(a.size()) + ")");
  const v1::SnapshotStamp start = world_->Now();
  world_->sql().Exec("UPDATE t SET v = repeat('b', " + std::to_string(b.size()) + ")");
  const auto messages = world_->Messages(start, {"t"});
  std::vector<v1::Change> changes;
  for (const v1::WatchChangesResponse& message : messages) {
    EXPECT_LE(message.ByteSizeLong(), 4u << 20);
    changes.insert(changes.end(), message.changes().begin(), message.changes().end());
  }
  ASSERT_THAT(changes, SizeIs(2));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(changes[i].key(0).int_value(), i + 1);
    EXPECT_EQ(changes[i].before().columns().at("v").string_value(), a);
    EXPECT_EQ(changes[i].after().columns().at("v").string_value(), b);
  }
  v1::GetRowResponse response;
  ASSERT_THAT(world_->GetRow("t", {IntValue(2)}, {}, &response), RpcOk());
  EXPECT_EQ(response.row().columns().at("v").string_value(), b);
  EXPECT_EQ(world_->Rows("t"), (Texts{"id=1 v=" + b, "id=2 v=" + b}));
}

TEST_F(LargeValuesTest, ORPC01_TenThousandRowsOfOneKibibyteArePagedByBytes) {
  ASSERT_TRUE(world_->Start()) << world_->output();
  const v1::SnapshotStamp start = world_->Now();
  world_->sql().Exec(
      "TRUNCATE t; INSERT INTO t SELECT i, repeat(chr(97 + i % 26), 1024) "
      "FROM generate_series(1, 10000) i");
  // One transaction: one snapshot, in fragments a default client can take.
  const auto messages = world_->Messages(start, {"t"});
  int changes = 0;
  int fragments = 0;
  for (const v1::WatchChangesResponse& message : messages) {
    EXPECT_LE(message.ByteSizeLong(), 4u << 20);
    if (message.changes_size() > 0) {
      EXPECT_EQ(message.at().snapshot_id(), start.snapshot_id() + 1);
    }
    changes += message.changes_size();
    fragments += message.fragment() ? 1 : 0;
  }
  EXPECT_EQ(changes, 10001);  // and the truncate
  EXPECT_GE(fragments, 2);
  v1::ScanRowsRequest request;
  request.set_table("t");
  request.set_page_size(10000);
  grpc::ClientContext context;
  v1::ScanRowsResponse page;
  ASSERT_THAT(world_->state().ScanRows(&context, request, &page), RpcOk());
  EXPECT_LE(page.ByteSizeLong(), 4u << 20);
  EXPECT_GT(page.rows_size(), 1000);
  EXPECT_LT(page.rows_size(), 10000);
  EXPECT_EQ(world_->Rows("t"), Truth());
}

TEST_F(LargeValuesTest, ORPC01_ARequestOfTwentyMiBHarmsNoOtherCallOfItsChannel) {
  ASSERT_TRUE(world_->Start()) << world_->output();
  world_->Now();
  grpc::ClientContext watching;
  v1::WatchChangesRequest watch;
  watch.add_tables()->set_table("t");
  const auto stream = world_->state().WatchChanges(&watching, watch);
  v1::WatchChangesResponse message;
  ASSERT_TRUE(stream->Read(&message));
  v1::Value huge;
  huge.set_string_value(std::string(20 << 20, 'x'));
  v1::GetRowResponse response;
  EXPECT_THAT(world_->GetRow("t", {huge}, {}, &response),
              RpcCode(grpc::StatusCode::RESOURCE_EXHAUSTED));
  ASSERT_THAT(world_->GetRow("t", {IntValue(1)}, {}, &response), RpcOk());
  world_->sql().Exec("DELETE FROM t WHERE id = 2");
  do {
    ASSERT_TRUE(stream->Read(&message));
  } while (message.changes_size() == 0);
  EXPECT_EQ(ChangeText(message.changes(0)), "DELETE t(2)");
  watching.TryCancel();
  while (stream->Read(&message)) EXPECT_THAT(message.changes(), IsEmpty());
  EXPECT_THAT(stream->Finish(), RpcCode(grpc::StatusCode::CANCELLED));
}

}  // namespace
}  // namespace tidemark::testing
