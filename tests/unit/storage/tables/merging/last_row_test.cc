// last_row: the newest row of one relation, under its key.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/state/memory/memory_state_store.h"
#include "tests/support/merge_world.h"
#include "tests/support/status_matchers.h"

namespace tidemark::tables {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
using ::tidemark::testing::IsOk;
using ::tidemark::testing::IsOkAndHolds;
using ::tidemark::testing::ReasonIs;

constexpr char kTable[] =
    "- {name: t, key: [id], columns: {id: int, qty: int, note: string}, from: {source: erp, "
    "relation: r}}\n";

Datum Int(int64_t value) { return Datum::Int(value); }
Datum Text(const char* text) { return Datum::String(text); }
const Datum kUnsent = Datum::Unchanged();

class LastRowTest : public ::testing::Test {
 protected:
  // The image an update or delete sends when only the key identifies rows.
  static std::vector<Datum> KeyOnly(int64_t id) { return {Int(id), kUnsent, kUnsent}; }

  std::unique_ptr<state::StateStore> store_ = state::CreateMemoryStore();
  MergeWorld world_{*store_, kTable};
  SchemaPtr r_ = Relation("erp", "r", {{"id", Kind::kInt, true}, {"qty"}, {"note", Kind::kString}});
};

TEST_F(LastRowTest, RowsFollowInsertsUpdatesAndDeletes) {
  ASSERT_THAT(world_.Apply({Insert(r_, 1, {Int(5), Int(3), Text("n")})}), IsOk());
  EXPECT_EQ(world_.Rows("t"), "id=5 qty=3 note=n\n");
  const state::SnapshotId start = world_.latest();
  ASSERT_THAT(world_.Apply({Update(r_, 2, {}, {Int(5), Int(9), Text("n")})}), IsOk());
  EXPECT_EQ(world_.Rows("t"), "id=5 qty=9 note=n\n");
  ASSERT_THAT(world_.Apply({Delete(r_, 3, KeyOnly(5))}), IsOk());
  EXPECT_EQ(world_.Rows("t"), "");
  // The old image comes from our own state, whatever the event had of it.
  EXPECT_EQ(world_.Changes(start), "UPDATE id=5 qty=9 note=n\nDELETE id=5 qty=9 note=n\n");
}

TEST_F(LastRowTest, ValuesThatWereNotSentKeepWhatIsStored) {
  ASSERT_THAT(world_.Apply({Insert(r_, 1, {Int(1), Int(1), Text("LONG")}),
                            Insert(r_, 2, {Int(2), Int(1), Text("OLD2")})}),
              IsOk());
  const state::SnapshotId start = world_.latest();
  ASSERT_THAT(world_.Apply({Update(r_, 3, {}, {Int(1), Int(2), kUnsent}),
                            Update(r_, 4, {}, {Int(2), Int(2), Text("NEW2")})}),
              IsOk());
  const state::SnapshotId between = world_.latest();
  ASSERT_THAT(world_.Apply({Update(r_, 5, {}, {Int(1), Int(3), kUnsent})}), IsOk());
  EXPECT_EQ(world_.Rows("t"), "id=1 qty=3 note=LONG\nid=2 qty=2 note=NEW2\n");
  EXPECT_EQ(world_.Rows("t", between), "id=1 qty=2 note=LONG\nid=2 qty=2 note=NEW2\n");
  EXPECT_EQ(world_.Changes(start),
            "UPDATE id=1 qty=2 note=LONG\nUPDATE id=2 qty=2 note=NEW2\nUPDATE id=1 qty=3 "
            "note=LONG\n");
}

TEST_F(LastRowTest, AnUnsentValueNobodyKnowsIsRefusedNotGuessed) {
  const auto refused = world_.Apply({Update(r_, 1, {}, {Int(1), Int(2), kUnsent})});
  ASSERT_THAT(refused, ReasonIs(Reason::kEventMalformed));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("\"note\" was not sent"));
  EXPECT_EQ(MetadataValue(refused.status(), "relation"), "r");
  EXPECT_EQ(world_.Rows("t"), "");
}

TEST_F(LastRowTest, AKeyChangeMovesTheRowInOneSnapshot) {
  ASSERT_THAT(world_.Apply({Insert(r_, 1, {Int(1), Int(7), Text("LONG")})}), IsOk());
  const state::SnapshotId before = world_.latest();
  // The value that was not sent is that of the old key.
  ASSERT_THAT(world_.Apply({Update(r_, 2, KeyOnly(1), {Int(2), Int(8), kUnsent})}),
              IsOkAndHolds(Optional(before + 1)));
  EXPECT_EQ(world_.Rows("t"), "id=2 qty=8 note=LONG\n");
  EXPECT_EQ(world_.Changes(before), "DELETE id=1 qty=7 note=LONG\nINSERT id=2 qty=8 note=LONG\n");
}

