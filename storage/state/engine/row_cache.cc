#include "storage/state/engine/row_cache.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "common/check.h"
#include "common/strings.h"

namespace tidemark::state::engine {
namespace {

// Of a slot, its share of the buckets, and the block's header and rounding.
constexpr size_t kSlotOverheadBytes = 112;
constexpr size_t kFirstBuckets = 16;
constexpr uint64_t kFillsPerAdmission = 4;

uint32_t HashKey(std::string_view key) {
  return static_cast<uint32_t>(absl::Hash<absl::string_view>()(ToAbsl(key)));
}

}  // namespace

size_t RowCache::Slot::charge() const { return size_t{key_size} + value_size + kSlotOverheadBytes; }

RowCache::RowCache(size_t capacity_bytes, uint64_t sequence)
    : shard_capacity_(capacity_bytes / kShards) {
  Clear(sequence);
}

// --- Looking up.

// The shard uses the low bits of the hash, the bucket those above.
uint32_t& RowCache::BucketOf(Shard& shard, uint32_t hash) {
  return shard.buckets[hash / kShards & (shard.buckets.size() - 1)];
}

uint32_t RowCache::FindSlot(const Shard& shard, uint32_t hash, std::string_view key) {
  uint32_t slot = shard.buckets[hash / kShards & (shard.buckets.size() - 1)];
  while (slot != kNoSlot && (shard.slots[slot].hash != hash || shard.slots[slot].key() != key)) {
    slot = shard.slots[slot].next;
  }
  return slot;
}

CachedRow RowCache::RowOf(const Slot& slot) {
  const std::string_view value(slot.bytes.get() + slot.key_size, slot.value_size);
  return {slot.bytes, slot.id, value, value.substr(slot.meta_offset, slot.meta_size),
          value.substr(slot.meta_offset + slot.meta_size)};
}

CachedRow RowCache::FindNewest(std::string_view current_key) {
  if (shard_capacity_ == 0) return {};
  const uint32_t hash = HashKey(current_key);
  Shard& shard = ShardOf(hash);
  MutexLock lock(shard.mutex);
  const uint32_t found = FindSlot(shard, hash, current_key);
  if (found == kNoSlot) return {};
  shard.slots[found].used = true;
  return RowOf(shard.slots[found]);
}

CachedRow RowCache::Find(std::string_view current_key, SnapshotId at) {
  CachedRow row = FindNewest(current_key);
  if (row && row.id > at) return {};
  return row;
}

// --- Changing.

void RowCache::Fill(std::string_view current_key, const RowToCache& row, uint64_t sequence) {
  TIDEMARK_CHECK(row.version.kind == RowKind::kPresent);
  if (shard_capacity_ == 0) return;
  const uint32_t hash = HashKey(current_key);
  Shard& shard = ShardOf(hash);
  MutexLock lock(shard.mutex);
  if (shard.mark > sequence) return;  // the key may have been written since it was read
  if (!HasRoom(shard, current_key, row) && ++shard.refused % kFillsPerAdmission != 0) return;
  if (FindSlot(shard, hash, current_key) != kNoSlot) return;
  Store(shard, hash, current_key, row);
}

void RowCache::Update(std::string_view current_key, const RowToCache* row, uint64_t sequence) {
  if (shard_capacity_ == 0) return;
  const uint32_t hash = HashKey(current_key);
  Shard& shard = ShardOf(hash);
  MutexLock lock(shard.mutex);
  shard.mark = sequence;
  const uint32_t found = FindSlot(shard, hash, current_key);
  if (found != kNoSlot) Remove(shard, found);
  if (row == nullptr || row->version.kind != RowKind::kPresent) return;
  if (found == kNoSlot && !HasRoom(shard, current_key, *row)) return;
  Store(shard, hash, current_key, *row);
}

void RowCache::Clear(uint64_t sequence) {
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    shard.slots.clear();
    shard.free.clear();
    shard.buckets.assign(kFirstBuckets, kNoSlot);
    shard.rows = 0;
    shard.bytes = 0;
    shard.hand = 0;
    shard.mark = sequence;
  }
}

bool RowCache::HasRoom(const Shard& shard, std::string_view key, const RowToCache& row) const {
  return shard.bytes + key.size() + row.value.size() + kSlotOverheadBytes <= shard_capacity_;
}

void RowCache::Store(Shard& shard, uint32_t hash, std::string_view key, const RowToCache& row) {
  Slot slot;
  slot.id = row.version.id;
  slot.hash = hash;
  slot.key_size = static_cast<uint32_t>(key.size());
  slot.value_size = static_cast<uint32_t>(row.value.size());
  slot.meta_offset = static_cast<uint32_t>(row.version.meta.data() - row.value.data());
  slot.meta_size = static_cast<uint32_t>(row.version.meta.size());
  if (slot.charge() > shard_capacity_ / 4) return;  // would push everything else out
  auto bytes = std::make_shared_for_overwrite<char[]>(key.size() + row.value.size());
  std::copy(row.value.begin(), row.value.end(), std::copy(key.begin(), key.end(), bytes.get()));
  slot.bytes = std::move(bytes);

  Evict(shard, shard_capacity_ - slot.charge());
  shard.bytes += slot.charge();
  ++shard.rows;
  if (shard.free.empty()) {
    shard.free.push_back(static_cast<uint32_t>(shard.slots.size()));
    shard.slots.emplace_back();
  }
  const uint32_t number = shard.free.back();
  shard.free.pop_back();
  uint32_t& bucket = BucketOf(shard, hash);
  slot.next = bucket;
  bucket = number;
  shard.slots[number] = std::move(slot);
  if (shard.rows > shard.buckets.size()) Rehash(shard);
}

void RowCache::Rehash(Shard& shard) {
  shard.buckets.assign(shard.buckets.size() * 2, kNoSlot);
  for (uint32_t number = 0; number < shard.slots.size(); ++number) {
    Slot& slot = shard.slots[number];
    if (slot.bytes == nullptr) continue;
    uint32_t& bucket = BucketOf(shard, slot.hash);
    slot.next = bucket;
    bucket = number;
  }
}

void RowCache::Remove(Shard& shard, uint32_t number) {
  Slot& slot = shard.slots[number];
  uint32_t* link = &BucketOf(shard, slot.hash);
  while (*link != number) link = &shard.slots[*link].next;
  *link = slot.next;
  shard.bytes -= slot.charge();
  --shard.rows;
  slot = Slot();
  shard.free.push_back(number);
}

// A clock: each row found since the hand last passed gets another round.
void RowCache::Evict(Shard& shard, size_t capacity) {
  while (shard.bytes > capacity) {
    if (shard.hand >= shard.slots.size()) shard.hand = 0;
    Slot& slot = shard.slots[shard.hand];
    if (slot.bytes != nullptr && !slot.used) Remove(shard, static_cast<uint32_t>(shard.hand));
    slot.used = false;
    ++shard.hand;
  }
}

uint64_t RowCache::bytes() const {
  uint64_t total = 0;
  for (const Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    total += shard.bytes;
  }
  return total;
}

uint64_t RowCache::rows() const {
  uint64_t total = 0;
  for (const Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    total += shard.rows;
  }
  return total;
}

}  // namespace tidemark::state::engine
