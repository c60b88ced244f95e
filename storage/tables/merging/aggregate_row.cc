#include "storage/tables/merging/aggregate_row.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "storage/tables/merging/ordered_contributions.h"
#include "storage/tables/merging/totals.h"

namespace tidemark::tables {
namespace {

using Presence = GroupState::Presence;

// One event's work on one row.
class AggregateRow {
 public:
  AggregateRow(const GroupContext& context, std::string_view group_key, std::string_view row_key,
               const Contribution* out, const Contribution* in)
      : context_(context),
        group_(context.group),
        group_key_(group_key),
        row_key_(row_key),
        out_(out),
        in_(in),
        totals_(context.group) {}

  absl::Status Update(const EventOrder& order) {
    RowDraft& row = context_.row;
    TIDEMARK_RETURN_IF_ERROR(row.Load(*group_.table, std::string(group_key_)));
    GroupState& state = row.group(group_.index);
    TIDEMARK_RETURN_IF_ERROR(totals_.Read(state.totals));
    had_rows_ = totals_.rows() > 0;
    if (out_ != nullptr) TIDEMARK_RETURN_IF_ERROR(totals_.Remove(out_->image));
    if (in_ != nullptr) TIDEMARK_RETURN_IF_ERROR(totals_.Add(in_->image));
    TIDEMARK_RETURN_IF_ERROR(SetCountsAndSums());
    for (size_t i = 0; i < group_.layout.orderings.size(); ++i) {
      TIDEMARK_RETURN_IF_ERROR(UpdateOrdering(i));
    }
    std::string totals = totals_.Encode();
    const bool same_totals = totals == state.totals;
    state.totals = std::move(totals);
    state.presence = totals_.rows() > 0 ? Presence::kPresent : Presence::kDeleted;
    state.forgettable = totals_.rows() == 0;
    context_.Stamp(order, &state);
    // An event that changes nothing of the row is not the origin of its values.
    return row.Save(/*unless_same_row=*/same_totals);
  }

 private:
  absl::Status SetCountsAndSums() {
    for (size_t i = 0; i < group_.layout.aggregates.size(); ++i) {
      if (group_.layout.aggregates[i].ordering >= 0) continue;
      const size_t column = group_.aggregate_columns[i];
      TIDEMARK_ASSIGN_OR_RETURN(*context_.row.Scratch(column), totals_.Value(i));
      context_.row.Set(column, *context_.row.Scratch(column));
    }
    return absl::OkStatus();
  }

  absl::Status UpdateOrdering(size_t index) {
    OrderedContributions rows(context_.writer, group_, index, group_key_);
    std::string before, after;
    if (out_ != nullptr) {
      TIDEMARK_ASSIGN_OR_RETURN(before, PlaceOf(group_, index, *out_, row_key_));
    }
    if (in_ != nullptr) {
      TIDEMARK_ASSIGN_OR_RETURN(after, PlaceOf(group_, index, *in_, row_key_));
    }
    const bool has_rows = totals_.rows() > 0;
    if (has_rows && !had_rows_) TIDEMARK_RETURN_IF_ERROR(rows.PutFences());
    if (before != after) {
      if (!before.empty()) TIDEMARK_RETURN_IF_ERROR(rows.Delete(before));
      if (!after.empty()) TIDEMARK_RETURN_IF_ERROR(rows.Put(after, row_key_));
    }
    if (had_rows_ && !has_rows) TIDEMARK_RETURN_IF_ERROR(rows.DeleteFences());
    const Ordering& ordering = group_.layout.orderings[index];
    Totals::Ends& ends = totals_.ends(index);
    if (ordering.low) {
      TIDEMARK_RETURN_IF_ERROR(UpdateEnd(index, rows, before, after, /*high=*/false, &ends.low));
    }
    if (ordering.high) {
      TIDEMARK_RETURN_IF_ERROR(UpdateEnd(index, rows, before, after, /*high=*/true, &ends.high));
    }
    return absl::OkStatus();
  }

  // One end of an ordering, after the source row went from place `before` to place `after` (either
  // may be empty: it was not, or is not, there).
  absl::Status UpdateEnd(size_t index, const OrderedContributions& rows, const std::string& before,
                         const std::string& after, bool high, std::string* end) {
    const auto is_beyond = [high](const std::string& place, const std::string& other) {
      return high ? place > other : place < other;
    };
    if (!after.empty() && (end->empty() || after == *end || is_beyond(after, *end))) {
      *end = after;
      return SetExtremes(index, high, &in_->image);
    }
    if (before.empty() || before != *end) return absl::OkStatus();
    // The row that stood at the end left, or moved inwards: its neighbour takes over.
    std::optional<OrderedContributions::Neighbour> next;
    if (totals_.rows() > 0) {
      TIDEMARK_ASSIGN_OR_RETURN(next, rows.Next(before, /*below=*/high));
    }
    *end = next ? next->place : std::string();
    if (!next) return SetExtremes(index, high, nullptr);
    if (next->row_key == row_key_) return SetExtremes(index, high, &in_->image);
    const std::string key = ContributionPrefix(group_.table->id, group_.index) + next->row_key;
    TIDEMARK_ASSIGN_OR_RETURN(const auto bytes,
                              context_.writer.GetAux(state::AuxSpace::kContribution, key));
    if (!bytes) {
      return MakeError(Reason::kDataDamaged,
                       "An ordered contribution has no contribution beside it.");
    }
    TIDEMARK_ASSIGN_OR_RETURN(const Contribution contribution,
                              DecodeContribution(*bytes, group_.layout.image.size()));
    return SetExtremes(index, high, &contribution.image);
  }

  // Sets the columns that show this end of the ordering; `image` is that of the row standing there.
  absl::Status SetExtremes(size_t ordering, bool high, const std::vector<Datum>* image) {
    for (size_t i = 0; i < group_.layout.aggregates.size(); ++i) {
      const AggregateUse& use = group_.layout.aggregates[i];
      if (use.ordering != static_cast<int>(ordering) || use.high != high) continue;
      const size_t column = group_.aggregate_columns[i];
      *context_.row.Scratch(column) =
          image == nullptr ? Datum::Null() : (*image)[static_cast<size_t>(use.image)];
      context_.row.Set(column, *context_.row.Scratch(column));
    }
    return absl::OkStatus();
  }

  const GroupContext& context_;
  const BoundGroup& group_;
  std::string_view group_key_, row_key_;
  const Contribution* out_;
  const Contribution* in_;
  Totals totals_;
  bool had_rows_ = false;
};

}  // namespace

absl::Status UpdateAggregateRow(const GroupContext& context, std::string_view group_key,
                                std::string_view row_key, const Contribution* out,
                                const Contribution* in, const EventOrder& order) {
  return AggregateRow(context, group_key, row_key, out, in).Update(order);
}

}  // namespace tidemark::tables
