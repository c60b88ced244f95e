// The place readers take the newest publication from.
#include "storage/state/engine/publication.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/fault_env.h"

namespace tidemark::state::engine {
namespace {

class PublicationTest : public ::testing::Test {
 protected:
  PublicationTest() {
    EXPECT_TRUE(
        Database::Open(
            {.dir = "/d", .block_cache_bytes = 1 << 16, .env = &env_, .create_if_missing = true},
            &database_)
            .ok());
  }
  LevelDbPublicationPtr Make(SnapshotId id) {
    LevelDbPublication::Parts parts;
    parts.info.id = id;
    parts.tables = std::make_shared<const TableSet>();
    parts.pins = std::make_shared<const PinSet>();
    return std::make_shared<const LevelDbPublication>(std::move(parts), database_);
  }

  testing::FaultEnv env_;
  std::shared_ptr<Database> database_;
};

TEST_F(PublicationTest, WhatWasPublishedBeforeAReadIsReadByEveryThread) {
  PublicationBoard board;
  board.Publish(Make(1));
  // Readers hand the newest id they saw to each other: nobody may see an older one afterwards.
  std::atomic<SnapshotId> seen{1};
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 12; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        const SnapshotId before = seen.load();
        const SnapshotId now = board.Latest()->id();
        ASSERT_GE(now, before);
        SnapshotId known = before;
        while (known < now && !seen.compare_exchange_weak(known, now)) {
        }
      }
    });
  }
  for (SnapshotId id = 2; id < 3000; ++id) {
    board.Publish(Make(id));
    ASSERT_EQ(board.Latest()->id(), id);
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

TEST_F(PublicationTest, DroppingAListenerWaitsForACallInProgress) {
  PublicationBoard board;
  std::atomic<bool> called{false}, dropped{false};
  std::shared_ptr<void> handle = board.AddListener([&](const PublicationPtr&) {
    called = true;
    // The other thread is about to drop the handle, or already waits.
    std::this_thread::yield();
    EXPECT_FALSE(dropped);
  });
  std::thread dropper([&] {
    while (!called) std::this_thread::yield();
    handle.reset();
    dropped = true;
  });
  board.Publish(Make(1));
  dropper.join();
  board.Publish(Make(2));
}

TEST_F(PublicationTest, AReplacedPublicationLivesAsLongAsItsReaders) {
  PublicationBoard board;
  board.Publish(Make(1));
  const PublicationPtr held = board.Latest();
  board.Publish(Make(2));
  EXPECT_EQ(held->id(), 1);
  EXPECT_EQ(board.Latest()->id(), 2);
}

TEST(PinSetTest, CoversExactlyThePinnedSnapshots) {
  const PinSet pins({3, 7, 20});
  for (const SnapshotId id : {3, 7, 20}) EXPECT_TRUE(pins.Covers(id));
  for (const SnapshotId id : {0, 2, 4, 8, 21}) EXPECT_FALSE(pins.Covers(id));
  EXPECT_FALSE(PinSet().Covers(1));
}

}  // namespace
}  // namespace tidemark::state::engine
