// The only lock of the project: std::mutex with clang's thread-safety annotations.
//
// Why not absl::Mutex: Debian's build of it makes ThreadSanitizer report races that are none.
//
// Example:
//   class Counter {
//    public:
//     void Add() TIDEMARK_EXCLUDES(mutex_) { MutexLock lock(mutex_); ++count_; }
//    private:
//     Mutex mutex_;
//     int count_ TIDEMARK_GUARDED_BY(mutex_) = 0;
//   };
#ifndef TIDEMARK_COMMON_MUTEX_H_
#define TIDEMARK_COMMON_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define TIDEMARK_ATTRIBUTE(x) __attribute__((x))
#else
#define TIDEMARK_ATTRIBUTE(x)
#endif
#define TIDEMARK_GUARDED_BY(m) TIDEMARK_ATTRIBUTE(guarded_by(m))
#define TIDEMARK_REQUIRES(...) TIDEMARK_ATTRIBUTE(exclusive_locks_required(__VA_ARGS__))
#define TIDEMARK_EXCLUDES(...) TIDEMARK_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define TIDEMARK_NO_THREAD_SAFETY_ANALYSIS TIDEMARK_ATTRIBUTE(no_thread_safety_analysis)

namespace tidemark {

class CondVar;

class TIDEMARK_ATTRIBUTE(lockable) Mutex {
 public:
  void Lock() TIDEMARK_ATTRIBUTE(exclusive_lock_function()) { mutex_.lock(); }
  void Unlock() TIDEMARK_ATTRIBUTE(unlock_function()) { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class TIDEMARK_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TIDEMARK_ATTRIBUTE(exclusive_lock_function(mutex))
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() TIDEMARK_ATTRIBUTE(unlock_function()) { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// A condition variable. Wait in a loop that re-checks the condition; the mutex must be held by the
// caller.
class CondVar {
 public:
  void Wait(Mutex& mutex) TIDEMARK_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

  // Returns false when `deadline` passed without a notification.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline)
      TIDEMARK_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool notified = condition_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return notified;
  }

  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds timeout) TIDEMARK_REQUIRES(mutex) {
    return WaitUntil(mutex, std::chrono::steady_clock::now() + timeout);
  }

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_MUTEX_H_
