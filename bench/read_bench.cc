#include "bench/read_bench.h"

#include <functional>
#include <utility>

#include "bench/load_generator.h"
#include "bench/server_process.h"
#include "common/error.h"
#include "tidemark/v1/state_service.pb.h"

namespace tidemark::bench {
namespace {

constexpr char kGetRow[] = "/tidemark.v1.StateService/GetRow";
constexpr char kBatchGetRows[] = "/tidemark.v1.StateService/BatchGetRows";

// A fixed mixing of the call's number: uniform over the rows and the same for every server.
uint64_t Mix(uint64_t n) {
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ULL;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebULL;
  return n ^ (n >> 31);
}

std::string GetRowRequestBytes(int64_t id) {
  v1::GetRowRequest request;
  request.set_table("rows");
  request.add_key()->set_int_value(id);
  return request.SerializeAsString();
}

// Present keys are 0 .. rows-1; absent ones lie right beyond, in the same key range.
std::function<std::string(uint64_t)> PresentKeys(uint64_t rows, uint64_t salt) {
  return [rows, salt](uint64_t n) {
    return GetRowRequestBytes(static_cast<int64_t>(Mix(n + salt) % rows));
  };
}
std::function<std::string(uint64_t)> AbsentKeys(uint64_t rows, uint64_t salt) {
  return [rows, salt](uint64_t n) {
    return GetRowRequestBytes(-1 - static_cast<int64_t>(Mix(n + salt) % rows));
  };
}

// Every row once, so that what is measured is a server that has been at work for a while.
absl::Status WarmUp(const ServerProcess& server, uint64_t rows) {
  constexpr uint64_t kRowsOfACall = 1000;
  return RunLoad({.target = server.target,
                  .method = kBatchGetRows,
                  .request =
                      [](uint64_t n) {
                        v1::BatchGetRowsRequest request;
                        for (uint64_t i = 0; i < kRowsOfACall; ++i) {
                          v1::RowRef* ref = request.add_refs();
                          ref->set_table("rows");
                          ref->add_key()->set_int_value(static_cast<int64_t>(n * kRowsOfACall + i));
                        }
                        return request.SerializeAsString();
                      },
                  .in_flight = 4,
                  .calls = rows / kRowsOfACall})
      .status();
}

struct Measured {
  double cpu_us = 0;  // of the server, per call
  double per_second = 0;
  uint64_t response_bytes = 0;
};

absl::StatusOr<Measured> Measure(const ServerProcess& server, uint64_t calls,
                                 std::function<std::string(uint64_t)> request) {
  const double cpu = server.child->cpu_seconds();
  TIDEMARK_ASSIGN_OR_RETURN(const LoadResult load, RunLoad({.target = server.target,
                                                            .method = kGetRow,
                                                            .request = std::move(request),
                                                            .calls = calls}));
  return Measured{(server.child->cpu_seconds() - cpu) * 1e6 / static_cast<double>(load.calls),
                  load.calls_per_second(), load.response_bytes};
}

// Rounds of two measurements in turn; every figure is the median over the rounds.
struct Pairs {
  std::vector<double> ours_cpu, peer_cpu, cpu_ratio, ours_rate, peer_rate, rate_ratio;

