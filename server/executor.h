// A fixed set of threads behind a bounded queue, for work that may block or take long: gRPC's own
// threads never do either.
#ifndef TIDEMARK_SERVER_EXECUTOR_H_
#define TIDEMARK_SERVER_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "common/mutex.h"

namespace tidemark {

// Thread-safe.
class Executor {
 public:
  struct Options {
    std::string name = "executor";  // shown by debuggers, and as `queue` in OVERLOADED
    size_t threads = 2;             // >= 1
    size_t max_queued = 1000;       // waiting beside what runs
  };

  explicit Executor(Options options);
  // Stops.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Queues `work`, which must not throw. Never waits: OVERLOADED with a delay to retry after when
  // the queue is full, SHUTTING_DOWN after Stop; `work` is then destroyed unrun.
  absl::Status Submit(std::function<void()> work) TIDEMARK_EXCLUDES(mutex_);

  // Takes no more work, runs what is queued, joins. Idempotent.
  void Stop() TIDEMARK_EXCLUDES(mutex_);

  size_t queued() const TIDEMARK_EXCLUDES(mutex_);

 private:
  void Run() TIDEMARK_EXCLUDES(mutex_);

  const Options options_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool stopping_ TIDEMARK_GUARDED_BY(mutex_) = false;
  bool joined_ TIDEMARK_GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> queue_ TIDEMARK_GUARDED_BY(mutex_);

  std::vector<std::thread> threads_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_EXECUTOR_H_
