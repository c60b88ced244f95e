// Progress: who is told what, and when. Time is a manual clock; nothing sleeps.
#include "server/ingest/progress.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/error.h"
#include "common/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tidemark::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::ReasonIs;

const absl::Time kStart = absl::FromUnixSeconds(1000);

class ProgressTest : public ::testing::Test {
 protected:
  // Appends what a callback gets to `calls`.
  Source::Callback Record(std::vector<absl::Status>& calls) {
    return [&calls](const absl::Status& status) { calls.push_back(status); };
  }
  void Probe(std::string_view head) {
    progress_.ProbeSent();
    progress_.ProbeAnswered(head);
  }

  ManualClock clock_{kStart};
  Progress progress_{"erp", clock_};
};

TEST_F(ProgressTest, PositionNeverMovesBackButByReset) {
  EXPECT_TRUE(progress_.IsPast(""));
  EXPECT_FALSE(progress_.IsPast("1"));
  progress_.AppliedUpTo("5");
  progress_.AppliedUpTo("3");
  EXPECT_EQ(progress_.applied_up_to(), "5");
  EXPECT_TRUE(progress_.IsPast("5"));
  EXPECT_FALSE(progress_.IsPast("6"));
  progress_.Reset();
  EXPECT_EQ(progress_.applied_up_to(), "");
  progress_.AppliedUpTo("2");
  EXPECT_EQ(progress_.applied_up_to(), "2");
}

TEST_F(ProgressTest, PositionsCompareAsUnsignedBytes) {
  progress_.AppliedUpTo("\x7f");
  EXPECT_FALSE(progress_.IsPast("\x80"));
  progress_.AppliedUpTo("\x80");
  EXPECT_TRUE(progress_.IsPast("\x80"));
  EXPECT_TRUE(progress_.IsPast("\x7f"));
}

TEST_F(ProgressTest, WaitEndsOnceWhenEverythingBeforeThePositionIsApplied) {
  std::vector<absl::Status> calls;
  const auto handle = progress_.WhenPast("3", Record(calls));
  progress_.AppliedUpTo("2");
  EXPECT_THAT(calls, IsEmpty());
  progress_.AppliedUpTo("4");
  EXPECT_THAT(calls, ElementsAre(IsOk()));
  progress_.AppliedUpTo("5");
  EXPECT_THAT(calls, ElementsAre(IsOk()));
}

TEST_F(ProgressTest, WaitForWhatIsAppliedEndsAtOnce) {
  progress_.AppliedUpTo("3");
  std::vector<absl::Status> calls;
  const auto handle = progress_.WhenPast("3", Record(calls));
  EXPECT_THAT(calls, ElementsAre(IsOk()));
}

TEST_F(ProgressTest, DestroyedHandleIsNeverCalled) {
  std::vector<absl::Status> calls;
  auto past = progress_.WhenPast("3", Record(calls));
  auto recent = progress_.WhenRecent(Record(calls));
  auto joined = progress_.WhenRecent(Record(calls));
  past.reset();
  recent.reset();
  progress_.ProbeSent();
  joined.reset();
  progress_.ProbeAnswered("2");
  progress_.AppliedUpTo("4");
  progress_.Stop();
  EXPECT_THAT(calls, IsEmpty());
}

TEST_F(ProgressTest, CallbackMayDestroyItsOwnHandle) {
  std::shared_ptr<void> handle;
  int calls = 0;
  handle = progress_.WhenPast("1", [&](const absl::Status&) {
    ++calls;
    handle.reset();
  });
  progress_.AppliedUpTo("1");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(handle, nullptr);
}

TEST_F(ProgressTest, CallbackMayAskAndWaitAgain) {
  std::vector<absl::Status> calls;
  std::shared_ptr<void> second;
  const auto first = progress_.WhenPast("1", [&](const absl::Status&) {
    EXPECT_EQ(progress_.applied_up_to(), "1");
    second = progress_.WhenPast("2", Record(calls));
  });
  progress_.AppliedUpTo("1");
  EXPECT_THAT(calls, IsEmpty());
  progress_.AppliedUpTo("2");
  EXPECT_THAT(calls, ElementsAre(IsOk()));
}

