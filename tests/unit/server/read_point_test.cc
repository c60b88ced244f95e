// Promises S2 (one snapshot per call) and F1 (a read that asks for freshness gets it, or fails with
// the lag): requirements that need no wait.
#include <string>
#include <vector>

#include "common/error.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/server/read_point_fixture.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::ReasonIs;

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

// A Timestamp or Duration that protobuf calls invalid is refused with what was sent and its range.
TEST_F(ReadPointTest, MalformedTimesAndSpansAreRefusedWithValueAndRange) {
  CommitOne();
  world_.erp().Probe(0);
  const auto refusal = [this](const v1::Consistency& c, const std::string& sent) {
    const absl::Status status = Now(c).status();
    EXPECT_THAT(status, ReasonIs(Reason::kFieldInvalid)) << sent;
    EXPECT_THAT(std::string(status.message()), HasSubstr(sent));
    return std::string(status.message());
  };
  const std::pair<int64_t, int32_t> spans[] = {
      {1, -1},         {-1, 1},           {1, 1000000000},    {-1, -1000000000},
      {0, 2147483647}, {315576000001, 0}, {-315576000001, 0}, {INT64_MAX, 0},
      {INT64_MIN, 0}};
  for (const auto& [seconds, nanos] : spans) {
    v1::Consistency c;
    c.mutable_max_staleness()->set_seconds(seconds);
    c.mutable_max_staleness()->set_nanos(nanos);
    const std::string sent = "{seconds: " + std::to_string(seconds) +
                             ", nanos: " + std::to_string(nanos) + "} is no Duration";
    EXPECT_THAT(refusal(c, sent), HasSubstr("within +-315576000000, nanos within +-999999999"));
  }
  const std::pair<int64_t, int32_t> times[] = {{1, -1},           {1, 1000000000},
                                               {-62135596801, 0}, {253402300800, 0},
                                               {INT64_MIN, 0},    {INT64_MAX, 0}};
  for (const auto& [seconds, nanos] : times) {
    v1::Consistency c;
    c.mutable_as_of()->set_seconds(seconds);
    c.mutable_as_of()->set_nanos(nanos);
    const std::string sent = "{seconds: " + std::to_string(seconds) +
                             ", nanos: " + std::to_string(nanos) + "} is no Timestamp";
    EXPECT_THAT(refusal(c, sent), HasSubstr("-62135596800 to 253402300799"));
  }
  // The last ones that are taken.
  v1::Consistency longest;
  longest.mutable_max_staleness()->set_seconds(315576000000);
  EXPECT_THAT(Now(longest), IsOk());
  longest.mutable_max_staleness()->set_seconds(0);
  longest.mutable_max_staleness()->set_nanos(1);
  EXPECT_THAT(Now(longest), IsOk());
}

TEST_F(ReadPointTest, AsOfBeforeTheStoreExistedSaysSo) {
  CommitOne();
  v1::Consistency c;
  c.mutable_as_of()->set_seconds(-62135596800);
  const absl::Status status = Now(c).status();
  EXPECT_THAT(status, ReasonIs(Reason::kSnapshotExpired));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("This store did not exist yet at 0001-01-01T00:00:00Z; the oldest to "
                        "read is 1."));
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
  // The bound is shown as it was asked for, however short.
  EXPECT_EQ(MetadataValue(Now(MaxStaleness(absl::Microseconds(1))).status(), "max_staleness"),
            "1us");
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

TEST_F(ReadPointTest, UnknownSourcesAreRefusedWithTheNamesThereAre) {
  for (const v1::Consistency& c : {Recency({"erp", "legacy"}), AtPosition("legacy", "1")}) {
    const absl::Status status = Now(c).status();
    EXPECT_THAT(status, ReasonIs(Reason::kSourceNotFound));
    EXPECT_EQ(MetadataValue(status, "source"), "legacy");
    EXPECT_EQ(MetadataValue(status, "sources"), "erp,shop");
  }
}

TEST_F(ReadPointTest, NamesOfCallersCannotEndTheirQuotes) {
  for (const v1::Consistency& c :
       {Recency({"x\"\n. All is well"}), AtPosition("x\"\n. All is well", "1"),
        AtPosition("erp", "x\"\n. All is well")}) {
    EXPECT_THAT(std::string(Now(c).status().message()), HasSubstr("\"x\\\"\\x0a. All is well\"."));
  }
}

TEST_F(ReadPointTest, AtPositionReadsTheNewestSnapshotBeforeIt) {
  CommitOne();                                  // position 2
  const state::SnapshotId third = CommitOne();  // position 3
  CommitOne();                                  // position 4
  EXPECT_EQ(Now(AtPosition("erp", "4"))->point.id, third);
  EXPECT_EQ(Now(AtPosition("erp", "5"))->point.id, third + 1);
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

TEST_F(ReadPointTest, SourcesInTheViewAreThoseOfTheTables) {
  Answer one, both;
  Resolve({}, one, {"customers"}, /*with_sources=*/true);
  ASSERT_EQ(one.Wait()->sources.size(), 1u);
  EXPECT_EQ(one.Wait()->sources[0].name, "erp");
  Resolve({}, both, {"rates", "customers"}, /*with_sources=*/true);
  EXPECT_EQ(both.Wait()->sources.size(), 2u);
}

}  // namespace
}  // namespace tidemark
