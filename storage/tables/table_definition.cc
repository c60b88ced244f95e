#include "storage/tables/table_definition.h"

namespace tidemark::tables {

int TableDefinition::ColumnIndex(std::string_view column) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == column) return static_cast<int>(i);
  }
  return -1;
}

const ColumnDefinition* TableDefinition::FindColumn(std::string_view column) const {
  const int index = ColumnIndex(column);
  return index < 0 ? nullptr : &columns[static_cast<size_t>(index)];
}

size_t TableDefinition::anchor() const {
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].is_aggregate()) return i;
  }
  return 0;  // not reached: the parser refuses tables without a columns group
}

}  // namespace tidemark::tables
