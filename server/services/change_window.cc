#include "server/services/change_window.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "server/services/change_encoding.h"
#include "server/services/stamp.h"

namespace tidemark::services {
namespace {

size_t BytesOf(const SnapshotChanges& changes) {
  size_t bytes = sizeof(SnapshotChanges) + changes.stamp.size() + changes.degraded_stamp.size();
  for (const SnapshotChanges::Record& record : changes.records) {
    bytes += sizeof(record) + record.key.size() + record.wire.size();
  }
  return bytes;
}

}  // namespace

std::string_view SnapshotChanges::StampFor(std::span<const tables::Table* const> tables) const {
  for (const tables::Table* table : tables) {
    if (std::binary_search(degraded.begin(), degraded.end(), table->id)) return degraded_stamp;
  }
  return stamp;
}

bool SnapshotChanges::Covers(std::span<const tables::Table* const> watched) const {
  return complete && std::all_of(watched.begin(), watched.end(), [&](const tables::Table* table) {
           return tables->count(table->id) > 0;
         });
}

void ChangeWindow::SetTables(std::set<state::TableId> tables) {
  auto shared = std::make_shared<const std::set<state::TableId>>(std::move(tables));
  MutexLock lock(mutex_);
  tables_ = std::move(shared);
}

void ChangeWindow::SkipTo(state::SnapshotId head) {
  MutexLock lock(mutex_);
  Clear(head);
}

void ChangeWindow::Clear(state::SnapshotId head) {
  head_ = head;
  bytes_ = 0;
  snapshots_.clear();
}

state::SnapshotId ChangeWindow::head() const {
  MutexLock lock(mutex_);
  return head_;
}

std::shared_ptr<const SnapshotChanges> ChangeWindow::Find(state::SnapshotId id) const {
  MutexLock lock(mutex_);
  if (snapshots_.empty() || id < snapshots_.front()->id || id > head_) return nullptr;
  return snapshots_[id - snapshots_.front()->id];
}

void ChangeWindow::Advance(const state::PublicationPtr& publication) {
  for (;;) {
    state::SnapshotId from;
    TableSet tables;
    {
      MutexLock lock(mutex_);
      if (head_ >= publication->id()) return;
      from = head_;
      tables = tables_;
    }
    Snapshots read;
    const absl::Status status = Read(publication, from, tables, &read);
    MutexLock lock(mutex_);
    if (head_ != from) continue;  // SkipTo meanwhile
    if (!status.ok()) {
      // What cannot be read here is left out: its watches read the store and get the error.
      Clear(publication->id());
      return;
    }
    for (auto& changes : read) {
      bytes_ += BytesOf(*changes);
      head_ = changes->id;
      snapshots_.push_back(std::move(changes));
    }
    while (bytes_ > options_.max_bytes && snapshots_.size() > 1) {
      bytes_ -= BytesOf(*snapshots_.front());
      snapshots_.pop_front();
    }
  }
}

absl::StatusOr<std::shared_ptr<SnapshotChanges>> ChangeWindow::Begin(
    const state::PublicationPtr& publication, state::SnapshotId id, const TableSet& tables) const {
  auto changes = std::make_shared<SnapshotChanges>();
  changes->id = id;
  changes->tables = tables;
  if (id == publication->id()) {
    changes->degraded = publication->info().degraded;
    changes->stamp = publication->stamp(false);
    changes->degraded_stamp = publication->stamp(true);
    return changes;
  }
  TIDEMARK_ASSIGN_OR_RETURN(const state::ReadPoint point, reader_.PointAt(publication, id));
  TIDEMARK_ASSIGN_OR_RETURN(state::SnapshotInfo info, reader_.Describe(point));
  const std::string token = reader_.TokenOf(id);
  changes->degraded = std::move(info.degraded);
  changes->stamp = EncodeStamp(info, token, false);
  changes->degraded_stamp = EncodeStamp(info, token, true);
  return changes;
}

absl::Status ChangeWindow::Read(const state::PublicationPtr& publication, state::SnapshotId head,
                                const TableSet& tables, Snapshots* out) const {
  TIDEMARK_ASSIGN_OR_RETURN(const std::unique_ptr<state::ChangeCursor> cursor,
                            reader_.Changes(publication, head));
  for (state::SnapshotId id = head + 1; id <= publication->id(); ++id) {
    TIDEMARK_ASSIGN_OR_RETURN(const std::shared_ptr<SnapshotChanges> changes,
                              Begin(publication, id, tables));
    out->push_back(changes);
    size_t bytes = 0;
    for (; cursor->Valid() && cursor->change().snapshot == id; cursor->Next()) {
      const state::Change& change = cursor->change();
      if (tables->count(change.table) > 0) {
        SnapshotChanges::Record record{change.table, change.op, change.key, {}};
        TIDEMARK_RETURN_IF_ERROR(
            AppendChange(reader_, publication, *catalog_.Find(change.table), change, &record.wire));
        bytes += record.key.size() + record.wire.size();
        changes->records.push_back(std::move(record));
      }
      // Changes of other tables are stepped over, which costs time as well.
      bytes += 16;
      if (bytes <= options_.max_snapshot_bytes) continue;
      changes->complete = false;
      changes->records.clear();
      // The rest of it is passed by a new cursor that begins behind it, not stepped over.
      return absl::OkStatus();
    }
    TIDEMARK_RETURN_IF_ERROR(cursor->status());
  }
  return absl::OkStatus();
}

}  // namespace tidemark::services
