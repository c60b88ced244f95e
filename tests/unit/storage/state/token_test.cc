// Snapshot tokens (S7): what was returned reads back; everything else is TOKEN_MALFORMED.
#include "storage/state/token.h"

#include <random>

#include "common/limits.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace tidemark::state {
namespace {

using testing::IsOk;
using ::testing::Le;
using ::testing::MatchesRegex;
using testing::ReasonIs;

SnapshotToken SampleToken(SnapshotId snapshot = 42) {
  SnapshotToken token;
  for (size_t i = 0; i < token.incarnation.size(); ++i) token.incarnation[i] = 16 * i + 7;
  token.snapshot = snapshot;
  return token;
}

TEST(TokenTest, S7_ATokenReadsBackAsItsStoreAndSnapshot) {
  for (const SnapshotId id : {SnapshotId{1}, SnapshotId{255}, SnapshotId{1} << 40, UINT64_MAX}) {
    const absl::StatusOr<SnapshotToken> token = DecodeToken(EncodeToken(SampleToken(id)));
    ASSERT_THAT(token, IsOk());
    EXPECT_EQ(token->snapshot, id);
    EXPECT_EQ(token->incarnation, SampleToken().incarnation);
  }
}

TEST(TokenTest, ATokenIsShortTextThatNeedsNoEscapingInUrls) {
  EXPECT_THAT(EncodeToken(SampleToken()), MatchesRegex("[A-Za-z0-9_-]+"));
  EXPECT_THAT(EncodeToken(SampleToken()).size(), Le(limits::kMaxTokenBytes));
}

TEST(TokenTest, OtherTextIsMalformed) {
  const std::string good = EncodeToken(SampleToken());
  for (const std::string& text :
       {std::string(), std::string("abc"), std::string("not a token"), good + "=", good + "A",
        " " + good, good + "\n", good.substr(1), good.substr(0, good.size() - 1),
        std::string(limits::kMaxTokenBytes, 'A'), std::string(1 << 20, 'A'),
        std::string("\0\0\0", 3), EncodeToken(SampleToken(0))}) {
    EXPECT_THAT(DecodeToken(text), ReasonIs(Reason::kTokenMalformed)) << text.substr(0, 64);
  }
}

TEST(TokenTest, EveryOtherCharacterInEveryPlaceIsMalformed) {
  const std::string good = EncodeToken(SampleToken());
  for (size_t i = 0; i < good.size(); ++i) {
    for (int c = 0; c < 256; ++c) {
      std::string text = good;
      text[i] = static_cast<char>(c);
      if (text == good) continue;
      EXPECT_THAT(DecodeToken(text), ReasonIs(Reason::kTokenMalformed)) << i << " " << c;
    }
  }
}

}  // namespace
}  // namespace tidemark::state
