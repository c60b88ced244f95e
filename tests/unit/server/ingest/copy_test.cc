// Copies: when tables become readable, and what the sweep of a later copy takes out.
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/state/memory/memory_state_store.h"
#include "tests/unit/server/ingest/applier_fixture.h"

namespace tidemark::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class CopyTest : public ::testing::Test {
 protected:
  ApplierFixture& Make(ApplierOptions options = {}) {
    world_ = std::make_unique<ApplierFixture>(state::CreateMemoryStore(), options);
    world_->Start();
    return *world_;
  }
  // Whether a read of the table is answered.
  absl::Status Read(std::string_view table) {
    auto& reader = world_->reader();
    return reader.Scan(state::LatestPoint(reader.Latest()), world_->table(table).id, {}).status();
  }
  std::unique_ptr<ApplierFixture> world_;
};

TEST_F(CopyTest, TableIsReadableInTheSnapshotThatCompletesItsCopy) {
  auto& world = Make();
  EXPECT_THAT(Read("accounts"), ReasonIs(Reason::kTableLoading));
  ASSERT_THAT(world.erp().CopyRows({world.PutAccount(1, 10), world.PutAccount(2, 20)}), IsOk());
  ASSERT_THAT(world.erp().Commit({world.PutAccount(2, 21)}), IsOk());
  EXPECT_THAT(Read("accounts"), ReasonIs(Reason::kTableLoading));
  const state::SnapshotId before = world.id();
  ASSERT_THAT(world.erp().FinishCopy({"public.accounts"}), IsOk());
  EXPECT_EQ(world.id(), before + 1);
  EXPECT_THAT(world.Now("accounts"), ElementsAre(Pair("1", "1|10|"), Pair("2", "2|21|")));
  // Nothing before it can be read, and its rows are no history.
  const auto point = world.reader().PointAt(world.reader().Latest(), before);
  ASSERT_THAT(point, IsOk());
  state::StoredRow row;
  EXPECT_THAT(world.reader().Get(*point, world.table("accounts").id, "x", &row),
              ReasonIs(Reason::kSnapshotExpired));
}

TEST_F(CopyTest, TableOfTwoSourcesWaitsForBoth) {
  auto& world = Make();
  ASSERT_THAT(world.erp().CopyRows({world.PutCustomer("C", "Carl")}), IsOk());
  ASSERT_THAT(world.erp().FinishCopy({"public.customers"}), IsOk());
  EXPECT_THAT(Read("customer_state"), ReasonIs(Reason::kTableLoading));
  ASSERT_THAT(world.shop().CopyRows({world.PutSale(1, "C", 5), world.PutSale(2, "C", 6)}), IsOk());
  EXPECT_THAT(Read("customer_state"), ReasonIs(Reason::kTableLoading));
  EXPECT_THAT(Read("sales"), ReasonIs(Reason::kTableLoading));
  ASSERT_THAT(world.shop().FinishCopy({"public.sales"}), IsOk());
  EXPECT_THAT(world.Now("customer_state"), ElementsAre(Pair("C", "C|Carl|2|11")));
  EXPECT_THAT(world.Now("sales"), ElementsAre(Pair("1", "1|C|5"), Pair("2", "2|C|6")));
  EXPECT_THAT(Read("accounts"), ReasonIs(Reason::kTableLoading));
}

TEST_F(CopyTest, CopyIsRememberedPerTable) {
  auto& world = Make();
  ASSERT_THAT(world.shop().FinishCopy({"public.sales"}), IsOk());
  const auto durable = world.applier().ReadState("shop");
  ASSERT_THAT(durable, IsOk());
  EXPECT_THAT(durable->copied,
              ElementsAre(Pair(Pair("public.sales", world.table("sales").id),
                               CopyMark{1, ScriptedSource::Position(0)}),
                          Pair(Pair("public.sales", world.table("customer_state").id),
                               CopyMark{1, ScriptedSource::Position(0)})));
}

