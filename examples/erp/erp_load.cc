// erp_load: keeps the sample system of record busy with real transactions.
//
//   erp_load --dsn=... --init            create the schema and the first rows, then exit
//   erp_load --dsn=... --rate=300        run until SIGTERM, then print what was committed
//
// Survives the database going away: a transaction whose outcome is unknown is simply not counted.
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "examples/erp/database.h"
#include "examples/erp/workload.h"

ABSL_FLAG(std::string, dsn, "", "libpq connection string of the database");
ABSL_FLAG(std::string, schema, "", "SQL file run by --init");
ABSL_FLAG(bool, init, false, "create schema and first rows, then exit");
ABSL_FLAG(uint64_t, seed, 1, "the same seed gives the same transactions per worker");
ABSL_FLAG(int, customers, 2000, "customers created up front");
ABSL_FLAG(double, rate, 300, "transactions per second, all workers together");
ABSL_FLAG(int, workers, 4, "connections that commit side by side");

namespace tidemark::examples {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

// Tells the workers when to stop, and lets them wait for their next turn.
class Stopper {
 public:
  void Stop() {
    MutexLock lock(mutex_);
    stopped_ = true;
    condition_.NotifyAll();
  }
  // False when it is time to stop.
  bool WaitUntil(SteadyTime time) {
    MutexLock lock(mutex_);
    while (!stopped_ && condition_.WaitUntil(mutex_, time)) {
    }
    return !stopped_;
  }

 private:
  Mutex mutex_;
  CondVar condition_;
  bool stopped_ TIDEMARK_GUARDED_BY(mutex_) = false;
};

struct Totals {
  std::atomic<uint64_t> committed{0};
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> reconnects{0};
};

// Commits one worker's share of the rate. A slow database delays transactions; it does not make
// them come in a burst afterwards.
void RunWorker(int worker, Stopper& stopper, Totals& totals) {
  Workload workload({.seed = absl::GetFlag(FLAGS_seed),
                     .customers = absl::GetFlag(FLAGS_customers),
                     .worker = worker});
  const std::chrono::nanoseconds gap(
      static_cast<int64_t>(1e9 * absl::GetFlag(FLAGS_workers) / absl::GetFlag(FLAGS_rate)));
  std::optional<Database> database;
  SteadyTime next = std::chrono::steady_clock::now() + worker * gap / absl::GetFlag(FLAGS_workers);
  while (stopper.WaitUntil(next)) {
    const SteadyTime now = std::chrono::steady_clock::now();
    next = std::max(next + gap, now - std::chrono::milliseconds(50));
    if (!database.has_value()) {
      auto connected = Database::Connect(absl::GetFlag(FLAGS_dsn), 2);
      if (!connected.ok()) {
        next = now + std::chrono::milliseconds(200);
        continue;
      }
      database.emplace(*std::move(connected));
      ++totals.reconnects;
    }
    const auto done = database->Run(workload.NextTransaction());
    if (done.ok()) {
      ++totals.committed;
    } else if (absl::IsAborted(done.status())) {
      ++totals.refused;
      if (!database->Run("ROLLBACK").ok()) database.reset();
    } else {
      database.reset();
    }
  }
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "erp_load: %s\n", status.ToString().c_str());
  return 1;
}

int Init() {
  std::ifstream file(absl::GetFlag(FLAGS_schema));
  std::stringstream schema;
  schema << file.rdbuf();
  if (!file) {
    return Fail(absl::NotFoundError(absl::StrCat("cannot read ", absl::GetFlag(FLAGS_schema))));
  }
  auto database = Database::Connect(absl::GetFlag(FLAGS_dsn));
  if (!database.ok()) return Fail(database.status());
  if (auto done = database->Run(schema.str()); !done.ok()) return Fail(done.status());
  for (const std::string& statement : InitialStatements(
           {.seed = absl::GetFlag(FLAGS_seed), .customers = absl::GetFlag(FLAGS_customers)})) {
    if (auto done = database->Run(statement); !done.ok()) return Fail(done.status());
  }
  return 0;
}

int Load() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const int stop_fd = signalfd(-1, &signals, SFD_CLOEXEC);
  Stopper stopper;
  Totals totals;
  std::vector<std::thread> workers;
  for (int i = 0; i < absl::GetFlag(FLAGS_workers); ++i) {
    workers.emplace_back([i, &stopper, &totals] { RunWorker(i, stopper, totals); });
  }
  pollfd waiting{stop_fd, POLLIN, 0};
  while (poll(&waiting, 1, -1) < 1) {
  }
  stopper.Stop();
  for (std::thread& worker : workers) worker.join();
  close(stop_fd);
  std::printf("{\"committed\":%llu,\"refused\":%llu,\"connections\":%llu}\n",
              static_cast<unsigned long long>(totals.committed.load()),
              static_cast<unsigned long long>(totals.refused.load()),
              static_cast<unsigned long long>(totals.reconnects.load()));
  return 0;
}

}  // namespace
}  // namespace tidemark::examples

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return absl::GetFlag(FLAGS_init) ? tidemark::examples::Init() : tidemark::examples::Load();
}
