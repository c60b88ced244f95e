// The gRPC server around the services: listening, limits, health, reflection, drain.
#ifndef TIDEMARK_SERVER_TRANSPORT_GRPC_SERVER_H_
#define TIDEMARK_SERVER_TRANSPORT_GRPC_SERVER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/authenticator.h"
#include "server/executor.h"
#include "server/service_binder.h"
#include "server/telemetry/call_metrics.h"
#include "server/telemetry/log.h"
#include "server/timer_queue.h"
#include "server/transport/call_gate.h"

namespace tidemark {

struct GrpcServerOptions {
  std::string listen = "127.0.0.1:0";  // host:port, [v6]:port or unix:path; port 0 takes a free one
  size_t max_message_bytes = 4 << 20;  // both directions
  GateOptions gate;
  // A connection older than this is asked to reconnect, so that load spreads again; its calls get
  // the grace to end.
  absl::Duration max_connection_age = absl::Hours(1);
  absl::Duration max_connection_age_grace = absl::Minutes(10);
  // Clients may ping this often, also without calls.
  absl::Duration min_ping_interval = absl::Seconds(10);
  bool channelz = false;
};

// Thread-safe.
class GrpcServer {
 public:
  // What it needs of its owner; all outlive the server.
  struct Dependencies {
    const Authenticator& authenticator;
    Executor& executor;
    TimerQueue& timers;
    CallMetrics& metrics;
    Log& log;
  };

  // Serves when this returns, with every health name NOT_SERVING but "". `services` outlive the
  // server; services of the contract that are not among them answer METHOD_NOT_AVAILABLE.
  // UNAVAILABLE naming the address when it cannot listen.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(
      const GrpcServerOptions& options, const Dependencies& dependencies,
      const std::vector<const ServiceBinder*>& services);

  virtual ~GrpcServer() = default;

  virtual int port() const = 0;
  // Health names: "" is the server, "tidemark.v1.StateService", "source/erp".
  virtual void SetServing(const std::string& name, bool serving) = 0;

  // The tokens have changed: ends streams and waits whose caller may not make them any more.
  virtual void StopWithdrawn() = 0;

  // Takes no more calls (SHUTTING_DOWN; health says NOT_SERVING), tells those that wait and streams
  // to stop, and waits for the others up to `deadline`; what is still there then is cancelled.
  // Everything is over when this returns. True when nothing had to be cancelled.
  virtual bool Drain(absl::Duration deadline) = 0;

  // Calls and streams in progress.
  virtual int calls() const = 0;
  virtual int streams() const = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TRANSPORT_GRPC_SERVER_H_
