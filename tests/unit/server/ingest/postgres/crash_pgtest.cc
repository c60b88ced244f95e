// Copies and streams under load, with the source's server or our own side broken off at any moment:
// nothing lost, nothing doubled, at every position SQL can be asked about.
#include <atomic>
#include <random>
#include <string>
#include <thread>

#include "tests/unit/server/ingest/postgres/items_world.h"

namespace tidemark::testing {
namespace {

using ingest::SourceState;

// Writes transactions of several rows until stopped; connects again when the server is back.
class Writer {
 public:
  Writer(std::string dsn, unsigned seed) : dsn_(std::move(dsn)), random_(seed) {
    thread_ = std::thread([this] { Run(); });
  }
  ~Writer() { Stop(); }
  void Stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Run() {
    std::unique_ptr<SqlClient> sql;
    while (!stopping_) {
      if (sql == nullptr) {
        auto connected = SqlClient::Connect(dsn_);
        if (!connected.ok()) continue;
        sql = *std::move(connected);
      }
      if (absl::IsUnavailable(sql->TryQuery(NextTransaction()).status())) sql.reset();
    }
  }
  std::string NextTransaction() {
    std::string sql = "BEGIN;";
    for (unsigned n = random_() % 5 + 1; n > 0; --n) {
      const std::string id = std::to_string(random_() % 300);
      switch (random_() % 6) {
        case 0:
          sql += "DELETE FROM items WHERE id = " + id + ";";
          break;
        case 1:
          sql += "UPDATE items SET id = id + 1000, qty = 0 WHERE id = " + id + ";";
          break;
        case 2:
          sql += "DELETE FROM items WHERE id >= 1000;";
          break;
        default:
          sql += "INSERT INTO items VALUES (" + id +
                 ", 'n', 0) ON CONFLICT (id) DO UPDATE SET "
                 "qty = items.qty + 1;";
      }
    }
    return sql + (random_() % 8 == 0 ? "ROLLBACK" : "COMMIT");
  }

  const std::string dsn_;
  std::mt19937 random_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

class CrashTest : public ItemsTest {
 protected:
  static constexpr char kAggregateTables[] = R"(
- name: items
  key: [id]
  tier: seconds
  readers: [default]
  columns: {id: int, note: string, qty: int}
  merge: last_row
  from: {source: erp, relation: public.items}
- name: notes
  key: [note]
  tier: seconds
  readers: [default]
  columns: {note: string, label: string, how_many: int, total: int}
  groups:
    - name: names
      from: {source: erp, relation: public.names}
      columns: {label: label}
      on_delete: row
    - name: items
      from: {source: erp, relation: public.items}
      group_by: {note: note}
      aggregates: {how_many: {count: "*"}, total: {sum: qty}}
)";

