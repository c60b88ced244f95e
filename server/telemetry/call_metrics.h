// The gRPC series: calls started, handled by code, and how long they took, per method. Names and
// labels are those of go-grpc-prometheus, so that existing dashboards work.
#ifndef TIDEMARK_SERVER_TELEMETRY_CALL_METRICS_H_
#define TIDEMARK_SERVER_TELEMETRY_CALL_METRICS_H_

#include <prometheus/collectable.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "server/method_table.h"

namespace tidemark {

// Thread-safe; counting takes no lock and allocates nothing.
class CallMetrics final : public prometheus::Collectable {
 public:
  CallMetrics();

  void Started(const Method& method);
  void Handled(const Method& method, absl::StatusCode code, std::chrono::nanoseconds took);

  // Available methods always have their series; others once they were called.
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  static constexpr size_t kCodes = 17;
  static constexpr std::array<double, 15> kBucketSeconds = {
      0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};

  struct Series {
    std::atomic<uint64_t> started{0};
    std::array<std::atomic<uint64_t>, kCodes> handled{};
    std::array<std::atomic<uint64_t>, kBucketSeconds.size() + 1> bucket{};
    std::atomic<uint64_t> nanoseconds{0};
  };
  Series& Of(const Method& method);

  std::vector<Series> series_;  // by place in the method table
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TELEMETRY_CALL_METRICS_H_
