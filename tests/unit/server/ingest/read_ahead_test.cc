// Reading ahead: which rows are read, and that it never changes what is applied.
#include "server/ingest/read_ahead.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ingest/assembler.h"
#include "storage/state/memory/memory_state_store.h"
#include "tests/support/fault_env.h"
#include "tests/unit/server/ingest/applier_fixture.h"

namespace tidemark::ingest {
namespace {

ReadAhead::Events Share(std::vector<RowEvent> events) {
  return std::make_shared<const std::vector<RowEvent>>(std::move(events));
}

TEST(ReadAheadTest, ReadsTheRowsThatEventsNameAndPassesOverTheRest) {
  ApplierFixture world(state::CreateMemoryStore());
  world.StartReadable();
  ReadAhead read_ahead(world.catalog(), world.reader());
  // An account's row; a sale's own row and its customer's; nothing for what cannot be applied.
  const auto events =
      Share({world.PutAccount(1, 1), world.DeleteAccount(2), world.PutSale(1, "C", 5),
             world.BadAccount(), ScriptedSource::Truncate(world.accounts())});
  read_ahead.Add(events);
  read_ahead.Finish();
  EXPECT_EQ(read_ahead.rows_read(), 4u);
  // Owned by nobody, like events that the applier is done with.
  const std::vector<RowEvent> gone = {world.PutAccount(1, 2)};
  read_ahead.Add(ReadAhead::Events(ReadAhead::Events(), &gone));
  read_ahead.Finish();
  EXPECT_EQ(read_ahead.rows_read(), 4u);
}

TEST(ReadAheadTest, TablesThatAreLoadingAreNoTrouble) {
  ApplierFixture world(state::CreateMemoryStore());
  world.Start();
  ReadAhead read_ahead(world.catalog(), world.reader());
  const auto events = Share({world.PutAccount(1, 1)});
  read_ahead.Add(events);
  read_ahead.Finish();
  read_ahead.Stop();
  read_ahead.Add(events);
}

// What was read ahead may be changed by a work before its turn: the applier must still see the
// newest version. Versions are counted by `prev` in the changelog.
TEST(ReadAheadTest, S1_RowsReadAheadAndThenChangedAreAppliedOnTheirNewestVersion) {
  testing::FaultEnv env;
  ApplierFixture world(OpenLevelDb(env), {.max_batch_works = 7, .read_ahead_works = 0});
  world.StartReadable();
  constexpr int kTransactions = 3000, kAccounts = 10;
  for (int i = 1; i <= kTransactions; ++i) {
    ASSERT_THAT(world.erp().CommitLater({world.PutAccount(i % kAccounts, i, "note")}), IsOk());
  }
  ASSERT_THAT(world.erp().Wait(), IsOk());
  auto& reader = world.reader();
  const auto latest = reader.Latest();
  auto changes = reader.Changes(latest, latest->floor());
  ASSERT_THAT(changes, IsOk());
  std::map<std::string, state::SnapshotId> newest;
  int seen = 0;
  for (; (*changes)->Valid(); (*changes)->Next()) {
    const state::Change& change = (*changes)->change();
    ASSERT_EQ(change.prev, newest[change.key]);
    newest[change.key] = change.snapshot;
    ++seen;
  }
  EXPECT_EQ(seen, kTransactions);
  Rows expected;
  for (int i = kTransactions - kAccounts + 1; i <= kTransactions; ++i) {
    expected[std::to_string(i % kAccounts)] = absl::StrCat(i % kAccounts, "|", i, "|note");
  }
  EXPECT_EQ(world.Now("accounts"), expected);
}

}  // namespace
}  // namespace tidemark::ingest
