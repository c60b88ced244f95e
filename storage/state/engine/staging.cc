#include "storage/state/engine/staging.h"

#include <utility>

#include "common/check.h"
#include "common/error.h"
#include "common/strings.h"
#include "storage/state/tuple_key.h"

namespace tidemark::state::engine {
namespace {

constexpr size_t kMaxRememberedBytes = 4 << 20;

// The entries of a layer under a prefix, walked one way.
class LayerWalk {
 public:
  LayerWalk(const Layer::Ordered& entries, std::string_view prefix, std::string_view from,
            bool reverse)
      : prefix_(prefix), reverse_(reverse), begin_(entries.begin()), end_(entries.end()) {
    if (!reverse) {
      at_ = entries.lower_bound(from.empty() ? prefix : from);
      valid_ = at_ != end_;
    } else {
      const std::string prefix_end = PrefixEnd(prefix);
      at_ = from.empty() ? (prefix_end.empty() ? end_ : entries.lower_bound(prefix_end))
                         : entries.upper_bound(from);
      valid_ = at_ != begin_;
      if (valid_) --at_;
    }
    CheckPrefix();
  }

  bool valid() const { return valid_; }
  std::string_view key() const { return (*at_)->first; }
  const std::optional<std::string>& value() const { return (*at_)->second; }
  void Next() {
    if (reverse_) {
      valid_ = at_ != begin_;
      if (valid_) --at_;
    } else {
      ++at_;
      valid_ = at_ != end_;
    }
    CheckPrefix();
  }

 private:
  void CheckPrefix() { valid_ = valid_ && key().substr(0, prefix_.size()) == prefix_; }

  const std::string prefix_;
  const bool reverse_;
  const Layer::Ordered::const_iterator begin_, end_;
  Layer::Ordered::const_iterator at_;
  bool valid_ = false;
};

// The same of LevelDB, which opens nothing and seeks nothing for a walk that is not `wanted`.
class DatabaseWalk {
 public:
  DatabaseWalk(const Database& database, std::string_view prefix, std::string_view from,
               bool reverse, bool wanted)
      : prefix_(prefix),
        reverse_(reverse),
        iterator_(wanted ? database.NewIterator(false) : nullptr) {
    if (!wanted) return;
    if (!reverse) {
      iterator_->Seek(ToSlice(from.empty() ? prefix : from));
      return;
    }
    const std::string end = from.empty() ? PrefixEnd(prefix) : std::string(from) + '\0';
    if (end.empty()) {
      iterator_->SeekToLast();
      return;
    }
    iterator_->Seek(end);
    if (iterator_->Valid()) {
      iterator_->Prev();
    } else {
      iterator_->SeekToLast();
    }
  }

  bool valid() const {
    return iterator_ != nullptr && iterator_->Valid() && iterator_->key().starts_with(prefix_);
  }
  std::string_view key() const { return ToView(iterator_->key()); }
  std::string_view value() const { return ToView(iterator_->value()); }
  void Next() {
    if (reverse_) {
      iterator_->Prev();
    } else {
      iterator_->Next();
    }
  }
  absl::Status status() const {
    return iterator_ == nullptr ? absl::OkStatus() : IteratorStatus(*iterator_);
  }

