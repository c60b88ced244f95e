#include "storage/state/engine/disk/layer.h"

#include <algorithm>

namespace tidemark::state::engine {
namespace {

constexpr size_t kBlockBytes = 16 << 10;
// Of an entry, its place in the index and its value's allocation, beside its bytes.
constexpr size_t kEntryOverheadBytes = 96;
// Places the index is given at once for the next batch, which is about as large as the last.
constexpr size_t kMaxReservedPlaces = 1 << 15;

size_t BytesOf(std::string_view key, const std::optional<std::string>& value) {
  return key.size() + (value.has_value() ? value->size() : 0) + kEntryOverheadBytes;
}

}  // namespace

std::string_view KeyArena::Add(std::string_view key) {
  char* to = at_;
  if (key.size() > kBlockBytes) {
    to = more_.emplace_back(std::make_unique_for_overwrite<char[]>(key.size())).get();
  } else {
    if (key.size() > room_ || at_ == nullptr) {
      auto& block = first_ == nullptr ? first_ : more_.emplace_back();
      block = std::make_unique_for_overwrite<char[]>(kBlockBytes);
      to = block.get();
      room_ = kBlockBytes;
    }
    at_ = to + key.size();
    room_ -= key.size();
  }
  std::copy(key.begin(), key.end(), to);
  return {to, key.size()};
}

void KeyArena::Clear() {
  more_.clear();
  at_ = first_.get();
  room_ = first_ == nullptr ? 0 : kBlockBytes;
}

void Layer::Set(std::string_view key, std::optional<std::string> value) {
  bytes_ += BytesOf(key, value);
  const auto place = index_.lazy_emplace(key, [&](const auto& construct) {
    construct(&entries_.emplace_back(keys_.Add(key), std::nullopt));
    bytes_ += BytesOf(key, std::nullopt);
    if (ordered_) ordered_->insert(&entries_.back());
  });
  Entry& entry = **place;
  bytes_ -= BytesOf(key, entry.second);
  entry.second = std::move(value);
}

const std::optional<std::string>* Layer::Find(std::string_view key) const {
  const auto at = index_.find(key);
  return at == index_.end() ? nullptr : &(*at)->second;
}

void Layer::Absorb(Layer* other) {
  if (entries_.empty() && index_.capacity() <= other->index_.capacity()) {
    std::swap(*this, *other);
  } else {
    for (Entry& entry : other->entries_) Set(entry.first, std::move(entry.second));
  }
  other->Clear();
}

void Layer::Clear() {
  ordered_.reset();
  index_.clear();
  entries_.clear();
  keys_.Clear();
  bytes_ = 0;
}

void Layer::ReserveLike(const Layer& other) {
  index_.reserve(std::min(other.entries_.size(), kMaxReservedPlaces));
}

const Layer::Ordered& Layer::ordered() const {
  if (!ordered_) {
    std::vector<const Entry*> entries;
    entries.reserve(entries_.size());
    for (const Entry& entry : entries_) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(), ByKey());
    ordered_.emplace(entries.begin(), entries.end());
  }
  return *ordered_;
}

}  // namespace tidemark::state::engine