  void Add(const Measured& ours, const Measured& peer) {
    ours_cpu.push_back(ours.cpu_us);
    peer_cpu.push_back(peer.cpu_us);
    cpu_ratio.push_back(ours.cpu_us / peer.cpu_us);
    ours_rate.push_back(ours.per_second);
    peer_rate.push_back(peer.per_second);
    rate_ratio.push_back(ours.per_second / peer.per_second);
  }
  Result Cpu(std::string id, std::string what, double bar) const {
    return {std::move(id),
            std::move(what),
            "us of server CPU per call",
            Median(peer_cpu),
            Median(ours_cpu),
            Median(cpu_ratio),
            bar,
            true,
            ""};
  }
  Result Rate(std::string id, std::string what, double bar) const {
    return {std::move(id),
            std::move(what),
            "calls/s",
            Median(peer_rate),
            Median(ours_rate),
            Median(rate_ratio),
            bar,
            false,
            ""};
  }
};

}  // namespace

absl::StatusOr<std::vector<Result>> RunPointReads(const ReadBenchOptions& options) {
  TIDEMARK_ASSIGN_OR_RETURN(const std::string dir,
                            MakeDataDir(options.work_dir, "reads", options.rows));
  TIDEMARK_ASSIGN_OR_RETURN(ServerProcess tidemarkd, StartTidemarkd(options.bin_dir, dir));
  TIDEMARK_RETURN_IF_ERROR(WarmUp(tidemarkd, options.rows));
  // The first answer tells how many bytes the empty handler has to return.
  TIDEMARK_ASSIGN_OR_RETURN(const Measured warm,
                            Measure(tidemarkd, options.calls, PresentKeys(options.rows, 1 << 30)));
  TIDEMARK_ASSIGN_OR_RETURN(ServerProcess empty, StartEmptyServer(options.bin_dir, options.work_dir,
                                                                  warm.response_bytes));
  TIDEMARK_RETURN_IF_ERROR(
      Measure(empty, options.calls, PresentKeys(options.rows, 1 << 30)).status());
  Pairs against_empty;
  Pairs absent;
  for (int round = 0; round < options.rounds; ++round) {
    const uint64_t salt = static_cast<uint64_t>(round) * options.calls;
    TIDEMARK_ASSIGN_OR_RETURN(const Measured ours,
                              Measure(tidemarkd, options.calls, PresentKeys(options.rows, salt)));
    TIDEMARK_ASSIGN_OR_RETURN(const Measured peer,
                              Measure(empty, options.calls, PresentKeys(options.rows, salt)));
    TIDEMARK_ASSIGN_OR_RETURN(const Measured none,
                              Measure(tidemarkd, options.calls, AbsentKeys(options.rows, salt)));
    against_empty.Add(ours, peer);
    absent.Add(none, ours);
  }
  return std::vector<Result>{
      against_empty.Cpu("P1 cpu", "GetRow latest against an empty handler, server CPU", 1.5),
      against_empty.Rate("P1 rate", "GetRow latest against an empty handler, throughput", 0.7),
      absent.Cpu("P4", "absent key against present key, server CPU", 1.1)};
}

absl::StatusOr<std::vector<Result>> RunGrowth(const ReadBenchOptions& options) {
  TIDEMARK_ASSIGN_OR_RETURN(const std::string small_dir,
                            MakeDataDir(options.work_dir, "small", options.small_rows));
  TIDEMARK_ASSIGN_OR_RETURN(const std::string large_dir,
                            MakeDataDir(options.work_dir, "large", options.large_rows));
  std::vector<double> small_start;
  std::vector<double> large_start;
  std::vector<double> start_ratio;
  ServerProcess small;
  ServerProcess large;
  for (int round = 0; round < options.rounds; ++round) {
    small.child.reset();
    large.child.reset();
    TIDEMARK_ASSIGN_OR_RETURN(small, StartTidemarkd(options.bin_dir, small_dir));
    TIDEMARK_ASSIGN_OR_RETURN(large, StartTidemarkd(options.bin_dir, large_dir));
    small_start.push_back(small.start_seconds);
    large_start.push_back(large.start_seconds);
    start_ratio.push_back(large.start_seconds / small.start_seconds);
  }
  Pairs growth;
  for (int round = -1; round < options.rounds; ++round) {  // the first one warms up
    const uint64_t salt = static_cast<uint64_t>(round + 1) * options.calls;
    TIDEMARK_ASSIGN_OR_RETURN(const Measured peer,
                              Measure(small, options.calls, PresentKeys(options.small_rows, salt)));
    TIDEMARK_ASSIGN_OR_RETURN(const Measured ours,
                              Measure(large, options.calls, PresentKeys(options.large_rows, salt)));
    if (round >= 0) growth.Add(ours, peer);
  }
  const double peak = static_cast<double>(large.child->peak_bytes()) / (1 << 20);
  const double caches = static_cast<double>(kBlockCacheBytes + kRowCacheBytes) / (1 << 20);
  return std::vector<Result>{
      growth.Cpu("P12 reads", "GetRow at 10 M rows against 100 k, server CPU", 1.5),
      {"P12 start", "start with 10 M rows against 100 k", "s until serving", Median(small_start),
       Median(large_start), Median(start_ratio), 1.5, true, ""},
      {"P13", "peak memory at 10 M rows, above the caches", "MB", caches, peak, peak - caches, 500,
       true, "ratio = MB above the configured caches"}};
}

}  // namespace tidemark::bench
