#include "examples/erp/database.h"

#include <libpq-fe.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tidemark::examples {
namespace {

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Clear>;

absl::StatusOr<Rows> TakeRows(PGconn* connection, Result result) {
  const ExecStatusType kind = PQresultStatus(result.get());
  if (kind != PGRES_TUPLES_OK && kind != PGRES_COMMAND_OK) {
    std::string message(absl::StripSuffix(PQerrorMessage(connection), "\n"));
    if (PQstatus(connection) != CONNECTION_OK) return absl::UnavailableError(message);
    const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    return absl::AbortedError(absl::StrCat(state == nullptr ? "-----" : state, " ", message));
  }
  Rows rows;
  const int columns = PQnfields(result.get());
  for (int r = 0; r < PQntuples(result.get()); ++r) {
    std::vector<Cell>& row = rows.emplace_back();
    for (int c = 0; c < columns; ++c) {
      if (PQgetisnull(result.get(), r, c)) {
        row.emplace_back(std::nullopt);
      } else {
        row.emplace_back(std::string(PQgetvalue(result.get(), r, c),
                                     static_cast<size_t>(PQgetlength(result.get(), r, c))));
      }
    }
  }
  return rows;
}

}  // namespace

void Database::Close::operator()(pg_conn* connection) const { PQfinish(connection); }

Database::Database(pg_conn* connection) : connection_(connection) {}
Database::~Database() = default;
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;

absl::StatusOr<Database> Database::Connect(const std::string& dsn, int patience_seconds) {
  Database database(PQconnectdb(absl::StrCat(dsn, " connect_timeout=", patience_seconds).c_str()));
  if (PQstatus(database.connection_.get()) != CONNECTION_OK) {
    return absl::UnavailableError(PQerrorMessage(database.connection_.get()));
  }
  return database;
}

absl::StatusOr<Rows> Database::Query(const std::string& sql, const std::vector<Cell>& parameters) {
  std::vector<const char*> values;
  for (const Cell& cell : parameters) values.push_back(cell ? cell->c_str() : nullptr);
  return TakeRows(
      connection_.get(),
      Result(PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                          values.data(), nullptr, nullptr, /*resultFormat=*/0)));
}

absl::StatusOr<Rows> Database::Run(const std::string& statements) {
  return TakeRows(connection_.get(), Result(PQexec(connection_.get(), statements.c_str())));
}

}  // namespace tidemark::examples
