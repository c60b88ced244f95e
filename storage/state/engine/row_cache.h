// Encoded rows in front of LevelDB, kept exact by the writer.
//
// The rule, each part of which some history needs (storage/state/README.md):
//   - readers put in only versions they read from prefix C, through a publication that is not older
//     than the shard's mark;
//   - the writer touches the cache only between syncing a batch and publishing it: for every key it
//     wrote, cached or not, it raises the mark of the key's shard to the new publication and
//     replaces or removes the entry;
//   - an entry serves a reader when its version is not newer than the reader's snapshot;
//   - absent rows are not cached; large transactions, undo and truncates clear everything.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_ROW_CACHE_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_ROW_CACHE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "common/mutex.h"
#include "storage/state/engine/format.h"
#include "storage/state/types.h"

namespace tidemark::state::engine {

// A cached version. `bytes` keeps what the views point into.
struct CachedRow {
  std::shared_ptr<const char[]> bytes;
  SnapshotId id = kNoSnapshot;
  std::string_view meta;
  std::string_view row;
  explicit operator bool() const { return bytes != nullptr; }
};

// Thread-safe: one short lock per shard, never held while anything is read or written.
class RowCache {
 public:
  // `capacity_bytes` 0: caches nothing. `sequence`: of the publication it starts under.
  RowCache(size_t capacity_bytes, uint64_t sequence);

  // The row under a key of prefix C (current_key) when it is cached and its version may be read at
  // `at`.
  CachedRow Find(std::string_view current_key, SnapshotId at);
  // The newest version whatever its id; for the writer, whose own writes since then it does not
  // hold.
  CachedRow FindNewest(std::string_view current_key);

  // A reader's: `version` was read from prefix C, is present, and was read through the publication
  // with this sequence.
  void Fill(std::string_view current_key, const VersionView& version, uint64_t sequence);

  // The writer's, for every key of prefix C of a batch: `version` is what it wrote, nullptr for
  // nothing.
  void Update(std::string_view current_key, const VersionView* version, uint64_t sequence);
  void Clear(uint64_t sequence);

  // Approximate: the sum over shards read one after the other.
  uint64_t bytes() const;
  uint64_t rows() const;

 private:
  struct Slot {
    std::shared_ptr<const char[]> bytes;  // key, meta, row; nullptr: the slot is free
    SnapshotId id = kNoSnapshot;
    uint32_t key_size = 0;
    uint32_t meta_size = 0;
    uint32_t row_size = 0;
    bool used = false;  // since the hand last passed
    std::string_view key() const { return {bytes.get(), key_size}; }
    size_t charge() const;
  };
  // Slots are found by key: the set holds their numbers.
  struct SlotHash {
    using is_transparent = void;
    const std::vector<Slot>* slots;
    size_t operator()(std::string_view key) const;
    size_t operator()(uint32_t slot) const { return (*this)((*slots)[slot].key()); }
  };
  struct SlotEqual {
    using is_transparent = void;
    const std::vector<Slot>* slots;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(uint32_t a, std::string_view b) const { return (*slots)[a].key() == b; }
    bool operator()(std::string_view a, uint32_t b) const { return (*slots)[b].key() == a; }
  };
  struct alignas(64) Shard {
    Shard() : index(0, SlotHash{&slots}, SlotEqual{&slots}) {}
    mutable Mutex mutex;
    std::vector<Slot> slots TIDEMARK_GUARDED_BY(mutex);
    std::vector<uint32_t> free TIDEMARK_GUARDED_BY(mutex);
    absl::flat_hash_set<uint32_t, SlotHash, SlotEqual> index TIDEMARK_GUARDED_BY(mutex);
    size_t bytes TIDEMARK_GUARDED_BY(mutex) = 0;
    size_t hand TIDEMARK_GUARDED_BY(mutex) = 0;  // of the clock that evicts
    uint64_t mark TIDEMARK_GUARDED_BY(mutex) = 0;
  };
  static constexpr size_t kShards = 64;

  Shard& ShardOf(std::string_view current_key);
  static CachedRow RowOf(const Slot& slot);
  void Store(Shard& shard, std::string_view key, const VersionView& version)
      TIDEMARK_REQUIRES(shard.mutex);
  static void Remove(Shard& shard, uint32_t slot) TIDEMARK_REQUIRES(shard.mutex);
  static void Evict(Shard& shard, size_t capacity) TIDEMARK_REQUIRES(shard.mutex);

  const size_t shard_capacity_;
  std::array<Shard, kShards> shards_;
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_ROW_CACHE_H_
