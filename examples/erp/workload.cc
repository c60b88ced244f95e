#include "examples/erp/workload.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tidemark::examples {
namespace {

constexpr size_t kWindow = 500;  // orders and payments a worker still touches
constexpr int kRowsPerStatement = 500;

void Remember(std::vector<std::string>& window, std::string id, uint64_t n) {
  if (window.size() < kWindow) {
    window.push_back(std::move(id));
  } else {
    window[n % kWindow] = std::move(id);
  }
}

constexpr int kStayingCustomers = 10;

std::string CustomerId(int number) { return absl::StrFormat("C%05d", number); }

}  // namespace

std::vector<std::string> InitialStatements(const WorkloadOptions& options) {
  std::mt19937_64 random(options.seed);
  std::vector<std::string> statements;
  std::string sql;
  for (int i = 0; i < options.skus; ++i) {
    absl::StrAppend(&sql, i == 0 ? "INSERT INTO stock VALUES " : ",", "('SKU-", i, "',1000000)");
  }
  statements.push_back(sql);
  for (int first = 0; first < options.customers; first += kRowsPerStatement) {
    sql = "INSERT INTO customers VALUES ";
    for (int i = first; i < options.customers && i < first + kRowsPerStatement; ++i) {
      absl::StrAppend(&sql, i == first ? "" : ",", "('", CustomerId(i), "','Customer ", i, "',",
                      1000 * (1 + static_cast<int>(random() % 500)), ")");
    }
    statements.push_back(sql);
  }
  return statements;
}

Workload::Workload(const WorkloadOptions& options)
    : options_(options),
      random_(options.seed * 1000003 + static_cast<uint64_t>(options.worker) + 1) {}

std::string Workload::Customer() { return CustomerId(Pick(options_.customers)); }

std::string Workload::Order() {
  if (orders_.empty()) return "none";
  return orders_[random_() % orders_.size()];
}

std::string Workload::PlaceOrder() {
  const std::string id = absl::StrFormat("O-%d-%08d", options_.worker, next_);
  std::string lines;
  std::string stock;
  int64_t total = 0;
  const int count = 1 + Pick(4);
  const int first_sku = Pick(options_.skus);
  for (int line = 1; line <= count; ++line) {
    const int quantity = 1 + Pick(9);
    const int64_t price = 100 + Pick(20000);
    total += quantity * price;
    const int sku = (first_sku + line) % options_.skus;
    absl::StrAppend(&lines, line == 1 ? "" : ",", "('", id, "',", line, ",'SKU-", sku, "',",
                    quantity, ",", price, ")");
    // One statement per worker and line in ascending order would still deadlock across workers:
    // a skipped row is fine for a sample.
    absl::StrAppend(&stock, "UPDATE stock SET quantity=quantity-", quantity, " WHERE sku IN ",
                    "(SELECT sku FROM stock WHERE sku='SKU-", sku, "' FOR UPDATE SKIP LOCKED);");
  }
  Remember(orders_, id, next_);
  return absl::StrCat("INSERT INTO orders VALUES ('", id, "','", Customer(), "','new',", total,
                      ",clock_timestamp(),NULL);INSERT INTO order_lines VALUES ", lines, ";",
                      stock);
}

std::string Workload::TakePayment() {
  const std::string id = absl::StrFormat("P-%d-%08d", options_.worker, next_);
  Remember(payments_, id, next_);
  return absl::StrCat("INSERT INTO payments VALUES ('", id, "','", Customer(), "',",
                      100 + Pick(500000), ",clock_timestamp()) ON CONFLICT DO NOTHING;");
}

std::string Workload::MoveOrder() {
  switch (Pick(8)) {
    case 0:
    case 1:
      return absl::StrCat("UPDATE orders SET status='released' WHERE order_id='", Order(), "';");
    case 2:
      return absl::StrCat("UPDATE orders SET status='held' WHERE order_id='", Order(), "';");
    case 3:
      return absl::StrCat("UPDATE orders SET status='shipped' WHERE order_id='", Order(), "';");
    case 4:
      return absl::StrCat("UPDATE orders SET status='cancelled' WHERE order_id='", Order(), "';");
    case 5:
      return absl::StrCat("UPDATE orders SET total_minor=total_minor+", Pick(1000),
                          " WHERE order_id='", Order(), "';");
    case 6:  // a foreign-key change
      return absl::StrCat("UPDATE orders SET customer_id='", Customer(), "' WHERE order_id='",
                          Order(), "';");
    default:
      return absl::StrCat("DELETE FROM orders WHERE order_id='", Order(), "';");
  }
}

std::string Workload::ChangeAccount() {
  const int number = Pick(options_.customers);
  const std::string customer = CustomerId(number);
  // The first few stay what they are, so that a printed example finds its row at any time.
  switch (number < kStayingCustomers ? 5 + Pick(3) : Pick(8)) {
    case 0:  // closed, with what belongs to it left behind
      return absl::StrCat("DELETE FROM customers WHERE customer_id='", customer, "';");
    case 1:
    case 2:  // opened again
      return absl::StrCat("INSERT INTO customers VALUES ('", customer, "','Reopened ", next_,
                          "',50000) ON CONFLICT DO NOTHING;");
    case 3:  // a key change and back, in one transaction
      return absl::StrCat("UPDATE customers SET customer_id='X-", options_.worker, "-", next_,
                          "' WHERE customer_id='", customer, "';UPDATE customers SET customer_id='",
                          customer, "' WHERE customer_id='X-", options_.worker, "-", next_, "';");
    case 4:  // a key change that stays
      return absl::StrCat("UPDATE customers SET customer_id='", customer, "-", options_.worker, "-",
                          next_, "' WHERE customer_id='", customer, "';");
    case 5:
      return absl::StrCat("UPDATE customers SET name='Renamed ", next_, "' WHERE customer_id='",
                          customer, "';");
    default:
      return absl::StrCat("UPDATE customers SET credit_limit_minor=", 1000 * (1 + Pick(900)),
                          " WHERE customer_id='", customer, "';");
  }
}

std::string Workload::NextTransaction() {
  ++next_;
  const int kind = Pick(100);
  std::string body;
  if (kind < 40) {
    body = PlaceOrder();
  } else if (kind < 60) {
    body = TakePayment();
  } else if (kind < 82) {
    body = MoveOrder();
  } else if (kind < 88) {
    body = ChangeAccount();
  } else if (kind < 92) {
    const std::string payment =
        payments_.empty() ? "none" : payments_[random_() % payments_.size()];
    body = Pick(2) == 0 ? absl::StrCat("DELETE FROM payments WHERE payment_id='", payment, "';")
                        : absl::StrCat("UPDATE payments SET amount_minor=amount_minor+1 ",
                                       "WHERE payment_id='", payment, "';");
  } else if (kind < 96) {
    body = absl::StrCat(
        "INSERT INTO returns SELECT '", absl::StrFormat("R-%d-%08d", options_.worker, next_),
        "',customer_id,order_id,clock_timestamp() FROM orders WHERE order_id='", Order(), "';");
  } else {  // an order and its payment at once: two tables, one transaction
    body = absl::StrCat(PlaceOrder(), TakePayment());
  }
  return absl::StrCat("BEGIN;", body, "COMMIT;");
}

}  // namespace tidemark::examples
