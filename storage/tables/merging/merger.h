// Merging: turns events of relations into versions of table rows (4-state.md, "Tables and
// merging").
//
// Exact under update, delete, key change, foreign-key change and redelivery: what a source row put
// into an aggregate is known (its contribution) and taken out before the new one goes in. Applying
// an event touches a number of keys that does not depend on the size of its group.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_MERGER_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_MERGER_H_

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/state/state_writer.h"
#include "storage/tables/catalog.h"
#include "storage/tables/row_event.h"

namespace tidemark::tables {

struct BoundGroup;
struct BoundRelation;
struct GroupContext;
struct GroupHeader;
struct TakeOutLimit;

// Not thread-safe: used by the writer's thread, inside a snapshot of `writer`.
class Merger {
 public:
  // All outlive the merger. `stopping` is asked now and then in what takes long; nullptr: never.
  Merger(const Catalog& catalog, state::StateWriter& writer,
         const std::atomic<bool>* stopping = nullptr);
  ~Merger();

  // Whether every table that `schema` feeds can take it: columns exist, types fit
  // (docs/types.md), keys are in the old images where deletes need them. FIELD_INVALID with
  // relation, column, both types and what to do. Thread-safe, touches no state: a source asks it
  // before it starts a copy and when a relation changes in mid-stream.
  static absl::Status CheckSchema(const Catalog& catalog, const RelationSchema& schema);

  // Applies one event to every table its relation feeds; events of relations that feed none are
  // ignored. kUnchanged columns keep the stored value (on a key change, that of the old key).
  // FIELD_INVALID / EVENT_MALFORMED / VALUE_TOO_LARGE when the event cannot be applied, with
  // source, relation, table and what to do. SHUTTING_DOWN when it stopped in the middle of a
  // truncate, or of what a copy with other bindings replaces. Other errors are the writer's. After
  // any error the caller abandons the snapshot before it calls again.
  absl::Status Apply(const RowEvent& event, const EventOrigin& origin);

  // Ends a copy: takes out rows and contributions of `relation` whose generation is below
  // `origin.generation`, at most `max_rows` stored entries looked at per call; `cursor` starts
  // empty and carries the place. Returns true when done. May be called in several snapshots.
  absl::StatusOr<bool> Sweep(const RelationRef& relation, const EventOrigin& origin,
                             size_t max_rows, std::string* cursor);

 private:
  struct State;

  absl::StatusOr<const BoundRelation*> Bind(const std::shared_ptr<const RelationSchema>& schema,
                                            const EventOrigin& origin);
  // Whether rows are stored under what names and orders the relation's rows now.
  absl::Status CheckBindings(const BoundGroup& group, const EventOrigin& origin);
  // Whether anything is stored that the group's bindings named or ordered.
  absl::StatusOr<bool> HasStoredOrders(const BoundGroup& group);
  absl::Status TakeOutOlder(const BoundGroup& bound, std::vector<Kind> order_types,
                            const EventOrigin& origin);
  absl::StatusOr<GroupHeader*> Header(state::TableId table, size_t group);
  absl::Status PutHeader(state::TableId table, size_t group, const GroupHeader& header);
  absl::Status ApplyToGroups(const RowEvent& event, const EventOrigin& origin);
  absl::Status Truncate(const GroupContext& context, const RowEvent& event);
  // Takes out what the limit covers among at most `max_rows` entries from `*place` on; true at the
  // end.
  absl::StatusOr<bool> TakeOutSome(const GroupContext& context, const TakeOutLimit& limit,
                                   size_t max_rows, std::string* place);
  absl::Status TakeOutAll(const GroupContext& context, const TakeOutLimit& limit);
  absl::StatusOr<bool> SweepSome(const RelationRef& relation, const EventOrigin& origin,
                                 size_t max_rows, std::string* cursor);
  // After a failure: drops what was remembered of the snapshot that is abandoned now.
  void Forget();

  const Catalog& catalog_;
  state::StateWriter& writer_;
  const std::atomic<bool>* const stopping_;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_MERGER_H_
