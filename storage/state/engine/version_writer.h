// How a new version of a row becomes entries of C, H, L and Q.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_VERSION_WRITER_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_VERSION_WRITER_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/state/engine/layout/table_set.h"
#include "storage/state/engine/staging.h"
#include "storage/state/state_writer.h"

namespace tidemark::state::engine {

// The rules, for the snapshot with id n being written:
//   - A version whose visible part differs from what readers saw before n gets id n; the version it
//     replaces goes to H, and L says what changed (the net effect: a key touched twice has one).
//   - Nothing visible changed: the newest version is rewritten in place. A key touched before in
//     this snapshot gets its old version back from H, and L and Q forget it.
//   - A version no reader ever saw (hidden or a tombstone, nothing before it) carries the last
//     allocated id as its id and birth: no id above the published one is ever stored outside an
//     open transaction. It needs neither H nor L, and a tombstone among them is forgotten unless
//     it is to be remembered.
//   - Every tombstone waits in Q under n, and says so.
// Not thread-safe.
class VersionWriter {
 public:
  explicit VersionWriter(Staging& staging) : staging_(staging) {}

  // Starts counting the visible changes of snapshot `id`.
  void BeginSnapshot(SnapshotId id);
  // Keys (and truncates) that readers see changed, so far.
  uint64_t changes() const { return changes_; }

  struct Row {
    RowKind kind = RowKind::kTombstone;
    std::string_view meta;
    std::string_view row;
    bool remember = false;
  };
  absl::Status Put(const Storage& storage, std::string_view key, const Row& row);
  // Into a storage id that no reader can read below this snapshot: no history is kept.
  absl::Status PutInPlace(const Storage& storage, std::string_view key, const Row& row);
  void Truncate(TableId table);

  // The newest version; its views point into `*bytes`. False when the key is unknown.
  absl::StatusOr<bool> Current(const Storage& storage, std::string_view key, std::string* bytes,
                               VersionView* version);

 private:
  // One key being put.
  struct Target {
    const Storage& storage;
    std::string_view key;
    std::string current_key;
  };
  // The version before this snapshot, when the key was already changed in it.
  absl::Status Before(const Target& target, SnapshotId prev, std::optional<std::string>* bytes,
                      VersionView* version);
  void PutFirstChange(const Target& target, const Row& row, const VersionView* before,
                      std::string before_bytes);
  void PutAnotherChange(const Target& target, const Row& row, const VersionView* before,
                        const VersionView& current);
  void TakeBack(const Target& target, const Row& row, const VersionView* before);
  void PutUnseen(const Target& target, const Row& row, const VersionView* before);
  void SetCurrent(const Target& target, const Row& row, SnapshotId id, SnapshotId prev,
                  SnapshotId birth);

  Staging& staging_;
  SnapshotId id_ = kNoSnapshot;
  uint64_t changes_ = 0;
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_VERSION_WRITER_H_
