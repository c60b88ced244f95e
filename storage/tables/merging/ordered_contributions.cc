#include "storage/tables/merging/ordered_contributions.h"

#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"
#include "storage/state/coding.h"
#include "storage/tables/merging/ordered_value.h"

namespace tidemark::tables {

namespace {

constexpr auto kSpace = state::AuxSpace::kOrderedContribution;

// Below and above every place: those begin with a rank or the tag of a tuple element, which are
// neither nothing nor this.
constexpr std::string_view kLowFence = "", kHighFence = "\xff";

}  // namespace

absl::StatusOr<std::string> PlaceOf(const BoundGroup& group, size_t ordering,
                                    const Contribution& contribution, std::string_view row_key) {
  const Ordering& order = group.layout.orderings[ordering];
  std::string place;
  if (order.image >= 0) {
    const Datum& value = contribution.image[static_cast<size_t>(order.image)];
    if (value.is_null()) return place;
    const absl::Status status = AppendOrderedValue(group.order_types[ordering], value, place);
    if (!status.ok()) return EventError(ReasonOf(status), group, ToStd(status.message()));
  }
  if (order.by_sequence) {
    state::KeyEncoder sequence;
    place += sequence.AddBytes(contribution.order.sequence).bytes();
  }
  place += row_key;
  if (place.size() <= limits::kMaxKeyBytes) return place;
  return EventError(Reason::kFieldInvalid, group,
                    "a value that min, max, first or last order by has " +
                        std::to_string(place.size()) + " bytes with its row's key; at most " +
                        std::to_string(limits::kMaxKeyBytes) + " are possible.");
}

OrderedContributions::OrderedContributions(state::StateWriter& writer, const BoundGroup& group,
                                           size_t ordering, std::string_view group_key)
    : writer_(writer),
      ordering_(group.layout.orderings[ordering]),
      prefix_(ContributionPrefix(group.table->id, group.index)) {
  state::AppendOrdered(&prefix_, ordering);
  prefix_ += group_key;
}

absl::Status OrderedContributions::PutFences() {
  if (ordering_.high) TIDEMARK_RETURN_IF_ERROR(writer_.PutAux(kSpace, KeyOf(kLowFence), {}));
  if (ordering_.low) TIDEMARK_RETURN_IF_ERROR(writer_.PutAux(kSpace, KeyOf(kHighFence), {}));
  return absl::OkStatus();
}

absl::Status OrderedContributions::DeleteFences() {
  if (ordering_.high) TIDEMARK_RETURN_IF_ERROR(writer_.DeleteAux(kSpace, KeyOf(kLowFence)));
  if (ordering_.low) TIDEMARK_RETURN_IF_ERROR(writer_.DeleteAux(kSpace, KeyOf(kHighFence)));
  return absl::OkStatus();
}

absl::Status OrderedContributions::Put(std::string_view place, std::string_view row_key) {
  std::string value;
  state::AppendVarint(&value, row_key.size());
  return writer_.PutAux(kSpace, KeyOf(place), value);
}

absl::Status OrderedContributions::Delete(std::string_view place) {
  return writer_.DeleteAux(kSpace, KeyOf(place));
}

absl::StatusOr<std::optional<OrderedContributions::Neighbour>> OrderedContributions::Next(
    std::string_view place, bool below) const {
  std::optional<Neighbour> found;
  bool damaged = false;
  const std::string fence = KeyOf(below ? kLowFence : kHighFence);
  TIDEMARK_RETURN_IF_ERROR(writer_.VisitAux(
      kSpace, prefix_, KeyOf(place), /*reverse=*/below,
      [&](std::string_view key, std::string_view value) {
        if (key == fence) return false;
        state::ByteReader reader(value);
        uint64_t row_key_size = 0;
        const std::string_view suffix = key.substr(prefix_.size());
        reader.ReadVarint(&row_key_size);
        damaged = !reader.done() || row_key_size > suffix.size();
        if (damaged) return false;
        found = Neighbour{std::string(suffix),
                          std::string(suffix.substr(suffix.size() - row_key_size))};
        return false;
      },
      fence));
  if (damaged) {
    return MakeError(Reason::kDataDamaged, "A stored ordered contribution does not decode.");
  }
  return found;
}

}  // namespace tidemark::tables
