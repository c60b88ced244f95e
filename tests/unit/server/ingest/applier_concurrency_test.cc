// The applier beside readers, sources and a stop, all at once.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
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

class ApplierConcurrencyTest : public ::testing::Test {
 protected:
  void Make(ApplierOptions options = {}) {
    world_ = std::make_unique<ApplierFixture>(state::CreateMemoryStore(), options);
    world_->StartReadable();
  }
  ApplierFixture& world() { return *world_; }
  std::unique_ptr<ApplierFixture> world_;
};

// Every transaction moves an amount between two accounts: the sum is the same in every snapshot.
TEST_F(ApplierConcurrencyTest, S3_SnapshotNeverShowsHalfATransaction) {
  constexpr int kAccounts = 10, kTransfers = 300;
  constexpr int64_t kSum = 1000 * kAccounts;
  Make({.max_batch_works = 3});
  std::vector<int64_t> balances(kAccounts, 1000);
  std::vector<RowEvent> opening;
  for (int i = 0; i < kAccounts; ++i) opening.push_back(world().PutAccount(i, 1000));
  ASSERT_THAT(world().erp().Commit(std::move(opening)), IsOk());

  std::atomic<bool> over{false};
  std::atomic<int> reads{0}, wrong{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&] {
      state::SnapshotId last = 0;
      do {
        const auto publication = world().reader().Latest();
        if (publication->id() < last) ++wrong;
        last = publication->id();
        int64_t sum = 0;
        auto cursor = world().reader().Scan(state::LatestPoint(publication),
                                            world().table("accounts").id, {});
        if (!cursor.ok()) {
          ++wrong;
          continue;
        }
        for (; (*cursor)->Valid(); (*cursor)->Next()) {
          const auto row =
              tables::DecodeRow(world().table("accounts").definition, (*cursor)->row().bytes());
          if (row.ok()) sum += (*row)[1].number();
        }
        if (sum != kSum) ++wrong;
        ++reads;
      } while (!over);
    });
  }
  for (int i = 0; i < kTransfers; ++i) {
    const int from = i % kAccounts, to = (i * 7 + 3) % kAccounts;
    if (from == to) continue;
    const int64_t amount = i % 13;
    balances[from] -= amount;
    balances[to] += amount;
    ASSERT_THAT(world().erp().CommitLater({world().PutAccount(from, balances[from]),
                                           world().PutAccount(to, balances[to])}),
                IsOk());
  }
  ASSERT_THAT(world().erp().Wait(), IsOk());
  over = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(reads, 0);
}

// Sources push as fast as they can while the applier stops. Each work is told once; of each source
// a prefix is applied, and exactly that prefix is in the store.
TEST_F(ApplierConcurrencyTest, StopUnderLoadLeavesAPrefixOfEverySource) {
  Make();
  world().Stop();
  auto applier = MakeApplier(world().catalog(), world().store(),
                             {.max_queue_works = 20, .max_batch_works = 7});
  ASSERT_THAT(applier->Start(), IsOk());
  struct Source {
    std::string name;
    int queued = 0;
    std::vector<bool> told;  // OK or not, in the order of `done`
  };
  std::vector<Source> sources = {{"erp"}, {"shop"}};
  std::vector<std::thread> threads;
  for (Source& source : sources) {
    threads.emplace_back([&] {
      const bool erp = source.name == "erp";
      while (true) {
        const int number = source.queued + 1;
        std::vector<RowEvent> events;
        events.push_back(erp ? world().PutAccount(number, number)
                             : world().PutSale(number, "C", number));
        events[0].sequence = ScriptedSource::Position(number);
        Work work;
        work.kind = WorkKind::kTransaction;
        work.source = source.name;
        work.position = ScriptedSource::Position(number);
        work.origin.source = source.name;
        work.events = MakeEventList(std::move(events));
        work.state.emplace_back(PartitionKey(source.name), work.position);
        work.done = [&source](const absl::Status& status) { source.told.push_back(status.ok()); };
        const absl::Status queued = applier->Queue(std::move(work));
        if (!queued.ok()) {
          EXPECT_THAT(queued, ReasonIs(Reason::kShuttingDown));
          return;
        }
        source.queued = number;
      }
    });
  }
  while (applier->Counters().transactions < 100) ASSERT_THAT(applier->ReadState("erp"), IsOk());
  applier->Stop();
  for (std::thread& thread : threads) thread.join();
  for (const Source& source : sources) {
    ASSERT_EQ(source.told.size(), static_cast<size_t>(source.queued)) << source.name;
    size_t applied = 0;
    while (applied < source.told.size() && source.told[applied]) ++applied;
    for (size_t i = applied; i < source.told.size(); ++i) EXPECT_FALSE(source.told[i]);
    const Rows rows = world().Now(source.name == "erp" ? "accounts" : "sales");
    EXPECT_EQ(rows.size(), applied);
    const auto durable = ReadDurableState(world().store().writer(), source.name);
    ASSERT_THAT(durable, IsOk());
    EXPECT_EQ(durable->partitions.at(""), ScriptedSource::Position(applied));
  }
}

