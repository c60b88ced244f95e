// Records of snapshot ranges: marks before, within and at the end of the range.
#include "storage/state/engine/layout/snapshot_record.h"

#include <random>

#include "gmock/gmock.h"
#include "storage/state/engine/layout/format.h"

namespace tidemark::state::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SnapshotRecord Sample() {
  SnapshotRecord record;
  record.first = 10;
  record.commit_time = absl::FromUnixMicros(1764540000123456);
  record.degraded = {2, 300};
  SourceSpan crm{.source = "crm", .known_before = false, .known_after = true};
  crm.position = "c20";
  crm.last_transaction = "c2";
  SourceSpan erp{.source = "erp", .known_before = true, .known_after = false};
  erp.position_before = "p100";
  erp.fresh_before = absl::FromUnixSeconds(5);
  erp.last_transaction = "p104";
  record.sources = {crm, erp};
  record.entries = {{2, "p101", absl::FromUnixSeconds(7)},
                    {0, "", absl::InfinitePast()},
                    {1, "c2", absl::InfinitePast()},
                    {2, "p104", absl::FromUnixSeconds(9)}};
  return record;
}

TEST(SnapshotRecordTest, ReadsBackAsWritten) {
  const std::string key = SnapshotKey(13), bytes = SnapshotRecordValue(Sample());
  SnapshotRecord read;
  ASSERT_TRUE(ParseSnapshotRecord(key, bytes, &read));
  EXPECT_EQ(SnapshotRecordValue(read), bytes);
  EXPECT_EQ(read.first, 10);
  EXPECT_EQ(read.last(), 13);
  EXPECT_EQ(read.entry(13).position, "p104");
  EXPECT_EQ(read.Find("erp")->last_transaction, "p104");
  EXPECT_EQ(read.Find("other"), nullptr);
  EXPECT_THAT(read.degraded, ElementsAre(2, 300));
}

TEST(SnapshotRecordTest, MarksMoveWithTheTransactionsOfTheRange) {
  const SnapshotRecord record = Sample();
  const absl::Time fresh = absl::FromUnixSeconds(5);
  EXPECT_THAT(record.MarksBefore(), ElementsAre(SourceMark{"erp", "p100", fresh}));
  EXPECT_THAT(record.MarksWithin(10), ElementsAre(SourceMark{"erp", "p101", fresh}));
  EXPECT_THAT(record.MarksWithin(11), ElementsAre(SourceMark{"erp", "p101", fresh}));
  EXPECT_THAT(record.MarksWithin(12),
              ElementsAre(SourceMark{"crm", "c2"}, SourceMark{"erp", "p101", fresh}));
  EXPECT_THAT(record.MarksAtEnd(), ElementsAre(SourceMark{"crm", "c20"}));
}

TEST(SnapshotRecordTest, EachSnapshotSaysWhoMadeIt) {
  const SnapshotRecord record = Sample();
  EXPECT_EQ(record.InfoWithoutMarks(10).source, "erp");
  EXPECT_EQ(record.InfoWithoutMarks(10).event_time, absl::FromUnixSeconds(7));
  EXPECT_EQ(record.InfoWithoutMarks(11).source, "");
  EXPECT_EQ(record.InfoWithoutMarks(12).source, "crm");
  EXPECT_EQ(record.InfoWithoutMarks(12).commit_time, record.commit_time);
  EXPECT_THAT(record.InfoWithoutMarks(12).sources, IsEmpty());
}

TEST(SnapshotRecordTest, CutOrMisplacedRecordsAreRefused) {
  const std::string key = SnapshotKey(13), bytes = SnapshotRecordValue(Sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    SnapshotRecord read;
    EXPECT_FALSE(ParseSnapshotRecord(key, bytes.substr(0, size), &read)) << size;
  }
  SnapshotRecord read;
  EXPECT_FALSE(ParseSnapshotRecord(SnapshotKey(12), bytes, &read));
}

TEST(SnapshotRecordTest, DamagedRecordsNeverCrash) {
  std::mt19937_64 random(20240607);
  const std::string key = SnapshotKey(13), bytes = SnapshotRecordValue(Sample());
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    damaged[random() % damaged.size()] = static_cast<char>(random());
    SnapshotRecord read;
    if (!ParseSnapshotRecord(key, damaged, &read)) continue;
    for (SnapshotId id = read.first; id <= read.last(); ++id) {
      read.MarksWithin(id);
      read.InfoWithoutMarks(id);
    }
  }
}

}  // namespace
}  // namespace tidemark::state::engine
