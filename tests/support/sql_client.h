// Plain SQL for tests: a connection that runs statements and fails the test's process when one
// fails that must not.
#ifndef TIDEMARK_TESTS_SUPPORT_SQL_CLIENT_H_
#define TIDEMARK_TESTS_SUPPORT_SQL_CLIENT_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct pg_conn;

namespace tidemark::testing {

// A null is nullopt.
using SqlRow = std::vector<std::optional<std::string>>;
using SqlRows = std::vector<SqlRow>;

// Not thread-safe; any thread may own one.
class SqlClient {
 public:
  // Connects; check-fails with the server's text when it cannot.
  explicit SqlClient(const std::string& dsn);
  static absl::StatusOr<std::unique_ptr<SqlClient>> Connect(const std::string& dsn);
  ~SqlClient();
  SqlClient(const SqlClient&) = delete;
  SqlClient& operator=(const SqlClient&) = delete;

  // One or several statements; the rows of the last. UNKNOWN with "SQLSTATE: text" on an error;
  // UNAVAILABLE when the connection broke.
  absl::StatusOr<SqlRows> TryQuery(const std::string& sql);
  // Check-fail with the server's text on an error.
  SqlRows Query(const std::string& sql);
  void Exec(const std::string& sql) { Query(sql); }
  // The one value of the one row.
  std::string Value(const std::string& sql);
  pg_conn* raw() { return connection_; }

 private:
  SqlClient() = default;
  pg_conn* connection_ = nullptr;
};

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_SQL_CLIENT_H_
