// A closed-loop gRPC client for unary calls: a fixed number in flight, raw bytes both ways, so that
// its own cost is small and the same for every server.
#ifndef TIDEMARK_BENCH_LOAD_GENERATOR_H_
#define TIDEMARK_BENCH_LOAD_GENERATOR_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace tidemark::bench {

struct Load {
  std::string target;                            // "127.0.0.1:7400"
  std::string method;                            // "/tidemark.v1.StateService/GetRow"
  std::function<std::string(uint64_t)> request;  // wire bytes of request number n; thread-safe
  int in_flight = 64;
  int channels = 2;  // connections
  uint64_t calls = 20000;
};

struct LoadResult {
  uint64_t calls = 0;
  double seconds = 0;
  uint64_t response_bytes = 0;  // of the last call
  double calls_per_second() const { return static_cast<double>(calls) / seconds; }
};

// Fails with the first error a call ended with.
absl::StatusOr<LoadResult> RunLoad(const Load& load);

}  // namespace tidemark::bench

#endif  // TIDEMARK_BENCH_LOAD_GENERATOR_H_
