// Copy and stream of ordinary tables: every kind of change, held against SQL.
#include <string>

#include "tests/unit/server/ingest/postgres/items_world.h"

namespace tidemark::testing {
namespace {

using ingest::SourceState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StreamTest : public ItemsTest {};

TEST_F(StreamTest, CopiesWhatIsThereThenFollows) {
  auto world = MakeItems();
  world->Open();
  ExpectSameNow(*world);
  EXPECT_THAT(world->Rows("items"), SizeIs(100));
  world->sql().Exec("INSERT INTO items VALUES (101, NULL, NULL)");
  world->sql().Exec("UPDATE items SET note = 'changed' WHERE id = 7");
  world->sql().Exec("DELETE FROM items WHERE id = 8");
  ExpectSameNow(*world);
  EXPECT_THAT(world->Rows("items"), ::testing::Contains("id=101, note=null, qty=null"));
  const ingest::SourceStatus status = world->source().Status();
  EXPECT_EQ(status.state, SourceState::kStreaming);
  EXPECT_EQ(status.detail, "");
  EXPECT_FALSE(status.degraded);
  EXPECT_EQ(status.transactions, 3u);
  ASSERT_THAT(status.relations, SizeIs(1));
  EXPECT_TRUE(status.relations[0].copied);
  EXPECT_EQ(status.relations[0].rows_copied, 100u);
}

TEST_F(StreamTest, S3_ATransactionIsOneSnapshot) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const auto before = world->latest();
  world->sql().Exec(
      "BEGIN; UPDATE items SET qty = qty + 1; DELETE FROM items WHERE id > 90; "
      "INSERT INTO items VALUES (200, 'new', 1); COMMIT");
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  EXPECT_EQ(world->latest(), before + 1);
  EXPECT_THAT(world->ChangesAfter(before), SizeIs(101));
}

TEST_F(StreamTest, RolledBackAndEmptyTransactionsMakeNoSnapshot) {
  auto world = MakeItems();
  world->sql().Exec("CREATE TABLE other (id int PRIMARY KEY)");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const auto before = world->latest();
  world->sql().Exec("BEGIN; UPDATE items SET qty = 0; ROLLBACK");
  world->sql().Exec("BEGIN; SAVEPOINT s; DELETE FROM items; ROLLBACK TO s; COMMIT");
  world->sql().Exec("INSERT INTO other VALUES (1)");
  world->sql().Exec("UPDATE items SET qty = qty WHERE id = 1");
  ExpectSameNow(*world);
  EXPECT_EQ(world->latest(), before);
}

TEST_F(StreamTest, EveryReplicaIdentityThatTellsRowsApartWorks) {
  for (const std::string identity : {"FULL", "USING INDEX items_code"}) {
    auto world = MakeItems({.tables = R"(
- name: items
  key: [id]
  tier: seconds
  readers: [default]
  columns: {id: int, code: string, qty: int}
  merge: last_row
  from: {source: erp, relation: public.things}
)"});
    world->sql().Exec(
        "CREATE TABLE things (id int NOT NULL, code text NOT NULL, qty int); "
        "CREATE UNIQUE INDEX items_code ON things (id, code); ALTER TABLE things REPLICA "
        "IDENTITY " +
        identity +
        "; ALTER PUBLICATION tidemark ADD TABLE things; "
        "INSERT INTO things SELECT n, 'c' || n, n FROM generate_series(1, 10) n");
    world->Open();
    ASSERT_THAT(world->AwaitRecent(), IsOk()) << identity;
    world->sql().Exec(
        "UPDATE things SET qty = 0 WHERE id = 1; DELETE FROM things WHERE id = 2; "
        "UPDATE things SET id = 30, code = 'x' WHERE id = 3");
    ASSERT_THAT(world->AwaitRecent(), IsOk()) << identity;
    EXPECT_EQ(world->Rows("items"),
              SqlTexts(world->sql().Query("SELECT * FROM things"), {"id", "code", "qty"}))
        << identity;
  }
}

TEST_F(StreamTest, ATableThatSendsNoOldKeysIsRefusedWithTheRemedy) {
  auto world = MakeItems();
  world->sql().Exec("ALTER TABLE items REPLICA IDENTITY NOTHING");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "REPLICA IDENTITY"), IsOk());
  EXPECT_THAT(world->source().Status().detail, HasSubstr("public.items"));
  world->sql().Exec("ALTER TABLE items REPLICA IDENTITY DEFAULT");
  ExpectSameNow(*world);
}

