// The credit desk's rule, case by case.
#include "examples/credit_desk/decision.h"

#include <gtest/gtest.h>

#include "tidemark/v1/value.pb.h"

namespace tidemark::examples {
namespace {

v1::Row Order(int64_t total) {
  v1::Row row;
  (*row.mutable_columns())["customer_id"].set_string_value("C-1");
  (*row.mutable_columns())["total_minor"].set_int_value(total);
  return row;
}

v1::Row Customer(int64_t limit, int64_t open, int64_t returns, bool paid) {
  v1::Row row;
  (*row.mutable_columns())["credit_limit_minor"].set_int_value(limit);
  (*row.mutable_columns())["open_total_minor"].set_int_value(open);
  (*row.mutable_columns())["returns_count"].set_int_value(returns);
  if (paid) (*row.mutable_columns())["last_payment_time"].mutable_timestamp_value()->set_seconds(1);
  return row;
}

TEST(DecisionTest, AnUnknownCustomerPaysInAdvance) {
  const Decision decision = Decide(Order(1), nullptr);
  EXPECT_EQ(decision.verdict, Verdict::kPrepayment);
  EXPECT_EQ(decision.reason, "no account for customer C-1");
}

TEST(DecisionTest, OpenOrdersWithinTheLimitAreReleased) {
  const v1::Row customer = Customer(1000, 1000, 0, true);
  EXPECT_EQ(Decide(Order(1), &customer).verdict, Verdict::kRelease);
}

TEST(DecisionTest, OneMinorUnitOverTheLimitIsHeld) {
  const v1::Row customer = Customer(1000, 1001, 0, true);
  EXPECT_EQ(Decide(Order(1), &customer).verdict, Verdict::kHold);
}

TEST(DecisionTest, ACustomerWhoNeverPaidGetsASmallFirstOrderOnly) {
  const v1::Row customer = Customer(1000000, 50001, 0, false);
  EXPECT_EQ(Decide(Order(50000), &customer).verdict, Verdict::kRelease);
  EXPECT_EQ(Decide(Order(50001), &customer).verdict, Verdict::kPrepayment);
}

TEST(DecisionTest, ManyReturnsAskForPrepayment) {
  const v1::Row five = Customer(1000, 1, 5, true);
  const v1::Row six = Customer(1000, 1, 6, true);
  EXPECT_EQ(Decide(Order(1), &five).verdict, Verdict::kRelease);
  EXPECT_EQ(Decide(Order(1), &six).verdict, Verdict::kPrepayment);
}

}  // namespace
}  // namespace tidemark::examples
