// One unary call from the client's side: what the adapter does around a handler.
#include <grpcpp/grpcpp.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "common/error.h"
#include "common/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_services.h"
#include "tests/support/raw_call.h"
#include "tests/support/rpc_matchers.h"
#include "tests/support/test_server.h"
#include "tidemark/v1/state_service.grpc.pb.h"

namespace tidemark {
namespace {

using testing::FakeServices;
using testing::HasDetail;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RawCall;
using testing::RpcCode;
using testing::RpcMetadata;
using testing::RpcOk;
using testing::RpcReason;
using testing::TestServer;
using testing::TestServerOptions;

TokenEntry Token(std::string_view token, Roles roles) {
  return {.hash = HashToken(token),
          .principal = {.tenant = "default", .subject = std::string(token), .roles = roles}};
}

class CallTest : public ::testing::Test {
 protected:
  void Start(const TestServerOptions& options = {}) {
    server_ = std::make_unique<TestServer>(services_.binders(), options);
    stub_ = v1::StateService::NewStub(server_->channel());
  }

  // GetTable with these metadata.
  grpc::Status GetTable(std::initializer_list<std::pair<std::string, std::string>> metadata = {}) {
    grpc::ClientContext context;
    for (const auto& [key, value] : metadata) context.AddMetadata(key, value);
    v1::GetTableRequest request;
    request.set_name("orders");
    v1::GetTableResponse response;
    return stub_->GetTable(&context, request, &response);
  }

