#include "server/options.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/error.h"
#include "common/strings.h"
#include "server/telemetry/log.h"

ABSL_FLAG(std::string, data_dir, "",
          "directory for the state and everything else that is kept; default: that of the "
          "configuration file");
ABSL_FLAG(std::string, config, "", "configuration file (tidemark.yaml); default: none");
ABSL_FLAG(std::string, listen, "", "address of the gRPC server; over server.listen");
ABSL_FLAG(std::string, metrics_listen, "",
          "address of /metrics and /healthz, or off; over server.metrics_listen");
ABSL_FLAG(std::string, ready_file, "",
          "written once the server serves: {\"port\":N,\"metrics_port\":M,\"pid\":K}");
ABSL_FLAG(std::string, log_level, "", "debug, info, warning or error; over log.level");
ABSL_FLAG(std::string, instance, "",
          "name of this instance in names it makes (replication slots); default: made up once and "
          "kept in the data directory");
ABSL_FLAG(bool, channelz, false,
          "serve grpc.channelz.v1 (looks into connections; no authentication)");
ABSL_FLAG(bool, print_config, false, "print the whole configuration with its defaults and exit");
ABSL_FLAG(bool, check_config, false, "check the configuration and exit");
ABSL_FLAG(bool, version, false, "print the version and exit");
ABSL_FLAG(bool, help, false, "print this and exit");

namespace tidemark {
namespace {

constexpr const char* kFlags[] = {"data_dir",     "config",       "listen",   "metrics_listen",
                                  "ready_file",   "log_level",    "instance", "channelz",
                                  "print_config", "check_config", "version",  "help"};
constexpr const char* kBoolFlags[] = {"channelz", "print_config", "check_config", "version",
                                      "help"};
// Known, and refused by name until they exist.
constexpr const char* kLaterFlags[] = {"verify",      "restore",        "rebuild",
                                       "ingest_file", "exit_when_idle", "migrate"};

template <size_t N>
bool IsOneOf(const char* const (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string Shown(std::string_view name) {
  return "--" + absl::StrReplaceAll(ToAbsl(name), {{"_", "-"}});
}

absl::Status SetFlag(const std::string& name, const std::string& value) {
  std::string problem;
  absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  if (!flag->ParseFrom(value, &problem)) {
    return absl::InvalidArgumentError(absl::StrCat(Shown(name), " does not take ", Quoted(value)));
  }
  return absl::OkStatus();
}

absl::Status SetFlags(const std::vector<std::string>& arguments) {
  for (const char* name : kFlags) {
    TIDEMARK_RETURN_IF_ERROR(SetFlag(name, IsOneOf(kBoolFlags, name) ? "false" : ""));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!absl::StartsWith(argument, "--")) {
      return absl::InvalidArgumentError(
          absl::StrCat(Quoted(argument), " is no flag; flags are --name=value"));
    }
    const size_t equals = argument.find('=');
    const std::string name = absl::StrReplaceAll(
        argument.substr(2, equals == argument.npos ? equals : equals - 2), {{"-", "_"}});
    if (IsOneOf(kLaterFlags, name)) {
      return absl::InvalidArgumentError(absl::StrCat(Shown(name), " is not yet available"));
    }
    if (!IsOneOf(kFlags, name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no flag ", Quoted(argument), "; see --help"));
    }
    std::string value = "true";
    if (equals != argument.npos) {
      value = argument.substr(equals + 1);
    } else if (!IsOneOf(kBoolFlags, name)) {
      if (++i == arguments.size()) {
        return absl::InvalidArgumentError(absl::StrCat(Shown(name), " needs a value"));
      }
      value = arguments[i];
    }
    TIDEMARK_RETURN_IF_ERROR(SetFlag(name, value));
  }
  return absl::OkStatus();
}

std::optional<std::string> IfSet(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments) {
  TIDEMARK_RETURN_IF_ERROR(SetFlags(arguments));
  CommandLine line;
  line.config.file = absl::GetFlag(FLAGS_config);
  line.config.data_dir = absl::GetFlag(FLAGS_data_dir);
  line.config.listen = IfSet(absl::GetFlag(FLAGS_listen));
  line.config.metrics_listen = IfSet(absl::GetFlag(FLAGS_metrics_listen));
  line.instance = absl::GetFlag(FLAGS_instance);
  line.ready_file = absl::GetFlag(FLAGS_ready_file);
  line.channelz = absl::GetFlag(FLAGS_channelz);
  if (const auto level = IfSet(absl::GetFlag(FLAGS_log_level)); level.has_value()) {
    line.config.log_level = ParseLogLevel(*level);
    if (!line.config.log_level.has_value()) {
      return absl::InvalidArgumentError("--log-level takes debug, info, warning or error");
    }
  }
  if (absl::GetFlag(FLAGS_help)) {
    line.action = CommandLine::Action::kHelp;
  } else if (absl::GetFlag(FLAGS_version)) {
    line.action = CommandLine::Action::kVersion;
  } else if (line.config.file.empty() && line.config.data_dir.empty()) {
    return absl::InvalidArgumentError("give --data-dir, --config or both; see --help");
  } else if (absl::GetFlag(FLAGS_print_config)) {
    line.action = CommandLine::Action::kPrintConfig;
  } else if (absl::GetFlag(FLAGS_check_config)) {
    line.action = CommandLine::Action::kCheckConfig;
  }
  return line;
}

std::string UsageText() {
  std::string text =
      "tidemarkd follows systems of record and answers stamped reads over gRPC.\n\n"
      "usage: tidemarkd --data-dir DIR [--config FILE] [flags]\n\n";
  for (const char* name : kFlags) {
    const bool takes_value = !IsOneOf(kBoolFlags, name);
    absl::StrAppend(&text, "  ", Shown(name), takes_value ? "=VALUE" : "", "\n        ",
                    absl::FindCommandLineFlag(name)->Help(), "\n");
  }
  absl::StrAppend(&text,
                  "\nSIGTERM drains and ends with exit code 0; SIGHUP reads tokens and log level "
                  "again.\nExit codes: 0 drained, 1 failed (the last line says why), 2 usage.\n");
  return text;
}

}  // namespace tidemark
