// From YAML to TableDefinition: tables, their columns and what all groups have in common. The
// contents of groups are read in group_parser.cc.
#include <algorithm>
#include <set>

#include "common/error.h"
#include "common/limits.h"
#include "storage/tables/group_parser.h"
#include "storage/tables/table_definition.h"
#include "storage/tables/yaml_reader.h"

namespace tidemark::tables {
namespace {

constexpr Kind kColumnKinds[] = {Kind::kBool,  Kind::kInt,     Kind::kDouble,    Kind::kString,
                                 Kind::kBytes, Kind::kDecimal, Kind::kTimestamp, Kind::kDate,
                                 Kind::kTime,  Kind::kJson,    Kind::kList};
constexpr std::string_view kListOf = "list of ";

// kNull when there is no such type.
Kind KindNamed(std::string_view name) {
  for (const Kind kind : kColumnKinds) {
    if (KindName(kind) == name) return kind;
  }
  return Kind::kNull;
}

// Table and group names are typed on command lines and stand in metrics.
absl::Status CheckIdentifier(const std::string& name, int line, std::string_view what) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  if (plain) return absl::OkStatus();
  return YamlError(line, std::string(what) + " " + Quoted(name) +
                             " may have only letters, digits, \"_\", \"-\" and \".\" in it.");
}

absl::StatusOr<ColumnDefinition> ParseColumn(const std::string& name, const YAML::Node& node) {
  ColumnDefinition column;
  column.name = name;
  TIDEMARK_ASSIGN_OR_RETURN(const std::string type, YamlText(node, "the type of " + Quoted(name)));
  column.type = KindNamed(type);
  if (type.compare(0, kListOf.size(), kListOf) == 0) {
    column.type = Kind::kList;
    column.item_type = KindNamed(type.substr(kListOf.size()));
    if (column.item_type == Kind::kNull || column.item_type == Kind::kList) {
      column.type = Kind::kNull;
    }
  }
  if (column.type == Kind::kNull) {
    std::string known;
    for (const Kind kind : kColumnKinds) known += std::string(KindName(kind)) + ", ";
    return YamlError(LineOf(node), "column " + Quoted(name) + " has the unknown type " +
                                       Quoted(type) + "; known are " + known +
                                       "and list of any of them.");
  }
  return column;
}

absl::Status ParseColumns(const YAML::Node& node, TableDefinition* table) {
  TIDEMARK_ASSIGN_OR_RETURN(const YamlEntries columns, YamlPairs(node, "\"columns\""));
  if (columns.empty()) return YamlError(LineOf(node), "\"columns\" is empty.");
  for (const auto& [name, type] : columns) {
    TIDEMARK_ASSIGN_OR_RETURN(table->columns.emplace_back(), ParseColumn(name, type));
  }
  return absl::OkStatus();
}

absl::Status ParseKey(const YAML::Node& node, TableDefinition* table) {
  TIDEMARK_ASSIGN_OR_RETURN(table->key, YamlNames(node, "\"key\""));
  if (table->key.empty() || table->key.size() > limits::kMaxKeyColumns) {
    return YamlError(LineOf(node), "\"key\" must name 1 to " +
                                       std::to_string(limits::kMaxKeyColumns) + " columns.");
  }
  for (const std::string& name : table->key) {
    const ColumnDefinition* column = table->FindColumn(name);
    if (column == nullptr) {
      return YamlError(LineOf(node), "the key column " + Quoted(name) +
                                         " is not among \"columns\"; add it there.");
    }
    if (column->type == Kind::kDouble || column->type == Kind::kJson ||
        column->type == Kind::kList) {
      return YamlError(LineOf(node), "the key column " + Quoted(name) + " is of type " +
                                         std::string(KindName(column->type)) +
                                         ", which cannot be a key.");
    }
  }
  return absl::OkStatus();
}

absl::Status ParseTier(const YamlMap& map, TableDefinition* table) {
  table->tier = "seconds";
  if (!map.Has("tier")) return absl::OkStatus();
  TIDEMARK_ASSIGN_OR_RETURN(table->tier, YamlText(map["tier"], "\"tier\""));
  if (table->tier == "seconds" || table->tier == "minutes") return absl::OkStatus();
  return YamlError(LineOf(map["tier"]),
                   "\"tier\" is \"seconds\" or \"minutes\", not " + Quoted(table->tier) + ".");
}

absl::Status CheckMerge(const YamlMap& map) {
  if (!map.Has("merge")) return absl::OkStatus();
  const YAML::Node node = map["merge"];
  TIDEMARK_ASSIGN_OR_RETURN(const std::string merge, YamlText(node, "\"merge\""));
  if (merge == "first_row" || merge == "partial_update" || merge == "aggregate") {
    return YamlError(LineOf(node),
                     "the merge " + Quoted(merge) + " is not yet available; use last_row.");
  }
  if (merge != "last_row") {
    return YamlError(LineOf(node),
                     "there is no merge " + Quoted(merge) + "; leave it out or write last_row.");
  }
  if (map.Has("groups")) {
    return YamlError(LineOf(node), "\"merge\" does not go with \"groups\"; leave it out.");
  }
  return absl::OkStatus();
}

// A last_row table is one columns group that takes every column under its own name.
absl::Status ParseLastRow(const YamlMap& map, const std::vector<std::string>& sources,
                          TableDefinition* table) {
  table->last_row = true;
  GroupDefinition group;
  group.name = "row";
  group.line = map.line();
  TIDEMARK_ASSIGN_OR_RETURN(group.from, ParseFrom(map["from"], sources));
  TIDEMARK_ASSIGN_OR_RETURN(group.sequence, ParseSequence(map["sequence"]));
  for (const std::string& name : table->key) group.key_columns[name] = name;
  for (const ColumnDefinition& column : table->columns) group.columns[column.name] = column.name;
  table->groups.push_back(std::move(group));
  return absl::OkStatus();
}

// Every column is a key column or filled by exactly one group.
absl::Status CheckFilledOnce(const TableDefinition& table) {
  std::set<std::string> filled(table.key.begin(), table.key.end());
  for (const GroupDefinition& group : table.groups) {
    std::vector<std::string> columns;
    for (const auto& entry : group.columns) columns.push_back(entry.first);
    for (const AggregateColumn& aggregate : group.aggregates) columns.push_back(aggregate.column);
    for (const std::string& column : columns) {
      if (table.ColumnIndex(column) < 0) {
        return YamlError(group.line, "group " + Quoted(group.name) + " fills " + Quoted(column) +
                                         ", which is not among the table's \"columns\"; add it "
                                         "there.");
      }
      if (!filled.insert(column).second) {
        return YamlError(group.line, "group " + Quoted(group.name) + " fills " + Quoted(column) +
                                         ", which is a key column or filled by another group.");
      }
    }
  }
  for (const ColumnDefinition& column : table.columns) {
    if (filled.count(column.name) == 0) {
      return YamlError(table.line, "no group of table " + Quoted(table.name) +
                                       " fills the column " + Quoted(column.name) +
                                       "; add it to a group or leave it out.");
    }
  }
  return absl::OkStatus();
}

absl::Status ParseGroups(const YAML::Node& node, const std::vector<std::string>& sources,
                         TableDefinition* table) {
  if (!node.IsSequence() || node.size() == 0 || node.size() > limits::kMaxColumns) {
    return YamlError(LineOf(node), "\"groups\" must be a list of 1 to " +
                                       std::to_string(limits::kMaxColumns) + " groups.");
  }
  std::set<std::string> names;
  for (const YAML::Node& item : node) {
    TIDEMARK_ASSIGN_OR_RETURN(GroupDefinition group, ParseGroup(item, sources, *table));
    TIDEMARK_RETURN_IF_ERROR(CheckIdentifier(group.name, group.line, "the group name"));
    if (!names.insert(group.name).second) {
      return YamlError(group.line, "the table has two groups named " + Quoted(group.name) + ".");
    }
    table->groups.push_back(std::move(group));
  }
  const auto is_columns = [](const GroupDefinition& group) { return !group.is_aggregate(); };
  if (std::none_of(table->groups.begin(), table->groups.end(), is_columns)) {
    return YamlError(LineOf(node),
                     "the table needs a columns group: its rows exist while the first one (the "
                     "anchor) is present.");
  }
  for (size_t i = 0; i < table->groups.size(); ++i) {
    const GroupDefinition& group = table->groups[i];
    if (group.on_delete == OnDelete::kRow && i != table->anchor()) {
      return YamlError(group.line,
                       "only the first columns group (the anchor) can have on_delete: "
                       "row; group " +
                           Quoted(group.name) + " takes group or ignore.");
    }
  }
  return CheckFilledOnce(*table);
}

absl::StatusOr<TableDefinition> ParseTable(const YAML::Node& node,
                                           const std::vector<std::string>& sources) {
  TIDEMARK_ASSIGN_OR_RETURN(const YamlMap map,
                            YamlMap::From(node, "a table",
                                          {"name", "key", "tier", "readers", "columns", "merge",
                                           "from", "sequence", "groups"},
                                          {"retraction", "window"}));
  TableDefinition table;
  table.line = map.line();
  TIDEMARK_ASSIGN_OR_RETURN(table.name, map.RequiredName("name"));
  TIDEMARK_RETURN_IF_ERROR(CheckIdentifier(table.name, LineOf(map["name"]), "the table name"));
  TIDEMARK_ASSIGN_OR_RETURN(const YAML::Node columns, map.Required("columns"));
  TIDEMARK_RETURN_IF_ERROR(ParseColumns(columns, &table));
  TIDEMARK_ASSIGN_OR_RETURN(const YAML::Node key, map.Required("key"));
  TIDEMARK_RETURN_IF_ERROR(ParseKey(key, &table));
  TIDEMARK_RETURN_IF_ERROR(ParseTier(map, &table));
  TIDEMARK_ASSIGN_OR_RETURN(table.readers, YamlNames(map["readers"], "\"readers\""));
  TIDEMARK_RETURN_IF_ERROR(CheckMerge(map));
  if (map.Has("from") == map.Has("groups")) {
    return YamlError(table.line, "table " + Quoted(table.name) +
                                     " needs either \"from\" (one relation, row by row) or "
                                     "\"groups\" (assembled from several).");
  }
  if (map.Has("from")) {
    TIDEMARK_RETURN_IF_ERROR(ParseLastRow(map, sources, &table));
    return table;
  }
  if (map.Has("sequence")) {
    return YamlError(LineOf(map["sequence"]),
                     "the \"sequence\" of an assembled table belongs into its groups.");
  }
  TIDEMARK_RETURN_IF_ERROR(ParseGroups(map["groups"], sources, &table));
  return table;
}

}  // namespace

