// The records of a batch: split where they grow long, each source's newest transaction carried on.
#include "storage/state/engine/snapshot_recorder.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace tidemark::state::engine {
namespace {

using ::testing::ElementsAre;

TEST(SnapshotRecorderTest, ABatchOfManySnapshotsIsSplitWithoutAGap) {
  std::vector<SnapshotOrigin> origins;
  for (int i = 0; i < 1300; ++i) origins.push_back({"erp", absl::StrCat("p", 10000 + i)});
  SnapshotRecorder recorder;
  const absl::Time now = absl::FromUnixSeconds(9);
  const std::vector<SnapshotRecord> records =
      recorder.Record(5, origins, {{"erp", "p1", now}}, {.sources = {{"erp", "p99999", now}}}, now);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].first, 5);
  EXPECT_EQ(records[1].first, 5 + 512);
  EXPECT_EQ(records[2].last(), 5 + 1300 - 1);
  EXPECT_THAT(records[0].MarksBefore(), ElementsAre(SourceMark{"erp", "p1", now}));
  EXPECT_THAT(records[1].MarksBefore(), ElementsAre(SourceMark{"erp", "p10511", now}));
  EXPECT_THAT(records[2].MarksAtEnd(), ElementsAre(SourceMark{"erp", "p99999", now}));
  EXPECT_EQ(records[1].Find("erp")->last_transaction, "p11023");
}

TEST(SnapshotRecorderTest, TheNewestTransactionOfASourceIsCarriedThroughBatchesWithoutIt) {
  SnapshotRecorder recorder;
  const absl::Time now = absl::FromUnixSeconds(9);
  const CommitInfo info{.sources = {{"crm", "c9"}, {"erp", "p9"}}};
  recorder.Record(5, {{"erp", "p1"}}, {}, info, now);
  const SnapshotRecord second = recorder.Record(6, {{"crm", "c1"}}, info.sources, info, now).back();
  EXPECT_EQ(second.Find("erp")->last_transaction, "p1");
  SnapshotRecorder after_restart;
  after_restart.Restore(second);
  const SnapshotRecord third =
      after_restart.Record(7, {SnapshotOrigin{}}, info.sources, info, now).back();
  EXPECT_EQ(third.Find("erp")->last_transaction, "p1");
  EXPECT_EQ(third.Find("crm")->last_transaction, "c1");
}

TEST(SnapshotRecorderTest, MarksAreKeptSortedByName) {
  EXPECT_THAT(MarksAfter({{"b", "1"}}, {{"c", "2"}, {"a", "3"}, {}, {"b", "4"}}),
              ElementsAre(SourceMark{"a", "3"}, SourceMark{"b", "4"}, SourceMark{"c", "2"}));
}

}  // namespace
}  // namespace tidemark::state::engine
