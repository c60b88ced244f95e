#include "server/ingest/decode/pg_types.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tidemark::ingest {
namespace {

using tables::Datum;
using tables::Kind;
using testing::IsOkAndHolds;
using testing::ReasonIs;

absl::StatusOr<Datum> Parse(std::string_view type, std::string_view text) {
  const PgTypePtr found = BuiltinPgType(type);
  if (found == nullptr) return absl::NotFoundError(std::string(type));
  return ParsePgText(*found, text);
}

Datum Parsed(std::string_view type, std::string_view text) {
  auto datum = Parse(type, text);
  EXPECT_THAT(datum, testing::IsOk()) << type << " " << text;
  return datum.ok() ? *datum : Datum::Unchanged();
}

void ExpectMalformed(std::string_view type, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    EXPECT_THAT(Parse(type, text), ReasonIs(Reason::kEventMalformed))
        << type << " '" << text << "'";
  }
}

// Microseconds of a UTC date and time.
int64_t Micros(int year, int month, int day, int hour, int minute, int second, int64_t micros) {
  const absl::Time time = absl::FromCivil(absl::CivilSecond(year, month, day, hour, minute, second),
                                          absl::UTCTimeZone());
  return absl::ToUnixMicros(time) + micros;
}

TEST(PgTypesTest, BoolsAreTOrF) {
  EXPECT_EQ(Parsed("bool", "t"), Datum::Bool(true));
  EXPECT_EQ(Parsed("bool", "f"), Datum::Bool(false));
  ExpectMalformed("bool", {"", "true", "T", "1"});
}

