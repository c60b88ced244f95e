// Gaps: every way in which what the source's server still has does not join what is applied here.
// Never streamed over in silence: the rows are copied again, degraded meanwhile, and right then.
#include <string>

#include "tests/unit/server/ingest/postgres/items_world.h"

namespace tidemark::testing {
namespace {

using ingest::SourceState;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class GapTest : public ItemsTest {
 protected:
  static std::string Slot(FollowedWorld& world) { return "tidemark_" + world.database(); }
};

TEST_F(GapTest, ADroppedSlotIsAGapAndRowsDeletedMeanwhileGo) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const auto before = world->latest();
  world->Close();
  world->DropSlot();
  world->sql().Exec(
      "DELETE FROM items WHERE id <= 10; UPDATE items SET note = 'x' WHERE id = 11; "
      "INSERT INTO items VALUES (500, 'new', 0)");
  world->Open();
  ExpectHealed(*world, "is gone at the source");
  // Ordinary versions and changelog: 10 deletes, an update, an insert, and the update of ours.
  EXPECT_THAT(world->ChangesAfter(before), SizeIs(13));
}

TEST_F(GapTest, ASlotDroppedWhileStreamingIsAGap) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  // The slot cannot be dropped while its session lives, and the session comes back: hold the source
  // off meanwhile.
  ASSERT_THAT(world->source().Pause(), IsOk());
  ASSERT_THAT(world->AwaitState(SourceState::kPaused), IsOk());
  world->AwaitSql("SELECT NOT active FROM pg_replication_slots WHERE slot_name = '" + Slot(*world) +
                  "'");
  world->DropSlot();
  world->sql().Exec("DELETE FROM items WHERE id <= 10");
  ASSERT_THAT(world->source().Resume(), IsOk());
  ExpectHealed(*world, "is gone at the source");
}

TEST_F(GapTest, ASlotThatLostItsLogIsAGap) {
  auto server = PostgresServer::Create(
      {.settings = {
           {"max_slot_wal_keep_size", "1MB"}, {"min_wal_size", "32MB"}, {"max_wal_size", "32MB"}}});
  ASSERT_THAT(server, IsOk());
  auto world = MakeItems({.server = server->get()});
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  world->sql().Exec("DELETE FROM items WHERE id <= 10; CREATE TABLE filler (t text)");
  for (int i = 0; i < 100; ++i) {
    world->sql().Exec("INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, 20000)");
    world->sql().Exec("SELECT pg_switch_wal()");
    world->sql().Exec("CHECKPOINT");
    if (world->sql().Value("SELECT wal_status FROM pg_replication_slots WHERE slot_name = '" +
                           Slot(*world) + "'") == "lost") {
      break;
    }
  }
  world->Open();
  ExpectHealed(*world, "was invalidated");
}

TEST_F(GapTest, AStateDirectoryRestoredFromBeforeIsAGap) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  world->SaveState("older");
  world->Open();
  world->sql().Exec("DELETE FROM items WHERE id <= 10");
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  // Confirmed to the server, so that it has forgotten what the older state lacks.
  const std::string lsn = world->sql().Value("SELECT pg_current_wal_lsn()");
  world->sql().Exec("UPDATE items SET qty = 1 WHERE id = 20");
  world->AwaitSql("SELECT confirmed_flush_lsn >= '" + lsn +
                  "' FROM pg_replication_slots WHERE slot_name = '" + Slot(*world) + "'");
  const std::string lost = world->reader().TokenOf(world->latest());
  world->Close();
  world->RestoreState("older");
  world->Open();
  const state::SnapshotId kept = world->latest();
  const std::string token = world->reader().TokenOf(kept);
  ExpectHealed(*world, "has moved on");
  // S7: ids are used again for other snapshots; tokens of the lost ones do not come to mean these.
  EXPECT_THAT(world->reader().ResolveToken(token), IsOkAndHolds(kept));
  EXPECT_THAT(world->reader().ResolveToken(lost), ReasonIs(Reason::kStoreMismatch));
}

TEST_F(GapTest, AStateDirectoryRestoredFromAMomentAgoIsNoGap) {
  auto world = MakeItems({.configure = [](ingest::PostgresSourceOptions& options) {
    options.status_every = absl::Hours(1);
  }});
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  world->SaveState("older");
  world->sql().Exec("DELETE FROM items WHERE id <= 10");
  world->Open();
  world->Close();
  world->RestoreState("older");
  world->TakeStates();
  world->Open();
  ExpectSameNow(*world);
  for (const auto& [state, detail] : world->TakeStates()) {
    EXPECT_NE(state, SourceState::kGap) << detail;
  }
}

TEST_F(GapTest, AnotherTimelineThatContainsOurPositionIsFollowed) {
  auto server = PostgresServer::Create();
  ASSERT_THAT(server, IsOk());
  auto world = MakeItems({.server = server->get()});
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Reconnect();
  ASSERT_THAT((*server)->Stop(), IsOk());
  ASSERT_THAT((*server)->StartOnNewTimeline(), IsOk());
  world->sql().Exec("DELETE FROM items WHERE id <= 10");
  ExpectSameNow(*world);
  for (const auto& [state, detail] : world->TakeStates()) {
    EXPECT_NE(state, SourceState::kGap) << detail;
  }
  // And again from what is durable.
  world->Close();
  world->Open();
  ExpectSameNow(*world);
}

