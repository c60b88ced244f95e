// Table definitions: the language of `tables:` in tidemark.yaml (docs/definitions.md).
//
// Example:
//   TIDEMARK_ASSIGN_OR_RETURN(auto definitions, ParseTableDefinitions(yaml_text));
#ifndef TIDEMARK_STORAGE_TABLES_TABLE_DEFINITION_H_
#define TIDEMARK_STORAGE_TABLES_TABLE_DEFINITION_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/tables/datum.h"

namespace YAML {
class Node;
}

namespace tidemark::tables {

struct ColumnDefinition {
  std::string name;
  Kind type = Kind::kString;
  Kind item_type = Kind::kNull;  // of a list
};

struct RelationRef {
  std::string source;
  std::string relation;
  bool operator==(const RelationRef&) const = default;
};

// `where`: all conditions must hold; a null column fulfils none but is_null.
struct Condition {
  enum class Op { kEq, kNe, kLt, kLe, kGt, kGe, kIn, kNotIn, kIsNull, kIsNotNull };
  std::string column;  // of the relation
  Op op = Op::kEq;
  std::vector<std::string> values;  // scalars as written; typed when bound to the relation's column
  int line = 0;
};

enum class Aggregate { kCount, kSum, kMin, kMax, kFirst, kLast };
std::string_view AggregateName(Aggregate function);  // "count"

struct AggregateColumn {
  std::string column;  // of the table
  Aggregate function = Aggregate::kCount;
  std::string argument;  // column of the relation, or "*" for count
  std::string order_by;  // first, last: column of the relation that orders; empty = the sequence
};

enum class OnDelete { kGroup, kRow, kIgnore };

struct GroupDefinition {
  std::string name;
  RelationRef from;
  // Key column of the table -> column of the relation. Complete after parsing (same names by
  // default).
  std::map<std::string, std::string> key_columns;
  std::map<std::string, std::string> columns;  // column of the table -> column of the relation
  OnDelete on_delete = OnDelete::kGroup;
  std::vector<std::string> sequence;        // columns of the relation; empty = the source's order
  std::vector<Condition> where;             // aggregate groups
  std::vector<AggregateColumn> aggregates;  // not empty = an aggregate group
  bool is_aggregate() const { return !aggregates.empty(); }
  int line = 0;
};

struct TableDefinition {
  std::string name;
  std::vector<std::string> key;
  std::string tier;                       // "seconds", "minutes"
  std::vector<std::string> readers;       // tenants; empty = nobody
  std::vector<ColumnDefinition> columns;  // in definition order
  // last_row tables have one columns group named "row" that takes every column; assembled tables
  // have the groups as written, the first columns group being the anchor.
  bool last_row = false;
  std::vector<GroupDefinition> groups;
  int line = 0;

  const ColumnDefinition* FindColumn(std::string_view name) const;
  int ColumnIndex(std::string_view name) const;  // -1 when there is none
  size_t anchor() const;                         // index into groups
  // Everything that decides what the rows are, in one canonical text of lines that begins with
  // "table NAME"; equal text = the same rows. Stored, and compared at start. Not in it: tier and
  // readers, which may change at any time.
  std::string Canonical() const;
};

// Parses the sequence under `tables:`; the text may be that sequence or a mapping with the key
// `tables`, whose other keys are not looked at. INVALID_ARGUMENT (FIELD_INVALID) with "line N: ..."
// for unknown keys, wrong types, duplicate or missing names, keys that are no columns, columns no
// group fills or two groups fill, aggregates over types they do not take, sources not in `sources`,
// and what is known but not yet available (first_row, partial_update, aggregate merges, windows,
// other aggregates), named as such.
absl::StatusOr<std::vector<TableDefinition>> ParseTableDefinitions(
    const YAML::Node& tables, const std::vector<std::string>& sources);
absl::StatusOr<std::vector<TableDefinition>> ParseTableDefinitions(
    std::string_view yaml, const std::vector<std::string>& sources);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_TABLE_DEFINITION_H_
