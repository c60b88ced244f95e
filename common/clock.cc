#include "common/clock.h"

#include "absl/time/clock.h"

namespace tidemark {
namespace {

class ProcessClock final : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }
};

}  // namespace

const Clock& SystemClock() {
  static const ProcessClock clock;
  return clock;
}

}  // namespace tidemark