TEST(PgTypesTest, OCDC08_IntegersAreExactOver2To53) {
  EXPECT_EQ(Parsed("int8", "9007199254740993"), Datum::Int(9007199254740993));
  EXPECT_EQ(Parsed("int8", "-9223372036854775808"),
            Datum::Int(std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(Parsed("int8", "9223372036854775807"), Datum::Int(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(Parsed("int2", "-32768"), Datum::Int(-32768));
  EXPECT_EQ(Parsed("oid", "4294967295"), Datum::Int(4294967295));
  EXPECT_EQ(Parsed("xid8", "18446744073709551615"), Datum::Decimal("18446744073709551615"));
  ExpectMalformed("int8", {"", "9223372036854775808", "1 ", " 1", "1.0", "0x1", "-"});
}

TEST(PgTypesTest, DoublesKeepEveryBitAndTheirSpecialValues) {
  EXPECT_EQ(Parsed("float8", "0.1"), Datum::Double(0.1));
  EXPECT_EQ(Parsed("float8", "1.7976931348623157e+308"),
            Datum::Double(std::numeric_limits<double>::max()));
  EXPECT_EQ(Parsed("float8", "5e-324"), Datum::Double(std::numeric_limits<double>::denorm_min()));
  EXPECT_EQ(Parsed("float8", "-0"), Datum::Double(-0.0));
  EXPECT_TRUE(std::isnan(Parsed("float8", "NaN").real()));
  EXPECT_EQ(Parsed("float4", "-Infinity"), Datum::Double(-std::numeric_limits<double>::infinity()));
  // The number as PostgreSQL writes it, not the one of the 32 bits.
  EXPECT_EQ(Parsed("float4", "3.14"), Datum::Double(3.14));
  ExpectMalformed("float8", {"", "1,5", "1.5 ", "x"});
}

TEST(PgTypesTest, NumericsAreExactText) {
  const std::string long_number(1000, '9');
  for (const std::string& text :
       {std::string("-123.45"), std::string("0.000"), "1" + std::string(200, '0') + ".50",
        long_number + "." + long_number}) {
    EXPECT_EQ(Parsed("numeric", text), Datum::Decimal(text));
  }
  for (const char* text : {"NaN", "Infinity", "-Infinity"}) {
    EXPECT_EQ(Parsed("numeric", text), Datum::String(text));
  }
  ExpectMalformed("numeric", {"", "1e5", ".5", "5.", "--1", "1.2.3", "+1", "nan"});
}

TEST(PgTypesTest, TextIsKeptAsItIs) {
  EXPECT_EQ(Parsed("text", ""), Datum::String(""));
  EXPECT_EQ(Parsed("bpchar", "ab   "), Datum::String("ab   "));
  EXPECT_EQ(Parsed("varchar", "a\tb\n\xc3\xa9\xf0\x9f\x8c\x8a"),
            Datum::String("a\tb\n\xc3\xa9\xf0\x9f\x8c\x8a"));
  EXPECT_EQ(Parsed("interval", "P1Y2M3DT4H5M6.789S"), Datum::String("P1Y2M3DT4H5M6.789S"));
  EXPECT_EQ(Parsed("timetz", "12:00:00+02"), Datum::String("12:00:00+02"));
  EXPECT_EQ(Parsed("money", "-$1,234.56"), Datum::String("-$1,234.56"));
  ExpectMalformed("text", {"\xff", "a\xc3", "\xed\xa0\x80"});
}

TEST(PgTypesTest, CharOver127IsWrittenInOctal) {
  EXPECT_EQ(Parsed("char", "a"), Datum::String("a"));
  EXPECT_EQ(Parsed("char", ""), Datum::String(""));
  EXPECT_EQ(Parsed("char", "\xff"), Datum::String("\\377"));
  EXPECT_EQ(Parsed("char", "\x80"), Datum::String("\\200"));
}

TEST(PgTypesTest, ByteaIsHexadecimal) {
  EXPECT_EQ(Parsed("bytea", "\\x"), Datum::Bytes(""));
  EXPECT_EQ(Parsed("bytea", "\\x00fF7e"), Datum::Bytes(std::string("\0\xff~", 3)));
  ExpectMalformed("bytea", {"", "\\x0", "\\xzz", "abc", "x00"});
}

TEST(PgTypesTest, DatesOutsideOfYears1To9999StayText) {
  EXPECT_EQ(Parsed("date", "1970-01-01"), Datum::Date(0));
  EXPECT_EQ(Parsed("date", "2024-02-29"), Datum::Date(19782));
  EXPECT_EQ(Parsed("date", "0001-01-01"), Datum::Date(-719162));
  EXPECT_EQ(Parsed("date", "9999-12-31"), Datum::Date(2932896));
  for (const char* text : {"infinity", "-infinity", "0044-03-15 BC", "10000-01-01", "5874897-12-31",
                           "4713-11-24 BC"}) {
    EXPECT_EQ(Parsed("date", text), Datum::String(text));
  }
  ExpectMalformed("date", {"", "2024-2-3", "2023-02-29", "2024-13-01", "03/02/2024", "2024-02-03x",
                           "0000-01-01", "Infinity"});
}

TEST(PgTypesTest, TimesRunToTheEndOfTheDay) {
  EXPECT_EQ(Parsed("time", "00:00:00"), Datum::Time(0));
  EXPECT_EQ(Parsed("time", "04:05:06.789"), Datum::Time(14706789000));
  EXPECT_EQ(Parsed("time", "23:59:59.999999"), Datum::Time(86399999999));
  EXPECT_EQ(Parsed("time", "24:00:00"), Datum::Time(86400000000));
  ExpectMalformed("time", {"", "24:00:01", "4:05:06", "04:05", "04:60:00", "04:05:06+00"});
}

TEST(PgTypesTest, TimestampsAreMomentsInUtc) {
  EXPECT_EQ(Parsed("timestamp", "2024-02-03 04:05:06.789"),
            Datum::Timestamp(Micros(2024, 2, 3, 4, 5, 6, 789000)));
  EXPECT_EQ(Parsed("timestamptz", "2024-02-03 04:05:06.000001+00"),
            Datum::Timestamp(Micros(2024, 2, 3, 4, 5, 6, 1)));
  EXPECT_EQ(Parsed("timestamp", "0001-01-01 00:00:00"),
            Datum::Timestamp(Micros(1, 1, 1, 0, 0, 0, 0)));
  EXPECT_EQ(Parsed("timestamptz", "9999-12-31 23:59:59.999999+00"),
            Datum::Timestamp(Micros(9999, 12, 31, 23, 59, 59, 999999)));
  for (const char* text : {"infinity", "-infinity", "0044-03-15 12:00:00 BC",
                           "10000-01-01 00:00:00", "294276-12-31 23:59:59.999999"}) {
    EXPECT_EQ(Parsed("timestamp", text), Datum::String(text));
  }
  EXPECT_EQ(Parsed("timestamptz", "10000-01-01 00:00:00+00"),
            Datum::String("10000-01-01 00:00:00+00"));
  // Another zone would mean that the session is not set up as asked.
  ExpectMalformed("timestamptz",
                  {"", "2024-02-03", "2024-02-03T04:05:06+00", "2024-02-03 04:05:06+01",
                   "2024-02-30 00:00:00+00", "2024-02-03 24:00:00+00"});
}

TEST(PgTypesTest, JsonIsKeptAsItIs) {
  EXPECT_EQ(Parsed("json", "{\"a\" : 1, \"a\":2}"), Datum::Json("{\"a\" : 1, \"a\":2}"));
  EXPECT_EQ(Parsed("jsonb", "null"), Datum::Json("null"));
  ExpectMalformed("jsonb", {"\"\xff\""});
}

TEST(PgTypesTest, ArraysAreListsWithNullsQuotesAndDimensions) {
  EXPECT_EQ(Parsed("_int4", "{}"), Datum::List({}));
  EXPECT_EQ(Parsed("_int4", "{1,NULL,-3}"),
            Datum::List({Datum::Int(1), Datum::Null(), Datum::Int(-3)}));
  EXPECT_EQ(Parsed("_text", R"({a,"NULL","","a \"b\" \\c",NULL,"{x,y}"})"),
            Datum::List({Datum::String("a"), Datum::String("NULL"), Datum::String(""),
                         Datum::String("a \"b\" \\c"), Datum::Null(), Datum::String("{x,y}")}));
  EXPECT_EQ(Parsed("_int4", "{{1,2},{3,4}}"),
            Datum::List({Datum::List({Datum::Int(1), Datum::Int(2)}),
                         Datum::List({Datum::Int(3), Datum::Int(4)})}));
  EXPECT_EQ(Parsed("_int4", "[0:1][-3:-3]={{1},{2}}"),
            Datum::List({Datum::List({Datum::Int(1)}), Datum::List({Datum::Int(2)})}));
  EXPECT_EQ(Parsed("_box", "{(1,1),(0,0);(2,2),(1,1)}"),
            Datum::List({Datum::String("(1,1),(0,0)"), Datum::String("(2,2),(1,1)")}));
  EXPECT_EQ(Parsed("_numeric", "{1.50,NaN}"),
            Datum::List({Datum::Decimal("1.50"), Datum::String("NaN")}));
  EXPECT_EQ(Parsed("_bytea", R"({"\\x00ff"})"),
            Datum::List({Datum::Bytes(std::string("\0\xff", 2))}));
  ExpectMalformed("_int4", {"", "1", "{", "{1", "{1,", "{1,}", "{,1}", "{1}x", "{x}", "{\"1",
                            "{{1}", "[0:1={1}", "[a]={1}", "{\"1\\"});
}

TEST(PgTypesTest, DeeplyNestedArraysAreRefusedWithoutOverflow) {
  ExpectMalformed("_int4", {std::string(100000, '{'), std::string(33, '{') + std::string(33, '}')});
}

TEST(PgTypesTest, ArraysOfArraysThroughDomainsAreNested) {
  const PgTypePtr inner = MakeArrayType(BuiltinPgType("int4"));
  const PgTypePtr outer = MakeArrayType(inner);
  EXPECT_THAT(
      ParsePgText(*outer, R"({"{1,2}",NULL})"),
      IsOkAndHolds(Datum::List({Datum::List({Datum::Int(1), Datum::Int(2)}), Datum::Null()})));
  EXPECT_EQ(outer->name, "int4[][]");
}

TEST(PgTypesTest, KindsAreKnownBeforeAnyValue) {
  EXPECT_EQ(KindOf(*BuiltinPgType("numeric")), Kind::kDecimal);
  EXPECT_EQ(KindOf(*BuiltinPgType("_numeric")), Kind::kList);
  EXPECT_EQ(KindOf(*BuiltinPgType("uuid")), Kind::kString);
  EXPECT_EQ(KindOf(*BuiltinPgType("timestamptz")), Kind::kTimestamp);
}

TEST(PgTypesTest, TypesAreFoundByOidAndOthersWhenAdded) {
  EXPECT_EQ(BuiltinPgType(1700u), BuiltinPgType("numeric"));
  EXPECT_EQ(BuiltinPgType(1231u), BuiltinPgType("_numeric"));
  EXPECT_EQ(BuiltinPgType(16400u), nullptr);
  PgTypeMap types;
  EXPECT_EQ(types.Find(16400), nullptr);
  types.Add(16400, MakeTextType("shop.mood"));
  ASSERT_NE(types.Find(16400), nullptr);
  EXPECT_EQ(types.Find(16400)->name, "shop.mood");
  EXPECT_EQ(types.Find(23), BuiltinPgType("int4"));
}

}  // namespace
}  // namespace tidemark::ingest
