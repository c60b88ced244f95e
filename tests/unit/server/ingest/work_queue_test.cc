// The queue between sources and applier: bounded and ordered per source, fair between them.
#include "server/ingest/work_queue.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ingest/assembler.h"
#include "tests/support/status_matchers.h"

namespace tidemark::ingest {
namespace {

using tables::Datum;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::ReasonIs;
using testing::StatusIs;

Work MakeWork(const std::string& source, const std::string& position, size_t bytes = 0) {
  Work work;
  work.source = source;
  work.position = position;
  if (bytes > 0) {
    tables::RowEvent event;
    event.after = {Datum::Bytes(std::string(bytes, 'x'))};
    std::vector<tables::RowEvent> events;
    events.push_back(std::move(event));
    work.events = MakeEventList(std::move(events));
  }
  return work;
}

std::string TakePosition(WorkQueue& queue) {
  const auto taken = queue.Take();
  return taken ? taken->work.source + taken->work.position : "nothing";
}

TEST(WorkQueueTest, WorksComeOutInTheOrderTheyCame) {
  WorkQueue queue(1000, 10);
  EXPECT_EQ(TakePosition(queue), "nothing");
  EXPECT_THAT(queue.Push(MakeWork("a", "1")), IsOkAndHolds(0u));  // the applier may be asleep
  EXPECT_THAT(queue.Push(MakeWork("b", "1")), IsOkAndHolds(1u));
  EXPECT_THAT(queue.Push(MakeWork("a", "2")), IsOkAndHolds(2u));
  EXPECT_EQ(queue.works(), 3u);
  EXPECT_EQ(TakePosition(queue), "a1");
  EXPECT_EQ(TakePosition(queue), "b1");
  EXPECT_EQ(TakePosition(queue), "a2");
  EXPECT_EQ(TakePosition(queue), "nothing");
  EXPECT_THAT(queue.Push(MakeWork("a", "3")), IsOkAndHolds(0u));
}

TEST(WorkQueueTest, UnfinishedWorkStaysFirstOfItsSourceAndLetsOthersPass) {
  WorkQueue queue(1000, 10);
  for (const char* position : {"1", "2"}) {
    ASSERT_THAT(queue.Push(MakeWork("a", position)), IsOk());
    ASSERT_THAT(queue.Push(MakeWork("b", position)), IsOk());
  }
  auto sweep = queue.Take();
  sweep->place.cursor = "half";
  queue.PutBack(*std::move(sweep));
  EXPECT_EQ(TakePosition(queue), "b1");
  EXPECT_EQ(TakePosition(queue), "b2");
  sweep = queue.Take();
  EXPECT_EQ(sweep->work.position, "1");
  EXPECT_EQ(sweep->place.cursor, "half");
  EXPECT_EQ(TakePosition(queue), "a2");
}

// A thread that pushes and says so; whether it waits is seen from what it did before.
class Pusher {
 public:
  Pusher(WorkQueue& queue, Work work)
      : thread_([this, &queue, work = std::make_shared<Work>(std::move(work))] {
          result_ = queue.Push(std::move(*work)).status();
          pushed_ = true;
        }) {}
  bool pushed() const { return pushed_; }
  absl::Status Join() {
    thread_.join();
    return result_;
  }

