// Spooled events read back as they were written, and damage is told.
#include "server/ingest/event_codec.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tidemark::ingest {
namespace {

using tables::Datum;
using tables::EventOp;
using tables::Kind;
using tables::RowEvent;
using testing::IsOk;
using testing::ReasonIs;

std::shared_ptr<const tables::RelationSchema> Schema(const std::string& name) {
  auto schema = std::make_shared<tables::RelationSchema>();
  schema->name = name;
  return schema;
}

std::vector<Datum> EveryKind() {
  Datum nested = Datum::Int(1);
  for (size_t i = 0; i < limits::kMaxValueDepth; ++i) nested = Datum::List({nested});
  return {Datum::Unchanged(),
          Datum::Null(),
          Datum::Bool(true),
          Datum::Bool(false),
          Datum::Int(std::numeric_limits<int64_t>::min()),
          Datum::Int(std::numeric_limits<int64_t>::max()),
          Datum::Int(-1),
          Datum::Double(-0.0),
          Datum::Double(std::numeric_limits<double>::infinity()),
          Datum::Double(0.1),
          Datum::String(""),
          Datum::String(std::string("a\0b", 3)),
          Datum::Bytes(std::string(100000, '\xff')),
          Datum::Decimal("-12345678901234567890.0001"),
          Datum::Json("{\"a\": [1, 2]}"),
          Datum::Timestamp(-62135596800000000),
          Datum::Date(-719162),
          Datum::Time(86399999999),
          Datum::List({}),
          Datum::List({Datum::Null(), Datum::String("x"), Datum::List({Datum::Date(1)})}),
          nested};
}

void ExpectSame(const RowEvent& a, const RowEvent& b) {
  EXPECT_EQ(a.op, b.op);
  EXPECT_EQ(a.schema, b.schema);
  EXPECT_TRUE(a.before == b.before);
  EXPECT_TRUE(a.after == b.after);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.event_time, b.event_time);
}

RowEvent Sample() {
  return {.op = EventOp::kUpdate,
          .schema = Schema("public.orders"),
          .before = {Datum::Int(7), Datum::Unchanged()},
          .after = EveryKind(),
          .sequence = std::string("\0\1\2", 3),
          .event_time = absl::FromUnixMicros(1234567)};
}

TEST(EventCodecTest, EveryKindReadsBackExactly) {
  SchemaTable schemas;
  const RowEvent event = Sample();
  std::string bytes;
  EncodeEvent(event, schemas, &bytes);
  RowEvent back;
  back.before = {Datum::String("left over")};
  ASSERT_THAT(DecodeEvent(bytes, schemas, &back), IsOk());
  ExpectSame(back, event);
}

TEST(EventCodecTest, NanKeepsItsBits) {
  SchemaTable schemas;
  RowEvent event = Sample();
  event.after = {Datum::Double(std::nan(""))};
  std::string bytes;
  EncodeEvent(event, schemas, &bytes);
  RowEvent back;
  ASSERT_THAT(DecodeEvent(bytes, schemas, &back), IsOk());
  ASSERT_EQ(back.after.size(), 1u);
  EXPECT_TRUE(std::isnan(back.after[0].real()));
}

TEST(EventCodecTest, EveryOpAndSchemaReadsBack) {
  SchemaTable schemas;
  const auto orders = Schema("public.orders"), lines = Schema("public.lines");
  std::vector<RowEvent> events = {
      {.op = EventOp::kInsert, .schema = orders, .after = {Datum::Int(1)}},
      {.op = EventOp::kUpdate, .schema = lines, .after = {Datum::Int(1)}},
      {.op = EventOp::kDelete, .schema = orders, .before = {Datum::Int(1)}},
      {.op = EventOp::kTruncate, .schema = lines},
  };
  for (const RowEvent& event : events) {
    std::string bytes;
    EncodeEvent(event, schemas, &bytes);
    RowEvent back;
    ASSERT_THAT(DecodeEvent(bytes, schemas, &back), IsOk());
    ExpectSame(back, event);
  }
}

TEST(EventCodecTest, DamageIsToldAndAsksForNoMemory) {
  SchemaTable schemas;
  std::string bytes;
  EncodeEvent(Sample(), schemas, &bytes);
  RowEvent back;
  for (size_t size = 0; size < 200; ++size) {
    EXPECT_THAT(DecodeEvent(bytes.substr(0, size), schemas, &back), ReasonIs(Reason::kDataDamaged));
  }
  EXPECT_THAT(DecodeEvent(bytes + "x", schemas, &back), ReasonIs(Reason::kDataDamaged));
  std::string damaged = bytes;
  damaged[0] = 5;  // no such op
  EXPECT_THAT(DecodeEvent(damaged, schemas, &back), ReasonIs(Reason::kDataDamaged));
  damaged = bytes;
  damaged[1] = 1;  // no such relation
  EXPECT_THAT(DecodeEvent(damaged, schemas, &back), ReasonIs(Reason::kDataDamaged));
  // A row of 2^62 data.
  const std::string huge = std::string("\1\0", 2) + "\xff\xff\xff\xff\xff\xff\xff\xff\x3f";
  EXPECT_THAT(DecodeEvent(huge, schemas, &back), ReasonIs(Reason::kDataDamaged));
  // Lists in lists without end.
  std::string deep("\1\0\0\1", 4);
  for (int i = 0; i < 100000; ++i) deep += "\x0c\x01";
  EXPECT_THAT(DecodeEvent(deep, schemas, &back), ReasonIs(Reason::kDataDamaged));
}

TEST(EventCodecTest, MemoryBytesCountsWhatLiesOutsideTheObject) {
  RowEvent event;
  const size_t empty = MemoryBytes(event);
  EXPECT_GE(empty, sizeof(RowEvent));
  event.after = {Datum::String(std::string(1000, 'x'))};
  EXPECT_GE(MemoryBytes(event), empty + 1000 + sizeof(Datum));
  event.after = {Datum::List({Datum::String(std::string(5000, 'x'))})};
  EXPECT_GE(MemoryBytes(event), empty + 5000 + 2 * sizeof(Datum));
}

}  // namespace
}  // namespace tidemark::ingest
