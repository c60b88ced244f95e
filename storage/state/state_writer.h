// Writing the state table: one thread, one source transaction after the other, many per batch.
//
// Example (the applier):
//   writer.BeginSnapshot();
//   ... writer.Current / Put / PutAux for every event, and the source's new position ...
//   writer.EndSnapshot({.source = "erp", .position = lsn});
//   ... more snapshots while work is waiting ...
//   writer.Commit({.sources = marks, .degraded = tables});   // durable and published
//
// What readers see is atomic per Commit; what a crash leaves is the state after some Commit.
#ifndef TIDEMARK_STORAGE_STATE_STATE_WRITER_H_
#define TIDEMARK_STORAGE_STATE_STATE_WRITER_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/state/types.h"

namespace tidemark::state {

// Key spaces beside the rows whose contents belong to other rooms. The byte is the LevelDB prefix:
// on disk, never renumber.
enum class AuxSpace : char {
  kSourceState = 'P',          // source \0 partition or relation -> durable state of a source
  kContribution = 'K',         // table, group, source row key -> what that row put in
  kOrderedContribution = 'V',  // table, group, group key, ordered value, source row key
  kWindow = 'E',               // due time, table, group, source row key
  kDeadLetter = 'D',           // id -> dead letter or queued event
};

struct TableRecord {
  TableId id = 0;
  std::string definition;           // opaque; what the table's owner wrote
  bool loading = false;             // the first copy is not complete
  std::string truncation_sequence;  // of the last truncate; empty for none
};

struct SnapshotOrigin {
  std::string source;
  std::string position;                          // of the transaction; compares like memcmp
  absl::Time event_time = absl::InfinitePast();  // InfinitePast = unknown
};

struct CommitInfo {
  std::vector<SourceMark> sources;  // every source, sorted by name
  std::vector<TableId> degraded;    // sorted
};

// How a row is written.
struct PutOptions {
  // Only in a loading table: the caller knows the key was not written before, so no old version is
  // looked up.
  bool known_new = false;
  // For a tombstone of a key readers do not see: keep it all the same, since `meta` remembers
  // sequences that late events must lose against. Otherwise the key is forgotten.
  bool remember = false;
};

// Not thread-safe: one writer thread. Every method but the getters fails with STORE_READ_ONLY once
// a write failed; nothing of an unfinished batch is then visible or durable.
class StateWriter {
 public:
  virtual ~StateWriter() = default;

  // --- Tables. Durable with the next Commit; allowed outside a snapshot only.
  virtual std::vector<TableRecord> Tables() const = 0;
  // What is known about one table, with everything written so far; nullptr when there is none.
  // Costs one look-up in memory. Valid until the next call that changes tables or takes changes
  // back.
  virtual const TableRecord* FindTable(TableId table) const = 0;
  // A new table, loading: its rows are written without history and are not readable until
  // FinishLoading. Returns its id.
  virtual absl::StatusOr<TableId> CreateTable(std::string_view definition) = 0;
  virtual absl::Status SetDefinition(TableId table, std::string_view definition) = 0;
  // Inside a snapshot: this snapshot is the table's first.
  virtual absl::Status FinishLoading(TableId table) = 0;

  // From the next Commit on the store goes on as a new incarnation. Tokens of what is published now
  // stay valid; those that name a later snapshot under the incarnation so far become
  // STORE_MISMATCH. For whoever finds this state older than what was once acknowledged (the
  // directory was put back from a copy): tokens may be about whose snapshots are lost here, and
  // their ids are about to mean others. Not inside a snapshot.
  virtual absl::Status StartIncarnation() = 0;

