// One layer of what the writer has staged: LevelDB keys with their new values.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_DISK_LAYER_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_DISK_LAYER_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "common/strings.h"

namespace tidemark::state::engine {

// Bytes kept until all are dropped, without an allocation for each piece. Not thread-safe.
class KeyArena {
 public:
  std::string_view Add(std::string_view key);
  void Clear();

 private:
  std::unique_ptr<char[]> first_;  // a block that is kept for what comes after Clear
  std::vector<std::unique_ptr<char[]>> more_;
  char* at_ = nullptr;
  size_t room_ = 0;  // bytes from at_ on
};

// Not thread-safe; while nobody changes it, several threads may look up and walk entries().
//
// Looked up for every row that is written and dropped once a batch: entries lie one behind the
// other in the order in which their keys came, with an index over them. They are put in key order
// when somebody asks, and kept so from then on.
class Layer {
 public:
  // nullopt deletes.
  using Entry = std::pair<const std::string_view, std::optional<std::string>>;
  struct ByKey {
    using is_transparent = void;
    bool operator()(const Entry* a, const Entry* b) const { return a->first < b->first; }
    bool operator()(const Entry* a, std::string_view b) const { return a->first < b; }
    bool operator()(std::string_view a, const Entry* b) const { return a < b->first; }
  };
  using Ordered = absl::btree_set<const Entry*, ByKey>;

  Layer() = default;
  // What was moved from is cleared before it is used again.
  Layer(Layer&&) = default;
  Layer& operator=(Layer&&) = default;

  void Set(std::string_view key, std::optional<std::string> value);
  // The staged value, or nullptr when the key is not staged.
  const std::optional<std::string>* Find(std::string_view key) const;
  // Takes over everything of `other`, which wins.
  void Absorb(Layer* other);
  void Clear();
  // Expects about as many entries as `other` has.
  void ReserveLike(const Layer& other);

  // In the order in which their keys were first set; for one batch the same every time.
  const std::deque<Entry>& entries() const { return entries_; }
  // All entries by key; valid until the layer changes. Not to be called by two threads at a time.
  const Ordered& ordered() const;
  bool empty() const { return entries_.empty(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const {
      return absl::Hash<absl::string_view>()(ToAbsl(key));
    }
    size_t operator()(const Entry* entry) const { return (*this)(entry->first); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Entry* a, const Entry* b) const { return a->first == b->first; }
    bool operator()(const Entry* a, std::string_view b) const { return a->first == b; }
    bool operator()(std::string_view a, const Entry* b) const { return a == b->first; }
  };

  KeyArena keys_;
  std::deque<Entry> entries_;
  absl::flat_hash_set<Entry*, Hash, Equal> index_;
  size_t bytes_ = 0;
  // Once somebody has asked: all of entries_.
  mutable std::optional<Ordered> ordered_;
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_DISK_LAYER_H_
