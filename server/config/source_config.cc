#include "server/config/source_config.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/error.h"
#include "common/strings.h"
#include "server/config/config_keys.h"
#include "storage/tables/yaml_reader.h"
#include "yaml-cpp/yaml.h"

namespace tidemark {
namespace {

using tables::YamlMap;

constexpr size_t kMaxSources = 100;
constexpr absl::Duration kMinProbe = absl::Milliseconds(100);
constexpr absl::Duration kMaxProbe = absl::Hours(1);
constexpr size_t kMaxSlotBytes = 63;  // NAMEDATALEN - 1

bool IsSlotName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxSlotBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

absl::Status ReadKind(const YamlMap& map, SourceConfig& source) {
  TIDEMARK_ASSIGN_OR_RETURN(source.kind, map.RequiredName("kind"));
  if (source.kind == "postgres") return absl::OkStatus();
  const int line = tables::LineOf(map["kind"]);
  for (const char* later : {"grpc", "file", "kafka"}) {
    if (source.kind == later) {
      return tables::YamlError(
          line, absl::StrCat("sources of kind ", tables::Quoted(later), " are not yet available."));
    }
  }
  return tables::YamlError(line,
                           absl::StrCat("there is no source of kind ", tables::Quoted(source.kind),
                                        "; known is \"postgres\"."));
}

absl::Status ReadOnGap(const YamlMap& map, SourceConfig& source) {
  if (!map.Has("on_gap")) return absl::OkStatus();
  TIDEMARK_ASSIGN_OR_RETURN(const std::string text, tables::YamlText(map["on_gap"], "on_gap"));
  if (text != "resnapshot" && text != "stop") {
    return tables::YamlError(tables::LineOf(map["on_gap"]),
                             absl::StrCat("on_gap must be \"resnapshot\" or \"stop\"; it is ",
                                          tables::Quoted(text), "."));
  }
  source.resnapshot_on_gap = text == "resnapshot";
  return absl::OkStatus();
}

absl::Status ReadProbe(const YamlMap& map, SourceConfig& source) {
  if (!map.Has("probe_every")) return absl::OkStatus();
  const YAML::Node node = map["probe_every"];
  TIDEMARK_ASSIGN_OR_RETURN(const std::string text, tables::YamlText(node, "probe_every"));
  const ConfigKey key{"sources", "probe_every", SpanKey{&source.probe_every, kMinProbe, kMaxProbe}};
  if (absl::Status status = SetKey(key, text); !status.ok()) {
    return tables::YamlError(
        tables::LineOf(node),
        absl::StrCat("probe_every ", status.message(), "; it is ", tables::Quoted(text), "."));
  }
  return absl::OkStatus();
}

absl::Status ReadNames(const YamlMap& map, SourceConfig& source) {
  TIDEMARK_ASSIGN_OR_RETURN(const YAML::Node dsn, map.Required("dsn_file"));
  TIDEMARK_ASSIGN_OR_RETURN(source.dsn_file, tables::YamlText(dsn, "dsn_file"));
  if (source.dsn_file.empty()) {
    return tables::YamlError(tables::LineOf(dsn), "dsn_file must be a path.");
  }
  if (map.Has("slot")) {
    TIDEMARK_ASSIGN_OR_RETURN(source.slot, tables::YamlName(map["slot"], "slot"));
    if (!IsSlotName(source.slot)) {
      return tables::YamlError(tables::LineOf(map["slot"]),
                               absl::StrCat("slot must have 1 to 63 of a-z, 0-9 and _; it is ",
                                            tables::Quoted(source.slot), "."));
    }
  }
  if (map.Has("publication")) {
    TIDEMARK_ASSIGN_OR_RETURN(source.publication,
                              tables::YamlName(map["publication"], "publication"));
  }
  TIDEMARK_ASSIGN_OR_RETURN(source.relations, tables::YamlNames(map["relations"], "relations"));
  return absl::OkStatus();
}

absl::StatusOr<SourceConfig> ReadSource(const YAML::Node& node) {
  TIDEMARK_ASSIGN_OR_RETURN(
      const YamlMap map, YamlMap::From(node, "a source",
                                       {"name", "kind", "dsn_file", "slot", "publication", "on_gap",
                                        "probe_every", "relations"}));
  SourceConfig source;
  source.line = map.line();
  TIDEMARK_ASSIGN_OR_RETURN(source.name, map.RequiredName("name"));
  TIDEMARK_RETURN_IF_ERROR(ReadKind(map, source));
  TIDEMARK_RETURN_IF_ERROR(ReadNames(map, source));
  TIDEMARK_RETURN_IF_ERROR(ReadOnGap(map, source));
  TIDEMARK_RETURN_IF_ERROR(ReadProbe(map, source));
  return source;
}

std::string InYaml(const std::string& text) {
  YAML::Emitter out;
  out << text;
  return out.c_str();
}

}  // namespace

absl::StatusOr<std::vector<SourceConfig>> ReadSources(const YAML::Node& node) {
  std::vector<SourceConfig> sources;
  if (!node.IsDefined() || node.IsNull()) return sources;
  if (!node.IsSequence()) {
    return tables::YamlError(tables::LineOf(node), "\"sources\" must be a list of sources.");
  }
  if (node.size() > kMaxSources) {
    return tables::YamlError(tables::LineOf(node),
                             absl::StrCat("there are more than ", kMaxSources, " sources."));
  }
  std::set<std::string> names;
  std::set<std::string> slots;
  for (const YAML::Node& item : node) {
    TIDEMARK_ASSIGN_OR_RETURN(SourceConfig source, ReadSource(item));
    if (!names.insert(source.name).second) {
      return tables::YamlError(
          source.line, absl::StrCat("there are two sources ", tables::Quoted(source.name), "."));
    }
    // Two databases may each have a slot of one name; one database cannot serve two readers of it.
    if (!source.slot.empty() && !slots.insert(source.dsn_file + '\0' + source.slot).second) {
      return tables::YamlError(
          source.line, absl::StrCat("two sources use the slot ", tables::Quoted(source.slot), "."));
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

std::string PrintSources(const std::vector<SourceConfig>& sources) {
  if (sources.empty()) return "";
  std::string out = "sources:\n";
  for (const SourceConfig& source : sources) {
    std::vector<std::string> relations;
    for (const std::string& relation : source.relations) relations.push_back(InYaml(relation));
    absl::StrAppend(&out, "  - name: ", InYaml(source.name), "\n    kind: ", source.kind,
                    "\n    dsn_file: ", InYaml(source.dsn_file));
    if (!source.slot.empty()) absl::StrAppend(&out, "\n    slot: ", source.slot);
    absl::StrAppend(&out, "\n    publication: ", InYaml(source.publication),
                    "\n    on_gap: ", source.resnapshot_on_gap ? "resnapshot" : "stop",
                    "\n    probe_every: ", SpanAsWritten(source.probe_every), "\n    relations: [",
                    absl::StrJoin(relations, ", "), "]\n");
  }
  return out;
}

std::string DefaultSlot(std::string_view instance, std::string_view source) {
  std::string slot = absl::StrCat("tidemark_", ToAbsl(instance), "_", ToAbsl(source));
  for (char& c : slot) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) c = '_';
  }
  slot.resize(std::min(slot.size(), kMaxSlotBytes));
  return slot;
}

}  // namespace tidemark
