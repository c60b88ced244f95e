#include "storage/tables/merging/decimal_sum.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tidemark::tables {
namespace {

using ::tidemark::testing::IsOk;
using ::tidemark::testing::ReasonIs;

TEST(DecimalSumTest, DecimalsAddExactly) {
  EXPECT_EQ(AddDecimals("0", "0"), "0");
  EXPECT_EQ(AddDecimals("0.1", "0.2"), "0.3");
  EXPECT_EQ(AddDecimals("1", "0.005"), "1.005");
  EXPECT_EQ(AddDecimals("999.99", "0.01"), "1000.00");
  EXPECT_EQ(AddDecimals("-1.5", "1.5"), "0.0");
  EXPECT_EQ(AddDecimals("1.5", "-2"), "-0.5");
  EXPECT_EQ(AddDecimals("-0.5", "-0.6"), "-1.1");
  EXPECT_EQ(AddDecimals("-3", "10"), "7");
  EXPECT_EQ(AddDecimals("007", "-0"), "7");
  EXPECT_EQ(AddDecimals("99999999999999999999999999999999", "1"),
            "100000000000000000000000000000000");
}

// Case O-BUD-02's amounts, which doubles get wrong.
TEST(DecimalSumTest, ManySmallAmountsAddUp) {
  DecimalSum sum;
  for (int i = 0; i < 1000; ++i) ASSERT_THAT(sum.Add(Datum::Decimal("0.004")), IsOk());
  EXPECT_EQ(sum.Value(), Datum::Decimal("4.000"));
}

TEST(DecimalSumTest, NothingSummedIsNull) {
  DecimalSum sum;
  EXPECT_EQ(sum.Value(), Datum::Null());
  ASSERT_THAT(sum.Add(Datum::Decimal("1.50")), IsOk());
  EXPECT_TRUE(sum.Remove(Datum::Decimal("1.50")));
  EXPECT_EQ(sum.Value(), Datum::Null());
}

TEST(DecimalSumTest, WhatWasTakenOutLeavesNoTrace) {
  std::mt19937_64 random(7);
  const auto text = [&] {
    const auto number = static_cast<int64_t>(random() % 2'000'000) - 1'000'000;
    std::string digits = std::to_string(number < 0 ? -number : number);
    const size_t scale = random() % 5;
    if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
    if (scale > 0) digits.insert(digits.size() - scale, ".");
    return (number < 0 ? "-" : "") + digits;
  };
  DecimalSum sum;
  std::vector<std::string> in;
  for (int i = 0; i < 3000; ++i) {
    if (in.empty() || random() % 3 != 0) {
      in.push_back(text());
      ASSERT_THAT(sum.Add(Datum::Decimal(in.back())), IsOk());
    } else {
      std::swap(in[random() % in.size()], in.back());
      ASSERT_TRUE(sum.Remove(Datum::Decimal(in.back())));
      in.pop_back();
    }
    if (i % 50 != 0) continue;
    DecimalSum fresh;
    for (const std::string& value : in) ASSERT_THAT(fresh.Add(Datum::Decimal(value)), IsOk());
    ASSERT_EQ(sum.Value(), fresh.Value());
    // Also its stored form, and what is read back.
    std::string stored, of_fresh;
    sum.AppendTo(stored);
    fresh.AppendTo(of_fresh);
    ASSERT_EQ(stored, of_fresh);
    DecimalSum read;
    state::ByteReader reader(stored);
    ASSERT_TRUE(read.ReadFrom(reader) && reader.done());
    sum = read;
  }
}

TEST(DecimalSumTest, SpecialValuesSumAsInPostgres) {
  DecimalSum sum;
  ASSERT_THAT(sum.Add(Datum::Decimal("5")), IsOk());
  ASSERT_THAT(sum.Add(Datum::String("-Infinity")), IsOk());
  EXPECT_EQ(sum.Value(), Datum::String("-Infinity"));
  ASSERT_THAT(sum.Add(Datum::String("Infinity")), IsOk());
  EXPECT_EQ(sum.Value(), Datum::String("NaN"));
  EXPECT_TRUE(sum.Remove(Datum::String("-Infinity")));
  EXPECT_EQ(sum.Value(), Datum::String("Infinity"));
  EXPECT_TRUE(sum.Remove(Datum::String("Infinity")));
  EXPECT_EQ(sum.Value(), Datum::Decimal("5"));
}

TEST(DecimalSumTest, WhatWasNeverAddedIsNotTakenOut) {
  DecimalSum sum;
  EXPECT_FALSE(sum.Remove(Datum::Decimal("5")));
  EXPECT_FALSE(sum.Remove(Datum::String("NaN")));
  ASSERT_THAT(sum.Add(Datum::Decimal("5.0")), IsOk());
  EXPECT_FALSE(sum.Remove(Datum::Decimal("5.00")));
  EXPECT_TRUE(sum.Remove(Datum::Decimal("5.0")));
}

TEST(DecimalSumTest, EndlessFractionsAreRefused) {
  DecimalSum sum;
  EXPECT_THAT(sum.Add(Datum::Decimal("0." + std::string(DecimalSum::kMaxScale + 1, '1'))),
              ReasonIs(Reason::kFieldInvalid));
  EXPECT_EQ(sum.Value(), Datum::Null());
}

}  // namespace
}  // namespace tidemark::tables
