// Bounds: calls in progress, callers, queues, deadlines, message sizes.
#include <grpcpp/grpcpp.h>

#include <thread>

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
using testing::HasDetail;
using testing::RpcCode;
using testing::RpcMetadata;
using testing::RpcOk;
using testing::RpcReason;
using testing::TestServer;
using testing::TestServerOptions;

// Holds calls that a handler was given, until they are answered. Thread-safe.
class HeldCalls {
 public:
  void Hold(Reply<v1::GetRowResponse> reply) {
    MutexLock lock(mutex_);
    held_.push_back(std::move(reply));
    changed_.NotifyAll();
  }
  void Await(size_t count) {
    MutexLock lock(mutex_);
    while (held_.size() < count) changed_.Wait(mutex_);
  }
  void AnswerAll() {
    std::vector<Reply<v1::GetRowResponse>> held;
    {
      MutexLock lock(mutex_);
      held.swap(held_);
    }
    for (const auto& reply : held) reply.Finish(absl::OkStatus());
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<Reply<v1::GetRowResponse>> held_ TIDEMARK_GUARDED_BY(mutex_);
};

class LimitsTest : public ::testing::Test {
 protected:
  void Start(const TestServerOptions& options) {
    server_ = std::make_unique<TestServer>(services_.binders(), options);
    stub_ = v1::StateService::NewStub(server_->channel());
  }
  void HoldGetRow() {
    services_.get_row = [this](const auto&, Reply<v1::GetRowResponse> reply) {
      held_.Hold(std::move(reply));
    };
  }
  grpc::Status GetRow(const std::string& token = "", const v1::GetRowRequest& request = {},
                      std::chrono::milliseconds deadline = std::chrono::milliseconds(0)) {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    if (deadline.count() > 0) context.set_deadline(std::chrono::system_clock::now() + deadline);
    v1::GetRowResponse response;
    return stub_->GetRow(&context, request, &response);
  }

  HeldCalls held_;
  FakeServices services_;
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<v1::StateService::Stub> stub_;
};

TEST_F(LimitsTest, OneCallTooManyIsRefusedAtOnceAndTheOthersAreServed) {
  HoldGetRow();
  Start({.grpc = {.gate = {.max_calls = 2, .max_calls_per_caller = 2}}});
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([this] { EXPECT_THAT(GetRow(), RpcOk()); });
  }
  held_.Await(2);
  EXPECT_EQ(server_->server().calls(), 2);
  const grpc::Status refused = GetRow();
  EXPECT_THAT(refused, RpcReason("OVERLOADED"));
  EXPECT_THAT(refused, RpcCode(grpc::RESOURCE_EXHAUSTED));
  EXPECT_TRUE(HasDetail<google::rpc::RetryInfo>(refused));
  held_.AnswerAll();
  for (std::thread& caller : callers) caller.join();
  HeldCalls& held = held_;
  services_.get_row = [&held](const auto&, Reply<v1::GetRowResponse> reply) {
    reply.Finish(absl::OkStatus());
  };
  EXPECT_THAT(GetRow(), RpcOk());
}

TEST_F(LimitsTest, OneCallerCannotTakeTheOthersRoom) {
  HoldGetRow();
  const auto entry = [](std::string_view token) {
    return TokenEntry{
        .hash = HashToken(token),
        .principal = {
            .tenant = "default", .subject = std::string(token), .roles = {Role::kReader}}};
  };
  Start({.grpc = {.gate = {.max_calls = 10, .max_calls_per_caller = 1}},
         .tokens = {entry("greedy"), entry("modest")}});
  std::thread first([this] { EXPECT_THAT(GetRow("greedy"), RpcOk()); });
  held_.Await(1);
  const grpc::Status refused = GetRow("greedy");
  EXPECT_THAT(refused, RpcReason("RATE_LIMITED"));
  EXPECT_EQ(RpcMetadata(refused, "limit"), "1");
  EXPECT_TRUE(HasDetail<google::rpc::RetryInfo>(refused));
  std::thread second([this] { EXPECT_THAT(GetRow("modest"), RpcOk()); });
  held_.Await(2);
  held_.AnswerAll();
  first.join();
  second.join();
}

TEST_F(LimitsTest, AFullExecutorRefusesAndNamesItsQueue) {
  Mutex mutex;
  CondVar changed;
  int running = 0;
  bool release = false;
  services_.list_tables = [&](const auto&, auto&, auto*) {
    MutexLock lock(mutex);
    ++running;
    changed.NotifyAll();
    while (!release) changed.Wait(mutex);
    return absl::OkStatus();
  };
  Start({.executor = {.threads = 1, .max_queued = 0}});
  const auto list = [this] {
    grpc::ClientContext context;
    v1::ListTablesResponse response;
    return stub_->ListTables(&context, {}, &response);
  };
  // A queue without room refuses whatever does not go straight to a thread.
  const grpc::Status refused = list();
  EXPECT_THAT(refused, RpcReason("OVERLOADED"));
  EXPECT_EQ(RpcMetadata(refused, "queue"), "executor");
  EXPECT_EQ(running, 0);
  release = true;
}

