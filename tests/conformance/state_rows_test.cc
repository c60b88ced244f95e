// Rows: what is read at which snapshot, in place and versioned changes, net effect, hidden rows.
#include "tests/conformance/state_store_conformance.h"

namespace tidemark::state {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Optional;
using testing::ReasonIs;

TEST_P(StateStoreConformance, ANewStoreIsAtSnapshotOneAndEmpty) {
  EXPECT_EQ(reader().Latest()->id(), kFirstSnapshot);
  EXPECT_EQ(reader().Latest()->floor(), kFirstSnapshot);
  EXPECT_THAT(writer().Tables(), IsEmpty());
  EXPECT_THAT(ChangesAfter(kFirstSnapshot), IsEmpty());
  EXPECT_THAT(writer().Health(), IsOk());
}

TEST_P(StateStoreConformance, S1_EveryVersionIsReadAtExactlyItsSnapshots) {
  const TableId t = NewTable();  // 2
  EXPECT_THAT(WriteAndCommit([&] { Present(t, "a", "v1"); }), Optional(3));
  EXPECT_THAT(WriteAndCommit([&] { Present(t, "b", "w1"); }), Optional(4));
  EXPECT_THAT(WriteAndCommit([&] { Present(t, "a", "v2"); }), Optional(5));
  EXPECT_THAT(WriteAndCommit([&] { Tombstone(t, "a"); }), Optional(6));
  EXPECT_THAT(WriteAndCommit([&] { Present(t, "a", "v3"); }), Optional(7));
  EXPECT_THAT(WriteAndCommit([&] { Present(t, "a", "v4"); }), Optional(8));
  EXPECT_EQ(Read(2, t, "a"), "-");
  EXPECT_EQ(Read(3, t, "a"), "v1@3");
  EXPECT_EQ(Read(4, t, "a"), "v1@3");
  EXPECT_EQ(Read(5, t, "a"), "v2@5");
  EXPECT_EQ(Read(6, t, "a"), "-");
  EXPECT_EQ(Read(7, t, "a"), "v3@7");
  EXPECT_EQ(Read(8, t, "a"), "v4@8");
  EXPECT_EQ(Read(3, t, "b"), "-");
  EXPECT_EQ(Read(8, t, "b"), "w1@4");
  EXPECT_EQ(Read(8, t, "never"), "-");
  // Again, now that a cache may hold some of them.
  EXPECT_EQ(Read(8, t, "a"), "v4@8");
  EXPECT_EQ(Read(5, t, "a"), "v2@5");
}

TEST_P(StateStoreConformance, S2_AReadPointStaysWhatItWasWhileOthersWrite) {
  const TableId t = NewTable(), u = NewTable();
  WriteAndCommit([&] {
    Present(t, "a", "1");
    Present(u, "a", "1");
  });
  const ReadPoint point = Latest();
  WriteAndCommit([&] { Present(t, "a", "2"); });
  WriteAndCommit([&] { Truncate(u); });
  EXPECT_EQ(Read(point, t, "a"), "1@4");
  EXPECT_EQ(Read(point, u, "a"), "1@4");
  EXPECT_THAT(Scan(point, t), ElementsAre("a=1@4"));
  EXPECT_EQ(Read(Latest(), t, "a"), "2@5");
  EXPECT_EQ(Read(Latest(), u, "a"), "-");
}

TEST_P(StateStoreConformance, NothingIsVisibleBeforeCommit) {
  const TableId t = NewTable();
  Write([&] { Present(t, "a", "1"); });
  EXPECT_EQ(reader().Latest()->id(), 2);
  EXPECT_EQ(Read(Latest(), t, "a"), "-");
  EXPECT_THAT(reader().PointAt(reader().Latest(), 3), ReasonIs(Reason::kSnapshotInFuture));
  Commit();
  EXPECT_EQ(Read(Latest(), t, "a"), "1@3");
}

TEST_P(StateStoreConformance, ManySnapshotsOfOneBatchAreAllReadable) {
  const TableId t = NewTable();
  EXPECT_THAT(Write([&] { Present(t, "a", "1"); }), Optional(3));
  EXPECT_THAT(Write([&] { Present(t, "a", "2"); }), Optional(4));
  EXPECT_THAT(Write([&] { Tombstone(t, "a"); }), Optional(5));
  EXPECT_THAT(Write([&] { Present(t, "a", "4"); }), Optional(6));
  Commit();
  EXPECT_EQ(Read(3, t, "a"), "1@3");
  EXPECT_EQ(Read(4, t, "a"), "2@4");
  EXPECT_EQ(Read(5, t, "a"), "-");
  EXPECT_EQ(Read(6, t, "a"), "4@6");
  EXPECT_THAT(ChangesAfter(2),
              ElementsAre("3 1 INSERT a 0", "4 1 UPDATE a 3", "5 1 DELETE a 4", "6 1 INSERT a 5"));
}

TEST_P(StateStoreConformance, TheWriterReadsItsOwnWrites) {
  const TableId t = NewTable();
  EXPECT_THAT(writer().BeginSnapshot(), IsOk());
  EXPECT_EQ(Current(t, "a"), "-");
  Present(t, "a", "1", "m1");
  EXPECT_EQ(Current(t, "a"), "PRESENT m1 1");
  Tombstone(t, "a", "m2", /*remember=*/true);
  EXPECT_EQ(Current(t, "a"), "TOMBSTONE m2 ");
  Hidden(t, "a", "2", "m3");
  EXPECT_EQ(Current(t, "a"), "HIDDEN m3 2");
  EXPECT_THAT(writer().EndSnapshot({}), IsOk());
  EXPECT_EQ(Current(t, "a"), "HIDDEN m3 2");
  Commit();
  EXPECT_EQ(Current(t, "a"), "HIDDEN m3 2");
}

TEST_P(StateStoreConformance, ASnapshotWithoutEffectHasNoIdAndTheNextOneGetsIt) {
  const TableId t = NewTable();
  WriteAndCommit([&] { Present(t, "a", "1"); });
  EXPECT_EQ(WriteAndCommit([] {}), std::nullopt);
  EXPECT_EQ(WriteAndCommit([&] { Present(t, "a", "1"); }), std::nullopt);
  EXPECT_EQ(WriteAndCommit([&] { Tombstone(t, "never"); }), std::nullopt);
  EXPECT_EQ(WriteAndCommit([&] {
              Present(t, "b", "1");
              Tombstone(t, "b");
            }),
            std::nullopt);
  EXPECT_EQ(reader().Latest()->id(), 3);
  EXPECT_THAT(WriteAndCommit([&] { Present(t, "b", "1"); }), Optional(4));
  EXPECT_THAT(ChangesAfter(2), ElementsAre("3 1 INSERT a 0", "4 1 INSERT b 0"));
}

TEST_P(StateStoreConformance, AKeyTouchedTwiceHasItsNetEffect) {
  const TableId t = NewTable();
  WriteAndCommit([&] {
    Present(t, "back", "1", "m1");
    Present(t, "changed", "1");
    Present(t, "gone", "1");
  });
  EXPECT_THAT(WriteAndCommit([&] {
                Present(t, "back", "2");
                Tombstone(t, "gone");
                Present(t, "changed", "2");
                Present(t, "brief", "1");
                Present(t, "back", "1", "m2");
                Present(t, "gone", "2");
                Tombstone(t, "gone");
                Tombstone(t, "brief");
                Tombstone(t, "changed");
                Present(t, "changed", "3");
              }),
              Optional(4));
  EXPECT_THAT(ChangesAfter(3), ElementsAre("4 1 UPDATE changed 3", "4 1 DELETE gone 3"));
  EXPECT_EQ(Read(4, t, "back"), "1@3");
  EXPECT_EQ(Read(3, t, "back"), "1@3");
  EXPECT_EQ(Current(t, "back"), "PRESENT m2 1");
  EXPECT_EQ(Read(4, t, "changed"), "3@4");
  EXPECT_EQ(Read(3, t, "changed"), "1@3");
  EXPECT_EQ(Read(4, t, "gone"), "-");
  EXPECT_EQ(Read(3, t, "gone"), "1@3");
  EXPECT_EQ(Current(t, "brief"), "-");
  // The keys go on as if nothing had happened.
  WriteAndCommit([&] { Present(t, "back", "5"); });
  EXPECT_EQ(Read(4, t, "back"), "1@3");
  EXPECT_EQ(Read(5, t, "back"), "5@5");
  EXPECT_THAT(ChangesAfter(4), ElementsAre("5 1 UPDATE back 3"));
}

TEST_P(StateStoreConformance, OnlyMetaChangesInPlaceWithoutVersionOrChange) {
  const TableId t = NewTable();
  WriteAndCommit([&] { Present(t, "a", "1", "m1"); });
  EXPECT_EQ(WriteAndCommit([&] { Present(t, "a", "1", "m2"); }), std::nullopt);
  EXPECT_EQ(Current(t, "a"), "PRESENT m2 1");
  EXPECT_EQ(Read(Latest(), t, "a"), "1@3");
  EXPECT_THAT(ChangesAfter(3), IsEmpty());
  StoredRow row;
  EXPECT_THAT(reader().Get(Latest(), t, "a", &row), IsOk());
  EXPECT_EQ(row.meta(), "m2");
}

TEST_P(StateStoreConformance, HiddenRowsAreAbsentAndVersionedOnlyWhenTheyAppearOrVanish) {
  const TableId t = NewTable();
  EXPECT_EQ(WriteAndCommit([&] { Hidden(t, "a", "h1"); }), std::nullopt);
  EXPECT_EQ(Read(Latest(), t, "a"), "-");
  EXPECT_EQ(WriteAndCommit([&] { Hidden(t, "a", "h2"); }), std::nullopt);
  EXPECT_EQ(Current(t, "a"), "HIDDEN m h2");
  EXPECT_THAT(WriteAndCommit([&] { Present(t, "a", "p"); }), Optional(3));
  EXPECT_THAT(WriteAndCommit([&] { Hidden(t, "a", "h3"); }), Optional(4));
  EXPECT_EQ(WriteAndCommit([&] { Hidden(t, "a", "h4"); }), std::nullopt);
  EXPECT_THAT(WriteAndCommit([&] { Present(t, "a", "q"); }), Optional(5));
  EXPECT_EQ(Read(2, t, "a"), "-");
  EXPECT_EQ(Read(3, t, "a"), "p@3");
  EXPECT_EQ(Read(4, t, "a"), "-");
  EXPECT_EQ(Read(5, t, "a"), "q@5");
  EXPECT_THAT(ChangesAfter(2), ElementsAre("3 1 INSERT a 0", "4 1 DELETE a 3", "5 1 INSERT a 4"));
}

TEST_P(StateStoreConformance, AHiddenRowShownInTheSameSnapshotIsAnInsert) {
  const TableId t = NewTable();
  EXPECT_THAT(WriteAndCommit([&] {
                Hidden(t, "a", "h");
                Present(t, "a", "p");
              }),
              Optional(3));
  EXPECT_THAT(ChangesAfter(2), ElementsAre("3 1 INSERT a 0"));
  EXPECT_EQ(Read(2, t, "a"), "-");
  EXPECT_EQ(WriteAndCommit([&] {
              Tombstone(t, "a");
              Hidden(t, "a", "h");
              Present(t, "a", "p");
            }),
            std::nullopt);
  EXPECT_EQ(Read(Latest(), t, "a"), "p@3");
}

TEST_P(StateStoreConformance, ATombstoneOfAnUnseenKeyIsForgottenUnlessItIsToBeRemembered) {
  const TableId t = NewTable();
  WriteAndCommit([&] {
    Tombstone(t, "forgotten", "m", /*remember=*/false);
    Tombstone(t, "kept", "m", /*remember=*/true);
    Hidden(t, "hidden", "h");
  });
  EXPECT_EQ(Current(t, "forgotten"), "-");
  EXPECT_EQ(Current(t, "kept"), "TOMBSTONE m ");
  WriteAndCommit([&] {
    Tombstone(t, "hidden", "m2", /*remember=*/false);
    Tombstone(t, "kept", "m2", /*remember=*/true);
  });
  EXPECT_EQ(Current(t, "hidden"), "-");
  EXPECT_EQ(Current(t, "kept"), "TOMBSTONE m2 ");
  WriteAndCommit([&] { Tombstone(t, "kept", "m2", /*remember=*/false); });
  EXPECT_EQ(Current(t, "kept"), "-");
  EXPECT_EQ(reader().Latest()->id(), 2);
}

TEST_P(StateStoreConformance, ATombstoneOfASeenKeyIsKeptWithItsMeta) {
  const TableId t = NewTable();
  WriteAndCommit([&] { Present(t, "a", "1"); });
  WriteAndCommit([&] { Tombstone(t, "a", "m1"); });
  EXPECT_EQ(WriteAndCommit([&] { Tombstone(t, "a", "m2"); }), std::nullopt);
  EXPECT_EQ(Current(t, "a"), "TOMBSTONE m2 ");
  EXPECT_EQ(Read(3, t, "a"), "1@3");
  EXPECT_EQ(WriteAndCommit([&] { Hidden(t, "a", "h", "m3"); }), std::nullopt);
  EXPECT_EQ(Current(t, "a"), "HIDDEN m3 h");
  EXPECT_EQ(WriteAndCommit([&] { Tombstone(t, "a", "m4"); }), std::nullopt);
  EXPECT_EQ(Read(3, t, "a"), "1@3");
  EXPECT_EQ(Read(4, t, "a"), "-");
}

TEST_P(StateStoreConformance, AbandonedChangesNeverWere) {
  const TableId t = NewTable();
  WriteAndCommit([&] {
    Present(t, "a", "1");
    Present(t, "b", "1");
  });
  EXPECT_THAT(writer().BeginSnapshot(), IsOk());
  Present(t, "a", std::string(200, 'x'));
  Tombstone(t, "b");
  Present(t, "c", std::string(200, 'y'));
  Truncate(t, "s2");
  Present(t, "a", std::string(200, 'z'));
  EXPECT_THAT(writer().PutAux(AuxSpace::kSourceState, "p", "2"), IsOk());
  EXPECT_THAT(writer().AbandonSnapshot(), IsOk());
  EXPECT_EQ(Current(t, "a"), "PRESENT m 1");
  EXPECT_EQ(Current(t, "c"), "-");
  EXPECT_EQ(writer().FindTable(t)->truncation_sequence, "");
  EXPECT_THAT(writer().GetAux(AuxSpace::kSourceState, "p"),
              testing::IsOkAndHolds(std::optional<std::string>()));
  Commit();
  EXPECT_EQ(reader().Latest()->id(), 3);
  EXPECT_THAT(Scan(Latest(), t), ElementsAre("a=1@3", "b=1@3"));
  EXPECT_THAT(ChangesAfter(3), IsEmpty());
  EXPECT_THAT(WriteAndCommit([&] { Present(t, "a", "2"); }), Optional(4));
  EXPECT_THAT(ChangesAfter(3), ElementsAre("4 1 UPDATE a 3"));
}

TEST_P(StateStoreConformance, KeysThatAreTooLongAndRowsThatAreTooLargeAreRefused) {
  const TableId t = NewTable();
  EXPECT_THAT(writer().BeginSnapshot(), IsOk());
  EXPECT_THAT(writer().Put(t, std::string(5000, 'k'), RowKind::kPresent, "", ""),
              ReasonIs(Reason::kValueTooLarge));
  EXPECT_THAT(writer().Put(t, "k", RowKind::kPresent, "", std::string(3 << 20, 'r')),
              ReasonIs(Reason::kValueTooLarge));
  EXPECT_THAT(writer().Put(t + 1, "k", RowKind::kPresent, "", ""),
              ReasonIs(Reason::kTableNotFound));
  EXPECT_THAT(writer().EndSnapshot({}), testing::IsOkAndHolds(std::optional<SnapshotId>()));
}

TEST_P(StateStoreConformance, AnyBytesAreAKey) {
  const TableId t = NewTable();
  const std::vector<std::string> keys = {std::string("\0", 1),
                                         std::string("\0\0", 2),
                                         "a",
                                         std::string("a\0", 2),
                                         "a\xff",
                                         "aaaaaaaaa",
                                         std::string("a") + std::string(8, '\xff'),
                                         std::string("a") + std::string(8, '\0'),
                                         "\xff\xff"};
  for (int round = 0; round < 3; ++round) {
    for (const std::string& key : keys) {
      WriteAndCommit([&] { Present(t, key, std::to_string(round)); });
    }
  }
  for (SnapshotId id = 3; id <= reader().Latest()->id(); ++id) {
    for (size_t i = 0; i < keys.size(); ++i) {
      const int64_t written = static_cast<int64_t>(id - 3) - static_cast<int64_t>(i);
      const int64_t n = static_cast<int64_t>(keys.size());
      const std::string want =
          written < 0 ? "-"
                      : std::to_string(written / n) + "@" + std::to_string(3 + i + written / n * n);
      ASSERT_EQ(Read(id, t, keys[i]), want) << id << " " << i;
    }
  }
}

}  // namespace
}  // namespace tidemark::state
