// The table row that an aggregate group is about: its counts, sums and extremes after a source row
// came, left or changed.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_AGGREGATE_ROW_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_AGGREGATE_ROW_H_

#include <string_view>

#include "absl/status/status.h"
#include "storage/tables/merging/contribution.h"
#include "storage/tables/merging/group_context.h"

namespace tidemark::tables {

// Takes `out` out of the row `group_key` and puts `in` in; one of them may be null. Both are
// contributions of the source row `row_key`, counted in this very group. `order`: of the event.
absl::Status UpdateAggregateRow(const GroupContext& context, std::string_view group_key,
                                std::string_view row_key, const Contribution* out,
                                const Contribution* in, const EventOrder& order);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_AGGREGATE_ROW_H_
