// Freshness, keepalives and what the source's server is told; pausing and stopping.
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "tests/unit/server/ingest/postgres/items_world.h"

namespace tidemark::testing {
namespace {

using ingest::SourceState;
using ::testing::SizeIs;

class FreshnessTest : public ItemsTest {
 protected:
  static std::string SlotQuery(FollowedWorld& world, const std::string& what) {
    return "SELECT " + what + " FROM pg_replication_slots WHERE slot_name = 'tidemark_" +
           world.database() + "'";
  }
};

TEST_F(FreshnessTest, F1_RecentMeansEverythingCommittedBefore) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  for (int i = 0; i < 50; ++i) {
    world->sql().Exec("UPDATE items SET qty = " + std::to_string(i) + " WHERE id = 1");
    ASSERT_THAT(world->AwaitRecent(), IsOk());
    ASSERT_THAT(world->Rows("items"),
                ::testing::Contains("id=1, note=note 1, qty=" + std::to_string(i)));
  }
}

TEST_F(FreshnessTest, AnIdleDatabaseIsFresh) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const absl::Time before = world->source().FreshAsOf();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  EXPECT_GT(world->source().FreshAsOf(), before);
}

TEST_F(FreshnessTest, RecentComesWithinTheProbesGap) {
  auto world = MakeItems({.configure = [](ingest::PostgresSourceOptions& options) {
    options.probe_every = absl::Hours(1);
    options.status_every = absl::Hours(1);
  }});
  world->sql().Exec("CREATE TABLE other (t text)");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  // Log that is not ours, and nothing but the question moves the position.
  absl::Duration worst;
  for (int i = 0; i < 20; ++i) {
    world->sql().Exec("INSERT INTO other VALUES (repeat('x', 1000))");
    const absl::Time asked = absl::Now();
    ASSERT_THAT(world->AwaitRecent(), IsOk());
    worst = std::max(worst, absl::Now() - asked);
  }
  // Generous for a busy machine; an hour is what it must not wait for.
  EXPECT_LT(worst, absl::Seconds(5));
}

TEST_F(FreshnessTest, ALogThatEndsInsideARecordDoesNotHoldFreshnessUp) {
  auto world = MakeItems();
  world->sql().Exec("CREATE TABLE other (t text)");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  // A large transaction that is left open: the log is flushed by whole pages only.
  SqlClient writer(world->dsn());
  writer.Exec("BEGIN; INSERT INTO other SELECT repeat('x', 1000) FROM generate_series(1, 3000)");
  for (int i = 0; i < 5; ++i) {
    const absl::Time asked = absl::Now();
    ASSERT_THAT(world->AwaitRecent(), IsOk());
    EXPECT_LT(absl::Now() - asked, absl::Seconds(10));
  }
  writer.Exec("ROLLBACK");
}

TEST_F(FreshnessTest, TablesThatAreNotOursDoNotFillTheSourcesDisk) {
  auto world = MakeItems();
  world->sql().Exec("CREATE TABLE other (t text)");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const auto before = world->latest();
  for (int i = 0; i < 3; ++i) {
    world->sql().Exec("INSERT INTO other SELECT repeat('x', 1000) FROM generate_series(1, 1000)");
    const std::string lsn = world->sql().Value("SELECT pg_current_wal_lsn()");
    world->AwaitSql(SlotQuery(*world, "confirmed_flush_lsn >= '" + lsn + "'"));
  }
  EXPECT_EQ(world->latest(), before);
}

TEST_F(FreshnessTest, S6_NothingIsConfirmedBeforeItIsDurable) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  for (int i = 0; i < 20; ++i) {
    world->sql().Exec("UPDATE items SET qty = qty + 1");
    if (i % 5 == 0) {
      // What the server has been told lies at or before what a new process finds on disk.
      world->Close();
      const std::string confirmed = world->sql().Value(SlotQuery(*world, "confirmed_flush_lsn"));
      world->Open();
      ASSERT_THAT(world->AwaitPast(confirmed), IsOk());
    }
  }
  for (const auto& [state, detail] : world->TakeStates()) {
    EXPECT_NE(state, SourceState::kGap) << detail;
  }
  ExpectSameNow(*world);
}

