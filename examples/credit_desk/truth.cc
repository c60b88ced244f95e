#include "examples/credit_desk/truth.h"

#include <grpcpp/grpcpp.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "examples/credit_desk/client.h"
#include "examples/erp/database.h"

namespace tidemark::examples {
namespace {

constexpr int kPageRows = 2000;

// The definition of customer_state, in SQL. Times as microseconds since 1970.
constexpr char kCustomersSql[] = R"(
  SELECT c.customer_id, c.name, c.credit_limit_minor,
         coalesce(o.open_orders, 0), o.open_total_minor,
         p.last_payment_minor, (extract(epoch FROM p.last_payment_time) * 1000000)::bigint,
         coalesce(r.returns_count, 0)
  FROM customers c
  LEFT JOIN (SELECT customer_id, count(*) AS open_orders, sum(total_minor) AS open_total_minor
             FROM orders WHERE status IN ('new', 'released', 'held') GROUP BY customer_id) o
    USING (customer_id)
  LEFT JOIN (SELECT DISTINCT ON (customer_id) customer_id, amount_minor AS last_payment_minor,
                    paid_at AS last_payment_time
             FROM payments ORDER BY customer_id, paid_at DESC) p
    USING (customer_id)
  LEFT JOIN (SELECT customer_id, count(*) AS returns_count FROM returns GROUP BY customer_id) r
    USING (customer_id))";

constexpr char kOrdersSql[] = R"(
  SELECT order_id, customer_id, status, total_minor,
         (extract(epoch FROM placed_at) * 1000000)::bigint, decision_ref
  FROM orders)";

TableRows ToTable(const Rows& rows) {
  TableRows table;
  for (const std::vector<Cell>& row : rows) {
    std::vector<std::string>& values = table[row[0].value_or("")];
    for (size_t i = 1; i < row.size(); ++i) values.push_back(row[i].value_or(""));
  }
  return table;
}

}  // namespace

const std::vector<std::string>& CustomerColumns() {
  static const std::vector<std::string>* const columns =
      new std::vector<std::string>{"name",
                                   "credit_limit_minor",
                                   "open_orders",
                                   "open_total_minor",
                                   "last_payment_minor",
                                   "last_payment_time",
                                   "returns_count"};
  return *columns;
}

const std::vector<std::string>& OrderColumns() {
  static const std::vector<std::string>* const columns = new std::vector<std::string>{
      "customer_id", "status", "total_minor", "placed_at", "decision_ref"};
  return *columns;
}

absl::StatusOr<Truth> ReadTruth(const std::string& dsn) {
  auto replication = Database::Connect(absl::StrCat(dsn, " replication=database"));
  if (!replication.ok()) return replication.status();
  auto slot = replication->Run(
      "CREATE_REPLICATION_SLOT tidemark_truth TEMPORARY LOGICAL pgoutput (SNAPSHOT 'export')");
  if (!slot.ok()) return slot.status();
  if (slot->size() != 1 || slot->front().size() < 3) {
    return absl::InternalError("CREATE_REPLICATION_SLOT answered in an unknown form");
  }
  Truth truth;
  truth.lsn = slot->front()[1].value_or("");
  auto sql = Database::Connect(dsn);
  if (!sql.ok()) return sql.status();
  const std::string begin =
      absl::StrCat("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '",
                   slot->front()[2].value_or(""), "'");
  if (auto done = sql->Run(begin); !done.ok()) return done.status();
  auto customers = sql->Run(kCustomersSql);
  if (!customers.ok()) return customers.status();
  auto orders = sql->Run(kOrdersSql);
  if (!orders.ok()) return orders.status();
  truth.customers = ToTable(*customers);
  truth.orders = ToTable(*orders);
  return truth;
}

absl::StatusOr<Answer> ReadTable(v1::StateService::Stub& stub, const std::string& table,
                                 const std::string& key, const std::vector<std::string>& columns,
                                 const v1::Consistency& consistency) {
  Answer answer;
  v1::ScanRowsRequest request;
  request.set_table(table);
  request.set_page_size(kPageRows);
  *request.mutable_consistency() = consistency;
  do {
    grpc::ClientContext context;
    Prepare(context, std::chrono::seconds(60));
    v1::ScanRowsResponse page;
    const grpc::Status status = stub.ScanRows(&context, request, &page);
    if (!status.ok()) {
      return absl::UnavailableError(absl::StrCat("scanning ", table, ": ", Describe(status)));
    }
    if (answer.snapshot_id != 0 && answer.snapshot_id != page.read_at().snapshot_id()) {
      return absl::InternalError(
          absl::StrCat("the pages of one scan of ", table, " are from two snapshots"));
    }
    answer.snapshot_id = page.read_at().snapshot_id();
    answer.token = page.read_at().token();
    for (const v1::KeyedRow& row : page.rows()) {
      std::vector<std::string> values;
      for (const std::string& column : columns) values.push_back(Column(row.row(), column));
      answer.rows[Column(row.row(), key)] = std::move(values);
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return answer;
}

uint64_t CompareRows(const std::string& table, const std::vector<std::string>& columns,
                     const TableRows& truth, const TableRows& answer, size_t limit,
                     std::vector<std::string>* lines) {
  uint64_t different = 0;
  auto report = [&](const std::string& line) {
    if (++different <= limit) lines->push_back(line);
  };
  for (const auto& [key, expected] : truth) {
    const auto found = answer.find(key);
    if (found == answer.end()) {
      report(absl::StrCat(table, " ", key, ": missing"));
    } else if (found->second != expected) {
      std::vector<std::string> parts;
      for (size_t i = 0; i < columns.size(); ++i) {
        if (found->second[i] == expected[i]) continue;
        parts.push_back(absl::StrCat(columns[i], " is \"", found->second[i], "\", the ERP says \"",
                                     expected[i], "\""));
      }
      report(absl::StrCat(table, " ", key, ": ", absl::StrJoin(parts, "; ")));
    }
  }
  for (const auto& [key, unused] : answer) {
    if (truth.count(key) == 0) report(absl::StrCat(table, " ", key, ": the ERP has no such row"));
  }
  return different;
}

}  // namespace tidemark::examples
