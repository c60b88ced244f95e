// What an operator can set: tidemark.yaml, read into plain structs, with the few process-level keys
// that flags override. Every key, its default and its range: docs/configuration.md.
//
// Example:
//   TIDEMARK_ASSIGN_OR_RETURN(Config config, LoadConfig({.file = "tidemark.yaml"}));
#ifndef TIDEMARK_SERVER_CONFIG_CONFIG_H_
#define TIDEMARK_SERVER_CONFIG_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/telemetry/log.h"
#include "storage/tables/table_definition.h"

namespace tidemark {

// One entry of `sources`.
struct SourceConfig {
  std::string name;
  std::string kind;      // "postgres"
  std::string dsn_file;  // holds the connection string, which is a secret
  std::string slot;      // empty = tidemark_<instance>_<name>
  std::string publication = "tidemark";
  bool resnapshot_on_gap = true;
  absl::Duration probe_every = absl::Seconds(1);
  std::vector<std::string> relations;  // empty = those the tables name
  int line = 0;
  bool operator==(const SourceConfig&) const = default;
};

struct Config {
  // server
  std::string listen = "127.0.0.1:7400";
  // Empty = 127.0.0.1:7401, or a free port when `listen` asks for a free port; "off" = none.
  std::string metrics_listen;
  absl::Duration drain_deadline = absl::Seconds(20);
  uint64_t max_message_bytes = 4 << 20;
  uint64_t max_concurrent_calls = 2000;
  // auth
  std::string token_file;  // empty = no authentication, loopback only
  // state
  std::string state_dir = "state";
  uint64_t block_cache = 256 << 20;
  uint64_t row_cache = 512 << 20;
  uint64_t max_batch_bytes = 8 << 20;
  uint64_t max_transaction_bytes = 64 << 20;
  absl::Duration retain_for = absl::Hours(1);
  uint64_t min_snapshots = 100;
  absl::Duration tombstone_keep = absl::Hours(24 * 7);
  // log
  LogLevel log_level = LogLevel::kInfo;

  std::vector<SourceConfig> sources;
  std::vector<tables::TableDefinition> tables;
  std::string tables_yaml;  // the definitions as they were written, for PrintConfig

  // Where what has no key of its own goes: instance name, spool files.
  std::string data_dir;
};

// Where the configuration comes from, and what the command line says beside it.
struct ConfigOrigin {
  std::string file;      // empty = defaults only
  std::string data_dir;  // empty = the folder of `file`
  std::optional<std::string> listen;
  std::optional<std::string> metrics_listen;
  std::optional<LogLevel> log_level;
};

// Reads and checks everything. Paths in the result are absolute or relative to the working
// directory: `state.dir` is taken relative to the data directory, every other path to the folder of
// the file. INVALID_ARGUMENT with "FILE: line N: problem" for what is wrong in the file, without a
// line for what is wrong with the whole; NOT_FOUND for a file that cannot be read.
absl::StatusOr<Config> LoadConfig(const ConfigOrigin& origin);
// The same for text that was already read; origin.file names it.
absl::StatusOr<Config> ParseConfig(std::string_view yaml, const ConfigOrigin& origin);

// The configuration as a file that gives it again, every key with its value. Holds no secrets:
// those are in files of their own, of which only the names are shown.
std::string PrintConfig(const Config& config);

// Whether only this machine can reach the address ("127.0.0.1:0", "[::1]:1", "localhost:1",
// "unix:/path").
bool IsLoopback(std::string_view address);

// The text of a file of at most `limit` bytes. NOT_FOUND naming it and the cause.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t limit);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_CONFIG_CONFIG_H_
