// A state directory that is damaged, and the documented way back.
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/cases/case_world.h"
#include "tests/support/rpc_matchers.h"

namespace tidemark::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kSchema[] =
    "CREATE TABLE t (id int PRIMARY KEY, n int, v text); "
    "INSERT INTO t SELECT i, i * 10, 'copied ' || i FROM generate_series(1, 500) i; "
    "CREATE PUBLICATION tidemark FOR TABLE t;";
constexpr char kTables[] = R"(
  - name: t
    key: [id]
    readers: [default]
    columns: {id: int, n: int, v: string}
    from: {source: erp, relation: public.t}
)";

// Case O-KV-01, its end: the source has all that the directory had, and more by now.
TEST(DamagedDirectoryTest, OKV01_MovedAwayItIsFilledAgainFromTheSource) {
  if (PostgresBinDir().empty()) GTEST_SKIP() << "PostgreSQL is not installed";
  CaseWorld world(kSchema, kTables);
  ASSERT_TRUE(world.Start()) << world.output();
  const auto expect_same = [&world] {
    const v1::SnapshotStamp now = world.Now();
    const Texts truth =
        SqlTexts(world.sql().Query("SELECT id, n, v FROM t ORDER BY id"), {"id", "n", "v"});
    EXPECT_THAT(truth, Not(SizeIs(0)));
    EXPECT_EQ(world.Rows("t", now), truth);
    return now;
  };
  world.sql().Exec("UPDATE t SET v = 'streamed' WHERE id % 3 = 0");
  v1::SnapshotStamp last = expect_same();
  const std::string current = world.state_dir() + "/CURRENT";
  int changes = 0;  // rounds so far
  const std::pair<const char*, std::function<void()>> damages[] = {
      {"0 bytes", [&] { std::ofstream(current, std::ios::trunc); }},
      {"16 NUL bytes", [&] { std::ofstream(current) << std::string(16, '\0'); }},
      {"no newline", [&] { fs::resize_file(current, fs::file_size(current) - 1); }},
      {"deleted", [&] { fs::remove(current); }},
  };
  for (const auto& [what, damage] : damages) {
    SCOPED_TRACE(what);
    ++changes;
    ASSERT_EQ(world.Stop(), 0);
    damage();
    // What happens there meanwhile must not be lost either.
    world.sql().Exec("DELETE FROM t WHERE id % 50 = " + std::to_string(changes) +
                     "; UPDATE t SET n = -" + std::to_string(changes) + " WHERE id % 7 = 0");
    const RunResult refused = world.StartInVain();
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.output, HasSubstr(current));
    ASSERT_TRUE(fs::exists(world.state_dir()));

    fs::rename(world.state_dir(), world.state_dir() + ".damaged." + std::to_string(changes));
    ASSERT_TRUE(world.Start()) << world.output();
    const v1::SnapshotStamp refilled = expect_same();
    v1::GetRowResponse response;
    EXPECT_THAT(world.GetRow("t", {IntValue(1)}, Exactly(last), &response),
                RpcReason("STORE_MISMATCH"));
    // One slot as before, and the stream goes on from it.
    EXPECT_EQ(world.sql().Value("SELECT string_agg(slot_name, ',') FROM pg_replication_slots "
                                "WHERE database = current_database()"),
              world.slot());
    world.sql().Exec("UPDATE t SET v = '" + std::string(what) + "' WHERE id = 499");
    EXPECT_THAT(world.Feed(refilled, {"t"}), SizeIs(1));
    last = expect_same();
  }
  EXPECT_EQ(world.Stop(), 0);
}

}  // namespace
}  // namespace tidemark::testing
