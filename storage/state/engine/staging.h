// What the writer has put but not written yet, over what LevelDB holds.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_STAGING_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_STAGING_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/state/engine/disk/database.h"
#include "storage/state/engine/row_cache.h"

namespace tidemark::state::engine {

// LevelDB keys with their new values; nullopt deletes. Not thread-safe.
//
// Looked up for every row that is written, walked once a batch: a hash table, whose entries are put
// in order when somebody asks and kept so from then on.
class Layer {
 public:
  using Entry = std::pair<const std::string, std::optional<std::string>>;
  struct ByKey {
    using is_transparent = void;
    bool operator()(const Entry* a, const Entry* b) const { return a->first < b->first; }
    bool operator()(const Entry* a, std::string_view b) const { return a->first < b; }
    bool operator()(std::string_view a, const Entry* b) const { return a < b->first; }
  };
  using Ordered = absl::btree_set<const Entry*, ByKey>;

  void Set(std::string key, std::optional<std::string> value);
  // The staged value, or nullptr when the key is not staged.
  const std::optional<std::string>* Find(std::string_view key) const;
  // Takes over everything of `other`, which wins.
  void Absorb(Layer* other);
  void Clear();

  // All entries by key; valid until the layer changes.
  const Ordered& ordered() const;
  bool empty() const { return entries_.empty(); }
  size_t bytes() const { return bytes_; }

 private:
  absl::node_hash_map<std::string, std::optional<std::string>> entries_;
  size_t bytes_ = 0;
  // Once somebody has asked: all of entries_.
  mutable std::optional<Ordered> ordered_;
};

// Two layers: `ended` is the batch so far, `open` the snapshot being written. Not thread-safe.
class Staging {
 public:
  Staging(const Database& database, RowCache& row_cache)
      : database_(database), row_cache_(row_cache) {}

  // --- Reading through: open, then ended, then LevelDB.

  // nullopt: absent.
  absl::StatusOr<std::optional<std::string>> Get(std::string_view key);
  // The same for a key of prefix C; remembers what was found until the next write, since the writer
  // asks for a row before it changes it.
  absl::StatusOr<std::optional<std::string>> GetCurrent(std::string_view current_key);
  // Entries whose LevelDB key starts with `prefix`, in key order from the first key >= `from`, or
  // backwards from the last key <= `from` (empty: from the prefix's start or end), until `visit`
  // returns false. Where LevelDB does not hold `fence` (StateWriter::VisitAux; empty: there is
  // none), it holds nothing of the prefix and is not walked.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;
  absl::Status Visit(std::string_view prefix, std::string_view from, bool reverse,
                     const Visitor& visit, std::string_view fence = {}) const;

  // --- Writing: into `open` while a snapshot is, else into `ended`.

  void BeginSnapshot() { in_snapshot_ = true; }
  void EndSnapshot();      // `open` becomes part of `ended`
  void AbandonSnapshot();  // `open` is dropped
  void Put(std::string key, std::string value);
  void Delete(std::string key);

  // --- For writing to LevelDB.

  const Layer& ended() const { return ended_; }
  const Layer& open() const { return open_; }
  void ClearEnded() { ended_.Clear(); }
  void ClearOpen() { open_.Clear(); }
  // LevelDB has changed. `row_cache_is_newest`: what the row cache holds is what LevelDB does,
  // which is so unless chunks of an unpublished snapshot were written.
  void Forget(bool row_cache_is_newest);

 private:
  const Database& database_;
  RowCache& row_cache_;
  bool row_cache_is_newest_ = true;
  bool in_snapshot_ = false;
  Layer ended_;
  Layer open_;
  void Remember(std::string_view key, const std::optional<std::string>& value);

  absl::flat_hash_map<std::string, std::optional<std::string>> remembered_;
  size_t remembered_bytes_ = 0;
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_STAGING_H_
