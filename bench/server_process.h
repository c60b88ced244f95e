// tidemarkd (or the empty yardstick server) under measurement.
#ifndef TIDEMARK_BENCH_SERVER_PROCESS_H_
#define TIDEMARK_BENCH_SERVER_PROCESS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bench/child.h"

namespace tidemark::bench {

struct ServerProcess {
  std::unique_ptr<Child> child;
  std::string target;
  double start_seconds = 0;  // from exec to serving
};

// Caches tidemarkd is started with; memory is judged against their sum.
inline constexpr size_t kBlockCacheBytes = size_t{256} << 20;
inline constexpr size_t kRowCacheBytes = size_t{512} << 20;

// A data directory under `work_dir`/`name` whose store holds `rows` rows of table "rows".
absl::StatusOr<std::string> MakeDataDir(const std::string& work_dir, const std::string& name,
                                        uint64_t rows);
// tidemarkd over a directory of MakeDataDir. Its source points nowhere: reads do not need it.
absl::StatusOr<ServerProcess> StartTidemarkd(const std::string& bin_dir,
                                             const std::string& data_dir);
absl::StatusOr<ServerProcess> StartEmptyServer(const std::string& bin_dir,
                                               const std::string& work_dir, uint64_t bytes);

}  // namespace tidemark::bench

#endif  // TIDEMARK_BENCH_SERVER_PROCESS_H_