TEST_F(StreamTest, ALargeTransactionIsSpooledAndStillOneSnapshot) {
  auto world = MakeItems({.configure = [](ingest::PostgresSourceOptions& options) {
    options.max_transaction_bytes = 1 << 20;
  }});
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const auto before = world->latest();
  world->sql().Exec(
      "INSERT INTO items SELECT n, 'note ' || n, n FROM generate_series(1001, 201000) n");
  ExpectSameNow(*world);
  EXPECT_EQ(world->latest(), before + 1);
  world->sql().Exec("DELETE FROM items WHERE id > 1000");
  ExpectSameNow(*world);
  EXPECT_EQ(world->latest(), before + 2);
}

TEST_F(StreamTest, NamesMayHoldAnythingAndColumnsMayHaveGoneInTheMiddle) {
  auto world = MakeItems({.tables = R"(
- name: odd
  key: [ID]
  tier: seconds
  readers: [default]
  columns: {ID: int, "the \"note\"": string, "select": int}
  merge: last_row
  from: {source: erp, relation: "My Schema.Order \"Lines\".v2"}
)"});
  world->sql().Exec(R"(CREATE SCHEMA "My Schema";
      CREATE TABLE "My Schema"."Order ""Lines"".v2" (gone1 int, "ID" int PRIMARY KEY, gone2 text,
          "the ""note""" text, gone3 int, "select" int, ignored text);
      ALTER TABLE "My Schema"."Order ""Lines"".v2" DROP COLUMN gone1, DROP COLUMN gone2;
      INSERT INTO "My Schema"."Order ""Lines"".v2" VALUES (1, 'a', 2, 3, 'x');
      ALTER TABLE "My Schema"."Order ""Lines"".v2" DROP COLUMN gone3;
      ALTER PUBLICATION tidemark ADD TABLE "My Schema"."Order ""Lines"".v2")");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec(R"(INSERT INTO "My Schema"."Order ""Lines"".v2" VALUES (2, 'b', 4, 'y'))");
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  EXPECT_THAT(world->Rows("odd"),
              ElementsAre("ID=1, the \"note\"=a, select=3", "ID=2, the \"note\"=b, select=4"));
}

TEST_F(StreamTest, PartitionedTablesAreOneRelationThroughTheirRoot) {
  auto world = MakeItems({.tables = R"(
- name: events
  key: [id, day]
  tier: seconds
  readers: [default]
  columns: {id: int, day: date, note: string}
  merge: last_row
  from: {source: erp, relation: public.events}
)"});
  world->sql().Exec(
      "CREATE TABLE events (id int, day date, note text, PRIMARY KEY (id, day)) "
      "PARTITION BY RANGE (day); "
      "CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM ('2024-01-01') TO ('2024-07-01'); "
      // Another order of columns inside.
      "CREATE TABLE events_2 (note text, day date NOT NULL, id int NOT NULL); "
      "ALTER TABLE events ATTACH PARTITION events_2 FOR VALUES FROM ('2024-07-01') TO "
      "('2025-01-01'); "
      "INSERT INTO events VALUES (1, '2024-02-03', 'a'), (2, '2024-08-09', 'b'); "
      "ALTER PUBLICATION tidemark ADD TABLE events");
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "publish_via_partition_root"), IsOk());
  world->sql().Exec("ALTER PUBLICATION tidemark SET (publish_via_partition_root = true)");
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec(
      "INSERT INTO events VALUES (3, '2024-12-31', 'c'); "
      "UPDATE events SET day = '2024-03-04' WHERE id = 2; "
      "DELETE FROM events WHERE id = 1");
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  EXPECT_THAT(world->Rows("events"),
              ElementsAre("id=2, day=2024-03-04, note=b", "id=3, day=2024-12-31, note=c"));
}

TEST_F(StreamTest, TablesThatInheritAreNotMixedIn) {
  auto world = MakeItems();
  world->sql().Exec(
      "CREATE TABLE child () INHERITS (items); INSERT INTO child VALUES (900, 'c', 1)");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec("INSERT INTO child VALUES (901, 'c', 1)");
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  EXPECT_THAT(world->Rows("items"), SizeIs(100));
}

TEST_F(StreamTest, RowFiltersAndColumnListsHoldForCopyAndStream) {
  auto world = MakeItems();
  world->sql().Exec(
      "ALTER TABLE items ADD COLUMN secret text DEFAULT 's', "
      "ADD COLUMN twice int GENERATED ALWAYS AS (qty * 2) STORED; "
      "ALTER PUBLICATION tidemark SET TABLE items (id, note, qty) WHERE (id > 50)");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  EXPECT_THAT(world->Rows("items"), SizeIs(50));
  world->sql().Exec("INSERT INTO items VALUES (101, 'in', 1), (0, 'out', 1)");
  world->sql().Exec("UPDATE items SET id = -60 WHERE id = 60");
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  // 101 came; 60 left what is published.
  EXPECT_THAT(world->Rows("items"), SizeIs(50));
  EXPECT_EQ(world->Rows("items"),
            SqlTexts(world->sql().Query(std::string(kItemsQuery) + " WHERE id > 50"),
                     {"id", "note", "qty"}));
}

