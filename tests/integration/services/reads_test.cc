// Reads over gRPC: answers, waits under the caller's deadline, and what a client sees of an error.
#include <grpcpp/grpcpp.h>

#include <future>
#include <string>
#include <thread>

#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/services/state_server.h"
#include "tests/support/raw_call.h"
#include "tests/support/rpc_matchers.h"

namespace tidemark {
namespace {

using testing::DetailOf;
using testing::HasDetail;
using testing::RpcCode;
using testing::RpcMetadata;
using testing::RpcOk;
using testing::RpcReason;
using testing::StateWorld;

class ReadsTest : public ::testing::Test {
 protected:
  ReadsTest() { world_.Load(); }

  state::SnapshotId Put(const std::string& id, int64_t limit) {
    return world_.Commit(
        [&](StateWorld::Txn& txn) { txn.Put("customers", CustomerRow(id, limit)); });
  }
  grpc::Status GetRow(const v1::Consistency& consistency, v1::GetRowResponse* response,
                      absl::Duration deadline = absl::Seconds(30)) {
    v1::GetRowRequest request = RowRequest("customers", {TextValue("C-1")});
    *request.mutable_consistency() = consistency;
    return server_.GetRow(request, response, deadline);
  }

  StateServer server_;
  StateWorld& world_ = server_.world();
  v1::GetRowResponse response_;
};

TEST_F(ReadsTest, S1_ReadsARowAndItsStamp) {
  const state::SnapshotId id = Put("C-1", 100);
  ASSERT_THAT(server_.GetRow(RowRequest("customers", {TextValue("C-1")}), &response_), RpcOk());
  EXPECT_EQ(response_.row().columns().at("limit").int_value(), 100);
  EXPECT_EQ(response_.row().columns().at("name").string_value(), "Ann");
  EXPECT_EQ(response_.row_version(), id);
  EXPECT_EQ(response_.read_at().snapshot_id(), id);
  ASSERT_THAT(server_.GetRow(RowRequest("customers", {TextValue("C-9")}), &response_), RpcOk());
  EXPECT_FALSE(response_.has_row());
  EXPECT_EQ(response_.read_at().snapshot_id(), id);
}

TEST_F(ReadsTest, AWaitThatOutlivesTheDeadlineIsAnsweredByTheServer) {
  // The server answers a tenth of it early: on a busy machine that has to be long enough to arrive.
  constexpr absl::Duration kDeadline = absl::Seconds(2);
  const state::SnapshotId id = Put("C-1", 100);
  v1::Consistency at_least;
  at_least.set_at_least(world_.Token(id + 1));
  const grpc::Status late = GetRow(at_least, &response_, kDeadline);
  EXPECT_THAT(late, RpcReason("NOT_YET_APPLIED"));
  EXPECT_THAT(late, RpcCode(grpc::StatusCode::UNAVAILABLE));
  EXPECT_EQ(RpcMetadata(late, "snapshot_id"), std::to_string(id));
  EXPECT_TRUE(HasDetail<google::rpc::RetryInfo>(late));

  v1::Consistency position;
  position.mutable_at_position()->set_source("erp");
  position.mutable_at_position()->set_position("1000");
  EXPECT_THAT(GetRow(position, &response_, kDeadline), RpcReason("NOT_YET_APPLIED"));

  v1::Consistency recency;
  recency.mutable_source_recency();
  const grpc::Status behind = GetRow(recency, &response_, kDeadline);
  EXPECT_THAT(behind, RpcReason("SOURCE_BEHIND"));
  EXPECT_THAT(behind, RpcCode(grpc::StatusCode::DEADLINE_EXCEEDED));
  EXPECT_EQ(RpcMetadata(behind, "source"), "erp");
  EXPECT_EQ(server_.resolver().waits(), 0u);
}

TEST_F(ReadsTest, AWaitIsAnsweredWhenItsSnapshotIsPublished) {
  const state::SnapshotId id = Put("C-1", 100);
  v1::Consistency at_least;
  at_least.set_at_least(world_.Token(id + 1));
  auto waiting = std::async(std::launch::async, [&] { return GetRow(at_least, &response_); });
  while (server_.resolver().waits() == 0) std::this_thread::yield();
  Put("C-1", 200);
  ASSERT_THAT(waiting.get(), RpcOk());
  EXPECT_EQ(response_.row().columns().at("limit").int_value(), 200);
  EXPECT_EQ(response_.read_at().snapshot_id(), id + 1);
}

TEST_F(ReadsTest, ACancelledWaitLeavesNothingBehind) {
  v1::GetRowRequest request = RowRequest("customers", {TextValue("C-1")});
  request.mutable_consistency()->set_at_least(world_.Token(1000));
  grpc::ClientContext context;
  auto waiting = std::async(std::launch::async,
                            [&] { return server_.state().GetRow(&context, request, &response_); });
  while (server_.resolver().waits() == 0) std::this_thread::yield();
  context.TryCancel();
  EXPECT_THAT(waiting.get(), RpcCode(grpc::StatusCode::CANCELLED));
  while (server_.resolver().waits() > 0) std::this_thread::yield();
}

TEST_F(ReadsTest, WaitsEndWithTheServer) {
  v1::GetRowRequest request = RowRequest("customers", {TextValue("C-1")});
  request.mutable_consistency()->set_at_least(world_.Token(1000));
  auto waiting =
      std::async(std::launch::async, [&] { return server_.GetRow(request, &response_); });
  while (server_.resolver().waits() == 0) std::this_thread::yield();
  EXPECT_TRUE(server_.server().server().Drain(absl::Seconds(10)));
  EXPECT_THAT(waiting.get(), RpcReason("SHUTTING_DOWN"));
}

TEST_F(ReadsTest, EveryReasonReachesTheClientWithItsCodeAndDetails) {
  const state::SnapshotId id = Put("C-1", 100);
  const grpc::Status table = server_.GetRow(RowRequest("custmers", {}), &response_);
  EXPECT_THAT(table, RpcReason("TABLE_NOT_FOUND"));
  EXPECT_THAT(table, RpcCode(grpc::StatusCode::NOT_FOUND));
  EXPECT_EQ(RpcMetadata(table, "tables"), "customers,orders,rates");
  const grpc::Status forbidden = server_.GetRow(RowRequest("secrets", {}), &response_);
  EXPECT_THAT(forbidden, RpcReason("TABLE_FORBIDDEN"));
  EXPECT_THAT(forbidden, RpcCode(grpc::StatusCode::PERMISSION_DENIED));
  const grpc::Status key = server_.GetRow(RowRequest("customers", {IntValue(1)}), &response_);
  EXPECT_THAT(key, RpcReason("KEY_MALFORMED"));
  EXPECT_THAT(key, RpcCode(grpc::StatusCode::INVALID_ARGUMENT));
  EXPECT_EQ(RpcMetadata(key, "key_columns"), "id string");
  v1::GetRowRequest column = RowRequest("customers", {TextValue("C-1")});
  column.add_columns("x");
  const grpc::Status unknown = server_.GetRow(column, &response_);
  EXPECT_THAT(unknown, RpcReason("FIELD_INVALID"));
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(unknown).field_violations(0).field(), "columns");

