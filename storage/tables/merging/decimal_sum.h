// Exact sums of decimals that values also leave: what a fresh sum over the values still in it would
// give, to the last digit, without looking at them again.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_DECIMAL_SUM_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_DECIMAL_SUM_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/state/coding.h"
#include "storage/tables/datum.h"

namespace tidemark::tables {

// The exact sum of two decimals, with as many fraction digits as the longer of them.
std::string AddDecimals(std::string_view a, std::string_view b);

// As PostgreSQL sums numerics: the result has as many fraction digits as the summand with the most;
// NaN, and infinities of both signs, make NaN.
class DecimalSum {
 public:
  // A kDecimal, or the text of a special value. FIELD_INVALID for more than kMaxScale fraction
  // digits.
  absl::Status Add(const Datum& value);
  // Must have been added before; false when what is in it shows that it was not.
  [[nodiscard]] bool Remove(const Datum& value);

  // Null when nothing is in it.
  Datum Value() const;

  void AppendTo(std::string& out) const;
  bool ReadFrom(state::ByteReader& reader);

  static constexpr size_t kMaxScale = 16383;

 private:
  // How many of the value's kind and scale are in it.
  uint64_t& CountOf(const Datum& value);

  std::string sum_ = "0";
  std::map<uint64_t, uint64_t> scales_;  // fraction digits -> how many summands have them
  uint64_t nans_ = 0, infinities_ = 0, minus_infinities_ = 0;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_DECIMAL_SUM_H_
