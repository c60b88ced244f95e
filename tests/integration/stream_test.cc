// A server stream from the client's side.
#include <grpcpp/grpcpp.h>

#include "common/error.h"
#include "common/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_services.h"
#include "tests/support/rpc_matchers.h"
#include "tests/support/test_server.h"
#include "tidemark/v1/state_service.grpc.pb.h"

namespace tidemark {
namespace {

using testing::FakeServices;
using testing::RpcCode;
using testing::RpcMetadata;
using testing::RpcOk;
using testing::RpcReason;
using testing::TestServer;

using Stream = ResponseStream<v1::WatchChangesResponse>;

v1::WatchChangesResponse Message(uint64_t id) {
  v1::WatchChangesResponse message;
  message.mutable_at()->set_snapshot_id(id);
  return message;
}

class StreamTest : public ::testing::Test {
 protected:
  void Start() {
    server_ = std::make_unique<TestServer>(services_.binders());
    stub_ = v1::StateService::NewStub(server_->channel());
  }

  FakeServices services_;
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<v1::StateService::Stub> stub_;
};

TEST_F(StreamTest, MessagesArriveInOrderEachOnce) {
  services_.watch_changes = [](const v1::WatchChangesRequest&, Stream stream) {
    auto next = std::make_shared<uint64_t>(1);
    stream.WhenWritten([stream, next] {
      if (++*next > 1000) return stream.Finish(absl::OkStatus());
      stream.Write(Message(*next));
    });
    stream.Write(Message(1));
  };
  Start();
  grpc::ClientContext context;
  const auto reader = stub_->WatchChanges(&context, {});
  uint64_t last = 0;
  for (v1::WatchChangesResponse message; reader->Read(&message);) {
    ASSERT_EQ(message.at().snapshot_id(), ++last);
  }
  EXPECT_EQ(last, 1000u);
  EXPECT_THAT(reader->Finish(), RpcOk());
}

TEST_F(StreamTest, TheEndWaitsForTheMessageBeingWritten) {
  services_.watch_changes = [](const v1::WatchChangesRequest&, Stream stream) {
    stream.Write(Message(7));
    stream.Finish(MakeError(Reason::kSlowConsumer, "Slow.", {{"resume_token", "t-7"}}));
    stream.Write(Message(8));  // after the end: no effect
  };
  Start();
  grpc::ClientContext context;
  const auto reader = stub_->WatchChanges(&context, {});
  v1::WatchChangesResponse message;
  ASSERT_TRUE(reader->Read(&message));
  EXPECT_EQ(message.at().snapshot_id(), 7u);
  EXPECT_FALSE(reader->Read(&message));
  const grpc::Status status = reader->Finish();
  EXPECT_THAT(status, RpcReason("SLOW_CONSUMER"));
  EXPECT_EQ(RpcMetadata(status, "resume_token"), "t-7");
}

TEST_F(StreamTest, AnOpenStreamIsKnownToBeOpenBeforeItsFirstMessage) {
  services_.watch_changes = [](const v1::WatchChangesRequest&, Stream stream) {
    stream.WhenStopped([stream](StopReason) { stream.Finish(absl::CancelledError()); });
  };
  Start();
  grpc::ClientContext context;
  context.AddMetadata("x-request-id", "w-1");
  const auto reader = stub_->WatchChanges(&context, {});
  reader->WaitForInitialMetadata();
  EXPECT_EQ(context.GetServerInitialMetadata().find("x-request-id")->second, "w-1");
  context.TryCancel();
  EXPECT_THAT(reader->Finish(), RpcCode(grpc::CANCELLED));
}

TEST_F(StreamTest, AClientThatGoesAwayInMidStreamStopsTheHandlerOnce) {
  Mutex mutex;
  CondVar changed;
  int stops = 0;
  services_.watch_changes = [&](const v1::WatchChangesRequest&, Stream stream) {
    stream.WhenStopped([&, stream](StopReason reason) {
      EXPECT_EQ(reason, StopReason::kCancelled);
      stream.Finish(absl::CancelledError());
      MutexLock lock(mutex);
      ++stops;
      changed.NotifyAll();
    });
    stream.WhenWritten([stream] { stream.Write(Message(1)); });
    stream.Write(Message(1));
  };
  Start();
  for (int i = 1; i <= 20; ++i) {
    grpc::ClientContext context;
    const auto reader = stub_->WatchChanges(&context, {});
    v1::WatchChangesResponse message;
    for (int n = 0; n < i; ++n) ASSERT_TRUE(reader->Read(&message));
    context.TryCancel();
    EXPECT_THAT(reader->Finish(), RpcCode(grpc::CANCELLED));
    MutexLock lock(mutex);
    while (stops < i) changed.Wait(mutex);
    EXPECT_EQ(stops, i);
  }
}

TEST_F(StreamTest, AStreamEndsWhenItsTokenDoesNotAdmitItAnyMoreAndNoOther) {
  services_.watch_changes = [](const v1::WatchChangesRequest&, Stream stream) {
    stream.WhenStopped([stream](StopReason reason) {
      if (reason != StopReason::kWithdrawn) return stream.Finish(absl::CancelledError());
      stream.Finish(MakeError(Reason::kUnauthenticated, "Withdrawn.", {{"problem", "withdrawn"}}));
    });
    stream.Write(Message(1));
  };
  const auto entry = [](const std::string& token, Roles roles) {
    return TokenEntry{.hash = HashToken(token),
                      .principal = {.tenant = "default", .subject = token, .roles = roles}};
  };
  server_ = std::make_unique<TestServer>(
      services_.binders(), testing::TestServerOptions{.tokens = {entry("gone", {Role::kReader}),
                                                                 entry("demoted", {Role::kReader}),
                                                                 entry("stays", {Role::kReader})}});
  stub_ = v1::StateService::NewStub(server_->channel());
  struct Open {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::WatchChangesResponse>> reader;
    v1::WatchChangesResponse message;
  };
  Open gone, demoted, stays;
  for (auto& [open, token] : {std::pair<Open&, const char*>{gone, "gone"},
                              std::pair<Open&, const char*>{demoted, "demoted"},
                              std::pair<Open&, const char*>{stays, "stays"}}) {
    open.context.AddMetadata("authorization", std::string("Bearer ") + token);
    open.reader = stub_->WatchChanges(&open.context, {});
    ASSERT_TRUE(open.reader->Read(&open.message));
  }
  server_->authenticator().ReplaceTokens(
      {entry("demoted", {Role::kIngest}), entry("stays", {Role::kReader, Role::kIngest})});
  server_->server().StopWithdrawn();
  for (Open* open : {&gone, &demoted}) {
    EXPECT_FALSE(open->reader->Read(&open->message));
    EXPECT_THAT(open->reader->Finish(), RpcReason("UNAUTHENTICATED"));
  }
  EXPECT_EQ(server_->server().streams(), 1);
  stays.context.TryCancel();
  EXPECT_THAT(stays.reader->Finish(), RpcCode(grpc::CANCELLED));
}

TEST_F(StreamTest, AStreamWithoutADeadlineHasNone) {
  bool none = false;
  services_.watch_changes = [&none](const v1::WatchChangesRequest&, Stream stream) {
    none = stream.context().answer_by() == SteadyTime::max();
    stream.Finish(absl::OkStatus());
  };
  Start();
  grpc::ClientContext context;
  EXPECT_THAT(stub_->WatchChanges(&context, {})->Finish(), RpcOk());
  EXPECT_TRUE(none);
}

TEST_F(StreamTest, AStreamTheHandlerDropsIsEnded) {
  services_.watch_changes = [](const v1::WatchChangesRequest&, Stream) {};
  Start();
  grpc::ClientContext context;
  EXPECT_THAT(stub_->WatchChanges(&context, {})->Finish(), RpcReason("INTERNAL"));
}

}  // namespace
}  // namespace tidemark