TEST_F(ProgressTest, F1_RecentJoinsTheNextProbeNotTheOneInFlight) {
  progress_.ProbeSent();  // what is committed from here on may be behind its head
  std::vector<absl::Status> calls;
  const auto handle = progress_.WhenRecent(Record(calls));
  progress_.ProbeAnswered("3");
  progress_.AppliedUpTo("3");
  EXPECT_THAT(calls, IsEmpty());
  progress_.ProbeSent();
  progress_.ProbeAnswered("4");
  EXPECT_THAT(calls, IsEmpty());
  progress_.AppliedUpTo("4");
  EXPECT_THAT(calls, ElementsAre(IsOk()));
}

TEST_F(ProgressTest, F1_FreshAsOfTheTimeTheProbeWasSentOnceItsHeadIsApplied) {
  EXPECT_EQ(progress_.fresh_as_of(), absl::InfinitePast());
  clock_.Advance(absl::Seconds(1));
  progress_.ProbeSent();
  clock_.Advance(absl::Seconds(1));
  progress_.ProbeAnswered("5");
  EXPECT_EQ(progress_.fresh_as_of(), absl::InfinitePast());
  clock_.Advance(absl::Seconds(1));
  progress_.AppliedUpTo("4");
  EXPECT_EQ(progress_.fresh_as_of(), absl::InfinitePast());
  progress_.AppliedUpTo("5");
  EXPECT_EQ(progress_.fresh_as_of(), kStart + absl::Seconds(1));
}

TEST_F(ProgressTest, IdleSourceIsFresh) {
  progress_.AppliedUpTo("5");
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(absl::Seconds(10));
    Probe("5");
    EXPECT_EQ(progress_.fresh_as_of(), clock_.Now());
  }
}

TEST_F(ProgressTest, KeepaliveMakesAnIdleSourceFresh) {
  Probe("7");  // other tables' changes moved the head; nothing of ours
  std::vector<absl::Status> calls;
  const auto handle = progress_.WhenPast("7", Record(calls));
  EXPECT_EQ(progress_.fresh_as_of(), absl::InfinitePast());
  progress_.AppliedUpTo("9");  // the keepalive's position
  EXPECT_EQ(progress_.fresh_as_of(), kStart);
  EXPECT_THAT(calls, ElementsAre(IsOk()));
}

TEST_F(ProgressTest, LaggingSourceIsAsFreshAsTheNewestHeadItReached) {
  for (char head = 'a'; head <= 'e'; ++head) {
    Probe(std::string(1, head));
    clock_.Advance(absl::Seconds(1));
  }
  progress_.AppliedUpTo("c");
  EXPECT_EQ(progress_.fresh_as_of(), kStart + absl::Seconds(2));
  Probe("e");  // the same head again: the later sending counts
  progress_.AppliedUpTo("e");
  EXPECT_EQ(progress_.fresh_as_of(), kStart + absl::Seconds(5));
}

TEST_F(ProgressTest, LongLagKeepsABoundedNumberOfHeadsAndTheNewest) {
  const int probes = 10000;
  const auto position = [](int i) { return std::to_string(100000 + i); };
  for (int i = 0; i < probes; ++i) {
    Probe(position(i));
    clock_.Advance(absl::Seconds(1));
  }
  absl::Time last = absl::InfinitePast();
  int steps = 0;
  for (int i = 0; i < probes; ++i) {
    progress_.AppliedUpTo(position(i));
    const absl::Time fresh = progress_.fresh_as_of();
    ASSERT_LE(fresh, kStart + absl::Seconds(i));  // never fresher than what is applied
    ASSERT_GE(fresh, last);
    steps += fresh > last;
    last = fresh;
  }
  EXPECT_EQ(last, kStart + absl::Seconds(probes - 1));
  EXPECT_GT(steps, 8);
  EXPECT_LE(steps, 65);
}

