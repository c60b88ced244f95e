// Merging: turns events of relations into versions of table rows (4-state.md, "Tables and
// merging").
//
// Exact under update, delete, key change, foreign-key change and redelivery: what a source row put
// into an aggregate is known (its contribution) and taken out before the new one goes in. Applying
// an event touches a number of keys that does not depend on the size of its group.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_MERGER_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_MERGER_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/state/state_writer.h"
#include "storage/tables/catalog.h"
#include "storage/tables/row_event.h"

namespace tidemark::tables {

class BoundRelation;

// Not thread-safe: used by the writer's thread, inside a snapshot of `writer`.
class Merger {
 public:
  // Both outlive the merger.
  Merger(const Catalog& catalog, state::StateWriter& writer);
  ~Merger();

  // Whether every table that `schema` feeds can take it: columns exist, types fit
  // (docs/types.md), keys are in the old images where deletes need them. FIELD_INVALID with
  // relation, column, both types and what to do. Thread-safe, touches no state: a source asks it
  // before it starts a copy and when a relation changes in mid-stream.
  static absl::Status CheckSchema(const Catalog& catalog, const RelationSchema& schema);

  // Applies one event to every table its relation feeds; events of relations that feed none are
  // ignored. kUnchanged columns keep the stored value (on a key change, that of the old key).
  // FIELD_INVALID / EVENT_MALFORMED / VALUE_TOO_LARGE when the event cannot be applied: the caller
  // abandons the snapshot. Other errors are the writer's.
  absl::Status Apply(const RowEvent& event, const EventOrigin& origin);

  // Ends a copy: takes out rows and contributions of `relation` whose generation is below
  // `origin.generation`, at most `max_rows` stored entries looked at per call; `cursor` starts
  // empty and carries the place. Returns true when done. May be called in several snapshots.
  absl::StatusOr<bool> Sweep(const RelationRef& relation, const EventOrigin& origin,
                             size_t max_rows, std::string* cursor);

 private:
  absl::StatusOr<const BoundRelation*> Bind(const std::shared_ptr<const RelationSchema>& schema);

  const Catalog& catalog_;
  state::StateWriter& writer_;
  absl::flat_hash_map<const RelationSchema*, std::unique_ptr<BoundRelation>> bound_;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_MERGER_H_
