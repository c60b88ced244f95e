// Tables over a store, fed with events: what tests of merging have in common.
//
// Example:
//   MergeWorld world(*store, R"(- {name: t, key: [id], ...})");
//   auto orders = Relation("erp", "orders", {{"id", Kind::kInt, true}, {"qty", Kind::kInt}});
//   ASSERT_THAT(world.Apply({Insert(orders, 10, {Int(5), Int(3)})}), IsOk());
//   EXPECT_EQ(world.Rows("t"), "id=5 qty=3\n");
#ifndef TIDEMARK_TESTS_SUPPORT_MERGE_WORLD_H_
#define TIDEMARK_TESTS_SUPPORT_MERGE_WORLD_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/state/state_store.h"
#include "storage/tables/catalog.h"
#include "storage/tables/merging/merger.h"
#include "storage/tables/row_event.h"

namespace tidemark::tables {

using SchemaPtr = std::shared_ptr<const RelationSchema>;

struct TestColumn {
  std::string name;
  Kind type = Kind::kInt;
  bool key = false;
};
SchemaPtr Relation(std::string source, std::string name, std::vector<TestColumn> columns,
                   bool full_old_images = false);

// Sequences are numbers here, eight bytes of them.
std::string Sequence(uint64_t number);
RowEvent Insert(const SchemaPtr& schema, uint64_t sequence, std::vector<Datum> after);
RowEvent Update(const SchemaPtr& schema, uint64_t sequence, std::vector<Datum> before,
                std::vector<Datum> after);
RowEvent Delete(const SchemaPtr& schema, uint64_t sequence, std::vector<Datum> before);
RowEvent Truncate(const SchemaPtr& schema, uint64_t sequence);

// "5", "null", "[1, x]"; texts as they are.
std::string DatumText(const Datum& datum);
// One line a row: "id=5 qty=3\n".
std::string RowTexts(const TableDefinition& table, const std::map<std::string, std::string>& rows);

class MergeWorld {
 public:
  // Definitions may use the sources erp, crm and shop. The tables are readable at once; with
  // `loading` they stay in their first copy until FinishLoading. The store outlives the world.
  MergeWorld(state::StateStore& store, std::string_view yaml, bool loading = false);

  void FinishLoading();
  // All events in one snapshot; nullopt when it changed nothing a reader sees. Takes everything
  // back after an error.
  absl::StatusOr<std::optional<state::SnapshotId>> Apply(const std::vector<RowEvent>& events,
                                                         const EventOrigin& origin = Origin());
  absl::StatusOr<std::optional<state::SnapshotId>> Sweep(const RelationRef& relation,
                                                         uint64_t generation, size_t max_rows);

  // Source erp, ordered, first generation.
  static EventOrigin Origin();

  // Wire bytes by key, as readers see them; at the newest snapshot, or at `id`.
  std::map<std::string, std::string> Bytes(std::string_view table,
                                           state::SnapshotId id = state::kNoSnapshot);
  // The same as RowTexts.
  std::string Rows(std::string_view table, state::SnapshotId id = state::kNoSnapshot);
  // Operations of the changelog after a snapshot: "INSERT id=5 qty=3\n".
  std::string Changes(state::SnapshotId after);
  state::SnapshotId latest() { return store_.reader().Latest()->id(); }

  // The newest version of a row, hidden ones too; nullopt when nothing is stored.
  std::optional<state::Version> Stored(std::string_view table, const std::vector<Datum>& key);
  // How many entries a key space has.
  size_t Count(state::AuxSpace space);

  const Catalog& catalog() const { return *catalog_; }
  Merger& merger() { return *merger_; }
  state::StateWriter& writer() { return store_.writer(); }
  // The merger as after a restart.
  void Restart();

 private:
  state::StateStore& store_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Merger> merger_;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_TESTS_SUPPORT_MERGE_WORLD_H_
