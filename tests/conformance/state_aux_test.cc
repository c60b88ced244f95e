// Entries of other rooms: written in the same batch, read through, walked both ways.
#include "tests/conformance/state_store_conformance.h"

namespace tidemark::state {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;

constexpr AuxSpace kAllSpaces[] = {AuxSpace::kSourceState, AuxSpace::kContribution,
                                   AuxSpace::kOrderedContribution, AuxSpace::kWindow,
                                   AuxSpace::kDeadLetter};

TEST_P(StateStoreConformance, AuxEntriesOfASpaceAreItsOwn) {
  for (const AuxSpace space : kAllSpaces) {
    const std::string value(1, static_cast<char>(space));
    EXPECT_THAT(writer().PutAux(space, "k", value), IsOk());
  }
  EXPECT_THAT(writer().PutAux(AuxSpace::kWindow, "", "empty key"), IsOk());
  Commit();
  for (const AuxSpace space : kAllSpaces) {
    EXPECT_THAT(writer().GetAux(space, "k"),
                IsOkAndHolds(std::optional<std::string>(std::string(1, static_cast<char>(space)))));
    EXPECT_THAT(writer().GetAux(space, "l"), IsOkAndHolds(std::optional<std::string>()));
  }
  EXPECT_THAT(writer().DeleteAux(AuxSpace::kWindow, "k"), IsOk());
  EXPECT_THAT(writer().GetAux(AuxSpace::kWindow, "k"), IsOkAndHolds(std::optional<std::string>()));
  EXPECT_THAT(writer().GetAux(AuxSpace::kDeadLetter, "k"),
              IsOkAndHolds(std::optional<std::string>("D")));
  EXPECT_EQ(reader().Latest()->id(), kFirstSnapshot);
}

TEST_P(StateStoreConformance, AuxValuesMayBeEmptyAndBinary) {
  for (const AuxSpace space : kAllSpaces) {
    for (const std::string& value : {std::string(), std::string("\0\xff\0", 3)}) {
      EXPECT_THAT(writer().PutAux(space, "k", value), IsOk());
      EXPECT_THAT(writer().GetAux(space, "k"), IsOkAndHolds(std::optional<std::string>(value)));
    }
  }
}

TEST_P(StateStoreConformance, ATombstoneContributionReadsLikeAnyOther) {
  const auto put = [&](std::string_view value, bool tombstone) {
    EXPECT_THAT(writer().PutAux(AuxSpace::kContribution, "k", value, tombstone), IsOk());
  };
  put("v1", true);
  EXPECT_THAT(writer().GetAux(AuxSpace::kContribution, "k"),
              IsOkAndHolds(std::optional<std::string>("v1")));
  Commit();
  put("v2", false);
  Commit();
  EXPECT_THAT(writer().GetAux(AuxSpace::kContribution, "k"),
              IsOkAndHolds(std::optional<std::string>("v2")));
}

TEST_P(StateStoreConformance, VisitsMergeWhatIsStoredAndWhatIsStaged) {
  const AuxSpace space = AuxSpace::kOrderedContribution;
  const auto put = [&](std::string_view key, std::string_view value) {
    EXPECT_THAT(writer().PutAux(space, key, value), IsOk());
  };
  const auto visit = [&](std::string_view prefix, std::string_view from, bool reverse,
                         size_t limit = 100) {
    std::vector<std::string> seen;
    EXPECT_THAT(writer().VisitAux(space, prefix, from, reverse,
                                  [&](std::string_view key, std::string_view value) {
                                    seen.push_back(std::string(key) + "=" + std::string(value));
                                    return seen.size() < limit;
                                  }),
                IsOk());
    return seen;
  };
  EXPECT_THAT(writer().PutAux(AuxSpace::kContribution, "a5", "other space"), IsOk());
  EXPECT_THAT(writer().PutAux(AuxSpace::kWindow, "a5", "other space"), IsOk());
  for (const char* key : {"a1", "a3", "a5", "a7", "b1"}) put(key, "stored");
  Commit();
  put("a3", "ended");  // outside of a snapshot: part of the batch
  put("a4", "ended");
  EXPECT_THAT(writer().DeleteAux(space, "a5"), IsOk());
  EXPECT_THAT(writer().BeginSnapshot(), IsOk());
  put("a4", "open");
  put("a6", "open");
  EXPECT_THAT(writer().DeleteAux(space, "a1"), IsOk());

  EXPECT_THAT(visit("a", "", false), ElementsAre("a3=ended", "a4=open", "a6=open", "a7=stored"));
  EXPECT_THAT(visit("a", "", true), ElementsAre("a7=stored", "a6=open", "a4=open", "a3=ended"));
  EXPECT_THAT(visit("a", "a4", false), ElementsAre("a4=open", "a6=open", "a7=stored"));
  EXPECT_THAT(visit("a", "a6", true), ElementsAre("a6=open", "a4=open", "a3=ended"));
  EXPECT_THAT(visit("a", "a65", true), ElementsAre("a6=open", "a4=open", "a3=ended"));
  EXPECT_THAT(visit("a", "", false, 1), ElementsAre("a3=ended"));
  EXPECT_THAT(visit("a", "", true, 1), ElementsAre("a7=stored"));
  EXPECT_THAT(visit("", "", true),
              ElementsAre("b1=stored", "a7=stored", "a6=open", "a4=open", "a3=ended"));
  EXPECT_THAT(visit("c", "", false), IsEmpty());
  EXPECT_THAT(visit("c", "", true), IsEmpty());

  EXPECT_THAT(writer().AbandonSnapshot(), IsOk());
  EXPECT_THAT(visit("a", "", false), ElementsAre("a1=stored", "a3=ended", "a4=ended", "a7=stored"));
}

TEST_P(StateStoreConformance, S5_RowsAndPositionOfASnapshotAreTakenBackTogether) {
  const TableId t = NewTable();
  WriteAndCommit([&] {
    Present(t, "a", "1");
    EXPECT_THAT(writer().PutAux(AuxSpace::kSourceState, "erp", "lsn 1"), IsOk());
  });
  EXPECT_THAT(writer().BeginSnapshot(), IsOk());
  Present(t, "a", "2");
  EXPECT_THAT(writer().PutAux(AuxSpace::kSourceState, "erp", "lsn 2"), IsOk());
  EXPECT_THAT(writer().AbandonSnapshot(), IsOk());
  EXPECT_THAT(writer().GetAux(AuxSpace::kSourceState, "erp"),
              IsOkAndHolds(std::optional<std::string>("lsn 1")));
  EXPECT_EQ(Current(t, "a"), "PRESENT m 1");
}

}  // namespace
}  // namespace tidemark::state
