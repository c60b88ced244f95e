// Small records of the store: M (the whole store), T (tables), N and G (pins and tags).
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_LAYOUT_RECORDS_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_LAYOUT_RECORDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "storage/state/state_writer.h"
#include "storage/state/token.h"
#include "storage/state/types.h"

namespace tidemark::state::engine {

// Names under prefix M.
inline constexpr std::string_view kFormatName = "format";
inline constexpr std::string_view kIdentityName = "identity";
inline constexpr std::string_view kStateName = "state";
inline constexpr std::string_view kCollectorName = "collector";  // cursors of the collector
inline constexpr std::string_view kWindowName = "window";        // time of window aggregates

std::string FormatValue(uint64_t version);
bool ParseFormat(std::string_view bytes, uint64_t* version);

// M|identity: who this store is, and which stores it was restored from. Tokens of an ancestor are
// valid up to its fork point.
struct Identity {
  struct Ancestor {
    Incarnation incarnation{};
    SnapshotId fork = kNoSnapshot;  // the last snapshot shared with it
  };
  Incarnation incarnation{};
  std::vector<Ancestor> ancestors;
};
std::string IdentityValue(const Identity& identity);
bool ParseIdentity(std::string_view bytes, Identity* identity);

// M|state: rewritten by every batch. Before-images of chunks in [undo_begin, undo_end) are live,
// those in [undo_cleaned, undo_begin) wait to be deleted; the next chunk gets next_chunk. Chunk
// numbers only rise, so that no seek ever walks over deleted images.
struct StoreState {
  SnapshotId published = kNoSnapshot;
  SnapshotId floor = kFirstSnapshot;
  SnapshotId open = kNoSnapshot;  // of the transaction being written in chunks; 0 = none
  TableId next_table = 1;
  uint64_t undo_cleaned = 0;
  uint64_t undo_begin = 0;
  uint64_t undo_end = 0;
  uint64_t next_chunk = 0;
};
std::string StateValue(const StoreState& state);
bool ParseState(std::string_view bytes, StoreState* state);

// T: a table with its storage ids, oldest first. The last one is current.
struct StorageSpan {
  uint32_t number = 0;
  SnapshotId from = kNoSnapshot;  // first snapshot it is read at; 0 while loading
  std::string truncation_sequence;
};
struct TableState {
  TableRecord record;
  uint32_t next_number = 1;
  std::vector<StorageSpan> storages;
  std::vector<uint32_t> dropped;  // storage ids no snapshot ever showed, waiting to be removed

  const StorageSpan& current() const { return storages.back(); }
  SnapshotId first() const { return storages.front().from; }
};
std::string TableValue(const TableState& table);
bool ParseTable(std::string_view db_key, std::string_view bytes, TableState* table);

// N|snapshot (empty holder): the pinned snapshot. Numbers are on disk: never renumber.
enum class PinState : uint8_t { kLive = 1, kEnding = 2 };
struct PinHead {
  PinState state = PinState::kLive;
  uint64_t kept_versions = 0;  // entries of prefix R under this pin
  std::string snapshot_info;   // a value of prefix S, for after the snapshot's own is gone
};
std::string PinHeadValue(const PinHead& head);
bool ParsePinHead(std::string_view bytes, PinHead* head);

// N|snapshot|holder: one reason to keep it. The holder's first byte is its kind, then its id.
enum class PinKind : uint8_t { kTag = 1, kApproval = 2, kConsumer = 3, kReplay = 4 };
struct PinHolder {
  bool keeps_changes = false;  // a from pin: keeps the changelog after it and holds the floor
  std::string owner;
  std::string reason;
  absl::Time expiry = absl::InfinitePast();  // InfinitePast = never
};
std::string PinHolderValue(const PinHolder& holder);
bool ParsePinHolder(std::string_view bytes, PinHolder* holder);

// G|tenant, name.
enum class TagState : uint8_t { kLive = 1, kExpired = 2 };
struct TagRecord {
  TagState state = TagState::kLive;
  SnapshotId snapshot = kNoSnapshot;
  std::string owner;
  std::string reason;
  absl::Time created = absl::InfinitePast();
  absl::Time expiry = absl::InfinitePast();  // InfinitePast = never
};
std::string TagValue(const TagRecord& tag);
bool ParseTag(std::string_view bytes, TagRecord* tag);

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_LAYOUT_RECORDS_H_
