#include "storage/tables/value_text.h"

#include <tuple>

#include "gtest/gtest.h"

namespace tidemark::tables {
namespace {

std::string DateText(int32_t days) {
  std::string text;
  AppendDate(days, text);
  return text;
}

std::string TimeText(int64_t micros) {
  std::string text;
  AppendTime(micros, text);
  return text;
}

TEST(ValueTextTest, DatesGoThereAndBack) {
  EXPECT_EQ(DateText(0), "1970-01-01");
  EXPECT_EQ(DateText(kMinDate), "0001-01-01");
  EXPECT_EQ(DateText(kMaxDate), "9999-12-31");
  EXPECT_EQ(DateText(22313), "2031-02-03");
  for (int32_t days = kMinDate; days <= kMaxDate; days += 97) {
    ASSERT_EQ(ParseDate(DateText(days)), days);
  }
}

TEST(ValueTextTest, ImpossibleAndOtherwiseWrittenDatesAreRefused) {
  for (const char* text : {"", "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "2024-1-01",
                           "0000-01-01", "10000-01-01", "-001-01-01", "2024-01-01 ", "20240101"}) {
    EXPECT_EQ(ParseDate(text), std::nullopt) << text;
  }
}

TEST(ValueTextTest, TimesShowOnlyTheDigitsTheyNeed) {
  EXPECT_EQ(TimeText(0), "00:00:00");
  EXPECT_EQ(TimeText(45296789000), "12:34:56.789");
  EXPECT_EQ(TimeText(45296789012), "12:34:56.789012");
  EXPECT_EQ(TimeText(kMicrosPerDay), "24:00:00");
  EXPECT_EQ(TimeText(1), "00:00:00.000001");
}

TEST(ValueTextTest, TimesAreReadToTheMicrosecondAndNoFiner) {
  EXPECT_EQ(ParseTime("12:34:56.789"), 45296789000);
  EXPECT_EQ(ParseTime("12:34:56.789012000"), 45296789012);
  EXPECT_EQ(ParseTime("24:00:00"), kMicrosPerDay);
  for (const char* text : {"", "12:34", "24:00:00.000001", "25:00:00", "12:60:00", "12:00:60",
                           "12:34:56.", "12:34:56.1234567", "12:34:56Z", "1:02:03"}) {
    EXPECT_EQ(ParseTime(text), std::nullopt) << text;
  }
}

TEST(ValueTextTest, TimestampsAreReadInAnyZone) {
  EXPECT_EQ(ParseTimestamp("1970-01-01T00:00:01Z"), 1'000'000);
  EXPECT_EQ(ParseTimestamp("1970-01-01 02:00:00.5+02"), 500'000);
  EXPECT_EQ(ParseTimestamp("1969-12-31T20:30:00-03:30"), 0);
  EXPECT_EQ(ParseTimestamp("9999-12-31 23:59:59.999999"), kMaxTimestamp);
  for (const char* text : {"", "1970-01-01", "1970-01-01T00:00", "9999-12-31 23:59:59-01",
                           "0001-01-01 00:00:00+01", "1970-01-01T00:00:00 CET"}) {
    EXPECT_EQ(ParseTimestamp(text), std::nullopt) << text;
  }
}

TEST(ValueTextTest, DecimalsAreDigitsWithOnePointAtMost) {
  for (const char* text : {"0", "-1", "007", "1.50", "-0.0", "123456789012345678901234567890.12"}) {
    EXPECT_TRUE(IsDecimal(text)) << text;
  }
  for (const char* text : {"", "-", ".5", "5.", "1e5", "+1", "1,5", "NaN", "1.2.3", " 1", "--1"}) {
    EXPECT_FALSE(IsDecimal(text)) << text;
  }
}

TEST(ValueTextTest, DecimalsCompareByValue) {
  EXPECT_EQ(CompareDecimals("1.0", "1.00"), 0);
  EXPECT_EQ(CompareDecimals("-0", "0.00"), 0);
  EXPECT_EQ(CompareDecimals("007", "7"), 0);
  EXPECT_LT(CompareDecimals("-2", "-1.5"), 0);
  EXPECT_GT(CompareDecimals("-1.05", "-1.5"), 0);
  EXPECT_LT(CompareDecimals("9.99", "10"), 0);
  EXPECT_LT(CompareDecimals("0.5", "0.51"), 0);
  EXPECT_GT(CompareDecimals("9007199254740993", "9007199254740992"), 0);
}

// The order PostgreSQL sorts them in.
TEST(ValueTextTest, SpecialTimestampsAreKnownAndInOrder) {
  const std::vector<const char*> ordered = {"-infinity",
                                            "4713-01-01 00:00:00 BC",
                                            "0044-03-15 12:00:00+00 BC",
                                            "0001-12-31 23:59:59.5 BC",
                                            "10000-01-01 00:00:00",
                                            "10000-01-01 00:00:00.000001+00",
                                            "294276-12-31 23:59:59.999999+00",
                                            "infinity"};
  const auto order = [](const char* text) {
    const auto special = ParseSpecial(Kind::kTimestamp, text);
    EXPECT_TRUE(special.has_value()) << text;
    return special ? std::make_tuple(special->rank, special->days, special->micros)
                   : std::make_tuple(SpecialOrder::Rank::kNaN, 0, int64_t{0});
  };
  for (size_t i = 1; i < ordered.size(); ++i) {
    EXPECT_LT(order(ordered[i - 1]), order(ordered[i])) << ordered[i];
  }
  EXPECT_EQ(order("10000-01-01 02:00:00+02"), order("10000-01-01 00:00:00+00"));
  EXPECT_TRUE(IsSpecialValue(Kind::kDate, "0044-03-15 BC"));
  EXPECT_TRUE(IsSpecialValue(Kind::kDate, "10000-01-01"));
}

TEST(ValueTextTest, OrdinaryAndForeignTextsAreNotSpecial) {
  for (const char* text :
       {"", "2024-01-01 00:00:00", "9999-12-31 23:59:59.999999", "0001-01-01 00:00:00", "Infinity",
        "NaN", "soon", "10000-13-01 00:00:00", "12000-01-01 99:00:00", "0000-01-01 BC", " BC",
        "10000-01-01 00:00:00 CE", "99999999-01-01 00:00:00"}) {
    EXPECT_FALSE(IsSpecialValue(Kind::kTimestamp, text)) << text;
  }
  // Year 9999 in its own zone, year 10000 in UTC; and the other way round.
  EXPECT_TRUE(IsSpecialValue(Kind::kTimestamp, "9999-12-31 23:00:00-02"));
  EXPECT_FALSE(IsSpecialValue(Kind::kTimestamp, "10000-01-01 01:00:00+02"));
  EXPECT_FALSE(IsSpecialValue(Kind::kDate, "10000-01-01 00:00:00"));
  EXPECT_TRUE(IsSpecialValue(Kind::kDecimal, "NaN"));
  EXPECT_TRUE(IsSpecialValue(Kind::kDecimal, "-Infinity"));
  EXPECT_FALSE(IsSpecialValue(Kind::kDecimal, "infinity"));
  EXPECT_FALSE(IsSpecialValue(Kind::kString, "infinity"));
  EXPECT_FALSE(IsSpecialValue(Kind::kInt, "NaN"));
}

}  // namespace
}  // namespace tidemark::tables
