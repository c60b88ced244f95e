// Promise F1: requirements that wait get what they ask for, or fail at the deadline with the lag.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "common/error.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/server/read_point_fixture.h"

namespace tidemark {
namespace {

using testing::IsOk;
using testing::ReasonIs;
using testing::StatusIs;

TEST_F(ReadPointTest, AtLeastWaitsForItsSnapshot) {
  const state::SnapshotId now = CommitOne();
  Answer next, later;
  const auto wait_next = Resolve(AtLeast(world_.Token(now + 1)), next);
  const auto wait_later = Resolve(AtLeast(world_.Token(now + 2)), later);
  ASSERT_NE(wait_next, nullptr);
  EXPECT_EQ(resolver_->waits(), 2u);
  CommitOne();
  EXPECT_EQ(next.Wait()->point.id, now + 1);
  EXPECT_EQ(later.count(), 0);
  CommitOne();
  EXPECT_EQ(later.Wait()->point.id, now + 2);
  EXPECT_EQ(resolver_->waits(), 0u);
  wait_next->Stop(StopReason::kDeadline);  // too late to matter
  EXPECT_EQ(next.count(), 1);
}

TEST_F(ReadPointTest, AtLeastFailsAtTheDeadlineWithCurrentSnapshotAndLag) {
  const state::SnapshotId now = CommitOne();
  world_.erp().Probe(0);
  world_.clock().Advance(absl::Milliseconds(1500));
  const absl::Status status = AtDeadline(AtLeast(world_.Token(now + 7)));
  EXPECT_THAT(status, ReasonIs(Reason::kNotYetApplied));
  EXPECT_EQ(MetadataValue(status, "snapshot_id"), std::to_string(now));
  EXPECT_EQ(MetadataValue(status, "wanted"), std::to_string(now + 7));
  EXPECT_EQ(MetadataValue(status, "source"), "erp");
  EXPECT_EQ(MetadataValue(status, "lag"), "1.5s");
  EXPECT_TRUE(RetryAfterOf(status).has_value());
}

TEST_F(ReadPointTest, F1_SourceRecencyWaitsForTheProbeAndWhatItSaw) {
  CommitOne();  // transaction 2 of erp: everything before 3 is applied
  Answer answer;
  const auto wait = Resolve(Recency(), answer);
  ASSERT_NE(wait, nullptr);
  world_.erp().Probe(/*head=*/4);  // transaction 3 is committed there, and not here
  EXPECT_EQ(answer.count(), 0);
  const state::SnapshotId id = CommitOne();
  EXPECT_EQ(answer.Wait()->point.id, id);
}

TEST_F(ReadPointTest, SourceRecencyNamesTheSourceThatIsBehind) {
  CommitOne();
  world_.shop().Probe(0);
  world_.clock().Advance(absl::Seconds(3));
  const absl::Status status = AtDeadline(Recency({"shop"}));
  EXPECT_THAT(status, ReasonIs(Reason::kSourceBehind));
  EXPECT_EQ(MetadataValue(status, "source"), "shop");
  EXPECT_EQ(MetadataValue(status, "lag"), "3s");
  // Of two, the one that is still missing.
  Answer answer;
  const auto wait = Resolve(Recency(), answer, {"rates"});
  world_.erp().Probe(0);
  wait->Stop(StopReason::kDeadline);
  EXPECT_EQ(MetadataValue(answer.Wait().status(), "source"), "shop");
}

TEST_F(ReadPointTest, SourceRecencyFailsWhenASourceCannotBeAsked) {
  Answer answer;
  const auto wait = Resolve(Recency(), answer);
  ASSERT_NE(wait, nullptr);
  world_.erp().FailProbe();
  EXPECT_THAT(answer.Wait().status(), ReasonIs(Reason::kSourceUnavailable));
}

TEST_F(ReadPointTest, AtPositionWaitsUntilTheSourceIsPastIt) {
  CommitOne();
  Answer answer;
  const auto wait = Resolve(AtPosition("erp", "4"), answer);
  ASSERT_NE(wait, nullptr);
  const state::SnapshotId third = CommitOne();
  EXPECT_EQ(answer.Wait()->point.id, third);
  const absl::Status status = AtDeadline(AtPosition("erp", "9"));
  EXPECT_THAT(status, ReasonIs(Reason::kNotYetApplied));
  EXPECT_EQ(MetadataValue(status, "wanted"), "9");
  EXPECT_EQ(MetadataValue(status, "source"), "erp");
  EXPECT_EQ(MetadataValue(status, "snapshot_id"), std::to_string(third));
  EXPECT_TRUE(RetryAfterOf(status).has_value());
}

TEST_F(ReadPointTest, TooManyWaitsAreRefusedAtOnce) {
  const std::string future = world_.Token(1000);
  std::vector<Answer> answers(3);
  std::vector<std::shared_ptr<ReadWait>> waits;
  for (Answer& answer : answers) waits.push_back(Resolve(AtLeast(future), answer));
  const absl::Status refused = Now(AtLeast(future)).status();
  EXPECT_THAT(refused, ReasonIs(Reason::kOverloaded));
  EXPECT_TRUE(RetryAfterOf(refused).has_value());
  waits[1]->Stop(StopReason::kCancelled);
  EXPECT_THAT(answers[1].Wait().status(), StatusIs(absl::StatusCode::kCancelled));
  Answer again;
  const auto wait = Resolve(AtLeast(future), again);
  EXPECT_NE(wait, nullptr);
  wait->Stop(StopReason::kCancelled);
  for (auto& w : waits) w->Stop(StopReason::kCancelled);
}

TEST_F(ReadPointTest, StopEndsWaitsAndStillServesWhatNeedsNone) {
  Answer snapshot, source;
  const auto a = Resolve(AtLeast(world_.Token(1000)), snapshot);
  const auto b = Resolve(Recency(), source);
  resolver_->Stop();
  EXPECT_THAT(snapshot.Wait().status(), ReasonIs(Reason::kShuttingDown));
  EXPECT_THAT(source.Wait().status(), ReasonIs(Reason::kShuttingDown));
  EXPECT_THAT(Now(AtLeast(world_.Token(1000))).status(), ReasonIs(Reason::kShuttingDown));
  EXPECT_THAT(Now({}), IsOk());
}

TEST_F(ReadPointTest, ConcurrentWaitsEndExactlyOnceEach) {
  auto resolver =
      MakeReadPointResolver(world_.reader(), world_.catalog(), world_.sources(), world_.clock());
  const state::SnapshotId base = CommitOne();
  constexpr int kThreads = 4, kCalls = 50;
  std::atomic<int> answered{0}, bad{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const tables::Table* const tables[] = {&world_.table("customers")};
      for (int i = 0; i < kCalls; ++i) {
        const v1::Consistency c = AtLeast(world_.Token(base + i));
        auto wait = resolver->Resolve({.consistency = &c, .tables = tables},
                                      [&, i](absl::StatusOr<ReadView> view) {
                                        ++answered;
                                        if (view.ok() && view->point.id < base + i) ++bad;
                                      });
        if (wait != nullptr && t % 2 == 0) wait->Stop(StopReason::kDeadline);
      }
    });
  }
  for (int i = 0; i < kCalls; ++i) CommitOne();
  for (std::thread& thread : threads) thread.join();
  resolver->Stop();
  EXPECT_EQ(answered, kThreads * kCalls);
  EXPECT_EQ(bad, 0);
}

}  // namespace
}  // namespace tidemark
