#include "storage/tables/datum.h"

#include <cmath>
#include <limits>

#include "common/limits.h"
#include "gtest/gtest.h"
#include "storage/tables/value_text.h"
#include "tests/support/status_matchers.h"
#include "tidemark/v1/value.pb.h"

namespace tidemark::tables {
namespace {

using ::tidemark::testing::IsOk;
using ::tidemark::testing::IsOkAndHolds;
using ::tidemark::testing::ReasonIs;

std::string Wire(const Datum& datum) {
  std::string bytes;
  AppendValue(datum, bytes);
  return bytes;
}

std::vector<Datum> OneOfEach() {
  return {
      Datum::Null(),
      Datum::Bool(false),
      Datum::Bool(true),
      Datum::Int(0),
      Datum::Int(-1),
      Datum::Int(std::numeric_limits<int64_t>::min()),
      Datum::Int(std::numeric_limits<int64_t>::max()),
      Datum::Int(9007199254740993),
      Datum::Double(0.0),
      Datum::Double(-0.0),
      Datum::Double(1.5),
      Datum::Double(std::numeric_limits<double>::infinity()),
      Datum::String(""),
      Datum::String(std::string("a\0b", 3)),
      Datum::String(std::string(300, 'x')),
      Datum::String("\xe2\x82\xac"),
      Datum::Bytes(std::string("\xff\x00", 2)),
      Datum::Decimal("-123.450"),
      Datum::Json("{\"a\": [1, 2]}"),
      Datum::Timestamp(0),
      Datum::Timestamp(1),
      Datum::Timestamp(-1),
      Datum::Timestamp(1'000'000),
      Datum::Timestamp(kMinTimestamp),
      Datum::Timestamp(kMaxTimestamp),
      Datum::Timestamp(158745787200000000),
      Datum::Date(22313),
      Datum::Date(-1),
      Datum::Time(45296789012),
      Datum::Time(0),
      Datum::List({}),
      Datum::List({Datum::Int(5), Datum::Null(), Datum::String("x")}),
      Datum::List({Datum::List({Datum::Int(1)}), Datum::List({})}),
  };
}

TEST(DatumTest, WireBytesAreThoseOfTheValueMessage) {
  for (const Datum& datum : OneOfEach()) {
    v1::Value value;
    ToValue(datum, &value);
    EXPECT_EQ(Wire(datum), value.SerializeAsString()) << value.ShortDebugString();
  }
}

TEST(DatumTest, WireBytesReadBackAsTheSameDatum) {
  for (const Datum& datum : OneOfEach()) {
    EXPECT_THAT(ParseValue(Wire(datum)), IsOkAndHolds(datum));
  }
  const Datum nan = Datum::Double(std::nan(""));
  EXPECT_THAT(ParseValue(Wire(nan)), IsOkAndHolds(nan));
}

TEST(DatumTest, MessagesReadBackAsTheSameDatum) {
  for (const Datum& datum : OneOfEach()) {
    v1::Value value;
    ToValue(datum, &value);
    EXPECT_THAT(FromValue(value, "column"), IsOkAndHolds(datum));
    v1::Value again = value;  // a message that held something before
    ToValue(datum, &again);
    EXPECT_EQ(again.SerializeAsString(), value.SerializeAsString());
  }
}

TEST(DatumTest, CutOrChangedWireBytesAreDamageNotACrash) {
  for (const Datum& datum : OneOfEach()) {
    const std::string bytes = Wire(datum);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_THAT(ParseValue(bytes.substr(0, size)), ReasonIs(Reason::kDataDamaged));
    }
    EXPECT_THAT(ParseValue(bytes + "x"), ReasonIs(Reason::kDataDamaged));
  }
  EXPECT_THAT(ParseValue("\x6a\x01z"), ReasonIs(Reason::kDataDamaged));  // field 13
  EXPECT_THAT(ParseValue("\x10\x02"), ReasonIs(Reason::kDataDamaged));   // bool 2
  EXPECT_THAT(ParseValue("\x4a\x01z"), ReasonIs(Reason::kDataDamaged));  // date "z"
  EXPECT_THAT(ParseValue("\x42\x02\x10\x01"), IsOk());                   // nanos alone
  EXPECT_THAT(ParseValue("\x42\x02\x18\x01"), ReasonIs(Reason::kDataDamaged));
}

TEST(DatumTest, ListsNestedTooDeepAreRefusedEverywhere) {
  Datum deep = Datum::Int(1);
  v1::Value value;
  value.set_int_value(1);
  for (size_t i = 0; i <= limits::kMaxValueDepth; ++i) {
    deep = Datum::List({deep});
    v1::Value outer;
    *outer.mutable_list_value()->add_values() = value;
    value = outer;
  }
  EXPECT_THAT(ParseValue(Wire(deep)), ReasonIs(Reason::kDataDamaged));
  EXPECT_THAT(FromValue(value, "tags"), ReasonIs(Reason::kFieldInvalid));
  const Datum allowed = deep.items()[0];
  EXPECT_THAT(ParseValue(Wire(allowed)), IsOkAndHolds(allowed));
  EXPECT_THAT(FromValue(value.list_value().values(0), "tags"), IsOkAndHolds(allowed));
}

TEST(DatumTest, MalformedValuesAreRefusedNamingTheField) {
  std::vector<v1::Value> malformed(10);
  malformed[1].set_decimal_value("1e5");
  malformed[2].set_date_value("2024-02-30");
  malformed[3].set_time_value("25:00:00");
  malformed[4].mutable_timestamp_value()->set_seconds(253402300800);
  malformed[5].mutable_timestamp_value()->set_seconds(-62135596801);
  malformed[6].mutable_timestamp_value()->set_nanos(-1);
  malformed[7].mutable_timestamp_value()->set_nanos(1500);
  malformed[8].set_string_value("\xff");
  malformed[9].mutable_list_value()->add_values();
  for (const v1::Value& value : malformed) {
    const auto datum = FromValue(value, "price");
    ASSERT_THAT(datum, ReasonIs(Reason::kFieldInvalid)) << value.ShortDebugString();
    EXPECT_EQ(MetadataValue(datum.status(), "field"), "price");
  }
}

TEST(DatumTest, DataCompareByValueWithNullsFirst) {
  EXPECT_LT(CompareData(Datum::Null(), Datum::Int(-5)), 0);
  EXPECT_EQ(CompareData(Datum::Null(), Datum::Null()), 0);
  EXPECT_EQ(CompareData(Datum::Decimal("1.0"), Datum::Decimal("1.00")), 0);
  EXPECT_LT(CompareData(Datum::Int(-7), Datum::Int(3)), 0);
  EXPECT_LT(CompareData(Datum::Double(1e300), Datum::Double(std::nan(""))), 0);
  EXPECT_EQ(CompareData(Datum::Double(-0.0), Datum::Double(0.0)), 0);
  EXPECT_GT(CompareData(Datum::String("\xc3\xa4"), Datum::String("z")), 0);
  EXPECT_LT(CompareData(Datum::List({Datum::Int(1)}), Datum::List({Datum::Int(1), Datum::Null()})),
            0);
}

TEST(DatumTest, ValuesAreConvertedOnlyWhereNothingIsLost) {
  EXPECT_THAT(CoerceTo(Kind::kDecimal, Datum::Int(-5)), IsOkAndHolds(Datum::Decimal("-5")));
  EXPECT_THAT(CoerceTo(Kind::kString, Datum::Int(7)), IsOkAndHolds(Datum::String("7")));
  EXPECT_THAT(CoerceTo(Kind::kString, Datum::Decimal("1.50")), IsOkAndHolds(Datum::String("1.50")));
  EXPECT_THAT(CoerceTo(Kind::kString, Datum::Json("[1]")), IsOkAndHolds(Datum::String("[1]")));
  EXPECT_THAT(CoerceTo(Kind::kDouble, Datum::Int(int64_t{1} << 53)),
              IsOkAndHolds(Datum::Double(9007199254740992.0)));
  EXPECT_THAT(CoerceTo(Kind::kDouble, Datum::Int((int64_t{1} << 53) + 1)),
              ReasonIs(Reason::kFieldInvalid));
  EXPECT_THAT(CoerceTo(Kind::kInt, Datum::Decimal("5")), ReasonIs(Reason::kFieldInvalid));
  EXPECT_THAT(CoerceTo(Kind::kInt, Datum::Double(5)), ReasonIs(Reason::kFieldInvalid));
  EXPECT_THAT(CoerceTo(Kind::kJson, Datum::String("{}")), ReasonIs(Reason::kFieldInvalid));
  EXPECT_THAT(CoerceTo(Kind::kTimestamp, Datum::Date(1)), ReasonIs(Reason::kFieldInvalid));
  EXPECT_THAT(CoerceTo(Kind::kInt, Datum::Null()), IsOkAndHolds(Datum::Null()));
  EXPECT_THAT(CoerceTo(Kind::kInt, Datum::Unchanged()), IsOkAndHolds(Datum::Unchanged()));
}

TEST(DatumTest, SpecialValuesStayTextInColumnsOfTheirType) {
  const Datum infinity = Datum::String("infinity");
  EXPECT_THAT(CoerceTo(Kind::kTimestamp, infinity), IsOkAndHolds(infinity));
  EXPECT_THAT(CoerceTo(Kind::kDate, Datum::String("0044-03-15 BC")),
              IsOkAndHolds(Datum::String("0044-03-15 BC")));
  EXPECT_THAT(CoerceTo(Kind::kDecimal, Datum::String("NaN")), IsOkAndHolds(Datum::String("NaN")));
  EXPECT_THAT(CoerceTo(Kind::kTimestamp, Datum::String("yesterday")),
              ReasonIs(Reason::kFieldInvalid));
  EXPECT_THAT(CoerceTo(Kind::kTime, infinity), ReasonIs(Reason::kFieldInvalid));
}

TEST(DatumTest, SchemasFitWhenEveryValueFits) {
  EXPECT_TRUE(CanCoerce(Kind::kInt, Kind::kDecimal));
  EXPECT_TRUE(CanCoerce(Kind::kJson, Kind::kString));
  EXPECT_FALSE(CanCoerce(Kind::kInt, Kind::kDouble));  // beyond 2^53 a double is another number
  EXPECT_FALSE(CanCoerce(Kind::kDecimal, Kind::kInt));
  EXPECT_FALSE(CanCoerce(Kind::kString, Kind::kTimestamp));
}

TEST(DatumTest, KeyElementsReadBack) {
  for (const Datum& datum :
       {Datum::Bool(true), Datum::Int(-9007199254740993), Datum::String("C-17"),
        Datum::Bytes(std::string("\0\xff", 2)), Datum::Decimal("-1.5"), Datum::Timestamp(-7),
        Datum::Date(-719162), Datum::Time(kMicrosPerDay)}) {
    state::KeyEncoder key;
    ASSERT_THAT(AppendKey(datum, key), IsOk());
    const auto elements = state::DecodeKey(key.bytes());
    ASSERT_THAT(elements, IsOk());
    ASSERT_EQ(elements->size(), 1u);
    EXPECT_EQ(FromKeyElement((*elements)[0]), datum);
  }
}

TEST(DatumTest, WhatHasNoOrderOrIsUnknownIsNoKey) {
  for (const Datum& datum : {Datum::Null(), Datum::Unchanged(), Datum::Double(1), Datum::Json("1"),
                             Datum::List({Datum::Int(1)}), Datum::Decimal("NaN")}) {
    state::KeyEncoder key;
    EXPECT_THAT(AppendKey(datum, key), ReasonIs(Reason::kKeyMalformed));
  }
}

}  // namespace
}  // namespace tidemark::tables