  static std::unique_ptr<FollowedWorld> MakeAggregated(PostgresServer* server) {
    auto world = MakeItems({.tables = kAggregateTables, .server = server});
    world->sql().Exec(
        "CREATE TABLE names (note text PRIMARY KEY, label text); "
        "INSERT INTO names VALUES ('n', 'N'), ('none', 'No one'); "
        "ALTER PUBLICATION tidemark ADD TABLE names");
    return world;
  }
  // Rows and sums at one position, while everything goes on.
  static void ExpectAllSame(FollowedWorld& world) {
    TruthAtLsn truth(world.dsn());
    ASSERT_THAT(world.AwaitPast(truth.lsn_text()), IsOk());
    EXPECT_EQ(world.RowsAt("items", truth.lsn_text()),
              SqlTexts(truth.Query(kItemsQuery), {"id", "note", "qty"}))
        << "at " << truth.lsn_text();
    EXPECT_EQ(world.RowsAt("notes", truth.lsn_text()),
              SqlTexts(truth.Query("SELECT n.note, n.label, count(i.id), sum(i.qty) FROM names n "
                                   "LEFT JOIN items i USING (note) GROUP BY 1, 2"),
                       {"note", "label", "how_many", "total"}))
        << "at " << truth.lsn_text();
  }
};

TEST_F(CrashTest, S3_CopiesJoinTheStreamExactlyWhileWritersRun) {
  for (unsigned round = 0; round < 3; ++round) {
    auto world = MakeAggregated(nullptr);
    Writer one(world->dsn(), round), two(world->dsn(), round + 100);
    world->Open();
    ASSERT_THAT(world->AwaitState(SourceState::kStreaming), IsOk());
    for (int i = 0; i < 3; ++i) ExpectAllSame(*world);
  }
}

TEST_F(CrashTest, S5_EveryTransactionIsAppliedOnceOverKillsOfTheSourcesServer) {
  auto server = PostgresServer::Create();
  ASSERT_THAT(server, IsOk());
  auto world = MakeAggregated(server->get());
  Writer one(world->dsn(), 1), two(world->dsn(), 2);
  world->Open();
  for (int i = 0; i < 4; ++i) {
    ASSERT_THAT(world->AwaitState(SourceState::kStreaming), IsOk());
    ExpectAllSame(*world);
    (*server)->KillNine();
    ASSERT_THAT((*server)->Start(), IsOk());
  }
  ASSERT_THAT(world->AwaitState(SourceState::kStreaming), IsOk());
  ExpectAllSame(*world);
  for (const auto& [state, detail] : world->TakeStates()) {
    EXPECT_NE(state, SourceState::kGap) << detail;
  }
}

TEST_F(CrashTest, S5_EveryTransactionIsAppliedOnceOverOurOwnRestarts) {
  auto world = MakeAggregated(nullptr);
  Writer one(world->dsn(), 1), two(world->dsn(), 2);
  // The first ones break off the copy.
  for (int i = 0; i < 10; ++i) {
    world->Open();
    if (i >= 4) {
      ASSERT_THAT(world->AwaitState(SourceState::kStreaming), IsOk());
    }
    if (i % 3 == 2) {
      ASSERT_THAT(world->AwaitState(SourceState::kStreaming), IsOk());
      ExpectAllSame(*world);
    }
    world->Close();
  }
  world->Open();
  ExpectAllSame(*world);
  for (const auto& [state, detail] : world->TakeStates()) {
    EXPECT_NE(state, SourceState::kGap) << detail;
  }
}

TEST_F(CrashTest, S1_OlderSnapshotsStayWhatTheyWereWhileWritersRun) {
  auto world = MakeAggregated(nullptr);
  Writer one(world->dsn(), 1);
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kStreaming), IsOk());
  std::vector<std::pair<std::string, RowTexts>> truths;
  for (int i = 0; i < 5; ++i) {
    TruthAtLsn truth(world->dsn());
    truths.emplace_back(truth.lsn_text(),
                        SqlTexts(truth.Query(kItemsQuery), {"id", "note", "qty"}));
  }
  ASSERT_THAT(world->AwaitPast(truths.back().first), IsOk());
  for (const auto& [lsn, rows] : truths) EXPECT_EQ(world->RowsAt("items", lsn), rows) << lsn;
}

TEST_F(CrashTest, GapsAreCopiedOverExactlyWhileWritersRun) {
  auto world = MakeAggregated(nullptr);
  Writer one(world->dsn(), 1), two(world->dsn(), 2);
  world->Open();
  ASSERT_THAT(world->AwaitState(SourceState::kStreaming), IsOk());
  for (int i = 0; i < 2; ++i) {
    world->Close();
    world->DropSlot();
    world->TakeStates();
    world->Open();
    ASSERT_THAT(world->AwaitPassed(SourceState::kGap), IsOk());
    ASSERT_THAT(world->AwaitState(SourceState::kStreaming), IsOk());
    ExpectAllSame(*world);
  }
}

}  // namespace
}  // namespace tidemark::testing
