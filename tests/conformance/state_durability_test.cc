// What is there after the store was closed, and after a write failed. The reference model keeps
// nothing and cannot fail (state_backend.cc), so it does not run these.
#include "absl/strings/str_cat.h"
#include "tests/conformance/state_store_conformance.h"

namespace tidemark::state {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::Optional;
using testing::ReasonIs;

class StateRestart : public StateStoreConformance {};
INSTANTIATE_TEST_SUITE_P(Backends, StateRestart,
                         ::testing::ValuesIn(BackendsWith(Feature::kRestart)),
                         [](const auto& info) { return info.param.name; });

class StateWriteFailure : public StateStoreConformance {};
INSTANTIATE_TEST_SUITE_P(Backends, StateWriteFailure,
                         ::testing::ValuesIn(BackendsWith(Feature::kWriteFailure)),
                         [](const auto& info) { return info.param.name; });

TEST_P(StateRestart, S6_EverythingCommittedIsThereAfterARestart) {
  const TableId t = NewTable("definition"), loading = NewLoadingTable();
  Write([&] { Present(t, "a", "1"); }, {.source = "erp", .position = "p1"});
  Write([&] { Present(t, "a", "2"); }, {.source = "erp", .position = "p2"});
  const absl::Time fresh = clock().Now();
  Commit({.sources = {{"erp", "p2", fresh}}, .degraded = {t}});
  WriteAndCommit([&] {
    Truncate(t, "s1");
    Present(t, "b", "1");
    Present(loading, "l", "1");
    EXPECT_THAT(writer().PutAux(AuxSpace::kSourceState, "erp", "state"), IsOk());
  });
  const std::string token = reader().TokenOf(4);
  Reopen();
  EXPECT_EQ(reader().Latest()->id(), 5);
  EXPECT_EQ(Read(3, t, "a"), "1@3");
  EXPECT_EQ(Read(4, t, "a"), "2@4");
  EXPECT_THAT(Scan(Latest(), t), ElementsAre("b=1@5"));
  EXPECT_THAT(ChangesAfter(2),
              ElementsAre("3 1 INSERT a 0", "4 1 UPDATE a 3", "5 1 TRUNCATE  0", "5 1 INSERT b 0"));
  EXPECT_EQ(writer().FindTable(t)->definition, "definition");
  EXPECT_EQ(writer().FindTable(t)->truncation_sequence, "s1");
  EXPECT_TRUE(writer().FindTable(loading)->loading);
  EXPECT_EQ(Current(loading, "l"), "PRESENT m 1");
  EXPECT_THAT(writer().GetAux(AuxSpace::kSourceState, "erp"),
              IsOkAndHolds(std::optional<std::string>("state")));
  EXPECT_THAT(reader().ResolveToken(token), IsOkAndHolds(SnapshotId{4}));
  const absl::StatusOr<SnapshotInfo> info = reader().Describe(At(4));
  EXPECT_THAT(info, IsOk());
  EXPECT_THAT(info->sources, ElementsAre(SourceMark{"erp", "p2", fresh}));
  EXPECT_THAT(info->degraded, ElementsAre(t));
  // Ids go on, and so do tables.
  EXPECT_EQ(NewLoadingTable(), loading + 1);
  EXPECT_THAT(WriteAndCommit([&] { Present(t, "a", "3"); }), Optional(6));
}

TEST_P(StateRestart, WhatWasNotCommittedIsNotThere) {
  const TableId t = NewTable();
  WriteAndCommit([&] { Present(t, "a", "1"); });
  Write([&] { Present(t, "a", "2"); });
  EXPECT_THAT(writer().PutAux(AuxSpace::kWindow, "w", "1"), IsOk());
  Reopen();
  EXPECT_THAT(writer().GetAux(AuxSpace::kWindow, "w"), IsOkAndHolds(std::optional<std::string>()));
  EXPECT_THAT(writer().BeginSnapshot(), IsOk());
  Present(t, "a", "3");
  Reopen();
  EXPECT_THAT(Scan(Latest(), t), ElementsAre("a=1@3"));
  EXPECT_THAT(ChangesAfter(3), IsEmpty());
}

TEST_P(StateRestart, ATransactionLeftOpenIsUndone) {
  const TableId t = NewTable(), loading = NewLoadingTable();
  WriteAndCommit([&] {
    for (int i = 0; i < 50; ++i) Present(t, absl::StrCat("k", i), "old");
    EXPECT_THAT(writer().PutAux(AuxSpace::kContribution, "c", "old"), IsOk());
  });
  const std::vector<std::string> before = Scan(Latest(), t);
  EXPECT_THAT(writer().BeginSnapshot(), IsOk());
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 60; ++i) Present(t, absl::StrCat("k", i), absl::StrCat("new", round));
    for (int i = 0; i < 20; ++i) Tombstone(t, absl::StrCat("k", i), "m", true);
    EXPECT_THAT(writer().PutAux(AuxSpace::kContribution, "c", "new", round == 1), IsOk());
    Present(loading, absl::StrCat("l", round), std::string(400, 'x'));
  }
  Truncate(t, "s9");
  Present(t, "z", std::string(400, 'x'));
  EXPECT_THAT(writer().FinishLoading(loading), IsOk());
  Present(t, "y", std::string(400, 'x'));
  Reopen();
  EXPECT_EQ(reader().Latest()->id(), 3);
  EXPECT_EQ(Scan(Latest(), t), before);
  EXPECT_THAT(ChangesAfter(3), IsEmpty());
  EXPECT_THAT(writer().GetAux(AuxSpace::kContribution, "c"),
              IsOkAndHolds(std::optional<std::string>("old")));
  EXPECT_TRUE(writer().FindTable(loading)->loading);
  EXPECT_EQ(Current(loading, "l0"), "-");
  EXPECT_EQ(Current(t, "k55"), "-");
  EXPECT_THAT(WriteAndCommit([&] { Present(t, "k0", "next"); }), Optional(4));
  EXPECT_THAT(ChangesAfter(3), ElementsAre("4 1 UPDATE k0 3"));
  Reopen();
  EXPECT_EQ(Read(Latest(), t, "k0"), "next@4");
}

