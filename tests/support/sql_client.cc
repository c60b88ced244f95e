#include "tests/support/sql_client.h"

#include <libpq-fe.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace tidemark::testing {
namespace {

[[noreturn]] void Die(const absl::Status& status, const std::string& what) {
  std::fprintf(stderr, "SQL failed: %s\n  %s\n", what.c_str(), status.ToString().c_str());
  std::abort();
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqlClient>> SqlClient::Connect(const std::string& dsn) {
  std::unique_ptr<SqlClient> client(new SqlClient());
  client->connection_ = PQconnectdb(dsn.c_str());
  if (PQstatus(client->connection_) != CONNECTION_OK) {
    return absl::UnavailableError(PQerrorMessage(client->connection_));
  }
  // Notices of tests say nothing.
  PQsetNoticeProcessor(
      client->connection_, [](void*, const char*) {}, nullptr);
  return client;
}

SqlClient::SqlClient(const std::string& dsn) {
  auto client = Connect(dsn);
  if (!client.ok()) Die(client.status(), "connecting");
  std::swap(connection_, (*client)->connection_);
}

SqlClient::~SqlClient() { PQfinish(connection_); }

absl::StatusOr<SqlRows> SqlClient::TryQuery(const std::string& sql) {
  std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection_, sql.c_str()), PQclear);
  switch (PQresultStatus(result.get())) {
    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY:
      break;
    default: {
      if (PQstatus(connection_) != CONNECTION_OK) {
        return absl::UnavailableError(PQerrorMessage(connection_));
      }
      const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
      return absl::UnknownError(
          absl::StrCat(state != nullptr ? state : "?", ": ", PQresultErrorMessage(result.get())));
    }
  }
  SqlRows rows(PQntuples(result.get()));
  for (size_t row = 0; row < rows.size(); ++row) {
    for (int column = 0; column < PQnfields(result.get()); ++column) {
      if (PQgetisnull(result.get(), row, column)) {
        rows[row].push_back(std::nullopt);
      } else {
        rows[row].emplace_back(std::string(PQgetvalue(result.get(), row, column),
                                           PQgetlength(result.get(), row, column)));
      }
    }
  }
  return rows;
}

SqlRows SqlClient::Query(const std::string& sql) {
  auto rows = TryQuery(sql);
  if (!rows.ok()) Die(rows.status(), sql);
  return *std::move(rows);
}

std::string SqlClient::Value(const std::string& sql) {
  SqlRows rows = Query(sql);
  if (rows.size() != 1 || rows[0].size() != 1 || !rows[0][0].has_value()) {
    Die(absl::InternalError("not one value"), sql);
  }
  return *rows[0][0];
}

}  // namespace tidemark::testing
