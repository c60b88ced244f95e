// The rows of an aggregate group in order (key space V): what min, max, first and last look at when
// their row leaves. Byte by byte in docs/storage_format_rows.md.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_ORDERED_CONTRIBUTIONS_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_ORDERED_CONTRIBUTIONS_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/state/state_writer.h"
#include "storage/tables/merging/bound_relation.h"
#include "storage/tables/merging/contribution.h"

namespace tidemark::tables {

// Where a contribution stands in one ordering: ordered value, sequence where it breaks ties, source
// row key. Empty when it has no place there, because what orders is null. FIELD_INVALID for values
// too large to order by.
absl::StatusOr<std::string> PlaceOf(const BoundGroup& group, size_t ordering,
                                    const Contribution& contribution, std::string_view row_key);

// The rows of one ordering of one row of the table.
class OrderedContributions {
 public:
  OrderedContributions(state::StateWriter& writer, const BoundGroup& group, size_t ordering,
                       std::string_view group_key);

  // Fences stand before and behind the places of a group that has rows, so that a walk ends where
  // the group does. Put before its first place, deleted after its last.
  absl::Status PutFences();
  absl::Status DeleteFences();

  absl::Status Put(std::string_view place, std::string_view row_key);
  absl::Status Delete(std::string_view place);

  struct Neighbour {
    std::string place;
    std::string row_key;
  };
  // The entry next to `place` (which is not there any more): the one below it when `below`, else
  // the one above. One seek that starts at `place` and goes no further than the fence: entries that
  // were deleted on the other side of either are not walked over.
  absl::StatusOr<std::optional<Neighbour>> Next(std::string_view place, bool below) const;

 private:
  std::string KeyOf(std::string_view place) const { return prefix_ + std::string(place); }

  state::StateWriter& writer_;
  const Ordering& ordering_;
  std::string prefix_;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_ORDERED_CONTRIBUTIONS_H_
