// A store that takes no more writes: nobody is told OK, reads go on, and Stop still works.
#include <memory>
#include <utility>

#include "common/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/state/memory/memory_state_store.h"
#include "tests/unit/server/ingest/applier_fixture.h"
#include "tests/unit/server/ingest/failing_store.h"

namespace tidemark::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class ApplierFailureTest : public ::testing::Test {
 protected:
  ApplierFailureTest() {
    auto store = std::make_unique<FailingStore>(state::CreateMemoryStore());
    writer_ = &store->failing();
    world_ = std::make_unique<ApplierFixture>(std::move(store));
    world_->StartReadable();
  }
  ApplierFixture& world() { return *world_; }

  FailingWriter* writer_;
  std::unique_ptr<ApplierFixture> world_;
};

TEST_F(ApplierFailureTest, S6_FailedWriteIsToldToEverySourceAndReadsGoOn) {
  ASSERT_THAT(world().erp().Commit({world().PutAccount(1, 1)}), IsOk());
  writer_->Break();
  const auto read_only = ReasonIs(Reason::kStoreReadOnly);
  EXPECT_THAT(world().erp().Commit({world().PutAccount(1, 2)}), read_only);
  EXPECT_THAT(world().erp().Commit({world().PutAccount(1, 2)}), read_only);
  EXPECT_THAT(world().shop().Commit({world().PutSale(1, "C", 1)}), read_only);
  EXPECT_THAT(world().shop().SetDegraded(true), read_only);
  EXPECT_THAT(world().Now("accounts"), ElementsAre(Pair("1", "1|1|")));
  EXPECT_FALSE(world().IsDegraded("sales"));
  EXPECT_GE(world().applier().Counters().rejected, 4u);
  world().Stop();
}

TEST_F(ApplierFailureTest, SourcesThatRestartGetThroughOnceTheStoreTakesWritesAgain) {
  ASSERT_THAT(world().erp().Commit({world().PutAccount(1, 1)}), IsOk());
  writer_->Break();
  EXPECT_THAT(world().erp().Commit({world().PutAccount(1, 2)}), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_EQ(world().erp().number(), 1u);  // back where it is durable
  writer_->Mend();
  ASSERT_THAT(world().erp().Commit({world().PutAccount(1, 3)}), IsOk());
  ASSERT_THAT(world().shop().Commit({world().PutSale(1, "C", 1)}), IsOk());
  EXPECT_THAT(world().Now("accounts"), ElementsAre(Pair("1", "1|3|")));
  EXPECT_THAT(world().Now("sales"), ElementsAre(Pair("1", "1|C|1")));
}

TEST_F(ApplierFailureTest, WhatIsQueuedBehindTheFailedBatchIsRefusedUntilTheSourceRestarts) {
  writer_->Break();
  for (int i = 0; i < 100; ++i) {
    if (!world().erp().CommitLater({world().PutAccount(i, i)}).ok()) break;
  }
  EXPECT_THAT(world().erp().Wait(), ReasonIs(Reason::kStoreReadOnly));
  EXPECT_EQ(world().erp().number(), 0u);
  writer_->Mend();
  ASSERT_THAT(world().erp().Commit({world().PutAccount(7, 7)}), IsOk());
  EXPECT_THAT(world().Now("accounts"), ElementsAre(Pair("7", "7|7|")));
}

}  // namespace
}  // namespace tidemark::ingest
