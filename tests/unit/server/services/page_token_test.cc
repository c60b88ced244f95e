// A page token belongs to one request of one principal on one store, and to nothing else.
#include "server/services/page_token.h"

#include <string>
#include <vector>

#include "common/error.h"
#include "common/limits.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tidemark::services {
namespace {

using testing::IsOkAndHolds;
using testing::ReasonIs;

PageScope Scope() { return {"ScanRows", "default", "agent", "request bytes"}; }

class PageTokenTest : public ::testing::Test {
 protected:
  const PageTokenCodec codec_{state::Incarnation{1, 2, 3}};
  const PageToken token_{.snapshot = 0x0123456789abcdef, .after = std::string("k\0ey", 4)};
  const std::string text_ = codec_.Encode(token_, Scope());
};

TEST_F(PageTokenTest, ReadsBackWhatItWrote) {
  EXPECT_THAT(codec_.Decode(text_, Scope()), IsOkAndHolds(token_));
  const PageToken empty;
  EXPECT_THAT(codec_.Decode(codec_.Encode(empty, Scope()), Scope()), IsOkAndHolds(empty));
}

TEST_F(PageTokenTest, HoldsTheLargestKeyWithinItsLimit) {
  const PageToken large{.snapshot = 1, .after = std::string(limits::kMaxKeyBytes, '\xff')};
  const std::string text = codec_.Encode(large, Scope());
  EXPECT_LE(text.size(), limits::kMaxPageTokenBytes);
  EXPECT_THAT(codec_.Decode(text, Scope()), IsOkAndHolds(large));
}

TEST_F(PageTokenTest, SurvivesARestartOfTheSameStoreOnly) {
  EXPECT_THAT(PageTokenCodec(state::Incarnation{1, 2, 3}).Decode(text_, Scope()),
              IsOkAndHolds(token_));
  EXPECT_THAT(PageTokenCodec(state::Incarnation{1, 2, 4}).Decode(text_, Scope()),
              ReasonIs(Reason::kPageTokenInvalid));
}

TEST_F(PageTokenTest, EveryFlippedBitIsNoticed) {
  for (size_t i = 0; i < text_.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = text_;
      other[i] = static_cast<char>(other[i] ^ (1 << bit));
      EXPECT_THAT(codec_.Decode(other, Scope()), ReasonIs(Reason::kPageTokenInvalid))
          << "byte " << i << " bit " << bit;
    }
  }
}

TEST_F(PageTokenTest, EveryCutAndEveryAdditionIsNoticed) {
  for (size_t i = 0; i < text_.size(); ++i) {
    EXPECT_THAT(codec_.Decode(text_.substr(0, i), Scope()), ReasonIs(Reason::kPageTokenInvalid));
  }
  for (const char* more : {"A", "=", "\n", " ", "AAAA"}) {
    EXPECT_THAT(codec_.Decode(text_ + more, Scope()), ReasonIs(Reason::kPageTokenInvalid));
    EXPECT_THAT(codec_.Decode(more + text_, Scope()), ReasonIs(Reason::kPageTokenInvalid));
  }
  EXPECT_THAT(codec_.Decode(std::string(1 << 20, 'A'), Scope()),
              ReasonIs(Reason::kPageTokenInvalid));
}

TEST_F(PageTokenTest, BelongsToItsMethodPrincipalAndRequest) {
  const std::vector<PageScope> others = {
      {"ListTables", "default", "agent", "request bytes"},
      {"ScanRows", "other", "agent", "request bytes"},
      {"ScanRows", "default", "agent2", "request bytes"},
      {"ScanRows", "default", "agent", "request bytes2"},
      {"ScanRows", "defaul", "tagent", "request bytes"},  // the same bytes, cut elsewhere
      {"ScanRows", "default", "agentrequest ", "bytes"}};
  for (const PageScope& scope : others) {
    EXPECT_THAT(codec_.Decode(text_, scope), ReasonIs(Reason::kPageTokenInvalid));
  }
}

}  // namespace
}  // namespace tidemark::services
