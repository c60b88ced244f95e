// Snapshots as such: what is kept of each, finding them by id, time and position, tokens,
// listeners.
#include "tests/conformance/state_store_conformance.h"

namespace tidemark::state {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::ReasonIs;

class StateSnapshots : public StateStoreConformance {
 protected:
  absl::Time Now() { return clock().Now(); }
  SnapshotInfo Describe(SnapshotId id) {
    const absl::StatusOr<SnapshotInfo> info = reader().Describe(At(id));
    EXPECT_THAT(info, IsOk());
    return info.value_or(SnapshotInfo());
  }
  // The id of the newest snapshot before, or the reason there is none.
  std::string Before(std::string_view source, std::string_view position) {
    return Outcome(reader().NewestBefore(reader().Latest(), source, position));
  }
  std::string NewestAt(absl::Time time) {
    return Outcome(reader().NewestAt(reader().Latest(), time));
  }

 private:
  static std::string Outcome(const absl::StatusOr<ReadPoint>& point) {
    if (point.ok()) return std::to_string(point->id);
    return std::string(ReasonName(ReasonOf(point.status())));
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, StateSnapshots, ::testing::ValuesIn(AllBackends()),
                         [](const auto& info) { return info.param.name; });

class StateBatches : public StateSnapshots {};
INSTANTIATE_TEST_SUITE_P(Backends, StateBatches,
                         ::testing::ValuesIn(BackendsWith(Feature::kWholeBatches)),
                         [](const auto& info) { return info.param.name; });

TEST_P(StateSnapshots, APublicationDescribesItsSnapshot) {
  const TableId t = NewTable();
  const absl::Time event_time = absl::FromUnixSeconds(17);
  Write([&] { Present(t, "a", "1"); },
        {.source = "erp", .position = "p1", .event_time = event_time});
  const absl::Time fresh = Now() - absl::Seconds(3);
  clock().Advance(absl::Seconds(1));
  Commit({.sources = {{"crm", "c9"}, {"erp", "p1", fresh}}, .degraded = {t}});
  const SnapshotInfo& info = reader().Latest()->info();
  EXPECT_EQ(info.id, 3);
  EXPECT_EQ(info.commit_time, Now());
  EXPECT_EQ(info.source, "erp");
  EXPECT_EQ(info.event_time, event_time);
  EXPECT_THAT(info.sources, ElementsAre(SourceMark{"crm", "c9"}, SourceMark{"erp", "p1", fresh}));
  EXPECT_THAT(info.degraded, ElementsAre(t));
  EXPECT_TRUE(reader().Latest()->IsDegraded(t));
  EXPECT_FALSE(reader().Latest()->IsDegraded(t + 1));
}

TEST_P(StateSnapshots, TheStampIsEncodedOncePerPublication) {
  NewTable();
  const std::string token = reader().TokenOf(2);
  EXPECT_EQ(reader().Latest()->stamp(false), "2/" + token);
  EXPECT_EQ(reader().Latest()->stamp(true), "2/" + token + "!");
  EXPECT_EQ(&reader().Latest()->stamp(false), &reader().Latest()->stamp(false));
}

TEST_P(StateSnapshots, CommitTimesRiseStrictlyFromBatchToBatch) {
  const TableId t = NewTable();
  absl::Time last = reader().Latest()->info().commit_time;
  for (int i = 0; i < 5; ++i) {
    WriteAndCommit([&] { Present(t, "a", std::to_string(i)); });
    EXPECT_GT(reader().Latest()->info().commit_time, last);
    last = reader().Latest()->info().commit_time;
  }
}

TEST_P(StateSnapshots, ACommitOfNothingRenewsMarksAndDegradedTablesOnly) {
  const TableId t = NewTable();
  const PublicationPtr old = reader().Latest();
  Commit({.sources = {{"erp", "p7", Now()}}, .degraded = {t}});
  EXPECT_EQ(reader().Latest()->id(), old->id());
  EXPECT_EQ(reader().Latest()->info().commit_time, old->info().commit_time);
  EXPECT_THAT(reader().Latest()->info().sources, ElementsAre(SourceMark{"erp", "p7", Now()}));
  EXPECT_TRUE(reader().Latest()->IsDegraded(t));
  EXPECT_THAT(old->info().sources, IsEmpty());
}

TEST_P(StateBatches, EverySnapshotOfABatchKeepsWhoMadeItAndItsMarks) {
  const TableId t = NewTable();
  const absl::Time fresh1 = Now(), fresh2 = Now() + absl::Seconds(2);
  Commit({.sources = {{"crm", "c1", fresh1}, {"erp", "p1", fresh1}}});
  Write([&] { Present(t, "a", "1"); },
        {.source = "erp", .position = "p2", .event_time = absl::FromUnixSeconds(5)});
  Write([&] { Present(t, "a", "2"); }, {.source = "crm", .position = "c4"});
  Write([&] { Present(t, "a", "3"); }, {});
  Write([&] { Present(t, "a", "4"); }, {.source = "new", .position = "n1"});
  Commit(
      {.sources = {{"crm", "c5", fresh2}, {"erp", "p9", fresh2}, {"new", "n1"}}, .degraded = {t}});

  EXPECT_THAT(Describe(2).sources,
              ElementsAre(SourceMark{"crm", "c1", fresh1}, SourceMark{"erp", "p1", fresh1}));
  EXPECT_EQ(Describe(3).source, "erp");
  EXPECT_EQ(Describe(3).event_time, absl::FromUnixSeconds(5));
  EXPECT_THAT(Describe(3).sources,
              ElementsAre(SourceMark{"crm", "c1", fresh1}, SourceMark{"erp", "p2", fresh1}));
  EXPECT_EQ(Describe(4).source, "crm");
  EXPECT_EQ(Describe(4).event_time, absl::InfinitePast());
  EXPECT_THAT(Describe(4).sources,
              ElementsAre(SourceMark{"crm", "c4", fresh1}, SourceMark{"erp", "p2", fresh1}));
  EXPECT_EQ(Describe(5).source, "");
  EXPECT_THAT(Describe(5).sources,
              ElementsAre(SourceMark{"crm", "c4", fresh1}, SourceMark{"erp", "p2", fresh1}));
  EXPECT_THAT(Describe(6).sources,
              ElementsAre(SourceMark{"crm", "c5", fresh2}, SourceMark{"erp", "p9", fresh2},
                          SourceMark{"new", "n1"}));
  for (SnapshotId id = 3; id <= 6; ++id) {
    EXPECT_EQ(Describe(id).id, id);
    EXPECT_EQ(Describe(id).commit_time, Describe(6).commit_time);
    EXPECT_THAT(Describe(id).degraded, ElementsAre(t));
  }
}

TEST_P(StateSnapshots, ASupersededSnapshotKeepsTheMarksLastSeenBeforeItsSuccessor) {
  const TableId t = NewTable();
  WriteAndCommit([&] { Present(t, "a", "1"); });
  Commit({.sources = {{"erp", "p1", Now()}}});
  const absl::Time late = Now() + absl::Minutes(5);
  Commit({.sources = {{"erp", "p3", late}}});
  Write([&] { Present(t, "a", "2"); }, {.source = "erp", .position = "p4"});
  Commit({.sources = {{"erp", "p4", late + absl::Seconds(1)}}});
  EXPECT_THAT(Describe(3).sources, ElementsAre(SourceMark{"erp", "p3", late}));
}

TEST_P(StateBatches, TheNewestSnapshotAtATimeIsFound) {
  const TableId t = NewTable();
  std::vector<absl::Time> times;  // of snapshots 3 to 5, 6 to 8, ...
  for (int batch = 0; batch < 20; ++batch) {
    clock().Advance(absl::Seconds(10));
    for (int i = 0; i < 3; ++i) {
      Write([&] { Present(t, "a", std::to_string(batch * 3 + i)); });
    }
    Commit();
    times.push_back(Now());
  }
  for (size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(NewestAt(times[i]), std::to_string(5 + 3 * i));
    EXPECT_EQ(NewestAt(times[i] + absl::Seconds(9)), std::to_string(5 + 3 * i));
    EXPECT_EQ(NewestAt(times[i] - absl::Microseconds(1)), std::to_string(2 + 3 * i));
  }
  EXPECT_EQ(NewestAt(Describe(1).commit_time), "1");
  EXPECT_EQ(NewestAt(Describe(1).commit_time - absl::Microseconds(1)), "SNAPSHOT_EXPIRED");
}

TEST_P(StateSnapshots, TheNewestSnapshotBeforeAPositionIsFound) {
  const TableId t = NewTable();  // 2
  const auto write = [&](const std::string& source, const std::string& position) {
    static int value = 0;
    Write([&] { Present(t, "a", std::to_string(++value)); },
          {.source = source, .position = position});
  };
  write("erp", "p10");  // 3
  write("crm", "c10");  // 4
  write("erp", "p20");  // 5
  Commit({.sources = {{"crm", "c10"}, {"erp", "p20"}}});
  write("crm", "c20");                                    // 6
  Commit({.sources = {{"crm", "c20"}, {"erp", "p29"}}});  // a keepalive moved erp's mark
  write("crm", "c30");                                    // 7
  Commit({.sources = {{"crm", "c30"}, {"erp", "p29"}}});
  write("erp", "p30");  // 8
  write("erp", "p40");  // 9
  Commit({.sources = {{"crm", "c30"}, {"erp", "p40"}, {"new", "n1"}}});

  EXPECT_EQ(Before("erp", "p05"), "2");
  EXPECT_EQ(Before("erp", "p10"), "2");
  EXPECT_EQ(Before("erp", "p11"), "4");
  EXPECT_EQ(Before("erp", "p20"), "4");
  // Nothing of erp lies between p20 and p30: everything up to 7 holds nothing at or after p21.
  EXPECT_EQ(Before("erp", "p21"), "7");
  EXPECT_EQ(Before("erp", "p29"), "7");
  EXPECT_EQ(Before("erp", "p30"), "7");
  EXPECT_EQ(Before("erp", "p31"), "8");
  EXPECT_EQ(Before("erp", "p40"), "8");
  EXPECT_EQ(Before("erp", "p41"), "9");
  EXPECT_EQ(Before("crm", "c10"), "3");
  EXPECT_EQ(Before("crm", "c21"), "6");
  EXPECT_EQ(Before("crm", "c31"), "9");
  EXPECT_EQ(Before("new", "n0"), "9");
  EXPECT_EQ(Before("unknown", "p"), "SOURCE_NOT_FOUND");
}

TEST_P(StateBatches, ABatchOfManySnapshotsIsDescribedOneByOne) {
  const TableId t = NewTable();
  constexpr int kSnapshots = 1500;  // more than one record holds
  const auto position = [](int i) { return "p" + std::to_string(100000 + i); };
  for (int i = 0; i < kSnapshots; ++i) {
    Write([&] { Present(t, "a", std::to_string(i)); },
          {.source = i % 3 == 0 ? "crm" : "erp", .position = position(i)});
  }
  Commit({.sources = {{"crm", position(kSnapshots - 3)}, {"erp", position(kSnapshots - 1)}}});
  EXPECT_EQ(reader().Latest()->id(), 2u + kSnapshots);
  for (const int i : {0, 1, 2, 510, 511, 512, 513, 1023, 1024, 1025, 1498, 1499}) {
    const SnapshotInfo info = Describe(3 + i);
    EXPECT_EQ(info.source, i % 3 == 0 ? "crm" : "erp") << i;
    EXPECT_EQ(info.commit_time, reader().Latest()->info().commit_time);
    std::vector<SourceMark> marks = {{"crm", position(i - i % 3)}};
    if (i > 0) marks.push_back({"erp", position(i % 3 == 0 ? i - 1 : i)});
    EXPECT_EQ(info.sources, marks) << i;
    EXPECT_EQ(Before(info.source, position(i)), std::to_string(2 + i)) << i;
  }
  EXPECT_EQ(NewestAt(reader().Latest()->info().commit_time), std::to_string(2 + kSnapshots));
}

TEST_P(StateSnapshots, PointsOutsideTheKeptRangeAreRefused) {
  NewTable();
  EXPECT_THAT(reader().PointAt(reader().Latest(), 0), ReasonIs(Reason::kSnapshotExpired));
  const absl::Status future = reader().PointAt(reader().Latest(), 3).status();
  EXPECT_THAT(future, ReasonIs(Reason::kSnapshotInFuture));
  EXPECT_EQ(MetadataValue(future, "latest"), "2");
  EXPECT_THAT(reader().Changes(reader().Latest(), 0), ReasonIs(Reason::kSnapshotExpired));
}

TEST_P(StateSnapshots, S7_ATokenResolvesOnlyOnItsStore) {
  NewTable();
  EXPECT_THAT(reader().ResolveToken(reader().TokenOf(2)), IsOkAndHolds(SnapshotId{2}));
  Incarnation other = reader().incarnation();
  other[3] ^= 1;
  EXPECT_THAT(reader().ResolveToken(EncodeToken({other, 2})), ReasonIs(Reason::kStoreMismatch));
  EXPECT_THAT(reader().ResolveToken("nonsense"), ReasonIs(Reason::kTokenMalformed));
}

// A directory that was put back from a copy goes on with ids that once meant other snapshots.
TEST_P(StateSnapshots, S7_ANewIncarnationKeepsWhatIsPublishedAndRefusesWhatWasLost) {
  const TableId t = NewTable();
  WriteAndCommit([&] { Present(t, "a", "1"); });
  const std::string kept = reader().TokenOf(3), lost = reader().TokenOf(4);
  const Incarnation before = reader().incarnation();
  ASSERT_THAT(writer().StartIncarnation(), IsOk());
  EXPECT_EQ(reader().incarnation(), before);
  Write([&] { Present(t, "a", "2"); });
  Commit();
  const auto expect_all = [&] {
    EXPECT_NE(reader().incarnation(), before);
    EXPECT_THAT(reader().ResolveToken(kept), IsOkAndHolds(SnapshotId{3}));
    EXPECT_THAT(reader().ResolveToken(lost), ReasonIs(Reason::kStoreMismatch));
    EXPECT_EQ(reader().Latest()->stamp(false), "4/" + reader().TokenOf(4));
    EXPECT_THAT(reader().ResolveToken(reader().TokenOf(4)), IsOkAndHolds(SnapshotId{4}));
    EXPECT_THAT(reader().ResolveToken(reader().TokenOf(3)), IsOkAndHolds(SnapshotId{3}));
  };
  expect_all();
  if (backend().Has(Feature::kRestart)) Reopen();
  expect_all();
  // And once more: the first fork still counts.
  ASSERT_THAT(writer().StartIncarnation(), IsOk());
  Commit();
  EXPECT_THAT(reader().ResolveToken(kept), IsOkAndHolds(SnapshotId{3}));
  EXPECT_THAT(reader().ResolveToken(lost), ReasonIs(Reason::kStoreMismatch));
}

TEST_P(StateSnapshots, WhatFollowsAStartedCommitBelongsToTheNextBatchAndSeesTheOneBefore) {
  const TableId t = NewTable();
  Write([&] {
    Present(t, "a", "1");
    EXPECT_THAT(writer().PutAux(AuxSpace::kWindow, "w1", "1"), IsOk());
  });
  ASSERT_THAT(writer().StartCommit({}), IsOk());
  EXPECT_EQ(Current(t, "a"), "PRESENT m 1");
  Write([&] {
    EXPECT_THAT(writer().GetAux(AuxSpace::kWindow, "w1"),
                IsOkAndHolds(std::optional<std::string>("1")));
    Present(t, "a", "2");
    Present(t, "b", "2");
  });
  Write([&] { EXPECT_EQ(Current(t, "a"), "PRESENT m 2"); });
  ASSERT_THAT(writer().FinishCommit(), IsOk());
  EXPECT_FALSE(writer().IsCommitting());
  EXPECT_EQ(reader().Latest()->id(), 3);
  EXPECT_THAT(Scan(Latest(), t), ElementsAre("a=1@3"));
  ASSERT_THAT(writer().StartCommit({}), IsOk());
  // A walk goes through LevelDB, and still sees all of it.
  std::vector<std::string> seen;
  EXPECT_THAT(writer().VisitAux(AuxSpace::kWindow, "w", "", false,
                                [&seen](std::string_view key, std::string_view) {
                                  seen.emplace_back(key);
                                  return true;
                                }),
              IsOk());
  EXPECT_THAT(seen, ElementsAre("w1"));
  Write([&] { Present(t, "b", "3"); });
  // Waits for the one before.
  ASSERT_THAT(writer().StartCommit({}), IsOk());
  EXPECT_GE(reader().Latest()->id(), 4);
  ASSERT_THAT(writer().FinishCommit(), IsOk());
  EXPECT_THAT(Scan(Latest(), t), ElementsAre("a=2@4", "b=3@5"));
  EXPECT_THAT(Scan(At(4), t), ElementsAre("a=2@4", "b=2@4"));
  EXPECT_THAT(ChangesAfter(2),
              ElementsAre("3 1 INSERT a 0", "4 1 UPDATE a 3", "4 1 INSERT b 0", "5 1 UPDATE b 4"));
}

TEST_P(StateSnapshots, ListenersHearEveryPublicationInOrderUntilTheyAreDropped) {
  const TableId t = NewTable();
  std::vector<SnapshotId> heard;
  std::shared_ptr<void> handle = backend().store().reader().AddListener(
      [&heard](const PublicationPtr& publication) { heard.push_back(publication->id()); });
  WriteAndCommit([&] { Present(t, "a", "1"); });
  Commit();
  WriteAndCommit([&] { Present(t, "a", "2"); });
  handle.reset();
  WriteAndCommit([&] { Present(t, "a", "3"); });
  EXPECT_THAT(heard, ElementsAre(3, 3, 4));
}

TEST_P(StateSnapshots, AListenerMayOutliveTheStore) {
  std::shared_ptr<void> handle =
      backend().store().reader().AddListener([](const PublicationPtr&) {});
  backend_.reset();
  handle.reset();
}

}  // namespace
}  // namespace tidemark::state
