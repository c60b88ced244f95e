// What applying an event to one group needs at hand.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_GROUP_CONTEXT_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_GROUP_CONTEXT_H_

#include <string_view>

#include "absl/time/time.h"
#include "storage/state/state_writer.h"
#include "storage/tables/merging/bound_relation.h"
#include "storage/tables/merging/contribution.h"
#include "storage/tables/merging/row_draft.h"
#include "storage/tables/row_event.h"

namespace tidemark::tables {

struct GroupContext {
  state::StateWriter& writer;
  const BoundGroup& group;
  const EventOrigin& origin;
  absl::Time event_time = absl::InfinitePast();
  // EncodeOrder of the group's last truncate; events below it lose. Empty for none.
  std::string_view truncation;
  // Scratch, for the row an event is about and, on a key change, the row it leaves.
  RowDraft& row;
  RowDraft& left_row;

  bool IsTruncated(const EventOrder& order) const {
    return !truncation.empty() && group.definition->sequence.empty() &&
           EncodeOrder(order) < truncation;
  }
  // Whether a deleted row's order must be remembered, because late events can come.
  bool MustRemember() const { return !origin.ordered || !group.definition->sequence.empty(); }
  // Notes in a group's state which event changed it.
  void Stamp(const EventOrder& order, GroupState* state) const {
    state->generation = order.generation;
    state->sequence = order.sequence;
    state->position = origin.position;
    state->event_time = event_time;
  }
};

// Why a whole relation's rows are taken out.
struct TakeOutLimit {
  // Rows of an older order go: the truncate's, or the copy's generation with no sequence.
  EventOrder order;
  // A truncate: its order is kept for the whole group, so no row has to remember it. Rows with a
  // sequence of their own cannot be compared with it: all of them go and remember their own.
  bool truncate = false;

  bool Covers(const GroupDefinition& group, const EventOrder& stored) const {
    return (truncate && !group.sequence.empty()) || CompareOrder(stored, order) < 0;
  }
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_GROUP_CONTEXT_H_