TEST_P(StateRestart, MarksAreFoundBeforeAPositionAfterARestartToo) {
  const TableId t = NewTable();
  Write([&] { Present(t, "a", "1"); }, {.source = "erp", .position = "p1"});
  Commit({.sources = {{"erp", "p1"}}});
  WriteAndCommit([&] { Present(t, "a", "2"); });  // erp is not among its marks
  Reopen();
  Write([&] { Present(t, "a", "3"); }, {.source = "crm", .position = "c1"});
  Commit({.sources = {{"crm", "c1"}, {"erp", "p1"}}});
  const absl::StatusOr<ReadPoint> point = reader().NewestBefore(reader().Latest(), "erp", "p1");
  ASSERT_THAT(point, IsOk());
  EXPECT_EQ(point->id, 2);
}

TEST_P(StateWriteFailure, AFailedWriteClosesTheStoreForWritingAndNotForReading) {
  const TableId t = NewTable();
  WriteAndCommit([&] { Present(t, "a", "1"); });
  Write([&] { Present(t, "a", "2"); });
  backend().FailWrites();
  EXPECT_THAT(writer().Commit({}), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_THAT(writer().Health(), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_NE(MetadataValue(writer().Health(), "cause"), "");
  EXPECT_THAT(writer().BeginSnapshot(), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_THAT(writer().Commit({}), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_THAT(writer().PutAux(AuxSpace::kWindow, "k", "v"), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_THAT(writer().Current(t, "a"), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_THAT(writer().CreateTable("x"), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_EQ(reader().Latest()->id(), 3);
  EXPECT_EQ(Read(Latest(), t, "a"), "1@3");
  EXPECT_THAT(Scan(Latest(), t), ElementsAre("a=1@3"));
  EXPECT_THAT(ChangesAfter(2), ElementsAre("3 1 INSERT a 0"));
}

TEST_P(StateWriteFailure, ABatchThatFailsTakesWithItWhatWasMadeMeanwhile) {
  const TableId t = NewTable();
  WriteAndCommit([&] { Present(t, "a", "1"); });
  Write([&] { Present(t, "a", "2"); });
  backend().FailWrites();
  ASSERT_THAT(writer().StartCommit({}), IsOk());
  EXPECT_THAT(writer().PutAux(AuxSpace::kWindow, "k", "v"), IsOk());
  EXPECT_THAT(writer().FinishCommit(), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_THAT(writer().Health(), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_THAT(writer().StartCommit({}), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_THAT(writer().Current(t, "a"), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_EQ(reader().Latest()->id(), 3);
  EXPECT_EQ(Read(Latest(), t, "a"), "1@3");
  EXPECT_THAT(ChangesAfter(2), ElementsAre("3 1 INSERT a 0"));
}

TEST_P(StateRestart, ABatchThatIsBeingWrittenWhenTheStoreClosesIsThere) {
  const TableId t = NewTable();
  Write([&] { Present(t, "a", "1"); });
  ASSERT_THAT(writer().StartCommit({}), IsOk());
  Write([&] { Present(t, "a", "2"); });
  Reopen();
  EXPECT_THAT(Scan(Latest(), t), ElementsAre("a=1@3"));
}

TEST_P(StateWriteFailure, AFailureInTheMiddleOfASnapshotShowsAtTheLatestAtCommit) {
  const TableId t = NewTable();
  WriteAndCommit([&] { Present(t, "a", "1"); });
  EXPECT_THAT(writer().BeginSnapshot(), IsOk());
  backend().FailWrites();
  absl::Status status;
  for (int i = 0; status.ok() && i < 20; ++i) {
    status = writer().Put(t, absl::StrCat("k", i), RowKind::kPresent, "", std::string(100, 'x'));
  }
  if (status.ok()) {
    EXPECT_THAT(writer().EndSnapshot({}), IsOk());
    status = writer().Commit({});
  } else {
    EXPECT_THAT(writer().EndSnapshot({}), ReasonIs(Reason::kStoreReadOnly));
    EXPECT_THAT(writer().AbandonSnapshot(), ReasonIs(Reason::kStoreReadOnly));
  }
  EXPECT_THAT(status, ReasonIs(Reason::kStoreReadOnly));
  EXPECT_THAT(Scan(Latest(), t), ElementsAre("a=1@3"));
}

}  // namespace
}  // namespace tidemark::state
