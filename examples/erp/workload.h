// The seeded workload of the sample system of record: what a distributor's day does to it.
#ifndef TIDEMARK_EXAMPLES_ERP_WORKLOAD_H_
#define TIDEMARK_EXAMPLES_ERP_WORKLOAD_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tidemark::examples {

struct WorkloadOptions {
  uint64_t seed = 1;
  int customers = 2000;  // created up front
  int skus = 200;
  int worker = 0;  // of several that run side by side; part of every id they make
};

// Statements that fill an empty schema, in batches of at most a few thousand rows.
std::vector<std::string> InitialStatements(const WorkloadOptions& options);

// One worker's endless, repeatable sequence of transactions, each as one text of statements from
// BEGIN to COMMIT. What a transaction does: place an order with its lines and take stock, take a
// payment, release, ship or cancel an order, take a return, change a customer or its limit, move an
// order to another customer, correct or delete a payment, delete an order, open, rename or close a
// customer's account. Not thread-safe.
class Workload {
 public:
  explicit Workload(const WorkloadOptions& options);
  std::string NextTransaction();

 private:
  int Pick(int count) { return static_cast<int>(random_() % static_cast<uint64_t>(count)); }
  std::string Customer();
  std::string Order();
  std::string PlaceOrder();
  std::string TakePayment();
  std::string MoveOrder();
  std::string ChangeAccount();

  WorkloadOptions options_;
  std::mt19937_64 random_;
  uint64_t next_ = 0;
  std::vector<std::string> orders_;  // a bounded window of the newest ones
  std::vector<std::string> payments_;
};

}  // namespace tidemark::examples

#endif  // TIDEMARK_EXAMPLES_ERP_WORKLOAD_H_
