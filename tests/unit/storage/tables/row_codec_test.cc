#include "storage/tables/row_codec.h"

#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tidemark/v1/value.pb.h"

namespace tidemark::tables {
namespace {

using ::testing::HasSubstr;
using ::tidemark::testing::IsOk;
using ::tidemark::testing::IsOkAndHolds;
using ::tidemark::testing::ReasonIs;

TableDefinition Prices() {
  TableDefinition table;
  table.name = "prices";
  table.key = {"item", "from_date"};
  table.columns = {{"item", Kind::kString},
                   {"from_date", Kind::kDate},
                   {"price", Kind::kDecimal},
                   {"note", Kind::kString},
                   {"until", Kind::kTimestamp}};
  return table;
}

std::vector<Datum> PriceRow() {
  return {Datum::String("pen"), Datum::Date(20000), Datum::Decimal("1.50"),
          Datum::String(std::string(200, 'n')), Datum::Null()};
}

v1::Value Value(const Datum& datum) {
  v1::Value value;
  ToValue(datum, &value);
  return value;
}

TEST(RowCodecTest, RowsAreTheBytesOfTheRowMessageInDefinitionOrder) {
  const TableDefinition table = Prices();
  const auto bytes = EncodeRow(table, PriceRow());
  ASSERT_THAT(bytes, IsOk());
  v1::Row row;
  ASSERT_TRUE(row.ParseFromString(*bytes));
  ASSERT_EQ(row.columns_size(), 5);
  std::string expected;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const v1::Value value = Value(PriceRow()[i]);
    EXPECT_EQ(row.columns().at(table.columns[i].name).SerializeAsString(),
              value.SerializeAsString());
    // A map with one entry has one form only.
    v1::Row one;
    (*one.mutable_columns())[table.columns[i].name] = value;
    expected += one.SerializeAsString();
  }
  EXPECT_EQ(*bytes, expected);
  EXPECT_THAT(DecodeRow(table, *bytes), IsOkAndHolds(PriceRow()));
}

TEST(RowCodecTest, EntriesOfEveryLengthAreFramedRight) {
  TableDefinition table;
  table.columns = {{"text", Kind::kString}};
  for (size_t size = 0; size < 17000; size += size < 300 ? 1 : 997) {
    const std::vector<Datum> row = {Datum::String(std::string(size, 'x'))};
    const auto bytes = EncodeRow(table, row);
    ASSERT_THAT(bytes, IsOk());
    v1::Row message;
    ASSERT_TRUE(message.ParseFromString(*bytes)) << size;
    ASSERT_EQ(message.columns().at("text").string_value().size(), size);
    ASSERT_THAT(DecodeRow(table, *bytes), IsOkAndHolds(row));
  }
}

TEST(RowCodecTest, RowsOverTheLimitAreRefusedBeforeTheyAreStored) {
  std::vector<Datum> row = PriceRow();
  row[3] = Datum::String(std::string(limits::kMaxRowBytes, 'x'));
  const auto bytes = EncodeRow(Prices(), row);
  ASSERT_THAT(bytes, ReasonIs(Reason::kValueTooLarge));
  EXPECT_EQ(MetadataValue(bytes.status(), "table"), "prices");
}

TEST(RowCodecTest, DamagedRowsAreToldNeverMisread) {
  const std::string bytes = EncodeRow(Prices(), PriceRow()).value();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(DecodeRow(Prices(), bytes.substr(0, size)), ReasonIs(Reason::kDataDamaged));
  }
  EXPECT_THAT(DecodeRow(Prices(), bytes + bytes), ReasonIs(Reason::kDataDamaged));
  TableDefinition renamed = Prices();
  renamed.columns[2].name = "prize";
  EXPECT_THAT(DecodeRow(renamed, bytes), ReasonIs(Reason::kDataDamaged));
}

