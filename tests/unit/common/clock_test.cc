#include "common/clock.h"

#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

TEST(ManualClockTest, MovesOnlyWhenToldTo) {
  const absl::Time start = absl::FromUnixSeconds(1700000000);
  ManualClock clock(start);
  EXPECT_EQ(clock.Now(), start);
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(absl::Milliseconds(1500));
  EXPECT_EQ(clock.Now(), start + absl::Milliseconds(1500));
  clock.Advance(absl::Seconds(-2));
  EXPECT_EQ(clock.Now(), start - absl::Milliseconds(500));
}

TEST(SystemClockTest, IsTheWallClock) {
  const absl::Time before = absl::Now();
  const absl::Time now = SystemClock().Now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, absl::Now());
}

}  // namespace
}  // namespace tidemark