TEST_F(CopyTest, LaterCopyTakesOutWhatItDidNotBringAndKeepsHistory) {
  auto& world = Make();
  world.MakeReadable();
  ASSERT_THAT(world.erp().Commit(
                  {world.PutAccount(1, 10), world.PutAccount(2, 20), world.PutAccount(3, 30)}),
              IsOk());
  const state::SnapshotId before = world.id();
  ASSERT_THAT(world.erp().CopyRows({world.PutAccount(1, 10), world.PutAccount(2, 22)}, 2), IsOk());
  EXPECT_THAT(world.Now("accounts"),
              ElementsAre(Pair("1", "1|10|"), Pair("2", "2|22|"), Pair("3", "3|30|")));
  ASSERT_THAT(world.erp().FinishCopy({"public.accounts"}, 2), IsOk());
  EXPECT_THAT(world.Now("accounts"), ElementsAre(Pair("1", "1|10|"), Pair("2", "2|22|")));
  EXPECT_THAT(world.At(before, "accounts"),
              ElementsAre(Pair("1", "1|10|"), Pair("2", "2|20|"), Pair("3", "3|30|")));
  // Row 1 did not change: no version was made for it.
  ASSERT_THAT(world.erp().Commit({world.PutAccount(1, 11)}), IsOk());
  EXPECT_THAT(world.Now("accounts"), ElementsAre(Pair("1", "1|11|"), Pair("2", "2|22|")));
}

TEST_F(CopyTest, SweepOfContributionsCorrectsTheAggregates) {
  auto& world = Make();
  world.MakeReadable();
  ASSERT_THAT(world.erp().Commit({world.PutCustomer("C", "Carl")}), IsOk());
  ASSERT_THAT(world.shop().Commit({world.PutSale(1, "C", 5), world.PutSale(2, "C", 6)}), IsOk());
  ASSERT_THAT(world.shop().CopyRows({world.PutSale(2, "C", 6), world.PutSale(3, "C", 7)}, 2),
              IsOk());
  ASSERT_THAT(world.shop().FinishCopy({"public.sales"}, 2), IsOk());
  EXPECT_THAT(world.Now("customer_state"), ElementsAre(Pair("C", "C|Carl|2|13")));
  EXPECT_THAT(world.Now("sales"), ElementsAre(Pair("2", "2|C|6"), Pair("3", "3|C|7")));
}

TEST_F(CopyTest, SweepGoesInSlicesAndIsCompleteAtItsEnd) {
  auto& world = Make({.max_batch_works = 2, .sweep_slice_rows = 3});
  world.MakeReadable();
  std::vector<RowEvent> rows;
  for (int i = 0; i < 50; ++i) rows.push_back(world.PutAccount(i, i));
  ASSERT_THAT(world.erp().Commit(rows), IsOk());
  ASSERT_THAT(world.erp().CopyRows({world.PutAccount(7, 7)}, 2), IsOk());
  const uint64_t batches = world.applier().Counters().batches;
  ASSERT_THAT(world.erp().FinishCopy({"public.accounts"}, 2), IsOk());
  EXPECT_THAT(world.Now("accounts"), ElementsAre(Pair("7", "7|7|")));
  EXPECT_GE(world.applier().Counters().batches, batches + 8);  // 17 slices and the end, in pairs
}

TEST_F(CopyTest, CopyEndTellsItsErrorAndTheTableStaysAsItIs) {
  auto& world = Make();
  ASSERT_THAT(world.erp().CopyRows({world.PutAccount(1, 10)}), IsOk());
  EXPECT_THAT(world.erp().CopyRows({world.BadAccount()}), ReasonIs(Reason::kFieldInvalid));
  EXPECT_THAT(Read("accounts"), ReasonIs(Reason::kTableLoading));
  ASSERT_THAT(world.erp().FinishCopy({"public.accounts"}), IsOk());
  EXPECT_THAT(world.Now("accounts"), ElementsAre(Pair("1", "1|10|")));
}

}  // namespace
}  // namespace tidemark::ingest
