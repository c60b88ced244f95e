// Deadlines of everything that waits, on one thread.
#ifndef TIDEMARK_SERVER_TIMER_QUEUE_H_
#define TIDEMARK_SERVER_TIMER_QUEUE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "common/mutex.h"

namespace tidemark {

// Thread-safe.
class TimerQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Names a timer of one queue; never reused. 0 is none.
  using Id = uint64_t;

  TimerQueue();
  // Stops.
  ~TimerQueue();
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  // Calls `callback` once, on the queue's thread, at `when` or as soon as it can afterwards. It
  // must be quick and must not throw; it may Add and Cancel. Returns 0, and destroys the callback
  // uncalled, after Stop and for `when` = Time::max().
  Id Add(Time when, std::function<void()> callback) TIDEMARK_EXCLUDES(mutex_);

  // Takes the timer out and destroys its callback. Does not wait for a callback that has begun: a
  // callback owns what it touches. No effect for a timer that is gone.
  void Cancel(Id id) TIDEMARK_EXCLUDES(mutex_);

  // Destroys what is waiting, uncalled; joins. Idempotent.
  void Stop() TIDEMARK_EXCLUDES(mutex_);

  size_t size() const TIDEMARK_EXCLUDES(mutex_);

 private:
  void Run() TIDEMARK_EXCLUDES(mutex_);

  mutable Mutex mutex_;
  CondVar changed_;
  bool stopping_ TIDEMARK_GUARDED_BY(mutex_) = false;
  bool joined_ TIDEMARK_GUARDED_BY(mutex_) = false;
  Id next_id_ TIDEMARK_GUARDED_BY(mutex_) = 1;
  std::map<std::pair<Time, Id>, std::function<void()>> timers_ TIDEMARK_GUARDED_BY(mutex_);
  std::map<Id, Time> due_ TIDEMARK_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TIMER_QUEUE_H_
