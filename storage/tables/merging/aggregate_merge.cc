#include "storage/tables/merging/aggregate_merge.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "common/error.h"
#include "storage/state/tuple_key.h"
#include "storage/tables/merging/aggregate_row.h"
#include "storage/tables/merging/event_values.h"

namespace tidemark::tables {
namespace {

constexpr auto kSpace = state::AuxSpace::kContribution;

// A source row's place in K, and what lies there.
struct StoredContribution {
  std::string key;  // prefix and source row key
  size_t prefix_size = 0;
  std::optional<Contribution> value;

  std::string_view row_key() const { return std::string_view(key).substr(prefix_size); }
  const Contribution* counted() const {
    return value && value->counted && !value->deleted ? &*value : nullptr;
  }
};

absl::StatusOr<StoredContribution> LoadContribution(const GroupContext& context,
                                                    std::string_view row_key) {
  const BoundGroup& group = context.group;
  StoredContribution stored;
  stored.key = ContributionPrefix(group.table->id, group.index);
  stored.prefix_size = stored.key.size();
  stored.key += row_key;
  TIDEMARK_ASSIGN_OR_RETURN(const auto bytes, context.writer.GetAux(kSpace, stored.key));
  if (bytes) {
    TIDEMARK_ASSIGN_OR_RETURN(stored.value, DecodeContribution(*bytes, group.layout.image.size()));
  }
  return stored;
}

// <0 loses, 0 the same event or one of its rank, >0 wins; an unknown order becomes the stored one.
int Rank(const GroupContext& context, const StoredContribution& stored,
         std::optional<EventOrder>* order) {
  if (!*order) {
    *order = EventOrder{context.origin.generation,
                        stored.value ? stored.value->order.sequence : std::string()};
  }
  return stored.value ? CompareOrder(**order, stored.value->order) : 1;
}

// The table row the contribution belongs to: empty when one of its key columns is null.
absl::StatusOr<std::string> GroupKeyOf(const BoundGroup& group, const std::vector<Datum>& image) {
  state::KeyEncoder key;
  for (const int column : group.layout.key) {
    const Datum& value = image[static_cast<size_t>(column)];
    if (value.is_null()) return std::string();
    const absl::Status status = AppendKey(value, key);
    if (!status.ok()) {
      return EventError(Reason::kEventMalformed, group,
                        "column \"" + group.layout.image[static_cast<size_t>(column)].name +
                            "\" has a value that cannot be a key.");
    }
  }
  TIDEMARK_RETURN_IF_ERROR(CheckKeySize(group, key.bytes()));
  return key.Release();
}

// What the row puts in now. Columns that were not sent are taken from `earlier`; null when nothing
// is known of them.
absl::StatusOr<Contribution> MakeContribution(const GroupContext& context, const RowEvent& event,
                                              EventOrder order, const Contribution* earlier) {
  const BoundGroup& group = context.group;
  Contribution contribution;
  contribution.order = std::move(order);
  contribution.image.reserve(group.image.size());
  for (size_t i = 0; i < group.image.size(); ++i) {
    Datum scratch;
    TIDEMARK_ASSIGN_OR_RETURN(const Datum* value,
                              ValueOf(group, group.image[i], event.after, event.before, &scratch));
    if (value->is_unchanged()) {
      if (earlier == nullptr || earlier->deleted) {
        return EventError(Reason::kEventMalformed, group,
                          "its column \"" + std::string(group.image[i].name) +
                              "\" was not sent because it did not change, but no earlier value is "
                              "known. The relation has to be copied again.");
      }
      // The column's type may have changed since.
      TIDEMARK_ASSIGN_OR_RETURN(contribution.image.emplace_back(),
                                CoerceTo(group.image[i].type, earlier->image[i]));
      continue;
    }
    contribution.image.push_back(*value);
  }
  TIDEMARK_ASSIGN_OR_RETURN(contribution.group_key, GroupKeyOf(group, contribution.image));
  contribution.counted = !contribution.group_key.empty();
  for (size_t i = 0; contribution.counted && i < group.where.size(); ++i) {
    const auto column = static_cast<size_t>(group.layout.where[i]);
    contribution.counted = group.where[i].Holds(contribution.image[column]);
  }
  return contribution;
}

// Whether only the order differs, and nothing is ordered by it.
bool CountsAlike(const BoundGroup& group, const Contribution& a, const Contribution& b) {
  const auto by_sequence = [](const Ordering& ordering) { return ordering.by_sequence; };
  const auto& orderings = group.layout.orderings;
  return a.image == b.image && (a.order.sequence == b.order.sequence ||
                                std::none_of(orderings.begin(), orderings.end(), by_sequence));
}

// Takes the old contribution out of its row and puts the new one into its row.
absl::Status Move(const GroupContext& context, std::string_view row_key, const Contribution* out,
                  const Contribution* in, const EventOrder& order) {
  if (out != nullptr && in != nullptr && out->group_key == in->group_key) {
    if (CountsAlike(context.group, *out, *in)) return absl::OkStatus();
    return UpdateAggregateRow(context, in->group_key, row_key, out, in, order);
  }
  if (out != nullptr) {
    TIDEMARK_RETURN_IF_ERROR(
        UpdateAggregateRow(context, out->group_key, row_key, out, nullptr, order));
  }
  if (in != nullptr) {
    TIDEMARK_RETURN_IF_ERROR(
        UpdateAggregateRow(context, in->group_key, row_key, nullptr, in, order));
  }
  return absl::OkStatus();
}

absl::Status PutIn(const GroupContext& context, const RowEvent& event,
                   std::optional<EventOrder> order, const StoredContribution& stored,
                   const Contribution* earlier) {
  const int rank = Rank(context, stored, &order);
  if (rank < 0 || context.IsTruncated(*order)) return absl::OkStatus();
  // The same event again has its values here already, whatever became of the row it left.
  if (rank == 0 && stored.value && !stored.value->deleted) earlier = &*stored.value;
  TIDEMARK_ASSIGN_OR_RETURN(const Contribution fresh,
                            MakeContribution(context, event, *order, earlier));
  if (stored.value == fresh) return absl::OkStatus();
  TIDEMARK_RETURN_IF_ERROR(Move(context, stored.row_key(), stored.counted(),
                                fresh.counted ? &fresh : nullptr, fresh.order));
  return context.writer.PutAux(kSpace, stored.key, EncodeContribution(fresh));
}

// Leaves nothing of the row, or its order where late events can come.
absl::Status Forget(const GroupContext& context, const StoredContribution& stored,
                    const EventOrder& order, bool remember) {
  TIDEMARK_RETURN_IF_ERROR(Move(context, stored.row_key(), stored.counted(), nullptr, order));
  if (remember) {
    Contribution gone;
    gone.deleted = true;
    gone.order = order;
    return context.writer.PutAux(kSpace, stored.key, EncodeContribution(gone), /*tombstone=*/true);
  }
  return stored.value ? context.writer.DeleteAux(kSpace, stored.key) : absl::OkStatus();
}

absl::Status TakeOut(const GroupContext& context, std::optional<EventOrder> order,
                     const StoredContribution& stored) {
  const int rank = Rank(context, stored, &order);
  if (rank < 0 || context.IsTruncated(*order)) return absl::OkStatus();
  if (stored.value && stored.value->deleted && rank == 0) return absl::OkStatus();
  return Forget(context, stored, *order, context.MustRemember());
}

}  // namespace

absl::Status ApplyAggregate(const GroupContext& context, const RowEvent& event) {
  const BoundGroup& group = context.group;
  const bool is_delete = event.op == EventOp::kDelete;
  const std::vector<Datum>& image = is_delete ? event.before : event.after;
  TIDEMARK_ASSIGN_OR_RETURN(const std::string row_key,
                            KeyOf(group, group.identity, image, event.before));
  TIDEMARK_ASSIGN_OR_RETURN(std::optional<EventOrder> order, OrderOf(group, event, context.origin));
  TIDEMARK_ASSIGN_OR_RETURN(const StoredContribution stored, LoadContribution(context, row_key));
  if (is_delete) return TakeOut(context, std::move(order), stored);
  if (HasAll(group.identity, event.before)) {
    TIDEMARK_ASSIGN_OR_RETURN(const std::string old_key,
                              KeyOf(group, group.identity, event.before, {}));
    if (old_key != row_key) {
      TIDEMARK_ASSIGN_OR_RETURN(const StoredContribution left, LoadContribution(context, old_key));
      std::optional<EventOrder> left_order = order;
      // A newer row under the old key is not the one that moved.
      const bool moved = left.value && Rank(context, left, &left_order) >= 0;
      TIDEMARK_RETURN_IF_ERROR(TakeOut(context, order, left));
      return PutIn(context, event, std::move(order), stored, moved ? &*left.value : nullptr);
    }
  }
  return PutIn(context, event, std::move(order), stored, stored.value ? &*stored.value : nullptr);
}

absl::Status TakeOutContribution(const GroupContext& context, std::string_view key,
                                 const TakeOutLimit& limit) {
  const BoundGroup& group = context.group;
  const size_t prefix = ContributionPrefix(group.table->id, group.index).size();
  TIDEMARK_ASSIGN_OR_RETURN(const StoredContribution stored,
                            LoadContribution(context, key.substr(prefix)));
  if (!stored.value || stored.value->deleted ||
      !limit.Covers(*group.definition, stored.value->order)) {
    return absl::OkStatus();
  }
  if (limit.truncate) {
    return Forget(context, stored, stored.value->order, !group.definition->sequence.empty());
  }
  return Forget(context, stored, limit.order, context.MustRemember());
}

}  // namespace tidemark::tables
