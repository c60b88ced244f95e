// The read benchmarks: P1 (GetRow against an empty handler), P4 (absent against present), P12
// (growth) and P13 (memory) of the project's yardsticks.
#ifndef TIDEMARK_BENCH_READ_BENCH_H_
#define TIDEMARK_BENCH_READ_BENCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/report.h"

namespace tidemark::bench {

struct ReadBenchOptions {
  std::string bin_dir;
  std::string work_dir;            // emptied stores and logs are written here
  uint64_t rows = 1000000;         // P1, P4
  uint64_t small_rows = 100000;    // P12
  uint64_t large_rows = 10000000;  // P12, P13
  uint64_t calls = 40000;          // of one measured round
  int rounds = 5;                  // interleaved pairs; the median is reported
};

absl::StatusOr<std::vector<Result>> RunPointReads(const ReadBenchOptions& options);
absl::StatusOr<std::vector<Result>> RunGrowth(const ReadBenchOptions& options);

}  // namespace tidemark::bench

#endif  // TIDEMARK_BENCH_READ_BENCH_H_
