#include "tests/support/postgres_server.h"

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/error.h"
#include "tests/support/sql_client.h"

namespace tidemark::testing {
namespace {

constexpr absl::Duration kStartDeadline = absl::Seconds(90);
constexpr char kUser[] = "postgres";  // the server refuses to run as root

// A directory short enough for a socket path, that the server's user may enter.
std::string MakeDir() {
  std::string dir = "/tmp/tm-pg-XXXXXX";
  if (mkdtemp(dir.data()) == nullptr) std::abort();
  if (geteuid() == 0) {
    const passwd* user = getpwnam(kUser);
    if (user == nullptr || chown(dir.c_str(), user->pw_uid, user->pw_gid) != 0) std::abort();
  }
  return dir;
}

void RemoveDir(const std::string& dir) {
  std::error_code ignored;
  std::filesystem::remove_all(dir, ignored);
}

int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(fd);
  return bound ? ntohs(address.sin_port) : 0;
}

absl::Status InitDb(const std::string& dir) {
  return RunToEnd({.argv = {PostgresBinDir() + "/initdb", "-D", dir + "/data", "-U", "postgres",
                            "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-clean"},
                   .output_file = dir + "/log",
                   .run_as = kUser,
                   .directory = dir},
                  absl::Minutes(2));
}

absl::Status CopyTree(const std::string& from, const std::string& to, const std::string& log) {
  return RunToEnd({.argv = {"/bin/cp", "-a", from, to}, .output_file = log, .run_as = kUser},
                  absl::Minutes(2));
}

// The data directory every server but those with an identifier of their own starts from.
class Template {
 public:
  static absl::StatusOr<std::string> DataDir() {
    static Template made;
    if (!made.status_.ok()) return made.status_;
    return made.dir_ + "/data";
  }

 private:
  Template() : dir_(MakeDir()), status_(InitDb(dir_)) {}
  ~Template() { RemoveDir(dir_); }

  const std::string dir_;
  const absl::Status status_;
};

// Where the server tells that it takes connections, as it tells a service manager (sd_notify).
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path) : path_(path) {
    unlink(path.c_str());
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) std::abort();
    chmod(path.c_str(), 0777);
  }
  ~NotifySocket() {
    close(fd_);
    unlink(path_.c_str());
  }
  int fd() const { return fd_; }

 private:
  const std::string path_;
  int fd_ = -1;
};

}  // namespace

std::string PostgresBinDir() {
  for (const char* version : {"15", "16", "17"}) {
    const std::string dir = absl::StrCat("/usr/lib/postgresql/", version, "/bin");
    if (access((dir + "/initdb").c_str(), X_OK) == 0) return dir;
  }
  return "";
}

PostgresServer::PostgresServer(PostgresServerOptions options, std::string dir)
    : options_(std::move(options)), dir_(std::move(dir)) {}

absl::StatusOr<std::unique_ptr<PostgresServer>> PostgresServer::Create(
    PostgresServerOptions options) {
  if (PostgresBinDir().empty()) return absl::NotFoundError("PostgreSQL is not installed");
  std::unique_ptr<PostgresServer> server(new PostgresServer(std::move(options), MakeDir()));
  TIDEMARK_RETURN_IF_ERROR(server->Initialise());
  TIDEMARK_RETURN_IF_ERROR(server->Start());
  return server;
}

PostgresServer::~PostgresServer() {
  if (process_ != nullptr) {
    // Immediate shutdown: unlike kill -9 it gives its shared memory segment back to the system.
    process_->Signal(SIGQUIT);
    process_->Wait(absl::Seconds(10));
  }
  process_.reset();
  RemoveDir(dir_);
}

absl::Status PostgresServer::Initialise() {
  if (options_.own_system_identifier) return InitDb(dir_);
  TIDEMARK_ASSIGN_OR_RETURN(const std::string from, Template::DataDir());
  return CopyTree(from, data_dir(), dir_ + "/log");
}

absl::Status PostgresServer::WriteConfiguration() {
  std::map<std::string, std::string> settings = {
      {"listen_addresses", "127.0.0.1"},
      {"port", absl::StrCat(port_)},
      {"unix_socket_directories", dir_},
      {"wal_level", "logical"},
      {"max_wal_senders", "10"},
      {"max_replication_slots", "10"},
      {"max_connections", "60"},
      {"shared_buffers", "32MB"},
      {"max_wal_size", "512MB"},
      {"fsync", "off"},
      {"full_page_writes", "off"},
      {"timezone", "Europe/Lisbon"},  // not UTC: nothing of ours may depend on it
      {"datestyle", "SQL, DMY"},
      {"intervalstyle", "postgres_verbose"},
      {"log_line_prefix", "%m %p %a "},
      {"logging_collector", "off"},
  };
  for (const auto& [name, value] : options_.settings) settings[name] = value;
  std::ofstream file(data_dir() + "/postgresql.conf", std::ios::trunc);
  for (const auto& [name, value] : settings) file << name << " = '" << value << "'\n";
  if (!options_.hba.empty()) {
    std::ofstream(data_dir() + "/pg_hba.conf", std::ios::trunc) << options_.hba;
  }
  return file.flush() ? absl::OkStatus() : absl::UnavailableError("cannot write postgresql.conf");
}

