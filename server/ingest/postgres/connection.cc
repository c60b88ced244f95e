#include "server/ingest/postgres/connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/error.h"
#include "common/strings.h"
#include "server/ingest/postgres/failure.h"
#include "server/ingest/postgres/sql.h"

namespace tidemark::ingest {
namespace {

// Statements that may take as long as the source's other transactions do end by interrupt.
constexpr int kMaxPollMillis = 60000;

using ResultPtr = std::unique_ptr<PGresult, void (*)(PGresult*)>;

std::string Field(const PGresult* result, int field) {
  const char* text = PQresultErrorField(result, field);
  return text != nullptr ? text : "";
}

ServerError ErrorOf(const PGresult* result) {
  return {Field(result, PG_DIAG_SQLSTATE), Field(result, PG_DIAG_MESSAGE_PRIMARY),
          Field(result, PG_DIAG_MESSAGE_HINT)};
}

PgRows RowsOf(const PGresult* result) {
  PgRows rows(PQntuples(result));
  const int columns = PQnfields(result);
  for (int row = 0; row < PQntuples(result); ++row) {
    for (int column = 0; column < columns; ++column) {
      if (PQgetisnull(result, row, column)) {
        rows[row].push_back(std::nullopt);
      } else {
        rows[row].emplace_back(
            std::string(PQgetvalue(result, row, column), PQgetlength(result, row, column)));
      }
    }
  }
  return rows;
}

// What libpq quotes of a connection string can be any part of it, also of a password with a blank
// or an "@" in it. Keywords are shown: they are libpq's own, or a mistake that must be found.
std::string WithoutSecrets(std::string_view words) {
  constexpr std::string_view kUnknownKeyword = "invalid connection option \"";
  constexpr std::string_view kUnknownParameter = "invalid URI query parameter: \"";
  for (const std::string_view known : {kUnknownKeyword, kUnknownParameter}) {
    if (words.substr(0, known.size()) != known) continue;
    const std::string_view rest = words.substr(known.size());
    const std::string_view name = rest.substr(0, rest.find('"'));
    const bool plain = name.size() <= 32 && std::all_of(name.begin(), name.end(), [](char c) {
                         return (c >= 'a' && c <= 'z') || c == '_';
                       });
    if (plain) return std::string(words.substr(0, known.size())) + std::string(name) + "\"";
  }
  if (words.substr(0, 11) == "missing \"=\"") {
    return "missing \"=\" after a word of it; a value with blanks must stand between single quotes";
  }
  std::string shown(words.substr(0, words.find('"')));
  while (!shown.empty() && (shown.back() == ' ' || shown.back() == ':')) shown.pop_back();
  return shown;
}

}  // namespace

absl::Status CheckDsn(const std::string& dsn) {
  char* error = nullptr;
  PQconninfoOption* const parsed = PQconninfoParse(dsn.c_str(), &error);
  if (parsed != nullptr) {
    PQconninfoFree(parsed);
    return absl::OkStatus();
  }
  const std::string words = error == nullptr ? "there is no memory" : error;
  PQfreemem(error);
  return absl::InvalidArgumentError(
      absl::StrCat("is no connection string: ",
                   Printable(WithoutSecrets(std::string_view(words).substr(0, words.find('\n'))))));
}

absl::StatusOr<std::unique_ptr<PgConnection>> PgConnection::Open(const ConnectOptions& options,
                                                                 const WakeFd& interrupt) {
  if (const absl::Status readable = CheckDsn(options.dsn); !readable.ok()) {
    return Failed(absl::StrCat("The DSN ", readable.message(), "."));
  }
  // What stands before the DSN is a default it may change, what stands behind it is ours.
  const std::pair<const char*, const char*> parameters[] = {
      {"fallback_application_name", options.application_name.c_str()},
      {"keepalives_idle", "30"},
      {"keepalives_interval", "10"},
      {"keepalives_count", "3"},
      {"tcp_user_timeout", "30000"},
      {"dbname", options.dsn.c_str()},
      {"client_encoding", "UTF8"},
      {"replication", options.replication ? "database" : "false"},
  };
  std::vector<const char*> names, values;
  for (const auto& [name, value] : parameters) {
    names.push_back(name);
    values.push_back(value);
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  PGconn* raw = PQconnectStartParams(names.data(), values.data(), /*expand_dbname=*/1);
  if (raw == nullptr) return Retrying("There is no memory for a connection.");
  std::unique_ptr<PgConnection> connection(new PgConnection(raw, interrupt));
  // Verbose errors carry their code; libpq has no other way to tell it of a failed connection.
  PQsetErrorVerbosity(raw, PQERRORS_VERBOSE);
  PQsetNoticeProcessor(
      raw, [](void*, const char*) {}, nullptr);
  TIDEMARK_RETURN_IF_ERROR(connection->Handshake(absl::Now() + options.timeout));
  PQsetErrorVerbosity(raw, PQERRORS_DEFAULT);
  PQsetnonblocking(raw, 1);
  TIDEMARK_RETURN_IF_ERROR(connection->Query(kTextFormSettings, "setting up the session").status());
  return connection;
}

PgConnection::~PgConnection() {
  FreeRow();
  PQfinish(connection_);
}

absl::Status PgConnection::Handshake(absl::Time deadline) {
  constexpr std::string_view kDoing = "connecting";
  while (true) {
    if (PQstatus(connection_) == CONNECTION_BAD) break;
    const PostgresPollingStatusType status = PQconnectPoll(connection_);
    if (status == PGRES_POLLING_OK) return absl::OkStatus();
    if (status == PGRES_POLLING_FAILED) break;
    TIDEMARK_RETURN_IF_ERROR(AwaitSocket(
        status == PGRES_POLLING_READING ? Wait::kRead : Wait::kWrite, deadline, kDoing));
  }
  return FailureOf(ParseConnectionError(PQerrorMessage(connection_)), kDoing);
}

int PgConnection::server_version() const { return PQserverVersion(connection_); }
int PgConnection::backend_pid() const { return PQbackendPID(connection_); }
int PgConnection::socket() const { return PQsocket(connection_); }

absl::Status PgConnection::Lost(std::string_view doing) const {
  return FailureOf(ParseConnectionError(PQerrorMessage(connection_)), doing);
}

absl::Status PgConnection::AwaitSocket(Wait wait, absl::Time deadline, std::string_view doing) {
  while (true) {
    if (interrupt_.is_set()) return Interrupted();
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) {
      return Retrying(
          absl::StrCat("While ", ToAbsl(doing), ": the server did not answer in time."));
    }
    short events = 0;
    if (wait != Wait::kWrite) events |= POLLIN;
    if (wait != Wait::kRead) events |= POLLOUT;
    pollfd fds[] = {{PQsocket(connection_), events, 0}, {interrupt_.fd(), POLLIN, 0}};
    const auto millis =
        absl::ToInt64Milliseconds(std::min(left, absl::Milliseconds(kMaxPollMillis)));
    poll(fds, 2, static_cast<int>(millis) + 1);
    if (fds[0].revents != 0 && !interrupt_.is_set()) return absl::OkStatus();
  }
}

absl::Status PgConnection::SendQuery(const std::string& sql, std::string_view doing,
                                     absl::Time deadline) {
  if (PQsendQuery(connection_, sql.c_str()) == 0) return Lost(doing);
  while (true) {
    const int left = PQflush(connection_);
    if (left == 0) return absl::OkStatus();
    if (left < 0) return Lost(doing);
    TIDEMARK_RETURN_IF_ERROR(AwaitSocket(Wait::kBoth, deadline, doing));
    if (PQconsumeInput(connection_) == 0) return Lost(doing);
  }
}

absl::StatusOr<PGresult*> PgConnection::NextResult(std::string_view doing, absl::Time deadline) {
  while (PQisBusy(connection_)) {
    TIDEMARK_RETURN_IF_ERROR(AwaitSocket(Wait::kRead, deadline, doing));
    if (PQconsumeInput(connection_) == 0) return Lost(doing);
  }
  return PQgetResult(connection_);
}

absl::StatusOr<PgRows> PgConnection::Query(const std::string& sql, std::string_view doing,
                                           absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  TIDEMARK_RETURN_IF_ERROR(SendQuery(sql, doing, deadline));
  PgRows rows;
  absl::Status failure;
  while (true) {
    TIDEMARK_ASSIGN_OR_RETURN(PGresult* const raw, NextResult(doing, deadline));
    if (raw == nullptr) break;
    const ResultPtr result(raw, PQclear);
    switch (PQresultStatus(raw)) {
      case PGRES_TUPLES_OK:
      case PGRES_COMMAND_OK:
        rows = RowsOf(raw);
        break;
      case PGRES_FATAL_ERROR:
        if (failure.ok()) failure = FailureOf(ErrorOf(raw), doing);
        break;
      default:
        return Retrying(absl::StrCat("While ", ToAbsl(doing), ": the server answered with ",
                                     PQresStatus(PQresultStatus(raw)), "."));
    }
  }
  if (!failure.ok()) return failure;
  return rows;
}

absl::Status PgConnection::StartCopy(const std::string& sql, int expected, std::string_view doing) {
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  copying_ = std::string(doing);
  TIDEMARK_RETURN_IF_ERROR(SendQuery(sql, doing, deadline));
  TIDEMARK_ASSIGN_OR_RETURN(PGresult* const raw, NextResult(doing, deadline));
  const ResultPtr result(raw, PQclear);
  if (raw == nullptr) return Lost(doing);
  if (PQresultStatus(raw) == expected) return absl::OkStatus();
  // The rest of the answer; the error is already known.
  while (true) {
    TIDEMARK_ASSIGN_OR_RETURN(PGresult* const rest, NextResult(doing, deadline));
    if (rest == nullptr) break;
    PQclear(rest);
  }
  return FailureOf(ErrorOf(raw), doing);
}

absl::Status PgConnection::StartCopyOut(const std::string& sql, std::string_view doing) {
  return StartCopy(sql, PGRES_COPY_OUT, doing);
}

absl::Status PgConnection::StartCopyBoth(const std::string& command, std::string_view doing) {
  return StartCopy(command, PGRES_COPY_BOTH, doing);
}

void PgConnection::FreeRow() {
  if (row_ != nullptr) PQfreemem(row_);
  row_ = nullptr;
}

absl::StatusOr<std::optional<std::string_view>> PgConnection::NextCopyRow() {
  while (true) {
    FreeRow();
    const int size = PQgetCopyData(connection_, &row_, /*async=*/1);
    if (size > 0) return std::string_view(row_, size);
    if (size < 0) {
      TIDEMARK_RETURN_IF_ERROR(EndOfCopy());
      return std::nullopt;
    }
    // A copy may stand still as long as the server's disk does.
    TIDEMARK_RETURN_IF_ERROR(AwaitSocket(Wait::kRead, absl::InfiniteFuture(), copying_));
    if (PQconsumeInput(connection_) == 0) return Lost(copying_);
  }
}

absl::Status PgConnection::EndOfCopy() {
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  absl::Status failure;
  while (true) {
    TIDEMARK_ASSIGN_OR_RETURN(PGresult* const raw, NextResult(copying_, deadline));
    if (raw == nullptr) return failure;
    const ResultPtr result(raw, PQclear);
    if (PQresultStatus(raw) == PGRES_FATAL_ERROR && failure.ok()) {
      failure = FailureOf(ErrorOf(raw), copying_);
    }
  }
}

absl::StatusOr<std::optional<std::string_view>> PgConnection::TryReadFrame(bool may_read) {
  for (bool read = false;; read = true) {
    FreeRow();
    const int size = PQgetCopyData(connection_, &row_, /*async=*/1);
    if (size > 0) return std::string_view(row_, size);
    if (size < 0) {
      TIDEMARK_RETURN_IF_ERROR(EndOfCopy());
      return Retrying("The server ended the stream.");
    }
    if (!may_read || read) return std::nullopt;
    if (PQconsumeInput(connection_) == 0) return Lost(copying_);
  }
}

absl::Status PgConnection::SendFrame(std::string_view frame) {
  // In non-blocking mode libpq keeps what the socket does not take.
  if (PQputCopyData(connection_, frame.data(), static_cast<int>(frame.size())) != 1) {
    return Lost(copying_);
  }
  return FlushSome();
}

absl::Status PgConnection::FlushSome() {
  const int left = PQflush(connection_);
  if (left < 0) return Lost(copying_);
  wants_write_ = left > 0;
  return absl::OkStatus();
}

absl::Status PgConnection::EndCopyBoth() {
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  if (PQputCopyEnd(connection_, nullptr) != 1) return Lost(copying_);
  while (true) {
    TIDEMARK_RETURN_IF_ERROR(FlushSome());
    FreeRow();
    const int size = PQgetCopyData(connection_, &row_, /*async=*/1);
    if (size < 0) return EndOfCopy();
    if (size > 0) continue;
    TIDEMARK_RETURN_IF_ERROR(
        AwaitSocket(wants_write_ ? Wait::kBoth : Wait::kRead, deadline, copying_));
    if (PQconsumeInput(connection_) == 0) return Lost(copying_);
  }
}

void EndSession(ConnectOptions options, int backend_pid) {
  options.timeout = absl::Milliseconds(500);
  const WakeFd never;
  auto connection = PgConnection::Open(options, never);
  if (!connection.ok()) return;
  (*connection)
      ->Query(absl::StrCat("SELECT pg_terminate_backend(", backend_pid, ")"), "ending a session",
              absl::Milliseconds(500))
      .status()
      .IgnoreError();
}

}  // namespace tidemark::ingest
