// Aggregate groups: exact whatever happens to the rows they are made of, at a cost that does not
// depend on how many there are.
#include <atomic>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/state/memory/memory_state_store.h"
#include "tests/support/counting_writer.h"
#include "tests/support/merge_world.h"
#include "tests/support/status_matchers.h"

namespace tidemark::tables {
namespace {

using ::testing::HasSubstr;
using ::tidemark::testing::IsOk;
using ::tidemark::testing::IsOkAndHolds;
using ::tidemark::testing::ReasonIs;

Datum Int(int64_t value) { return Datum::Int(value); }
Datum Text(const char* text) { return Datum::String(text); }
Datum Decimal(const char* text) { return Datum::Decimal(text); }
const Datum kUnsent = Datum::Unchanged();
const Datum kNull = Datum::Null();

// A table `t` (key k: int, anchor relation `keys`) with one aggregate group over relation `r`
// (id, k, x, y).
std::string TableOf(const std::string& columns, const std::string& group) {
  return "- name: t\n  key: [k]\n  columns: {k: int, n: int, " + columns +
         "}\n  groups:\n  - {name: keys, from: {source: erp, relation: keys}, columns: {n: n}}\n  "
         "- {name: g, from: {source: erp, relation: r}, " +
         group + "}\n";
}

class AggregateTest : public ::testing::Test {
 protected:
  // Keys 1 and 2 exist; `x` and `y` are of these types.
  void Define(const std::string& columns, const std::string& group, Kind x = Kind::kInt,
              Kind y = Kind::kInt) {
    store_ = state::CreateMemoryStore();
    world_ = std::make_unique<MergeWorld>(*store_, TableOf(columns, group));
    r_ = Relation("erp", "r", {{"id", Kind::kInt, true}, {"k"}, {"x", x}, {"y", y}});
    const SchemaPtr keys = Relation("erp", "keys", {{"k", Kind::kInt, true}, {"n"}});
    ASSERT_THAT(
        world_->Apply({Insert(keys, 0, {Int(1), Int(0)}), Insert(keys, 0, {Int(2), Int(0)})}),
        IsOk());
  }
  RowEvent Put(int64_t id, Datum k, Datum x, Datum y = Datum::Null()) {
    return Insert(r_, ++sequence_, {Int(id), std::move(k), std::move(x), std::move(y)});
  }
  RowEvent Set(int64_t id, Datum k, Datum x, Datum y = Datum::Null()) {
    return Update(r_, ++sequence_, {}, {Int(id), std::move(k), std::move(x), std::move(y)});
  }
  RowEvent Drop(int64_t id) {
    return Delete(r_, ++sequence_, {Int(id), kUnsent, kUnsent, kUnsent});
  }
  // The columns of key k after "k=1 n=0 ".
  std::string Row(int64_t k) {
    const std::string start = "k=" + std::to_string(k) + " n=0 ";
    const std::string rows = world_->Rows("t");
    const size_t at = rows.find(start);
    if (at == std::string::npos) return "none";
    return rows.substr(at + start.size(), rows.find('\n', at) - at - start.size());
  }
  std::string After(const std::vector<RowEvent>& events, int64_t k = 1) {
    EXPECT_THAT(world_->Apply(events), IsOk());
    return Row(k);
  }

