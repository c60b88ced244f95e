#include "server/ingest/postgres/lsn.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ingest/postgres/sql.h"
#include "tests/support/status_matchers.h"

namespace tidemark::ingest {
namespace {

using testing::IsOkAndHolds;
using testing::ReasonIs;

TEST(LsnTest, TextIsWrittenAndReadAsPostgresDoes) {
  EXPECT_EQ(FormatLsn(0), "0/0");
  EXPECT_EQ(FormatLsn(0x16B3748), "0/16B3748");
  EXPECT_EQ(FormatLsn(0xFFFFFFFFFFFFFFFF), "FFFFFFFF/FFFFFFFF");
  EXPECT_THAT(ParseLsn("0/16B3748"), IsOkAndHolds(Lsn{0x16B3748}));
  EXPECT_THAT(ParseLsn("0/16b3748"), IsOkAndHolds(Lsn{0x16B3748}));
  EXPECT_THAT(ParseLsn("FFFFFFFF/FFFFFFFF"), IsOkAndHolds(Lsn{0xFFFFFFFFFFFFFFFF}));
}

TEST(LsnTest, OtherTextIsFieldInvalid) {
  for (const char* text :
       {"", "/", "0/", "/0", "16B3748", "0/123456789", "0/-1", "0/ 1", "0/1/2", "0x1/2", "G/0"}) {
    EXPECT_THAT(ParseLsn(text), ReasonIs(Reason::kFieldInvalid)) << text;
  }
}

TEST(LsnTest, BytesCompareLikeTheNumbers) {
  const Lsn ordered[] = {0, 1, 255, 256, 0x16B3748, 0x100000000, 0xFFFFFFFFFFFFFFFF};
  for (size_t i = 0; i + 1 < std::size(ordered); ++i) {
    EXPECT_LT(LsnBytes(ordered[i]), LsnBytes(ordered[i + 1]));
    EXPECT_EQ(LsnOfBytes(LsnBytes(ordered[i])), ordered[i]);
  }
}

// Case O-CDC-09.
TEST(LsnTest, OCDC09_EventsOrderByCommitThenNumber) {
  EXPECT_LT(EventSequence(103, 2), EventSequence(107, 1));
  EXPECT_LT(EventSequence(107, 1), EventSequence(107, 2));
  EXPECT_LT(EventSequence(107, 255), EventSequence(107, 256));
  EXPECT_LT(EventSequence(107, 0xFFFFFFFF), EventSequence(107, 0x100000000));
  EXPECT_LT(EventSequence(107, 0xFFFFFFFFFF), EventSequence(108, 0));
}

TEST(SqlTest, QuotesWhateverIsInAName) {
  EXPECT_EQ(QuoteIdentifier("Order \"Lines\"; DROP"), "\"Order \"\"Lines\"\"; DROP\"");
  EXPECT_EQ(QuoteLiteral("it's"), "'it''s'");
  EXPECT_EQ(QuoteLiteral("a\\b'"), " E'a\\\\b'''");
  EXPECT_EQ(QuoteLiterals({"a", "b'"}), "'a','b'''");
  EXPECT_EQ(QuoteLiterals({}), "''");
}

}  // namespace
}  // namespace tidemark::ingest
