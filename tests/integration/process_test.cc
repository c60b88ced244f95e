// The real binary from outside: how it starts, is signalled, logs and ends.
#include <grpcpp/grpcpp.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/state/token.h"
#include "tests/support/http_get.h"
#include "tests/support/raw_call.h"
#include "tests/support/rpc_matchers.h"
#include "tests/support/tidemarkd_process.h"
#include "tidemark/v1/state_service.grpc.pb.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using testing::HttpGet;
using ::testing::Not;
using testing::RawCall;
using testing::RpcCode;
using testing::RpcOk;
using testing::RpcReason;
using ::testing::StartsWith;
using testing::TempDirectory;
using testing::TidemarkdProcess;

constexpr char kAgentToken[] =
    "principals:\n  - {token_sha256: "
    "\"7e542874dafc353f457e15db9d96910462164284b71e73ea6d64ac83d3b7405f\", tenant: default, "
    "subject: credit-agent, kind: AGENT, roles: [agent]}\n";
constexpr char kOperatorToken[] =
    "principals:\n  - {token_sha256: "
    "\"c15de198d781469a78760f52482bac96c651dec77512c11657dcb336fa480ca0\", tenant: default, "
    "subject: someone, kind: HUMAN, roles: [auditor]}\n";

class ProcessTest : public ::testing::Test {
 protected:
  std::unique_ptr<v1::StateService::Stub> Stub() {
    return v1::StateService::NewStub(
        grpc::CreateChannel(server_.target(), grpc::InsecureChannelCredentials()));
  }
  grpc::Status ListTables(const std::string& token = "", const std::string& request_id = "") {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    if (!request_id.empty()) context.AddMetadata("x-request-id", request_id);
    v1::ListTablesResponse response;
    return Stub()->ListTables(&context, {}, &response);
  }
  // Every line of the output as JSON; a line that is none fails the test.
  std::vector<nlohmann::json> LogLines() {
    std::vector<nlohmann::json> lines;
    std::istringstream in(server_.output());
    for (std::string line; std::getline(in, line);) {
      lines.push_back(nlohmann::json::parse(line, nullptr, false));
      EXPECT_TRUE(lines.back().is_object()) << line;
    }
    return lines;
  }

  const TempDirectory dir_;
  TidemarkdProcess server_{dir_};
};

TEST_F(ProcessTest, ADataDirectoryIsEnoughToServeAndADrainEndsWithZero) {
  ASSERT_TRUE(server_.Start()) << server_.output();
  const auto ready = nlohmann::json::parse(testing::ReadText(server_.ready_file()));
  EXPECT_EQ(ready["port"], server_.port());
  EXPECT_EQ(ready["metrics_port"], server_.metrics_port());
  EXPECT_EQ(ready["pid"], server_.pid());
  EXPECT_EQ(ready.size(), 3u);

  EXPECT_THAT(ListTables(), RpcOk());
  EXPECT_THAT(HttpGet(server_.metrics_port(), "/healthz"), StartsWith("HTTP/1.1 200"));
  const std::string metrics = HttpGet(server_.metrics_port(), "/metrics");
  for (const char* series :
       {"grpc_server_handled_total{", "tidemark_snapshot_newest ",
        "tidemark_store_operations_total{", "tidemark_queue_depth{queue=\"applier\"}",
        "process_resident_memory_bytes "}) {
    EXPECT_THAT(metrics, HasSubstr(series));
  }

  EXPECT_EQ(server_.Stop(), 0);
  EXPECT_FALSE(std::filesystem::exists(server_.ready_file()));
  const auto lines = LogLines();
  EXPECT_EQ(lines.back()["message"], "drained");
}