 private:
  const std::string prefix_;
  const bool reverse_;
  const std::unique_ptr<leveldb::Iterator> iterator_;
};

}  // namespace

const std::optional<std::string>* Staging::Staged(std::string_view key) const {
  for (const Layer* layer : {&open_, &ended_, in_flight_.get()}) {
    if (layer == nullptr) continue;
    if (const std::optional<std::string>* staged = layer->Find(key)) return staged;
  }
  return nullptr;
}

absl::StatusOr<std::optional<std::string>> Staging::Get(std::string_view key) {
  if (const std::optional<std::string>* staged = Staged(key)) return *staged;
  std::string value;
  bool found = false;
  TIDEMARK_RETURN_IF_ERROR(database_.Get(key, &value, &found));
  if (!found) return std::nullopt;
  return value;
}

absl::StatusOr<std::optional<std::string>> Staging::GetCurrent(std::string_view current_key) {
  if (const std::optional<std::string>* staged = Staged(current_key)) return *staged;
  const auto at = remembered_.find(ToAbsl(current_key));
  if (at != remembered_.end()) return at->second;
  if (row_cache_is_newest_) {
    if (const CachedRow cached = row_cache_.FindNewest(current_key)) {
      return std::string(cached.value);
    }
  }
  std::string value;
  bool found = false;
  TIDEMARK_RETURN_IF_ERROR(database_.Get(current_key, &value, &found));
  std::optional<std::string> result;
  if (found) result = std::move(value);
  Remember(current_key, result);
  return result;
}

void Staging::Remember(std::string_view key, const std::optional<std::string>& value) {
  if (remembered_bytes_ > kMaxRememberedBytes) {
    remembered_.clear();
    remembered_bytes_ = 0;
  }
  remembered_bytes_ += key.size() + (value.has_value() ? value->size() : 0);
  remembered_.emplace(key, value);
}

absl::Status Staging::Visit(std::string_view prefix, std::string_view from, bool reverse,
                            const Visitor& visit, std::string_view fence) const {
  bool in_database = true;
  if (!fence.empty()) {
    std::string value;
    TIDEMARK_RETURN_IF_ERROR(database_.Get(fence, &value, &in_database));
  }
  LayerWalk open(open_.ordered(), prefix, from, reverse);
  LayerWalk ended(ended_.ordered(), prefix, from, reverse);
  DatabaseWalk stored(database_, prefix, from, reverse, /*wanted=*/in_database);
  const auto first = [reverse](std::string_view a, std::string_view b) {
    return reverse ? a > b : a < b;
  };
  while (open.valid() || ended.valid() || stored.valid()) {
    std::string key;
    bool any = false;
    const auto consider = [&](std::string_view candidate) {
      if (!any || first(candidate, key)) key = std::string(candidate);
      any = true;
    };
    if (open.valid()) consider(open.key());
    if (ended.valid()) consider(ended.key());
    if (stored.valid()) consider(stored.key());

    // The newest layer that has the key decides; all of them move past it.
    const bool in_open = open.valid() && open.key() == key;
    const bool in_ended = ended.valid() && ended.key() == key;
    const bool in_stored = stored.valid() && stored.key() == key;
    std::optional<std::string_view> value;
    if (in_open) {
      if (open.value().has_value()) value = *open.value();
    } else if (in_ended) {
      if (ended.value().has_value()) value = *ended.value();
    } else {
      value = stored.value();
    }
    if (value.has_value() && !visit(key, *value)) return absl::OkStatus();
    if (in_open) open.Next();
    if (in_ended) ended.Next();
    if (in_stored) stored.Next();
  }
  return stored.status();
}

void Staging::EndSnapshot() {
  ended_.Absorb(&open_);
  in_snapshot_ = false;
}

void Staging::AbandonSnapshot() {
  open_.Clear();
  in_snapshot_ = false;
}

void Staging::Put(std::string_view key, std::string value) {
  (in_snapshot_ ? open_ : ended_).Set(key, std::move(value));
}

void Staging::Delete(std::string_view key) {
  (in_snapshot_ ? open_ : ended_).Set(key, std::nullopt);
}

std::shared_ptr<const Layer> Staging::Seal() {
  TIDEMARK_CHECK(in_flight_ == nullptr);
  auto sealed = std::make_shared<Layer>();
  sealed->ReserveLike(ended_);
  std::swap(*sealed, ended_);
  // Of what was remembered, the batch may have changed some.
  Forget(row_cache_is_newest_);
  return in_flight_ = std::move(sealed);
}

void Staging::Landed() {
  in_flight_.reset();
  row_cache_is_newest_ = true;
}

void Staging::Forget(bool row_cache_is_newest) {
  row_cache_is_newest_ = row_cache_is_newest;
  remembered_.clear();
  remembered_bytes_ = 0;
}

}  // namespace tidemark::state::engine
