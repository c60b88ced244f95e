// What an aggregate group keeps of a source row and how it orders rows: decided by the definition
// alone, because it is on disk (docs/storage_format_rows.md).
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_GROUP_LAYOUT_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_GROUP_LAYOUT_H_

#include <string>
#include <vector>

#include "storage/tables/table_definition.h"

namespace tidemark::tables {

// A column of the relation as the group uses it.
struct ImageColumn {
  std::string name;
  Kind type = Kind::kNull;  // converted to this type; kNull: as the relation has it
};

// One order in which a group's rows are kept, for min and max of a column or first and last by it.
struct Ordering {
  int image = -1;                  // the column that orders; -1: the sequence alone
  bool by_sequence = false;        // rows with equal values are ordered by their sequence
  bool low = false, high = false;  // whether its first or last row is asked for
};

struct AggregateUse {
  int image = -1;     // the argument; -1 for count(*)
  int ordering = -1;  // min, max, first, last
  bool high = false;  // the last row of the ordering, not the first
};

struct GroupLayout {
  std::vector<ImageColumn> image;
  std::vector<int> key;       // per key column of the table: index into image
  std::vector<int> where;     // per condition
  std::vector<int> sequence;  // per declared sequence column
  std::vector<AggregateUse> aggregates;
  std::vector<Ordering> orderings;
};

// `group` is an aggregate group of `table`.
GroupLayout LayoutOf(const TableDefinition& table, const GroupDefinition& group);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_GROUP_LAYOUT_H_
