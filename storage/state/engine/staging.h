// What the writer has put but not written yet, over what LevelDB holds.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_STAGING_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_STAGING_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/state/engine/disk/database.h"
#include "storage/state/engine/disk/layer.h"
#include "storage/state/engine/row_cache.h"

namespace tidemark::state::engine {

// Three layers: `open` is the snapshot being written, `ended` the batch so far, `in flight` the
// batch before, while it is being written. Not thread-safe; the one in flight is read by who writes
// it too.
class Staging {
 public:
  Staging(const Database& database, RowCache& row_cache)
      : database_(database), row_cache_(row_cache) {}

  // --- Reading through: open, ended, in flight, then LevelDB.

  // nullopt: absent.
  absl::StatusOr<std::optional<std::string>> Get(std::string_view key);
  // The same for a key of prefix C; remembers what was found until the next write, since the writer
  // asks for a row before it changes it.
  absl::StatusOr<std::optional<std::string>> GetCurrent(std::string_view current_key);
  // Nothing is in flight. Entries whose LevelDB key starts with `prefix`, in key order from the
  // first key >= `from`, or backwards from the last key <= `from` (empty: from the prefix's start
  // or end), until `visit` returns false. Where LevelDB does not hold `fence`
  // (StateWriter::VisitAux; empty: there is none), it holds nothing of the prefix and is not
  // walked.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;
  absl::Status Visit(std::string_view prefix, std::string_view from, bool reverse,
                     const Visitor& visit, std::string_view fence = {}) const;

  // --- Writing: into `open` while a snapshot is, else into `ended`.

  void BeginSnapshot() { in_snapshot_ = true; }
  void EndSnapshot();      // `open` becomes part of `ended`
  void AbandonSnapshot();  // `open` is dropped
  void Put(std::string_view key, std::string value);
  void Delete(std::string_view key);

  // --- For writing to LevelDB.

  const Layer& ended() const { return ended_; }
  const Layer& open() const { return open_; }
  // `ended` is in flight from now on, and empty. Nothing was.
  std::shared_ptr<const Layer> Seal();
  // What was in flight is in LevelDB, and in the row cache as the newest.
  void Landed();
  void ClearOpen() { open_.Clear(); }
  // LevelDB has changed. `row_cache_is_newest`: what the row cache holds is what LevelDB does,
  // which is so unless chunks of an unpublished snapshot were written.
  void Forget(bool row_cache_is_newest);

 private:
  // nullptr when it is in no layer.
  const std::optional<std::string>* Staged(std::string_view key) const;
  void Remember(std::string_view key, const std::optional<std::string>& value);

  const Database& database_;
  RowCache& row_cache_;
  bool row_cache_is_newest_ = true;
  bool in_snapshot_ = false;
  std::shared_ptr<const Layer> in_flight_;  // nullptr: nothing
  Layer ended_;
  Layer open_;
  absl::flat_hash_map<std::string, std::optional<std::string>> remembered_;
  size_t remembered_bytes_ = 0;
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_STAGING_H_
