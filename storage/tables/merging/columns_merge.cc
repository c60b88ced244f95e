#include "storage/tables/merging/columns_merge.h"

#include <optional>
#include <utility>

#include "common/error.h"
#include "storage/tables/merging/event_values.h"

namespace tidemark::tables {
namespace {

using Presence = GroupState::Presence;

const Datum& NullDatum() {
  static const auto* const kNull = new Datum();
  return *kNull;
}

bool IsKnown(const GroupState& state) {
  return state.presence != Presence::kAbsent || state.generation != 0;
}

// The event against what is stored: <0 loses, 0 is the same event or one of its rank, >0 wins. An
// event whose order is unknown takes the stored one: it came later.
int Rank(const GroupContext& context, const GroupState& state, std::optional<EventOrder>* order) {
  if (!*order) *order = EventOrder{context.origin.generation, state.sequence};
  if (!IsKnown(state)) return 1;
  if ((*order)->generation != state.generation) {
    return (*order)->generation < state.generation ? -1 : 1;
  }
  return (*order)->sequence.compare(state.sequence);
}

// On the first copy into a new table every key comes once: nothing needs to be looked up.
bool IsKnownNew(const GroupContext& context) {
  const BoundGroup& group = context.group;
  if (!context.origin.copy || context.origin.generation != 1 || !group.key_is_identity ||
      !group.table->definition.last_row) {
    return false;
  }
  const state::TableRecord* record = context.writer.FindTable(group.table->id);
  return record != nullptr && record->loading;
}

// `stored`: the row that has the values which were not sent; null when there is none.
absl::Status SetColumns(const GroupContext& context, const RowEvent& event, RowDraft* stored) {
  const BoundGroup& group = context.group;
  RowDraft& row = context.row;
  for (const BoundColumn& column : group.columns) {
    TIDEMARK_ASSIGN_OR_RETURN(const Datum* value, ValueOf(group, column, event.after, event.before,
                                                          row.Scratch(column.table_column)));
    if (!value->is_unchanged()) {
      row.Set(column.table_column, *value);
      continue;
    }
    if (stored == nullptr || !stored->WasPresent(group.index)) {
      return EventError(Reason::kEventMalformed, group,
                        "its column \"" + std::string(column.name) +
                            "\" was not sent because it did not change, but no earlier value is "
                            "known. The relation has to be copied again.");
    }
    TIDEMARK_ASSIGN_OR_RETURN(const auto bytes, stored->StoredValue(column.table_column));
    row.SetBytes(column.table_column, *bytes);
  }
  return absl::OkStatus();
}

// `stored`: as for SetColumns; the row itself when the key did not change.
absl::Status Upsert(const GroupContext& context, const RowEvent& event,
                    std::optional<EventOrder> order, std::string key, RowDraft* stored) {
  RowDraft& row = context.row;
  TIDEMARK_RETURN_IF_ERROR(row.Load(*context.group.table, std::move(key), IsKnownNew(context)));
  GroupState& state = row.group(context.group.index);
  const int rank = Rank(context, state, &order);
  if (rank < 0 || context.IsTruncated(*order)) return absl::OkStatus();
  // The same event again has its values here already, whatever became of the row it left.
  const bool again = rank == 0 && state.presence == Presence::kPresent;
  TIDEMARK_RETURN_IF_ERROR(SetColumns(context, event, again ? &row : stored));
  state.presence = Presence::kPresent;
  state.forgettable = false;
  context.Stamp(*order, &state);
  return row.Save(/*unless_same_row=*/again);
}

// Deletes the group from a loaded row.
absl::Status Delete(const GroupContext& context, std::optional<EventOrder> order, RowDraft* row) {
  const BoundGroup& group = context.group;
  if (group.definition->on_delete == OnDelete::kIgnore) return absl::OkStatus();
  GroupState& state = row->group(group.index);
  const int rank = Rank(context, state, &order);
  if (rank < 0 || context.IsTruncated(*order)) return absl::OkStatus();
  if (state.presence == Presence::kPresent) {
    for (const BoundColumn& column : group.columns) row->Set(column.table_column, NullDatum());
  } else if (rank == 0 || !context.MustRemember()) {
    return absl::OkStatus();
  }
  state.presence = Presence::kDeleted;
  state.forgettable = !context.MustRemember();
  context.Stamp(*order, &state);
  return row->Save();
}

}  // namespace

absl::Status ApplyColumns(const GroupContext& context, const RowEvent& event) {
  const BoundGroup& group = context.group;
  const bool is_delete = event.op == EventOp::kDelete;
  const std::vector<Datum>& image = is_delete ? event.before : event.after;
  TIDEMARK_ASSIGN_OR_RETURN(std::string key, KeyOf(group, group.key, image, event.before));
  TIDEMARK_ASSIGN_OR_RETURN(std::optional<EventOrder> order, OrderOf(group, event, context.origin));
  if (is_delete) {
    TIDEMARK_RETURN_IF_ERROR(context.row.Load(*group.table, std::move(key)));
    return Delete(context, std::move(order), &context.row);
  }
  RowDraft* stored = &context.row;
  if (HasAll(group.key, event.before)) {
    TIDEMARK_ASSIGN_OR_RETURN(std::string old_key, KeyOf(group, group.key, event.before, {}));
    if (old_key != key) {
      RowDraft& left = context.left_row;
      TIDEMARK_RETURN_IF_ERROR(left.Load(*group.table, std::move(old_key)));
      std::optional<EventOrder> left_order = order;
      // A newer row under the old key is not the one that moved.
      stored = Rank(context, left.group(group.index), &left_order) >= 0 ? &left : nullptr;
      TIDEMARK_RETURN_IF_ERROR(Delete(context, order, &left));
    }
  }
  return Upsert(context, event, std::move(order), std::move(key), stored);
}

absl::Status TakeOutColumns(const GroupContext& context, std::string key,
                            const TakeOutLimit& limit) {
  const BoundGroup& group = context.group;
  if (group.definition->on_delete == OnDelete::kIgnore) return absl::OkStatus();
  RowDraft& row = context.row;
  TIDEMARK_RETURN_IF_ERROR(row.Load(*group.table, std::move(key)));
  GroupState& state = row.group(group.index);
  EventOrder stored{state.generation, state.sequence};
  if (state.presence != Presence::kPresent || !limit.Covers(*group.definition, stored)) {
    return absl::OkStatus();
  }
  const bool keeps_own_order = limit.truncate && !group.definition->sequence.empty();
  for (const auto& entry : group.definition->columns) {
    row.Set(static_cast<size_t>(group.table->definition.ColumnIndex(entry.first)), NullDatum());
  }
  state.presence = Presence::kDeleted;
  state.forgettable = limit.truncate ? !keeps_own_order : !context.MustRemember();
  context.Stamp(keeps_own_order ? stored : limit.order, &state);
  return row.Save();
}

}  // namespace tidemark::tables
