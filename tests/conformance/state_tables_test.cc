// Tables: creating, loading, truncating, and what readers get before, while and after.
#include "tests/conformance/state_store_conformance.h"

namespace tidemark::state {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Optional;
using ::testing::Pointee;
using testing::ReasonIs;

absl::Status GetStatus(const StateReader& reader, const ReadPoint& point, TableId table) {
  StoredRow row;
  return reader.Get(point, table, "a", &row);
}

TEST_P(StateStoreConformance, TablesHaveIdsForEver) {
  const TableId a = NewTable("definition a");
  const TableId b = NewTable("definition b");
  EXPECT_NE(a, b);
  EXPECT_THAT(writer().SetDefinition(b, "definition b2"), IsOk());
  EXPECT_EQ(writer().FindTable(b)->definition, "definition b2");
  EXPECT_EQ(writer().FindTable(b + 1), nullptr);
  ASSERT_EQ(writer().Tables().size(), 2u);
  EXPECT_EQ(writer().Tables()[0].definition, "definition a");
  EXPECT_EQ(writer().Tables()[1].id, b);
  EXPECT_THAT(writer().SetDefinition(b + 1, "x"), ReasonIs(Reason::kTableNotFound));
}

TEST_P(StateStoreConformance, AnUnknownTableIsNotFound) {
  EXPECT_THAT(GetStatus(reader(), Latest(), 7), ReasonIs(Reason::kTableNotFound));
  EXPECT_THAT(reader().Scan(Latest(), 7, {}), ReasonIs(Reason::kTableNotFound));
  EXPECT_THAT(writer().Current(7, "a"), ReasonIs(Reason::kTableNotFound));
  EXPECT_THAT(writer().VisitRows(7, "", [](auto, auto&) { return true; }),
              ReasonIs(Reason::kTableNotFound));
}

TEST_P(StateStoreConformance, ALoadingTableAnswersTableLoadingWithARetryTime) {
  const TableId t = NewLoadingTable();
  EXPECT_TRUE(writer().FindTable(t)->loading);
  WriteAndCommit([&] { Present(t, "a", "1"); });
  const absl::Status status = GetStatus(reader(), Latest(), t);
  EXPECT_THAT(status, ReasonIs(Reason::kTableLoading));
  EXPECT_NE(RetryAfterOf(status), std::nullopt);
  EXPECT_THAT(reader().Scan(Latest(), t, {}), ReasonIs(Reason::kTableLoading));
}

TEST_P(StateStoreConformance, AFirstCopyMakesNoSnapshotsAndIsReadFromItsEndOn) {
  const TableId t = NewLoadingTable();
  EXPECT_EQ(WriteAndCommit([&] {
              for (const char* key : {"a", "b", "c"}) {
                EXPECT_THAT(writer().Put(t, key, RowKind::kPresent, "m", "1",
                                         PutOptions{.known_new = true}),
                            IsOk());
              }
            }),
            std::nullopt);
  EXPECT_EQ(WriteAndCommit([&] {
              Present(t, "a", "2");
              Tombstone(t, "b");
              Hidden(t, "d", "h");
              Tombstone(t, "e", "m", /*remember=*/true);
            }),
            std::nullopt);
  EXPECT_EQ(Current(t, "a"), "PRESENT m 2");
  EXPECT_EQ(Current(t, "b"), "-");
  EXPECT_EQ(Current(t, "e"), "TOMBSTONE m ");
  EXPECT_THAT(WriteAndCommit([&] {
                EXPECT_THAT(writer().FinishLoading(t), IsOk());
                Present(t, "f", "5");
                Present(t, "c", "6");
              }),
              Optional(2));
  EXPECT_FALSE(writer().FindTable(t)->loading);
  EXPECT_THAT(Scan(Latest(), t), ElementsAre("a=2@2", "c=6@2", "f=5@2"));
  EXPECT_THAT(ChangesAfter(1), IsEmpty());
  const absl::Status before = GetStatus(reader(), At(1), t);
  EXPECT_THAT(before, ReasonIs(Reason::kSnapshotExpired));
  EXPECT_EQ(MetadataValue(before, "oldest"), "2");

  // Rows of the copy are ordinary versions from here on.
  WriteAndCommit([&] {
    Present(t, "a", "7");
    Tombstone(t, "c");
    Present(t, "d", "8");
    Present(t, "f", "5", "m2");
  });
  EXPECT_THAT(ChangesAfter(2), ElementsAre("3 1 UPDATE a 2", "3 1 DELETE c 2", "3 1 INSERT d 0"));
  EXPECT_EQ(Read(2, t, "a"), "2@2");
  EXPECT_EQ(Read(3, t, "a"), "7@3");
  EXPECT_EQ(Read(2, t, "c"), "6@2");
  EXPECT_EQ(Read(2, t, "d"), "-");
  EXPECT_EQ(Read(3, t, "f"), "5@2");
  WriteAndCommit([&] { Present(t, "a", "9"); });
  EXPECT_EQ(Read(2, t, "a"), "2@2");
  EXPECT_EQ(Read(3, t, "a"), "7@3");
}

TEST_P(StateStoreConformance, AnAbandonedEndOfACopyLeavesTheTableLoading) {
  const TableId t = NewLoadingTable();
  WriteAndCommit([&] { Present(t, "a", "1"); });
  EXPECT_THAT(writer().BeginSnapshot(), IsOk());
  EXPECT_THAT(writer().FinishLoading(t), IsOk());
  Present(t, "a", std::string(400, 'x'));
  EXPECT_THAT(writer().AbandonSnapshot(), IsOk());
  EXPECT_TRUE(writer().FindTable(t)->loading);
  EXPECT_EQ(Current(t, "a"), "PRESENT m 1");
  EXPECT_THAT(WriteAndCommit([&] { EXPECT_THAT(writer().FinishLoading(t), IsOk()); }), Optional(2));
  EXPECT_EQ(Read(2, t, "a"), "1@2");
}

TEST_P(StateStoreConformance, ALoadingTableIsTruncatedInPlace) {
  const TableId t = NewLoadingTable();
  WriteAndCommit([&] { Present(t, "a", "1"); });
  EXPECT_EQ(WriteAndCommit([&] {
              Truncate(t, "s1");
              Present(t, "b", "2");
            }),
            std::nullopt);
  EXPECT_EQ(Current(t, "a"), "-");
  EXPECT_EQ(writer().FindTable(t)->truncation_sequence, "s1");
  WriteAndCommit([&] {
    EXPECT_THAT(writer().FinishLoading(t), IsOk());
    Truncate(t, "s2");
    Present(t, "c", "3");
  });
  EXPECT_THAT(Scan(Latest(), t), ElementsAre("c=3@2"));
  EXPECT_EQ(writer().FindTable(t)->truncation_sequence, "s2");
  EXPECT_THAT(ChangesAfter(1), IsEmpty());
}

TEST_P(StateStoreConformance, ATruncateEmptiesTheTableFromItsSnapshotOn) {
  const TableId t = NewTable();
  WriteAndCommit([&] {
    Present(t, "a", "1");
    Present(t, "b", "1");
  });
  EXPECT_EQ(Read(Latest(), t, "a"), "1@3");
  EXPECT_THAT(WriteAndCommit([&] { Truncate(t, "s1"); }), Optional(4));
  EXPECT_THAT(Scan(Latest(), t), IsEmpty());
  EXPECT_EQ(Read(Latest(), t, "a"), "-");
  EXPECT_EQ(Current(t, "a"), "-");
  EXPECT_THAT(WriteAndCommit([&] { Present(t, "a", "2"); }), Optional(5));
  EXPECT_THAT(Scan(At(3), t), ElementsAre("a=1@3", "b=1@3"));
  EXPECT_THAT(Scan(At(4), t), IsEmpty());
  EXPECT_THAT(Scan(At(5), t), ElementsAre("a=2@5"));
  EXPECT_EQ(Read(3, t, "a"), "1@3");
  EXPECT_THAT(ChangesAfter(3), ElementsAre("4 1 TRUNCATE  0", "5 1 INSERT a 0"));
  EXPECT_EQ(writer().FindTable(t)->truncation_sequence, "s1");
}

TEST_P(StateStoreConformance, AnEmptyTableIsTruncatedToo) {
  const TableId t = NewTable();
  EXPECT_THAT(WriteAndCommit([&] { Truncate(t); }), Optional(3));
  EXPECT_THAT(ChangesAfter(2), ElementsAre("3 1 TRUNCATE  0"));
}

TEST_P(StateStoreConformance, ChangesBeforeATruncateOfTheSameSnapshotNeverWere) {
  const TableId t = NewTable(), u = NewTable();
  WriteAndCommit([&] {
    Present(t, "a", "1");
    Present(t, "b", "1");
    Present(u, "x", "1");
  });
  EXPECT_THAT(WriteAndCommit([&] {
                Present(t, "a", "2");
                Tombstone(t, "b");
                Present(t, "c", "2");
                Present(u, "x", "2");
                Truncate(t);
                Present(t, "b", "3");
                Tombstone(t, "b");
                Present(t, "d", "3");
              }),
              Optional(5));
  EXPECT_THAT(ChangesAfter(4), ElementsAre("5 1 TRUNCATE  0", "5 1 INSERT d 0", "5 2 UPDATE x 4"));
  EXPECT_THAT(Scan(At(4), t), ElementsAre("a=1@4", "b=1@4"));
  EXPECT_THAT(Scan(At(5), t), ElementsAre("d=3@5"));
}

TEST_P(StateStoreConformance, TwoTruncatesInOneSnapshotAreOne) {
  const TableId t = NewTable();
  WriteAndCommit([&] { Present(t, "a", "1"); });
  EXPECT_THAT(WriteAndCommit([&] {
                Truncate(t, "s1");
                Present(t, "a", "2");
                Present(t, "b", "2");
                Truncate(t, "s2");
                Present(t, "a", "3");
              }),
              Optional(4));
  EXPECT_THAT(ChangesAfter(3), ElementsAre("4 1 TRUNCATE  0", "4 1 INSERT a 0"));
  EXPECT_THAT(Scan(Latest(), t), ElementsAre("a=3@4"));
  EXPECT_EQ(Read(3, t, "a"), "1@3");
  EXPECT_EQ(writer().FindTable(t)->truncation_sequence, "s2");
}

TEST_P(StateStoreConformance, TruncatesComeBeforeAllOtherChangesOfTheirSnapshot) {
  const TableId t = NewTable(), u = NewTable(), v = NewTable();
  WriteAndCommit([&] {
    Present(t, "a", "1");
    Truncate(v);
    Present(u, "a", "1");
    Truncate(u);
    Present(v, "a", "1");
  });
  EXPECT_THAT(ChangesAfter(4), ElementsAre("5 2 TRUNCATE  0", "5 3 TRUNCATE  0", "5 1 INSERT a 0",
                                           "5 3 INSERT a 0"));
}

TEST_P(StateStoreConformance, ChangesAreInOrderOfSnapshotTableAndKeyAlsoAfterTruncates) {
  const TableId t = NewTable(), u = NewTable();
  WriteAndCommit([&] { Truncate(t); });
  WriteAndCommit([&] { Truncate(t); });
  WriteAndCommit([&] {
    Present(u, "b", "1");
    Present(u, "a", "1");
    Present(t, "d", "1");
    Present(t, "c", "1");
  });
  EXPECT_THAT(ChangesAfter(5),
              ElementsAre("6 1 INSERT c 0", "6 1 INSERT d 0", "6 2 INSERT a 0", "6 2 INSERT b 0"));
}

TEST_P(StateStoreConformance, ScansAreInKeyOrderWithinThePrefixAndAfterTheKey) {
  const TableId t = NewTable(), u = NewTable();
  WriteAndCommit([&] {
    for (const char* key : {"b", "a", "ab", "abc", "ac", "b\xff", "c"}) Present(t, key, "1");
    Present(u, "a", "other table");
    Hidden(t, "aba", "h");
    Tombstone(t, "abb", "m", /*remember=*/true);
  });
  WriteAndCommit([&] {
    Tombstone(t, "ac");
    Present(t, "ad", "2");
    Present(t, "abc", "2");
  });
  EXPECT_THAT(Scan(At(4), t),
              ElementsAre("a=1@4", "ab=1@4", "abc=1@4", "ac=1@4", "b=1@4", "b\xff=1@4", "c=1@4"));
  EXPECT_THAT(Scan(Latest(), t, {.prefix = "a"}),
              ElementsAre("a=1@4", "ab=1@4", "abc=2@5", "ad=2@5"));
  EXPECT_THAT(Scan(At(4), t, {.prefix = "ab", .after = "ab"}), ElementsAre("abc=1@4"));
  EXPECT_THAT(Scan(Latest(), t, {.after = "abz"}),
              ElementsAre("ad=2@5", "b=1@4", "b\xff=1@4", "c=1@4"));
  EXPECT_THAT(Scan(Latest(), t, {.prefix = "b", .after = "a"}), ElementsAre("b=1@4", "b\xff=1@4"));
  EXPECT_THAT(Scan(Latest(), t, {.prefix = "b", .after = "c"}), IsEmpty());
  EXPECT_THAT(Scan(Latest(), t, {.prefix = "x"}), IsEmpty());
}

TEST_P(StateStoreConformance, TheWriterVisitsRowsOfAllKindsInKeyOrder) {
  const TableId t = NewTable();
  WriteAndCommit([&] {
    Present(t, "a", "1");
    Present(t, "c", "1");
    Present(t, "e", "1");
  });
  EXPECT_THAT(writer().BeginSnapshot(), IsOk());
  Tombstone(t, "c");
  Hidden(t, "d", "h");
  Present(t, "b", "2");
  std::vector<std::string> seen;
  const auto visit = [&seen](std::string_view key, const Version& version) {
    seen.push_back(std::string(key) + "=" + version.row + "/" +
                   std::to_string(static_cast<int>(version.kind)));
    return key != "d";
  };
  EXPECT_THAT(writer().VisitRows(t, "b", visit), IsOk());
  EXPECT_THAT(seen, ElementsAre("b=2/0", "c=/1", "d=h/2"));
  EXPECT_THAT(writer().AbandonSnapshot(), IsOk());
}

}  // namespace
}  // namespace tidemark::state
