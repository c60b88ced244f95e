// Promises S1, S2 (one snapshot per call) and F1 (a read that asks for freshness gets it, or fails
// with the lag), over the reference store and sources that say what the test tells them.
#include "server/read_point.h"

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/error.h"
#include "gtest/gtest.h"
#include "server/read_errors.h"
#include "tests/support/state_world.h"
#include "tests/support/status_matchers.h"
#include "tidemark/v1/consistency.pb.h"

namespace tidemark {
namespace {

using tables::Datum;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::ReasonIs;
using testing::StateWorld;
using testing::StatusIs;

class Answer {
 public:
  ReadPointResolver::Done Done() {
    return [this](absl::StatusOr<ReadView> view) {
      MutexLock lock(mutex_);
      ++count_;
      view_ = std::move(view);
      changed_.NotifyAll();
    };
  }
  const absl::StatusOr<ReadView>& Wait() {
    MutexLock lock(mutex_);
    while (count_ == 0) changed_.Wait(mutex_);
    return *view_;
  }
  int count() const {
    MutexLock lock(mutex_);
    return count_;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  int count_ TIDEMARK_GUARDED_BY(mutex_) = 0;
  std::optional<absl::StatusOr<ReadView>> view_ TIDEMARK_GUARDED_BY(mutex_);
};

class ReadPointTest : public ::testing::Test {
 protected:
  ReadPointTest() { world_.Load(); }

  state::SnapshotId CommitOne() {
    return world_.Commit([&](StateWorld::Txn& txn) {
      txn.Put("customers", {Datum::String("C-1"), Datum::String("Ann"), Datum::Int(++limit_)});
    });
  }

  std::shared_ptr<ReadWait> Resolve(const v1::Consistency& consistency, Answer& answer,
                                    std::vector<std::string> tables = {"customers"},
                                    bool with_sources = false) {
    std::vector<const tables::Table*> found;
    for (const std::string& name : tables) found.push_back(&world_.table(name));
    return resolver_->Resolve(
        {.consistency = &consistency, .tables = found, .with_sources = with_sources},
        answer.Done());
  }
  // Of a requirement that needs no wait.
  absl::StatusOr<ReadView> Now(const v1::Consistency& consistency,
                               std::vector<std::string> tables = {"customers"}) {
    Answer answer;
    EXPECT_EQ(Resolve(consistency, answer, std::move(tables)), nullptr);
    EXPECT_EQ(answer.count(), 1);
    return answer.Wait();
  }
  // Of one that waits until the deadline.
  absl::Status AtDeadline(const v1::Consistency& consistency,
                          std::vector<std::string> tables = {"customers"}) {
    Answer answer;
    const std::shared_ptr<ReadWait> wait = Resolve(consistency, answer, std::move(tables));
    EXPECT_NE(wait, nullptr);
    EXPECT_EQ(answer.count(), 0);
    if (wait != nullptr) wait->Stop(StopReason::kDeadline);
    EXPECT_EQ(answer.count(), 1);
    EXPECT_EQ(resolver_->waits(), 0u);
    return answer.Wait().status();
  }

  static v1::Consistency AtLeast(const std::string& token) {
    v1::Consistency c;
    c.set_at_least(token);
    return c;
  }
  static v1::Consistency Exact(const std::string& token) {
    v1::Consistency c;
    c.set_exact(token);
    return c;
  }
  static v1::Consistency MaxStaleness(absl::Duration span) {
    v1::Consistency c;
    c.mutable_max_staleness()->set_seconds(absl::ToInt64Seconds(span));
    c.mutable_max_staleness()->set_nanos(
        static_cast<int>(absl::ToInt64Nanoseconds(span % absl::Seconds(1))));
    return c;
  }
  static v1::Consistency Recency(std::vector<std::string> sources = {}) {
    v1::Consistency c;
    c.mutable_source_recency();
    for (std::string& s : sources) c.mutable_source_recency()->add_sources(std::move(s));
    return c;
  }
  static v1::Consistency AtPosition(const std::string& source, const std::string& position) {
    v1::Consistency c;
    c.mutable_at_position()->set_source(source);
    c.mutable_at_position()->set_position(position);
    return c;
  }

