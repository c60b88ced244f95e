#include "storage/state/engine/layout/table_set.h"

#include <utility>

#include "storage/state/state_errors.h"

namespace tidemark::state::engine {

void TableSet::Set(TableState table) {
  const TableId id = table.record.id;
  if (id >= tables_.size()) tables_.resize(id + 1);
  tables_[id] = std::make_shared<const TableState>(std::move(table));
}

std::vector<const TableState*> TableSet::all() const {
  std::vector<const TableState*> found;
  for (const auto& table : tables_) {
    if (table != nullptr) found.push_back(table.get());
  }
  return found;
}

const StorageSpan* TableSet::SpanAt(const TableState& table, SnapshotId at) {
  for (auto span = table.storages.rbegin(); span != table.storages.rend(); ++span) {
    if (span->from <= at) return &*span;
  }
  return nullptr;
}

absl::Status TableSet::Resolve(TableId table, SnapshotId at, Storage* storage) const {
  const TableState* found = Find(table);
  if (found == nullptr) return NoSuchTable(table);
  if (found->record.loading) return TableLoading(table);
  const StorageSpan* span = SpanAt(*found, at);
  if (span == nullptr) return TableYoungerThanSnapshot(table, at, found->first());
  storage->id = {table, span->number};
  storage->from = span->from;
  return absl::OkStatus();
}

bool TableSet::IsReadAt(StorageId storage, SnapshotId at) const {
  const TableState* table = Find(storage.table);
  if (table == nullptr || table->record.loading) return false;
  const StorageSpan* span = SpanAt(*table, at);
  return span != nullptr && span->number == storage.number;
}

}  // namespace tidemark::state::engine
