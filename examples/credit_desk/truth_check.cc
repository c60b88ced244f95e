// truth_check: compares every row and column of Tidemark with SQL at one position of the ERP, while
// both go on working.
//
// Prints {"lsn":..., "snapshot_id":..., "rows":..., "different":...} and exits with 1 when anything
// differs, 2 when the comparison could not be made. --plant_wrong_row falsifies one row of the
// truth first: a check that then still passes cannot be trusted.
#include <cstdio>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "examples/credit_desk/client.h"
#include "examples/credit_desk/truth.h"

ABSL_FLAG(std::string, target, "127.0.0.1:7400", "address of tidemarkd");
ABSL_FLAG(std::string, dsn, "", "libpq connection string of the ERP");
ABSL_FLAG(bool, plant_wrong_row, false, "falsify one row of the truth; the check must then fail");

namespace tidemark::examples {
namespace {

constexpr size_t kMaxLines = 20;

int Main() {
  auto truth = ReadTruth(absl::GetFlag(FLAGS_dsn));
  if (!truth.ok()) {
    std::fprintf(stderr, "truth_check: reading the ERP: %s\n", truth.status().ToString().c_str());
    return 2;
  }
  if (absl::GetFlag(FLAGS_plant_wrong_row) && !truth->customers.empty()) {
    truth->customers.begin()->second[1] += "1";
  }
  v1::Consistency consistency;
  consistency.mutable_at_position()->set_source("erp");
  consistency.mutable_at_position()->set_position(truth->lsn);
  auto stub = v1::StateService::NewStub(Connect(absl::GetFlag(FLAGS_target)));
  auto customers =
      ReadTable(*stub, "customer_state", "customer_id", CustomerColumns(), consistency);
  if (customers.ok()) {
    // The second table at the very snapshot of the first.
    consistency.set_exact(customers->token);
  }
  auto orders = customers.ok() ? ReadTable(*stub, "orders", "order_id", OrderColumns(), consistency)
                               : customers;
  if (!orders.ok()) {
    std::fprintf(stderr, "truth_check: %s\n", orders.status().ToString().c_str());
    return 2;
  }
  std::vector<std::string> lines;
  const uint64_t different =
      CompareRows("customer_state", CustomerColumns(), truth->customers, customers->rows, kMaxLines,
                  &lines) +
      CompareRows("orders", OrderColumns(), truth->orders, orders->rows, kMaxLines, &lines);
  for (const std::string& line : lines) std::fprintf(stderr, "truth_check: %s\n", line.c_str());
  std::printf("{\"lsn\":\"%s\",\"snapshot_id\":%llu,\"rows\":%zu,\"different\":%llu}\n",
              truth->lsn.c_str(), static_cast<unsigned long long>(customers->snapshot_id),
              truth->customers.size() + truth->orders.size(),
              static_cast<unsigned long long>(different));
  return different == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tidemark::examples

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return tidemark::examples::Main();
}
