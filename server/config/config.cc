#include "server/config/config.h"

#include <errno.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"
#include "server/config/config_keys.h"
#include "server/config/source_config.h"
#include "storage/tables/yaml_reader.h"
#include "yaml-cpp/yaml.h"

namespace tidemark {
namespace {

using tables::YamlMap;

constexpr size_t kMaxConfigBytes = 8 << 20;

absl::Status ReadSections(const YamlMap& root, Config& config) {
  const std::vector<ConfigKey> keys = ConfigKeys(config);
  for (const std::string& section : ConfigSections()) {
    // A section with nothing in it, as PrintConfig may write one.
    if (!root.Has(section) || root[section].IsNull()) continue;
    std::vector<std::string> names;
    for (const ConfigKey& key : keys) {
      if (key.section == section) names.emplace_back(key.name);
    }
    TIDEMARK_ASSIGN_OR_RETURN(
        const YamlMap map,
        YamlMap::From(root[section], absl::StrCat("\"", section, "\""), names, LaterKeys(section)));
    for (const ConfigKey& key : keys) {
      if (key.section != section || !map.Has(key.name)) continue;
      const YAML::Node node = map[key.name];
      const std::string what = absl::StrCat(section, ".", ToAbsl(key.name));
      TIDEMARK_ASSIGN_OR_RETURN(const std::string text, tables::YamlText(node, what));
      if (absl::Status status = SetKey(key, text); !status.ok()) {
        return tables::YamlError(
            tables::LineOf(node),
            absl::StrCat(what, " ", status.message(), "; it is ", tables::Quoted(text), "."));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ReadTables(const YamlMap& root, Config& config) {
  if (!root.Has("tables")) return absl::OkStatus();
  std::vector<std::string> sources;
  for (const SourceConfig& source : config.sources) sources.push_back(source.name);
  const YAML::Node node = root["tables"];
  TIDEMARK_ASSIGN_OR_RETURN(config.tables, tables::ParseTableDefinitions(node, sources));
  YAML::Emitter written;
  written << node;
  config.tables_yaml = written.c_str();
  return absl::OkStatus();
}

// A source must follow every relation that one of its tables is made from.
absl::Status CheckRelations(const Config& config) {
  for (const SourceConfig& source : config.sources) {
    if (source.relations.empty()) continue;
    const std::set<std::string> followed(source.relations.begin(), source.relations.end());
    for (const tables::TableDefinition& table : config.tables) {
      for (const tables::GroupDefinition& group : table.groups) {
        if (group.from.source != source.name || followed.count(group.from.relation) > 0) continue;
        return tables::YamlError(
            source.line,
            absl::StrCat("source ", tables::Quoted(source.name), " does not list the relation ",
                         tables::Quoted(group.from.relation), ", which table ",
                         tables::Quoted(table.name), " is made from."));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ReadDocument(std::string_view yaml, Config& config) {
  TIDEMARK_ASSIGN_OR_RETURN(const YAML::Node document, tables::LoadYaml(yaml));
  if (document.IsNull()) return absl::OkStatus();
  std::vector<std::string> known = ConfigSections();
  known.insert(known.end(), {"sources", "tables"});
  TIDEMARK_ASSIGN_OR_RETURN(const YamlMap root,
                            YamlMap::From(document, "the configuration", known, LaterSections()));
  TIDEMARK_RETURN_IF_ERROR(ReadSections(root, config));
  TIDEMARK_ASSIGN_OR_RETURN(config.sources, ReadSources(root["sources"]));
  TIDEMARK_RETURN_IF_ERROR(ReadTables(root, config));
  return CheckRelations(config);
}

void Absolute(const std::filesystem::path& base, std::string& path) {
  if (!path.empty()) path = (base / path).lexically_normal().string();
}

void ResolvePaths(const ConfigOrigin& origin, Config& config) {
  const std::filesystem::path config_dir = std::filesystem::path(origin.file).parent_path();
  config.data_dir = origin.data_dir.empty() ? config_dir.string() : origin.data_dir;
  if (config.data_dir.empty()) config.data_dir = ".";
  Absolute(config.data_dir, config.state_dir);
  Absolute(config_dir, config.token_file);
  for (SourceConfig& source : config.sources) Absolute(config_dir, source.dsn_file);
}

// host:port, [v6]:port or unix:path.
bool IsAddress(std::string_view address) {
  if (absl::StartsWith(ToAbsl(address), "unix:")) return address.size() > 5;
  const size_t colon = address.rfind(':');
  if (colon == address.npos || colon == 0) return false;
  const std::string_view port = address.substr(colon + 1);
  return !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == port.npos &&
         std::stoi(std::string(port)) <= 65535;
}

absl::Status CheckAddresses(Config& config) {
  if (!IsAddress(config.listen)) {
    return absl::InvalidArgumentError(
        absl::StrCat("server.listen must be host:port, [v6 address]:port or unix:path; it is ",
                     tables::Quoted(config.listen)));
  }
  if (config.metrics_listen.empty()) {
    config.metrics_listen = absl::EndsWith(config.listen, ":0") ? "127.0.0.1:0" : "127.0.0.1:7401";
  }
  const bool metrics = config.metrics_listen != "off";
  if (metrics &&
      (!IsAddress(config.metrics_listen) || absl::StartsWith(config.metrics_listen, "unix:"))) {
    return absl::InvalidArgumentError(
        absl::StrCat("server.metrics_listen must be host:port, [v6 address]:port or off; it is ",
                     tables::Quoted(config.metrics_listen)));
  }
  const bool local = IsLoopback(config.listen) && (!metrics || IsLoopback(config.metrics_listen));
  if (config.token_file.empty() && !local) {
    return absl::InvalidArgumentError(absl::StrCat(
        "without authentication (auth.token_file) the server listens on loopback only: "
        "server.listen is ",
        tables::Quoted(config.listen), ", server.metrics_listen ",
        tables::Quoted(config.metrics_listen)));
  }
  return absl::OkStatus();
}

std::string InYaml(std::string_view text) {
  YAML::Emitter out;
  out << std::string(text);
  return out.c_str();
}

}  // namespace

absl::StatusOr<Config> ParseConfig(std::string_view yaml, const ConfigOrigin& origin) {
  Config config;
  const std::string place = origin.file.empty() ? "" : origin.file + ": ";
  if (absl::Status status = ReadDocument(yaml, config); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(place, status.message()));
  }
  ResolvePaths(origin, config);
  if (origin.listen.has_value()) config.listen = *origin.listen;
  if (origin.metrics_listen.has_value()) config.metrics_listen = *origin.metrics_listen;
  if (origin.log_level.has_value()) config.log_level = *origin.log_level;
  if (absl::Status status = CheckAddresses(config); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(place, status.message()));
  }
  return config;
}

absl::StatusOr<Config> LoadConfig(const ConfigOrigin& origin) {
  if (origin.file.empty()) return ParseConfig("", origin);
  TIDEMARK_ASSIGN_OR_RETURN(const std::string yaml, ReadFile(origin.file, kMaxConfigBytes));
  return ParseConfig(yaml, origin);
}

std::string PrintConfig(const Config& config) {
  Config copy = config;
  std::string out;
  std::string_view section;
  for (const ConfigKey& key : ConfigKeys(copy)) {
    const std::string text = KeyText(key);
    if (key.section != section) absl::StrAppend(&out, ToAbsl(key.section), ":\n");
    section = key.section;
    // A path that is not set has no text that could be read again.
    const bool unset = text.empty() && std::holds_alternative<PathKey>(key.value);
    absl::StrAppend(&out, unset ? "  # " : "  ", ToAbsl(key.name), ":",
                    unset ? "" : " " + InYaml(text), "\n");
  }
  absl::StrAppend(&out, PrintSources(config.sources));
  if (!config.tables_yaml.empty()) {
    absl::StrAppend(&out, "tables:\n", config.tables_yaml, "\n");
  }
  return out;
}

bool IsLoopback(std::string_view address) {
  const absl::string_view text = ToAbsl(address);
  if (absl::StartsWith(text, "unix:")) return true;
  const std::string_view host = address.substr(0, address.rfind(':'));
  // Any 127.x.x.x, but no name that only begins so.
  const bool v4 =
      absl::StartsWith(ToAbsl(host), "127.") && host.find_first_not_of("0123456789.") == host.npos;
  return v4 || host == "localhost" || host == "[::1]";
}

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t limit) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path, ": it is a directory"));
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", std::strerror(errno)));
  }
  std::string text(limit + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > limit) {
    return absl::NotFoundError(
        absl::StrCat("cannot read ", path, ": it has more than ", limit, " bytes"));
  }
  return text;
}

}  // namespace tidemark
