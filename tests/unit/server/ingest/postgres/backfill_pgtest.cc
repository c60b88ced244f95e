// A table that is defined later is filled from a copy of its own while the others go on.
#include "absl/strings/str_cat.h"
#include "tests/unit/server/ingest/postgres/items_world.h"

namespace tidemark::testing {
namespace {

using ingest::SourceState;

using BackfillTest = ItemsTest;

TEST_F(BackfillTest, ATableMadeLaterIsFilledWhileTheOthersGoOn) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->Close();
  world->sql().Exec(
      "CREATE TABLE stock (id int PRIMARY KEY, \"left\" int); "
      "INSERT INTO stock VALUES (1, 5), (2, 6); "
      "ALTER PUBLICATION tidemark ADD TABLE stock; "
      "DELETE FROM items WHERE id <= 10; UPDATE stock SET \"left\" = 7 WHERE id = 2");
  // One new table from a new relation, one from a relation that feeds another already.
  world->set_tables(absl::StrCat(kItemsTable, R"(
- name: stock
  key: [id]
  tier: seconds
  readers: [default]
  columns: {id: int, left: int}
  merge: last_row
  from: {source: erp, relation: public.stock}
- name: notes
  key: [id]
  tier: seconds
  readers: [default]
  columns: {id: int, note: string}
  merge: last_row
  from: {source: erp, relation: public.items}
)"));
  world->TakeStates();
  world->Open();
  ExpectSameNow(*world);
  world->sql().Exec("INSERT INTO stock VALUES (3, 1); DELETE FROM items WHERE id = 11");
  ExpectSameNow(*world);
  EXPECT_EQ(world->Rows("stock"),
            SqlTexts(world->sql().Query("SELECT * FROM stock"), {"id", "left"}));
  EXPECT_EQ(world->Rows("notes"),
            SqlTexts(world->sql().Query("SELECT id, note FROM items"), {"id", "note"}));
  for (const auto& [state, detail] : world->TakeStates()) {
    EXPECT_NE(state, SourceState::kGap) << detail;
  }
}

}  // namespace
}  // namespace tidemark::testing
