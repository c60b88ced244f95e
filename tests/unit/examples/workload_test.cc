// The ERP's workload repeats from its seed and does everything it promises.
#include "examples/erp/workload.h"

#include <gtest/gtest.h>

namespace tidemark::examples {
namespace {

TEST(WorkloadTest, TheSameSeedGivesTheSameTransactions) {
  Workload first({.seed = 7});
  Workload second({.seed = 7});
  Workload other({.seed = 8});
  bool differs = false;
  for (int i = 0; i < 200; ++i) {
    const std::string transaction = first.NextTransaction();
    EXPECT_EQ(transaction, second.NextTransaction());
    differs |= transaction != other.NextTransaction();
  }
  EXPECT_TRUE(differs);
}

TEST(WorkloadTest, EveryKindOfChangeComes) {
  Workload workload({.seed = 1});
  std::string all;
  for (int i = 0; i < 5000; ++i) all += workload.NextTransaction();
  for (const char* part :
       {"INSERT INTO orders", "INSERT INTO order_lines", "UPDATE stock", "INSERT INTO payments",
        "UPDATE payments", "DELETE FROM payments", "INSERT INTO returns", "DELETE FROM orders",
        "UPDATE orders SET customer_id", "status='shipped'", "DELETE FROM customers",
        "UPDATE customers SET customer_id", "UPDATE customers SET credit_limit_minor"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part;
  }
}

TEST(WorkloadTest, CreatesEveryCustomerOnce) {
  const std::vector<std::string> statements = InitialStatements({.customers = 1200, .skus = 3});
  ASSERT_EQ(statements.size(), 4u);  // stock, and customers in three statements
  EXPECT_NE(statements[1].find("'C00000'"), std::string::npos);
  EXPECT_NE(statements[3].find("'C01199'"), std::string::npos);
}

}  // namespace
}  // namespace tidemark::examples
