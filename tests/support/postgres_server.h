// A private, real PostgreSQL for tests: in a short directory of its own, on a unix socket and a
// free loopback port, ended with the object (or with the test process, should that crash).
//
// Example:
//   auto server = PostgresServer::Create({.settings = {{"wal_sender_timeout", "2s"}}});
//   ASSERT_THAT(server, IsOk());
//   SqlClient sql((*server)->Dsn());
//   sql.Exec("CREATE TABLE t (id int PRIMARY KEY)");
//   (*server)->KillNine();                     // the whole server, as power loss without the disk
//   ASSERT_THAT((*server)->Start(), IsOk());
#ifndef TIDEMARK_TESTS_SUPPORT_POSTGRES_SERVER_H_
#define TIDEMARK_TESTS_SUPPORT_POSTGRES_SERVER_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/support/child_process.h"

namespace tidemark::testing {

struct PostgresServerOptions {
  // Settings of postgresql.conf by name, over the defaults: wal_level=logical, 10 slots and
  // senders, UTF8, fsync off (a kill -9 loses nothing without it; only power loss would).
  std::map<std::string, std::string> settings;
  // Servers share one initdb per test binary, and so its system identifier. True: initdb of its own
  // (about two seconds), another identifier.
  bool own_system_identifier = false;
  std::string hba;  // pg_hba.conf; empty: everybody is trusted
};

// Not thread-safe; use it from the main thread (see ChildProcess).
class PostgresServer {
 public:
  // Initialised and started: it takes connections when this returns.
  static absl::StatusOr<std::unique_ptr<PostgresServer>> Create(PostgresServerOptions options = {});
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // libpq connection strings: over the unix socket, over loopback.
  std::string Dsn(std::string_view database = "postgres", std::string_view user = "postgres") const;
  std::string TcpDsn(std::string_view database = "postgres",
                     std::string_view user = "postgres") const;
  int port() const { return port_; }
  std::string data_dir() const { return dir_ + "/data"; }
  std::string log() const { return TailOf(dir_ + "/log", 1 << 20); }

  // Waits until connections are taken; no effect when running. With the settings as they are now.
  absl::Status Start();
  // Fast shutdown: sessions are ended, WAL senders have sent everything. DEADLINE_EXCEEDED when it
  // takes more than `timeout` (it is then killed).
  absl::Status Stop(absl::Duration timeout = absl::Seconds(60));
  // kill -9 of every process; returns when all are gone.
  void KillNine();
  // Stop, then Start.
  absl::Status Restart();
  // Takes effect with the next Start.
  void Set(const std::string& name, const std::string& value) { options_.settings[name] = value; }
  // Makes the stopped server start as a standby of nothing and be promoted: a new timeline.
  absl::Status StartOnNewTimeline();
  // Copies the data directory of the stopped server to `name` beside it, and back.
  absl::Status SaveData(const std::string& name);
  absl::Status RestoreData(const std::string& name);

 private:
  PostgresServer(PostgresServerOptions options, std::string dir);
  absl::Status Initialise();
  absl::Status WriteConfiguration();
  absl::Status AwaitReady(int notify_fd);

  PostgresServerOptions options_;
  const std::string dir_;
  int port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

// Where the server's programs are; empty when PostgreSQL is not installed (skip the test then).
std::string PostgresBinDir();

// One server per test binary, started on first use and shared by tests that need no server of their
// own: give each a database of its own (CreateDatabase). Fails the process when it does not start.
PostgresServer& SharedPostgres();

// A new, empty database with a name no other test of this process has.
std::string CreateDatabase(PostgresServer& server);

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_POSTGRES_SERVER_H_
