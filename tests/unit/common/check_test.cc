#include "common/check.h"

#include "gtest/gtest.h"

namespace tidemark {
namespace {

TEST(CheckTest, AHeldConditionIsSilent) {
  int evaluations = 0;
  TIDEMARK_CHECK(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
}

TEST(CheckDeathTest, AFailedConditionEndsTheProcessWithPlaceAndText) {
  const int sequence = 3;
  EXPECT_DEATH(TIDEMARK_CHECK(sequence < 3), "check_test.cc:[0-9]+: check failed: sequence < 3");
}

TEST(CheckTest, IsOneStatementInAnIfElse) {
  bool reached_else = false;
  if (reached_else)
    TIDEMARK_CHECK(false);
  else
    reached_else = true;
  EXPECT_TRUE(reached_else);
}

}  // namespace
}  // namespace tidemark