TEST_F(LastRowTest, KeysMayBeSwappedWithinATransaction) {
  ASSERT_THAT(world_.Apply({Insert(r_, 1, {Int(1), Int(10), Text("a")}),
                            Insert(r_, 2, {Int(2), Int(20), Text("b")})}),
              IsOk());
  ASSERT_THAT(world_.Apply({Update(r_, 3, KeyOnly(1), {Int(3), Int(10), kUnsent}),
                            Update(r_, 4, KeyOnly(2), {Int(1), Int(20), kUnsent}),
                            Update(r_, 5, KeyOnly(3), {Int(2), Int(10), kUnsent})}),
              IsOk());
  EXPECT_EQ(world_.Rows("t"), "id=1 qty=20 note=b\nid=2 qty=10 note=a\n");
}

TEST_F(LastRowTest, TheSameEventAgainMakesNoVersion) {
  const RowEvent insert = Insert(r_, 1, {Int(1), Int(1), Text("a")});
  const RowEvent update = Update(r_, 2, {}, {Int(1), Int(2), Text("a")});
  ASSERT_THAT(world_.Apply({insert, update}), IsOk());
  const auto stored = world_.Stored("t", {Int(1)});
  EXPECT_THAT(world_.Apply({update}), IsOkAndHolds(std::nullopt));
  EXPECT_THAT(world_.Apply({insert}), IsOkAndHolds(std::nullopt));  // lower: loses
  EXPECT_EQ(world_.Rows("t"), "id=1 qty=2 note=a\n");
  EXPECT_EQ(world_.Stored("t", {Int(1)})->meta, stored->meta);
}

TEST_F(LastRowTest, AHigherSequenceWithTheSameImageIsNotedInPlace) {
  ASSERT_THAT(world_.Apply({Insert(r_, 1, {Int(1), Int(1), Text("a")})}), IsOk());
  EXPECT_THAT(world_.Apply({Update(r_, 5, {}, {Int(1), Int(1), Text("a")})}),
              IsOkAndHolds(std::nullopt));
  EXPECT_THAT(world_.Apply({Update(r_, 3, {}, {Int(1), Int(9), Text("late")})}),
              IsOkAndHolds(std::nullopt));
  EXPECT_EQ(world_.Rows("t"), "id=1 qty=1 note=a\n");
}

TEST_F(LastRowTest, AHigherGenerationWinsBeforeAnySequence) {
  ASSERT_THAT(world_.Apply({Insert(r_, 100, {Int(1), Int(1), Text("a")})}), IsOk());
  EventOrigin second = MergeWorld::Origin();
  second.generation = 2;
  ASSERT_THAT(world_.Apply({Insert(r_, 3, {Int(1), Int(2), Text("b")})}, second), IsOk());
  EXPECT_THAT(world_.Apply({Update(r_, 200, {}, {Int(1), Int(3), Text("c")})}),
              IsOkAndHolds(std::nullopt));
  EXPECT_EQ(world_.Rows("t"), "id=1 qty=2 note=b\n");
}

TEST_F(LastRowTest, ADeletedKeyIsForgottenWhereEventsComeInOrder) {
  ASSERT_THAT(world_.Apply({Insert(r_, 1, {Int(1), Int(1), Text("a")})}), IsOk());
  ASSERT_THAT(world_.Apply({Delete(r_, 2, KeyOnly(1)), Delete(r_, 3, KeyOnly(7))}), IsOk());
  EXPECT_EQ(world_.Stored("t", {Int(7)}), std::nullopt);
  ASSERT_THAT(world_.Apply({Insert(r_, 4, {Int(1), Int(4), Text("d")})}), IsOk());
  EXPECT_EQ(world_.Rows("t"), "id=1 qty=4 note=d\n");
}

TEST_F(LastRowTest, ADeletedKeyIsRememberedWhereEventsComeLate) {
  EventOrigin kafka = MergeWorld::Origin();
  kafka.ordered = false;
  ASSERT_THAT(world_.Apply({Delete(r_, 9, KeyOnly(1))}, kafka), IsOkAndHolds(std::nullopt));
  EXPECT_THAT(world_.Apply({Insert(r_, 8, {Int(1), Int(8), Text("late")})}, kafka),
              IsOkAndHolds(std::nullopt));
  EXPECT_EQ(world_.Rows("t"), "");
  ASSERT_THAT(world_.Apply({Insert(r_, 10, {Int(1), Int(10), Text("new")})}, kafka), IsOk());
  EXPECT_EQ(world_.Rows("t"), "id=1 qty=10 note=new\n");
}