TEST_F(FreshnessTest, ASlowApplierDoesNotCostTheConnection) {
  auto server = PostgresServer::Create({.settings = {{"wal_sender_timeout", "500ms"}}});
  ASSERT_THAT(server, IsOk());
  auto world = MakeItems({.server = server->get()});
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->TakeStates();
  // The applier stands still in a listener while far more arrives than the queue holds.
  Happening may_go_on;
  auto handle = world->reader().AddListener(
      [&](const state::PublicationPtr&) { EXPECT_THAT(may_go_on.Await(), IsOk()); });
  world->sql().Exec(
      "INSERT INTO items SELECT n, repeat('x', 200), 0 FROM generate_series(1000, 2000) n");
  for (int i = 0; i < 12; ++i) {
    world->sql().Exec(
        "DO $$ BEGIN FOR i IN 1..1000 LOOP UPDATE items SET qty = qty + 1 WHERE "
        "id = 1000 + i; COMMIT; END LOOP; END $$");
  }
  // Several times the server's patience.
  world->sql().Exec("SELECT pg_sleep(2)");
  may_go_on.Happen(absl::OkStatus());
  ExpectSameNow(*world);
  handle.reset();
  for (const auto& [state, detail] : world->TakeStates()) {
    EXPECT_EQ(state, SourceState::kStreaming) << detail;
  }
}

TEST_F(FreshnessTest, AServerThatShutsDownIsNotHeldUp) {
  auto server = PostgresServer::Create();
  ASSERT_THAT(server, IsOk());
  auto world =
      MakeItems({.server = server->get(), .configure = [](ingest::PostgresSourceOptions& options) {
                   options.status_every = absl::Hours(1);
                 }});
  world->sql().Exec("CREATE TABLE other (t text)");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec("INSERT INTO other SELECT repeat('x', 1000) FROM generate_series(1, 1000)");
  world->Reconnect();
  // It waits until its WAL senders have everything confirmed.
  EXPECT_THAT((*server)->Stop(absl::Seconds(20)), IsOk());
}

TEST_F(FreshnessTest, PauseKeepsThePositionAndResumeGoesOn) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  ASSERT_THAT(world->source().Pause(), IsOk());
  ASSERT_THAT(world->source().Pause(), IsOk());
  ASSERT_THAT(world->AwaitState(SourceState::kPaused), IsOk());
  const RowTexts before = world->Rows("items");
  world->sql().Exec("DELETE FROM items WHERE id <= 10");
  const auto wait_ended = std::make_shared<Happening>();
  const auto wait = world->source().WhenRecent(
      [wait_ended](const absl::Status& status) { wait_ended->Happen(status); });
  EXPECT_THAT(wait_ended->Await(absl::Milliseconds(300)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(world->Rows("items"), before);
  ASSERT_THAT(world->source().Resume(), IsOk());
  EXPECT_THAT(wait_ended->Await(), IsOk());
  ExpectSameNow(*world);
}

TEST_F(FreshnessTest, StopIsPromptWhateverIsGoingOn) {
  const auto stop_within_a_second = [](FollowedWorld& world) {
    const absl::Time asked = absl::Now();
    world.source().Stop();
    EXPECT_LT(absl::Now() - asked, absl::Seconds(1));
  };
  {
    auto world = MakeItems();  // streaming
    world->Open();
    ASSERT_THAT(world->AwaitRecent(), IsOk());
    const auto ended = std::make_shared<Happening>();
    const auto wait =
        world->source().WhenPast(*world->source().ParsePosition("FFFFFFFF/0"),
                                 [ended](const absl::Status& status) { ended->Happen(status); });
    stop_within_a_second(*world);
    EXPECT_THAT(ended->Await(), ReasonIs(Reason::kShuttingDown));
  }
  {
    auto world = MakeItems();  // waiting for an open transaction, to make the slot
    SqlClient writer(world->dsn());
    writer.Exec("BEGIN; UPDATE items SET qty = 0 WHERE id = 1");
    world->Open();
    ASSERT_THAT(world->AwaitState(SourceState::kCopying), IsOk());
    world->AwaitSql(
        "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'transactionid' "
        "AND datname = current_database()");
    stop_within_a_second(*world);
    // And nothing of it waits on at the server.
    world->AwaitSql(
        "SELECT count(*) = 0 FROM pg_replication_slots WHERE database = "
        "current_database()");
    writer.Exec("COMMIT");
  }
  {
    auto world = MakeItems({.configure = [](ingest::PostgresSourceOptions& options) {
      options.dsn = "host=127.0.0.1 port=1 dbname=x";  // nobody there
      options.retry_min = options.retry_max = absl::Hours(1);
    }});
    world->Open();
    ASSERT_THAT(world->AwaitState(SourceState::kRetrying), IsOk());
    stop_within_a_second(*world);
  }
}

}  // namespace
}  // namespace tidemark::testing
