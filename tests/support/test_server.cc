#include "tests/support/test_server.h"

#include <grpcpp/grpcpp.h>

#include "absl/strings/str_cat.h"
#include "common/check.h"

namespace tidemark::testing {

TestServer::TestServer(const std::vector<const ServiceBinder*>& services,
                       const TestServerOptions& options)
    : log_(std::make_unique<Log>(Log::Options{
          .level = options.log_level,
          .write = [this](std::string_view line) { log_text_.append(line).append("\n"); }})),
      authenticator_(options.tokens.empty() ? Authenticator::Open()
                                            : Authenticator::WithTokens(options.tokens)),
      executor_(options.executor) {
  auto server = GrpcServer::Start(options.grpc,
                                  {*authenticator_, executor_, timers_, metrics_, *log_}, services);
  TIDEMARK_CHECK(server.ok());
  server_ = *std::move(server);
}

TestServer::~TestServer() = default;  // the server drains without waiting

std::string TestServer::address() const { return absl::StrCat("127.0.0.1:", server_->port()); }

std::shared_ptr<grpc::Channel> TestServer::channel() {
  if (channel_ == nullptr) {
    grpc::ChannelArguments arguments;
    // Tests must not share a connection through gRPC's global pool.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel(address(), grpc::InsecureChannelCredentials(), arguments);
  }
  return channel_;
}

std::string TestServer::FinishLog() {
  server_.reset();
  log_.reset();
  return log_text_;
}

}  // namespace tidemark::testing
