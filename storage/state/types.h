// The nouns of the state table that need no storage engine: ids, versions, snapshots, changes.
#ifndef TIDEMARK_STORAGE_STATE_TYPES_H_
#define TIDEMARK_STORAGE_STATE_TYPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::state {

// Names a snapshot of one store. 0 is "none"; an empty store is at snapshot 1; rises by one.
using SnapshotId = uint64_t;
inline constexpr SnapshotId kNoSnapshot = 0;
inline constexpr SnapshotId kFirstSnapshot = 1;

// Names a table for ever; never reused. 1 and up.
using TableId = uint32_t;

// What a version of a key is. Numbers are on disk: never renumber.
enum class RowKind : uint8_t {
  kPresent = 0,
  kTombstone = 1,  // deleted; remembers the sequences of its groups
  kHidden = 2,     // has bytes, but its anchor is absent: readers do not see it
};

// A stored version of one key. `meta` (state of the row's groups) and `row` (wire bytes of a Row)
// are opaque to this room.
struct Version {
  RowKind kind = RowKind::kTombstone;
  SnapshotId id = kNoSnapshot;     // the snapshot that wrote it
  SnapshotId prev = kNoSnapshot;   // id of the version it replaced, 0 for none
  SnapshotId birth = kNoSnapshot;  // id of the key's first version since it was last unknown
  std::string meta;
  std::string row;
};

// Numbers are on disk: never renumber.
enum class ChangeOp : uint8_t { kInsert = 1, kUpdate = 2, kDelete = 3, kTruncate = 4 };

// One entry of the changelog: the net effect of a snapshot on one key.
struct Change {
  SnapshotId snapshot = kNoSnapshot;
  TableId table = 0;
  ChangeOp op = ChangeOp::kInsert;
  std::string key;                // empty for kTruncate
  SnapshotId prev = kNoSnapshot;  // version before; 0 for none
};

// How far one source had come. Positions are the source's own bytes; they compare like memcmp.
struct SourceMark {
  std::string source;
  std::string position;
  absl::Time fresh_as_of = absl::InfinitePast();
  bool operator==(const SourceMark&) const = default;
};

// What is kept about a snapshot.
struct SnapshotInfo {
  SnapshotId id = kNoSnapshot;
  absl::Time commit_time;
  std::string source;  // whose transaction made it; empty for the first one
  absl::Time event_time = absl::InfinitePast();  // as the source said it; InfinitePast = unknown
  std::vector<SourceMark> sources;  // every source's mark, by name, as of this snapshot
  std::vector<TableId> degraded;    // sorted
};

}  // namespace tidemark::state

#endif  // TIDEMARK_STORAGE_STATE_TYPES_H_
