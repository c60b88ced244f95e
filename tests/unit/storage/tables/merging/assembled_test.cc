// Assembled rows: columns groups, the anchor, hidden rows, what is known of every group.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/state/memory/memory_state_store.h"
#include "storage/tables/row_codec.h"
#include "tests/support/merge_world.h"
#include "tests/support/status_matchers.h"

namespace tidemark::tables {
namespace {

using ::tidemark::testing::IsOk;
using ::tidemark::testing::IsOkAndHolds;
using ::tidemark::testing::ReasonIs;

constexpr char kTables[] = R"(
- name: customers
  key: [id]
  columns: {id: int, name: string, segment: string, hint: string, orders: int, total: int}
  groups:
  - {name: master, from: {source: erp, relation: people}, columns: {name: name}, on_delete: row}
  - name: shop
    from: {source: shop, relation: segments}
    group_by: {id: customer}
    columns: {segment: segment}
  - {name: hints, from: {source: erp, relation: hints}, columns: {hint: text}, on_delete: ignore}
  - name: orders
    from: {source: erp, relation: orders}
    group_by: {id: customer}
    aggregates: {orders: {count: "*"}, total: {sum: total}}
)";

Datum Int(int64_t value) { return Datum::Int(value); }
Datum Text(const char* text) { return Datum::String(text); }
const Datum kUnsent = Datum::Unchanged();

class AssembledTest : public ::testing::Test {
 protected:
  std::string Rows() { return world_.Rows("customers"); }
  state::RowKind KindOf(int64_t id) { return world_.Stored("customers", {Int(id)})->kind; }
  GroupState StateOf(int64_t id, size_t group) {
    return DecodeMeta(world_.Stored("customers", {Int(id)})->meta, 4).value()[group];
  }

