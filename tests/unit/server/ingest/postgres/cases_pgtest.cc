// Histories that other followers of PostgreSQL got wrong, against a real one: what is stored. What
// a client is told of the same cases is in tests/integration/cases.
#include <string>

#include "tests/unit/server/ingest/postgres/items_world.h"

namespace tidemark::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class CasesTest : public ItemsTest {};

// Case O-CDC-03.
TEST_F(CasesTest, OCDC03_UnchangedToastKeepsTheStoredValue) {
  auto world = MakeItems();
  world->sql().Exec(
      "ALTER TABLE items ALTER COLUMN note SET STORAGE EXTERNAL; "
      "UPDATE items SET note = repeat('long', 5000) || id WHERE id IN (1, 2)");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  // Not sent, replaced, and carried over to another key.
  world->sql().Exec("UPDATE items SET qty = 77 WHERE id = 1");
  world->sql().Exec(
      "BEGIN; UPDATE items SET qty = 78 WHERE id = 2; "
      "UPDATE items SET note = repeat('other', 3000) WHERE id = 2; "
      "UPDATE items SET qty = 79 WHERE id = 2; COMMIT");
  world->sql().Exec("UPDATE items SET id = 1001 WHERE id = 1");
  ExpectSameNow(*world);
  EXPECT_THAT(world->Rows("items"), ::testing::Contains(HasSubstr("id=1001, note=longlong")));
}

// Case O-CDC-04: without an old image in the stream, every version of the row is still ours to
// read.
TEST_F(CasesTest, OCDC04_UpdatesAndDeletesThatSendTheKeyOnlyHaveFullImages) {
  auto world = MakeItems();
  world->sql().Exec("INSERT INTO items VALUES (500, 'n', 3)");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const auto before = world->latest();
  world->sql().Exec("UPDATE items SET qty = 9 WHERE id = 500");
  world->sql().Exec("DELETE FROM items WHERE id = 500");
  ExpectSameNow(*world);
  const auto changes = world->ChangesAfter(before);
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].op, state::ChangeOp::kUpdate);
  EXPECT_EQ(changes[0].prev, before);
  EXPECT_EQ(changes[1].op, state::ChangeOp::kDelete);
  EXPECT_EQ(changes[1].prev, before + 1);
}

// Case O-CDC-05.
TEST_F(CasesTest, OCDC05_AKeyChangeMovesTheRowInOneSnapshot) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const auto before = world->latest();
  world->sql().Exec("UPDATE items SET id = 1007, qty = 5 WHERE id = 7");
  ExpectSameNow(*world);
  EXPECT_EQ(world->latest(), before + 1);
  EXPECT_THAT(world->ChangesAfter(before), SizeIs(2));
}

// Case O-CDC-08.
TEST_F(CasesTest, OCDC08_KeysAndValuesAboveTwoToTheFiftyThreeStayDistinct) {
  auto world = MakeItems();
  world->sql().Exec(
      "ALTER TABLE items ALTER COLUMN id TYPE bigint, ALTER COLUMN qty TYPE bigint; "
      "DELETE FROM items; INSERT INTO items VALUES (9007199254740993, 'copied', "
      "1795000000123456789)");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec("INSERT INTO items VALUES (9007199254740992, 'a', 9007199254740993)");
  world->sql().Exec("UPDATE items SET note = 'c' WHERE id = 9007199254740992");
  ExpectSameNow(*world);
  EXPECT_THAT(world->Rows("items"),
              ElementsAre("id=9007199254740992, note=c, qty=9007199254740993",
                          "id=9007199254740993, note=copied, qty=1795000000123456789"));
}

// Case O-CDC-09: records of two transactions interleave in the log, and the one that wrote last
// commits first.
TEST_F(CasesTest, OCDC09_TransactionsThatInterleaveInTheLogAreAllApplied) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const auto before = world->latest();
  SqlClient other(world->dsn());
  world->sql().Exec("BEGIN; INSERT INTO items VALUES (201, 'k1', 1)");
  other.Exec("BEGIN; INSERT INTO items VALUES (202, 'k2', 2)");
  other.Exec("INSERT INTO items VALUES (203, 'k3', 3)");
  world->sql().Exec("DELETE FROM items WHERE id = 9; COMMIT");
  other.Exec("COMMIT");
  ExpectSameNow(*world);
  EXPECT_EQ(world->latest(), before + 2);
  EXPECT_THAT(world->ChangesAfter(before), SizeIs(4));
}

// Case O-CDC-11.
TEST_F(CasesTest, OCDC11_TruncateEmptiesAndLeavesOlderSnapshotsAlone) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const std::string before = world->sql().Value("SELECT pg_current_wal_lsn()");
  world->sql().Exec(
      "BEGIN; INSERT INTO items VALUES (500, 'gone', 0); TRUNCATE items; "
      "INSERT INTO items VALUES (501, 'kept', 0); COMMIT");
  ExpectSameNow(*world);
  EXPECT_THAT(world->Rows("items"), ElementsAre("id=501, note=kept, qty=0"));
  EXPECT_THAT(world->RowsAt("items", before), SizeIs(100));
}

// Case O-CDC-12.
TEST_F(CasesTest, OCDC12_LogicalMessagesOfOthersChangeNothing) {
  auto world = MakeItems();
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  const auto before = world->latest();
  world->sql().Exec("SELECT pg_logical_emit_message(true, 'probe', 'cdc ping')");
  world->sql().Exec("SELECT pg_logical_emit_message(false, 'probe', 'cdc ping')");
  ExpectSameNow(*world);
  EXPECT_EQ(world->latest(), before);
}

}  // namespace
}  // namespace tidemark::testing
