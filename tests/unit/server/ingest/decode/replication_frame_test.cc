#include "server/ingest/decode/replication_frame.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/server/ingest/decode/pgoutput_writer.h"

namespace tidemark::ingest {
namespace {

using testing::IsOk;
using testing::PgoutputWriter;
using testing::ReasonIs;

TEST(ReplicationFrameTest, DataHoldsOneMessage) {
  ReplicationFrame frame;
  const std::string bytes =
      PgoutputWriter('w').Int64(1).Int64(2).Int64(3).Byte('B').Byte('x').bytes();
  ASSERT_THAT(ParseReplicationFrame(bytes, &frame), IsOk());
  EXPECT_EQ(frame.kind, ReplicationFrame::Kind::kData);
  EXPECT_EQ(frame.payload, "Bx");
}

TEST(ReplicationFrameTest, KeepalivesTellTheEndAndWhetherToAnswer) {
  ReplicationFrame frame;
  const std::string bytes =
      PgoutputWriter('k').Int64(0xFFFFFFFF16B3748).Int64(3).Byte('\1').bytes();
  ASSERT_THAT(ParseReplicationFrame(bytes, &frame), IsOk());
  EXPECT_EQ(frame.kind, ReplicationFrame::Kind::kKeepalive);
  EXPECT_EQ(frame.wal_end, 0xFFFFFFFF16B3748u);
  EXPECT_TRUE(frame.reply_requested);
  ASSERT_THAT(
      ParseReplicationFrame(PgoutputWriter('k').Int64(1).Int64(3).Byte('\0').bytes(), &frame),
      IsOk());
  EXPECT_FALSE(frame.reply_requested);
}

TEST(ReplicationFrameTest, AnythingElseIsMalformed) {
  ReplicationFrame frame;
  const PgoutputWriter bad[] = {PgoutputWriter('w').Int64(1).Int64(2),
                                PgoutputWriter('k').Int64(1).Int64(2),
                                PgoutputWriter('k').Int64(1).Int64(2).Byte('\0').Byte('\0'),
                                PgoutputWriter('x').Int64(1).Int64(2).Int64(3)};
  for (const PgoutputWriter& writer : bad) {
    EXPECT_THAT(ParseReplicationFrame(writer.bytes(), &frame), ReasonIs(Reason::kEventMalformed));
  }
  EXPECT_THAT(ParseReplicationFrame("", &frame), ReasonIs(Reason::kEventMalformed));
}

TEST(ReplicationFrameTest, StatusTellsWhatIsReceivedAndWhatIsDurable) {
  const absl::Time now = absl::FromUnixSeconds(946684800) + absl::Microseconds(5);
  EXPECT_EQ(EncodeStandbyStatus(9, 7, now, true),
            PgoutputWriter('r').Int64(9).Int64(7).Int64(7).Int64(5).Byte('\1').bytes());
}

}  // namespace
}  // namespace tidemark::ingest
