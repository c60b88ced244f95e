#include "common/error.h"

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using tidemark::testing::IsOk;
using tidemark::testing::IsOkAndHolds;
using tidemark::testing::ReasonIs;

TEST(ErrorTest, CarriesReasonCodeMessageMetadataAndRetry) {
  const absl::Status status =
      MakeError(Reason::kNotYetApplied, "snapshot 9 is not applied yet",
                {{"snapshot_id", "9"}, {"lag", "1.5s"}}, absl::Milliseconds(250));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "snapshot 9 is not applied yet");
  EXPECT_EQ(ReasonOf(status), Reason::kNotYetApplied);
  EXPECT_THAT(MetadataOf(status), ElementsAre(Pair("snapshot_id", "9"), Pair("lag", "1.5s")));
  EXPECT_EQ(MetadataValue(status, "lag"), "1.5s");
  EXPECT_EQ(MetadataValue(status, "absent"), "");
  EXPECT_EQ(RetryAfterOf(status), absl::Milliseconds(250));
}

TEST(ErrorTest, MetadataKeepsAnyBytes) {
  const std::string odd("1:2\0:\xff", 6);
  const absl::Status status =
      MakeError(Reason::kKeyMalformed, "odd", {{"key", odd}, {"", ""}, {"12:3", "x"}});
  EXPECT_THAT(MetadataOf(status), ElementsAre(Pair("key", odd), Pair("", ""), Pair("12:3", "x")));
}

TEST(ErrorTest, StatusesOfOthersHaveNoReason) {
  for (const absl::Status& status : {absl::OkStatus(), absl::InternalError("not ours")}) {
    EXPECT_EQ(ReasonOf(status), Reason::kNone);
    EXPECT_TRUE(MetadataOf(status).empty());
    EXPECT_EQ(RetryAfterOf(status), std::nullopt);
  }
}

TEST(ErrorTest, FieldInvalidNamesTheFieldTwice) {
  const absl::Status status = FieldInvalid("consistency.exact", "is empty");
  EXPECT_THAT(status, ReasonIs(Reason::kFieldInvalid));
  EXPECT_EQ(status.message(), "consistency.exact: is empty");
  EXPECT_EQ(MetadataValue(status, "field"), "consistency.exact");
  EXPECT_EQ(MetadataValue(status, "problem"), "is empty");
}

TEST(ErrorTest, EveryReasonHasOneNameAndAnErrorCode) {
  std::set<std::string> names;
  for (Reason reason : AllReasons()) {
    const std::string name(ReasonName(reason));
    EXPECT_TRUE(names.insert(name).second) << name << " twice";
    EXPECT_NE(CodeOf(reason), absl::StatusCode::kOk) << name;
    EXPECT_THAT(MakeError(reason, "x"), ReasonIs(reason));
  }
  // kInternal is the last one declared: a reason without a row in the table is missed
  // here.
  EXPECT_EQ(names.size(), static_cast<size_t>(Reason::kInternal));
  EXPECT_EQ(ReasonName(Reason::kNone), "");
  EXPECT_EQ(CodeOf(Reason::kNone), absl::StatusCode::kUnknown);
}

absl::StatusOr<int> Half(int n) {
  if (n % 2 != 0) return FieldInvalid("n", "is odd");
  return n / 2;
}

absl::StatusOr<int> Quarter(int n) {
  TIDEMARK_ASSIGN_OR_RETURN(const int half, Half(n));
  TIDEMARK_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

absl::Status CheckedQuarter(int n) {
  TIDEMARK_RETURN_IF_ERROR(Quarter(n).status());
  return absl::OkStatus();
}

TEST(ErrorTest, TheMacrosPassTheErrorOnWithItsReason) {
  EXPECT_THAT(Quarter(8), IsOkAndHolds(2));
  EXPECT_THAT(Quarter(6), ReasonIs(Reason::kFieldInvalid));
  EXPECT_THAT(CheckedQuarter(8), IsOk());
  EXPECT_THAT(CheckedQuarter(7), ReasonIs(Reason::kFieldInvalid));
}

}  // namespace
}  // namespace tidemark
