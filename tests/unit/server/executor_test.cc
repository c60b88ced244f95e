#include "server/executor.h"

#include <atomic>
#include <memory>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tidemark {
namespace {

using testing::IsOk;
using testing::ReasonIs;

// Opens once; threads wait at it.
class Gate {
 public:
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }
  void Pass() {
    MutexLock lock(mutex_);
    while (!open_) changed_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool open_ TIDEMARK_GUARDED_BY(mutex_) = false;
};

TEST(ExecutorTest, RunsWhatIsSubmitted) {
  Executor executor({.threads = 2});
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) EXPECT_THAT(executor.Submit([&ran] { ++ran; }), IsOk());
  executor.Stop();
  EXPECT_EQ(ran, 100);
}

TEST(ExecutorTest, AFullQueueRefusesAtOnceAndSaysWhenToRetry) {
  Gate running;
  Gate release;
  Executor executor({.name = "reads", .threads = 1, .max_queued = 2});
  ASSERT_THAT(executor.Submit([&] {
    running.Open();
    release.Pass();
  }),
              IsOk());
  running.Pass();
  EXPECT_THAT(executor.Submit([] {}), IsOk());
  EXPECT_THAT(executor.Submit([] {}), IsOk());
  EXPECT_EQ(executor.queued(), 2u);
  const absl::Status refused = executor.Submit([] { FAIL() << "refused work must not run"; });
  EXPECT_THAT(refused, ReasonIs(Reason::kOverloaded));
  EXPECT_EQ(MetadataValue(refused, "queue"), "reads");
  EXPECT_TRUE(RetryAfterOf(refused).has_value());
  release.Open();
}

TEST(ExecutorTest, StopRunsWhatIsQueuedAndThenRefuses) {
  Gate release;
  std::atomic<int> ran{0};
  Executor executor({.threads = 1});
  ASSERT_THAT(executor.Submit([&release] { release.Pass(); }), IsOk());
  for (int i = 0; i < 10; ++i) ASSERT_THAT(executor.Submit([&ran] { ++ran; }), IsOk());
  release.Open();
  executor.Stop();
  EXPECT_EQ(ran, 10);
  EXPECT_THAT(executor.Submit([] {}), ReasonIs(Reason::kShuttingDown));
  executor.Stop();
}

TEST(ExecutorTest, RefusedWorkIsDestroyedOutsideTheLock) {
  Executor executor({.threads = 1});
  executor.Stop();
  // What it captured calls back into the executor when it goes.
  const auto guard = std::shared_ptr<void>(nullptr, [&executor](void*) { executor.queued(); });
  EXPECT_THAT(executor.Submit([guard] {}), ReasonIs(Reason::kShuttingDown));
}

}  // namespace
}  // namespace tidemark
