// Encoded rows in front of LevelDB, kept exact by the writer.
//
// The rule, each part of which some history needs:
//   - readers put in only versions they read from prefix C, through a publication that is not older
//     than the shard's mark;
//   - the writer touches the cache only between syncing a batch and publishing it: for every key it
//     wrote, cached or not, it raises the mark of the key's shard to the new publication and
//     replaces or removes the entry; a row that is not there is put in where there is room;
//   - an entry serves a reader when its version is not newer than the reader's snapshot;
//   - absent rows are not cached; large transactions, undo and truncates clear everything.
//
// A row copied before its table could be read has no id of its own yet: its version is 0, and who
// finds it knows from which snapshot on the table is read. So the rows of a copy are there, as far
// as they fit, when the first reader or the first change comes.
//
// A full shard takes only one in four rows that readers found in LevelDB: where every row is read
// as often as every other, putting each of them in would cost more than the cache saves.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_ROW_CACHE_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_ROW_CACHE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "common/mutex.h"
#include "storage/state/engine/layout/format.h"
#include "storage/state/types.h"

namespace tidemark::state::engine {

// A cached version. `bytes` keeps what the views point into.
struct CachedRow {
  std::shared_ptr<const char[]> bytes;
  SnapshotId id = kNoSnapshot;  // kNoSnapshot: copied; the `from` of its storage id
  std::string_view value;       // as in LevelDB
  std::string_view meta;
  std::string_view row;
  explicit operator bool() const { return bytes != nullptr; }
};

// A version to be cached: the value in LevelDB, and what it says.
struct RowToCache {
  std::string_view value;
  VersionView version;  // points into `value`
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

  // A reader's: `row` was read from prefix C, is present, and was read through the publication with
  // this sequence.
  void Fill(std::string_view current_key, const RowToCache& row, uint64_t sequence);

  // The writer's, for every key of prefix C of a batch: `row` is what it wrote, nullptr for
  // nothing.
  void Update(std::string_view current_key, const RowToCache* row, uint64_t sequence);
  void Clear(uint64_t sequence);

  // Approximate: the sum over shards read one after the other.
  uint64_t bytes() const;
  uint64_t rows() const;

 private:
  static constexpr uint32_t kNoSlot = UINT32_MAX;
  struct Slot {
    std::shared_ptr<const char[]> bytes;  // key, value; nullptr: the slot is free
    SnapshotId id = kNoSnapshot;
    uint32_t hash = 0;
    uint32_t next = kNoSlot;  // in the bucket
    uint32_t key_size = 0;
    uint32_t value_size = 0;
    uint32_t meta_offset = 0;  // in the value
    uint32_t meta_size = 0;    // the row follows, up to the value's end
    bool used = false;         // since the hand last passed
    std::string_view key() const { return {bytes.get(), key_size}; }
    size_t charge() const;
  };
  // A hash table whose buckets are lists of slots: a look-up touches the bucket, the slot and the
  // row's own bytes, and nothing else.
  struct alignas(64) Shard {
    mutable Mutex mutex;
    std::vector<Slot> slots TIDEMARK_GUARDED_BY(mutex);
    std::vector<uint32_t> free TIDEMARK_GUARDED_BY(mutex);
    std::vector<uint32_t> buckets
        TIDEMARK_GUARDED_BY(mutex);  // first slots; a power of two of them
    size_t rows TIDEMARK_GUARDED_BY(mutex) = 0;
    size_t bytes TIDEMARK_GUARDED_BY(mutex) = 0;
    size_t hand TIDEMARK_GUARDED_BY(mutex) = 0;  // of the clock that evicts
    uint64_t mark TIDEMARK_GUARDED_BY(mutex) = 0;
    uint64_t refused TIDEMARK_GUARDED_BY(mutex) = 0;  // fills, since the shard is full
  };
  static constexpr size_t kShards = 64;

  Shard& ShardOf(uint32_t hash) { return shards_[hash % kShards]; }
  static CachedRow RowOf(const Slot& slot);
  static uint32_t FindSlot(const Shard& shard, uint32_t hash, std::string_view key)
      TIDEMARK_REQUIRES(shard.mutex);
  static uint32_t& BucketOf(Shard& shard, uint32_t hash) TIDEMARK_REQUIRES(shard.mutex);
  static void Rehash(Shard& shard) TIDEMARK_REQUIRES(shard.mutex);
  bool HasRoom(const Shard& shard, std::string_view key, const RowToCache& row) const
      TIDEMARK_REQUIRES(shard.mutex);
  void Store(Shard& shard, uint32_t hash, std::string_view key, const RowToCache& row)
      TIDEMARK_REQUIRES(shard.mutex);
  static void Remove(Shard& shard, uint32_t slot) TIDEMARK_REQUIRES(shard.mutex);
  static void Evict(Shard& shard, size_t capacity) TIDEMARK_REQUIRES(shard.mutex);

  const size_t shard_capacity_;
  std::array<Shard, kShards> shards_;
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_ROW_CACHE_H_
