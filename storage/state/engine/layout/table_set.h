// The tables as readers of one publication see them: which storage id holds a table at a snapshot.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_LAYOUT_TABLE_SET_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_LAYOUT_TABLE_SET_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "storage/state/engine/layout/format.h"
#include "storage/state/engine/layout/records.h"

namespace tidemark::state::engine {

// A storage id and the first snapshot it is read at, which rows of a first copy are versions of.
struct Storage {
  StorageId id;
  SnapshotId from = kNoSnapshot;
};

// A value: copying shares the tables. A set that is shared between threads does not change.
class TableSet {
 public:
  const TableState* Find(TableId table) const {
    return table < tables_.size() ? tables_[table].get() : nullptr;
  }
  void Set(TableState table);
  // By id.
  std::vector<const TableState*> all() const;

  // The storage id that readers of `at` read. TABLE_NOT_FOUND, TABLE_LOADING, SNAPSHOT_EXPIRED.
  absl::Status Resolve(TableId table, SnapshotId at, Storage* storage) const;
  // Whether readers of `at` read this storage id.
  bool IsReadAt(StorageId storage, SnapshotId at) const;

 private:
  static const StorageSpan* SpanAt(const TableState& table, SnapshotId at);

  std::vector<std::shared_ptr<const TableState>> tables_;  // by id; ids are dense
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_LAYOUT_TABLE_SET_H_