  std::unique_ptr<state::StateStore> store_;
  std::unique_ptr<MergeWorld> world_;
  SchemaPtr r_;
  uint64_t sequence_ = 0;
};

// Case O-CDC-10.
TEST_F(AggregateTest, ReplayedEventsDoNotCountTwice) {
  Define("s: int", "group_by: {k: k}, aggregates: {s: {sum: x}}");
  const RowEvent first = Put(1, Int(1), Int(10)), second = Set(1, Int(1), Int(15)),
                 third = Put(2, Int(1), Int(7));
  EXPECT_EQ(After({first, second, third}), "s=22");
  EXPECT_THAT(world_->Apply({second, third}), IsOkAndHolds(std::nullopt));
  EXPECT_EQ(Row(1), "s=22");
  EXPECT_EQ(After({Drop(2)}), "s=15");
}

TEST_F(AggregateTest, CountsAndSumsFollowEveryKindOfChange) {
  Define("c: int, cx: int, s: int", "aggregates: {c: {count: '*'}, cx: {count: x}, s: {sum: x}}");
  EXPECT_EQ(Row(1), "c=0 cx=0 s=null");
  EXPECT_EQ(After({Put(1, Int(1), Int(5)), Put(2, Int(1), kNull)}), "c=2 cx=1 s=5");
  EXPECT_EQ(After({Set(2, Int(1), Int(-5))}), "c=2 cx=2 s=0");
  EXPECT_EQ(After({Set(1, Int(1), kNull), Set(2, Int(1), kNull)}), "c=2 cx=0 s=null");
  EXPECT_EQ(After({Drop(1), Drop(2)}), "c=0 cx=0 s=null");
}

TEST_F(AggregateTest, AForeignKeyChangeMovesTheContributionInOneSnapshot) {
  Define("s: int", "aggregates: {s: {sum: x}}");
  ASSERT_THAT(world_->Apply({Put(1, Int(1), Int(5)), Put(2, Int(1), Int(7))}), IsOk());
  const state::SnapshotId before = world_->latest();
  EXPECT_EQ(After({Set(2, Int(2), kUnsent)}), "s=5");
  EXPECT_EQ(Row(2), "s=7");
  EXPECT_EQ(world_->latest(), before + 1);
  EXPECT_EQ(After({Set(2, kNull, Int(7))}, 2), "s=null");
  EXPECT_EQ(Row(1), "s=5");
  EXPECT_EQ(After({Set(2, Int(1), kUnsent)}), "s=12");
}

TEST_F(AggregateTest, AKeyChangeOfTheSourceRowIsOneRowStill) {
  Define("c: int, s: int", "aggregates: {c: {count: '*'}, s: {sum: x}}");
  ASSERT_THAT(world_->Apply({Put(1, Int(1), Int(5))}), IsOk());
  EXPECT_EQ(After({Update(r_, ++sequence_, {Int(1), kUnsent, kUnsent, kUnsent},
                          {Int(9), Int(1), kUnsent, kNull})}),
            "c=1 s=5");
  EXPECT_EQ(After({Drop(1)}), "c=1 s=5");
  EXPECT_EQ(After({Drop(9)}), "c=0 s=null");
}

TEST_F(AggregateTest, ConditionsDecideWhatIsCountedAndNullsFulfilNone) {
  Define("c: int",
         "where: [{column: x, op: ge, value: 10}, {column: y, op: ne, value: 0}], "
         "aggregates: {c: {count: '*'}}");
  EXPECT_EQ(After({Put(1, Int(1), Int(10), Int(1)), Put(2, Int(1), Int(9), Int(1)),
                   Put(3, Int(1), Int(10), Int(0)), Put(4, Int(1), kNull, Int(1)),
                   Put(5, Int(1), Int(11), kNull)}),
            "c=1");
  EXPECT_EQ(After({Set(2, Int(1), Int(12), Int(3))}), "c=2");
  EXPECT_EQ(After({Set(1, Int(1), Int(1), kUnsent)}), "c=1");
  // The value that was not sent is known although the row was not counted.
  EXPECT_EQ(After({Set(1, Int(1), Int(20), kUnsent)}), "c=2");
}

TEST_F(AggregateTest, DecimalSumsAreExactAndHaveTheScaleOfWhatIsInThem) {
  Define("s: decimal", "aggregates: {s: {sum: x}}", Kind::kDecimal);
  EXPECT_EQ(After({Put(1, Int(1), Decimal("0.1")), Put(2, Int(1), Decimal("0.2"))}), "s=0.3");
  EXPECT_EQ(After({Put(3, Int(1), Decimal("99999999999999999999999999.005"))}),
            "s=99999999999999999999999999.305");
  EXPECT_EQ(After({Drop(3)}), "s=0.3");
  EXPECT_EQ(After({Put(4, Int(1), Decimal("-0.30"))}), "s=0.00");
  EXPECT_EQ(After({Put(5, Int(1), Text("NaN"))}), "s=NaN");
  EXPECT_EQ(After({Drop(5), Put(6, Int(1), Text("Infinity"))}), "s=Infinity");
  EXPECT_EQ(After({Put(7, Int(1), Text("-Infinity"))}), "s=NaN");
  EXPECT_EQ(After({Drop(6), Drop(7), Drop(4), Drop(1), Drop(2)}), "s=null");
}

TEST_F(AggregateTest, ASumThatLeavesTheRangeOfIntIsRefusedNotWrapped) {
  Define("s: int", "aggregates: {s: {sum: x}}");
  EXPECT_EQ(After({Put(1, Int(1), Int(INT64_MAX - 5))}), "s=9223372036854775802");
  const auto refused = world_->Apply({Put(2, Int(1), Int(6))});
  ASSERT_THAT(refused, ReasonIs(Reason::kFieldInvalid));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("Declare the column as decimal"));
  EXPECT_EQ(Row(1), "s=9223372036854775802");
  EXPECT_EQ(After({Put(2, Int(1), Int(5))}), "s=9223372036854775807");
}

TEST_F(AggregateTest, IntsMaySumIntoDecimals) {
  Define("s: decimal", "aggregates: {s: {sum: x}}");
  EXPECT_EQ(After({Put(1, Int(1), Int(INT64_MAX)), Put(2, Int(1), Int(INT64_MAX))}),
            "s=18446744073709551614");
}

TEST_F(AggregateTest, ExtremesComeBackWhenTheirRowLeaves) {
  Define("lo: int, hi: int", "aggregates: {lo: {min: x}, hi: {max: x}}");
  EXPECT_EQ(After({Put(1, Int(1), Int(5)), Put(2, Int(1), Int(-3)), Put(3, Int(1), Int(9)),
                   Put(4, Int(1), kNull)}),
            "lo=-3 hi=9");
  EXPECT_EQ(After({Drop(3)}), "lo=-3 hi=5");
  EXPECT_EQ(After({Set(2, Int(1), Int(6))}), "lo=5 hi=6");
  EXPECT_EQ(After({Set(1, Int(2), Int(5))}), "lo=6 hi=6");
  EXPECT_EQ(After({Set(2, Int(1), kNull)}), "lo=null hi=null");
  EXPECT_EQ(Row(2), "lo=5 hi=5");
  EXPECT_EQ(After({Drop(1), Drop(2), Drop(4)}, 2), "lo=null hi=null");
  EXPECT_EQ(world_->Count(state::AuxSpace::kOrderedContribution), 0u);
}

// Damage on disk must not end the process, nor become a wrong count.
TEST_F(AggregateTest, ARowThatTheTotalsDoNotContainIsDamage) {
  Define("c: int", "aggregates: {c: {count: '*'}}");
  EXPECT_EQ(After({Put(1, Int(1), Int(5))}), "c=1");
  const std::string key = state::KeyEncoder().AddInt(1).Release();
  const auto stored = world_->Stored("t", {Int(2)});
  ASSERT_TRUE(stored.has_value());
  state::StateWriter& writer = world_->writer();
  ASSERT_THAT(writer.BeginSnapshot(), IsOk());
  // The row of key 1 as one nobody contributed to.
  ASSERT_THAT(
      writer.Put(world_->catalog().Find("t")->id, key, stored->kind, stored->meta, stored->row, {}),
      IsOk());
  ASSERT_THAT(writer.EndSnapshot({.source = "erp", .position = "p"}), IsOk());
  EXPECT_THAT(world_->Apply({Drop(1)}), ReasonIs(Reason::kDataDamaged));
  EXPECT_THAT(world_->Apply({Set(1, Int(2), Int(5))}), ReasonIs(Reason::kDataDamaged));
}

TEST_F(AggregateTest, ExtremesOrderSpecialValuesAmongTheOthers) {
  Define("lo: timestamp, hi: timestamp", "aggregates: {lo: {min: x}, hi: {max: x}}",
         Kind::kTimestamp);
  EXPECT_EQ(After({Put(1, Int(1), Datum::Timestamp(-5)), Put(2, Int(1), Text("infinity")),
                   Put(3, Int(1), Text("0044-03-15 12:00:00 BC"))}),
            "lo=0044-03-15 12:00:00 BC hi=infinity");
  EXPECT_EQ(After({Drop(2), Drop(3), Put(4, Int(1), Text("12000-01-01 00:00:00"))}),
            "lo=-5 hi=12000-01-01 00:00:00");
}

TEST_F(AggregateTest, DoublesAreOrderedAsNumbersWithNaNLast) {
  Define("lo: double, hi: double", "aggregates: {lo: {min: x}, hi: {max: x}}", Kind::kDouble);
  EXPECT_EQ(After({Put(1, Int(1), Datum::Double(-2.5)), Put(2, Int(1), Datum::Double(-10)),
                   Put(3, Int(1), Datum::Double(1e300))}),
            "lo=-10.000000 hi=" + std::to_string(1e300));
  EXPECT_EQ(After({Put(4, Int(1), Datum::Double(std::stod("nan")))}), "lo=-10.000000 hi=nan");
}

TEST_F(AggregateTest, FirstAndLastGoByTheirColumnThenByTheSequence) {
  Define("a: string, z: string", "aggregates: {a: {first: x, by: y}, z: {last: x, by: y}}",
         Kind::kString);
  EXPECT_EQ(After({Put(1, Int(1), Text("one"), Int(10)), Put(2, Int(1), Text("two"), Int(20)),
                   Put(3, Int(1), Text("three"), Int(20)), Put(4, Int(1), Text("no time"), kNull)}),
            "a=one z=three");
  // An update is the row's newest event: among equals it is the last now.
  EXPECT_EQ(After({Set(2, Int(1), Text("two!"), Int(20))}), "a=one z=two!");
  EXPECT_EQ(After({Set(2, Int(1), Text("two!"), Int(5))}), "a=two! z=three");
  // A null is a value like others: it is the last row that is asked for.
  EXPECT_EQ(After({Set(3, Int(1), kNull, Int(30))}), "a=two! z=null");
  EXPECT_EQ(After({Drop(3)}), "a=two! z=one");
}

TEST_F(AggregateTest, WithoutAColumnFirstAndLastGoByTheSequence) {
  Define("a: int, z: int", "aggregates: {a: {first: x}, z: {last: x}}");
  EXPECT_EQ(After({Put(1, Int(1), Int(1)), Put(2, Int(1), Int(2)), Put(3, Int(1), Int(3))}),
            "a=1 z=3");
  EXPECT_EQ(After({Set(1, Int(1), Int(11))}), "a=2 z=11");
  EXPECT_EQ(After({Drop(1)}), "a=2 z=3");
}

// Case O-MRG-03: what is taken out before it came stays out until something newer comes.
TEST_F(AggregateTest, ARetractionBeforeItsInsertIsRemembered) {
  Define("s: int", "aggregates: {s: {sum: x}}");
  EventOrigin kafka = MergeWorld::Origin();
  kafka.ordered = false;
  const RowEvent insert = Put(1, Int(1), Int(4)), retraction = Drop(1),
                 update = Set(1, Int(1), Int(6));
  EXPECT_THAT(world_->Apply({retraction}, kafka), IsOkAndHolds(std::nullopt));
  EXPECT_EQ(Row(1), "s=null");
  ASSERT_THAT(world_->Apply({insert, update}, kafka), IsOk());
  EXPECT_EQ(Row(1), "s=6");
}

TEST_F(AggregateTest, AContributionMayCarryItsOwnSequence) {
  Define("s: int", "sequence: y, aggregates: {s: {sum: x}}");
  EXPECT_EQ(After({Put(1, Int(1), Int(10), Int(7))}), "s=10");
  EXPECT_THAT(world_->Apply({Set(1, Int(1), Int(99), Int(6))}), IsOkAndHolds(std::nullopt));
  EXPECT_EQ(After({Set(1, Int(1), Int(20), Int(7))}), "s=20");  // equal: later arrival
  EXPECT_EQ(After({Drop(1)}), "s=null");                        // says no sequence: newest
  EXPECT_THAT(world_->Apply({Set(1, Int(1), Int(30), Int(6))}), IsOkAndHolds(std::nullopt));
  EXPECT_EQ(After({Set(1, Int(1), Int(30), Int(8))}), "s=30");
  // A truncate has no such sequence: it takes out all, and every row remembers its own.
  EXPECT_EQ(After({Truncate(r_, ++sequence_)}), "s=null");
  EXPECT_THAT(world_->Apply({Set(1, Int(1), Int(30), Int(7))}), IsOkAndHolds(std::nullopt));
  EXPECT_EQ(After({Set(1, Int(1), Int(40), Int(9))}), "s=40");
}

TEST_F(AggregateTest, AnEventThatLeavesTheRowAsItWasTouchesItNot) {
  Define("c: int", "aggregates: {c: {count: '*'}}");
  ASSERT_THAT(world_->Apply({Put(1, Int(1), Int(1))}), IsOk());
  const auto stored = world_->Stored("t", {Int(1)});
  EXPECT_THAT(world_->Apply({Set(1, Int(1), Int(2))}), IsOkAndHolds(std::nullopt));
  EXPECT_EQ(world_->Stored("t", {Int(1)})->meta, stored->meta);
}

TEST_F(AggregateTest, TheSweepTakesOutContributionsOfOlderGenerations) {
  Define("c: int, hi: int", "aggregates: {c: {count: '*'}, hi: {max: x}}");
  ASSERT_THAT(
      world_->Apply({Put(1, Int(1), Int(1)), Put(2, Int(1), Int(20)), Put(3, Int(2), Int(3))}),
      IsOk());
  EventOrigin copy = MergeWorld::Origin();
  copy.generation = 2;
  copy.copy = true;
  ASSERT_THAT(world_->Apply({Put(1, Int(1), Int(1)), Put(4, Int(1), Int(4))}, copy), IsOk());
  ASSERT_THAT(world_->Sweep({"erp", "r"}, 2, 1), IsOk());
  EXPECT_EQ(Row(1), "c=2 hi=4");
  EXPECT_EQ(Row(2), "c=0 hi=null");
  // The stream goes on under the new generation, whatever sequences it starts with.
  sequence_ = 0;
  EventOrigin stream = copy;
  stream.copy = false;
  ASSERT_THAT(world_->Apply({Put(3, Int(2), Int(30))}, stream), IsOk());
  EXPECT_EQ(Row(2), "c=1 hi=30");
}

TEST_F(AggregateTest, RowsThatAreNamedOtherwiseNowAreCopiedAgainNotCountedTwice) {
  Define("c: int, hi: int", "aggregates: {c: {count: '*'}, hi: {max: x}}");
  ASSERT_THAT(world_->Apply({Put(1, Int(1), Int(1)), Put(2, Int(1), Int(20))}), IsOk());
  // The replica identity is now (k, id): the same rows, other names.
  const SchemaPtr renamed =
      Relation("erp", "r", {{"id", Kind::kInt, true}, {"k", Kind::kInt, true}, {"x"}, {"y"}});
  const RowEvent row = Insert(renamed, ++sequence_, {Int(1), Int(1), Int(1), kNull});
  const auto refused = world_->Apply({row});
  ASSERT_THAT(refused, ReasonIs(Reason::kFieldInvalid));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("let the relation be copied"));
  EXPECT_EQ(Row(1), "c=2 hi=20");
  EventOrigin copy = MergeWorld::Origin();
  copy.generation = 2;
  copy.copy = true;
  ASSERT_THAT(world_->Apply({row}, copy), IsOk());
  EXPECT_EQ(Row(1), "c=1 hi=1");
  ASSERT_THAT(world_->Sweep({"erp", "r"}, 2, 10), IsOk());
  EXPECT_EQ(Row(1), "c=1 hi=1");
}

