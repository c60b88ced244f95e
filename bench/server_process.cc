#include "bench/server_process.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "bench/store_maker.h"
#include "common/error.h"

namespace tidemark::bench {
namespace {

constexpr double kStartPatienceSeconds = 120;

// The port in a ready file: {"port":N,...}.
absl::StatusOr<int> PortOf(const std::string& ready_file) {
  std::ifstream file(ready_file);
  std::stringstream text;
  text << file.rdbuf();
  const std::string json = text.str();
  const size_t at = json.find("\"port\":");
  int port = 0;
  if (at == std::string::npos ||
      !absl::SimpleAtoi(json.substr(at + 7, json.find_first_of(",}", at) - at - 7), &port)) {
    return absl::InternalError(absl::StrCat("no port in ", ready_file, ": ", json));
  }
  return port;
}

absl::StatusOr<ServerProcess> Start(const std::vector<std::string>& command,
                                    const std::string& ready_file, const std::string& log) {
  std::filesystem::remove(ready_file);
  ServerProcess server;
  const absl::Time start = absl::Now();
  server.child = std::make_unique<Child>(command, log);
  const absl::Status ready = server.child->WaitForFile(ready_file, kStartPatienceSeconds);
  if (!ready.ok()) {
    return absl::UnavailableError(absl::StrCat(ready.message(), "; see ", log));
  }
  server.start_seconds = absl::ToDoubleSeconds(absl::Now() - start);
  TIDEMARK_ASSIGN_OR_RETURN(const int port, PortOf(ready_file));
  server.target = absl::StrCat("127.0.0.1:", port);
  return server;
}

}  // namespace

absl::StatusOr<std::string> MakeDataDir(const std::string& work_dir, const std::string& name,
                                        uint64_t rows) {
  const std::string dir = absl::StrCat(work_dir, "/", name);
  std::filesystem::remove_all(dir);
  std::filesystem::create_directories(dir);
  std::ofstream(dir + "/bench.dsn") << "host=127.0.0.1 port=1 dbname=nowhere connect_timeout=1\n";
  std::ofstream(dir + "/tidemark.yaml")
      << "state:\n  dir: " << dir << "/state\n  block_cache: " << (kBlockCacheBytes >> 20)
      << "MiB\n  row_cache: " << (kRowCacheBytes >> 20)
      << "MiB\nsources:\n  - name: bench\n    kind: postgres\n    dsn_file: bench.dsn\n"
         "    slot: bench\n    publication: bench\n    relations: [public.rows]\ntables:"
      << kTablesYaml;
  TIDEMARK_RETURN_IF_ERROR(MakeStore(dir + "/state", rows));
  return dir;
}

absl::StatusOr<ServerProcess> StartTidemarkd(const std::string& bin_dir,
                                             const std::string& data_dir) {
  const std::string ready = data_dir + "/ready.json";
  return Start(
      {bin_dir + "/tidemarkd", "--data-dir=" + data_dir, "--config=" + data_dir + "/tidemark.yaml",
       "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0", "--ready-file=" + ready},
      ready, data_dir + "/tidemarkd.log");
}

absl::StatusOr<ServerProcess> StartEmptyServer(const std::string& bin_dir,
                                               const std::string& work_dir, uint64_t bytes) {
  const std::string ready = work_dir + "/empty.json";
  return Start(
      {bin_dir + "/empty_server", absl::StrCat("--bytes=", bytes), "--ready_file=" + ready}, ready,
      work_dir + "/empty.log");
}

}  // namespace tidemark::bench
