#include "storage/tables/merging/totals.h"

#include <limits>

#include "common/error.h"
#include "common/strings.h"
#include "storage/state/coding.h"

namespace tidemark::tables {
namespace {

uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1)); }

bool IsCounted(Aggregate function, int image) {
  return (function == Aggregate::kCount || function == Aggregate::kSum) && image >= 0;
}

absl::Status NeverAdded() {
  return MakeError(Reason::kDataDamaged,
                   "A row is to be taken out of a group whose stored totals do not contain it.");
}

}  // namespace

Totals::Totals(const BoundGroup& group)
    : group_(group), cells_(group.layout.aggregates.size()), ends_(group.layout.orderings.size()) {}

bool Totals::SumsDecimals(size_t aggregate) const {
  const size_t column = group_.aggregate_columns[aggregate];
  return function(aggregate) == Aggregate::kSum &&
         group_.table->definition.columns[column].type == Kind::kDecimal;
}

Aggregate Totals::function(size_t aggregate) const {
  return group_.definition->aggregates[aggregate].function;
}

absl::Status Totals::Read(std::string_view bytes) {
  if (bytes.empty()) return absl::OkStatus();
  state::ByteReader reader(bytes);
  reader.ReadVarint(&rows_);
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (!IsCounted(function(i), group_.layout.aggregates[i].image)) continue;
    if (SumsDecimals(i)) {
      cells_[i].decimals.ReadFrom(reader);
      continue;
    }
    reader.ReadVarint(&cells_[i].count);
    if (function(i) != Aggregate::kSum) continue;
    uint64_t sum = 0;
    reader.ReadVarint(&sum);
    cells_[i].sum = UnZigZag(sum);
  }
  for (size_t i = 0; i < ends_.size(); ++i) {
    const Ordering& ordering = group_.layout.orderings[i];
    if (ordering.low) reader.ReadString(&ends_[i].low);
    if (ordering.high) reader.ReadString(&ends_[i].high);
  }
  if (reader.done() && rows_ > 0) return absl::OkStatus();
  return MakeError(Reason::kDataDamaged, "The stored totals of a row's group do not decode.");
}

std::string Totals::Encode() const {
  std::string out;
  if (rows_ == 0) return out;
  state::AppendVarint(&out, rows_);
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (!IsCounted(function(i), group_.layout.aggregates[i].image)) continue;
    if (SumsDecimals(i)) {
      cells_[i].decimals.AppendTo(out);
      continue;
    }
    state::AppendVarint(&out, cells_[i].count);
    if (function(i) == Aggregate::kSum) {
      state::AppendVarint(&out, ZigZag(static_cast<int64_t>(cells_[i].sum)));
    }
  }
  for (size_t i = 0; i < ends_.size(); ++i) {
    const Ordering& ordering = group_.layout.orderings[i];
    if (ordering.low) state::AppendBytes(&out, ends_[i].low);
    if (ordering.high) state::AppendBytes(&out, ends_[i].high);
  }
  return out;
}

absl::Status Totals::Add(const std::vector<Datum>& image) {
  ++rows_;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const int place = group_.layout.aggregates[i].image;
    if (!IsCounted(function(i), place) || image[static_cast<size_t>(place)].is_null()) continue;
    const Datum& value = image[static_cast<size_t>(place)];
    if (SumsDecimals(i)) {
      const absl::Status status = cells_[i].decimals.Add(value);
      if (!status.ok()) return EventError(ReasonOf(status), group_, ToStd(status.message()));
      continue;
    }
    ++cells_[i].count;
    if (function(i) == Aggregate::kSum) cells_[i].sum += value.number();
  }
  return absl::OkStatus();
}

absl::Status Totals::Remove(const std::vector<Datum>& image) {
  if (rows_ == 0) return NeverAdded();
  --rows_;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const int place = group_.layout.aggregates[i].image;
    if (!IsCounted(function(i), place) || image[static_cast<size_t>(place)].is_null()) continue;
    const Datum& value = image[static_cast<size_t>(place)];
    if (SumsDecimals(i)) {
      if (!cells_[i].decimals.Remove(value)) return NeverAdded();
      continue;
    }
    if (cells_[i].count == 0) return NeverAdded();
    --cells_[i].count;
    if (function(i) == Aggregate::kSum) cells_[i].sum -= value.number();
  }
  return absl::OkStatus();
}

absl::StatusOr<Datum> Totals::Value(size_t aggregate) const {
  const Cell& cell = cells_[aggregate];
  if (function(aggregate) == Aggregate::kCount) {
    const bool all = group_.layout.aggregates[aggregate].image < 0;
    return Datum::Int(static_cast<int64_t>(all ? rows_ : cell.count));
  }
  if (SumsDecimals(aggregate)) return cell.decimals.Value();
  if (cell.count == 0) return Datum::Null();
  if (cell.sum >= std::numeric_limits<int64_t>::min() &&
      cell.sum <= std::numeric_limits<int64_t>::max()) {
    return Datum::Int(static_cast<int64_t>(cell.sum));
  }
  return EventError(Reason::kFieldInvalid, group_,
                    "the sum for column \"" + group_.definition->aggregates[aggregate].column +
                        "\" leaves the range of int. Declare the column as decimal.");
}

}  // namespace tidemark::tables
