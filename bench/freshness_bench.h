// P11: from commit at the sample ERP to arrival at a watcher in another process, at 1,000
// transactions a second.
#ifndef TIDEMARK_BENCH_FRESHNESS_BENCH_H_
#define TIDEMARK_BENCH_FRESHNESS_BENCH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/report.h"

namespace tidemark::bench {

// Runs the main job's program `demo` (examples/credit_desk) without kills and reads its report.
absl::StatusOr<std::vector<Result>> RunFreshness(const std::string& demo,
                                                 const std::string& bin_dir,
                                                 const std::string& work_dir);

}  // namespace tidemark::bench

#endif  // TIDEMARK_BENCH_FRESHNESS_BENCH_H_
