#include "common/background_worker.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace tidemark {
namespace {

// Opened once; Wait returns from then on.
class Gate {
 public:
  void Open() TIDEMARK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }
  void Wait() TIDEMARK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (!open_) changed_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool open_ TIDEMARK_GUARDED_BY(mutex_) = false;
};

TEST(BackgroundWorkerTest, RunsNothingUntilItIsTriggered) {
  std::atomic<int> rounds{0};
  BackgroundWorker worker({.name = "test"}, [&] { ++rounds; });
  EXPECT_EQ(rounds, 0);
  EXPECT_TRUE(worker.Step());
  EXPECT_EQ(rounds, 1);
  EXPECT_TRUE(worker.Step());
  EXPECT_EQ(rounds, 2);
}

TEST(BackgroundWorkerTest, RunsByItselfEveryPeriod) {
  Gate third_round;
  int rounds = 0;
  BackgroundWorker worker({.name = "test", .period = absl::Milliseconds(1)}, [&] {
    if (++rounds == 3) third_round.Open();
  });
  third_round.Wait();
}

TEST(BackgroundWorkerTest, TriggersDuringARoundMakeOneMoreRound) {
  Gate in_first, leave_first;
  std::atomic<int> rounds{0};
  BackgroundWorker worker({.name = "test"}, [&] {
    if (++rounds == 1) {
      in_first.Open();
      leave_first.Wait();
    }
  });
  worker.Trigger();
  in_first.Wait();
  for (int i = 0; i < 5; ++i) worker.Trigger();
  // Step waits for a round that starts after it, not for the one that runs.
  std::thread stepper([&] { EXPECT_TRUE(worker.Step()); });
  leave_first.Open();
  stepper.join();
  worker.Stop();
  EXPECT_GE(rounds, 2);
  EXPECT_LE(rounds, 3);  // the triggers' round, and the step's if it asked after that had started
}

TEST(BackgroundWorkerTest, StopLetsTheRoundEndAndStartsNoOther) {
  Gate in_round;
  std::atomic<int> ended{0};
  std::unique_ptr<BackgroundWorker> worker;
  worker = std::make_unique<BackgroundWorker>(BackgroundWorker::Options{.name = "test"}, [&] {
    in_round.Open();
    while (!worker->stopping()) std::this_thread::yield();
    ++ended;
  });
  worker->Trigger();
  in_round.Wait();
  worker->Trigger();
  worker->Stop();
  EXPECT_EQ(ended, 1);
  EXPECT_FALSE(worker->Step());
  worker->Trigger();
  worker->Stop();
  EXPECT_EQ(ended, 1);
}

TEST(BackgroundWorkerTest, EveryStopReturnsOnlyWhenTheThreadIsGone) {
  Gate in_round, leave_round;
  std::atomic<bool> ended{false};
  BackgroundWorker worker({.name = "test"}, [&] {
    in_round.Open();
    leave_round.Wait();
    ended = true;
  });
  worker.Trigger();
  in_round.Wait();
  std::vector<std::thread> stoppers;
  for (int i = 0; i < 4; ++i) {
    stoppers.emplace_back([&] {
      worker.Stop();
      EXPECT_TRUE(ended);
    });
  }
  leave_round.Open();
  for (std::thread& stopper : stoppers) stopper.join();
}

TEST(BackgroundWorkerDeathTest, TheWorkCannotStopItsOwnWorker) {
  EXPECT_DEATH(
      {
        std::unique_ptr<BackgroundWorker> worker;
        worker = std::make_unique<BackgroundWorker>(BackgroundWorker::Options{.name = "test"},
                                                    [&] { worker->Stop(); });
        worker->Step();
      },
      "check failed");
}

}  // namespace
}  // namespace tidemark
