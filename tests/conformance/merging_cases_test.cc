// Histories other systems got wrong, over every store: with LevelDB compacted after every commit
// too, since a delete marker must outlive a compaction.
#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/state_backend.h"
#include "tests/support/merge_world.h"
#include "tests/support/status_matchers.h"

namespace tidemark::tables {
namespace {

using ::testing::Optional;
using ::tidemark::testing::IsOk;
using ::tidemark::testing::IsOkAndHolds;

// `t` mirrors relation r; `sums` adds up its column n by account.
constexpr char kTables[] = R"(
- name: t
  key: [id]
  columns: {id: int, account: string, n: int, text: string}
  from: {source: erp, relation: r}
- name: sums
  key: [account]
  columns: {account: string, kind: string, sum: int}
  groups:
  - {name: accounts, from: {source: erp, relation: accounts}, columns: {kind: kind}}
  - {name: sums, from: {source: erp, relation: r}, aggregates: {sum: {sum: n}}}
- name: parts
  key: [k]
  columns: {k: int, a: int, b: int, g1: int, c: string}
  groups:
  - {name: rest, from: {source: erp, relation: parts}, columns: {c: c}}
  - {name: g1, from: {source: erp, relation: parts}, sequence: g1, columns: {a: a, b: b, g1: g1}}
)";

Datum Int(int64_t value) { return Datum::Int(value); }
Datum Text(const char* text) { return Datum::String(text); }
const Datum kUnsent = Datum::Unchanged();

class MergingCasesTest : public ::testing::TestWithParam<state::BackendFactory> {
 protected:
  void SetUp() override {
    const SchemaPtr accounts =
        Relation("erp", "accounts", {{"account", Kind::kString, true}, {"kind", Kind::kString}});
    ASSERT_THAT(world_.Apply({Insert(accounts, 0, {Text("A"), Text("k")})}), IsOk());
  }
  RowEvent Put(uint64_t lsn, int64_t id, int64_t n, Datum text = Datum::Null()) {
    return Insert(r_, lsn, {Int(id), Text("A"), Int(n), std::move(text)});
  }
  RowEvent Set(uint64_t lsn, int64_t id, int64_t n, Datum text = Datum::Null()) {
    return Update(r_, lsn, {}, {Int(id), Text("A"), Int(n), std::move(text)});
  }
  RowEvent Drop(uint64_t lsn, int64_t id) {
    return Delete(r_, lsn, {Int(id), kUnsent, kUnsent, kUnsent});
  }
  std::string Row(int64_t id, int64_t n, const std::string& text) {
    return "id=" + std::to_string(id) + " account=A n=" + std::to_string(n) + " text=" + text +
           "\n";
  }
  std::string Sum() { return world_.Rows("sums"); }
  static EventOrigin Late() {
    EventOrigin origin = MergeWorld::Origin();
    origin.ordered = false;
    return origin;
  }

