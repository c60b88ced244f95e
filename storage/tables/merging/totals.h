// What an aggregate group of one row knows beside its columns: how many rows are in it, what its
// sums are made of, and which rows stand first and last in each ordering. Stored in the group's
// state. Byte by byte in docs/storage_format_rows.md.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_TOTALS_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_TOTALS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "storage/tables/merging/bound_relation.h"
#include "storage/tables/merging/decimal_sum.h"

namespace tidemark::tables {

class Totals {
 public:
  explicit Totals(const BoundGroup& group);

  // Empty bytes are a group without rows. DATA_DAMAGED.
  absl::Status Read(std::string_view bytes);
  // Empty when no row is in the group.
  std::string Encode() const;

  uint64_t rows() const { return rows_; }
  // Counts and sums with one row more. FIELD_INVALID for a decimal too precise to be summed.
  absl::Status Add(const std::vector<Datum>& image);
  // With one row less, which was put in before: DATA_DAMAGED when the totals show it was not.
  absl::Status Remove(const std::vector<Datum>& image);
  // Of a count or sum. FIELD_INVALID when a sum does not fit its column.
  absl::StatusOr<Datum> Value(size_t aggregate) const;

  // Places (ordered_contributions.h) of the first and last row; empty when there is none.
  struct Ends {
    std::string low, high;
  };
  Ends& ends(size_t ordering) { return ends_[ordering]; }

 private:
  struct Cell {
    uint64_t count = 0;  // values that are not null
    __int128 sum = 0;
    DecimalSum decimals;
  };
  Aggregate function(size_t aggregate) const;
  bool SumsDecimals(size_t aggregate) const;

  const BoundGroup& group_;
  uint64_t rows_ = 0;
  std::vector<Cell> cells_;
  std::vector<Ends> ends_;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_TOTALS_H_
