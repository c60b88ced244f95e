// The HTTP side: /metrics in Prometheus' text format, /healthz for load balancers and people.
#ifndef TIDEMARK_SERVER_TELEMETRY_METRICS_SERVER_H_
#define TIDEMARK_SERVER_TELEMETRY_METRICS_SERVER_H_

#include <prometheus/collectable.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct mg_context;
struct mg_connection;

namespace tidemark {

// Everything the collectables say, as /metrics shows it.
std::string MetricsText(const std::vector<const prometheus::Collectable*>& collectables);

class MetricsServer {
 public:
  // Listens at `address` ("127.0.0.1:7401"; port 0 takes a free one). UNAVAILABLE naming the
  // address when it cannot. The collectables outlive the server.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(
      const std::string& address, std::vector<const prometheus::Collectable*> collectables);
  // Answers the requests in hand, then joins.
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  int port() const { return port_; }
  // What /healthz says: 200 while true, else 503. False at first.
  void SetHealthy(bool healthy) { healthy_ = healthy; }

 private:
  explicit MetricsServer(std::vector<const prometheus::Collectable*> collectables)
      : collectables_(std::move(collectables)) {}
  static int ServeMetrics(mg_connection* connection, void* self);
  static int ServeHealth(mg_connection* connection, void* self);

  const std::vector<const prometheus::Collectable*> collectables_;
  std::atomic<bool> healthy_{false};
  mg_context* context_ = nullptr;
  int port_ = 0;
  bool ipv6_ = false;
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TELEMETRY_METRICS_SERVER_H_
