// Applying is deterministic: where batches end changes nothing that a reader can see.
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ingest/assembler.h"
#include "storage/state/memory/memory_state_store.h"
#include "tests/support/fault_env.h"
#include "tests/unit/server/ingest/applier_fixture.h"

namespace tidemark::ingest {
namespace {

// The works of both sources, in one order, from a seed.
class Script {
 public:
  Script(ApplierFixture& world, Applier& applier, uint32_t seed)
      : world_(world), applier_(applier), random_(seed) {}

  void QueueAll(int transactions) {
    Copy("erp", {world_.PutAccount(1, 1), world_.PutCustomer("A", "Anna")}, 1);
    CopyEnd("erp", {"public.accounts", "public.customers"}, 1);
    Copy("shop", {world_.PutSale(1, "A", 5)}, 1);
    CopyEnd("shop", {"public.sales"}, 1);
    for (int i = 0; i < transactions; ++i) {
      if (i == transactions / 2) {
        Copy("erp", {world_.PutAccount(1, 2), world_.PutAccount(3, 4)}, 2);
        CopyEnd("erp", {"public.accounts"}, 2);
      }
      const bool erp = Pick(2) == 0;
      std::vector<RowEvent> events;
      for (int n = Pick(5); n > 0; --n) events.push_back(erp ? ErpEvent() : ShopEvent());
      Work work = Make(erp ? "erp" : "shop", WorkKind::kTransaction, std::move(events));
      work.origin.generation = erp && i >= transactions / 2 ? 2 : 1;
      if (Pick(10) == 0) work.degraded = Pick(2) == 0;
      Queue(std::move(work));
    }
  }
  uint64_t queued() const { return queued_; }
  uint64_t done() const { return *done_; }

 private:
  int Pick(int below) { return static_cast<int>(random_() % below); }
  std::string Customer() { return std::string(1, static_cast<char>('A' + Pick(3))); }

  RowEvent ErpEvent() {
    switch (Pick(4)) {
      case 0:
        return world_.DeleteAccount(Pick(5));
      case 1:
        return world_.PutCustomer(Customer(), absl::StrCat("name ", Pick(3)));
      default:
        return world_.PutAccount(Pick(5), Pick(3));
    }
  }
  RowEvent ShopEvent() { return world_.PutSale(Pick(6), Customer(), Pick(10)); }

  Work Make(const std::string& source, WorkKind kind, std::vector<RowEvent> events) {
    Work work;
    work.kind = kind;
    work.source = source;
    work.position = ScriptedSource::Position(++queued_);
    work.origin.source = source;
    work.origin.position = work.position;
    for (size_t i = 0; i < events.size(); ++i) {
      events[i].sequence = work.position + ScriptedSource::Position(i);
    }
    work.events = MakeEventList(std::move(events));
    work.done = [done = done_](const absl::Status& status) {
      EXPECT_THAT(status, IsOk());
      ++*done;
    };
    return work;
  }
  void Copy(const std::string& source, std::vector<RowEvent> rows, uint64_t generation) {
    Work work = Make(source, WorkKind::kCopyRows, std::move(rows));
    work.origin.copy = true;
    work.origin.generation = generation;
    Queue(std::move(work));
  }
  void CopyEnd(const std::string& source, const std::vector<std::string>& relations,
               uint64_t generation) {
    Work work = Make(source, WorkKind::kCopyEnd, {});
    for (const std::string& relation : relations) {
      work.copied.push_back({{source, relation}, generation});
    }
    Queue(std::move(work));
  }
  void Queue(Work work) { ASSERT_THAT(applier_.Queue(std::move(work)), IsOk()); }

  ApplierFixture& world_;
  Applier& applier_;
  std::mt19937 random_;
  uint64_t queued_ = 0;
  std::shared_ptr<std::atomic<uint64_t>> done_ = std::make_shared<std::atomic<uint64_t>>(0);
};

// Everything a reader can see of every snapshot, times aside.
std::vector<std::string> Dump(ApplierFixture& world) {
  std::vector<std::string> lines;
  auto& reader = world.reader();
  const auto latest = reader.Latest();
  for (state::SnapshotId id = state::kFirstSnapshot; id <= latest->id(); ++id) {
    const auto point = reader.PointAt(latest, id);
    EXPECT_THAT(point, IsOk());
    const auto info = reader.Describe(*point);
    EXPECT_THAT(info, IsOk());
    lines.push_back(
        absl::StrCat("snapshot ", id, " of ", info->source, " degraded ", info->degraded.size()));
    for (const auto& table : world.catalog().tables()) {
      auto scan = reader.Scan(*point, table->id, {});
      if (!scan.ok()) {
        lines.push_back(absl::StrCat(table->definition.name, " unreadable"));
        continue;
      }
      for (const auto& [key, row] : RowsAt(reader, *point, *table)) {
        lines.push_back(absl::StrCat(table->definition.name, " ", row));
      }
    }
  }
  const auto changes = reader.Changes(latest, latest->floor());
  EXPECT_THAT(changes, IsOk());
  for (; (*changes)->Valid(); (*changes)->Next()) {
    const state::Change& change = (*changes)->change();
    lines.push_back(absl::StrCat("change ", change.snapshot, " table ", change.table, " op ",
                                 static_cast<int>(change.op), " prev ", change.prev));
  }
  return lines;
}

std::vector<std::string> Play(std::unique_ptr<state::StateStore> store, uint32_t seed,
                              ApplierOptions options) {
  options.sweep_slice_rows = 2;
  options.read_ahead_works = 3;
  ApplierFixture world(std::move(store));
  auto applier = MakeApplier(world.catalog(), world.store(), options);
  Script script(world, *applier, seed);
  script.QueueAll(60);
  EXPECT_THAT(applier->Start(), IsOk());
  while (script.done() < script.queued()) {
    if (!applier->ReadState("erp").ok()) break;
  }
  applier->Stop();
  EXPECT_EQ(applier->Counters().rejected, 0u);
  return Dump(world);
}

TEST(DeterminismTest, SameWorksInOtherBatchesGiveTheSameSnapshots) {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const auto expected = Play(state::CreateMemoryStore(), seed, {});
    ASSERT_GT(expected.size(), 60u);
    for (const size_t works : {1, 2, 7}) {
      for (const size_t bytes : {size_t{1}, size_t{300}, size_t{8} << 20}) {
        const auto got = Play(state::CreateMemoryStore(), seed,
                              {.max_batch_bytes = bytes, .max_batch_works = works});
        ASSERT_EQ(got, expected) << works << " works, " << bytes << " bytes";
      }
    }
  }
}

TEST(DeterminismTest, LevelDbAndTheModelGiveTheSameSnapshots) {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    const auto expected = Play(state::CreateMemoryStore(), seed, {});
    for (const size_t works : {1, 5, 1000}) {
      // The smaller bound makes chunks of nearly every transaction.
      for (const size_t chunk : {size_t{400}, size_t{8} << 20}) {
        SCOPED_TRACE(absl::StrCat("seed ", seed, ", ", works, " works, chunks of ", chunk));
        testing::FaultEnv env;
        ASSERT_EQ(Play(OpenLevelDb(env, chunk), seed, {.max_batch_works = works}), expected);
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::ingest