 private:
  std::atomic<bool> pushed_{false};
  absl::Status result_;
  std::thread thread_;
};

TEST(WorkQueueTest, FullLaneByNumberWaitsUntilOneIsTaken) {
  WorkQueue queue(1000, 2);
  ASSERT_THAT(queue.Push(MakeWork("a", "1")), IsOk());
  ASSERT_THAT(queue.Push(MakeWork("a", "2")), IsOk());
  Pusher pusher(queue, MakeWork("a", "3"));
  EXPECT_THAT(queue.Push(MakeWork("b", "1")), IsOk());  // another source is not held up
  EXPECT_EQ(queue.works(), 3u);
  EXPECT_FALSE(pusher.pushed());
  EXPECT_EQ(TakePosition(queue), "a1");
  EXPECT_THAT(pusher.Join(), IsOk());
  EXPECT_EQ(TakePosition(queue), "a2");
  EXPECT_EQ(TakePosition(queue), "b1");
  EXPECT_EQ(TakePosition(queue), "a3");
}

TEST(WorkQueueTest, FullLaneByBytesWaitsUntilThereIsRoom) {
  WorkQueue queue(5000, 100);
  ASSERT_THAT(queue.Push(MakeWork("a", "1", 3000)), IsOk());
  EXPECT_GE(queue.bytes(), 3000u);
  Pusher pusher(queue, MakeWork("a", "2", 3000));
  ASSERT_THAT(queue.Push(MakeWork("b", "1", 3000)), IsOk());
  EXPECT_EQ(queue.works(), 2u);
  EXPECT_EQ(TakePosition(queue), "a1");
  EXPECT_THAT(pusher.Join(), IsOk());
  EXPECT_EQ(TakePosition(queue), "b1");
  EXPECT_EQ(TakePosition(queue), "a2");
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(WorkQueueTest, WorkLargerThanTheBoundPassesAlone) {
  WorkQueue queue(1000, 100);
  ASSERT_THAT(queue.Push(MakeWork("a", "1", 100000)), IsOk());
  Pusher pusher(queue, MakeWork("a", "2", 1));
  EXPECT_EQ(TakePosition(queue), "a1");
  EXPECT_THAT(pusher.Join(), IsOk());
}

TEST(WorkQueueTest, ErrorRefusesWhatFollowsUntilTheSourceRestarts) {
  WorkQueue queue(1000, 10);
  for (const char* position : {"1", "2", "3"}) {
    ASSERT_THAT(queue.Push(MakeWork("a", position)), IsOk());
    ASSERT_THAT(queue.Push(MakeWork("b", position)), IsOk());
  }
  const auto failed = queue.Take();
  EXPECT_THAT(failed->refusal, IsOk());
  queue.Refuse("a", failed->epoch, absl::DataLossError("bad"));
  EXPECT_THAT(queue.Push(MakeWork("a", "4")), StatusIs(absl::StatusCode::kDataLoss));
  queue.Restart("a");
  ASSERT_THAT(queue.Push(MakeWork("a", "1")), IsOk());
  std::vector<std::string> applied, refused;
  while (auto taken = queue.Take()) {
    (taken->refusal.ok() ? applied : refused).push_back(taken->work.source + taken->work.position);
  }
  EXPECT_THAT(applied, ::testing::ElementsAre("b1", "b2", "b3", "a1"));
  EXPECT_THAT(refused, ::testing::ElementsAre("a2", "a3"));
}

TEST(WorkQueueTest, ErrorOfAnOldEpochDoesNotRefuseTheNew) {
  WorkQueue queue(1000, 10);
  ASSERT_THAT(queue.Push(MakeWork("a", "1")), IsOk());
  const auto taken = queue.Take();
  queue.Restart("a");
  queue.Refuse("a", taken->epoch, absl::DataLossError("late"));
  EXPECT_THAT(queue.Push(MakeWork("a", "2")), IsOk());
  EXPECT_THAT(queue.Take()->refusal, IsOk());
}

TEST(WorkQueueTest, ErrorWakesWhoWaitsForRoom) {
  WorkQueue queue(1000, 1);
  ASSERT_THAT(queue.Push(MakeWork("a", "1")), IsOk());
  Pusher pusher(queue, MakeWork("a", "2"));
  queue.Refuse("a", 1, absl::DataLossError("bad"));
  EXPECT_THAT(pusher.Join(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(WorkQueueTest, CloseEndsWaitsAndLeavesWhatIsQueued) {
  WorkQueue queue(1000, 1);
  ASSERT_THAT(queue.Push(MakeWork("a", "1")), IsOk());
  Pusher pusher(queue, MakeWork("a", "2"));
  queue.Close();
  EXPECT_THAT(pusher.Join(), ReasonIs(Reason::kShuttingDown));
  EXPECT_THAT(queue.Push(MakeWork("b", "1")), ReasonIs(Reason::kShuttingDown));
  EXPECT_EQ(TakePosition(queue), "a1");
}

TEST(WorkQueueTest, ManySourcesPushAtOnceAndEachKeepsItsOrder) {
  constexpr int kSources = 4, kWorks = 2000;
  WorkQueue queue(100000, 7);
  std::vector<std::thread> pushers;
  for (int s = 0; s < kSources; ++s) {
    pushers.emplace_back([&queue, s] {
      for (int i = 0; i < kWorks; ++i) {
        EXPECT_THAT(queue.Push(MakeWork(std::to_string(s), std::to_string(i))), IsOk());
      }
    });
  }
  std::vector<int> next(kSources, 0);
  for (int taken = 0; taken < kSources * kWorks;) {
    EXPECT_LE(queue.works(), size_t{kSources * 7});
    const auto work = queue.Take();
    if (!work) {
      std::this_thread::yield();
      continue;
    }
    ++taken;
    const int source = std::stoi(work->work.source);
    ASSERT_EQ(std::stoi(work->work.position), next[source]++);
  }
  for (std::thread& pusher : pushers) pusher.join();
}

}  // namespace
}  // namespace tidemark::ingest
