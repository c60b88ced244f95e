// tidemark_bench: every yardstick with its peer in the same run, as one table and as JSON.
//
//   ./dev bench                       everything (about half an hour)
//   ./dev bench --only=P1,P4          some of it
//   ./dev bench --json=FILE           the same as JSON
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "bench/freshness_bench.h"
#include "bench/ingest_bench.h"
#include "bench/read_bench.h"
#include "bench/report.h"

ABSL_FLAG(std::string, json, "", "file the results are written to as JSON");
ABSL_FLAG(std::string, only, "",
          "figures wanted, separated by commas: P1, P4, P10, P11, P12, P13; empty = all");
ABSL_FLAG(std::string, work_dir, "build/bench",
          "stores and logs; what the benchmark made is removed");
ABSL_FLAG(std::string, bin_dir, "",
          "where tidemarkd and empty_server are; empty = beside this program");
ABSL_FLAG(std::string, demo, "examples/credit_desk/demo", "the main job's program, for P11");
ABSL_FLAG(uint64_t, rows, 1000000, "rows of P1 and P4");
ABSL_FLAG(uint64_t, large_rows, 10000000, "rows of P12 and P13");
ABSL_FLAG(uint64_t, calls, 40000, "calls of one measured round");
ABSL_FLAG(int, rounds, 5, "interleaved rounds; the median is reported");

namespace tidemark::bench {
namespace {

struct Part {
  std::vector<std::string> figures;
  std::function<absl::StatusOr<std::vector<Result>>()> run;
};

bool Wanted(const Part& part) {
  if (absl::GetFlag(FLAGS_only).empty()) return true;
  const std::vector<std::string> wanted = absl::StrSplit(absl::GetFlag(FLAGS_only), ',');
  for (const std::string& figure : wanted) {
    for (const std::string& name : part.figures) {
      if (name == figure) return true;
    }
  }
  return false;
}

int Main(const std::string& program) {
  ReadBenchOptions reads;
  reads.bin_dir = absl::GetFlag(FLAGS_bin_dir);
  if (reads.bin_dir.empty()) reads.bin_dir = std::filesystem::path(program).parent_path().string();
  reads.work_dir = std::filesystem::absolute(absl::GetFlag(FLAGS_work_dir)).string();
  reads.rows = absl::GetFlag(FLAGS_rows);
  reads.large_rows = absl::GetFlag(FLAGS_large_rows);
  reads.calls = absl::GetFlag(FLAGS_calls);
  reads.rounds = absl::GetFlag(FLAGS_rounds);
  const std::vector<Part> parts = {
      {{"P1", "P4"}, [&reads] { return RunPointReads(reads); }},
      {{"P10"},
       [&reads]() -> absl::StatusOr<std::vector<Result>> {
         return RunIngest({.work_dir = reads.work_dir});
       }},
      {{"P11"},
       [&reads] { return RunFreshness(absl::GetFlag(FLAGS_demo), reads.bin_dir, reads.work_dir); }},
      {{"P12", "P13"}, [&reads] { return RunGrowth(reads); }},
  };
  std::filesystem::create_directories(reads.work_dir);
  std::vector<Result> results;
  int exit_code = 0;
  for (const Part& part : parts) {
    if (!Wanted(part)) continue;
    auto measured = part.run();
    if (!measured.ok()) {
      std::fprintf(stderr, "tidemark_bench: %s: %s\n", part.figures.front().c_str(),
                   measured.status().ToString().c_str());
      exit_code = 1;
      continue;
    }
    results.insert(results.end(), measured->begin(), measured->end());
    std::printf("%s\n", ToTable(*measured).c_str());
    std::fflush(stdout);
  }
  if (!absl::GetFlag(FLAGS_json).empty()) {
    std::ofstream(absl::GetFlag(FLAGS_json)) << ToJson(results);
  }
  return exit_code;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return tidemark::bench::Main(argv[0]);
}
