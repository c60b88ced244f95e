// Aggregate groups: rows of one relation that share a foreign key become counts, sums and extremes
// of a table row.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_AGGREGATE_MERGE_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_AGGREGATE_MERGE_H_

#include <string>

#include "absl/status/status.h"
#include "storage/tables/merging/group_context.h"

namespace tidemark::tables {

// Applies an insert, update or delete to an aggregate group: what the source row had put in is
// taken out, what it has now goes in. Looks at the row itself and at most two rows of the table,
// whatever the size of the group.
absl::Status ApplyAggregate(const GroupContext& context, const RowEvent& event);

// Takes a source row out of the group when the limit covers it. `key`: its whole K key.
absl::Status TakeOutContribution(const GroupContext& context, std::string_view key,
                                 const TakeOutLimit& limit);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_AGGREGATE_MERGE_H_
