// The applier over the reference store: what readers see of works, and what sources are told.
#include "server/ingest/applier.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ingest/assembler.h"
#include "storage/state/memory/memory_state_store.h"
#include "tests/unit/server/ingest/applier_fixture.h"

namespace tidemark::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class ApplierTest : public ::testing::Test {
 protected:
  void Make(ApplierOptions options = {}) {
    world_ = std::make_unique<ApplierFixture>(state::CreateMemoryStore(), options);
  }
  ApplierFixture& world() { return *world_; }

  Work Transaction(const std::string& source, uint64_t number, std::vector<RowEvent> events) {
    Work work;
    work.kind = WorkKind::kTransaction;
    work.source = source;
    work.position = ScriptedSource::Position(number);
    work.origin.source = source;
    work.origin.position = work.position;
    for (size_t i = 0; i < events.size(); ++i) {
      events[i].sequence = work.position + ScriptedSource::Position(i);
    }
    work.events = MakeEventList(std::move(events));
    work.done = [this, source, number](const absl::Status& status) {
      told_.push_back(source + std::to_string(number) + " " +
                      (status.ok() ? "ok" : std::string(ReasonName(ReasonOf(status)))));
    };
    return work;
  }

  std::vector<std::string> told_;  // after what queued it; read when the applier has stopped
  std::unique_ptr<ApplierFixture> world_;
};

TEST_F(ApplierTest, OneTransactionIsOneSnapshot) {
  Make();
  world().StartReadable();
  const state::SnapshotId before = world().id();
  ASSERT_THAT(world().erp().Commit({world().PutAccount(1, 10), world().PutAccount(2, 20)}), IsOk());
  EXPECT_EQ(world().id(), before + 1);
  ASSERT_THAT(world().erp().Commit({world().PutAccount(1, 11), world().DeleteAccount(2)}), IsOk());
  EXPECT_EQ(world().id(), before + 2);
  EXPECT_THAT(world().At(before, "accounts"), IsEmpty());
  EXPECT_THAT(world().At(before + 1, "accounts"),
              ElementsAre(Pair("1", "1|10|"), Pair("2", "2|20|")));
  EXPECT_THAT(world().Now("accounts"), ElementsAre(Pair("1", "1|11|")));
}

TEST_F(ApplierTest, TransactionWithoutNetEffectMakesNoSnapshotButMovesThePosition) {
  Make();
  world().StartReadable();
  ASSERT_THAT(world().erp().Commit({world().PutAccount(1, 10)}), IsOk());
  const state::SnapshotId before = world().id();
  ASSERT_THAT(world().erp().Commit({world().PutAccount(1, 99), world().PutAccount(1, 10)}), IsOk());
  ASSERT_THAT(world().erp().Commit({}), IsOk());
  EXPECT_EQ(world().id(), before);
  const auto durable = world().applier().ReadState("erp");
  ASSERT_THAT(durable, IsOk());
  EXPECT_EQ(durable->partitions.at(""), ScriptedSource::Position(3));
}

TEST_F(ApplierTest, SnapshotsSayWhoseTransactionTheyAreAndHowFarEverySourceIs) {
  Make();
  world().StartReadable();
  world().erp().Probe();  // the one at the start may still be on its way
  ASSERT_THAT(world().shop().Commit({world().PutSale(1, "C", 5)}), IsOk());
  ASSERT_THAT(world().erp().Commit({world().PutAccount(1, 10)}), IsOk());
  const auto point = world().reader().PointAt(world().reader().Latest(), world().id());
  ASSERT_THAT(point, IsOk());
  const auto info = world().reader().Describe(*point);
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->source, "erp");
  ASSERT_EQ(info->sources.size(), 2u);
  EXPECT_EQ(info->sources[0].source, "erp");
  EXPECT_EQ(info->sources[0].position, ScriptedSource::Position(1));
  EXPECT_EQ(info->sources[0].fresh_as_of, world().erp().FreshAsOf());
  EXPECT_EQ(info->sources[1].source, "shop");
  EXPECT_EQ(info->sources[1].position, ScriptedSource::Position(1));
}