TEST(RowCodecTest, ASelectionHoldsExactlyTheColumnsAskedFor) {
  const std::string bytes = EncodeRow(Prices(), PriceRow()).value();
  std::string selected = "before";
  ASSERT_THAT(SelectColumns(bytes, {0, 3}, &selected), IsOk());
  TableDefinition two;
  two.columns = {{"item", Kind::kString}, {"note", Kind::kString}};
  EXPECT_EQ(selected, "before" + EncodeRow(two, {PriceRow()[0], PriceRow()[3]}).value());
  std::string none;
  ASSERT_THAT(SelectColumns(bytes, {}, &none), IsOk());
  EXPECT_EQ(none, "");
  EXPECT_THAT(SelectColumns(bytes, {5}, &none), ReasonIs(Reason::kDataDamaged));
  EXPECT_THAT(SelectColumns(bytes.substr(0, 10), {0, 3}, &none), ReasonIs(Reason::kDataDamaged));
}

TEST(RowCodecTest, SplittingGivesEveryEntryWithItsPlace) {
  const std::string bytes = EncodeRow(Prices(), PriceRow()).value();
  std::vector<RowEntry> entries;
  ASSERT_THAT(SplitRow(bytes, &entries), IsOk());
  ASSERT_EQ(entries.size(), 5u);
  std::string joined;
  for (const RowEntry& entry : entries) joined += entry.bytes;
  EXPECT_EQ(joined, bytes);
  EXPECT_EQ(entries[2].name, "price");
  EXPECT_THAT(ParseValue(entries[2].value), IsOkAndHolds(Datum::Decimal("1.50")));
}

TEST(RowCodecTest, KeysFromTheApiAndFromEventsAreTheSameBytes) {
  const v1::Value item = Value(Datum::String("pen")), from = Value(Datum::Date(20000));
  const auto key = EncodeKey(Prices(), {&item, &from}, /*prefix=*/false);
  ASSERT_THAT(key, IsOk());
  EXPECT_THAT(EncodeKey(Prices(), {Datum::String("pen"), Datum::Date(20000)}), IsOkAndHolds(*key));
  EXPECT_THAT(DecodeKeyColumns(Prices(), *key),
              IsOkAndHolds(std::vector<Datum>{Datum::String("pen"), Datum::Date(20000)}));
  const auto prefix = EncodeKey(Prices(), {&item}, /*prefix=*/true);
  ASSERT_THAT(prefix, IsOk());
  EXPECT_EQ(key->substr(0, prefix->size()), *prefix);
  EXPECT_THAT(EncodeKey(Prices(), std::vector<const v1::Value*>{}, /*prefix=*/true),
              IsOkAndHolds(""));
}

TEST(RowCodecTest, EqualDecimalsAreOneKeyAndAnIntIsTakenForOne) {
  TableDefinition table;
  table.key = {"amount"};
  table.columns = {{"amount", Kind::kDecimal}};
  const std::string key = EncodeKey(table, {Datum::Decimal("1.0")}).value();
  EXPECT_THAT(EncodeKey(table, {Datum::Decimal("1.00")}), IsOkAndHolds(key));
  EXPECT_THAT(EncodeKey(table, {Datum::Int(1)}), IsOkAndHolds(key));
}

TEST(RowCodecTest, SpecialValuesAreKeysToo) {
  TableDefinition table;
  table.key = {"at"};
  table.columns = {{"at", Kind::kTimestamp}};
  const std::vector<Datum> never = {Datum::String("infinity")};
  const auto key = EncodeKey(table, never);
  ASSERT_THAT(key, IsOk());
  EXPECT_THAT(DecodeKeyColumns(table, *key), IsOkAndHolds(never));
  EXPECT_THAT(EncodeKey(table, {Datum::String("tomorrow")}), ReasonIs(Reason::kKeyMalformed));
}

