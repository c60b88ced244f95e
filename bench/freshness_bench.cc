#include "bench/freshness_bench.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "bench/child.h"

namespace tidemark::bench {

absl::StatusOr<std::vector<Result>> RunFreshness(const std::string& demo,
                                                 const std::string& bin_dir,
                                                 const std::string& work_dir) {
  const std::string dir = work_dir + "/freshness";
  const std::string log = work_dir + "/freshness.log";
  Child child({demo, "--once", "--bin-dir=" + bin_dir, "--work-dir=" + dir, "--rate=1000",
               "--samples=10000", "--cycles=0"},
              log);
  if (const int code = child.Wait(); code != 0) {
    return absl::UnavailableError(absl::StrCat(demo, " ended with ", code, "; see ", log));
  }
  std::ifstream file(dir + "/report.json");
  const auto report = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  const auto freshness = report.is_object() ? report.find("freshness_ms") : report.end();
  if (!report.is_object() || freshness == report.end()) {
    return absl::InternalError(absl::StrCat("no freshness_ms in ", dir, "/report.json"));
  }
  const double p50 = freshness->value("p50", 0.0);
  const double p99 = freshness->value("p99", 0.0);
  return std::vector<Result>{
      {"P11 p50", "commit at the ERP to a watcher, 1,000 tx/s", "ms", 0, p50, p50, 25, true, ""},
      {"P11 p99", "commit at the ERP to a watcher, 1,000 tx/s", "ms", 0, p99, p99, 250, true, ""}};
}

}  // namespace tidemark::bench
