// Over LevelDB on a file system that loses what was not synced: what a crash leaves.
#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fault_env.h"
#include "tests/unit/server/ingest/applier_fixture.h"

namespace tidemark::ingest {
namespace {

using testing::FaultEnv;

constexpr int kTransactions = 40;

// Transaction `i` changes two accounts; what the table holds after it follows from `i` alone.
std::vector<RowEvent> Transaction(const ApplierFixture& world, int i) {
  return {world.PutAccount(i % 5, i), world.PutAccount(10 + i % 3, i)};
}

Rows RowsAfter(int transactions) {
  Rows rows;
  for (int i = 1; i <= transactions; ++i) {
    for (const int account : {i % 5, 10 + i % 3}) {
      rows[std::to_string(account)] = absl::StrCat(account, "|", i, "|");
    }
  }
  return rows;
}

// Position, rows, changelog and snapshots must be those of the same transaction.
void ExpectWhole(ApplierFixture& world, int transactions) {
  EXPECT_EQ(world.Now("accounts"), RowsAfter(transactions));
  auto& reader = world.reader();
  const auto latest = reader.Latest();
  auto changes = reader.Changes(latest, latest->floor());
  ASSERT_THAT(changes, IsOk());
  std::vector<state::SnapshotId> changed;
  for (; (*changes)->Valid(); (*changes)->Next()) {
    changed.push_back((*changes)->change().snapshot);
  }
  EXPECT_THAT((*changes)->status(), IsOk());
  ASSERT_EQ(changed.size(), size_t{2} * transactions);
  if (transactions == 0) return;
  EXPECT_EQ(changed.front() + transactions - 1, latest->id());
  EXPECT_EQ(changed.back(), latest->id());
}

TEST(IngestDurabilityTest, S5_PositionRowsAndChangelogAreThoseOfOneTransactionAfterEveryCrash) {
  std::mt19937_64 random(7);
  int crashes = 0;
  for (int64_t crash_at = 1; crash_at < 400; crash_at += 1 + static_cast<int64_t>(crash_at / 10)) {
    SCOPED_TRACE(absl::StrCat("power goes before operation ", crash_at, " of the writing"));
    FaultEnv env;
    int acknowledged = 0;
    {
      ApplierFixture world(OpenLevelDb(env), {.max_batch_works = 3});
      world.StartReadable();
      const int64_t begin = env.operations();
      env.OnOperation([&](int64_t operation) {
        if (operation == begin + crash_at) env.PowerOff();
      });
      bool crashed = false;
      for (int i = 1; i <= kTransactions && !crashed; ++i) {
        // Some wait together, some alone.
        crashed = i % 4 == 0 ? !world.erp().Commit(Transaction(world, i)).ok()
                             : !world.erp().CommitLater(Transaction(world, i)).ok();
        if (!crashed) acknowledged = static_cast<int>(world.erp().Status().transactions);
      }
      if (!crashed) crashed = !world.erp().Wait().ok();
      acknowledged = static_cast<int>(world.erp().Status().transactions);
      crashes += crashed;
    }
    env.OnOperation(nullptr);
    env.Restart(&random);
    ApplierFixture world(OpenLevelDb(env));
    world.Start();
    const int durable = static_cast<int>(world.erp().number());
    EXPECT_GE(durable, acknowledged);  // S6
    ExpectWhole(world, durable);
    // The source goes on from there: in the end nothing is missing and nothing was applied twice.
    for (int i = durable + 1; i <= kTransactions; ++i) {
      ASSERT_THAT(world.erp().Commit(Transaction(world, i)), IsOk());
    }
    ExpectWhole(world, kTransactions);
  }
  EXPECT_GT(crashes, 10);
}

// A full disk closes the store for writing; what was acknowledged before is there, nothing else.
// Case O-KV-02 as far as a process that is started again once there is space.
TEST(IngestDurabilityTest, S6_FullDiskIsToldAndNothingAcknowledgedIsLost) {
  FaultEnv env;
  int acknowledged = 0;
  {
    ApplierFixture world(OpenLevelDb(env));
    world.StartReadable();
    for (int i = 1; i <= 3; ++i) {
      ASSERT_THAT(world.erp().Commit(Transaction(world, i)), IsOk());
      ++acknowledged;
    }
    env.FailAfter(0);
    EXPECT_THAT(world.erp().Commit(Transaction(world, 4)), ReasonIs(Reason::kStoreReadOnly));
    EXPECT_THAT(world.erp().Commit(Transaction(world, 4)), ReasonIs(Reason::kStoreReadOnly));
    EXPECT_EQ(world.Now("accounts"), RowsAfter(3));
  }
  env.FailAfter(-1);
  ApplierFixture world(OpenLevelDb(env));
  world.Start();
  EXPECT_GE(static_cast<int>(world.erp().number()), acknowledged);
  ExpectWhole(world, static_cast<int>(world.erp().number()));
}

// A transaction written in chunks, and the power goes in the middle: nothing of it is left.
TEST(IngestDurabilityTest, S3_CrashInALargeTransactionLeavesNothingOfIt) {
  for (const int64_t crash_at : {1, 5, 20, 60}) {
    SCOPED_TRACE(absl::StrCat("power goes before operation ", crash_at, " of the writing"));
    FaultEnv env;
    const auto large = [](const ApplierFixture& world) {
      std::vector<RowEvent> events;
      for (int i = 0; i < 500; ++i) events.push_back(world.PutAccount(i, -1, "large"));
      return events;
    };
    {
      ApplierFixture world(OpenLevelDb(env, /*max_batch_bytes=*/2000));
      world.StartReadable();
      for (int i = 1; i <= 3; ++i) {
        ASSERT_THAT(world.erp().Commit(Transaction(world, i)), IsOk());
      }
      const int64_t begin = env.operations();
      env.OnOperation([&](int64_t operation) {
        if (operation == begin + crash_at) env.PowerOff();
      });
      EXPECT_THAT(world.erp().Commit(large(world)), ReasonIs(Reason::kStoreReadOnly));
      EXPECT_EQ(world.Now("accounts"), RowsAfter(3));
    }
    env.OnOperation(nullptr);
    env.Restart();
    ApplierFixture world(OpenLevelDb(env, /*max_batch_bytes=*/2000));
    world.Start();
    ASSERT_EQ(world.erp().number(), 3u);
    ExpectWhole(world, 3);
    ASSERT_THAT(world.erp().Commit(large(world)), IsOk());
    EXPECT_EQ(world.Now("accounts").size(), 500u);
  }
}

TEST(IngestDurabilityTest, CopiesAndDegradedTablesAreRememberedOverARestart) {
  FaultEnv env;
  {
    ApplierFixture world(OpenLevelDb(env));
    world.Start();
    ASSERT_THAT(world.erp().CopyRows({world.PutCustomer("C", "Carl")}), IsOk());
    ASSERT_THAT(world.erp().FinishCopy({"public.customers"}), IsOk());
    ASSERT_THAT(world.shop().SetDegraded(true), IsOk());
  }
  env.PowerOff();
  env.Restart();
  ApplierFixture world(OpenLevelDb(env));
  world.Start();
  EXPECT_TRUE(world.IsDegraded("sales"));
  ASSERT_THAT(world.shop().CopyRows({world.PutSale(1, "C", 5)}), IsOk());
  ASSERT_THAT(world.shop().FinishCopy({"public.sales"}), IsOk());
  EXPECT_EQ(world.Now("customer_state"), (Rows{{"C", "C|Carl|1|5"}}));
  EXPECT_TRUE(world.IsDegraded("customer_state"));
  ASSERT_THAT(world.shop().SetDegraded(false), IsOk());
  EXPECT_FALSE(world.IsDegraded("customer_state"));
}

}  // namespace
}  // namespace tidemark::ingest