TEST_F(LastRowTest, TruncateEmptiesTheTableAndWhatIsOlderLoses) {
  ASSERT_THAT(world_.Apply({Insert(r_, 38, {Int(1), Int(1), Text("a")}),
                            Insert(r_, 39, {Int(2), Int(2), Text("b")})}),
              IsOk());
  const state::SnapshotId before = world_.latest();
  ASSERT_THAT(world_.Apply({Truncate(r_, 41)}), IsOk());
  EXPECT_EQ(world_.Rows("t"), "");
  ASSERT_THAT(world_.Apply({Insert(r_, 42, {Int(4), Int(4), Text("d")})}), IsOk());
  EXPECT_THAT(world_.Apply({Insert(r_, 40, {Int(3), Int(3), Text("late")})}),
              IsOkAndHolds(std::nullopt));
  EXPECT_EQ(world_.Rows("t"), "id=4 qty=4 note=d\n");
  EXPECT_EQ(world_.Rows("t", before), "id=1 qty=1 note=a\nid=2 qty=2 note=b\n");
  EXPECT_EQ(world_.Changes(before), "TRUNCATE\nINSERT id=4 qty=4 note=d\n");
}

TEST_F(LastRowTest, ATruncateThatComesLateTakesOutOnlyWhatIsOlder) {
  EventOrigin kafka = MergeWorld::Origin();
  kafka.ordered = false;
  ASSERT_THAT(world_.Apply({Insert(r_, 40, {Int(1), Int(1), Text("old")}),
                            Insert(r_, 50, {Int(2), Int(2), Text("new")})},
                           kafka),
              IsOk());
  ASSERT_THAT(world_.Apply({Truncate(r_, 45)}, kafka), IsOk());
  EXPECT_EQ(world_.Rows("t"), "id=2 qty=2 note=new\n");
  world_.Restart();
  EXPECT_THAT(world_.Apply({Insert(r_, 44, {Int(3), Int(3), Text("late")})}, kafka),
              IsOkAndHolds(std::nullopt));
  ASSERT_THAT(world_.Apply({Insert(r_, 46, {Int(3), Int(3), Text("later")})}, kafka), IsOk());
  EXPECT_EQ(world_.Rows("t"), "id=2 qty=2 note=new\nid=3 qty=3 note=later\n");
}

TEST_F(LastRowTest, ACopyReplacesWhatIsThereAndTheSweepTakesOutTheRest) {
  ASSERT_THAT(world_.Apply({Insert(r_, 1, {Int(1), Int(1), Text("same")}),
                            Insert(r_, 2, {Int(2), Int(2), Text("changed")}),
                            Insert(r_, 3, {Int(3), Int(3), Text("gone")})}),
              IsOk());
  const state::SnapshotId start = world_.latest();
  EventOrigin copy = MergeWorld::Origin();
  copy.generation = 2;
  copy.copy = true;
  ASSERT_THAT(world_.Apply({Insert(r_, 9, {Int(1), Int(1), Text("same")}),
                            Insert(r_, 9, {Int(2), Int(2), Text("NEW")}),
                            Insert(r_, 9, {Int(4), Int(4), Text("added")})},
                           copy),
              IsOk());
  ASSERT_THAT(world_.Sweep({"erp", "r"}, 2, 1), IsOk());
  EXPECT_EQ(world_.Rows("t"), "id=1 qty=1 note=same\nid=2 qty=2 note=NEW\nid=4 qty=4 note=added\n");
  EXPECT_EQ(world_.Changes(start),
            "UPDATE id=2 qty=2 note=NEW\nINSERT id=4 qty=4 note=added\nDELETE id=3 qty=3 "
            "note=gone\n");
}

TEST_F(LastRowTest, FirstCopiesLookNothingUp) {
  std::unique_ptr<state::StateStore> store = state::CreateMemoryStore();
  MergeWorld world(*store, kTable, /*loading=*/true);
  EventOrigin copy = MergeWorld::Origin();
  copy.copy = true;
  ASSERT_THAT(world.Apply({Insert(r_, 1, {Int(1), Int(1), Text("a")}),
                           Insert(r_, 1, {Int(2), Int(2), Text("b")})},
                          copy),
              IsOk());
  world.FinishLoading();
  EXPECT_EQ(world.Rows("t"), "id=1 qty=1 note=a\nid=2 qty=2 note=b\n");
}

