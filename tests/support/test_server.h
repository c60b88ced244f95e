// A server in this process, on a free port, over whatever services a test gives it: the real
// admission, authentication, error mapping, health, reflection, log and metrics around them.
//
// Example:
//   StateService service(...);
//   ServiceBinder binder("StateService");
//   service.Bind(binder);
//   TestServer server({&binder});
//   auto stub = v1::StateService::NewStub(server.channel());
#ifndef TIDEMARK_TESTS_SUPPORT_TEST_SERVER_H_
#define TIDEMARK_TESTS_SUPPORT_TEST_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "server/transport/grpc_server.h"

namespace grpc {
class Channel;
}

namespace tidemark::testing {

struct TestServerOptions {
  GrpcServerOptions grpc;
  std::vector<TokenEntry> tokens;  // none: everybody is LocalPrincipal()
  LogLevel log_level = LogLevel::kInfo;
  Executor::Options executor;
};

class TestServer {
 public:
  // Checked: that the server starts. `services` outlive it.
  explicit TestServer(const std::vector<const ServiceBinder*>& services,
                      const TestServerOptions& options = {});
  // Drains without waiting.
  ~TestServer();

  std::string address() const;
  // One connection, made on first use, with default client settings.
  std::shared_ptr<grpc::Channel> channel();

  GrpcServer& server() { return *server_; }
  Authenticator& authenticator() { return *authenticator_; }
  Executor& executor() { return executor_; }
  const CallMetrics& metrics() const { return metrics_; }
  Log& log() { return *log_; }
  // Ends the server, then the log, and returns its lines.
  std::string FinishLog();

 private:
  std::string log_text_;  // written by the log's thread until the log is gone
  std::unique_ptr<Log> log_;
  std::unique_ptr<Authenticator> authenticator_;
  CallMetrics metrics_;
  Executor executor_;
  TimerQueue timers_;
  std::unique_ptr<GrpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_TEST_SERVER_H_
