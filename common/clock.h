// Time as a constructor argument: the system's clock in the server, a manual one in tests.
#ifndef TIDEMARK_COMMON_CLOCK_H_
#define TIDEMARK_COMMON_CLOCK_H_

#include <atomic>

#include "absl/time/time.h"

namespace tidemark {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Wall-clock time, for commit times, leases and logs. May jump; never used to measure a span.
  virtual absl::Time Now() const = 0;
};

// The process's wall clock. Lives as long as the process.
const Clock& SystemClock();

// A clock that moves only when told to.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(absl::Time start) : micros_(absl::ToUnixMicros(start)) {}
  absl::Time Now() const override { return absl::FromUnixMicros(micros_.load()); }
  void Advance(absl::Duration by) { micros_ += absl::ToInt64Microseconds(by); }

 private:
  std::atomic<int64_t> micros_;
};

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_CLOCK_H_