  std::vector<nlohmann::json> LogLines() {
    std::vector<nlohmann::json> lines;
    std::istringstream in(server_->FinishLog());
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  FakeServices services_;
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<v1::StateService::Stub> stub_;
};

TEST_F(CallTest, TheHandlerGetsTheRequestAndItsAnswerArrives) {
  services_.get_table = [](const v1::GetTableRequest& request, CallContext&,
                           v1::GetTableResponse* response) {
    response->mutable_table()->set_name(request.name() + "!");
    return absl::OkStatus();
  };
  Start();
  grpc::ClientContext context;
  v1::GetTableRequest request;
  request.set_name("orders");
  v1::GetTableResponse response;
  ASSERT_THAT(stub_->GetTable(&context, request, &response), RpcOk());
  EXPECT_EQ(response.table().name(), "orders!");
}

TEST_F(CallTest, AHandlersErrorArrivesWithItsReasonMetadataAndDelay) {
  services_.get_table = [](const auto&, auto&, auto*) {
    return MakeError(Reason::kTableLoading, "Loading.", {{"table", "orders"}}, absl::Seconds(2));
  };
  Start();
  const grpc::Status status = GetTable();
  EXPECT_THAT(status, RpcReason("TABLE_LOADING"));
  EXPECT_THAT(status, RpcCode(grpc::UNAVAILABLE));
  EXPECT_EQ(RpcMetadata(status, "table"), "orders");
  EXPECT_EQ(testing::DetailOf<google::rpc::RetryInfo>(status).retry_delay().seconds(), 2);
}

TEST_F(CallTest, ADefectIsLoggedUnderARequestIdAndNotTold) {
  services_.get_table = [](const auto&, auto&, auto*) {
    return absl::InternalError("secret: /var/lib/tidemark\nforged line");
  };
  Start();
  const grpc::Status made_up = GetTable();
  EXPECT_THAT(made_up, RpcReason("INTERNAL"));
  EXPECT_THAT(made_up.error_message() + made_up.error_details(), Not(HasSubstr("secret")));
  EXPECT_EQ(RpcMetadata(made_up, "request_id").size(), 16u);
  const grpc::Status named = GetTable({{"x-request-id", "r-42"}});
  EXPECT_EQ(RpcMetadata(named, "request_id"), "r-42");

  const auto lines = LogLines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["severity"], "ERROR");
  EXPECT_EQ(lines[0]["request_id"], RpcMetadata(made_up, "request_id"));
  EXPECT_THAT(lines[0]["error"], HasSubstr("secret"));
  EXPECT_EQ(lines[1]["request_id"], "r-42");
}

TEST_F(CallTest, RequestIdAndTraceparentAreEchoedAndLogged) {
  Start();
  grpc::ClientContext context;
  const std::string traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  context.AddMetadata("x-request-id", "r-1");
  context.AddMetadata("traceparent", traceparent);
  v1::GetTableResponse response;
  ASSERT_THAT(stub_->GetTable(&context, {}, &response), RpcOk());
  const auto& echoed = context.GetServerInitialMetadata();
  ASSERT_EQ(echoed.count("x-request-id"), 1u);
  EXPECT_EQ(echoed.find("x-request-id")->second, "r-1");
  ASSERT_EQ(echoed.count("traceparent"), 1u);
  EXPECT_EQ(echoed.find("traceparent")->second, traceparent);

  const auto lines = LogLines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["message"], "call served");
  EXPECT_EQ(lines[0]["method"], "tidemark.v1.StateService/GetTable");
  EXPECT_EQ(lines[0]["code"], "OK");
  EXPECT_EQ(lines[0]["request_id"], "r-1");
  EXPECT_EQ(lines[0]["trace_id"], "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(lines[0]["principal"], "default/local");
  EXPECT_TRUE(lines[0]["latency_ms"].is_number());
}

TEST_F(CallTest, ABrokenTraceparentIsIgnoredAndALongRequestIdCut) {
  Start();
  for (const char* traceparent :
       {"", "00-xyz", "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"}) {
    grpc::ClientContext context;
    context.AddMetadata("traceparent", traceparent);
    context.AddMetadata("x-request-id", std::string(1000, 'r'));
    v1::GetTableResponse response;
    ASSERT_THAT(stub_->GetTable(&context, {}, &response), RpcOk());
    const auto& echoed = context.GetServerInitialMetadata();
    EXPECT_EQ(echoed.count("traceparent"), 0u) << traceparent;
    EXPECT_EQ(echoed.find("x-request-id")->second.size(), 128u);
  }
}

TEST_F(CallTest, AServedCallWithoutARequestIdIsLoggedAtDebugOnly) {
  Start({.log_level = LogLevel::kInfo});
  ASSERT_THAT(GetTable(), RpcOk());
  EXPECT_TRUE(LogLines().empty());
}

TEST_F(CallTest, TheTokenOfTheAnswerIsInTheLogLine) {
  services_.get_table = [](const auto&, CallContext& context, auto*) {
    context.NoteToken("tm1-token");
    return absl::OkStatus();
  };
  Start({.log_level = LogLevel::kDebug});
  ASSERT_THAT(GetTable(), RpcOk());
  const auto lines = LogLines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["token"], "tm1-token");
}

TEST_F(CallTest, WithTokensAnUnknownCallerIsUnauthenticated) {
  Start({.tokens = {Token("alpha", {Role::kReader})}});
  const grpc::Status missing = GetTable();
  EXPECT_THAT(missing, RpcReason("UNAUTHENTICATED"));
  EXPECT_EQ(RpcMetadata(missing, "problem"), "missing");
  const grpc::Status wrong = GetTable({{"authorization", "Bearer beta"}});
  EXPECT_THAT(wrong, RpcCode(grpc::UNAUTHENTICATED));
  EXPECT_EQ(RpcMetadata(wrong, "problem"), "not_accepted");
  EXPECT_THAT(GetTable({{"authorization", "Bearer alpha"}}), RpcOk());
  // A token is never written down.
  EXPECT_THAT(server_->FinishLog(), Not(HasSubstr("beta")));
}

TEST_F(CallTest, TheHandlerSeesWhoCalls) {
  std::string subject;
  services_.get_table = [&subject](const auto&, CallContext& context, auto*) {
    subject = context.principal().subject;
    return absl::OkStatus();
  };
  Start({.tokens = {Token("alpha", {Role::kReader}), Token("beta", {Role::kAuditor})}});
  ASSERT_THAT(GetTable({{"authorization", "Bearer beta"}}), RpcOk());
  EXPECT_EQ(subject, "beta");
}

TEST_F(CallTest, WithoutOneOfTheRolesTheCallIsRefusedAndTheRolesAreNamed) {
  bool called = false;
  services_.get_table = [&called](const auto&, auto&, auto*) {
    called = true;
    return absl::OkStatus();
  };
  Start({.tokens = {Token("op", {Role::kOperator})}});
  const grpc::Status status = GetTable({{"authorization", "Bearer op"}});
  EXPECT_THAT(status, RpcReason("ROLE_MISSING"));
  EXPECT_THAT(status, RpcCode(grpc::PERMISSION_DENIED));
  EXPECT_EQ(RpcMetadata(status, "roles"), "reader,auditor");
  EXPECT_EQ(RpcMetadata(status, "method"), "tidemark.v1.StateService/GetTable");
  EXPECT_FALSE(called);
}

// Every method that does not exist yet, whatever its shape.
TEST_F(CallTest, EveryUnavailableMethodSaysSo) {
  Start();
  for (const Method& method : AllMethods()) {
    if (method.available) continue;
    SCOPED_TRACE(method.FullName());
    // On the wire a call with one request is the beginning of a call of any shape.
    const grpc::Status status = RawCall(server_->channel().get(), "/" + method.FullName(), "");
    EXPECT_THAT(status, RpcReason("METHOD_NOT_AVAILABLE"));
    EXPECT_THAT(status, RpcCode(grpc::UNIMPLEMENTED));
    EXPECT_EQ(RpcMetadata(status, "method"), method.FullName());
  }
}

TEST_F(CallTest, AMethodOutsideTheContractIsGrpcsOwnError) {
  Start();
  const grpc::Status status =
      RawCall(server_->channel().get(), "/tidemark.v1.StateService/DropTable", "");
  EXPECT_THAT(status, RpcCode(grpc::UNIMPLEMENTED));
  EXPECT_EQ(status.error_details(), "");
}

TEST_F(CallTest, BytesThatAreNoMessageAreFieldInvalid) {
  Start();
  // The length of the first field lies far past the end.
  const std::string broken("\x0a\xff\xff\xff\xff\x7f", 6);
  const grpc::Status status =
      RawCall(server_->channel().get(), "/tidemark.v1.StateService/GetTable", broken);
  EXPECT_THAT(status, RpcReason("FIELD_INVALID"));
  EXPECT_TRUE(HasDetail<google::rpc::BadRequest>(status));
}

TEST_F(CallTest, WorkOnTheExecutorRunsOnAThreadOfIts) {
  std::thread::id inline_thread;
  std::thread::id executor_thread;
  services_.list_tables = [&](const auto&, auto&, v1::ListTablesResponse* response) {
    executor_thread = std::this_thread::get_id();
    response->set_next_page_token("more");
    return absl::OkStatus();
  };
  Start({.executor = {.threads = 1}});
  grpc::ClientContext context;
  v1::ListTablesResponse response;
  ASSERT_THAT(stub_->ListTables(&context, {}, &response), RpcOk());
  EXPECT_EQ(response.next_page_token(), "more");
  std::thread::id expected;
  Mutex mutex;
  CondVar changed;
  bool done = false;
  ASSERT_TRUE(server_->executor()
                  .Submit([&] {
                    MutexLock lock(mutex);
                    expected = std::this_thread::get_id();
                    done = true;
                    changed.NotifyAll();
                  })
                  .ok());
  MutexLock lock(mutex);
  while (!done) changed.Wait(mutex);
  EXPECT_EQ(executor_thread, expected);
}

TEST_F(CallTest, AnAnswerOfWireBytesArrivesAsIfItWereAMessage) {
  services_.get_row = [](const v1::GetRowRequest& request, Reply<v1::GetRowResponse> reply) {
    v1::GetRowResponse first;
    (*first.mutable_row()->mutable_columns())["id"].set_string_value(request.table());
    v1::GetRowResponse second;
    second.mutable_read_at()->set_token("t");
    reply.FinishWithWire({first.SerializeAsString(), second.SerializeAsString()});
  };
  Start();
  grpc::ClientContext context;
  v1::GetRowRequest request;
  request.set_table("orders");
  v1::GetRowResponse response;
  ASSERT_THAT(stub_->GetRow(&context, request, &response), RpcOk());
  EXPECT_EQ(response.row().columns().at("id").string_value(), "orders");
  EXPECT_EQ(response.read_at().token(), "t");
}

TEST_F(CallTest, AHandlerMayAnswerLaterFromAnotherThread) {
  std::vector<std::thread> threads;
  services_.get_row = [&threads](const v1::GetRowRequest& request,
                                 Reply<v1::GetRowResponse> reply) {
    threads.emplace_back([reply, &request] {
      reply.response().mutable_read_at()->set_token(request.table());
      reply.Finish(absl::OkStatus());
      reply.Finish(absl::InternalError("the second answer has no effect"));
    });
  };
  Start();
  grpc::ClientContext context;
  v1::GetRowRequest request;
  request.set_table("orders");
  v1::GetRowResponse response;
  EXPECT_THAT(stub_->GetRow(&context, request, &response), RpcOk());
  EXPECT_EQ(response.read_at().token(), "orders");
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CallTest, ACallTheHandlerDropsIsAnsweredAllTheSame) {
  services_.get_row = [](const v1::GetRowRequest&, Reply<v1::GetRowResponse>) {};
  Start();
  grpc::ClientContext context;
  v1::GetRowResponse response;
  EXPECT_THAT(stub_->GetRow(&context, {}, &response), RpcReason("INTERNAL"));
}

}  // namespace
}  // namespace tidemark
