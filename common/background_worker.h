// A thread that belongs to an object: it runs a piece of work every so often, or when it is
// triggered, and is joined when its owner goes.
//
// Declare it last in its owner: members go in reverse order, so the thread is gone before anything
// its work touches.
//
// Example:
//   class Pinger {
//     ...
//     Prober prober_;
//     BackgroundWorker worker_{{.name = "probe", .period = absl::Seconds(1)}, [this] {
//     prober_.Probe(); }};
//   };
#ifndef TIDEMARK_COMMON_BACKGROUND_WORKER_H_
#define TIDEMARK_COMMON_BACKGROUND_WORKER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "common/mutex.h"

namespace tidemark {

// Thread-safe.
class BackgroundWorker {
 public:
  struct Options {
    // Shown by debuggers and ps; the kernel keeps the first 15 bytes.
    std::string name;
    // From the end of one round to the start of the next, > 0. Infinite: only triggers start a
    // round.
    absl::Duration period = absl::InfiniteDuration();
  };

  // Starts the thread; the first round waits for the period or a trigger like every other. `work`
  // must not throw and must not call Stop or Step; a round that can take long asks `stopping()` now
  // and then and returns early.
  BackgroundWorker(Options options, std::function<void()> work);
  // Stops.
  ~BackgroundWorker();
  BackgroundWorker(const BackgroundWorker&) = delete;
  BackgroundWorker& operator=(const BackgroundWorker&) = delete;

  // Starts a round as soon as the running one, if any, is done. Triggers that come before that
  // round starts are one trigger: what was there to do when Trigger was called is seen by a round
  // that starts after it. No effect after Stop.
  void Trigger() TIDEMARK_EXCLUDES(mutex_);

  // Triggers and waits for the round: true once a round that started after this call has ended,
  // false when the worker was stopped before. For tests and for commands that must see the work
  // done.
  bool Step() TIDEMARK_EXCLUDES(mutex_);

  // Lets the running round end, starts no other, joins. Idempotent; every caller returns only when
  // the thread is gone.
  void Stop() TIDEMARK_EXCLUDES(mutex_);

  // Whether Stop was called. Cheap enough for inner loops.
  bool stopping() const { return stopping_.load(std::memory_order_relaxed); }

 private:
  void Run() TIDEMARK_EXCLUDES(mutex_);
  // Waits for a reason to start a round; false when stopping.
  bool AwaitRound() TIDEMARK_EXCLUDES(mutex_);

  // Constant after construction.
  const Options options_;
  const std::function<void()> work_;

  // Has its own synchronization. Written under mutex_, so that no waiter misses it.
  std::atomic<bool> stopping_{false};

  Mutex mutex_;
  CondVar changed_;
  bool triggered_ TIDEMARK_GUARDED_BY(mutex_) = false;
  bool joined_ TIDEMARK_GUARDED_BY(mutex_) = false;
  uint64_t rounds_started_ TIDEMARK_GUARDED_BY(mutex_) = 0;
  uint64_t rounds_ended_ TIDEMARK_GUARDED_BY(mutex_) = 0;

  std::thread thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_BACKGROUND_WORKER_H_
