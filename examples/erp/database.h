// A connection to the sample system of record: libpq with owned results and plain errors.
#ifndef TIDEMARK_EXAMPLES_ERP_DATABASE_H_
#define TIDEMARK_EXAMPLES_ERP_DATABASE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct pg_conn;

namespace tidemark::examples {

// Rows as text; nullopt is NULL.
using Cell = std::optional<std::string>;
using Rows = std::vector<std::vector<Cell>>;

// Not thread-safe.
class Database {
 public:
  // Waits up to `patience_seconds` for the server to accept the connection. UNAVAILABLE otherwise.
  static absl::StatusOr<Database> Connect(const std::string& dsn, int patience_seconds = 5);
  ~Database();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;

  // One statement. UNAVAILABLE when the connection is gone, ABORTED for an error of the statement
  // (its SQLSTATE comes first in the message).
  absl::StatusOr<Rows> Query(const std::string& sql, const std::vector<Cell>& parameters = {});
  // Statements without parameters, in one round trip (a whole transaction in text form, or a
  // replication command).
  absl::StatusOr<Rows> Run(const std::string& statements);

 private:
  explicit Database(pg_conn* connection);
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  std::unique_ptr<pg_conn, Close> connection_;
};

}  // namespace tidemark::examples

#endif  // TIDEMARK_EXAMPLES_ERP_DATABASE_H_
