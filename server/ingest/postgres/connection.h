// A connection to a system of record. Nothing here blocks: every wait is for the socket, the
// interrupt and a deadline together.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_CONNECTION_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_CONNECTION_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/ingest/postgres/wake_fd.h"

struct pg_conn;
struct pg_result;

namespace tidemark::ingest {

// A null is nullopt.
using PgRow = std::vector<std::optional<std::string>>;
using PgRows = std::vector<PgRow>;

struct ConnectOptions {
  std::string dsn;                             // never shown
  bool replication = false;                    // takes replication commands beside SQL
  std::string application_name;                // unless the DSN says another
  absl::Duration timeout = absl::Seconds(10);  // to connect
};

// Whether libpq can read the connection string at all: INVALID_ARGUMENT with libpq's own words, of
// which a text that may hold the password is left out. Connects to nothing.
absl::Status CheckDsn(const std::string& dsn);

// Not thread-safe. Errors are failures as failure.h describes them; after one that is no server's
// answer (SqlStateOf is empty) the connection is of no use. Once `interrupt` is set every wait ends
// with kCancelled.
class PgConnection {
 public:
  // Connects and gives the session the text forms that decoding needs. `interrupt` outlives it. A
  // DSN that CheckDsn refuses is FAILED.
  static absl::StatusOr<std::unique_ptr<PgConnection>> Open(const ConnectOptions& options,
                                                            const WakeFd& interrupt);
  ~PgConnection();
  PgConnection(const PgConnection&) = delete;
  PgConnection& operator=(const PgConnection&) = delete;

  int server_version() const;  // 150000
  int backend_pid() const;
  int socket() const;

  // Runs statements or a replication command; the rows of the last one. `doing`: for messages.
  absl::StatusOr<PgRows> Query(const std::string& sql, std::string_view doing,
                               absl::Duration timeout = absl::Minutes(1));

  // --- COPY TO STDOUT.
  absl::Status StartCopyOut(const std::string& sql, std::string_view doing);
  // The next row, good until the next call; nullopt after the last.
  absl::StatusOr<std::optional<std::string_view>> NextCopyRow();

  // --- COPY BOTH: START_REPLICATION.
  absl::Status StartCopyBoth(const std::string& command, std::string_view doing);
  // The next frame that is here already, good until the next call; nullopt when none is. An error
  // when the server ended the stream. Reads from the socket only when `may_read`.
  absl::StatusOr<std::optional<std::string_view>> TryReadFrame(bool may_read);
  // Sends what the socket takes now and keeps the rest; see wants_write.
  absl::Status SendFrame(std::string_view frame);
  absl::Status FlushSome();
  // Ends the stream in good order; the connection takes commands again. Frames on their way are
  // dropped.
  absl::Status EndCopyBoth();
  bool wants_write() const { return wants_write_; }

 private:
  PgConnection(pg_conn* connection, const WakeFd& interrupt)
      : connection_(connection), interrupt_(interrupt) {}

  enum class Wait { kRead = 1, kWrite = 2, kBoth = 3 };
  absl::Status AwaitSocket(Wait wait, absl::Time deadline, std::string_view doing);
  absl::Status Handshake(absl::Time deadline);
  absl::Status SendQuery(const std::string& sql, std::string_view doing, absl::Time deadline);
  absl::StatusOr<pg_result*> NextResult(std::string_view doing, absl::Time deadline);
  absl::Status StartCopy(const std::string& sql, int expected, std::string_view doing);
  absl::Status EndOfCopy();
  absl::Status Lost(std::string_view doing) const;
  void FreeRow();

  pg_conn* const connection_;
  const WakeFd& interrupt_;
  char* row_ = nullptr;  // libpq's
  std::string copying_;  // what the running copy is, for messages
  bool wants_write_ = false;
};

// Ends a session of ours that waits at the server and would not notice that its connection is gone.
// Best effort, within a second.
void EndSession(ConnectOptions options, int backend_pid);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_CONNECTION_H_
