// The rule "a read at s" of one key, below the row cache.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_VERSION_READER_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_VERSION_READER_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/state/engine/layout/table_set.h"
#include "storage/state/engine/publication.h"
#include "storage/state/engine/striped.h"

namespace tidemark::state::engine {

// A version, with the bytes its views point into.
struct FoundVersion {
  std::shared_ptr<const std::string> bytes;  // nullptr: the key is unknown at that snapshot
  VersionView version;
  bool newest = false;  // read from prefix C
};

// Use within a call; the publication outlives it.
class VersionReader {
 public:
  // Counts seeks in `seeks`.
  VersionReader(const LevelDbPublication& publication, StripedCounter* seeks)
      : publication_(publication), seeks_(seeks) {}

  // The version of `key` that readers of `at` see, tombstones and hidden rows too. `current_key` is
  // the key of prefix C.
  absl::Status Find(const Storage& storage, std::string_view current_key, std::string_view key,
                    SnapshotId at, FoundVersion* found);
  // The same for a value of prefix C already read.
  absl::Status FindFrom(const Storage& storage, std::string_view key, SnapshotId at,
                        std::string current, FoundVersion* found);

 private:
  absl::Status GetHistory(const Storage& storage, std::string_view key, SnapshotId id,
                          FoundVersion* found);
  absl::Status SeekHistory(const Storage& storage, std::string_view key, SnapshotId at,
                           FoundVersion* found);

  const LevelDbPublication& publication_;
  StripedCounter* const seeks_;
  std::unique_ptr<leveldb::Iterator> history_;  // made when first needed
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_VERSION_READER_H_
