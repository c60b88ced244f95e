// What the reference model keeps: each snapshot with all tables and rows in it, and its changes.
#ifndef TIDEMARK_STORAGE_STATE_MEMORY_HISTORY_H_
#define TIDEMARK_STORAGE_STATE_MEMORY_HISTORY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/state/state_writer.h"
#include "storage/state/types.h"

namespace tidemark::state::memory {

using Rows = std::map<std::string, Version>;

struct Table {
  TableRecord record;
  SnapshotId first = kNoSnapshot;  // 0 while loading
  Rows rows;
};
// Shared between snapshots until a table changes.
using Tables = std::map<TableId, std::shared_ptr<const Table>>;

struct Snapshot {
  SnapshotInfo info;
  std::string position;  // of the source transaction that made it
  Tables tables;
  std::vector<Change> changes;
};

// Snapshot i + 1 is element i.
using History = std::vector<std::shared_ptr<const Snapshot>>;

inline bool IsVisible(const Version* version) {
  return version != nullptr && version->kind == RowKind::kPresent;
}

// A version that no reader sees at any snapshot: the key is unknown to them.
inline bool WasNeverVisible(const Version* version) {
  return version == nullptr || (version->kind != RowKind::kPresent && version->prev == kNoSnapshot);
}

}  // namespace tidemark::state::memory

#endif  // TIDEMARK_STORAGE_STATE_MEMORY_HISTORY_H_
