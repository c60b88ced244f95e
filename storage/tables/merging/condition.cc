#include "storage/tables/merging/condition.h"

#include <algorithm>
#include <optional>

#include "absl/strings/numbers.h"
#include "common/error.h"
#include "common/strings.h"
#include "storage/tables/merging/ordered_value.h"
#include "storage/tables/value_text.h"

namespace tidemark::tables {
namespace {

// What somebody wrote for a value of this type.
std::optional<Datum> ParseConstant(Kind type, const std::string& text) {
  switch (type) {
    case Kind::kBool:
      if (text == "true") return Datum::Bool(true);
      if (text == "false") return Datum::Bool(false);
      return std::nullopt;
    case Kind::kInt: {
      int64_t value = 0;
      if (!absl::SimpleAtoi(text, &value)) return std::nullopt;
      return Datum::Int(value);
    }
    case Kind::kDouble: {
      double value = 0;
      if (!absl::SimpleAtod(text, &value)) return std::nullopt;
      return Datum::Double(value);
    }
    case Kind::kString:
      return Datum::String(text);
    case Kind::kDecimal:
      if (IsDecimal(text)) return Datum::Decimal(text);
      break;
    case Kind::kTimestamp:
      if (const auto micros = ParseTimestamp(text)) return Datum::Timestamp(*micros);
      break;
    case Kind::kDate:
      if (const auto days = ParseDate(text)) return Datum::Date(*days);
      break;
    case Kind::kTime:
      if (const auto micros = ParseTime(text)) return Datum::Time(*micros);
      break;
    default:
      return std::nullopt;
  }
  if (IsSpecialValue(type, text)) return Datum::String(text);
  return std::nullopt;
}

absl::Status ConditionError(const Condition& condition, const std::string& problem) {
  return MakeError(Reason::kFieldInvalid,
                   "line " + std::to_string(condition.line) + ": the condition on column \"" +
                       condition.column + "\": " + problem,
                   {{"line", std::to_string(condition.line)}, {"column", condition.column}});
}

}  // namespace

absl::StatusOr<BoundCondition> BoundCondition::Bind(const Condition& condition, Kind type) {
  BoundCondition bound;
  bound.op_ = condition.op;
  bound.type_ = type;
  const bool comparable = type != Kind::kBytes && type != Kind::kJson && type != Kind::kList;
  if (!comparable && !condition.values.empty()) {
    return ConditionError(condition, "it is of type " + std::string(KindName(type)) +
                                         ", which goes with is_null and is_not_null only.");
  }
  for (const std::string& text : condition.values) {
    std::optional<Datum> constant = ParseConstant(type, text);
    if (!constant) {
      return ConditionError(condition, tidemark::Quoted(text, 60) + " is no value of type " +
                                           std::string(KindName(type)) + ".");
    }
    bound.constants_.push_back(*std::move(constant));
  }
  return bound;
}

bool BoundCondition::Holds(const Datum& value) const {
  using Op = Condition::Op;
  if (value.is_null()) return op_ == Op::kIsNull;
  const auto compare = [&](const Datum& constant) { return CompareAs(type_, value, constant); };
  const auto is_among = [&] {
    return std::any_of(constants_.begin(), constants_.end(),
                       [&](const Datum& constant) { return compare(constant) == 0; });
  };
  switch (op_) {
    case Op::kEq:
      return compare(constants_[0]) == 0;
    case Op::kNe:
      return compare(constants_[0]) != 0;
    case Op::kLt:
      return compare(constants_[0]) < 0;
    case Op::kLe:
      return compare(constants_[0]) <= 0;
    case Op::kGt:
      return compare(constants_[0]) > 0;
    case Op::kGe:
      return compare(constants_[0]) >= 0;
    case Op::kIn:
      return is_among();
    case Op::kNotIn:
      return !is_among();
    case Op::kIsNull:
      return false;
    case Op::kIsNotNull:
      return true;
  }
  return false;
}

}  // namespace tidemark::tables
