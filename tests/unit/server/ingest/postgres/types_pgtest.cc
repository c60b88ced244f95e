// Every built-in type of PostgreSQL: copy and stream give the identical Datum, and it is the one
// docs/types.md ("PostgreSQL") says.
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/ingest/decode/pg_types.h"
#include "storage/tables/row_codec.h"
#include "tests/unit/server/ingest/postgres/items_world.h"

namespace tidemark::testing {
namespace {

using tables::Datum;
using tables::Kind;

struct Sample {
  std::string type;  // as SQL names it
  std::string literal;
  Datum expected;
};

Datum S(std::string text) { return Datum::String(std::move(text)); }
Datum Dec(std::string text) { return Datum::Decimal(std::move(text)); }
Datum At(int64_t seconds, int64_t micros = 0) {
  return Datum::Timestamp(seconds * 1000000 + micros);
}

// At least one of every type that has values of its own; extremes where a type has them.
std::vector<Sample> Samples() {
  const double inf = std::numeric_limits<double>::infinity();
  return {
      {"bool", "true", Datum::Bool(true)},
      {"bool", "false", Datum::Bool(false)},
      {"int2", "-32768", Datum::Int(-32768)},
      {"int2", "32767", Datum::Int(32767)},
      {"int4", "-2147483648", Datum::Int(-2147483648)},
      {"int8", "9223372036854775807", Datum::Int(std::numeric_limits<int64_t>::max())},
      {"int8", "-9223372036854775808", Datum::Int(std::numeric_limits<int64_t>::min())},
      {"oid", "4294967295", Datum::Int(4294967295)},
      {"xid", "4294967295", Datum::Int(4294967295)},
      {"cid", "7", Datum::Int(7)},
      {"xid8", "18446744073709551615", Dec("18446744073709551615")},
      {"float4", "3.14", Datum::Double(3.14)},
      {"float4", "NaN", Datum::Double(std::numeric_limits<double>::quiet_NaN())},
      {"float8", "0.1", Datum::Double(0.1)},
      {"float8", "1.7976931348623157e308", Datum::Double(1.7976931348623157e308)},
      {"float8", "5e-324", Datum::Double(5e-324)},
      {"float8", "-0", Datum::Double(-0.0)},
      {"float8", "Infinity", Datum::Double(inf)},
      {"float8", "-Infinity", Datum::Double(-inf)},
      {"numeric", "0.00", Dec("0.00")},
      {"numeric", "-12345678901234567890123456789.0123456789",
       Dec("-12345678901234567890123456789.0123456789")},
      {"numeric", "1e-20", Dec("0.00000000000000000001")},
      {"numeric", "1e50", Dec("1" + std::string(50, '0'))},
      {"numeric", "NaN", S("NaN")},
      {"numeric", "Infinity", S("Infinity")},
      {"numeric", "-Infinity", S("-Infinity")},
      {"money", "-1234.56", S("-$1,234.56")},
      {"text", "", S("")},
      {"text", "\t\n\r\\N \\. \x01 \xc3\xa9 \xf0\x9f\x8c\x8a",
       S("\t\n\r\\N \\. \x01 \xc3\xa9 \xf0\x9f\x8c\x8a")},
      {"varchar", " a ", S(" a ")},
      {"bpchar", "ab   ", S("ab   ")},
      {"char(5)", "ab", S("ab   ")},
      {"name", "a name", S("a name")},
      {"\"char\"", "x", S("x")},
      {"bytea", "\\x00ff5c", Datum::Bytes(std::string("\0\xff\\", 3))},
      {"bytea", "\\x", Datum::Bytes("")},
      {"date", "2024-02-29", Datum::Date(19782)},
      {"date", "0001-01-01", Datum::Date(-719162)},
      {"date", "9999-12-31", Datum::Date(2932896)},
      {"date", "infinity", S("infinity")},
      {"date", "-infinity", S("-infinity")},
      {"date", "0044-03-15 BC", S("0044-03-15 BC")},
      {"date", "4713-11-24 BC", S("4713-11-24 BC")},
      {"date", "5874897-12-31", S("5874897-12-31")},
      {"time", "04:05:06.789", Datum::Time(14706789000)},
      {"time", "24:00:00", Datum::Time(86400000000)},
      {"timetz", "04:05:06.789+05:30", S("04:05:06.789+05:30")},
      {"timestamp", "2024-02-03 04:05:06.000001", At(1706933106, 1)},
      {"timestamp", "0001-01-01", At(-62135596800)},
      {"timestamp", "9999-12-31 23:59:59.999999", At(253402300799, 999999)},
      {"timestamp", "infinity", S("infinity")},
      {"timestamp", "0044-03-15 12:00:00 BC", S("0044-03-15 12:00:00 BC")},
      {"timestamp", "10000-01-01", S("10000-01-01 00:00:00")},
      {"timestamptz", "2024-02-03 04:05:06+02", At(1706925906)},
      {"timestamptz", "-infinity", S("-infinity")},
      {"timestamptz", "10000-01-01 00:00:00+00", S("10000-01-01 00:00:00+00")},
      {"interval", "1 year 2 mons 3 days 04:05:06.789", S("P1Y2M3DT4H5M6.789S")},
      {"interval", "-1 days", S("P-1D")},
      {"uuid", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", S("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")},
      {"json", "{\"a\" : 1.0, \"a\":2}", Datum::Json("{\"a\" : 1.0, \"a\":2}")},
      {"jsonb", "{\"b\":[1.50,null],\"a\":\"x\"}",
       Datum::Json("{\"a\": \"x\", \"b\": [1.50, null]}")},
      {"jsonpath", "$.a[*]", S("$.\"a\"[*]")},
      {"xml", "<a>b</a>", S("<a>b</a>")},
      {"inet", "192.168.0.1/24", S("192.168.0.1/24")},
      {"cidr", "2001:db8::/32", S("2001:db8::/32")},
      {"macaddr", "08-00-2b-01-02-03", S("08:00:2b:01:02:03")},
      {"macaddr8", "08:00:2b:01:02:03:04:05", S("08:00:2b:01:02:03:04:05")},
      {"bit(3)", "101", S("101")},
      {"varbit", "10101", S("10101")},
      {"tsvector", "a:1 b:2", S("'a':1 'b':2")},
      {"tsquery", "a & !b", S("'a' & !'b'")},
      {"point", "(1.5,-2)", S("(1.5,-2)")},
      {"lseg", "[(0,0),(1,1)]", S("[(0,0),(1,1)]")},
      {"path", "((0,0),(1,1))", S("((0,0),(1,1))")},
      {"box", "(1,1),(0,0)", S("(1,1),(0,0)")},
      {"polygon", "((0,0),(1,1),(1,0))", S("((0,0),(1,1),(1,0))")},
      {"line", "{1,2,3}", S("{1,2,3}")},
      {"circle", "<(0,0),1>", S("<(0,0),1>")},
      {"pg_lsn", "16/B374D848", S("16/B374D848")},
      {"pg_snapshot", "10:20:10,14", S("10:20:10,14")},
      {"txid_snapshot", "10:20:10,14", S("10:20:10,14")},
      {"int4range", "[1,5)", S("[1,5)")},
      {"int8range", "empty", S("empty")},
      {"numrange", "(1.5,)", S("(1.5,)")},
      {"tsrange", "[2024-01-01,2024-02-01)",
       S("[\"2024-01-01 00:00:00\",\"2024-02-01 00:00:00\")")},
      {"tstzrange", "[2024-01-01 00:00+02,)", S("[\"2023-12-31 22:00:00+00\",)")},
      {"daterange", "[2024-01-01,2024-01-03]", S("[2024-01-01,2024-01-04)")},
      {"int4multirange", "{[1,3),[5,7)}", S("{[1,3),[5,7)}")},
      {"int8multirange", "{}", S("{}")},
      {"nummultirange", "{[1.5,2]}", S("{[1.5,2]}")},
      {"tsmultirange", "{}", S("{}")},
      {"tstzmultirange", "{}", S("{}")},
      {"datemultirange", "{}", S("{}")},
      {"int2vector", "1 2 3", S("1 2 3")},
      {"oidvector", "1 2", S("1 2")},
      {"tid", "(0,1)", S("(0,1)")},
      {"refcursor", "cursor", S("cursor")},
      {"regproc", "now", S("now")},
      {"regprocedure", "abs(integer)", S("abs(integer)")},
      {"regoper", "||/", S("||/")},
      {"regoperator", "+(integer,integer)", S("+(integer,integer)")},
      {"regclass", "pg_class", S("pg_class")},
      {"regtype", "integer", S("integer")},
      {"regrole", "postgres", S("postgres")},
      {"regnamespace", "pg_catalog", S("pg_catalog")},
      {"regcollation", "\"C\"", S("\"C\"")},
      {"regconfig", "english", S("english")},
      {"regdictionary", "simple", S("simple")},
      {"aclitem", "postgres=r/postgres", S("postgres=r/postgres")},
      // Not built in, or made of built-in ones.
      {"mood", "happy", S("happy")},
      {"cents", "12", Datum::Int(12)},
      {"pair", "(1,\"a b\")", S("(1,\"a b\")")},
      {"floatrange", "[1.5,2)", S("[1.5,2)")},
      {"information_schema.cardinal_number", "5", Datum::Int(5)},
      {"mood[]", "{happy,NULL}", Datum::List({S("happy"), Datum::Null()})},
      {"cents[]", "{1,2}", Datum::List({Datum::Int(1), Datum::Int(2)})},
      {"grid", "{1,2}", Datum::List({Datum::Int(1), Datum::Int(2)})},
      {"int4[]", "{}", Datum::List({})},
      {"int4[]", "[0:1]={1,2}", Datum::List({Datum::Int(1), Datum::Int(2)})},
      {"text[]", "{\"a,b\",\"NULL\",NULL,\"\",\"\\\"\\\\\"}",
       Datum::List({S("a,b"), S("NULL"), Datum::Null(), S(""), S("\"\\")})},
      {"date[]", "{2024-02-29,infinity}", Datum::List({Datum::Date(19782), S("infinity")})},
  };
}

// Types of which nobody can make a value; a column of them holds only nulls.
const char* const kWithoutValues[] = {"gtsvector",
                                      "pg_node_tree",
                                      "pg_ndistinct",
                                      "pg_mcv_list",
                                      "pg_dependencies",
                                      "pg_brin_bloom_summary",
                                      "pg_brin_minmax_multi_summary"};

// One value of a column of `type`, as SQL makes it.
struct Case {
  std::string type;
  std::string sql;
  Datum expected;
};

std::string Quoted(const std::string& text) {
  std::string quoted = "E'";
  for (char c : text) {
    if (c == '\'' || c == '\\') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

// Every sample, and an array of the first of each type.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  std::set<std::string> seen;
  for (const Sample& sample : Samples()) {
    const std::string value = absl::StrCat(Quoted(sample.literal), "::", sample.type);
    cases.push_back({sample.type, value, sample.expected});
    if (sample.expected.kind() == Kind::kList || !seen.insert(sample.type).second) continue;
    cases.push_back({sample.type + "[]", absl::StrCat("ARRAY[", value, ", NULL]"),
                     Datum::List({sample.expected, Datum::Null()})});
  }
  return cases;
}

// As the definition language names the type of a column that takes `datum`.
std::string ColumnType(const Datum& datum) {
  if (datum.kind() != Kind::kList) return std::string(tables::KindName(datum.kind()));
  for (const Datum& item : datum.items()) {
    if (!item.is_null()) return absl::StrCat("list of ", ColumnType(item));
  }
  return "list of int";
}

// Bytes: NaN is not equal to itself.
std::string WireOf(const Datum& datum) {
  std::string wire;
  tables::AppendValue(datum, wire);
  return wire;
}

constexpr char kTypesSql[] =
    "CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE DOMAIN cents AS int CHECK (VALUE > 0); "
    "CREATE TYPE pair AS (a int, b text); CREATE DOMAIN grid AS int[]; "
    "CREATE TYPE floatrange AS RANGE (subtype = float8)";

class TypesTest : public ItemsTest {};

// Cases O-CDC-06, O-CDC-07 as far as PostgreSQL itself sends the values.
TEST_F(TypesTest, EveryTypeComesTheSameByCopyAndStreamAndAsDocumented) {
  const std::vector<Case> cases = Cases();
  // A table with a column of each type; row n holds case n and is null elsewhere.
  std::map<std::string, size_t> columns;
  std::string yaml_columns = "id: int", sql_columns = "id int PRIMARY KEY";
  for (const Case& c : cases) {
    const size_t next = columns.size() + 1;
    if (!columns.emplace(c.type, next).second) continue;
    absl::StrAppend(&yaml_columns, ", c", next, ": ", ColumnType(c.expected));
    absl::StrAppend(&sql_columns, ", c", next, " ", c.type);
  }
  auto world = MakeItems({.tables = absl::StrCat(R"(
- name: every
  key: [id]
  tier: seconds
  readers: [default]
  merge: last_row
  from: {source: erp, relation: public.every}
  columns: {)",
                                                 yaml_columns, "}\n")});
  world->sql().Exec(kTypesSql);
  world->sql().Exec("CREATE TABLE every (" + sql_columns +
                    "); "
                    "ALTER PUBLICATION tidemark ADD TABLE every");
  const auto insert_all = [&](size_t first_id) {
    for (size_t i = 0; i < cases.size(); ++i) {
      world->sql().Exec(absl::StrCat("INSERT INTO every (id, c", columns[cases[i].type],
                                     ") VALUES (", first_id + i, ", ", cases[i].sql, ")"));
    }
  };
  constexpr size_t kStreamed = 10000;
  insert_all(0);
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk()) << world->source().Status().detail;
  insert_all(kStreamed);
  ASSERT_THAT(world->AwaitRecent(), IsOk()) << world->source().Status().detail;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const std::vector<Datum> copied = world->FindRow("every", Datum::Int(i));
    const std::vector<Datum> streamed = world->FindRow("every", Datum::Int(kStreamed + i));
    ASSERT_EQ(copied.size(), columns.size() + 1);
    ASSERT_EQ(streamed.size(), columns.size() + 1);
    for (size_t column = 1; column < copied.size(); ++column) {
      const Datum expected = column == columns[c.type] ? c.expected : Datum::Null();
      EXPECT_EQ(WireOf(copied[column]), WireOf(expected))
          << c.sql << " is copied as " << DatumText(copied[column]);
      EXPECT_EQ(WireOf(streamed[column]), WireOf(expected))
          << c.sql << " is streamed as " << DatumText(streamed[column]);
    }
  }
}

TEST_F(TypesTest, NoBuiltInTypeIsForgotten) {
  auto world = MakeItems();
  world->sql().Exec(kTypesSql);
  std::set<std::string> known(std::begin(kWithoutValues), std::end(kWithoutValues));
  for (const Sample& sample : Samples()) {
    const std::string type = sample.type.substr(0, sample.type.find('('));
    known.insert(world->sql().Value("SELECT typname FROM pg_type WHERE oid = " + Quoted(type) +
                                    "::regtype"));
  }
  const SqlRows types = world->sql().Query(
      "SELECT typname, oid, typarray FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace "
      "AND typtype IN ('b', 'r', 'm', 'e', 'd') AND typoutput <> 'array_out'::regproc");
  EXPECT_GT(types.size(), 70u);
  for (const SqlRow& row : types) {
    EXPECT_EQ(known.count(*row[0]), 1u) << "no sample of type " << *row[0];
    const auto type = ingest::BuiltinPgType(static_cast<uint32_t>(std::stoul(*row[1])));
    ASSERT_NE(type, nullptr) << *row[0];
    EXPECT_EQ(type->name, *row[0]);
    if (row[2] == "0") continue;
    const auto array = ingest::BuiltinPgType(static_cast<uint32_t>(std::stoul(*row[2])));
    ASSERT_NE(array, nullptr) << *row[0] << "[]";
    EXPECT_EQ(array->element, type);
  }
}

TEST_F(TypesTest, TypesMadeWhileStreamingAreLookedUp) {
  auto world = MakeItems({.tables = R"(
- name: items
  key: [id]
  tier: seconds
  readers: [default]
  columns: {id: int, code: string}
  merge: last_row
  from: {source: erp, relation: public.coded}
)"});
  world->sql().Exec(kTypesSql);
  world->sql().Exec(
      "CREATE DOMAIN code AS varchar(10); CREATE TABLE coded (id cents PRIMARY KEY, "
      "code code); ALTER PUBLICATION tidemark ADD TABLE coded");
  world->Open();
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  world->sql().Exec(
      "CREATE TYPE colour AS ENUM ('red'); CREATE DOMAIN shades AS colour[]; "
      "ALTER TABLE coded ADD COLUMN ignored shades; "
      "INSERT INTO coded VALUES (1, 'a', '{red}')");
  ASSERT_THAT(world->AwaitRecent(), IsOk());
  EXPECT_THAT(world->Rows("items"), ::testing::ElementsAre("id=1, code=a"));
}

}  // namespace
}  // namespace tidemark::testing