// Case O-MRG-02.
TEST_F(LastRowTest, ADeclaredSequenceDecidesWhateverTheOrderOfArrival) {
  std::unique_ptr<state::StateStore> store = state::CreateMemoryStore();
  MergeWorld world(*store,
                   "- {name: t, key: [k], columns: {k: int, v: string, s: int}, from: {source: "
                   "erp, relation: r}, sequence: s}\n");
  const SchemaPtr r = Relation("erp", "r", {{"k", Kind::kInt, true}, {"v", Kind::kString}, {"s"}});
  const auto put = [&](uint64_t lsn, const char* v, int64_t s) {
    return world.Apply({Insert(r, lsn, {Int(1), Text(v), Int(s)})});
  };
  ASSERT_THAT(put(1, "a", 7), IsOk());
  ASSERT_THAT(put(2, "b", 7), IsOk());  // equal: the later arrival wins
  EXPECT_EQ(world.Rows("t"), "k=1 v=b s=7\n");
  ASSERT_THAT(world.Apply({Delete(r, 3, {Int(1), kUnsent, Int(9)})}), IsOk());
  EXPECT_EQ(world.Rows("t"), "");
  EXPECT_THAT(put(4, "late", 8), IsOkAndHolds(std::nullopt));
  EXPECT_EQ(world.Rows("t"), "");
  ASSERT_THAT(put(5, "new", 10), IsOk());
  EXPECT_EQ(world.Rows("t"), "k=1 v=new s=10\n");
  // A delete that does not say its sequence came later than what is stored.
  ASSERT_THAT(world.Apply({Delete(r, 6, {Int(1), kUnsent, kUnsent})}), IsOk());
  EXPECT_EQ(world.Rows("t"), "");
  EXPECT_THAT(put(7, "late", 9), IsOkAndHolds(std::nullopt));
}

TEST_F(LastRowTest, ASequenceOfAnotherTypeNeedsACopy) {
  std::unique_ptr<state::StateStore> store = state::CreateMemoryStore();
  MergeWorld world(*store,
                   "- {name: t, key: [k], columns: {k: int}, from: {source: erp, relation: r}, "
                   "sequence: s}\n");
  const auto relation = [](Kind type) {
    return Relation("erp", "r", {{"k", Kind::kInt, true}, {"s", type}});
  };
  ASSERT_THAT(world.Apply({Insert(relation(Kind::kDecimal), 1, {Int(1), Datum::Decimal("7")})}),
              IsOk());
  const RowEvent changed = Insert(relation(Kind::kInt), 2, {Int(1), Int(8)});
  EXPECT_THAT(world.Apply({changed}), ReasonIs(Reason::kFieldInvalid));
  EventOrigin copy = MergeWorld::Origin();
  copy.generation = 2;
  copy.copy = true;
  EXPECT_THAT(world.Apply({changed}, copy), IsOk());
  EXPECT_EQ(world.Rows("t"), "k=1\n");
}

TEST_F(LastRowTest, EventsThatFitNoRowAreRefusedAndChangeNothing) {
  const std::vector<std::pair<RowEvent, Reason>> kRefused = {
      {Insert(r_, 1, {Int(1), Int(1)}), Reason::kEventMalformed},
      {Insert(r_, 1, {}), Reason::kEventMalformed},
      {Update(r_, 1, {Int(1)}, {Int(1), Int(1), Text("a")}), Reason::kEventMalformed},
      {Delete(r_, 1, {}), Reason::kEventMalformed},
      {Insert(r_, 1, {Datum::Null(), Int(1), Text("a")}), Reason::kEventMalformed},
      {Delete(r_, 1, {kUnsent, Int(1), Text("a")}), Reason::kEventMalformed},
      {Insert(r_, 1, {Int(1), Text("x"), Text("a")}), Reason::kFieldInvalid},
      {Insert(r_, 1, {Int(1), Int(1), Text("\xff")}), Reason::kFieldInvalid},
      {Insert(r_, 1, {Int(1), Int(1), Datum::String(std::string(3 << 20, 'x'))}),
       Reason::kValueTooLarge},
  };
  for (const auto& [event, reason] : kRefused) {
    EXPECT_THAT(world_.Apply({Insert(r_, 1, {Int(9), Int(9), Text("z")}), event}),
                ReasonIs(reason));
  }
  EXPECT_EQ(world_.Rows("t"), "");
  EXPECT_THAT(world_.Apply({Insert(r_, 1, {Int(9), Int(9), Text("z")})}), IsOk());
}

TEST_F(LastRowTest, RelationsThatFeedNoTableAreIgnored) {
  const SchemaPtr other = Relation("erp", "other", {{"id", Kind::kInt, true}});
  EXPECT_THAT(world_.Apply({Insert(other, 1, {Int(1)}), Truncate(other, 2)}),
              IsOkAndHolds(std::nullopt));
}

}  // namespace
}  // namespace tidemark::tables
