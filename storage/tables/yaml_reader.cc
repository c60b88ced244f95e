#include "storage/tables/yaml_reader.h"

#include <algorithm>
#include <set>

#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"

namespace tidemark::tables {
namespace {

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Described(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Null:
      return "empty";
    case YAML::NodeType::Scalar:
      return Quoted(node.Scalar());
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a mapping";
    case YAML::NodeType::Undefined:
      break;
  }
  return "missing";
}

}  // namespace

absl::Status YamlError(int line, std::string_view problem) {
  return MakeError(Reason::kFieldInvalid,
                   "line " + std::to_string(line) + ": " + std::string(problem),
                   {{"line", std::to_string(line)}});
}

int LineOf(const YAML::Node& node) { return node.Mark().line + 1; }

absl::StatusOr<YAML::Node> LoadYaml(std::string_view text) {
  if (text.size() > limits::kMaxConfigBytes) {
    return YamlError(1, "the file has " + std::to_string(text.size()) + " bytes; at most " +
                            std::to_string(limits::kMaxConfigBytes) + " are read.");
  }
  // The library's exceptions end here.
  try {
    return YAML::Load(std::string(text));
  } catch (const YAML::Exception& error) {
    return YamlError(error.mark.line + 1, "this is not YAML: " + Printable(error.msg) + ".");
  }
}

std::string Quoted(std::string_view text) { return tidemark::Quoted(text, 60); }

std::string Alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i == limits::kMaxErrorListNames * 4) return text + ", ...";
    text += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    text += Quoted(names[i]);
  }
  return text;
}

absl::StatusOr<std::string> YamlText(const YAML::Node& node, std::string_view what) {
  if (!node.IsScalar()) {
    return YamlError(LineOf(node),
                     std::string(what) + " must be a single value, it is " + Described(node) + ".");
  }
  if (!IsUtf8(node.Scalar())) {
    return YamlError(LineOf(node), std::string(what) + " is not UTF-8.");
  }
  return node.Scalar();
}

absl::StatusOr<std::string> YamlName(const YAML::Node& node, std::string_view what) {
  TIDEMARK_ASSIGN_OR_RETURN(std::string name, YamlText(node, what));
  if (name.empty() || name.size() > limits::kMaxNameBytes) {
    return YamlError(LineOf(node), std::string(what) + " must have 1 to " +
                                       std::to_string(limits::kMaxNameBytes) + " bytes, it has " +
                                       std::to_string(name.size()) + ".");
  }
  const bool controls =
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (controls) {
    return YamlError(LineOf(node),
                     std::string(what) + " " + Quoted(name) + " has control characters in it.");
  }
  return name;
}

absl::StatusOr<std::vector<std::string>> YamlNames(const YAML::Node& node, std::string_view what) {
  std::vector<std::string> names;
  if (!node.IsDefined()) return names;
  if (!node.IsSequence()) {
    return YamlError(LineOf(node), std::string(what) + " must be a list, as in [a, b]; it is " +
                                       Described(node) + ".");
  }
  if (node.size() > limits::kMaxColumns) {
    return YamlError(LineOf(node), std::string(what) + " has more than " +
                                       std::to_string(limits::kMaxColumns) + " entries.");
  }
  std::set<std::string> seen;
  for (const YAML::Node& item : node) {
    TIDEMARK_ASSIGN_OR_RETURN(std::string name, YamlName(item, "an entry of " + std::string(what)));
    if (!seen.insert(name).second) {
      return YamlError(LineOf(item), std::string(what) + " names " + Quoted(name) + " twice.");
    }
    names.push_back(std::move(name));
  }
  return names;
}

absl::StatusOr<YamlEntries> YamlPairs(const YAML::Node& node, std::string_view what) {
  if (!node.IsMap()) {
    return YamlError(LineOf(node), std::string(what) + " must be a mapping, as in {a: b}; it is " +
                                       Described(node) + ".");
  }
  if (node.size() > limits::kMaxColumns) {
    return YamlError(LineOf(node), std::string(what) + " has more than " +
                                       std::to_string(limits::kMaxColumns) + " entries.");
  }
  YamlEntries entries;
  std::set<std::string> seen;
  for (const auto& entry : node) {
    TIDEMARK_ASSIGN_OR_RETURN(std::string key,
                              YamlName(entry.first, "a key of " + std::string(what)));
    if (!seen.insert(key).second) {
      return YamlError(LineOf(entry.first), std::string(what) + " has " + Quoted(key) + " twice.");
    }
    entries.emplace_back(std::move(key), entry.second);
  }
  return entries;
}

absl::StatusOr<YamlMap> YamlMap::From(const YAML::Node& node, std::string_view what,
                                      const std::vector<std::string>& known,
                                      const std::vector<std::string>& later) {
  YamlMap map;
  map.what_ = what;
  map.line_ = LineOf(node);
  TIDEMARK_ASSIGN_OR_RETURN(map.entries_, YamlPairs(node, what));
  for (const auto& entry : node) {
    const std::string& key = entry.first.Scalar();
    if (Contains(later, key)) {
      return YamlError(LineOf(entry.first),
                       Quoted(key) + " of " + map.what_ + " is not yet available; leave it out.");
    }
    if (!Contains(known, key)) {
      return YamlError(LineOf(entry.first), map.what_ + " has no key " + Quoted(key) +
                                                "; known are " + Alternatives(known) + ".");
    }
  }
  return map;
}

YAML::Node YamlMap::operator[](std::string_view key) const {
  for (const auto& [name, value] : entries_) {
    if (name == key) return value;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

absl::StatusOr<YAML::Node> YamlMap::Required(std::string_view key) const {
  YAML::Node node = (*this)[key];
  if (!node.IsDefined()) return Missing(key);
  return node;
}

absl::StatusOr<std::string> YamlMap::RequiredName(std::string_view key) const {
  TIDEMARK_ASSIGN_OR_RETURN(YAML::Node node, Required(key));
  return YamlName(node, Quoted(key) + " of " + what_);
}

absl::Status YamlMap::Missing(std::string_view key) const {
  return YamlError(line_, what_ + " needs the key " + Quoted(key) + ".");
}

}  // namespace tidemark::tables
