#include "storage/tables/merging/ordered_value.h"

#include <cmath>

#include "common/error.h"
#include "storage/state/coding.h"
#include "storage/tables/value_text.h"

namespace tidemark::tables {
namespace {

using Rank = SpecialOrder::Rank;

// Where a value stands as a special one; ordinary values are kOrdinary.
SpecialOrder SpecialOrderOf(Kind type, const Datum& datum) {
  if (datum.kind() == type || datum.kind() != Kind::kString) return SpecialOrder();
  return ParseSpecial(type, datum.text()).value_or(SpecialOrder());
}

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

// Bits that order like the numbers, NaN last and both zeros equal.
uint64_t OrderedBits(double value) {
  if (std::isnan(value)) return ~uint64_t{0};
  if (value == 0) value = 0;
  const auto bits = static_cast<uint64_t>(Datum::Double(value).number());
  constexpr uint64_t kSign = uint64_t{1} << 63;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

}  // namespace

int CompareAs(Kind type, const Datum& a, const Datum& b) {
  if (a.kind() == b.kind() && a.kind() == type) return CompareData(a, b);
  const SpecialOrder left = SpecialOrderOf(type, a), right = SpecialOrderOf(type, b);
  if (left.rank != right.rank) return Order(left.rank, right.rank);
  if (left.rank == Rank::kOrdinary) return CompareData(a, b);
  if (left.days != right.days) return Order(left.days, right.days);
  return Order(left.micros, right.micros);
}

absl::Status AppendOrderedValue(Kind type, const Datum& datum, std::string& out) {
  const SpecialOrder special = SpecialOrderOf(type, datum);
  out += static_cast<char>(special.rank);
  state::KeyEncoder key;
  if (special.rank == Rank::kBefore || special.rank == Rank::kAfter) {
    out += key.AddDate(special.days).AddTime(special.micros).bytes();
    return absl::OkStatus();
  }
  if (special.rank != Rank::kOrdinary) return absl::OkStatus();
  if (datum.kind() == Kind::kDouble) {
    state::AppendBigEndian64(&out, OrderedBits(datum.real()));
    return absl::OkStatus();
  }
  if (!AppendKey(datum, key).ok()) {
    return MakeError(Reason::kFieldInvalid,
                     "A value of type " + std::string(KindName(datum.kind())) +
                         " has no order, or too many digits to be ordered by.");
  }
  out += key.bytes();
  return absl::OkStatus();
}

}  // namespace tidemark::tables