TEST_F(ProcessTest, WhatWasThereIsThereAfterARestart) {
  ASSERT_TRUE(server_.Start()) << server_.output();
  const std::string instance = testing::ReadText(server_.data_dir() + "/instance");
  EXPECT_EQ(instance.size(), 9u);
  grpc::ClientContext first;
  v1::GetSnapshotResponse before;
  ASSERT_THAT(Stub()->GetSnapshot(&first, {}, &before), RpcOk());
  server_.Kill();
  ASSERT_TRUE(server_.Start()) << server_.output();
  EXPECT_EQ(testing::ReadText(server_.data_dir() + "/instance"), instance);
  grpc::ClientContext second;
  v1::GetSnapshotRequest exact;
  exact.mutable_at()->set_exact(before.snapshot().token());
  v1::GetSnapshotResponse after;
  EXPECT_THAT(Stub()->GetSnapshot(&second, exact, &after), RpcOk());
  EXPECT_EQ(server_.Stop(), 0);
}

TEST_F(ProcessTest, ASecondSigtermDoesNotShortenTheDrainAndNoCallIsLost) {
  ASSERT_TRUE(server_.Start()) << server_.output();
  std::atomic<int> served{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      const auto stub = Stub();
      while (true) {
        grpc::ClientContext context;
        v1::ListTablesResponse response;
        const grpc::Status status = stub->ListTables(&context, {}, &response);
        if (status.ok()) {
          ++served;
          continue;
        }
        if (!status.error_details().empty()) {
          EXPECT_THAT(status, RpcReason("SHUTTING_DOWN"));
        }
        return;
      }
    });
  }
  std::thread watcher([&] {
    const auto stub = Stub();
    grpc::ClientContext context;
    v1::WatchChangesRequest request;
    const auto reader = stub->WatchChanges(&context, request);
    v1::WatchChangesResponse response;
    while (reader->Read(&response)) continue;
    EXPECT_THAT(reader->Finish(), Not(RpcOk()));
  });
  while (served < 500) std::this_thread::yield();
  server_.Signal(SIGTERM);
  server_.Signal(SIGTERM);
  server_.Signal(SIGINT);
  EXPECT_EQ(server_.AwaitEnd(), 0) << server_.output();
  for (std::thread& caller : callers) caller.join();
  watcher.join();
}

TEST_F(ProcessTest, SighupReadsTokensAgainAndABadFileKeepsTheOldOnes) {
  dir_.Write("tokens.yaml", kAgentToken);
  const std::string config = dir_.Write("tidemark.yaml", "auth: {token_file: tokens.yaml}\n");
  ASSERT_TRUE(server_.Start({"--config=" + config})) << server_.output();
  EXPECT_THAT(ListTables(), RpcReason("UNAUTHENTICATED"));
  EXPECT_THAT(ListTables("dev-agent"), RpcOk());
  EXPECT_THAT(ListTables("dev-operator"), RpcReason("UNAUTHENTICATED"));

  dir_.Write("tokens.yaml", kOperatorToken);
  server_.Signal(SIGHUP);
  while (!ListTables("dev-operator").ok()) std::this_thread::yield();
  EXPECT_THAT(ListTables("dev-agent"), RpcReason("UNAUTHENTICATED"));

  dir_.Write("tokens.yaml", "principals: 7\n");
  server_.Signal(SIGHUP);
  while (server_.output().find("reload failed") == std::string::npos) std::this_thread::yield();
  EXPECT_THAT(server_.output(), HasSubstr("tokens.yaml: line 1: "));
  EXPECT_THAT(ListTables("dev-operator"), RpcOk());
  EXPECT_EQ(server_.Stop(), 0);
}

