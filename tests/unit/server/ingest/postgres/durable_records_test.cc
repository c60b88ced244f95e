#include "server/ingest/postgres/durable_records.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tidemark::ingest {
namespace {

using testing::IsOk;
using testing::ReasonIs;

// As the applier hands it out: by partition, without the source's name.
void Put(const StateEntry& entry, DurableState* state) {
  const std::string prefix = PartitionKey("erp");
  ASSERT_EQ(entry.first.substr(0, prefix.size()), prefix);
  state->partitions[entry.first.substr(prefix.size())] = entry.second.value();
}

RelationRecord SomeRelation() {
  RelationRecord record;
  record.phase = RelationPhase::kStreaming;
  record.generation = 300;
  record.consistent_point = 0xFFFFFFFFFFFFFFFE;
  record.oid = 4294967295;
  record.membership = "16400 t t t t f 16401;";
  record.columns = {{"id", 1, 23, -1, true}, {"total", 12, 1700, 786438, false}};
  return record;
}

TEST(DurableRecordsTest, NothingWrittenIsNothingRead) {
  auto records = DecodeRecords({});
  ASSERT_THAT(records, IsOk());
  EXPECT_FALSE(records->identity.has_value());
  EXPECT_FALSE(records->position.has_value());
  EXPECT_EQ(records->generation(), 0u);
}

TEST(DurableRecordsTest, EverythingWrittenIsReadBack) {
  const SourceIdentity identity{"7300000000000000001", 3, "erp", 16384, "tidemark_main", "a,b"};
  const SourcePosition position{0x16B3748, 4000000000, 0x16B3778};
  DurableState state;
  Put(EncodeIdentity("erp", identity), &state);
  Put(EncodePosition("erp", position), &state);
  Put(EncodeRelation("erp", "public.Order Lines", SomeRelation()), &state);
  RelationRecord copying;
  copying.generation = 301;
  Put(EncodeRelation("erp", "public.t", copying), &state);
  auto records = DecodeRecords(state);
  ASSERT_THAT(records, IsOk());
  EXPECT_EQ(records->identity, identity);
  EXPECT_EQ(records->position, position);
  EXPECT_EQ(records->relations.at("public.Order Lines"), SomeRelation());
  EXPECT_EQ(records->relations.at("public.t"), copying);
  EXPECT_EQ(records->generation(), 301u);
}

TEST(DurableRecordsTest, EveryCutIsDataDamaged) {
  const StateEntry entries[] = {
      EncodeIdentity("erp", {"73", 3, "erp", 16384, "slot", "a"}),
      EncodePosition("erp", {1, 2, 3}),
      EncodeRelation("erp", "public.t", SomeRelation()),
  };
  for (const StateEntry& entry : entries) {
    for (size_t size = 0; size < entry.second->size(); ++size) {
      DurableState state;
      Put({entry.first, entry.second->substr(0, size)}, &state);
      EXPECT_THAT(DecodeRecords(state), ReasonIs(Reason::kDataDamaged)) << size;
    }
    DurableState state;
    Put({entry.first, *entry.second + "x"}, &state);
    EXPECT_THAT(DecodeRecords(state), ReasonIs(Reason::kDataDamaged));
  }
  DurableState unknown;
  unknown.partitions["something"] = "";
  EXPECT_THAT(DecodeRecords(unknown), ReasonIs(Reason::kDataDamaged));
}

}  // namespace
}  // namespace tidemark::ingest
