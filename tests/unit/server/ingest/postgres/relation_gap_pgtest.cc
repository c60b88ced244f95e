// Gaps that come from changes of the relations and publications themselves: what identifies, holds
// or publishes rows is not what was copied, so the rows are copied again.
#include <string>

#include "tests/unit/server/ingest/postgres/items_world.h"

namespace tidemark::testing {
namespace {

using ingest::SourceState;
using ::testing::Contains;
using ::testing::SizeIs;

class RelationGapTest : public ItemsTest {};

TEST_F(RelationGapTest, ARelationMadeAgainIsAGap) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec("BEGIN; DROP TABLE items; " + std::string(kItemsSql) +
                    " DELETE FROM items WHERE id > 3; ALTER PUBLICATION tidemark ADD TABLE items; "
                    "COMMIT");
  ASSERT_THAT(world->AwaitState(SourceState::kStreaming), IsOk());
  ExpectHealed(*world, "is another one than was copied");
  EXPECT_THAT(world->Rows("items"), SizeIs(3));
}

TEST_F(RelationGapTest, RelationsThatSwapNamesAreAGap) {
  auto world = MakeItems();
  world->sql().Exec(
      "CREATE TABLE items_new (LIKE items INCLUDING ALL); "
      "INSERT INTO items_new VALUES (1, 'swapped', 1)");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec(
      "BEGIN; ALTER TABLE items RENAME TO items_old; "
      "ALTER TABLE items_new RENAME TO items; "
      "ALTER PUBLICATION tidemark ADD TABLE items; INSERT INTO items_old VALUES "
      "(1000, 'old', 0); COMMIT");
  ExpectHealed(*world, "");
  EXPECT_THAT(world->Rows("items"), SizeIs(1));
}

TEST_F(RelationGapTest, AColumnMadeAgainIsAGapWithoutAnyEvent) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec("ALTER TABLE items DROP COLUMN qty, ADD COLUMN qty int DEFAULT 7");
  ASSERT_THAT(world->AwaitPassed(SourceState::kGap, "dropped and made again"), IsOk());
  ExpectSameNow(*world);
  EXPECT_THAT(world->Rows("items"), Contains("id=1, note=note 1, qty=7"));
}

TEST_F(RelationGapTest, AChangedTypeThatMayChangeValuesIsAGap) {
  auto world = MakeItems();
  world->sql().Exec("ALTER TABLE items ALTER COLUMN qty TYPE bigint");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec(
      "ALTER TABLE items ALTER COLUMN qty TYPE smallint USING qty / 10; "
      "INSERT INTO items VALUES (101, 'a', 1)");
  ASSERT_THAT(world->AwaitPassed(SourceState::kGap, "type of column qty"), IsOk());
  ExpectHealed(*world, "type of column qty");
}

TEST_F(RelationGapTest, AGapThatOnlyTheStreamShowsIsCopiedOverOnce) {
  auto world = MakeItems();
  world->sql().Exec("ALTER TABLE items ALTER COLUMN qty TYPE bigint");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec(
      "ALTER TABLE items ALTER COLUMN qty TYPE smallint USING qty / 10; "
      "INSERT INTO items VALUES (101, 'a', 1); "
      "ALTER TABLE items ALTER COLUMN qty TYPE bigint");
  ASSERT_THAT(world->AwaitPassed(SourceState::kGap, "type of column qty"), IsOk());
  ExpectHealed(*world, "type of column qty");
}

TEST_F(RelationGapTest, AColumnThatWasAwayWhileRowsChangedIsAGap) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec(
      "ALTER TABLE items RENAME COLUMN qty TO amount; "
      "INSERT INTO items VALUES (101, 'a', 1); "
      "ALTER TABLE items RENAME COLUMN amount TO qty");
  ASSERT_THAT(world->AwaitPassed(SourceState::kGap, "qty"), IsOk());
  ExpectHealed(*world, "qty");
}

TEST_F(RelationGapTest, APublicationThatWasGoneForAWhileIsAGap) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec("DROP PUBLICATION tidemark");
  world->sql().Exec("DELETE FROM items WHERE id <= 10");
  ASSERT_THAT(world->AwaitState(SourceState::kFailed, "no publication \"tidemark\""), IsOk());
  world->sql().Exec("CREATE PUBLICATION tidemark FOR TABLE items");
  ExpectHealed(*world, "is published has changed");
}

TEST_F(RelationGapTest, ARelationThatWasOutOfThePublicationForAMomentIsAGap) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec("ALTER PUBLICATION tidemark DROP TABLE items");
  world->sql().Exec("DELETE FROM items WHERE id <= 10");
  world->sql().Exec("ALTER PUBLICATION tidemark ADD TABLE items");
  ASSERT_THAT(world->AwaitPassed(SourceState::kGap, "is published has changed"), IsOk());
  ExpectHealed(*world, "is published has changed");
}

TEST_F(RelationGapTest, OtherPublicationsInTheConfigurationAreAGap) {
  std::string publication = "tidemark";
  auto world = MakeItems({.configure = [&](ingest::PostgresSourceOptions& options) {
    options.publication = publication;
  }});
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  world->sql().Exec("CREATE PUBLICATION other FOR ALL TABLES");
  publication = "other";
  world->Open();
  ExpectHealed(*world, "publications to follow have changed");
}

TEST_F(RelationGapTest, ATimeWithoutReplicaIdentityIsAGapThatSaysWhatToDo) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  world->sql().Exec("ALTER TABLE items REPLICA IDENTITY NOTHING");
  world->sql().Exec("INSERT INTO items VALUES (500, 'new', 0)");
  world->sql().Exec("ALTER TABLE items REPLICA IDENTITY DEFAULT");
  world->Open();
  ExpectHealed(*world,
               "from (id) to (). Nothing tells its rows apart: give it a primary key and ALTER "
               "TABLE \"public\".\"items\" REPLICA IDENTITY DEFAULT");
}

}  // namespace
}  // namespace tidemark::testing