TEST_F(ProcessTest, SighupEndsTheCallsThatWaitWithATokenItTakesAway) {
  dir_.Write("tokens.yaml", kAgentToken);
  const std::string config = dir_.Write("tidemark.yaml", "auth: {token_file: tokens.yaml}\n");
  ASSERT_TRUE(server_.Start({"--config=" + config})) << server_.output();
  const auto get_snapshot = [this](const v1::GetSnapshotRequest& request,
                                   v1::GetSnapshotResponse* response) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer dev-agent");
    return Stub()->GetSnapshot(&context, request, response);
  };
  v1::GetSnapshotResponse newest, none;
  ASSERT_THAT(get_snapshot({}, &newest), RpcOk());
  auto token = state::DecodeToken(newest.snapshot().token());
  ASSERT_TRUE(token.ok());
  ++token->snapshot;  // one that is never made here
  v1::GetSnapshotRequest later;
  later.mutable_at()->set_at_least(state::EncodeToken(*token));
  grpc::Status ended;
  std::thread waiter([&] { ended = get_snapshot(later, &none); });
  const std::string waiting = "tidemark_queue_depth{queue=\"read_waits\"} 1";
  while (HttpGet(server_.metrics_port(), "/metrics").find(waiting) == std::string::npos) {
    std::this_thread::yield();
  }
  dir_.Write("tokens.yaml", kOperatorToken);
  server_.Signal(SIGHUP);
  waiter.join();
  EXPECT_THAT(ended, RpcReason("UNAUTHENTICATED"));
  EXPECT_EQ(testing::RpcMetadata(ended, "problem"), "withdrawn");
  EXPECT_EQ(server_.Stop(), 0);
}

TEST_F(ProcessTest, SighupReadsTheLogLevelAgain) {
  const std::string config = dir_.Write("tidemark.yaml", "log: {level: info}\n");
  ASSERT_TRUE(server_.Start({"--config=" + config})) << server_.output();
  EXPECT_THAT(ListTables(), RpcOk());
  EXPECT_THAT(server_.output(), Not(HasSubstr("call served")));
  dir_.Write("tidemark.yaml", "log: {level: debug}\n");
  server_.Signal(SIGHUP);
  while (server_.output().find("reloaded") == std::string::npos) std::this_thread::yield();
  EXPECT_THAT(ListTables(), RpcOk());
  while (server_.output().find("call served") == std::string::npos) std::this_thread::yield();
  EXPECT_EQ(server_.Stop(), 0);
}

TEST_F(ProcessTest, EveryLogLineIsJsonWhateverCallersSend) {
  ASSERT_TRUE(server_.Start()) << server_.output();
  const std::string hostile = R"(r"},{"severity":"ERROR","message":"\u0000forged)";
  EXPECT_THAT(ListTables("", hostile), RpcOk());
  grpc::ClientContext context;
  context.AddMetadata("x-request-id", hostile);
  v1::GetTableRequest request;
  request.set_name("a\nb\"\\\x01 {\"x\":1}");
  v1::GetTableResponse response;
  EXPECT_THAT(Stub()->GetTable(&context, request, &response), RpcReason("TABLE_NOT_FOUND"));
  EXPECT_EQ(server_.Stop(), 0);
  int named = 0;
  for (const auto& line : LogLines()) {
    EXPECT_NE(line.value("message", ""), "forged");
    EXPECT_TRUE(line.contains("time") && line.contains("severity")) << line;
    if (line.value("request_id", "") == hostile) ++named;
  }
  EXPECT_EQ(named, 2);
}

TEST_F(ProcessTest, ChannelzIsServedWhenAskedForOnly) {
  // GetServersRequest without fields.
  const auto get_servers = [this] {
    const auto channel = grpc::CreateChannel(server_.target(), grpc::InsecureChannelCredentials());
    return RawCall(channel.get(), "/grpc.channelz.v1.Channelz/GetServers", "");
  };
  ASSERT_TRUE(server_.Start()) << server_.output();
  EXPECT_THAT(get_servers(), RpcCode(grpc::UNIMPLEMENTED));
  EXPECT_EQ(server_.Stop(), 0);
  ASSERT_TRUE(server_.Start({"--channelz"})) << server_.output();
  EXPECT_THAT(get_servers(), RpcOk());
  EXPECT_EQ(server_.Stop(), 0);
}

TEST_F(ProcessTest, ASigpipeIsNotTheEnd) {
  ASSERT_TRUE(server_.Start()) << server_.output();
  server_.Signal(SIGPIPE);
  EXPECT_THAT(ListTables(), RpcOk());
  EXPECT_EQ(server_.Stop(), 0);
}

}  // namespace
}  // namespace tidemark