TEST_F(ApplierTest, WhatWaitsIsGroupedAndToldInOrderAfterItsPublication) {
  Make();
  world().StartReadable();
  world().Stop();
  // A second applier over the same store whose queue is filled before it starts.
  auto applier = MakeApplier(world().catalog(), world().store(), {.max_batch_works = 3});
  for (int i = 1; i <= 7; ++i) {
    Work work = Transaction(i % 2 ? "erp" : "shop", i,
                            {i % 2 ? world().PutAccount(i, i) : world().PutSale(i, "C", i)});
    work.done = [this, i, next = std::move(work.done)](const absl::Status& status) {
      next(status);
      EXPECT_EQ(i % 2 ? world().Now("accounts").count(std::to_string(i))
                      : world().Now("sales").count(std::to_string(i)),
                1u);
    };
    ASSERT_THAT(applier->Queue(std::move(work)), IsOk());
  }
  const state::SnapshotId before = world().id();
  ASSERT_THAT(applier->Start(), IsOk());
  ASSERT_THAT(applier->ReadState("erp"), IsOk());  // after a batch; more may follow
  while (applier->Counters().transactions < 7) ASSERT_THAT(applier->ReadState("erp"), IsOk());
  applier->Stop();
  EXPECT_THAT(told_, ElementsAre("erp1 ok", "shop2 ok", "erp3 ok", "shop4 ok", "erp5 ok",
                                 "shop6 ok", "erp7 ok"));
  EXPECT_EQ(world().id(), before + 7);
  const ApplierCounters counters = applier->Counters();
  EXPECT_EQ(counters.batches, 3u);
  EXPECT_EQ(counters.events, 7u);
  EXPECT_EQ(counters.snapshots, 7u);
  EXPECT_EQ(counters.rejected, 0u);
  EXPECT_EQ(counters.queued_works, 0u);
  EXPECT_EQ(counters.queued_bytes, 0u);
}

TEST_F(ApplierTest, S3_NothingOfAFailedTransactionIsSeenAndOtherSourcesGoOn) {
  Make();
  world().StartReadable();
  world().Stop();
  auto applier = MakeApplier(world().catalog(), world().store(), {});
  ASSERT_THAT(applier->Queue(Transaction("erp", 1, {world().PutAccount(1, 1)})), IsOk());
  ASSERT_THAT(applier->Queue(Transaction("shop", 1, {world().PutSale(1, "C", 1)})), IsOk());
  ASSERT_THAT(
      applier->Queue(Transaction("erp", 2, {world().PutAccount(2, 2), world().BadAccount()})),
      IsOk());
  ASSERT_THAT(applier->Queue(Transaction("erp", 3, {world().PutAccount(3, 3)})), IsOk());
  ASSERT_THAT(applier->Queue(Transaction("shop", 2, {world().PutSale(2, "C", 2)})), IsOk());
  ASSERT_THAT(applier->Start(), IsOk());
  while (applier->Counters().transactions < 3) ASSERT_THAT(applier->ReadState("erp"), IsOk());
  // Refused until the source has restarted.
  EXPECT_THAT(applier->Queue(Transaction("erp", 3, {world().PutAccount(3, 3)})),
              ReasonIs(Reason::kFieldInvalid));
  applier->RestartSource("erp");
  EXPECT_THAT(applier->Queue(Transaction("erp", 4, {world().PutAccount(4, 4)})), IsOk());
  while (applier->Counters().transactions < 4) ASSERT_THAT(applier->ReadState("erp"), IsOk());
  applier->Stop();
  EXPECT_THAT(told_, ElementsAre("erp1 ok", "shop1 ok", "erp2 FIELD_INVALID", "erp3 FIELD_INVALID",
                                 "shop2 ok", "erp4 ok"));
  EXPECT_THAT(world().Now("accounts"), ElementsAre(Pair("1", "1|1|"), Pair("4", "4|4|")));
  EXPECT_THAT(world().Now("sales"), ElementsAre(Pair("1", "1|C|1"), Pair("2", "2|C|2")));
  EXPECT_EQ(applier->Counters().rejected, 2u);
}

TEST_F(ApplierTest, StopRefusesWhatIsQueuedAndWhatComes) {
  Make();
  world().StartReadable();
  world().Stop();
  auto applier = MakeApplier(world().catalog(), world().store(), {});
  ASSERT_THAT(applier->Queue(Transaction("erp", 1, {world().PutAccount(1, 1)})), IsOk());
  applier->Stop();
  applier->Stop();
  EXPECT_THAT(told_, ElementsAre("erp1 SHUTTING_DOWN"));
  EXPECT_THAT(applier->Queue(Transaction("erp", 2, {})), ReasonIs(Reason::kShuttingDown));
  EXPECT_THAT(applier->ReadState("erp"), ReasonIs(Reason::kShuttingDown));
  EXPECT_EQ(told_.size(), 1u);
  EXPECT_THAT(world().Now("accounts"), IsEmpty());
}