TEST(RowCodecTest, MalformedKeysAreRefusedNamingTheColumn) {
  const v1::Value item = Value(Datum::String("pen")), from = Value(Datum::Date(1)),
                  number = Value(Datum::Int(5)), null = Value(Datum::Null()), none;
  const auto refused = [](const std::vector<const v1::Value*>& values) {
    const auto key = EncodeKey(Prices(), values, /*prefix=*/false);
    EXPECT_THAT(key, ReasonIs(Reason::kKeyMalformed));
    return std::string(key.status().message());
  };
  EXPECT_THAT(refused({}), HasSubstr("it takes 2 values (item, from_date), 0 were given"));
  EXPECT_THAT(refused({&item}), HasSubstr("1 were given"));
  EXPECT_THAT(refused({&item, &from, &from}), HasSubstr("3 were given"));
  EXPECT_THAT(refused({&number, &from}), HasSubstr("\"item\""));
  EXPECT_THAT(refused({&item, &number}), HasSubstr("\"from_date\" of table \"prices\" is of type"));
  EXPECT_THAT(refused({&null, &from}), HasSubstr("null"));
  EXPECT_THAT(refused({&none, &from}), HasSubstr("no kind"));
  const v1::Value large = Value(Datum::String(std::string(limits::kMaxKeyBytes, 'k')));
  EXPECT_THAT(refused({&large, &from}), HasSubstr("at most 4096"));
  EXPECT_THAT(EncodeKey(Prices(), {&item, &from, &from}, /*prefix=*/true),
              ReasonIs(Reason::kKeyMalformed));
}

TEST(RowCodecTest, KeysOfOtherShapesAreDamage) {
  const std::string key = EncodeKey(Prices(), {Datum::String("pen"), Datum::Date(1)}).value();
  EXPECT_THAT(DecodeKeyColumns(Prices(), ""), ReasonIs(Reason::kDataDamaged));
  EXPECT_THAT(DecodeKeyColumns(Prices(), key + key), ReasonIs(Reason::kDataDamaged));
  EXPECT_THAT(DecodeKeyColumns(Prices(), key.substr(1)), ReasonIs(Reason::kDataDamaged));
  state::KeyEncoder other;
  other.AddInt(1).AddDate(1);
  EXPECT_THAT(DecodeKeyColumns(Prices(), other.bytes()), ReasonIs(Reason::kDataDamaged));
}

std::vector<GroupState> SomeGroups() {
  std::vector<GroupState> groups(4);
  groups[1].presence = GroupState::Presence::kPresent;
  groups[1].generation = 300;
  groups[1].sequence = std::string("\0\x01", 2);
  groups[1].position = "p";
  groups[1].event_time = absl::FromUnixMicros(-5);
  groups[2].presence = GroupState::Presence::kDeleted;
  groups[2].forgettable = true;
  groups[3].totals = "totals";
  groups[3].event_time = absl::FromUnixMicros(1795000000123456);
  return groups;
}

TEST(RowCodecTest, GroupStatesReadBack) {
  EXPECT_THAT(DecodeMeta(EncodeMeta(SomeGroups()), 4), IsOkAndHolds(SomeGroups()));
  std::vector<GroupState> known(1);
  known[0].generation = 1;  // absent, yet not unknown
  EXPECT_THAT(DecodeMeta(EncodeMeta(known), 1), IsOkAndHolds(known));
  EXPECT_EQ(EncodeMeta(std::vector<GroupState>(3)).size(), 3u);
}

TEST(RowCodecTest, OtherGroupStateBytesAreDamage) {
  const std::string meta = EncodeMeta(SomeGroups());
  for (size_t size = 0; size < meta.size(); ++size) {
    EXPECT_THAT(DecodeMeta(meta.substr(0, size), 4), ReasonIs(Reason::kDataDamaged));
  }
  EXPECT_THAT(DecodeMeta(meta, 3), ReasonIs(Reason::kDataDamaged));
  EXPECT_THAT(DecodeMeta(meta, 5), ReasonIs(Reason::kDataDamaged));
  EXPECT_THAT(DecodeMeta("\x13", 1), ReasonIs(Reason::kDataDamaged));  // presence 3
  EXPECT_THAT(DecodeMeta("\x01", 1), ReasonIs(Reason::kDataDamaged));  // flags of no group
}

}  // namespace
}  // namespace tidemark::tables