TEST_F(ProgressTest, FailedProbeIsToldToThoseWhoJoinedItOnly) {
  std::vector<absl::Status> joined, later;
  const auto first = progress_.WhenRecent(Record(joined));
  progress_.ProbeSent();
  const auto second = progress_.WhenRecent(Record(later));
  progress_.ProbeFailed(absl::UnavailableError("password=secret refused"));
  ASSERT_THAT(joined, ElementsAre(ReasonIs(Reason::kSourceUnavailable)));
  EXPECT_EQ(MetadataValue(joined[0], "source"), "erp");
  EXPECT_EQ(joined[0].message().find("secret"), absl::string_view::npos);
  EXPECT_THAT(later, IsEmpty());
  Probe("");
  EXPECT_THAT(later, ElementsAre(IsOk()));
}

TEST_F(ProgressTest, ResetIgnoresTheAnswerInFlightAndLetsItsWaitersJoinTheNext) {
  std::vector<absl::Status> reached, joined, past;
  const auto first = progress_.WhenRecent(Record(reached));
  Probe("9");
  const auto second = progress_.WhenRecent(Record(joined));
  const auto third = progress_.WhenPast("3", Record(past));
  progress_.ProbeSent();
  progress_.Reset();
  progress_.ProbeAnswered("");  // of the old history
  EXPECT_EQ(progress_.fresh_as_of(), absl::InfinitePast());
  EXPECT_THAT(joined, IsEmpty());
  progress_.AppliedUpTo("2");
  Probe("2");
  EXPECT_THAT(reached, ElementsAre(IsOk()));
  EXPECT_THAT(joined, ElementsAre(IsOk()));
  EXPECT_THAT(past, IsEmpty());
  progress_.AppliedUpTo("3");
  EXPECT_THAT(past, ElementsAre(IsOk()));
}

TEST_F(ProgressTest, StopEndsEveryWaitAndThoseThatCome) {
  std::vector<absl::Status> calls;
  const auto past = progress_.WhenPast("3", Record(calls));
  const auto joined = progress_.WhenRecent(Record(calls));
  progress_.ProbeSent();
  const auto next = progress_.WhenRecent(Record(calls));
  progress_.Stop();
  progress_.Stop();
  const auto shutting_down = ReasonIs(Reason::kShuttingDown);
  EXPECT_THAT(calls, ElementsAre(shutting_down, shutting_down, shutting_down));
  progress_.ProbeAnswered("3");
  progress_.AppliedUpTo("3");
  EXPECT_EQ(calls.size(), 3u);
  const auto late = progress_.WhenPast("4", Record(calls));
  const auto late_recent = progress_.WhenRecent(Record(calls));
  EXPECT_EQ(calls.size(), 5u);
  EXPECT_THAT(calls[3], shutting_down);
  EXPECT_THAT(calls[4], shutting_down);
  EXPECT_FALSE(progress_.WaitForProbe(absl::ZeroDuration(), absl::ZeroDuration()));
}

TEST_F(ProgressTest, HandlesOutliveTheProgress) {
  std::vector<absl::Status> calls;
  auto progress = std::make_unique<Progress>("erp", clock_);
  auto handle = progress->WhenPast("3", Record(calls));
  progress.reset();
  EXPECT_THAT(calls, ElementsAre(ReasonIs(Reason::kShuttingDown)));
  handle.reset();
}

TEST_F(ProgressTest, FirstProbeIsDueAtOnce) {
  EXPECT_TRUE(progress_.WaitForProbe(absl::InfiniteDuration(), absl::InfiniteDuration()));
}

TEST_F(ProgressTest, ProbesKeepTheirGapHoweverManyWait) {
  using Steady = std::chrono::steady_clock;
  progress_.ProbeSent();
  const auto sent = Steady::now();
  std::vector<absl::Status> calls;
  std::vector<std::shared_ptr<void>> handles;
  for (int i = 0; i < 1000; ++i) handles.push_back(progress_.WhenRecent(Record(calls)));
  progress_.ProbeAnswered("");
  EXPECT_TRUE(progress_.WaitForProbe(absl::InfiniteDuration(), absl::Milliseconds(20)));
  EXPECT_GE(Steady::now() - sent, std::chrono::milliseconds(19));
  progress_.ProbeSent();  // one probe serves all of them
  progress_.ProbeAnswered("");
  EXPECT_EQ(calls.size(), 1000u);
}