  // --- One snapshot.
  virtual absl::Status BeginSnapshot() = 0;
  // The newest version with everything written so far, hidden rows and tombstones too; nullopt when
  // the key is unknown.
  virtual absl::StatusOr<std::optional<Version>> Current(TableId table, std::string_view key) = 0;
  // Makes `kind`, `meta`, `row` the newest version of the key. When nothing a reader sees changes
  // (same visibility, same row bytes), no version and no changelog entry is made and `meta` is
  // replaced in place.
  virtual absl::Status Put(TableId table, std::string_view key, RowKind kind, std::string_view meta,
                           std::string_view row, const PutOptions& options = {}) = 0;
  // Empties the table in O(1) and keeps `truncation_sequence`. Rows put later in the same snapshot
  // belong to the new contents. A loading table is emptied in place.
  virtual absl::Status Truncate(TableId table, std::string_view truncation_sequence) = 0;

  virtual absl::StatusOr<std::optional<std::string>> GetAux(AuxSpace space,
                                                            std::string_view key) = 0;
  // `tombstone`: the entry only remembers a sequence that late events must lose against; it leaves
  // by itself once its horizon has passed (4-state.md, prefix Q). kContribution only.
  virtual absl::Status PutAux(AuxSpace space, std::string_view key, std::string_view value,
                              bool tombstone = false) = 0;
  virtual absl::Status DeleteAux(AuxSpace space, std::string_view key) = 0;
  // Calls `visit` for entries that start with `prefix`, until it returns false: in key order from
  // the first key >= `from`, or, when `reverse`, backwards from the last key <= `from`. An empty
  // `from` means the prefix's start, or its end when `reverse`. `visit` must not write.
  //
  // A `fence` bounds what the walk can cost: a store may step over any number of entries that were
  // deleted behind the last one of the prefix. It is a key under the prefix, at the end the walk
  // goes to, which the caller puts before the first other entry of the prefix and deletes after the
  // last. It is visited like every entry.
  using AuxVisitor = std::function<bool(std::string_view key, std::string_view value)>;
  virtual absl::Status VisitAux(AuxSpace space, std::string_view prefix, std::string_view from,
                                bool reverse, const AuxVisitor& visit,
                                std::string_view fence = {}) = 0;
  // Calls `visit` for current versions of the table (hidden rows and tombstones too) in key order
  // from `from` on, until it returns false. `visit` must not write.
  using RowVisitor = std::function<bool(std::string_view key, const Version& version)>;
  virtual absl::Status VisitRows(TableId table, std::string_view from, const RowVisitor& visit) = 0;

  // Returns the snapshot's id, or nullopt when its net effect on what readers see is nothing (the
  // rest of what was written stays, and the id is used by the next one).
  virtual absl::StatusOr<std::optional<SnapshotId>> EndSnapshot(const SnapshotOrigin& origin) = 0;
  // Takes back everything since BeginSnapshot, chunks already written too.
  virtual absl::Status AbandonSnapshot() = 0;

  // --- The batch.
  // Bytes staged since the last Commit: the applier ends the batch when it passes its bound.
  virtual size_t staged_bytes() const = 0;
  // Writes and syncs everything ended since the last Commit, and publishes. Auxiliary entries put
  // outside a snapshot are part of it. With nothing staged it only renews the publication's
  // marks and degraded set. Not inside a snapshot.
  virtual absl::Status Commit(const CommitInfo& info) = 0;

  // Commit in two steps, so that the next batch can be made while this one is written. What follows
  // StartCommit belongs to the next batch and sees everything before it; when the one being written
  // fails, the next fails too. Starting another waits for the one before. A store that does not
  // know better writes at once.
  virtual absl::Status StartCommit(const CommitInfo& info) { return Commit(info); }
  // Whether FinishCommit would have to wait.
  virtual bool IsCommitting() const { return false; }
  // Waits for the batch of the last StartCommit, which was OK: what Commit returns.
  virtual absl::Status FinishCommit() { return absl::OkStatus(); }

  // Not OK once a write failed: the reason.
  virtual absl::Status Health() const = 0;
};

}  // namespace tidemark::state

#endif  // TIDEMARK_STORAGE_STATE_STATE_WRITER_H_
