#include "storage/state/engine/row_cache.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "common/check.h"

namespace tidemark::state::engine {
namespace {

// Of a slot, its place in the index, and the block's header and rounding.
constexpr size_t kSlotOverheadBytes = 112;

size_t HashKey(std::string_view key) { return absl::Hash<std::string_view>()(key); }

}  // namespace

size_t RowCache::Slot::charge() const {
  return size_t{key_size} + meta_size + row_size + kSlotOverheadBytes;
}

size_t RowCache::SlotHash::operator()(std::string_view key) const { return HashKey(key); }

RowCache::RowCache(size_t capacity_bytes, uint64_t sequence)
    : shard_capacity_(capacity_bytes / kShards) {
  Clear(sequence);
}

RowCache::Shard& RowCache::ShardOf(std::string_view current_key) {
  // The index uses the low bits of the same hash.
  return shards_[(HashKey(current_key) >> 48) % kShards];
}

CachedRow RowCache::RowOf(const Slot& slot) {
  const char* const start = slot.bytes.get();
  return {slot.bytes,
          slot.id,
          {start + slot.key_size, slot.meta_size},
          {start + slot.key_size + slot.meta_size, slot.row_size}};
}

CachedRow RowCache::FindNewest(std::string_view current_key) {
  if (shard_capacity_ == 0) return {};
  Shard& shard = ShardOf(current_key);
  MutexLock lock(shard.mutex);
  const auto at = shard.index.find(current_key);
  if (at == shard.index.end()) return {};
  Slot& slot = shard.slots[*at];
  slot.used = true;
  return RowOf(slot);
}

CachedRow RowCache::Find(std::string_view current_key, SnapshotId at) {
  CachedRow row = FindNewest(current_key);
  if (row && row.id > at) return {};
  return row;
}

void RowCache::Fill(std::string_view current_key, const VersionView& version, uint64_t sequence) {
  TIDEMARK_CHECK(version.kind == RowKind::kPresent);
  if (shard_capacity_ == 0) return;
  Shard& shard = ShardOf(current_key);
  MutexLock lock(shard.mutex);
  if (shard.mark > sequence) return;  // the key may have been written since it was read
  if (shard.index.contains(current_key)) return;
  Store(shard, current_key, version);
}

void RowCache::Update(std::string_view current_key, const VersionView* version, uint64_t sequence) {
  Shard& shard = ShardOf(current_key);
  MutexLock lock(shard.mutex);
  shard.mark = sequence;
  const auto at = shard.index.find(current_key);
  if (at == shard.index.end()) return;
  Remove(shard, *at);
  if (version != nullptr && version->kind == RowKind::kPresent) {
    Store(shard, current_key, *version);
  }
}

void RowCache::Clear(uint64_t sequence) {
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    shard.index.clear();
    shard.slots.clear();
    shard.free.clear();
    shard.bytes = 0;
    shard.hand = 0;
    shard.mark = sequence;
  }
}

void RowCache::Store(Shard& shard, std::string_view key, const VersionView& version) {
  Slot slot;
  slot.id = version.id;
  slot.key_size = static_cast<uint32_t>(key.size());
  slot.meta_size = static_cast<uint32_t>(version.meta.size());
  slot.row_size = static_cast<uint32_t>(version.row.size());
  if (slot.charge() > shard_capacity_ / 4) return;  // would push everything else out
  auto bytes =
      std::make_shared_for_overwrite<char[]>(key.size() + version.meta.size() + version.row.size());
  char* out = bytes.get();
  for (const std::string_view part : {key, version.meta, version.row}) {
    out = std::copy(part.begin(), part.end(), out);
  }
  slot.bytes = std::move(bytes);

  Evict(shard, shard_capacity_ - slot.charge());
  shard.bytes += slot.charge();
  uint32_t number = static_cast<uint32_t>(shard.slots.size());
  if (shard.free.empty()) {
    shard.slots.push_back(std::move(slot));
  } else {
    number = shard.free.back();
    shard.free.pop_back();
    shard.slots[number] = std::move(slot);
  }
  shard.index.insert(number);
}

void RowCache::Remove(Shard& shard, uint32_t number) {
  Slot& slot = shard.slots[number];
  shard.index.erase(number);
  shard.bytes -= slot.charge();
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
    total += shard.index.size();
  }
  return total;
}

}  // namespace tidemark::state::engine