  StateWorld world_;
  std::unique_ptr<ReadPointResolver> resolver_ = MakeReadPointResolver(
      world_.reader(), world_.catalog(), world_.sources(), world_.clock(), {.max_waits = 3});
  int64_t limit_ = 0;
};

TEST_F(ReadPointTest, UnsetAndLatestAreTheNewestSnapshot) {
  const state::SnapshotId id = CommitOne();
  EXPECT_EQ(Now({})->point.id, id);
  v1::Consistency latest;
  latest.mutable_latest();
  EXPECT_EQ(Now(latest)->point.id, id);
  EXPECT_TRUE(Now(latest)->newest());
  Answer answer;
  EXPECT_EQ(resolver_->Resolve({}, answer.Done()), nullptr);
  EXPECT_EQ(answer.Wait()->point.id, id);
}

TEST_F(ReadPointTest, AtLeastAnswersAtOnceWithTheNewestWhenItIsThere) {
  const state::SnapshotId first = CommitOne();
  const state::SnapshotId second = CommitOne();
  EXPECT_EQ(Now(AtLeast(world_.Token(first)))->point.id, second);
}

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

TEST_F(ReadPointTest, ExactReadsEverySnapshotSinceTheStart) {
  const state::SnapshotId first = CommitOne();
  CommitOne();
  const absl::StatusOr<ReadView> view = Now(Exact(world_.Token(first)));
  EXPECT_EQ(view->point.id, first);
  EXPECT_FALSE(view->newest());
  EXPECT_EQ(Now(Exact(world_.Token(1)))->point.id, 1u);
}

TEST_F(ReadPointTest, ExactRefusesASnapshotThatIsNotMadeYet) {
  const state::SnapshotId now = CommitOne();
  const absl::Status status = Now(Exact(world_.Token(now + 1))).status();
  EXPECT_THAT(status, ReasonIs(Reason::kSnapshotInFuture));
  EXPECT_EQ(MetadataValue(status, "snapshot_id"), std::to_string(now + 1));
  EXPECT_EQ(MetadataValue(status, "latest_snapshot_id"), std::to_string(now));
}

TEST_F(ReadPointTest, S7_TokensOfOtherStoresAndDamagedOnesAreTypedErrors) {
  const std::string other = state::EncodeToken({.incarnation = {1, 2, 3}, .snapshot = 1});
  for (const v1::Consistency& c : {Exact(other), AtLeast(other)}) {
    const absl::Status status = Now(c).status();
    EXPECT_THAT(status, ReasonIs(Reason::kStoreMismatch));
    EXPECT_EQ(MetadataValue(status, "token_incarnation"), "01020300000000000000000000000000");
    EXPECT_THAT(MetadataValue(status, "incarnation"), HasSubstr("6d656d"));
  }
  std::string damaged = world_.Token(1);
  damaged[damaged.size() / 2] ^= 1;
  for (const std::string& token :
       {std::string(), std::string("x"), damaged, std::string(1 << 20, 'A')}) {
    const absl::Status exact = Now(Exact(token)).status();
    EXPECT_THAT(exact, ReasonIs(Reason::kTokenMalformed));
    EXPECT_EQ(MetadataValue(exact, "field"), "consistency.exact");
    const absl::Status at_least = Now(AtLeast(token)).status();
    EXPECT_THAT(at_least, ReasonIs(Reason::kTokenMalformed));
    EXPECT_EQ(MetadataValue(at_least, "field"), "consistency.at_least");
  }
}

TEST_F(ReadPointTest, TagIsNamedAsNotYetAvailable) {
  v1::Consistency c;
  c.set_tag("month-end");
  const absl::Status status = Now(c).status();
  EXPECT_THAT(status, ReasonIs(Reason::kFieldInvalid));
  EXPECT_EQ(MetadataValue(status, "field"), "consistency.tag");
}

TEST_F(ReadPointTest, AsOfReadsTheNewestSnapshotCommittedByThen) {
  const state::SnapshotId first = CommitOne();
  world_.clock().Advance(absl::Seconds(10));
  const int64_t between = absl::ToUnixSeconds(world_.clock().Now()) - 1;
  CommitOne();
  world_.clock().Advance(absl::Seconds(10));
  v1::Consistency c;
  c.mutable_as_of()->set_seconds(between);
  EXPECT_EQ(Now(c)->point.id, first);
  c.mutable_as_of()->set_seconds(1);
  EXPECT_THAT(Now(c).status(), ReasonIs(Reason::kSnapshotExpired));
  EXPECT_EQ(MetadataValue(Now(c).status(), "oldest_snapshot_id"), "1");
  EXPECT_EQ(MetadataValue(Now(c).status(), "oldest_token"), world_.Token(1));
  c.mutable_as_of()->set_seconds(absl::ToUnixSeconds(world_.clock().Now()));
  EXPECT_THAT(Now(c).status(), ReasonIs(Reason::kFieldInvalid));
  c.mutable_as_of()->set_seconds(between);
  c.mutable_as_of()->set_nanos(-1);
  EXPECT_THAT(Now(c).status(), ReasonIs(Reason::kFieldInvalid));
  c.mutable_as_of()->set_nanos(1000000000);
  EXPECT_THAT(Now(c).status(), ReasonIs(Reason::kFieldInvalid));
}

TEST_F(ReadPointTest, F1_MaxStalenessNeverWaitsAndNeverLies) {
  const state::SnapshotId id = CommitOne();
  absl::Status never = Now(MaxStaleness(absl::Hours(1))).status();
  EXPECT_THAT(never, ReasonIs(Reason::kStateTooStale));
  EXPECT_EQ(MetadataValue(never, "lag"), "unknown");
  world_.erp().Probe(0);
  world_.clock().Advance(absl::Seconds(2));
  EXPECT_EQ(Now(MaxStaleness(absl::Seconds(2)))->point.id, id);
  const absl::Status stale = Now(MaxStaleness(absl::Milliseconds(1999))).status();
  EXPECT_THAT(stale, ReasonIs(Reason::kStateTooStale));
  EXPECT_EQ(MetadataValue(stale, "source"), "erp");
  EXPECT_EQ(MetadataValue(stale, "lag"), "2s");
  EXPECT_EQ(MetadataValue(stale, "max_staleness"), "1.999s");
}

TEST_F(ReadPointTest, F1_MaxStalenessCountsEverySourceOfTheTables) {
  CommitOne();
  world_.erp().Probe(0);
  world_.clock().Advance(absl::Seconds(5));
  world_.shop().Probe(0);
  world_.erp().Probe(0);
  world_.clock().Advance(absl::Seconds(1));
  EXPECT_THAT(Now(MaxStaleness(absl::Seconds(1)), {"rates", "customers"}), IsOk());
  world_.erp().Probe(0);
  world_.clock().Advance(absl::Seconds(1));
  const absl::Status stale = Now(MaxStaleness(absl::Seconds(1)), {"rates", "customers"}).status();
  EXPECT_THAT(stale, ReasonIs(Reason::kStateTooStale));
  EXPECT_EQ(MetadataValue(stale, "source"), "shop");
  EXPECT_EQ(MetadataValue(stale, "sources"), "shop=2s,erp=1s");
  EXPECT_EQ(MetadataValue(stale, "source_count"), "2");
  EXPECT_THAT(Now(MaxStaleness(absl::Seconds(1)), {"customers"}), IsOk());
}

TEST_F(ReadPointTest, MaxStalenessMustBePositive) {
  for (const absl::Duration span : {absl::ZeroDuration(), -absl::Seconds(1)}) {
    const absl::Status status = Now(MaxStaleness(span)).status();
    EXPECT_THAT(status, ReasonIs(Reason::kFieldInvalid));
    EXPECT_EQ(MetadataValue(status, "field"), "consistency.max_staleness");
  }
  v1::Consistency c;
  c.mutable_max_staleness()->set_seconds(1);
  c.mutable_max_staleness()->set_nanos(2000000000);
  EXPECT_THAT(Now(c).status(), ReasonIs(Reason::kFieldInvalid));
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

TEST_F(ReadPointTest, UnknownSourcesAreRefusedWithTheNamesThereAre) {
  for (const v1::Consistency& c : {Recency({"erp", "legacy"}), AtPosition("legacy", "1")}) {
    const absl::Status status = Now(c).status();
    EXPECT_THAT(status, ReasonIs(Reason::kSourceNotFound));
    EXPECT_EQ(MetadataValue(status, "source"), "legacy");
    EXPECT_EQ(MetadataValue(status, "sources"), "erp,shop");
  }
}

TEST_F(ReadPointTest, AtPositionReadsTheNewestSnapshotBeforeIt) {
  CommitOne();                                  // position 2
  const state::SnapshotId third = CommitOne();  // position 3
  CommitOne();                                  // position 4
  EXPECT_EQ(Now(AtPosition("erp", "4"))->point.id, third);
  EXPECT_EQ(Now(AtPosition("erp", "5"))->point.id, third + 1);
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

TEST_F(ReadPointTest, AtPositionChecksItsFields) {
  EXPECT_EQ(MetadataValue(Now(AtPosition("", "1")).status(), "field"),
            "consistency.at_position.source");
  EXPECT_EQ(MetadataValue(Now(AtPosition("erp", "")).status(), "field"),
            "consistency.at_position.position");
  const absl::Status status = Now(AtPosition("erp", "0/zz")).status();
  EXPECT_THAT(status, ReasonIs(Reason::kFieldInvalid));
  EXPECT_EQ(MetadataValue(status, "field"), "consistency.at_position.position");
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

TEST_F(ReadPointTest, SourcesInTheViewAreThoseOfTheTables) {
  Answer one, both;
  Resolve({}, one, {"customers"}, /*with_sources=*/true);
  ASSERT_EQ(one.Wait()->sources.size(), 1u);
  EXPECT_EQ(one.Wait()->sources[0].name, "erp");
  Resolve({}, both, {"rates", "customers"}, /*with_sources=*/true);
  EXPECT_EQ(both.Wait()->sources.size(), 2u);
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
