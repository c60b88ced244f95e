// Named states: everything that can be wrong at the source, said with what to do, and left without
// a restart once it is right.
#include <unistd.h>

#include <string>

#include "tests/unit/server/ingest/postgres/items_world.h"

namespace tidemark::testing {
namespace {

using ingest::SourceState;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class StatesTest : public ItemsTest {};

TEST_F(StatesTest, WalLevelReplicaFailsUntilItIsLogical) {
  auto server = PostgresServer::Create({.settings = {{"wal_level", "replica"}}});
  ASSERT_THAT(server, IsOk());
  auto world = MakeItems({.server = server->get()});
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "wal_level = replica"), IsOk());
  (*server)->Set("wal_level", "logical");
  world->Reconnect();
  ASSERT_THAT((*server)->Restart(), IsOk());
  ExpectSameNow(*world);
}

TEST_F(StatesTest, AMissingPublicationFailsUntilItIsThere) {
  auto world = MakeItems();
  world->sql().Exec("DROP PUBLICATION tidemark");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "CREATE PUBLICATION \"tidemark\""), IsOk());
  world->sql().Exec("CREATE PUBLICATION tidemark FOR TABLE items");
  ExpectSameNow(*world);
}

TEST_F(StatesTest, ARelationOutsideOfThePublicationFailsUntilItIsAdded) {
  auto world = MakeItems();
  world->sql().Exec("ALTER PUBLICATION tidemark DROP TABLE items");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed,
                                "ALTER PUBLICATION \"tidemark\" ADD TABLE \"public\".\"items\""),
              IsOk());
  world->sql().Exec("ALTER PUBLICATION tidemark ADD TABLE items");
  ExpectSameNow(*world);
}

TEST_F(StatesTest, APublicationThatLeavesOutChangesFailsUntilItHasThemAll) {
  auto world = MakeItems();
  world->sql().Exec("ALTER PUBLICATION tidemark SET (publish = 'insert, update, truncate')");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "publishes delete"), IsOk());
  world->sql().Exec(
      "ALTER PUBLICATION tidemark SET (publish = 'insert, update, delete, truncate')");
  ExpectSameNow(*world);
}

TEST_F(StatesTest, AMissingRelationOrColumnFailsUntilItIsThere) {
  auto world = MakeItems();
  world->sql().Exec(
      "DROP PUBLICATION tidemark; CREATE PUBLICATION tidemark FOR ALL TABLES; "
      "ALTER TABLE items RENAME TO things; ALTER TABLE things RENAME COLUMN qty TO n");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "no relation public.items"), IsOk());
  world->sql().Exec("ALTER TABLE things RENAME TO items");
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "qty"), IsOk());
  world->sql().Exec("ALTER TABLE items RENAME COLUMN n TO qty");
  ExpectSameNow(*world);
}

TEST_F(StatesTest, AGeneratedColumnIsSaidNotToBeReplicated) {
  auto world = MakeItems();
  world->sql().Exec(
      "ALTER TABLE items DROP COLUMN qty; "
      "ALTER TABLE items ADD COLUMN qty int GENERATED ALWAYS AS (id * 2) STORED");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "does not replicate generated columns: qty"),
              IsOk());
}

TEST_F(StatesTest, WhatIsNoTableOrUnloggedIsRefused) {
  auto world = MakeItems();
  world->sql().Exec("ALTER TABLE items RENAME TO base; CREATE VIEW items AS SELECT * FROM base");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "is a view"), IsOk());
  world->sql().Exec("DROP VIEW items; CREATE UNLOGGED TABLE items (LIKE base INCLUDING ALL)");
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "is an unlogged or temporary table"), IsOk());
  world->sql().Exec("ALTER TABLE items SET LOGGED; ALTER PUBLICATION tidemark SET TABLE items");
  ExpectSameNow(*world);
}

