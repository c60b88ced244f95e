// Columns groups: the newest values of one relation's row become columns of a table row.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_COLUMNS_MERGE_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_COLUMNS_MERGE_H_

#include <string>

#include "absl/status/status.h"
#include "storage/tables/merging/group_context.h"

namespace tidemark::tables {

// Applies an insert, update or delete to a columns group.
absl::Status ApplyColumns(const GroupContext& context, const RowEvent& event);

// Takes the group out of the row `key` when the limit covers what is stored.
absl::Status TakeOutColumns(const GroupContext& context, std::string key,
                            const TakeOutLimit& limit);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_COLUMNS_MERGE_H_
