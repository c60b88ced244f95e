// tidemarkd.
#include <malloc.h>
#include <pthread.h>
#include <signal.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/strings.h"
#include "server/config/config.h"
#include "server/config/token_file.h"
#include "server/dsn_file.h"
#include "server/options.h"
#include "server/server.h"
#include "server/telemetry/log.h"

namespace tidemark {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

int Fail(const absl::Status& status, int code) {
  std::cerr << "tidemarkd: " << ToStd(status.message()) << std::endl;
  return code;
}

// What the process may take beside caches and data. By default every thread gets a stack of 8 MiB
// and may get a malloc arena of 64 MiB of its own; nothing here needs that much.
constexpr int kMallocArenas = 2;
constexpr size_t kThreadStackBytes = size_t{2} << 20;

// Before the first thread starts.
void BoundMemory() {
  mallopt(M_ARENA_MAX, kMallocArenas);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kThreadStackBytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

// The signals that are waited for. Blocked before the first thread starts, so that no thread is
// interrupted by them.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A peer that went away is an error of the write, not the end of the process.
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

int CheckConfig(const CommandLine& line, const Config& config) {
  if (!config.token_file.empty()) {
    if (const auto tokens = LoadTokens(config.token_file); !tokens.ok()) {
      return Fail(tokens.status(), kFailed);
    }
  }
  for (const SourceConfig& source : config.sources) {
    if (const auto dsn = ReadDsnFile(source.dsn_file); !dsn.ok()) {
      return Fail(dsn.status(), kFailed);
    }
  }
  std::cout << (line.config.file.empty() ? "the defaults" : line.config.file)
            << ": no problem found" << std::endl;
  return 0;
}

// SIGHUP: what was wrong with the new files is logged, and the old ones stay in force.
void Reload(const CommandLine& line, Server& server, Log& log) {
  const absl::StatusOr<Config> config = LoadConfig(line.config);
  if (config.ok()) log.SetLevel(config->log_level);
  const absl::Status tokens = server.ReloadTokens();
  for (const absl::Status& status : {config.status(), tokens}) {
    if (status.ok()) continue;
    log.Write(LogLevel::kError, "reload failed; what was in force stays",
              {{"error", ToStd(status.message())}});
  }
  if (config.ok() && tokens.ok()) log.Write(LogLevel::kInfo, "tokens and log level reloaded");
}

// Until a signal ends it. The log is written out when this returns, so that what is said afterwards
// is the last line.
absl::Status Serve(const CommandLine& line, const Config& config, const sigset_t& signals) {
  Log log({.level = config.log_level});
  const absl::StatusOr<std::unique_ptr<Server>> server =
      Server::Start({.config = config,
                     .instance = line.instance,
                     .ready_file = line.ready_file,
                     .channelz = line.channelz},
                    log, SystemClock());
  if (!server.ok()) return server.status();
  int signal = 0;
  while (sigwait(&signals, &signal) == 0 && signal == SIGHUP) Reload(line, **server, log);
  log.Write(LogLevel::kInfo, "draining",
            {{"signal", signal == SIGINT ? "SIGINT" : "SIGTERM"},
             {"deadline_s", absl::ToDoubleSeconds(config.drain_deadline)}});
  // Further signals stay blocked: a second SIGTERM does not shorten the drain.
  const bool drained = (*server)->Shutdown(config.drain_deadline);
  log.Write(drained ? LogLevel::kInfo : LogLevel::kWarning,
            drained ? "drained" : "stopped; calls that did not end in time were cancelled");
  return absl::OkStatus();
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandLine> line = ParseCommandLine(arguments);
  if (!line.ok()) return Fail(line.status(), kUsage);
  if (line->action == CommandLine::Action::kHelp) {
    std::cout << UsageText();
    return 0;
  }
  if (line->action == CommandLine::Action::kVersion) {
    std::cout << "tidemarkd " << TIDEMARK_VERSION << std::endl;
    return 0;
  }
  const absl::StatusOr<Config> config = LoadConfig(line->config);
  if (!config.ok()) return Fail(config.status(), kFailed);
  if (line->action == CommandLine::Action::kPrintConfig) {
    std::cout << PrintConfig(*config);
    return 0;
  }
  if (line->action == CommandLine::Action::kCheckConfig) return CheckConfig(*line, *config);
  BoundMemory();
  const absl::Status served = Serve(*line, *config, BlockSignals());
  return served.ok() ? 0 : Fail(served, kFailed);
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  return tidemark::Main(std::vector<std::string>(argv + 1, argv + argc));
}
