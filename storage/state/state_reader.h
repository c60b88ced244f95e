// Reading the state table. Start here.
//
// A call takes the newest Publication once, turns the caller's requirement into a ReadPoint, and
// reads everything through it: all rows of a call are from one snapshot (S1, S2).
//
// Example:
//   PublicationPtr now = reader.Latest();
//   StoredRow row;
//   TIDEMARK_RETURN_IF_ERROR(reader.Get(LatestPoint(now), table, key, &row));
//   if (row.found()) Answer(row.bytes(), row.version(), now->stamp(now->IsDegraded(table)));
#ifndef TIDEMARK_STORAGE_STATE_STATE_READER_H_
#define TIDEMARK_STORAGE_STATE_STATE_READER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/state/token.h"
#include "storage/state/types.h"

namespace tidemark::state {

// Everything a reader needs to know of the newest snapshot, published as one pointer by the writer
// after its batch is durable. Immutable. Holding one keeps what it can read from being compacted
// away, so hold it for one call or one stream fragment, not for ever.
class Publication {
 public:
  virtual ~Publication() = default;

  virtual const SnapshotInfo& info() const = 0;
  SnapshotId id() const { return info().id; }
  // Snapshots below it are readable only while pinned.
  virtual SnapshotId floor() const = 0;
  // The answer's stamp as the store's StampEncoder wrote it, once per publication.
  virtual const std::string& stamp(bool degraded) const = 0;
  bool IsDegraded(TableId table) const;
};
using PublicationPtr = std::shared_ptr<const Publication>;

// One snapshot, and the publication it is read through. Copyable; made by LatestPoint or
// StateReader::PointAt only, which checked that the snapshot may be read.
struct ReadPoint {
  PublicationPtr publication;
  SnapshotId id = kNoSnapshot;
};
inline ReadPoint LatestPoint(PublicationPtr publication) {
  const SnapshotId id = publication->id();
  return {std::move(publication), id};
}

// The answer of a point read. The bytes are shared with the row cache or owned; they stay valid as
// long as this object or a copy of `owner()` does.
class StoredRow {
 public:
  bool found() const { return found_; }
  // Id of the snapshot that last changed the row; 0 when absent.
  SnapshotId version() const { return version_; }
  // Wire bytes of the Row; empty when absent.
  std::string_view bytes() const { return bytes_; }
  // State of the row's groups, as the writer gave it (for ExplainRow). Changes in place: a read at
  // an older snapshot, or through an older publication, may show a newer one than was current then.
  std::string_view meta() const { return meta_; }
  std::shared_ptr<const void> owner() const { return owner_; }

  void SetAbsent() { *this = StoredRow(); }
  void SetFound(SnapshotId version, std::string_view bytes, std::string_view meta,
                std::shared_ptr<const void> owner) {
    found_ = true;
    version_ = version;
    bytes_ = bytes;
    meta_ = meta;
    owner_ = std::move(owner);
  }

 private:
  bool found_ = false;
  SnapshotId version_ = kNoSnapshot;
  std::string_view bytes_;
  std::string_view meta_;
  std::shared_ptr<const void> owner_;
};

// Rows of one table at one snapshot in key order. Not thread-safe; use and drop within a call.
class RowCursor {
 public:
  virtual ~RowCursor() = default;
  // False at the end and after an error: check status() then.
  virtual bool Valid() const = 0;
  virtual void Next() = 0;
  virtual std::string_view key() const = 0;
  virtual const StoredRow& row() const = 0;
  virtual absl::Status status() const = 0;
};

// The changelog in order of snapshot, then table, then key; a TRUNCATE comes first in its snapshot.
// Entries that a truncate of the same snapshot made void are left out.
class ChangeCursor {
 public:
  virtual ~ChangeCursor() = default;
  virtual bool Valid() const = 0;
  virtual void Next() = 0;
  virtual const Change& change() const = 0;
  virtual absl::Status status() const = 0;
};

// A range of keys: those that start with `prefix` and are greater than `after` (when it is not
// empty; a full key, from a page token).
struct KeyRange {
  std::string prefix;
  std::string after;
};

// Thread-safe: any number of threads may read beside the one writer and take no lock it holds.
//
// Errors of every read besides those named: TABLE_LOADING while the table's first copy is not
// complete; SNAPSHOT_EXPIRED for a snapshot older than the table; TABLE_NOT_FOUND for an id that
// was never created; DATA_DAMAGED when stored bytes do not decode.
class StateReader {
 public:
  virtual ~StateReader() = default;

  virtual PublicationPtr Latest() const = 0;

  // Called on a thread of the writer after each publication, in order; must be quick. The returned
  // handle removes the listener when destroyed (and waits for a call in progress).
  using Listener = std::function<void(const PublicationPtr&)>;
  virtual std::shared_ptr<void> AddListener(Listener listener) = 0;

  // SNAPSHOT_EXPIRED below the floor when no pin covers it (metadata: oldest), SNAPSHOT_IN_FUTURE
  // above the publication's id.
  virtual absl::StatusOr<ReadPoint> PointAt(PublicationPtr publication, SnapshotId id) const = 0;

  virtual absl::Status Get(const ReadPoint& point, TableId table, std::string_view key,
                           StoredRow* row) const = 0;
  virtual absl::StatusOr<std::unique_ptr<RowCursor>> Scan(const ReadPoint& point, TableId table,
                                                          const KeyRange& range) const = 0;

  // Entries of snapshots in (after, publication id]. SNAPSHOT_EXPIRED when `after` is below the
  // floor.
  virtual absl::StatusOr<std::unique_ptr<ChangeCursor>> Changes(const PublicationPtr& publication,
                                                                SnapshotId after) const = 0;

  virtual absl::StatusOr<SnapshotInfo> Describe(const ReadPoint& point) const = 0;

  // The newest snapshot committed at or before `time`; SNAPSHOT_EXPIRED when that lies below the
  // floor.
  virtual absl::StatusOr<ReadPoint> NewestAt(PublicationPtr publication, absl::Time time) const = 0;

  // The newest snapshot that holds nothing of `source` at or after `position`. The caller made
  // sure the source is past it, before it took the publication. SNAPSHOT_EXPIRED when that lies
  // below the floor.
  virtual absl::StatusOr<ReadPoint> NewestBefore(PublicationPtr publication,
                                                 std::string_view source,
                                                 std::string_view position) const = 0;

  // Token of a snapshot of this store.
  virtual std::string TokenOf(SnapshotId id) const = 0;
  // TOKEN_MALFORMED; STORE_MISMATCH for a token of another store, or of this one's ancestor past
  // the point where it was restored.
  virtual absl::StatusOr<SnapshotId> ResolveToken(std::string_view token) const = 0;
  // The newest one: StateWriter::StartIncarnation.
  virtual Incarnation incarnation() const = 0;
};

}  // namespace tidemark::state

#endif  // TIDEMARK_STORAGE_STATE_STATE_READER_H_
