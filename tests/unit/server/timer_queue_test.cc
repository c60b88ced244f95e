#include "server/timer_queue.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;

// What fired, in order.
class Fired {
 public:
  void Add(int what) {
    MutexLock lock(mutex_);
    order_.push_back(what);
    changed_.NotifyAll();
  }
  std::vector<int> Await(size_t count) {
    MutexLock lock(mutex_);
    while (order_.size() < count) changed_.Wait(mutex_);
    return order_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<int> order_ TIDEMARK_GUARDED_BY(mutex_);
};

TEST(TimerQueueTest, FiresInOrderOfTimeNotOfAdding) {
  Fired fired;
  TimerQueue timers;
  const auto now = steady_clock::now();
  timers.Add(now + milliseconds(30), [&fired] { fired.Add(3); });
  timers.Add(now + milliseconds(10), [&fired] { fired.Add(1); });
  timers.Add(now + milliseconds(20), [&fired] { fired.Add(2); });
  EXPECT_THAT(fired.Await(3), ElementsAre(1, 2, 3));
  EXPECT_GE(steady_clock::now(), now + milliseconds(30));
  EXPECT_EQ(timers.size(), 0u);
}

TEST(TimerQueueTest, ATimeInThePastFiresAtOnce) {
  Fired fired;
  TimerQueue timers;
  timers.Add(steady_clock::now() - hours(1), [&fired] { fired.Add(1); });
  EXPECT_THAT(fired.Await(1), ElementsAre(1));
}

TEST(TimerQueueTest, ACancelledTimerNeverFiresAndLetsGoOfItsCallback) {
  Fired fired;
  TimerQueue timers;
  const auto now = steady_clock::now();
  auto held = std::make_shared<int>(0);
  const auto id = timers.Add(now + milliseconds(5), [&fired, held] { fired.Add(1); });
  timers.Cancel(id);
  EXPECT_EQ(held.use_count(), 1);
  timers.Cancel(id);
  timers.Add(now + milliseconds(10), [&fired] { fired.Add(2); });
  EXPECT_THAT(fired.Await(1), ElementsAre(2));
}

TEST(TimerQueueTest, ACallbackMayAddAndCancel) {
  Fired fired;
  TimerQueue timers;
  const auto far = timers.Add(steady_clock::now() + hours(1), [&fired] { fired.Add(9); });
  timers.Add(steady_clock::now(), [&] {
    timers.Cancel(far);
    timers.Add(steady_clock::now(), [&fired] { fired.Add(1); });
  });
  EXPECT_THAT(fired.Await(1), ElementsAre(1));
  EXPECT_EQ(timers.size(), 0u);
}

TEST(TimerQueueTest, StopDropsWhatWaitsAndTakesNoMore) {
  TimerQueue timers;
  auto held = std::make_shared<int>(0);
  timers.Add(steady_clock::now() + hours(1), [held] { FAIL(); });
  timers.Stop();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(timers.Add(steady_clock::now(), [] { FAIL(); }), 0u);
  timers.Stop();
}

TEST(TimerQueueTest, NeverIsNoTimer) {
  TimerQueue timers;
  EXPECT_EQ(timers.Add(TimerQueue::Time::max(), [] { FAIL(); }), 0u);
  EXPECT_EQ(timers.size(), 0u);
}

}  // namespace
}  // namespace tidemark