absl::StatusOr<std::vector<TableDefinition>> ParseTableDefinitions(
    const YAML::Node& tables, const std::vector<std::string>& sources) {
  std::vector<TableDefinition> definitions;
  if (!tables.IsDefined() || tables.IsNull()) return definitions;
  if (!tables.IsSequence())
    return YamlError(LineOf(tables), "\"tables\" must be a list of tables.");
  if (tables.size() > limits::kMaxTables) {
    return YamlError(LineOf(tables), "there are " + std::to_string(tables.size()) +
                                         " tables; at most " + std::to_string(limits::kMaxTables) +
                                         " are possible.");
  }
  std::set<std::string> names;
  for (const YAML::Node& node : tables) {
    TIDEMARK_ASSIGN_OR_RETURN(TableDefinition table, ParseTable(node, sources));
    if (!names.insert(table.name).second) {
      return YamlError(table.line, "there are two tables named " + Quoted(table.name) + ".");
    }
    definitions.push_back(std::move(table));
  }
  return definitions;
}

absl::StatusOr<std::vector<TableDefinition>> ParseTableDefinitions(
    std::string_view yaml, const std::vector<std::string>& sources) {
  TIDEMARK_ASSIGN_OR_RETURN(YAML::Node root, LoadYaml(yaml));
  if (!root.IsMap()) return ParseTableDefinitions(root, sources);
  TIDEMARK_ASSIGN_OR_RETURN(const YamlEntries entries, YamlPairs(root, "the file"));
  for (const auto& [name, node] : entries) {
    if (name == "tables") return ParseTableDefinitions(node, sources);
  }
  return std::vector<TableDefinition>();
}

}  // namespace tidemark::tables