TEST_F(ApplierTest, ProgressMakesNoSnapshotAndIsDurable) {
  Make();
  world().StartReadable();
  const state::SnapshotId before = world().id();
  Mutex mutex;
  CondVar told;
  int done = 0;
  for (int i = 1; i <= 3; ++i) {
    Work work;
    work.source = "erp";
    work.position = ScriptedSource::Position(100 + i);
    work.state.emplace_back(PartitionKey("erp"), "at " + std::to_string(i));
    work.state.emplace_back(PartitionKey("erp", std::to_string(i)), "x");
    if (i == 3) work.state.emplace_back(PartitionKey("erp", "1"), std::nullopt);
    work.done = [&](const absl::Status& status) {
      EXPECT_THAT(status, IsOk());
      MutexLock lock(mutex);
      ++done;
      told.NotifyAll();
    };
    ASSERT_THAT(world().applier().Queue(std::move(work)), IsOk());
  }
  {
    MutexLock lock(mutex);
    while (done < 3) told.Wait(mutex);
  }
  EXPECT_EQ(world().id(), before);
  const auto durable = world().applier().ReadState("erp");
  ASSERT_THAT(durable, IsOk());
  EXPECT_THAT(durable->partitions, ElementsAre(Pair("", "at 3"), Pair("2", "x"), Pair("3", "x")));
}

TEST_F(ApplierTest, DegradedIsPublishedPerTableAndOutlivesTheApplier) {
  Make();
  world().StartReadable();
  ASSERT_THAT(world().shop().SetDegraded(true), IsOk());
  EXPECT_FALSE(world().IsDegraded("accounts"));
  EXPECT_TRUE(world().IsDegraded("sales"));
  EXPECT_TRUE(world().IsDegraded("customer_state"));
  ASSERT_THAT(world().erp().SetDegraded(true), IsOk());
  EXPECT_TRUE(world().IsDegraded("accounts"));
  ASSERT_THAT(world().shop().SetDegraded(false), IsOk());
  EXPECT_FALSE(world().IsDegraded("sales"));
  EXPECT_TRUE(world().IsDegraded("customer_state"));  // erp feeds it too
  EXPECT_TRUE(world().applier().ReadState("erp")->degraded);
  world().Stop();
  auto applier = MakeApplier(world().catalog(), world().store(), {});
  ASSERT_THAT(applier->Start(), IsOk());
  ScriptedSource shop("shop", *applier, world().clock());
  shop.Start();
  ASSERT_THAT(shop.Commit({world().PutSale(1, "C", 1)}), IsOk());
  EXPECT_TRUE(world().IsDegraded("accounts"));
  EXPECT_FALSE(world().IsDegraded("sales"));
  shop.Stop();
  applier->Stop();
}

// Works that wait together would share one batch, and a batch has one set of degraded tables.
TEST_F(ApplierTest, EverySnapshotSaysWhetherItWasDegraded) {
  Make();
  world().StartReadable();
  world().Stop();
  auto applier = MakeApplier(world().catalog(), world().store(), {});
  const state::SnapshotId before = world().id();
  for (int i = 1; i <= 6; ++i) {
    Work work = Transaction("erp", i, {world().PutAccount(i, i)});
    if (i == 2) work.degraded = true;
    if (i == 4) work.degraded = true;  // again: no change
    if (i == 5) work.degraded = false;
    ASSERT_THAT(applier->Queue(std::move(work)), IsOk());
  }
  ASSERT_THAT(applier->Start(), IsOk());
  while (applier->Counters().transactions < 6) ASSERT_THAT(applier->ReadState("erp"), IsOk());
  applier->Stop();
  std::string degraded;
  for (int i = 1; i <= 6; ++i) {
    const auto point = world().reader().PointAt(world().reader().Latest(), before + i);
    ASSERT_THAT(point, IsOk());
    const auto info = world().reader().Describe(*point);
    ASSERT_THAT(info, IsOk());
    degraded += info->degraded.empty() ? '-' : 'D';
  }
  EXPECT_EQ(degraded, "-DDD--");
  EXPECT_EQ(applier->Counters().batches, 5u);
}

// A spooled transaction passes through like any other.
TEST_F(ApplierTest, SpooledTransactionIsOneSnapshot) {
  Make();
  world().StartReadable();
  Assembler assembler({.max_transaction_bytes = 1000, .spool_dir = ::testing::TempDir()});
  constexpr int kRows = 3000;
  for (int i = 0; i < kRows; ++i) {
    RowEvent event = world().PutAccount(i, i, "a note of some length");
    event.sequence = ScriptedSource::Position(i);
    ASSERT_THAT(assembler.Add(std::move(event)), IsOk());
  }
  const state::SnapshotId before = world().id();
  Work work = Transaction("erp", 1, {});
  auto events = assembler.Finish();
  ASSERT_THAT(events, IsOk());
  work.events = *std::move(events);
  ASSERT_THAT(world().applier().Queue(std::move(work)), IsOk());
  while (world().applier().Counters().transactions < 1) {
    ASSERT_THAT(world().applier().ReadState("erp"), IsOk());
  }
  EXPECT_EQ(world().id(), before + 1);
  EXPECT_EQ(world().Now("accounts").size(), size_t{kRows});
}

}  // namespace
}  // namespace tidemark::ingest