TEST_F(AggregateTest, AnEmptyGroupTakesRowsUnderAnyName) {
  Define("c: int", "aggregates: {c: {count: '*'}}");
  EXPECT_EQ(After({Put(1, Int(1), Int(1)), Drop(1)}), "c=0");
  const SchemaPtr renamed =
      Relation("erp", "r", {{"id", Kind::kInt, true}, {"k", Kind::kInt, true}, {"x"}, {"y"}});
  EXPECT_EQ(After({Insert(renamed, ++sequence_, {Int(1), Int(1), Int(1), kNull})}), "c=1");
}

// 4-state.md: "a number of keys that does not depend on the size of its group".
TEST_F(AggregateTest, ATruncateOfManyRowsStopsWithTheServerAndLeavesThem) {
  Define("c: int", "aggregates: {c: {count: '*'}}");
  EXPECT_EQ(After({Put(1, Int(1), Int(5))}), "c=1");
  std::atomic<bool> stopping{true};
  Merger merger(world_->catalog(), world_->writer(), &stopping);
  ASSERT_THAT(world_->writer().BeginSnapshot(), IsOk());
  EXPECT_THAT(merger.Apply(Truncate(r_, 50), MergeWorld::Origin()),
              ReasonIs(Reason::kShuttingDown));
  ASSERT_THAT(world_->writer().AbandonSnapshot(), IsOk());
  EXPECT_EQ(Row(1), "c=1");
}

