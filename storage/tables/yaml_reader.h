// Reading YAML that somebody typed: every complaint names the line, what is wrong and what would be
// right; keys nobody knows are refused, never ignored.
//
// Example:
//   TIDEMARK_ASSIGN_OR_RETURN(YamlMap map, YamlMap::From(node, "a table", {"name", "key"}));
//   TIDEMARK_ASSIGN_OR_RETURN(std::string name, map.Name("name"));
#ifndef TIDEMARK_STORAGE_TABLES_YAML_READER_H_
#define TIDEMARK_STORAGE_TABLES_YAML_READER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "yaml-cpp/yaml.h"

namespace tidemark::tables {

// FIELD_INVALID with "line N: problem"; `line` is also in the metadata.
absl::Status YamlError(int line, std::string_view problem);

// Counted from 1.
int LineOf(const YAML::Node& node);

// The root of a document. FIELD_INVALID for text that is too large, nested too deep or not YAML.
absl::StatusOr<YAML::Node> LoadYaml(std::string_view text);

// `text` quoted for a message, cut and without control characters.
std::string Quoted(std::string_view text);
// "a", "b" or "c".
std::string Alternatives(const std::vector<std::string>& names);

// A scalar that is not null, as it was written. `what` names it in the complaint.
absl::StatusOr<std::string> YamlText(const YAML::Node& node, std::string_view what);
// A scalar that can name something: UTF-8 without control characters, 1 to limits::kMaxNameBytes.
absl::StatusOr<std::string> YamlName(const YAML::Node& node, std::string_view what);
// A sequence of such names, none twice. An absent node is an empty list.
absl::StatusOr<std::vector<std::string>> YamlNames(const YAML::Node& node, std::string_view what);
// The entries of a mapping from name to anything, in the order written, no name twice.
using YamlEntries = std::vector<std::pair<std::string, YAML::Node>>;
absl::StatusOr<YamlEntries> YamlPairs(const YAML::Node& node, std::string_view what);

// A mapping with a fixed set of keys.
class YamlMap {
 public:
  // `what` ("a table") names it in complaints. Keys that are neither in `known` nor in `later` are
  // refused with the known ones; those in `later` as not yet available.
  static absl::StatusOr<YamlMap> From(const YAML::Node& node, std::string_view what,
                                      const std::vector<std::string>& known,
                                      const std::vector<std::string>& later = {});

  int line() const { return line_; }
  // An undefined node when the key is absent.
  YAML::Node operator[](std::string_view key) const;
  bool Has(std::string_view key) const { return (*this)[key].IsDefined(); }
  // The value of a key that must be there.
  absl::StatusOr<YAML::Node> Required(std::string_view key) const;
  absl::StatusOr<std::string> RequiredName(std::string_view key) const;
  // The complaint that a key is missing.
  absl::Status Missing(std::string_view key) const;

 private:
  std::string what_;
  int line_ = 0;
  YamlEntries entries_;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_YAML_READER_H_