  std::unique_ptr<state::StateBackend> backend_ = GetParam().make();
  MergeWorld world_{backend_->store(), kTables};
  SchemaPtr r_ = Relation("erp", "r",
                          {{"id", Kind::kInt, true},
                           {"account", Kind::kString},
                           {"n", Kind::kInt},
                           {"text", Kind::kString}});
};

// Case O-CDC-03.
TEST_P(MergingCasesTest, Cdc03_UnchangedLargeColumnsInOneBatch) {
  ASSERT_THAT(world_.Apply({Put(1, 1, 1, Text("LONG")), Put(2, 2, 1, Text("OLD2"))}), IsOk());
  const state::SnapshotId start = world_.latest();
  ASSERT_THAT(world_.Apply({Set(3, 1, 2, kUnsent)}), IsOk());
  const state::SnapshotId between = world_.latest();
  ASSERT_THAT(world_.Apply({Set(4, 2, 2, Text("NEW2")), Set(5, 1, 3, kUnsent)}), IsOk());
  EXPECT_EQ(world_.Rows("t"), Row(1, 3, "LONG") + Row(2, 2, "NEW2"));
  EXPECT_EQ(world_.Rows("t", between), Row(1, 2, "LONG") + Row(2, 1, "OLD2"));
  EXPECT_EQ(world_.Rows("t", start), Row(1, 1, "LONG") + Row(2, 1, "OLD2"));
}

// Case O-CDC-04.
TEST_P(MergingCasesTest, Cdc04_TheOldImageIsOursNotTheEvents) {
  ASSERT_THAT(world_.Apply({Put(30, 5, 3, Text("n"))}), IsOk());
  EXPECT_EQ(Sum(), "account=A kind=k sum=3\n");
  ASSERT_THAT(world_.Apply({Set(31, 5, 9, Text("n"))}), IsOk());
  EXPECT_EQ(Sum(), "account=A kind=k sum=9\n");
  const state::SnapshotId before = world_.latest();
  ASSERT_THAT(world_.Apply({Drop(32, 5)}), IsOk());
  EXPECT_EQ(Sum(), "account=A kind=k sum=null\n");
  EXPECT_EQ(world_.Changes(before),
            "DELETE " + Row(5, 9, "n") + "UPDATE account=A kind=k sum=null\n");
}

// Case O-CDC-05.
TEST_P(MergingCasesTest, Cdc05_AKeyChangeShowsNeitherBothRowsNorNone) {
  ASSERT_THAT(world_.Apply({Put(49, 1, 1, Text("x"))}), IsOk());
  const state::SnapshotId before = world_.latest();
  // As a delete and an insert that share a position, in one transaction.
  EXPECT_THAT(world_.Apply({Drop(50, 1), Put(50, 2, 1, Text("x"))}),
              IsOkAndHolds(Optional(before + 1)));
  EXPECT_EQ(world_.Rows("t"), Row(2, 1, "x"));
  EXPECT_EQ(world_.Rows("t", before), Row(1, 1, "x"));
  EXPECT_EQ(Sum(), "account=A kind=k sum=1\n");
}

// Case O-CDC-08: three updates delivered in the order 1, 3, 2, and keys that a double cannot tell
// apart.
TEST_P(MergingCasesTest, Cdc08_PositionsAndKeysAboveTwoToTheFiftyThreeStayDistinct) {
  constexpr int64_t kLarge = 9007199254740992;
  ASSERT_THAT(world_.Apply({Put(kLarge, 1, 1, Text("a"))}, Late()), IsOk());
  ASSERT_THAT(world_.Apply({Set(kLarge + 2, 1, 1, Text("c"))}, Late()), IsOk());
  EXPECT_THAT(world_.Apply({Set(kLarge + 1, 1, 1, Text("b"))}, Late()), IsOkAndHolds(std::nullopt));
  ASSERT_THAT(
      world_.Apply({Put(kLarge + 3, kLarge + 1, 1795000000123456789), Put(kLarge + 3, kLarge, 2)},
                   Late()),
      IsOk());
  EXPECT_EQ(world_.Rows("t"),
            Row(1, 1, "c") + Row(kLarge, 2, "null") + Row(kLarge + 1, 1795000000123456789, "null"));
  EXPECT_EQ(Sum(), "account=A kind=k sum=1795000000123456792\n");
}

// Case O-CDC-09.
TEST_P(MergingCasesTest, Cdc09_TransactionsThatInterleaveInTheLogAreAllApplied) {
  // Sequences are the commit's position, then the event's: record positions alone go backwards.
  const auto at = [](uint64_t commit, uint64_t record) { return commit * 1000 + record; };
  ASSERT_THAT(world_.Apply({Put(at(90, 90), 9, 9)}), IsOk());
  ASSERT_THAT(world_.Apply({Put(at(108, 103), 1, 1), Drop(at(108, 107), 9)}), IsOk());
  ASSERT_THAT(world_.Apply({Put(at(109, 104), 2, 2), Put(at(109, 106), 3, 3)}), IsOk());
  EXPECT_EQ(world_.Rows("t"), Row(1, 1, "null") + Row(2, 2, "null") + Row(3, 3, "null"));
  EXPECT_EQ(Sum(), "account=A kind=k sum=6\n");
}

// Case O-CDC-10.
TEST_P(MergingCasesTest, Cdc10_AReplayDoesNotDoubleASum) {
  ASSERT_THAT(world_.Apply({Put(1, 1, 10)}), IsOk());
  ASSERT_THAT(world_.Apply({Set(2, 1, 15)}), IsOk());
  ASSERT_THAT(world_.Apply({Put(3, 2, 7)}), IsOk());
  world_.Restart();
  EXPECT_THAT(world_.Apply({Set(2, 1, 15)}), IsOkAndHolds(std::nullopt));
  EXPECT_THAT(world_.Apply({Put(3, 2, 7)}), IsOkAndHolds(std::nullopt));
  EXPECT_EQ(Sum(), "account=A kind=k sum=22\n");
  ASSERT_THAT(world_.Apply({Drop(4, 2)}), IsOk());
  EXPECT_EQ(Sum(), "account=A kind=k sum=15\n");
}

// Case O-CDC-11.
TEST_P(MergingCasesTest, Cdc11_ATruncateEmptiesAndLaterRowsStay) {
  ASSERT_THAT(world_.Apply({Put(38, 1, 1), Put(39, 2, 2), Put(40, 3, 3)}), IsOk());
  const state::SnapshotId before = world_.latest();
  ASSERT_THAT(world_.Apply({Truncate(r_, 41)}), IsOk());
  EXPECT_EQ(world_.Rows("t"), "");
  EXPECT_EQ(Sum(), "account=A kind=k sum=null\n");
  ASSERT_THAT(world_.Apply({Put(42, 4, 4)}), IsOk());
  EXPECT_EQ(world_.Rows("t"), Row(4, 4, "null"));
  EXPECT_EQ(Sum(), "account=A kind=k sum=4\n");
  EXPECT_EQ(world_.Rows("t", before), Row(1, 1, "null") + Row(2, 2, "null") + Row(3, 3, "null"));
  EXPECT_EQ(world_.Rows("sums", before), "account=A kind=k sum=6\n");
}

// Case O-MRG-01 by columns groups, in both readings of its null in c: one that was sent is a value,
// in a group with a sequence and in one without, and one that was not sent (JSON: the field is
// absent) keeps what is stored, also inside the group whose sequence wins.
TEST_P(MergingCasesTest, Mrg01_AGroupsSequenceDecidesAndItsNullsCount) {
  const SchemaPtr parts = Relation(
      "erp", "parts", {{"k", Kind::kInt, true}, {"a"}, {"b"}, {"g1"}, {"c", Kind::kString}});
  uint64_t sequence = 0;
  const auto put = [&](int64_t k, Datum a, int64_t b, int64_t g1, Datum c) {
    ASSERT_THAT(world_.Apply({Update(parts, ++sequence, {},
                                     {Int(k), std::move(a), Int(b), Int(g1), std::move(c)})},
                             Late()),
                IsOk());
  };
  for (const auto& [k, c, text] : {std::tuple(1, kUnsent, "x"), {2, Datum::Null(), "null"}}) {
    const std::string key = "k=" + std::to_string(k);
    const std::string before = world_.Rows("parts");
    put(k, Int(10), 20, 5, Text("x"));
    EXPECT_EQ(world_.Rows("parts"), before + key + " a=10 b=20 g1=5 c=x\n");
    put(k, Datum::Null(), 21, 6, c);
    EXPECT_EQ(world_.Rows("parts"), before + key + " a=null b=21 g1=6 c=" + text + "\n");
    put(k, Int(99), 99, 4, Text("y"));
    EXPECT_EQ(world_.Rows("parts"), before + key + " a=null b=21 g1=6 c=y\n");
    put(k, Int(11), 22, 7, kUnsent);
    put(k, kUnsent, 23, 8, kUnsent);
    EXPECT_EQ(world_.Rows("parts"), before + key + " a=11 b=23 g1=8 c=y\n");
  }
}

// Case O-MRG-02.
TEST_P(MergingCasesTest, Mrg02_ALateUpdateAfterADeleteLoses) {
  ASSERT_THAT(world_.Apply({Put(7, 1, 1, Text("a"))}, Late()), IsOk());
  ASSERT_THAT(world_.Apply({Put(7, 1, 1, Text("b"))}, Late()), IsOk());
  EXPECT_EQ(world_.Rows("t"), Row(1, 1, "b"));
  ASSERT_THAT(world_.Apply({Drop(9, 1)}, Late()), IsOk());
  EXPECT_EQ(world_.Rows("t"), "");
  EXPECT_THAT(world_.Apply({Put(8, 1, 1, Text("late"))}, Late()), IsOkAndHolds(std::nullopt));
  EXPECT_EQ(world_.Rows("t"), "");
  ASSERT_THAT(world_.Apply({Put(10, 1, 1, Text("new"))}, Late()), IsOk());
  EXPECT_EQ(world_.Rows("t"), Row(1, 1, "new"));
}

// Case O-MRG-03.
TEST_P(MergingCasesTest, Mrg03_ARetractionMayComeBeforeItsInsert) {
  for (const int64_t start : {0, 100}) {
    if (start != 0) {
      ASSERT_THAT(world_.Apply({Put(1, 9, start)}, Late()), IsOk());
    }
    const auto id = start + 1;
    const std::string before = Sum();
    EXPECT_THAT(world_.Apply({Drop(11, id)}, Late()), IsOkAndHolds(std::nullopt));
    EXPECT_EQ(Sum(), before);
    ASSERT_THAT(world_.Apply({Put(10, id, 4), Set(12, id, 6)}, Late()), IsOk());
    EXPECT_EQ(Sum(), "account=A kind=k sum=" + std::to_string(start + 6) + "\n");
    ASSERT_THAT(world_.Apply({Drop(13, id)}, Late()), IsOk());
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, MergingCasesTest, ::testing::ValuesIn(state::AllBackends()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tidemark::tables
