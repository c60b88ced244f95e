#include "server/ingest/decode/row_decoder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ingest/decode/copy_text.h"
#include "tests/support/status_matchers.h"

namespace tidemark::ingest {
namespace {

using pgoutput::Field;
using pgoutput::FieldKind;
using tables::Datum;
using tables::EventOp;
using ::testing::ElementsAre;
using testing::IsOk;
using testing::ReasonIs;

Field Text(std::string_view text) { return {FieldKind::kText, text}; }
Field Null() { return {FieldKind::kNull, {}}; }

// (id int key, note text, junk int): junk is not wanted.
RowDecoder MakeDecoder() {
  auto schema = std::make_shared<tables::RelationSchema>();
  schema->source = "erp";
  schema->name = "public.t";
  schema->columns = {{"id", tables::Kind::kInt, true, "int4"},
                     {"note", tables::Kind::kString, false, "text"},
                     {"junk", tables::Kind::kInt, false, "int4"}};
  return RowDecoder(schema, {BuiltinPgType("int4"), BuiltinPgType("text"), BuiltinPgType("int4")},
                    {true, true, false});
}

TEST(RowDecoderTest, UnwantedColumnsAreNotLookedAt) {
  const RowDecoder decoder = MakeDecoder();
  pgoutput::RowChange change;
  change.after = {Text("7"), Text("x"), Text("not a number")};
  auto event = decoder.Decode(change);
  ASSERT_THAT(event, IsOk());
  EXPECT_EQ(event->op, EventOp::kInsert);
  EXPECT_EQ(event->schema, decoder.schema());
  EXPECT_TRUE(event->before.empty());
  EXPECT_THAT(event->after, ElementsAre(Datum::Int(7), Datum::String("x"), Datum::Unchanged()));
}

TEST(RowDecoderTest, OCDC03_UnchangedToastIsNotAValue) {
  pgoutput::RowChange change;
  change.op = pgoutput::RowOp::kUpdate;
  change.after = {Text("7"), {FieldKind::kUnchanged, {}}, Null()};
  auto event = MakeDecoder().Decode(change);
  ASSERT_THAT(event, IsOk());
  EXPECT_EQ(event->op, EventOp::kUpdate);
  EXPECT_THAT(event->after, ElementsAre(Datum::Int(7), Datum::Unchanged(), Datum::Unchanged()));
}

TEST(RowDecoderTest, UnchangedValuesAreTakenFromAnOldImageThatHasThem) {
  pgoutput::RowChange change;
  change.op = pgoutput::RowOp::kUpdate;
  change.old_image = pgoutput::OldImage::kFull;
  change.before = {Text("7"), Text("long"), Null()};
  change.after = {Text("7"), {FieldKind::kUnchanged, {}}, Null()};
  auto event = MakeDecoder().Decode(change);
  ASSERT_THAT(event, IsOk());
  EXPECT_THAT(event->after, ElementsAre(Datum::Int(7), Datum::String("long"), Datum::Unchanged()));

  change.old_image = pgoutput::OldImage::kKey;
  change.before = {Text("7"), Null(), Null()};
  change.after = {{FieldKind::kUnchanged, {}}, {FieldKind::kUnchanged, {}}, Null()};
  event = MakeDecoder().Decode(change);
  ASSERT_THAT(event, IsOk());
  EXPECT_THAT(event->after, ElementsAre(Datum::Int(7), Datum::Unchanged(), Datum::Unchanged()));
}

TEST(RowDecoderTest, OCDC04_KeyOnlyOldImagesSayNothingOfOtherColumns) {
  pgoutput::RowChange change;
  change.op = pgoutput::RowOp::kDelete;
  change.old_image = pgoutput::OldImage::kKey;
  change.before = {Text("7"), Null(), Null()};
  auto event = MakeDecoder().Decode(change);
  ASSERT_THAT(event, IsOk());
  EXPECT_EQ(event->op, EventOp::kDelete);
  EXPECT_THAT(event->before, ElementsAre(Datum::Int(7), Datum::Unchanged(), Datum::Unchanged()));
  EXPECT_TRUE(event->after.empty());

  change.old_image = pgoutput::OldImage::kFull;
  event = MakeDecoder().Decode(change);
  ASSERT_THAT(event, IsOk());
  EXPECT_THAT(event->before, ElementsAre(Datum::Int(7), Datum::Null(), Datum::Unchanged()));
}

TEST(RowDecoderTest, ErrorsNameRelationAndColumn) {
  pgoutput::RowChange change;
  change.after = {Text("x"), Null(), Null()};
  absl::Status status = MakeDecoder().Decode(change).status();
  EXPECT_THAT(status, ReasonIs(Reason::kEventMalformed));
  EXPECT_EQ(MetadataValue(status, "relation"), "public.t");
  EXPECT_EQ(MetadataValue(status, "column"), "id");

  change.after = {{FieldKind::kBinary, "1"}, Null(), Null()};
  EXPECT_EQ(MetadataValue(MakeDecoder().Decode(change).status(), "column"), "id");

  change.after = {Text("1"), Null()};
  EXPECT_THAT(MakeDecoder().Decode(change), ReasonIs(Reason::kEventMalformed));
}

TEST(RowDecoderTest, CopiedRowsAreInserts) {
  auto event = MakeDecoder().DecodeCopied({Text("7"), Null(), Null()});
  ASSERT_THAT(event, IsOk());
  EXPECT_EQ(event->op, EventOp::kInsert);
  EXPECT_THAT(event->after, ElementsAre(Datum::Int(7), Datum::Null(), Datum::Unchanged()));
}

TEST(CopyTextTest, SplitsAndUnescapes) {
  CopyTextReader reader;
  std::vector<Field> fields;
  ASSERT_THAT(reader.Read("7\t\\N\ta\\tb\\n\\\\c\\b\\f\\r\\v\t\t\\\\N\n", 5, &fields), IsOk());
  EXPECT_EQ(fields[0].bytes, "7");
  EXPECT_EQ(fields[1].kind, FieldKind::kNull);
  EXPECT_EQ(fields[2].bytes, "a\tb\n\\c\b\f\r\v");
  EXPECT_EQ(fields[3].kind, FieldKind::kText);
  EXPECT_EQ(fields[3].bytes, "");
  EXPECT_EQ(fields[4].kind, FieldKind::kText);
  EXPECT_EQ(fields[4].bytes, "\\N");
}

TEST(CopyTextTest, AnotherNumberOfFieldsIsMalformed) {
  CopyTextReader reader;
  std::vector<Field> fields;
  EXPECT_THAT(reader.Read("1\t2\n", 3, &fields), ReasonIs(Reason::kEventMalformed));
  EXPECT_THAT(reader.Read("1\t2\n", 1, &fields), ReasonIs(Reason::kEventMalformed));
  EXPECT_THAT(reader.Read("1\\\n", 1, &fields), ReasonIs(Reason::kEventMalformed));
  EXPECT_THAT(reader.Read("x\n", 0, &fields), ReasonIs(Reason::kEventMalformed));
  EXPECT_THAT(reader.Read("\n", 0, &fields), IsOk());
  EXPECT_THAT(reader.Read("\n", 1, &fields), IsOk());
}

}  // namespace
}  // namespace tidemark::ingest