  std::unique_ptr<state::StateStore> store_ = state::CreateMemoryStore();
  MergeWorld world_{*store_, kTables};
  SchemaPtr people_ =
      Relation("erp", "people", {{"id", Kind::kInt, true}, {"name", Kind::kString}});
  SchemaPtr segments_ =
      Relation("shop", "segments", {{"customer", Kind::kInt, true}, {"segment", Kind::kString}});
  SchemaPtr hints_ = Relation("erp", "hints", {{"id", Kind::kInt, true}, {"text", Kind::kString}});
  SchemaPtr orders_ =
      Relation("erp", "orders", {{"id", Kind::kInt, true}, {"customer"}, {"total"}});
};

TEST_F(AssembledTest, ACustomerWithoutOrdersHasNoneAndNoTotal) {
  ASSERT_THAT(world_.Apply({Insert(people_, 1, {Int(1), Text("Ann")})}), IsOk());
  EXPECT_EQ(Rows(), "id=1 name=Ann segment=null hint=null orders=0 total=null\n");
}

TEST_F(AssembledTest, GroupsOfSeveralSourcesMeetInOneRow) {
  ASSERT_THAT(world_.Apply({Insert(people_, 1, {Int(1), Text("Ann")}),
                            Insert(segments_, 1, {Int(1), Text("gold")}),
                            Insert(orders_, 2, {Int(7), Int(1), Int(30)}),
                            Insert(orders_, 3, {Int(8), Int(1), Int(12)})}),
              IsOk());
  EXPECT_EQ(Rows(), "id=1 name=Ann segment=gold hint=null orders=2 total=42\n");
}

TEST_F(AssembledTest, ARowIsHiddenUntilItsAnchorComesAndLosesNothingMeanwhile) {
  ASSERT_THAT(world_.Apply({Insert(orders_, 1, {Int(7), Int(1), Int(30)})}),
              IsOkAndHolds(std::nullopt));
  ASSERT_THAT(world_.Apply({Insert(segments_, 2, {Int(1), Text("gold")})}),
              IsOkAndHolds(std::nullopt));
  EXPECT_EQ(Rows(), "");
  EXPECT_EQ(KindOf(1), state::RowKind::kHidden);
  const state::SnapshotId before = world_.latest();
  ASSERT_THAT(world_.Apply({Insert(people_, 3, {Int(1), Text("Ann")})}), IsOk());
  EXPECT_EQ(Rows(), "id=1 name=Ann segment=gold hint=null orders=1 total=30\n");
  EXPECT_EQ(world_.Changes(before),
            "INSERT id=1 name=Ann segment=gold hint=null orders=1 total=30\n");
  // The anchor goes and comes back: what others said is still there.
  ASSERT_THAT(world_.Apply({Delete(people_, 4, {Int(1), kUnsent})}), IsOk());
  EXPECT_EQ(Rows(), "");
  EXPECT_EQ(KindOf(1), state::RowKind::kHidden);
  ASSERT_THAT(world_.Apply({Insert(orders_, 5, {Int(8), Int(1), Int(5)})}),
              IsOkAndHolds(std::nullopt));
  ASSERT_THAT(world_.Apply({Insert(people_, 6, {Int(1), Text("Ann B.")})}), IsOk());
  EXPECT_EQ(Rows(), "id=1 name=Ann B. segment=gold hint=null orders=2 total=35\n");
}

TEST_F(AssembledTest, AHiddenRowOfWhichNothingIsLeftDisappears) {
  ASSERT_THAT(world_.Apply({Insert(orders_, 1, {Int(7), Int(1), Int(30)}),
                            Insert(segments_, 2, {Int(1), Text("gold")})}),
              IsOk());
  ASSERT_THAT(world_.Apply({Delete(orders_, 3, {Int(7), kUnsent, kUnsent})}), IsOk());
  EXPECT_EQ(KindOf(1), state::RowKind::kHidden);
  ASSERT_THAT(world_.Apply({Delete(segments_, 4, {Int(1), kUnsent})}), IsOk());
  EXPECT_EQ(world_.Stored("customers", {Int(1)}), std::nullopt);
}

TEST_F(AssembledTest, ADeleteNullsTheGroupHidesTheRowOrIsIgnored) {
  ASSERT_THAT(world_.Apply({Insert(people_, 1, {Int(1), Text("Ann")}),
                            Insert(segments_, 2, {Int(1), Text("gold")}),
                            Insert(hints_, 3, {Int(1), Text("call first")})}),
              IsOk());
  ASSERT_THAT(world_.Apply({Delete(segments_, 4, {Int(1), kUnsent})}), IsOk());
  EXPECT_EQ(Rows(), "id=1 name=Ann segment=null hint=call first orders=0 total=null\n");
  EXPECT_THAT(world_.Apply({Delete(hints_, 5, {Int(1), kUnsent})}), IsOkAndHolds(std::nullopt));
  EXPECT_EQ(Rows(), "id=1 name=Ann segment=null hint=call first orders=0 total=null\n");
  ASSERT_THAT(world_.Apply({Delete(people_, 6, {Int(1), kUnsent})}), IsOk());
  EXPECT_EQ(Rows(), "");
}

TEST_F(AssembledTest, TheRowSaysPerGroupWhetherItsSourceHasSpoken) {
  EventOrigin origin = MergeWorld::Origin();
  origin.position = "0/16B3748";
  RowEvent insert = Insert(people_, 1, {Int(1), Text("Ann")});
  insert.event_time = absl::FromUnixSeconds(1795000000);
  ASSERT_THAT(world_.Apply({insert, Insert(segments_, 2, {Int(1), Text("gold")}),
                            Delete(segments_, 3, {Int(1), kUnsent})},
                           origin),
              IsOk());
  EXPECT_EQ(StateOf(1, 0).presence, GroupState::Presence::kPresent);
  EXPECT_EQ(StateOf(1, 0).position, "0/16B3748");
  EXPECT_EQ(StateOf(1, 0).sequence, Sequence(1));
  EXPECT_EQ(StateOf(1, 0).event_time, absl::FromUnixSeconds(1795000000));
  EXPECT_EQ(StateOf(1, 1).presence, GroupState::Presence::kDeleted);
  EXPECT_EQ(StateOf(1, 2).presence, GroupState::Presence::kAbsent);
  EXPECT_EQ(StateOf(1, 3).presence, GroupState::Presence::kAbsent);
}

TEST_F(AssembledTest, AGroupsTombstoneKeepsItsSequenceWhereEventsComeLate) {
  EventOrigin kafka = MergeWorld::Origin();
  kafka.ordered = false;
  ASSERT_THAT(world_.Apply({Insert(people_, 1, {Int(1), Text("Ann")}),
                            Delete(segments_, 9, {Int(1), kUnsent})},
                           kafka),
              IsOk());
  EXPECT_THAT(world_.Apply({Insert(segments_, 8, {Int(1), Text("late")})}, kafka),
              IsOkAndHolds(std::nullopt));
  // Also when the row is hidden, and when nothing but the sequence is left of it.
  ASSERT_THAT(world_.Apply({Delete(people_, 10, {Int(1), kUnsent})}, kafka), IsOk());
  EXPECT_EQ(KindOf(1), state::RowKind::kTombstone);
  EXPECT_THAT(world_.Apply({Insert(segments_, 8, {Int(1), Text("late")}),
                            Insert(people_, 9, {Int(1), Text("late")})},
                           kafka),
              IsOkAndHolds(std::nullopt));
  ASSERT_THAT(world_.Apply({Insert(people_, 11, {Int(1), Text("Ann")})}, kafka), IsOk());
  EXPECT_EQ(Rows(), "id=1 name=Ann segment=null hint=null orders=0 total=null\n");
}

TEST_F(AssembledTest, AKeyChangeOfTheAnchorMovesItsColumnsOnly) {
  ASSERT_THAT(world_.Apply({Insert(people_, 1, {Int(1), Text("Ann")}),
                            Insert(orders_, 2, {Int(7), Int(1), Int(30)})}),
              IsOk());
  ASSERT_THAT(world_.Apply({Update(people_, 3, {Int(1), kUnsent}, {Int(2), kUnsent})}), IsOk());
  EXPECT_EQ(Rows(), "id=2 name=Ann segment=null hint=null orders=0 total=null\n");
  EXPECT_EQ(KindOf(1), state::RowKind::kHidden);
  ASSERT_THAT(world_.Apply({Update(orders_, 4, {}, {Int(7), Int(2), Int(30)})}), IsOk());
  EXPECT_EQ(Rows(), "id=2 name=Ann segment=null hint=null orders=1 total=30\n");
  EXPECT_EQ(world_.Stored("customers", {Int(1)})->kind, state::RowKind::kTombstone);
}

TEST_F(AssembledTest, TruncatingOneRelationTakesOutItsGroupOnly) {
  ASSERT_THAT(
      world_.Apply(
          {Insert(people_, 1, {Int(1), Text("Ann")}), Insert(segments_, 2, {Int(1), Text("gold")}),
           Insert(hints_, 3, {Int(1), Text("h")}), Insert(orders_, 4, {Int(7), Int(1), Int(30)}),
           Insert(orders_, 5, {Int(8), Int(2), Int(1)})}),
      IsOk());
  const state::SnapshotId before = world_.latest();
  ASSERT_THAT(world_.Apply({Truncate(orders_, 6)}), IsOk());
  EXPECT_EQ(Rows(), "id=1 name=Ann segment=gold hint=h orders=0 total=null\n");
  EXPECT_EQ(world_.Stored("customers", {Int(2)}), std::nullopt);
  EXPECT_EQ(world_.Count(state::AuxSpace::kContribution), 1u);  // the group's header
  ASSERT_THAT(world_.Apply({Truncate(segments_, 7), Truncate(hints_, 8)}), IsOk());
  EXPECT_EQ(Rows(), "id=1 name=Ann segment=null hint=h orders=0 total=null\n");
  ASSERT_THAT(world_.Apply({Truncate(people_, 9)}), IsOk());
  EXPECT_EQ(Rows(), "");
  EXPECT_EQ(world_.Rows("customers", before),
            "id=1 name=Ann segment=gold hint=h orders=1 total=30\n");
  // What is older than a truncate loses, after a restart too.
  world_.Restart();
  EXPECT_THAT(world_.Apply({Insert(people_, 8, {Int(1), Text("late")}),
                            Insert(orders_, 5, {Int(8), Int(1), Int(1)})}),
              IsOkAndHolds(std::nullopt));
}

TEST_F(AssembledTest, AnEventThatFailsInOneGroupChangesNoGroup) {
  ASSERT_THAT(world_.Apply({Insert(people_, 1, {Int(1), Text("Ann")})}), IsOk());
  EXPECT_THAT(world_.Apply({Insert(orders_, 2, {Int(7), Int(1), Int(30)}),
                            Insert(orders_, 3, {Int(8), Int(1), Text("x")})}),
              ReasonIs(Reason::kFieldInvalid));
  EXPECT_EQ(world_.Count(state::AuxSpace::kContribution), 0u);
  ASSERT_THAT(world_.Apply({Insert(orders_, 2, {Int(7), Int(1), Int(30)})}), IsOk());
  EXPECT_EQ(Rows(), "id=1 name=Ann segment=null hint=null orders=1 total=30\n");
  EXPECT_EQ(world_.Count(state::AuxSpace::kContribution), 2u);
}

}  // namespace
}  // namespace tidemark::tables