TEST_F(LimitsTest, AWaitingCallIsToldToAnswerBeforeItsCallersDeadline) {
  services_.get_row = [](const auto&, Reply<v1::GetRowResponse> reply) {
    reply.WhenStopped([reply](StopReason reason) {
      EXPECT_EQ(reason, StopReason::kDeadline);
      reply.Finish(MakeError(Reason::kNotYetApplied, "Not yet."));
    });
  };
  Start({});
  // Were the handler told at the deadline itself, the client would see its own DEADLINE_EXCEEDED.
  EXPECT_THAT(GetRow("", {}, std::chrono::milliseconds(500)), RpcReason("NOT_YET_APPLIED"));
}

TEST_F(LimitsTest, ACallWithoutADeadlineGetsTheServersCap) {
  SteadyTime deadline;
  services_.get_row = [&deadline](const auto&, Reply<v1::GetRowResponse> reply) {
    deadline = reply.context().deadline();
    reply.WhenStopped([reply](StopReason reason) {
      EXPECT_EQ(reason, StopReason::kDeadline);
      reply.Finish(MakeError(Reason::kNotYetApplied, "Not yet."));
    });
  };
  Start({.grpc = {.gate = {.deadline_cap = absl::Milliseconds(50)}}});
  const auto before = std::chrono::steady_clock::now();
  EXPECT_THAT(GetRow(), RpcReason("NOT_YET_APPLIED"));
  EXPECT_LE(deadline, std::chrono::steady_clock::now() + std::chrono::milliseconds(50));
  EXPECT_GE(deadline, before + std::chrono::milliseconds(50));
}

TEST_F(LimitsTest, ACancelledCallStopsItsHandler) {
  Mutex mutex;
  CondVar changed;
  bool waiting = false;
  bool stopped = false;
  services_.get_row = [&](const auto&, Reply<v1::GetRowResponse> reply) {
    reply.WhenStopped([&, reply](StopReason reason) {
      EXPECT_EQ(reason, StopReason::kCancelled);
      EXPECT_TRUE(reply.context().cancelled());
      reply.Finish(absl::CancelledError());
      MutexLock lock(mutex);
      stopped = true;
      changed.NotifyAll();
    });
    MutexLock lock(mutex);
    waiting = true;
    changed.NotifyAll();
  };
  Start({});
  grpc::ClientContext context;
  std::thread caller([&] {
    v1::GetRowResponse response;
    EXPECT_THAT(stub_->GetRow(&context, {}, &response), RpcCode(grpc::CANCELLED));
  });
  {
    MutexLock lock(mutex);
    while (!waiting) changed.Wait(mutex);
  }
  context.TryCancel();
  {
    MutexLock lock(mutex);
    while (!stopped) changed.Wait(mutex);
  }
  caller.join();
}

// Case O-RPC-01: an oversize request harms no other call.
TEST_F(LimitsTest, ARequestOverTheMessageLimitIsRefusedAndTheChannelGoesOn) {
  Start({.grpc = {.max_message_bytes = 1 << 20}});
  v1::GetRowRequest large;
  large.set_table(std::string(20 << 20, 'x'));
  EXPECT_THAT(GetRow("", large), RpcCode(grpc::RESOURCE_EXHAUSTED));
  EXPECT_THAT(GetRow(), RpcOk());
}

TEST_F(LimitsTest, AnAnswerOverTheMessageLimitIsNamedInsteadOfSent) {
  services_.get_table = [](const auto&, auto&, v1::GetTableResponse* response) {
    response->mutable_table()->set_name(std::string(2 << 20, 'x'));
    return absl::OkStatus();
  };
  services_.get_row = [](const auto&, Reply<v1::GetRowResponse> reply) {
    reply.FinishWithWire({std::string(2 << 20, '\0')});
  };
  Start({.grpc = {.max_message_bytes = 1 << 20}});
  grpc::ClientContext context;
  v1::GetTableResponse response;
  const grpc::Status status = stub_->GetTable(&context, {}, &response);
  EXPECT_THAT(status, RpcReason("RESPONSE_TOO_LARGE"));
  EXPECT_EQ(RpcMetadata(status, "limit"), "1048576");
  EXPECT_THAT(GetRow(), RpcReason("RESPONSE_TOO_LARGE"));
}

TEST_F(LimitsTest, StreamsHaveABoundOfTheirOwn) {
  services_.watch_changes = [](const auto&, ResponseStream<v1::WatchChangesResponse> stream) {
    stream.WhenStopped([stream](StopReason) { stream.Finish(absl::CancelledError()); });
  };
  Start({.grpc = {.gate = {.max_calls = 1, .max_streams = 1}}});
  grpc::ClientContext first;
  const auto held = stub_->WatchChanges(&first, {});
  held->WaitForInitialMetadata();
  grpc::ClientContext second;
  const auto refused = stub_->WatchChanges(&second, {});
  v1::WatchChangesResponse response;
  EXPECT_FALSE(refused->Read(&response));
  const grpc::Status status = refused->Finish();
  EXPECT_THAT(status, RpcReason("OVERLOADED"));
  EXPECT_EQ(RpcMetadata(status, "queue"), "streams");
  EXPECT_THAT(GetRow(), RpcOk());
  first.TryCancel();
  EXPECT_THAT(held->Finish(), RpcCode(grpc::CANCELLED));
}

}  // namespace
}  // namespace tidemark