TEST_F(GapTest, ATimelineThatBranchedOffBeforeOurPositionIsAGap) {
  auto server = PostgresServer::Create();
  ASSERT_THAT(server, IsOk());
  auto world = MakeItems({.server = server->get()});
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  world->Reconnect();
  ASSERT_THAT((*server)->Stop(), IsOk());
  ASSERT_THAT((*server)->SaveData("older"), IsOk());
  ASSERT_THAT((*server)->Start(), IsOk());
  world->Open();
  world->sql().Exec("DELETE FROM items WHERE id <= 10");
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  world->Reconnect();
  ASSERT_THAT((*server)->Stop(), IsOk());
  ASSERT_THAT((*server)->RestoreData("older"), IsOk());
  ASSERT_THAT((*server)->StartOnNewTimeline(), IsOk());
  world->sql().Exec("UPDATE items SET note = 'other history' WHERE id > 90");
  world->Open();
  ExpectHealed(*world, "timeline 2");
}

TEST_F(GapTest, AServerRestoredFromBeforeOurPositionIsAGap) {
  auto server = PostgresServer::Create();
  ASSERT_THAT(server, IsOk());
  auto world = MakeItems({.server = server->get()});
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  world->Reconnect();
  ASSERT_THAT((*server)->Stop(), IsOk());
  ASSERT_THAT((*server)->SaveData("older"), IsOk());
  ASSERT_THAT((*server)->Start(), IsOk());
  world->Open();
  world->sql().Exec("UPDATE items SET note = repeat('x', 1000)");
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  world->Reconnect();
  ASSERT_THAT((*server)->Stop(), IsOk());
  ASSERT_THAT((*server)->RestoreData("older"), IsOk());
  ASSERT_THAT((*server)->Start(), IsOk());
  world->Open();
  ExpectHealed(*world, "log ends at");
}

TEST_F(GapTest, OnGapStopWaitsForResume) {
  auto world = MakeItems({.configure = [](ingest::PostgresSourceOptions& options) {
    options.resnapshot_on_gap = false;
  }});
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  world->DropSlot();
  world->sql().Exec("DELETE FROM items WHERE id <= 10");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kGap, "resume the source"), IsOk());
  EXPECT_TRUE(world->IsDegraded("items"));
  EXPECT_THAT(world->Rows("items"), SizeIs(100));
  // Also after a restart.
  world->Close();
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kGap, "resume the source"), IsOk());
  EXPECT_TRUE(world->IsDegraded("items"));
  ASSERT_THAT(world->source().Resume(), IsOk());
  ExpectHealed(*world, "");
}

TEST_F(GapTest, TablesAreDegradedFromTheGapToTheEndOfTheCopy) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  world->DropSlot();
  world->sql().Exec("DELETE FROM items WHERE id <= 10");
  // A transaction that stays open holds up the new slot.
  SqlClient writer(world->dsn());
  writer.Exec("BEGIN; UPDATE items SET note = 'held' WHERE id = 50");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kCopying), IsOk());
  EXPECT_TRUE(world->IsDegraded("items"));
  EXPECT_THAT(world->source().Status().detail, HasSubstr("is gone at the source"));
  EXPECT_THAT(world->Rows("items"), SizeIs(100));
  writer.Exec("COMMIT");
  ExpectHealed(*world, "is gone at the source");
}

TEST_F(GapTest, ACopyThatBreaksOffStartsAgainWithoutLeftovers) {
  auto world = MakeItems();
  world->sql().Exec(
      "INSERT INTO items SELECT n, repeat('x', 500), n "
      "FROM generate_series(1001, 60000) n");
  for (int round = 0; round < 3; ++round) {
    world->Open();
    // In the midst of it: rows are here, the copy is not complete.
    while (world->source().Status().events == 0) {
      ASSERT_THAT(world->AwaitState(SourceState::kCopying), IsOk());
    }
    world->Close();
    world->sql().Exec("DELETE FROM items WHERE id % 100 = " + std::to_string(round));
  }
  world->Open();
  ExpectSameNow(*world);
}

TEST_F(GapTest, ATableRewrittenBetweenTheSnapshotAndItsCopyIsCopiedAgain) {
  auto world = MakeItems({.tables = std::string(kItemsTable) + R"(
- name: bulk
  key: [id]
  tier: seconds
  readers: [default]
  columns: {id: int, text: string}
  merge: last_row
  from: {source: erp, relation: public.bulk}
)"});
  world->sql().Exec(
      "CREATE TABLE bulk (id int PRIMARY KEY, text text); ALTER PUBLICATION tidemark ADD TABLE "
      "bulk; INSERT INTO bulk SELECT n, repeat('x', 500) FROM generate_series(1, 100000) n");
  world->Open();
  // In the midst of the first relation, so the second is still to be copied.
  ASSERT_THAT(world->AwaitState(SourceState::kCopying), IsOk());
  ASSERT_THAT(world->source().Pause(), IsOk());
  ASSERT_THAT(world->AwaitState(SourceState::kPaused, "its snapshot open"), IsOk());
  world->sql().Exec("ALTER TABLE items ALTER COLUMN qty TYPE bigint");
  ASSERT_THAT(world->source().Resume(), IsOk());
  ASSERT_THAT(world->AwaitPassed(SourceState::kRetrying, "public.items was truncated or rewritten"),
              IsOk());
  ExpectSameNow(*world);
  EXPECT_THAT(world->Rows("items"), SizeIs(100));
}

}  // namespace
}  // namespace tidemark::testing
