// The newest snapshots' changes, read and encoded once for all watches that follow the head.
//
// A watch that is further behind, or whose snapshot is too large to be held here, reads the store
// itself (change_reader.h); the window only saves the same work from being done by each.
#ifndef TIDEMARK_SERVER_SERVICES_CHANGE_WINDOW_H_
#define TIDEMARK_SERVER_SERVICES_CHANGE_WINDOW_H_

#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "storage/state/state_reader.h"
#include "storage/tables/catalog.h"

namespace tidemark::services {

// The changes of one snapshot to the tables that are watched. Immutable once it is in the window.
struct SnapshotChanges {
  struct Record {
    state::TableId table = 0;
    state::ChangeOp op = state::ChangeOp::kInsert;
    std::string key;
    std::string wire;  // fields of a Change but `before`
  };
  state::SnapshotId id = state::kNoSnapshot;
  // False: too large, or could not be read; `records` is empty then.
  bool complete = true;
  std::shared_ptr<const std::set<state::TableId>> tables;  // whose changes `records` holds
  std::vector<Record> records;  // in order of table and key, a truncate first
  std::vector<state::TableId> degraded;
  std::string stamp;           // wire bytes
  std::string degraded_stamp;  // the same with `degraded` set

  // Whether a watch of these tables finds all that it needs here.
  bool Covers(std::span<const tables::Table* const> tables) const;
  std::string_view StampFor(std::span<const tables::Table* const> tables) const;
};

struct ChangeWindowOptions {
  size_t max_snapshot_bytes = 1 << 20;  // a larger snapshot is not held
  size_t max_bytes = 16 << 20;          // of all; the oldest snapshots leave first
};

// Thread-safe; Advance by one thread at a time.
class ChangeWindow {
 public:
  ChangeWindow(const state::StateReader& reader, const tables::Catalog& catalog,
               ChangeWindowOptions options)
      : reader_(reader), catalog_(catalog), options_(options) {}

  // Whose changes are held from the next snapshot on.
  void SetTables(std::set<state::TableId> tables) TIDEMARK_EXCLUDES(mutex_);
  // Forgets everything; the window then begins after `head`.
  void SkipTo(state::SnapshotId head) TIDEMARK_EXCLUDES(mutex_);
  // Reads the snapshots up to the publication's.
  void Advance(const state::PublicationPtr& publication) TIDEMARK_EXCLUDES(mutex_);

  state::SnapshotId head() const TIDEMARK_EXCLUDES(mutex_);
  // Null when the window does not reach back that far, or not up to it yet.
  std::shared_ptr<const SnapshotChanges> Find(state::SnapshotId id) const TIDEMARK_EXCLUDES(mutex_);

 private:
  using TableSet = std::shared_ptr<const std::set<state::TableId>>;
  using Snapshots = std::vector<std::shared_ptr<const SnapshotChanges>>;
  // Appends the changes of the snapshots after `head` to `out`, one element for each id, until the
  // publication's or the first that is too large.
  absl::Status Read(const state::PublicationPtr& publication, state::SnapshotId head,
                    const TableSet& tables, Snapshots* out) const;
  absl::StatusOr<std::shared_ptr<SnapshotChanges>> Begin(const state::PublicationPtr& publication,
                                                         state::SnapshotId id,
                                                         const TableSet& tables) const;
  void Clear(state::SnapshotId head) TIDEMARK_REQUIRES(mutex_);

  const state::StateReader& reader_;
  const tables::Catalog& catalog_;
  const ChangeWindowOptions options_;

  mutable Mutex mutex_;
  TableSet tables_ TIDEMARK_GUARDED_BY(mutex_) = std::make_shared<std::set<state::TableId>>();
  state::SnapshotId head_ TIDEMARK_GUARDED_BY(mutex_) = state::kNoSnapshot;
  size_t bytes_ TIDEMARK_GUARDED_BY(mutex_) = 0;
  std::deque<std::shared_ptr<const SnapshotChanges>> snapshots_ TIDEMARK_GUARDED_BY(mutex_);
};

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_CHANGE_WINDOW_H_
