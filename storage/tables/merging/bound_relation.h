// A relation's schema bound to the groups it feeds: names looked up, types checked, once per
// schema, so that applying an event compares no names.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_BOUND_RELATION_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_BOUND_RELATION_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/error.h"
#include "storage/tables/catalog.h"
#include "storage/tables/merging/condition.h"
#include "storage/tables/merging/group_layout.h"
#include "storage/tables/row_event.h"

namespace tidemark::tables {

// A column of the relation and what it becomes.
struct BoundColumn {
  std::string_view name;       // in the relation; points into the schema
  size_t table_column = 0;     // where it goes, in definition order; columns groups only
  size_t relation_column = 0;  // where it comes from
  Kind type = Kind::kString;
  Kind item_type = Kind::kNull;
};

struct BoundGroup {
  const Table* table = nullptr;
  size_t index = 0;  // of the group in the table
  const GroupDefinition* definition = nullptr;
  bool anchor = false;
  std::vector<BoundColumn> key;       // per key column of the table
  std::vector<BoundColumn> sequence;  // empty: the source's order
  // Distinct source rows have distinct keys: a copy writes each key once.
  bool key_is_identity = false;

  std::vector<BoundColumn> columns;  // columns groups

  // Aggregate groups.
  GroupLayout layout;
  std::vector<size_t> aggregate_columns;  // per aggregate: the table's column
  std::vector<BoundColumn> identity;      // what names a source row
  std::vector<BoundColumn> image;         // per column of the layout's image
  std::vector<BoundCondition> where;
  std::vector<Kind> order_types;  // per ordering; kNull where only the sequence orders
  // What must not change while contributions are stored: names and types of the columns that name,
  // order or sequence rows.
  std::string bindings;
};

struct BoundRelation {
  std::shared_ptr<const RelationSchema> schema;
  std::vector<BoundGroup> groups;
};

// FIELD_INVALID with relation, column, both types and what to do.
absl::StatusOr<std::unique_ptr<BoundRelation>> BindRelation(
    const Catalog& catalog, std::shared_ptr<const RelationSchema> schema);

// A group without a schema: enough to take rows out of it. `order_types` as they were bound.
BoundGroup UnboundGroup(const Catalog::Feed& feed, std::vector<Kind> order_types);

// An error about one event of the relation that feeds `group`.
absl::Status EventError(Reason reason, const BoundGroup& group, std::string_view problem);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_BOUND_RELATION_H_