  v1::Consistency c;
  c.set_exact("x");
  EXPECT_THAT(GetRow(c, &response_), RpcReason("TOKEN_MALFORMED"));
  c.set_exact(state::EncodeToken({.incarnation = {1}, .snapshot = 1}));
  EXPECT_THAT(GetRow(c, &response_), RpcReason("STORE_MISMATCH"));
  EXPECT_THAT(GetRow(c, &response_), RpcCode(grpc::StatusCode::FAILED_PRECONDITION));
  c.set_exact(world_.Token(id + 1));
  EXPECT_THAT(GetRow(c, &response_), RpcReason("SNAPSHOT_IN_FUTURE"));
  c.set_exact(world_.Token(1));
  const grpc::Status expired = GetRow(c, &response_);
  EXPECT_THAT(expired, RpcReason("SNAPSHOT_EXPIRED"));
  EXPECT_THAT(expired, RpcCode(grpc::StatusCode::OUT_OF_RANGE));
  EXPECT_EQ(RpcMetadata(expired, "oldest_snapshot_id"), "2");
  c.mutable_max_staleness()->set_seconds(1);
  EXPECT_THAT(GetRow(c, &response_), RpcReason("STATE_TOO_STALE"));
  c.mutable_source_recency()->add_sources("legacy");
  EXPECT_THAT(GetRow(c, &response_), RpcReason("SOURCE_NOT_FOUND"));
}

TEST_F(ReadsTest, LaterMethodsAnswerThatTheyAreNotThereYet) {
  grpc::ClientContext context;
  v1::GetRowHistoryResponse history;
  EXPECT_THAT(server_.state().GetRowHistory(&context, {}, &history),
              RpcReason("METHOD_NOT_AVAILABLE"));
}

// Case O-RPC-01: a range of 10 000 rows of 1 KiB.
TEST_F(ReadsTest, ScansPageBelowTheMessageLimitByBytes) {
  world_.Commit([&](StateWorld::Txn& txn) {
    for (int i = 0; i < 10000; ++i) {
      txn.Put("orders", OrderRow("C-1", i, i, std::string(1024, 'x')));
    }
  });
  v1::ScanRowsRequest request;
  request.set_table("orders");
  request.set_page_size(10000);
  v1::ScanRowsResponse page;
  int rows = 0;
  do {
    ASSERT_THAT(server_.Scan(request, &page), RpcOk());
    EXPECT_GT(page.rows_size(), 1000);
    for (const v1::KeyedRow& row : page.rows()) ASSERT_EQ(row.key(1).int_value(), rows++);
    request.set_page_token(page.next_page_token());
  } while (!page.next_page_token().empty());
  EXPECT_EQ(rows, 10000);
}

// Case O-RPC-01: nothing can be stored that a default client cannot read.
TEST_F(ReadsTest, TheLargestRowCanBeReadByADefaultClient) {
  const std::string note(limits::kMaxRowBytes - 200, 'x');
  world_.Commit([&](StateWorld::Txn& txn) { txn.Put("orders", OrderRow("C-1", 1, 1, note)); });
  ASSERT_THAT(server_.GetRow(RowRequest("orders", {TextValue("C-1"), IntValue(1)}), &response_),
              RpcOk());
  EXPECT_EQ(response_.row().columns().at("note").string_value(), note);
}

TEST_F(ReadsTest, SourcesAreListedPausedAndResumed) {
  grpc::ClientContext list, pause, get, missing, resume;
  v1::ListSourcesResponse sources;
  v1::ListSourcesRequest two;
  ASSERT_THAT(server_.ingest().ListSources(&list, two, &sources), RpcOk());
  ASSERT_EQ(sources.sources_size(), 2);
  EXPECT_EQ(sources.sources(0).name(), "erp");
  EXPECT_EQ(sources.sources(0).kind(), "told");
  EXPECT_EQ(sources.sources(0).tables_size(), 4);
  EXPECT_EQ(sources.sources(1).tables(0), "rates");
  EXPECT_EQ(sources.sources(1).relations(0), "rates");
  v1::PauseSourceRequest pause_request;
  pause_request.set_name("erp");
  v1::PauseSourceResponse paused;
  ASSERT_THAT(server_.ingest().PauseSource(&pause, pause_request, &paused), RpcOk());
  EXPECT_EQ(paused.source().status().state(), v1::SOURCE_STATE_PAUSED);
  v1::GetSourceRequest get_request;
  get_request.set_name("erp");
  v1::GetSourceResponse got;
  ASSERT_THAT(server_.ingest().GetSource(&get, get_request, &got), RpcOk());
  EXPECT_EQ(got.source().status().state(), v1::SOURCE_STATE_PAUSED);
  get_request.set_name("legacy");
  const grpc::Status unknown = server_.ingest().GetSource(&missing, get_request, &got);
  EXPECT_THAT(unknown, RpcReason("SOURCE_NOT_FOUND"));
  EXPECT_EQ(RpcMetadata(unknown, "sources"), "erp,shop");
  v1::ResumeSourceRequest resume_request;
  resume_request.set_name("erp");
  v1::ResumeSourceResponse resumed;
  ASSERT_THAT(server_.ingest().ResumeSource(&resume, resume_request, &resumed), RpcOk());
  EXPECT_EQ(resumed.source().status().state(), v1::SOURCE_STATE_STREAMING);
}

}  // namespace
}  // namespace tidemark