TEST_F(AggregateTest, TheCostOfAnEventDoesNotDependOnTheSizeOfItsGroup) {
  const std::string yaml =
      TableOf("c: int, s: int, lo: int, hi: int, z: int",
              "aggregates: {c: {count: '*'}, s: {sum: x}, lo: {min: x}, hi: {max: x}, z: {last: x, "
              "by: y}}");
  const auto calls_at = [&](int size) {
    const auto store = state::CreateMemoryStore();
    MergeWorld world(*store, yaml);
    CountingWriter writer(store->writer());
    Merger merger(world.catalog(), writer);
    r_ = Relation("erp", "r", {{"id", Kind::kInt, true}, {"k"}, {"x"}, {"y"}});
    EXPECT_THAT(writer.BeginSnapshot(), IsOk());
    for (int i = 0; i < size; ++i) {
      EXPECT_THAT(merger.Apply(Put(i, Int(1), Int(i), Int(i)), MergeWorld::Origin()), IsOk());
    }
    std::string calls;
    // A new maximum, its removal, a row in the middle, a foreign-key change.
    for (const RowEvent& event :
         {Put(size, Int(1), Int(size), Int(size)), Drop(size),
          Set(size / 2, Int(1), Int(0), Int(1)), Set(size - 1, Int(2), Int(1), Int(1)), Drop(0)}) {
      writer.Reset();
      EXPECT_THAT(merger.Apply(event, MergeWorld::Origin()), IsOk());
      calls += writer.Text() + "\n";
    }
    EXPECT_THAT(writer.AbandonSnapshot(), IsOk());
    return calls;
  };
  const std::string few = calls_at(8);
  EXPECT_EQ(calls_at(800), few);
  EXPECT_EQ(
      few,
      "gets=2 puts=4 deletes=0 seeks=0 seen=0\n"  // C, K; C, K, two of V
      "gets=4 puts=1 deletes=3 seeks=2 seen=2\n"  // two new maxima and their K
      "gets=2 puts=4 deletes=2 seeks=0 seen=0\n"
      "gets=5 puts=8 deletes=2 seeks=2 seen=2\n"  // three are fences of the group that was empty
      "gets=3 puts=1 deletes=3 seeks=1 seen=1\n");
  // Only a new first row was looked for: nothing behind a group that has become empty.
  EXPECT_EQ(calls_at(1).substr(calls_at(1).rfind("seeks=")), "seeks=0 seen=0\n");
}

}  // namespace
}  // namespace tidemark::tables
