// `where`: conditions of a definition, typed for a column of a relation.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_CONDITION_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_CONDITION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "storage/tables/datum.h"
#include "storage/tables/table_definition.h"

namespace tidemark::tables {

class BoundCondition {
 public:
  // `type`: of the relation's column. FIELD_INVALID (with the definition's line) when the
  // condition's values are not of that type, or the type cannot be compared.
  static absl::StatusOr<BoundCondition> Bind(const Condition& condition, Kind type);

  // A null fulfils is_null only.
  bool Holds(const Datum& value) const;

 private:
  Condition::Op op_ = Condition::Op::kEq;
  Kind type_ = Kind::kString;
  std::vector<Datum> constants_;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_CONDITION_H_