TEST_F(StatesTest, MissingPrivilegesFailUntilTheyAreGranted) {
  auto world = MakeItems({.configure = [](ingest::PostgresSourceOptions& options) {
    options.dsn += " user=follower_" + options.slot;
  }});
  const std::string role = "follower_tidemark_" + world->database();
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "role"), IsOk());
  world->sql().Exec("CREATE ROLE " + role + " LOGIN");
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "REPLICATION"), IsOk());
  world->sql().Exec("ALTER ROLE " + role + " REPLICATION");
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "SELECT on every relation"), IsOk());
  world->sql().Exec("GRANT SELECT ON items TO " + role);
  ExpectSameNow(*world);
  // Row security would hide rows from the copy: an error, not fewer rows.
  world->Close();
  world->sql().Exec("SELECT pg_drop_replication_slot('tidemark_" + world->database() +
                    "'); "
                    "ALTER TABLE items ENABLE ROW LEVEL SECURITY");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "row-level security"), IsOk());
  world->sql().Exec("ALTER TABLE items DISABLE ROW LEVEL SECURITY");
  ExpectSameNow(*world);
  world->Close();
  world->sql().Exec("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_F(StatesTest, ABadPasswordFailsUntilItIsRightAndIsNeverShown) {
  auto server =
      PostgresServer::Create({.hba = "local all postgres trust\nlocal all all scram-sha-256\n"
                                     "local replication all scram-sha-256\n"});
  ASSERT_THAT(server, IsOk());
  auto world =
      MakeItems({.server = server->get(), .configure = [](ingest::PostgresSourceOptions& options) {
                   options.dsn += " user=follower password=hunter2secret";
                 }});
  world->sql().Exec(
      "CREATE ROLE follower LOGIN REPLICATION PASSWORD 'other'; "
      "GRANT SELECT ON items TO follower");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "password in the DSN"), IsOk());
  EXPECT_THAT(world->source().Status().detail, Not(HasSubstr("hunter2secret")));
  world->sql().Exec("ALTER ROLE follower PASSWORD 'hunter2secret'");
  ExpectSameNow(*world);
}

TEST_F(StatesTest, AMissingDatabaseFails) {
  auto world = MakeItems({.configure = [](ingest::PostgresSourceOptions& options) {
    options.dsn += " dbname=no_such_database";
  }});
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "no_such_database"), IsOk());
}

TEST_F(StatesTest, NoFreeSlotFailsUntilThereIsOne) {
  auto server = PostgresServer::Create({.settings = {{"max_replication_slots", "1"}}});
  ASSERT_THAT(server, IsOk());
  auto world = MakeItems({.server = server->get()});
  world->sql().Exec("SELECT pg_create_logical_replication_slot('taken', 'pgoutput')");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "max_replication_slots"), IsOk());
  world->sql().Exec("SELECT pg_drop_replication_slot('taken')");
  ExpectSameNow(*world);
}

TEST_F(StatesTest, ASlotOfAnotherKindIsRefused) {
  auto world = MakeItems();
  const std::string slot = "tidemark_" + world->database();
  world->sql().Exec("SELECT pg_create_physical_replication_slot('" + slot + "')");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "is not ours: a physical slot"), IsOk());
  world->sql().Exec("SELECT pg_drop_replication_slot('" + slot + "')");
  ExpectSameNow(*world);
}

TEST_F(StatesTest, ASlotOfOursLeftFromBeforeAnyStateIsMadeAnew) {
  auto world = MakeItems();
  world->sql().Exec("SELECT pg_create_logical_replication_slot('tidemark_" + world->database() +
                    "', 'pgoutput')");
  world->Open();
  ExpectSameNow(*world);
}