// A transaction of very many events does not delay the stop: it is abandoned whole.
TEST_F(ApplierConcurrencyTest, StopAbandonsALongTransaction) {
  Make();
  world().Stop();
  auto applier = MakeApplier(world().catalog(), world().store(), {});

  // Endless until it is stopped: the test hangs if nobody looks.
  class Endless final : public EventList {
   public:
    explicit Endless(RowEvent event, std::atomic<int>& read)
        : event_(std::move(event)), read_(read) {}
    absl::StatusOr<const RowEvent*> Next() override {
      event_.after[0] = Datum::Int(++read_);
      return &event_;
    }
    size_t count() const override { return 1; }
    size_t total_bytes() const override { return 1; }
    size_t memory_bytes() const override { return 1; }

   private:
    RowEvent event_;
    std::atomic<int>& read_;
  };

  std::atomic<int> read{0};
  absl::Status told;
  Work work;
  work.kind = WorkKind::kTransaction;
  work.source = "erp";
  work.position = ScriptedSource::Position(1);
  work.origin.source = "erp";
  work.events = std::make_unique<Endless>(world().PutAccount(1, 1), read);
  work.done = [&](const absl::Status& status) { told = status; };
  ASSERT_THAT(applier->Queue(std::move(work)), IsOk());
  ASSERT_THAT(applier->Start(), IsOk());
  while (read < 5000) std::this_thread::yield();
  applier->Stop();
  EXPECT_THAT(told, ReasonIs(Reason::kShuttingDown));
  EXPECT_EQ(world().Now("accounts").size(), 0u);
}

TEST_F(ApplierConcurrencyTest, ReadersOfDurableStateAndWaitersBesideSources) {
  Make({.max_queue_works = 5});
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0}, past{0};
  std::thread state_reader([&] {
    std::string last;
    while (!over) {
      const auto durable = world().applier().ReadState("erp");
      if (!durable.ok() || durable->partitions.at("") < last) {
        ++wrong;
      } else {
        last = durable->partitions.at("");
      }
    }
  });
  std::vector<std::shared_ptr<void>> handles;
  for (int i = 1; i <= 200; ++i) {
    handles.push_back(
        world().erp().WhenPast(ScriptedSource::Position(i + 1), [&, i](const absl::Status& status) {
          // What was waited for is published when the wait ends.
          if (!status.ok() || world().Now("accounts").count(std::to_string(i)) != 1) ++wrong;
          ++past;
        }));
    ASSERT_THAT(world().erp().CommitLater({world().PutAccount(i, i)}), IsOk());
  }
  ASSERT_THAT(world().erp().Wait(), IsOk());
  over = true;
  state_reader.join();
  EXPECT_EQ(past, 200);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tidemark::ingest