absl::Status PostgresServer::Start() {
  if (process_ != nullptr && process_->running()) return absl::OkStatus();
  // A port found free may be taken by the time the server binds it: another one is tried then. Once
  // it served the port is kept, since connection strings name it.
  constexpr int kTries = 5;
  for (int i = 0;; ++i) {
    const bool first = port_ == 0;
    if (first) port_ = FreePort();
    TIDEMARK_RETURN_IF_ERROR(WriteConfiguration());
    NotifySocket notify(dir_ + "/notify");
    TIDEMARK_ASSIGN_OR_RETURN(
        process_, ChildProcess::Start({.argv = {PostgresBinDir() + "/postgres", "-D", data_dir()},
                                       .environment = {"NOTIFY_SOCKET=" + dir_ + "/notify"},
                                       .output_file = dir_ + "/log",
                                       .run_as = kUser,
                                       .directory = dir_}));
    const absl::Status ready = AwaitReady(notify.fd());
    if (ready.ok()) return ready;
    process_.reset();
    if (!first || i + 1 == kTries || !absl::StrContains(ready.message(), "could not bind")) {
      return ready;
    }
    port_ = 0;
  }
}

absl::Status PostgresServer::AwaitReady(int notify_fd) {
  const absl::Time deadline = absl::Now() + kStartDeadline;
  while (absl::Now() < deadline) {
    pollfd fds[] = {{notify_fd, POLLIN, 0}, {process_->pidfd(), POLLIN, 0}};
    poll(fds, 2, static_cast<int>(absl::ToInt64Milliseconds(deadline - absl::Now())) + 1);
    if (fds[0].revents != 0) {
      char message[512];
      const ssize_t size = recv(notify_fd, message, sizeof(message) - 1, 0);
      if (size > 0) {
        message[size] = '\0';
        if (std::strstr(message, "READY=1") != nullptr) return absl::OkStatus();
      }
    } else if (fds[1].revents != 0) {
      return absl::InternalError("PostgreSQL did not start: " + TailOf(dir_ + "/log", 2000));
    }
  }
  return absl::DeadlineExceededError("PostgreSQL did not get ready");
}

absl::Status PostgresServer::Stop(absl::Duration timeout) {
  if (process_ == nullptr) return absl::OkStatus();
  process_->Signal(SIGINT);
  const bool ended = process_->Wait(timeout).has_value();
  process_.reset();
  return ended ? absl::OkStatus() : absl::DeadlineExceededError("PostgreSQL did not stop");
}

void PostgresServer::KillNine() { process_.reset(); }

absl::Status PostgresServer::Restart() {
  TIDEMARK_RETURN_IF_ERROR(Stop());
  return Start();
}

absl::Status PostgresServer::StartOnNewTimeline() {
  std::ofstream(data_dir() + "/standby.signal") << "";
  std::filesystem::permissions(data_dir() + "/standby.signal", std::filesystem::perms(0644));
  options_.settings["hot_standby"] = "on";
  TIDEMARK_RETURN_IF_ERROR(Start());
  SqlClient sql(Dsn());
  sql.Exec("SELECT pg_promote()");
  return absl::OkStatus();
}

absl::Status PostgresServer::SaveData(const std::string& name) {
  return CopyTree(data_dir(), dir_ + "/" + name, dir_ + "/log");
}

absl::Status PostgresServer::RestoreData(const std::string& name) {
  RemoveDir(data_dir());
  return CopyTree(dir_ + "/" + name, data_dir(), dir_ + "/log");
}

std::string PostgresServer::Dsn(std::string_view database, std::string_view user) const {
  return absl::StrCat("host=", dir_, " port=", port_, " user=", std::string(user),
                      " dbname=", std::string(database));
}

std::string PostgresServer::TcpDsn(std::string_view database, std::string_view user) const {
  return absl::StrCat("host=127.0.0.1 port=", port_, " user=", std::string(user),
                      " dbname=", std::string(database));
}

PostgresServer& SharedPostgres() {
  static std::unique_ptr<PostgresServer> server = [] {
    auto made = PostgresServer::Create({});
    if (!made.ok()) {
      std::fprintf(stderr, "%s\n", made.status().ToString().c_str());
      std::abort();
    }
    return *std::move(made);
  }();
  return *server;
}

std::string CreateDatabase(PostgresServer& server) {
  static std::atomic<int> next{1};
  const std::string name = absl::StrCat("db", next++);
  SqlClient(server.Dsn()).Exec("CREATE DATABASE " + name);
  return name;
}

}  // namespace tidemark::testing