TEST_F(ProgressTest, ProbeComesSoonerWhenSomebodyWaits) {
  progress_.ProbeSent();
  progress_.ProbeAnswered("");
  std::atomic<bool> due{false};
  std::thread prober([&] {
    due = progress_.WaitForProbe(absl::InfiniteDuration(), absl::ZeroDuration());
    progress_.ProbeSent();
    progress_.ProbeAnswered("");
  });
  Mutex mutex;
  CondVar told;
  bool done = false;
  const auto handle = progress_.WhenRecent([&](const absl::Status&) {
    MutexLock lock(mutex);
    done = true;
    told.NotifyAll();
  });
  {
    MutexLock lock(mutex);
    while (!done) told.Wait(mutex);
  }
  prober.join();
  EXPECT_TRUE(due);
}

TEST_F(ProgressTest, StopWakesTheProber) {
  progress_.ProbeSent();
  std::thread prober([&] {
    EXPECT_FALSE(progress_.WaitForProbe(absl::InfiniteDuration(), absl::InfiniteDuration()));
  });
  progress_.Stop();
  prober.join();
}

// Destroying a handle while its callback runs elsewhere returns only after the callback is over:
// the caller may then free what the callback uses.
TEST_F(ProgressTest, DestroyingAHandleWaitsForItsCallInProgress) {
  Mutex mutex;
  CondVar changed;
  bool running = false, release = false, over = false;
  auto handle = progress_.WhenPast("1", [&](const absl::Status&) {
    MutexLock lock(mutex);
    running = true;
    changed.NotifyAll();
    while (!release) changed.Wait(mutex);
    over = true;
  });
  std::thread feeder([&] { progress_.AppliedUpTo("1"); });
  {
    MutexLock lock(mutex);
    while (!running) changed.Wait(mutex);
  }
  std::thread destroyer([&] {
    handle.reset();
    MutexLock lock(mutex);
    EXPECT_TRUE(over);
  });
  {
    MutexLock lock(mutex);
    release = true;
    changed.NotifyAll();
  }
  destroyer.join();
  feeder.join();
}

// Everything at once, for ThreadSanitizer: every wait ends exactly once or was cancelled.
TEST_F(ProgressTest, ManyThreadsWaitCancelAndFeed) {
  constexpr int kPositions = 500;
  const auto position = [](int i) { return std::to_string(1000 + i); };
  std::atomic<int> head{0}, ended{0}, cancelled{0}, wrong{0};
  std::thread prober([&] {
    while (progress_.WaitForProbe(absl::Milliseconds(1), absl::ZeroDuration())) {
      progress_.ProbeSent();
      progress_.ProbeAnswered(position(head.load()));
    }
  });
  std::thread feeder([&] {
    for (int i = 1; i <= kPositions; ++i) {
      head = i;
      progress_.AppliedUpTo(position(i));
    }
  });
  std::vector<std::thread> waiters;
  for (int t = 0; t < 4; ++t) {
    waiters.emplace_back([&, t] {
      for (int i = 1; i <= kPositions; ++i) {
        auto state = std::make_shared<std::atomic<int>>(0);
        const std::string wanted = position(i);
        auto callback = [&, state, wanted, recent = t % 2 == 0](const absl::Status& status) {
          if (!status.ok() || (!recent && !progress_.IsPast(wanted))) ++wrong;
          ++*state;
        };
        auto handle =
            t % 2 == 0 ? progress_.WhenRecent(callback) : progress_.WhenPast(wanted, callback);
        if (i % 3 != 0) {
          while (*state == 0) std::this_thread::yield();
        }
        handle.reset();
        const int calls = *state;
        if (calls > 1) ++wrong;
        ++(calls == 1 ? ended : cancelled);
      }
    });
  }
  for (std::thread& waiter : waiters) waiter.join();
  feeder.join();
  progress_.Stop();
  prober.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(ended + cancelled, 4 * kPositions);
}

}  // namespace
}  // namespace tidemark::ingest
