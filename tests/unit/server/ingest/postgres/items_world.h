// The world most tests live in: one table of items, followed by one source.
#ifndef TIDEMARK_TESTS_UNIT_SERVER_INGEST_POSTGRES_ITEMS_WORLD_H_
#define TIDEMARK_TESTS_UNIT_SERVER_INGEST_POSTGRES_ITEMS_WORLD_H_

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/truth_at_lsn.h"
#include "tests/unit/server/ingest/postgres/followed_world.h"

namespace tidemark::testing {

inline constexpr char kItemsTable[] = R"(
- name: items
  key: [id]
  tier: seconds
  readers: [default]
  columns: {id: int, note: string, qty: int}
  merge: last_row
  from: {source: erp, relation: public.items}
)";
inline constexpr char kItemsSql[] =
    "CREATE TABLE items (id int PRIMARY KEY, note text, qty int); "
    "INSERT INTO items SELECT n, 'note ' || n, n * 10 FROM generate_series(1, 100) n;";
inline constexpr char kItemsQuery[] = "SELECT id, note, qty FROM items";

// Skips where PostgreSQL is not installed.
class ItemsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (PostgresBinDir().empty()) GTEST_SKIP() << "PostgreSQL is not installed";
  }

  // A world with the table and its publication, not opened yet.
  static std::unique_ptr<FollowedWorld> MakeItems(WorldOptions options = {}) {
    if (options.tables.empty()) options.tables = kItemsTable;
    auto world = std::make_unique<FollowedWorld>(std::move(options));
    world->sql().Exec(kItemsSql);
    world->sql().Exec("CREATE PUBLICATION tidemark FOR TABLE items");
    return world;
  }
  static RowTexts Truth(SqlClient& sql) {
    return SqlTexts(sql.Query(kItemsQuery), {"id", "note", "qty"});
  }
  // Everything committed by now is here, and nothing else.
  static void ExpectSameNow(FollowedWorld& world) {
    ASSERT_THAT(world.AwaitRecent(), IsOk());
    EXPECT_EQ(world.Rows("items"), Truth(world.sql()));
  }
  // The source went through GAP for a reason, and is whole again.
  static void ExpectHealed(FollowedWorld& world, const std::string& reason) {
    ExpectSameNow(world);
    EXPECT_THAT(world.TakeStates(), ::testing::Contains(::testing::Pair(
                                        ingest::SourceState::kGap, ::testing::HasSubstr(reason))));
    EXPECT_FALSE(world.IsDegraded("items"));
    EXPECT_FALSE(world.source().Status().degraded);
    world.sql().Exec("UPDATE items SET qty = qty + 1 WHERE id = 95");
    ExpectSameNow(world);
  }
  // Exact while writers run: at a position that SQL can be asked about too.
  static void ExpectSameAtOnePosition(FollowedWorld& world) {
    TruthAtLsn truth(world.dsn());
    ASSERT_THAT(world.AwaitPast(truth.lsn_text()), IsOk());
    EXPECT_EQ(world.RowsAt("items", truth.lsn_text()),
              SqlTexts(truth.Query(kItemsQuery), {"id", "note", "qty"}))
        << "at " << truth.lsn_text();
  }
};

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_UNIT_SERVER_INGEST_POSTGRES_ITEMS_WORLD_H_
