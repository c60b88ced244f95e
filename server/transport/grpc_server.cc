#include "server/transport/grpc_server.h"

#include <grpcpp/ext/channelz_service_plugin.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "server/transport/call_stop.h"
#include "server/transport/contract.h"
#include "server/transport/reflection_v1.h"
#include "server/transport/rpc_service.h"

namespace tidemark {
namespace {

// How long connections get to take the goodbye once no call of ours is left.
constexpr std::chrono::milliseconds kGoodbye{100};
// And how long callers get to notice that they are refused.
constexpr std::chrono::milliseconds kQuiet{20};
constexpr std::chrono::milliseconds kMaxQuietWait{500};

int ToMillis(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

class Impl final : public GrpcServer {
 public:
  Impl(const GrpcServerOptions& options, const Dependencies& dependencies)
      : gate_(options.gate, dependencies.authenticator, dependencies.metrics, dependencies.log),
        environment_{gate_, dependencies.executor, dependencies.timers, waiting_,
                     options.max_message_bytes} {}

  ~Impl() override { Drain(absl::ZeroDuration()); }

  absl::Status Listen(const GrpcServerOptions& options,
                      const std::vector<const ServiceBinder*>& binders);

  int port() const override { return port_; }
  void SetServing(const std::string& name, bool serving) override {
    server_->GetHealthCheckService()->SetServingStatus(name, serving);
  }
  void StopWithdrawn() override { waiting_.StopWithdrawn(); }
  bool Drain(absl::Duration deadline) override;
  int calls() const override { return gate_.calls(); }
  int streams() const override { return gate_.streams(); }

 private:
  void AddServices(const std::vector<const ServiceBinder*>& binders, grpc::ServerBuilder& builder);

  CallGate gate_;
  WaitingCalls waiting_{[this](const CallContext& context) { return gate_.StillAdmits(context); }};
  const CallEnvironment environment_;
  std::vector<std::unique_ptr<grpc::Service>> services_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

void SetLimits(const GrpcServerOptions& options, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
  builder.SetMaxSendMessageSize(static_cast<int>(options.max_message_bytes));
  // Without it two servers share a port unnoticed.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, ToMillis(options.max_connection_age));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                             ToMillis(options.max_connection_age_grace));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             ToMillis(options.min_ping_interval));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // One connection may be refused by admission, with a reason, before HTTP/2 makes it wait.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             2 * (options.gate.max_calls + options.gate.max_streams) + 100);
}

absl::Status Impl::Listen(const GrpcServerOptions& options,
                          const std::vector<const ServiceBinder*>& binders) {
  // Debian builds Abseil with its detection of lock cycles, which keeps a graph of all locks gRPC
  // takes: a twentieth of a read's CPU.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  if (options.channelz) grpc::channelz::experimental::InitChannelzService();
  grpc::ServerBuilder builder;
  SetLimits(options, builder);
  builder.AddListeningPort(options.listen, grpc::InsecureServerCredentials(), &port_);
  AddServices(binders, builder);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot listen at ", options.listen,
                                               ": the address is in use or not of this machine"));
  }
  for (std::string_view service : AllServices()) {
    SetServing("tidemark.v1." + std::string(service), false);
  }
  return absl::OkStatus();
}

void Impl::AddServices(const std::vector<const ServiceBinder*>& binders,
                       grpc::ServerBuilder& builder) {
  std::vector<std::string> names;
  for (const auto* descriptor : ContractServices()) {
    names.push_back(descriptor->full_name());
    const ServiceBinder* bound = nullptr;
    for (const ServiceBinder* binder : binders) {
      if (binder->service() == descriptor->name()) bound = binder;
    }
    services_.push_back(std::make_unique<RpcService>(environment_, descriptor->name(), bound));
  }
  names.push_back("grpc.health.v1.Health");
  names.push_back("grpc.reflection.v1alpha.ServerReflection");
  services_.push_back(MakeReflectionV1(std::move(names)));
  for (const auto& service : services_) builder.RegisterService(service.get());
}

bool Impl::Drain(absl::Duration deadline) {
  if (server_ == nullptr) return true;
  server_->GetHealthCheckService()->Shutdown();
  gate_.Close();
  waiting_.Drain();
  const bool idle = gate_.AwaitIdle(absl::ToChronoNanoseconds(deadline));
  gate_.AwaitQuiet(kQuiet, kMaxQuietWait);
  // Cancels what is left: calls past the deadline, and streams of health and reflection. Returns
  // when every reactor is done.
  server_->Shutdown(std::chrono::system_clock::now() + kGoodbye);
  server_->Wait();
  return idle;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(
    const GrpcServerOptions& options, const Dependencies& dependencies,
    const std::vector<const ServiceBinder*>& services) {
  auto server = std::make_unique<Impl>(options, dependencies);
  if (absl::Status status = server->Listen(options, services); !status.ok()) return status;
  return std::unique_ptr<GrpcServer>(std::move(server));
}

}  // namespace tidemark
