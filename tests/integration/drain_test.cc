// Drain under load: every call that was begun gets its answer or a typed refusal.
#include <grpcpp/grpcpp.h>

#include <atomic>
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

using ::testing::AnyOf;
using testing::FakeServices;
using testing::HasDetail;
using testing::RpcCode;
using testing::RpcOk;
using testing::RpcReason;
using testing::TestServer;

absl::Status ShuttingDown() {
  return MakeError(Reason::kShuttingDown, "Stopping.", {}, absl::Seconds(1));
}

class DrainTest : public ::testing::Test {
 protected:
  void Start() {
    server_ = std::make_unique<TestServer>(services_.binders());
    stub_ = v1::StateService::NewStub(server_->channel());
  }

  FakeServices services_;
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<v1::StateService::Stub> stub_;
};

TEST_F(DrainTest, UnderLoadEveryCallIsAnsweredOrRefusedWithAReason) {
  std::atomic<int> served_by_handler{0};
  services_.get_table = [&](const auto&, auto&, auto*) {
    ++served_by_handler;
    return absl::OkStatus();
  };
  services_.list_tables = services_.list_tables = [&](const auto&, auto&, auto*) {
    ++served_by_handler;
    return absl::OkStatus();
  };
  services_.get_row = [](const auto&, Reply<v1::GetRowResponse> reply) {
    reply.WhenStopped([reply](StopReason) { reply.Finish(ShuttingDown()); });
  };
  services_.watch_changes = [](const auto&, ResponseStream<v1::WatchChangesResponse> stream) {
    stream.WhenStopped([stream](StopReason) { stream.Finish(ShuttingDown()); });
    stream.WhenWritten([stream] { stream.Write(v1::WatchChangesResponse()); });
    stream.Write(v1::WatchChangesResponse());
  };
  Start();

  std::atomic<int> ok{0};
  std::atomic<int> finished{0};
  const auto call = [&](int kind) {
    const auto channel =
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
    const auto stub = v1::StateService::NewStub(channel);
    while (true) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(1));
      grpc::Status status;
      if (kind == 0) {
        v1::GetTableResponse response;
        status = stub->GetTable(&context, {}, &response);
      } else if (kind == 1) {
        v1::ListTablesResponse response;
        status = stub->ListTables(&context, {}, &response);
      } else if (kind == 2) {
        v1::GetRowResponse response;
        status = stub->GetRow(&context, {}, &response);
      } else {
        const auto reader = stub->WatchChanges(&context, {});
        for (v1::WatchChangesResponse message; reader->Read(&message);) ++ok;
        status = reader->Finish();
      }
      if (!status.ok()) {
        // Either ours, or gRPC's own for a call that was on its way when the server closed: no
        // handler saw it.
        if (!status.error_details().empty()) {
          EXPECT_THAT(status, RpcReason("SHUTTING_DOWN"));
          EXPECT_THAT(status, RpcCode(grpc::UNAVAILABLE));
          EXPECT_TRUE(HasDetail<google::rpc::RetryInfo>(status));
        } else {
          EXPECT_THAT(status, AnyOf(RpcCode(grpc::UNAVAILABLE), RpcCode(grpc::CANCELLED)));
        }
        ++finished;
        return;
      }
      ++ok;
    }
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) callers.emplace_back(call, i % 4);
  while (ok < 2000) std::this_thread::yield();
  EXPECT_TRUE(server_->server().Drain(absl::Seconds(20)));
  EXPECT_EQ(server_->server().calls(), 0);
  EXPECT_EQ(server_->server().streams(), 0);
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(finished, 8);
  // No answer was lost: what handlers served, clients saw.
  EXPECT_GE(ok, served_by_handler);
}

TEST_F(DrainTest, AWorkingCallIsFinished) {
  Mutex mutex;
  CondVar changed;
  bool working = false;
  bool go_on = false;
  services_.list_tables = [&](const auto&, auto&, v1::ListTablesResponse* response) {
    MutexLock lock(mutex);
    working = true;
    changed.NotifyAll();
    while (!go_on) changed.Wait(mutex);
    response->set_next_page_token("whole");
    return absl::OkStatus();
  };
  Start();
  std::thread caller([this] {
    grpc::ClientContext context;
    v1::ListTablesResponse response;
    EXPECT_THAT(stub_->ListTables(&context, {}, &response), RpcOk());
    EXPECT_EQ(response.next_page_token(), "whole");
  });
  {
    MutexLock lock(mutex);
    while (!working) changed.Wait(mutex);
  }
  std::atomic<bool> drained{false};
  std::thread drain([&] {
    EXPECT_TRUE(server_->server().Drain(absl::Seconds(20)));
    drained = true;
  });
  // The drain has begun when a new call is refused; the one at work is still there.
  grpc::Status refused;
  do {
    grpc::ClientContext context;
    v1::GetTableResponse response;
    refused = stub_->GetTable(&context, {}, &response);
  } while (refused.ok());
  EXPECT_THAT(refused, RpcReason("SHUTTING_DOWN"));
  EXPECT_FALSE(drained);
  {
    MutexLock lock(mutex);
    go_on = true;
    changed.NotifyAll();
  }
  caller.join();
  drain.join();
}

TEST_F(DrainTest, WhatDoesNotEndInTimeIsCancelled) {
  Mutex mutex;
  CondVar changed;
  bool working = false;
  services_.list_tables = [&](const auto&, CallContext& context, auto*) -> absl::Status {
    {
      MutexLock lock(mutex);
      working = true;
      changed.NotifyAll();
    }
    while (!context.cancelled()) std::this_thread::yield();
    return absl::CancelledError();
  };
  Start();
  std::thread caller([this] {
    grpc::ClientContext context;
    v1::ListTablesResponse response;
    EXPECT_THAT(stub_->ListTables(&context, {}, &response), RpcCode(grpc::UNAVAILABLE));
  });
  {
    MutexLock lock(mutex);
    while (!working) changed.Wait(mutex);
  }
  EXPECT_FALSE(server_->server().Drain(absl::Milliseconds(10)));
  caller.join();
}

}  // namespace
}  // namespace tidemark
