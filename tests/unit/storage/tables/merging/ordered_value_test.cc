#include "storage/tables/merging/ordered_value.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "storage/tables/merging/condition.h"
#include "storage/tables/value_text.h"
#include "tests/support/status_matchers.h"

namespace tidemark::tables {
namespace {

using ::tidemark::testing::IsOk;
using ::tidemark::testing::ReasonIs;

std::string Bytes(Kind type, const Datum& datum) {
  std::string out;
  EXPECT_THAT(AppendOrderedValue(type, datum, out), IsOk());
  return out;
}

// Values in rising order, none equal.
void ExpectOrdered(Kind type, const std::vector<Datum>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(CompareAs(type, values[i], values[i]), 0);
    for (size_t k = i + 1; k < values.size(); ++k) {
      EXPECT_LT(CompareAs(type, values[i], values[k]), 0) << KindName(type) << " " << i << " " << k;
      EXPECT_GT(CompareAs(type, values[k], values[i]), 0) << KindName(type) << " " << i << " " << k;
      EXPECT_LT(Bytes(type, values[i]), Bytes(type, values[k])) << KindName(type) << " " << i;
      // What follows orders only equals: no value's bytes are the start of another's.
      EXPECT_NE(
          Bytes(type, values[k]).compare(0, Bytes(type, values[i]).size(), Bytes(type, values[i])),
          0);
    }
  }
}

TEST(OrderedValueTest, BytesOrderLikeTheValuesOfEveryType) {
  const double infinity = std::numeric_limits<double>::infinity();
  ExpectOrdered(Kind::kDouble,
                {Datum::Double(-infinity), Datum::Double(-1e300), Datum::Double(-1),
                 Datum::Double(-1e-300), Datum::Double(0), Datum::Double(1e-300), Datum::Double(2),
                 Datum::Double(infinity), Datum::Double(std::nan(""))});
  ExpectOrdered(Kind::kInt, {Datum::Int(INT64_MIN), Datum::Int(-1), Datum::Int(0), Datum::Int(1),
                             Datum::Int(INT64_MAX)});
  ExpectOrdered(Kind::kString, {Datum::String(""), Datum::String(std::string("\0", 1)),
                                Datum::String("a"), Datum::String(std::string("a\0b", 3)),
                                Datum::String("ab"), Datum::String("\xc3\xa4")});
  ExpectOrdered(Kind::kDecimal,
                {Datum::String("-Infinity"), Datum::Decimal("-10.5"), Datum::Decimal("-1"),
                 Datum::Decimal("0.0"), Datum::Decimal("0.01"), Datum::Decimal("9"),
                 Datum::Decimal("10"), Datum::String("Infinity"), Datum::String("NaN")});
  ExpectOrdered(
      Kind::kTimestamp,
      {Datum::String("-infinity"), Datum::String("4713-01-01 00:00:00 BC"),
       Datum::String("0044-03-15 12:00:00 BC"), Datum::Timestamp(kMinTimestamp),
       Datum::Timestamp(0), Datum::Timestamp(kMaxTimestamp), Datum::String("10000-01-01 00:00:00"),
       Datum::String("20000-01-01 00:00:00.5"), Datum::String("infinity")});
  ExpectOrdered(Kind::kDate, {Datum::String("0044-03-15 BC"), Datum::Date(-1), Datum::Date(0),
                              Datum::String("infinity")});
  ExpectOrdered(Kind::kTime, {Datum::Time(0), Datum::Time(kMicrosPerDay)});
  ExpectOrdered(Kind::kBool, {Datum::Bool(false), Datum::Bool(true)});
  ExpectOrdered(Kind::kBytes,
                {Datum::Bytes(""), Datum::Bytes(std::string("\0", 1)), Datum::Bytes("\xff")});
}

TEST(OrderedValueTest, EqualValuesAreEqualBytes) {
  EXPECT_EQ(Bytes(Kind::kDecimal, Datum::Decimal("1.0")),
            Bytes(Kind::kDecimal, Datum::Decimal("1.00")));
  EXPECT_EQ(Bytes(Kind::kDouble, Datum::Double(-0.0)), Bytes(Kind::kDouble, Datum::Double(0.0)));
  EXPECT_EQ(CompareAs(Kind::kTimestamp, Datum::String("10000-01-01 02:00:00+02"),
                      Datum::String("10000-01-01 00:00:00+00")),
            0);
  // Text that means something in another type is text here.
  EXPECT_LT(CompareAs(Kind::kString, Datum::String("infinity"), Datum::String("z")), 0);
}

TEST(OrderedValueTest, WhatHasNoOrderIsRefused) {
  std::string out;
  for (const Datum& datum :
       {Datum::Json("1"), Datum::List({}), Datum::Decimal(std::string(2000, '9'))}) {
    EXPECT_THAT(AppendOrderedValue(datum.kind(), datum, out), ReasonIs(Reason::kFieldInvalid));
  }
}

TEST(ConditionTest, ConstantsAreReadAsTheColumnsType) {
  const auto holds = [](Kind type, const std::string& constant, const Datum& value) {
    Condition condition;
    condition.values = {constant};
    const auto bound = BoundCondition::Bind(condition, type);
    EXPECT_THAT(bound, IsOk()) << constant;
    return bound.ok() && bound->Holds(value);
  };
  EXPECT_TRUE(holds(Kind::kBool, "true", Datum::Bool(true)));
  EXPECT_TRUE(holds(Kind::kInt, "-7", Datum::Int(-7)));
  EXPECT_TRUE(holds(Kind::kDouble, "1.5", Datum::Double(1.5)));
  EXPECT_TRUE(holds(Kind::kString, "007", Datum::String("007")));
  EXPECT_FALSE(holds(Kind::kString, "7", Datum::String("007")));
  EXPECT_TRUE(holds(Kind::kDecimal, "1.50", Datum::Decimal("1.5")));
  EXPECT_TRUE(holds(Kind::kDecimal, "NaN", Datum::String("NaN")));
  EXPECT_TRUE(holds(Kind::kTimestamp, "1970-01-01T01:00:00+01:00", Datum::Timestamp(0)));
  EXPECT_TRUE(holds(Kind::kTimestamp, "infinity", Datum::String("infinity")));
  EXPECT_TRUE(holds(Kind::kDate, "1970-01-02", Datum::Date(1)));
  EXPECT_TRUE(holds(Kind::kTime, "00:00:01", Datum::Time(1'000'000)));
}

TEST(ConditionTest, EveryComparisonMeansWhatItSaysAndNullFulfilsNone) {
  using Op = Condition::Op;
  const auto holds = [](Op op, std::vector<std::string> values, const Datum& value) {
    Condition condition;
    condition.op = op;
    condition.values = std::move(values);
    return BoundCondition::Bind(condition, Kind::kInt)->Holds(value);
  };
  const struct {
    Op op;
    bool below, equal, above;
  } kTable[] = {{Op::kEq, false, true, false}, {Op::kNe, true, false, true},
                {Op::kLt, true, false, false}, {Op::kLe, true, true, false},
                {Op::kGt, false, false, true}, {Op::kGe, false, true, true},
                {Op::kIn, false, true, false}, {Op::kNotIn, true, false, true}};
  for (const auto& row : kTable) {
    EXPECT_EQ(holds(row.op, {"5"}, Datum::Int(4)), row.below);
    EXPECT_EQ(holds(row.op, {"5"}, Datum::Int(5)), row.equal);
    EXPECT_EQ(holds(row.op, {"5"}, Datum::Int(6)), row.above);
    EXPECT_FALSE(holds(row.op, {"5"}, Datum::Null()));
  }
  EXPECT_TRUE(holds(Op::kIn, {"1", "6"}, Datum::Int(6)));
  EXPECT_FALSE(holds(Op::kNotIn, {"1", "6"}, Datum::Int(6)));
  EXPECT_TRUE(holds(Op::kIsNull, {}, Datum::Null()));
  EXPECT_FALSE(holds(Op::kIsNull, {}, Datum::Int(0)));
  EXPECT_TRUE(holds(Op::kIsNotNull, {}, Datum::Int(0)));
  EXPECT_FALSE(holds(Op::kIsNotNull, {}, Datum::Null()));
}

}  // namespace
}  // namespace tidemark::tables
