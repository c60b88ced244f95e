// The command line of tidemarkd.
#ifndef TIDEMARK_SERVER_OPTIONS_H_
#define TIDEMARK_SERVER_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/config.h"

namespace tidemark {

struct CommandLine {
  enum class Action { kServe, kPrintConfig, kCheckConfig, kHelp, kVersion };
  Action action = Action::kServe;
  ConfigOrigin config;     // with what flags override
  std::string instance;    // empty = the one kept in the data directory
  std::string ready_file;  // empty = none
  bool channelz = false;
};

// Flags are --name=value or --name value; '-' and '_' are the same in names. INVALID_ARGUMENT with
// what is wrong, also for flags of later versions ("not yet available").
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

// What --help prints.
std::string UsageText();

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_OPTIONS_H_
