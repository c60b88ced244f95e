// Keys and values in LevelDB: the only place that knows them. Byte by byte in
// docs/storage_format.md; prefixes and numbers are on disk and never reused.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_LAYOUT_FORMAT_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_LAYOUT_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/state/state_writer.h"
#include "storage/state/types.h"

namespace tidemark::state::engine {

inline constexpr uint64_t kFormatVersion = 1;

enum class Prefix : char {
  kMeta = 'M',                 // name -> what concerns the whole store (records.h)
  kTable = 'T',                // table -> definition and storage ids (records.h)
  kCurrent = 'C',              // storage id, key -> newest version
  kHistory = 'H',              // storage id, key, id descending -> superseded version
  kChange = 'L',               // id, storage id, key -> changelog entry
  kSnapshot = 'S',             // last id of a range -> what is kept about each (snapshot_record.h)
  kSourceState = 'P',          // AuxSpace
  kContribution = 'K',         // AuxSpace
  kOrderedContribution = 'V',  // AuxSpace
  kWindow = 'E',               // AuxSpace
  kDeadLetter = 'D',           // AuxSpace
  kPinned = 'R',               // pin, storage id, key, id -> version kept only for that pin
  kQueue = 'Q',                // id, place, key -> tombstone written at id, waiting to leave
  kPin = 'N',                  // pinned snapshot, holder -> pin (records.h)
  kTag = 'G',                  // tenant, name -> tag (records.h)
  kUndo = 'U',                 // chunk, LevelDB key -> before-image
};

// Where the rows of a table lie: each truncate gives it a new number, so that the old rows need not
// be touched.
struct StorageId {
  TableId table = 0;
  uint32_t number = 0;
  bool operator==(const StorageId&) const = default;
};

// --- Keys.

std::string MetaKey(std::string_view name);
std::string TableKey(TableId table);
std::string CurrentKey(StorageId storage, std::string_view key);
// CurrentKey(storage, "")[0..]: what every current row of the storage id starts with.
inline std::string CurrentPrefix(StorageId storage) { return CurrentKey(storage, {}); }
std::string HistoryKey(StorageId storage, std::string_view key, SnapshotId id);
// What every version of the key in H starts with (and, for keys that are not tuple keys, versions
// of longer keys too: compare lengths).
std::string HistoryPrefix(StorageId storage, std::string_view key);
std::string ChangeKey(SnapshotId id, StorageId storage, std::string_view key);
// Sorts before every other change of its snapshot.
std::string TruncateKey(SnapshotId id, TableId table);
std::string ChangesFrom(SnapshotId id);
std::string SnapshotKey(SnapshotId last);
std::string AuxKey(AuxSpace space, std::string_view key);
std::string PinnedKey(SnapshotId pin, StorageId storage, std::string_view key, SnapshotId id);
std::string QueueRowKey(SnapshotId id, StorageId storage, std::string_view key);
std::string QueueContributionKey(SnapshotId id, std::string_view key);
std::string PinKey(SnapshotId snapshot, std::string_view holder);
std::string TagKey(std::string_view tenant, std::string_view name);
std::string UndoKey(uint64_t chunk, std::string_view db_key);
std::string UndoPrefix(uint64_t chunk);

// A key of kCurrent taken apart. False when it is not one.
bool ParseCurrentKey(std::string_view db_key, StorageId* storage, std::string_view* key);

// A key of kChange taken apart; for a TRUNCATE `truncate` is set and storage.table names the table.
struct ParsedChangeKey {
  SnapshotId id = kNoSnapshot;
  bool truncate = false;
  StorageId storage;
  std::string_view key;
};
bool ParseChangeKey(std::string_view db_key, ParsedChangeKey* parsed);

// A key of kQueue taken apart: a row of `storage`, or a contribution when storage.table is 0.
struct ParsedQueueKey {
  SnapshotId id = kNoSnapshot;
  StorageId storage;
  std::string_view key;
};
bool ParseQueueKey(std::string_view db_key, ParsedQueueKey* parsed);

// --- Values.

// A value of kCurrent and kHistory. `meta` and `row` point into the bytes it was read from.
struct VersionView {
  RowKind kind = RowKind::kTombstone;
  SnapshotId id = kNoSnapshot;
  SnapshotId prev = kNoSnapshot;
  SnapshotId birth = kNoSnapshot;
  SnapshotId queued = kNoSnapshot;  // tombstones: the id it waits under in kQueue
  std::string_view meta;
  std::string_view row;
};
void AppendVersion(std::string* out, const VersionView& version);
// `from`: of the storage id. Rows of a table's first copy are stored with id 0, which means it.
bool ParseVersion(std::string_view bytes, SnapshotId from, VersionView* version);
Version ToVersion(const VersionView& view);

std::string ChangeValue(ChangeOp op, SnapshotId prev);
bool ParseChangeValue(std::string_view bytes, ChangeOp* op, SnapshotId* prev);

// Contributions carry a mark in front, so that a queued tombstone is known to be still that one.
std::string ContributionValue(std::string_view value, SnapshotId queued);
bool ParseContributionValue(std::string_view bytes, std::string_view* value, SnapshotId* queued);

// The value a LevelDB key had before a chunk; absent when it had none.
std::string UndoValue(const std::string* before);
bool ParseUndoValue(std::string_view bytes, bool* existed, std::string_view* before);

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_LAYOUT_FORMAT_H_