TEST_F(StatesTest, ASlotThatAnotherInstanceFollowsIsNeverStolen) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  // The same configuration over the same database, with a directory of its own.
  FollowedWorld second(
      {.tables = kItemsTable, .configure = [&](ingest::PostgresSourceOptions& options) {
         options.dsn = world->dsn();
         options.slot = "tidemark_" + world->database();
       }});
  const std::string pid = world->sql().Value(
      "SELECT active_pid FROM pg_replication_slots WHERE slot_name = 'tidemark_" +
      world->database() + "'");
  second.Open();
  ASSERT_THAT(second.AwaitState(SourceState::kRetrying, "pid " + pid), IsOk());
  world->sql().Exec("DELETE FROM items WHERE id <= 10");
  ExpectSameNow(*world);
  EXPECT_EQ(world->sql().Value("SELECT active_pid FROM pg_replication_slots WHERE slot_name = "
                               "'tidemark_" +
                               world->database() + "'"),
            pid);
  // When the first goes, the second takes over; and the first, coming back, sees the gap.
  world->Close();
  ASSERT_THAT(second.AwaitState(SourceState::kStreaming), IsOk());
  second.Close();
  world->TakeStates();
  world->sql().Exec("DELETE FROM items WHERE id = 11");
  world->Open();
  ExpectSameNow(*world);
}

TEST_F(StatesTest, AnotherDatabaseBehindTheDsnFailsNamingBoth) {
  auto other_server = PostgresServer::Create({.own_system_identifier = true});
  ASSERT_THAT(other_server, IsOk());
  std::string dsn;
  auto world = MakeItems({.configure = [&](ingest::PostgresSourceOptions& options) {
    if (!dsn.empty()) options.dsn = dsn;
  }});
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  const RowTexts before = [&] {
    world->Open();
    RowTexts rows = world->Rows("items");
    world->Close();
    return rows;
  }();
  for (const bool same_server : {true, false}) {
    PostgresServer& server = same_server ? world->server() : **other_server;
    const std::string other = CreateDatabase(server);
    dsn = server.Dsn(other);
    SqlClient(dsn).Exec(std::string(kItemsSql) +
                        "DELETE FROM items; "
                        "CREATE PUBLICATION tidemark FOR TABLE items");
    world->Open();
    ASSERT_THAT(world->AwaitState(SourceState::kFailed, "database \"" + other + "\""), IsOk());
    EXPECT_THAT(world->source().Status().detail, HasSubstr("\"" + world->database() + "\""));
    EXPECT_EQ(world->Rows("items"), before);
    // Nothing there counts as our head either.
    auto happening = std::make_shared<Happening>();
    const auto wait = world->source().WhenRecent(
        [happening](const absl::Status& status) { happening->Happen(status); });
    EXPECT_THAT(happening->Await(), ReasonIs(Reason::kSourceUnavailable));
    world->Close();
  }
  dsn = world->dsn();
  world->sql().Exec("DELETE FROM items WHERE id = 1");
  world->Open();
  ExpectSameNow(*world);
}

TEST_F(StatesTest, AServerThatIsAwayIsRetriedAndThenFollowedFromWhereWeWere) {
  auto server = PostgresServer::Create();
  ASSERT_THAT(server, IsOk());
  auto world = MakeItems({.server = server->get()});
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Reconnect();
  ASSERT_THAT((*server)->Stop(), IsOk());
  ASSERT_THAT(world->AwaitState(SourceState::kRetrying), IsOk());
  EXPECT_THAT(world->Rows("items"), SizeIs(100));
  // Opened while nobody is there.
  world->Close();
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kRetrying, "connecting"), IsOk());
  world->TakeStates();
  ASSERT_THAT((*server)->Start(), IsOk());
  world->sql().Exec("DELETE FROM items WHERE id <= 10");
  ExpectSameNow(*world);
  for (const auto& [state, detail] : world->TakeStates()) {
    EXPECT_NE(state, SourceState::kGap) << detail;
  }
}

TEST_F(StatesTest, ARowTheTableCannotTakeFailsAndNothingBehindItIsApplied) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const RowTexts before = world->Rows("items");
  world->sql().Exec("UPDATE items SET note = repeat('x', 3000000) WHERE id = 1");
  world->sql().Exec("DELETE FROM items WHERE id = 2");
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "cannot be applied"), IsOk());
  EXPECT_EQ(world->Rows("items"), before);
  // The way out: the row made small enough, and everything read again.
  world->sql().Exec("UPDATE items SET note = 'short' WHERE id = 1");
  world->Close();
  world->DropSlot();
  world->Open();
  ExpectSameNow(*world);
}

}  // namespace
}  // namespace tidemark::testing
