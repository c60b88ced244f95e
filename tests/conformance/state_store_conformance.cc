#include "tests/conformance/state_store_conformance.h"

#include "absl/strings/str_cat.h"
#include "common/strings.h"

namespace tidemark::state {

using testing::IsOk;

INSTANTIATE_TEST_SUITE_P(Backends, StateStoreConformance, ::testing::ValuesIn(AllBackends()),
                         [](const auto& info) { return info.param.name; });

TableId StateStoreConformance::NewLoadingTable() {
  const absl::StatusOr<TableId> table = writer().CreateTable("a table");
  EXPECT_THAT(table, IsOk());
  Commit();
  return *table;
}

TableId StateStoreConformance::NewTable(std::string_view definition) {
  const absl::StatusOr<TableId> table = writer().CreateTable(definition);
  EXPECT_THAT(table, IsOk());
  WriteAndCommit([&] { EXPECT_THAT(writer().FinishLoading(*table), IsOk()); });
  return *table;
}

std::optional<SnapshotId> StateStoreConformance::Write(const std::function<void()>& changes,
                                                       const SnapshotOrigin& origin) {
  EXPECT_THAT(writer().BeginSnapshot(), IsOk());
  changes();
  const absl::StatusOr<std::optional<SnapshotId>> id = writer().EndSnapshot(origin);
  EXPECT_THAT(id, IsOk());
  return id.ok() ? *id : std::nullopt;
}

std::optional<SnapshotId> StateStoreConformance::WriteAndCommit(
    const std::function<void()>& changes, const SnapshotOrigin& origin) {
  const std::optional<SnapshotId> id = Write(changes, origin);
  Commit();
  return id;
}

void StateStoreConformance::Commit(const CommitInfo& info) {
  EXPECT_THAT(writer().Commit(info), IsOk());
  backend_->Compact();
}

void StateStoreConformance::Present(TableId table, std::string_view key, std::string_view row,
                                    std::string_view meta) {
  EXPECT_THAT(writer().Put(table, key, RowKind::kPresent, meta, row), IsOk());
}

void StateStoreConformance::Hidden(TableId table, std::string_view key, std::string_view row,
                                   std::string_view meta) {
  EXPECT_THAT(writer().Put(table, key, RowKind::kHidden, meta, row), IsOk());
}

void StateStoreConformance::Tombstone(TableId table, std::string_view key, std::string_view meta,
                                      bool remember) {
  EXPECT_THAT(
      writer().Put(table, key, RowKind::kTombstone, meta, "", PutOptions{.remember = remember}),
      IsOk());
}

void StateStoreConformance::Truncate(TableId table, std::string_view sequence) {
  EXPECT_THAT(writer().Truncate(table, sequence), IsOk());
}

void StateStoreConformance::Reopen() {
  ASSERT_TRUE(backend_->Has(Feature::kRestart));
  backend_->Reopen();
}

ReadPoint StateStoreConformance::At(SnapshotId id) {
  absl::StatusOr<ReadPoint> point = reader().PointAt(reader().Latest(), id);
  EXPECT_THAT(point, IsOk());
  return *std::move(point);
}

std::string StateStoreConformance::Read(const ReadPoint& point, TableId table,
                                        std::string_view key) {
  StoredRow row;
  const absl::Status status = reader().Get(point, table, key, &row);
  EXPECT_THAT(status, IsOk());
  if (!status.ok()) return "error";
  if (row.found()) return absl::StrCat(ToAbsl(row.bytes()), "@", row.version());
  EXPECT_EQ(row.version(), kNoSnapshot);
  EXPECT_EQ(row.bytes(), "");
  return "-";
}

std::vector<std::string> StateStoreConformance::Scan(const ReadPoint& point, TableId table,
                                                     KeyRange range) {
  std::vector<std::string> rows;
  const absl::StatusOr<std::unique_ptr<RowCursor>> cursor = reader().Scan(point, table, range);
  EXPECT_THAT(cursor, IsOk());
  if (!cursor.ok()) return rows;
  for (; (*cursor)->Valid(); (*cursor)->Next()) {
    rows.push_back(absl::StrCat(ToAbsl((*cursor)->key()), "=", ToAbsl((*cursor)->row().bytes()),
                                "@", (*cursor)->row().version()));
  }
  EXPECT_THAT((*cursor)->status(), IsOk());
  return rows;
}

std::vector<std::string> StateStoreConformance::ChangesAfter(SnapshotId after) {
  static const auto* const names =
      new std::map<ChangeOp, std::string>{{ChangeOp::kInsert, "INSERT"},
                                          {ChangeOp::kUpdate, "UPDATE"},
                                          {ChangeOp::kDelete, "DELETE"},
                                          {ChangeOp::kTruncate, "TRUNCATE"}};
  std::vector<std::string> changes;
  const absl::StatusOr<std::unique_ptr<ChangeCursor>> cursor =
      reader().Changes(reader().Latest(), after);
  EXPECT_THAT(cursor, IsOk());
  if (!cursor.ok()) return changes;
  for (; (*cursor)->Valid(); (*cursor)->Next()) {
    const Change& change = (*cursor)->change();
    changes.push_back(absl::StrCat(change.snapshot, " ", change.table, " ", names->at(change.op),
                                   " ", change.key, " ", change.prev));
  }
  EXPECT_THAT((*cursor)->status(), IsOk());
  return changes;
}

std::string StateStoreConformance::Current(TableId table, std::string_view key) {
  static constexpr std::string_view kNames[] = {"PRESENT", "TOMBSTONE", "HIDDEN"};
  const absl::StatusOr<std::optional<Version>> version = writer().Current(table, key);
  EXPECT_THAT(version, IsOk());
  if (!version.ok() || !version->has_value()) return "-";
  return absl::StrCat(ToAbsl(kNames[static_cast<int>((*version)->kind)]), " ", (*version)->meta,
                      " ", (*version)->row);
}

}  // namespace tidemark::state
