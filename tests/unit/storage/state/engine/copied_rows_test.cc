// Rows that were copied before their table could be read are in the row cache when it can.
#include "gmock/gmock.h"
#include "storage/state/state_store.h"
#include "tests/support/fault_env.h"
#include "tests/support/status_matchers.h"

namespace tidemark::state {
namespace {

using testing::IsOk;

class CopiedRowsTest : public ::testing::Test {
 protected:
  CopiedRowsTest() {
    StateOptions options;
    options.dir = "/state";
    options.env = &env_;
    options.stamp_encoder = [](const SnapshotInfo&, std::string_view token, bool) {
      return std::string(token);
    };
    absl::StatusOr<std::unique_ptr<LevelDbStore>> opened = OpenLevelDbStore(options);
    EXPECT_THAT(opened, IsOk());
    store_ = *std::move(opened);
    absl::StatusOr<TableId> table = writer().CreateTable("a table");
    EXPECT_THAT(table, IsOk());
    table_ = *table;
  }

  StateWriter& writer() { return store_->writer(); }
  void Write(std::string_view key, RowKind kind, std::string_view row) {
    ASSERT_THAT(writer().BeginSnapshot(), IsOk());
    ASSERT_THAT(writer().Put(table_, key, kind, "m", row), IsOk());
    ASSERT_THAT(writer().EndSnapshot({}), IsOk());
    ASSERT_THAT(writer().Commit({}), IsOk());
  }
  // The table can be read from this snapshot on.
  SnapshotId Finish() {
    EXPECT_THAT(writer().BeginSnapshot(), IsOk());
    EXPECT_THAT(writer().FinishLoading(table_), IsOk());
    EXPECT_THAT(writer().EndSnapshot({}), IsOk());
    EXPECT_THAT(writer().Commit({}), IsOk());
    return store_->reader().Latest()->id();
  }
  StoredRow Get(std::string_view key) {
    StoredRow row;
    EXPECT_THAT(store_->reader().Get(LatestPoint(store_->reader().Latest()), table_, key, &row),
                IsOk());
    return row;
  }
  uint64_t hits() const { return store_->Counters().gets_from_row_cache; }

  testing::FaultEnv env_;
  std::unique_ptr<LevelDbStore> store_;
  TableId table_ = 0;
};

TEST_F(CopiedRowsTest, TheFirstReaderFindsThemCachedAsOfTheSnapshotThatMadeTheTableReadable) {
  Write("a", RowKind::kPresent, "first");
  Write("a", RowKind::kPresent, "1");
  Write("b", RowKind::kPresent, "2");
  Write("b", RowKind::kTombstone, "");
  const SnapshotId from = Finish();
  const StoredRow row = Get("a");
  ASSERT_TRUE(row.found());
  EXPECT_EQ(row.bytes(), "1");
  EXPECT_EQ(row.version(), from);
  EXPECT_EQ(hits(), 1u);
  EXPECT_FALSE(Get("b").found());
}

TEST_F(CopiedRowsTest, AChangeOfACopiedRowReplacesIt) {
  Write("a", RowKind::kPresent, "copied");
  const SnapshotId from = Finish();
  const PublicationPtr before = store_->reader().Latest();
  Write("a", RowKind::kPresent, "changed");
  EXPECT_EQ(Get("a").bytes(), "changed");
  EXPECT_EQ(hits(), 1u);
  StoredRow old;
  EXPECT_THAT(store_->reader().Get(LatestPoint(before), table_, "a", &old), IsOk());
  EXPECT_EQ(old.bytes(), "copied");
  EXPECT_EQ(old.version(), from);
}

}  // namespace
}  // namespace tidemark::state