TEST_F(StreamTest, SeveralPublicationsFeedOneSource) {
  auto world = MakeItems({.tables = std::string(kItemsTable) + R"(
- name: stock
  key: [id]
  tier: seconds
  readers: [default]
  columns: {id: int, left: int}
  merge: last_row
  from: {source: erp, relation: public.stock}
)",
                          .configure = [](ingest::PostgresSourceOptions& options) {
                            options.publication = " tidemark, Other \"One\" ";
                          }});
  world->sql().Exec(
      "CREATE TABLE stock (id int PRIMARY KEY, \"left\" int); "
      "INSERT INTO stock VALUES (1, 5); "
      "CREATE PUBLICATION \"Other \"\"One\"\"\" FOR TABLE stock");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const auto before = world->latest();
  world->sql().Exec(
      "BEGIN; UPDATE stock SET \"left\" = 4; UPDATE items SET qty = 0 WHERE id = 1; COMMIT");
  ExpectSameNow(*world);
  EXPECT_THAT(world->Rows("stock"), ElementsAre("id=1, left=4"));
  EXPECT_EQ(world->latest(), before + 1);
}

TEST_F(StreamTest, AddedColumnsAreIgnoredAndWideningGoesOn) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kStreaming), IsOk());
  world->TakeStates();
  world->sql().Exec(
      "ALTER TABLE items ADD COLUMN extra text DEFAULT 'x'; "
      "INSERT INTO items VALUES (101, 'a', 1, 'y')");
  world->sql().Exec(
      "ALTER TABLE items ALTER COLUMN qty TYPE bigint; "
      "INSERT INTO items VALUES (102, 'b', 3000000000, 'z')");
  ExpectSameNow(*world);
  EXPECT_THAT(world->Rows("items"), ::testing::Contains("id=102, note=b, qty=3000000000"));
  EXPECT_THAT(world->TakeStates(), IsEmpty());
}

TEST_F(StreamTest, ADroppedColumnThatIsNeededFailsNamingItAndNothingIsNulled) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const RowTexts before = world->Rows("items");
  world->sql().Exec("ALTER TABLE items DROP COLUMN qty; INSERT INTO items VALUES (101, 'a')");
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "qty"), IsOk());
  EXPECT_THAT(world->source().Status().detail, HasSubstr("public.items"));
  EXPECT_EQ(world->Rows("items"), before);
  // It comes back as another column: the rows are read again.
  world->sql().Exec("ALTER TABLE items ADD COLUMN qty int DEFAULT 5");
  ExpectSameNow(*world);
  EXPECT_FALSE(world->IsDegraded("items"));
}

TEST_F(StreamTest, S2_TwoSourcesFeedOneTable) {
  auto world = MakeItems({.tables = R"(
- name: items
  key: [id]
  tier: seconds
  readers: [default]
  columns: {id: int, note: string, segment: string}
  groups:
    - name: master
      from: {source: erp, relation: public.items}
      columns: {note: note}
      on_delete: row
    - name: shop
      from: {source: shop, relation: public.segments}
      columns: {segment: segment}
)",
                          .with_shop = true});
  world->shop_sql().Exec(
      "CREATE TABLE segments (id int PRIMARY KEY, segment text); "
      "INSERT INTO segments VALUES (1, 'a'), (2, 'b'), (500, 'nobody'); "
      "CREATE PUBLICATION tidemark FOR TABLE segments");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  EXPECT_THAT(world->Rows("items"), SizeIs(100));
  EXPECT_THAT(world->Rows("items"), ::testing::Contains("id=2, note=note 2, segment=b"));
  world->shop_sql().Exec("DELETE FROM segments WHERE id = 1; UPDATE segments SET segment = 'c'");
  world->sql().Exec("DELETE FROM items WHERE id > 2; INSERT INTO items VALUES (500, 'came', 1)");
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  EXPECT_THAT(world->Rows("items"),
              ElementsAre("id=1, note=note 1, segment=null", "id=2, note=note 2, segment=c",
                          "id=500, note=came, segment=c"));
}

}  // namespace
}  // namespace tidemark::testing
