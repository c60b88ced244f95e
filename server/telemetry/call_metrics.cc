#include "server/telemetry/call_metrics.h"

#include <prometheus/metric_family.h>

#include <limits>
#include <string>

#include "common/check.h"

namespace tidemark {
namespace {

constexpr std::array<const char*, 17> kCodeNames = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

const char* TypeName(MethodShape shape) {
  switch (shape) {
    case MethodShape::kUnary:
      return "unary";
    case MethodShape::kServerStream:
      return "server_stream";
    case MethodShape::kBidiStream:
      return "bidi_stream";
  }
  return "";
}

prometheus::ClientMetric Labelled(const Method& method) {
  prometheus::ClientMetric metric;
  metric.label = {{"grpc_type", TypeName(method.shape)},
                  {"grpc_service", "tidemark.v1." + std::string(method.service)},
                  {"grpc_method", std::string(method.name)}};
  return metric;
}

}  // namespace

CallMetrics::CallMetrics() : series_(AllMethods().size()) {}

CallMetrics::Series& CallMetrics::Of(const Method& method) {
  const size_t place = &method - AllMethods().data();
  TIDEMARK_CHECK(place < series_.size());
  return series_[place];
}

void CallMetrics::Started(const Method& method) {
  Of(method).started.fetch_add(1, std::memory_order_relaxed);
}

void CallMetrics::Handled(const Method& method, absl::StatusCode code,
                          std::chrono::nanoseconds took) {
  Series& series = Of(method);
  const size_t index = static_cast<size_t>(code) < kCodes ? static_cast<size_t>(code) : 2;
  series.handled[index].fetch_add(1, std::memory_order_relaxed);
  const double seconds = std::chrono::duration<double>(took).count();
  size_t bucket = 0;
  while (bucket < kBucketSeconds.size() && seconds > kBucketSeconds[bucket]) ++bucket;
  series.bucket[bucket].fetch_add(1, std::memory_order_relaxed);
  series.nanoseconds.fetch_add(took.count(), std::memory_order_relaxed);
}

std::vector<prometheus::MetricFamily> CallMetrics::Collect() const {
  prometheus::MetricFamily started{
      "grpc_server_started_total", "Calls begun.", prometheus::MetricType::Counter, {}};
  prometheus::MetricFamily handled{
      "grpc_server_handled_total", "Calls ended, by code.", prometheus::MetricType::Counter, {}};
  prometheus::MetricFamily handling{"grpc_server_handling_seconds",
                                    "Time from a call's arrival to its answer.",
                                    prometheus::MetricType::Histogram,
                                    {}};
  for (size_t i = 0; i < series_.size(); ++i) {
    const Method& method = AllMethods()[i];
    const Series& series = series_[i];
    const uint64_t begun = series.started.load(std::memory_order_relaxed);
    if (!method.available && begun == 0) continue;

    prometheus::ClientMetric count = Labelled(method);
    count.counter.value = static_cast<double>(begun);
    started.metric.push_back(count);

    for (size_t code = 0; code < kCodes; ++code) {
      const uint64_t ended = series.handled[code].load(std::memory_order_relaxed);
      if (ended == 0 && code != 0) continue;
      prometheus::ClientMetric by_code = Labelled(method);
      by_code.label.push_back({"grpc_code", kCodeNames[code]});
      by_code.counter.value = static_cast<double>(ended);
      handled.metric.push_back(by_code);
    }

    prometheus::ClientMetric spread = Labelled(method);
    uint64_t below = 0;
    for (size_t bucket = 0; bucket < series.bucket.size(); ++bucket) {
      below += series.bucket[bucket].load(std::memory_order_relaxed);
      spread.histogram.bucket.push_back({below, bucket < kBucketSeconds.size()
                                                    ? kBucketSeconds[bucket]
                                                    : std::numeric_limits<double>::infinity()});
    }
    spread.histogram.sample_count = below;
    spread.histogram.sample_sum =
        static_cast<double>(series.nanoseconds.load(std::memory_order_relaxed)) / 1e9;
    handling.metric.push_back(spread);
  }
  return {started, handled, handling};
}

}  // namespace tidemark
