// The matchers every other test leans on: each must be able to fail, and say why.
#include "tests/support/status_matchers.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tidemark::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointee;

template <typename M, typename T>
std::string Explanation(const M& matcher, const T& value) {
  ::testing::StringMatchResultListener listener;
  ::testing::SafeMatcherCast<const T&>(matcher).MatchAndExplain(value, &listener);
  return listener.str();
}

TEST(StatusMatchersTest, IsOkTakesStatusAndStatusOr) {
  EXPECT_THAT(absl::OkStatus(), IsOk());
  EXPECT_THAT(absl::StatusOr<int>(3), IsOk());
  EXPECT_THAT(absl::InternalError("x"), Not(IsOk()));
  EXPECT_THAT(absl::StatusOr<int>(absl::InternalError("x")), Not(IsOk()));
}

TEST(StatusMatchersTest, StatusIsComparesTheCodeAlone) {
  EXPECT_THAT(absl::NotFoundError("a"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(absl::NotFoundError("a"), Not(StatusIs(absl::StatusCode::kInternal)));
}

TEST(StatusMatchersTest, ReasonIsWantsTheReasonNotJustItsCode) {
  const absl::Status status = MakeError(Reason::kTagNotFound, "no tag \"x\"");
  EXPECT_THAT(status, ReasonIs(Reason::kTagNotFound));
  EXPECT_THAT(absl::StatusOr<int>(status), ReasonIs(Reason::kTagNotFound));
  EXPECT_THAT(status, Not(ReasonIs(Reason::kTableNotFound)));
  EXPECT_THAT(absl::NotFoundError("no tag"), Not(ReasonIs(Reason::kTagNotFound)));
}

TEST(StatusMatchersTest, IsOkAndHoldsTakesValuesAndMatchers) {
  EXPECT_THAT(absl::StatusOr<std::string>("abc"), IsOkAndHolds("abc"));
  EXPECT_THAT(absl::StatusOr<std::string>("abc"), IsOkAndHolds(HasSubstr("b")));
  EXPECT_THAT(absl::StatusOr<std::string>("abc"), Not(IsOkAndHolds("abd")));
  EXPECT_THAT(absl::StatusOr<std::string>(absl::InternalError("x")), Not(IsOkAndHolds("abc")));
  // Also of a value that cannot be copied.
  EXPECT_THAT(absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(4)),
              IsOkAndHolds(Pointee(4)));
}

TEST(StatusMatchersTest, AFailureShowsStatusAndReason) {
  const absl::StatusOr<int> result = MakeError(Reason::kTagNotFound, "no tag \"x\"");
  EXPECT_EQ(Explanation(IsOkAndHolds(4), result),
            "which is NOT_FOUND: no tag \"x\" [TAG_NOT_FOUND]");
  EXPECT_EQ(Explanation(IsOk(), result), "which is NOT_FOUND: no tag \"x\" [TAG_NOT_FOUND]");
  EXPECT_THAT(Explanation(IsOkAndHolds(4), absl::StatusOr<int>(5)), HasSubstr("which holds 5"));
}

}  // namespace
}  // namespace tidemark::testing
