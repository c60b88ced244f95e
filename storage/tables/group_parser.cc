#include "storage/tables/group_parser.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/limits.h"
#include "storage/tables/yaml_reader.h"

namespace tidemark::tables {
namespace {

struct OpName {
  const char* name;
  const char* symbol;
  Condition::Op op;
};
constexpr OpName kOps[] = {
    {"eq", "=", Condition::Op::kEq},
    {"ne", "!=", Condition::Op::kNe},
    {"lt", "<", Condition::Op::kLt},
    {"le", "<=", Condition::Op::kLe},
    {"gt", ">", Condition::Op::kGt},
    {"ge", ">=", Condition::Op::kGe},
    {"in", "in", Condition::Op::kIn},
    {"not_in", "not_in", Condition::Op::kNotIn},
    {"is_null", "is_null", Condition::Op::kIsNull},
    {"is_not_null", "is_not_null", Condition::Op::kIsNotNull},
};
struct FunctionName {
  const char* name;
  Aggregate function;
};
constexpr FunctionName kFunctions[] = {
    {"count", Aggregate::kCount}, {"sum", Aggregate::kSum},     {"min", Aggregate::kMin},
    {"max", Aggregate::kMax},     {"first", Aggregate::kFirst}, {"last", Aggregate::kLast},
};
const std::vector<std::string>& LaterFunctions() {
  static const auto* const kNames = new std::vector<std::string>{
      "product", "last_non_null", "collect", "bool_and", "bool_or", "merge_map"};
  return *kNames;
}

absl::Status ParseOp(const YAML::Node& node, Condition* condition) {
  TIDEMARK_ASSIGN_OR_RETURN(const std::string text, YamlText(node, "\"op\""));
  std::vector<std::string> known;
  for (const OpName& op : kOps) {
    if (text == op.name || text == op.symbol) {
      condition->op = op.op;
      return absl::OkStatus();
    }
    known.push_back(op.name);
  }
  return YamlError(LineOf(node),
                   "there is no op " + Quoted(text) + "; known are " + Alternatives(known) + ".");
}

absl::StatusOr<std::string> ParseConstant(const YAML::Node& node) {
  if (node.IsNull()) {
    return YamlError(LineOf(node), "null is compared with is_null and is_not_null only.");
  }
  return YamlText(node, "a value to compare with");
}

// How many constants an op takes.
absl::Status CheckConstants(const Condition& condition) {
  using Op = Condition::Op;
  const bool none = condition.op == Op::kIsNull || condition.op == Op::kIsNotNull;
  const bool several = condition.op == Op::kIn || condition.op == Op::kNotIn;
  const size_t count = condition.values.size();
  if (none ? count == 0 : several ? count >= 1 : count == 1) return absl::OkStatus();
  return YamlError(condition.line, none      ? "this op takes no value."
                                   : several ? "this op takes \"values\" with at least one entry."
                                             : "this op takes one \"value\".");
}

absl::StatusOr<Condition> ParseCondition(const YAML::Node& node) {
  TIDEMARK_ASSIGN_OR_RETURN(
      const YamlMap map, YamlMap::From(node, "a condition", {"column", "op", "value", "values"}));
  Condition condition;
  condition.line = map.line();
  TIDEMARK_ASSIGN_OR_RETURN(condition.column, map.RequiredName("column"));
  TIDEMARK_ASSIGN_OR_RETURN(const YAML::Node op, map.Required("op"));
  TIDEMARK_RETURN_IF_ERROR(ParseOp(op, &condition));
  if (map.Has("value") && map.Has("values")) {
    return YamlError(map.line(), "a condition has either \"value\" or \"values\".");
  }
  if (map.Has("value")) {
    TIDEMARK_ASSIGN_OR_RETURN(condition.values.emplace_back(), ParseConstant(map["value"]));
  }
  if (map.Has("values")) {
    const YAML::Node values = map["values"];
    if (!values.IsSequence() || values.size() > limits::kMaxColumns) {
      return YamlError(LineOf(values), "\"values\" must be a list of at most " +
                                           std::to_string(limits::kMaxColumns) + " values.");
    }
    for (const YAML::Node& value : values) {
      TIDEMARK_ASSIGN_OR_RETURN(condition.values.emplace_back(), ParseConstant(value));
    }
  }
  TIDEMARK_RETURN_IF_ERROR(CheckConstants(condition));
  return condition;
}

absl::StatusOr<std::vector<Condition>> ParseWhere(const YAML::Node& node) {
  std::vector<Condition> conditions;
  if (!node.IsDefined()) return conditions;
  if (!node.IsSequence() || node.size() > limits::kMaxColumns) {
    return YamlError(LineOf(node),
                     "\"where\" must be a list of conditions, as in [{column: status, "
                     "op: eq, value: open}].");
  }
  for (const YAML::Node& item : node) {
    TIDEMARK_ASSIGN_OR_RETURN(conditions.emplace_back(), ParseCondition(item));
  }
  return conditions;
}

// Whether the function can fill a column of this type.
bool Takes(Aggregate function, Kind type) {
  switch (function) {
    case Aggregate::kCount:
      return type == Kind::kInt;
    case Aggregate::kSum:
      return type == Kind::kInt || type == Kind::kDecimal;
    case Aggregate::kMin:
    case Aggregate::kMax:
      return type != Kind::kBool && type != Kind::kJson && type != Kind::kList;
    case Aggregate::kFirst:
    case Aggregate::kLast:
      return true;
  }
  return false;
}

absl::Status CheckAggregateType(const AggregateColumn& aggregate, const std::string& function,
                                const TableDefinition& table, int line) {
  const ColumnDefinition* column = table.FindColumn(aggregate.column);
  if (column == nullptr) {
    return YamlError(line, "the aggregate " + Quoted(aggregate.column) +
                               " is not among the table's \"columns\"; add it there.");
  }
  if (Takes(aggregate.function, column->type)) return absl::OkStatus();
  const char* remedy = aggregate.function == Aggregate::kCount ? "it fills columns of type int"
                       : aggregate.function == Aggregate::kSum
                           ? "it fills columns of type int or decimal (sums of doubles are not "
                             "exact)"
                           : "it takes types that have an order";
  return YamlError(line, "column " + Quoted(aggregate.column) + " is of type " +
                             std::string(KindName(column->type)) + ", which " + function +
                             " does not take: " + remedy + ".");
}

// {sum: total_minor}, {last: amount, by: paid_at}
absl::StatusOr<AggregateColumn> ParseAggregate(const std::string& name, const YAML::Node& node,
                                               const TableDefinition& table) {
  std::vector<std::string> known;
  for (const FunctionName& function : kFunctions) known.push_back(function.name);
  known.push_back("by");
  TIDEMARK_ASSIGN_OR_RETURN(const YamlMap map, YamlMap::From(node, "the aggregate " + Quoted(name),
                                                             known, LaterFunctions()));
  AggregateColumn aggregate;
  aggregate.column = name;
  std::string used;
  for (const FunctionName& function : kFunctions) {
    if (!map.Has(function.name)) continue;
    if (!used.empty()) {
      return YamlError(map.line(), "the aggregate " + Quoted(name) + " has both " + used + " and " +
                                       function.name + "; one column takes one function.");
    }
    used = function.name;
    aggregate.function = function.function;
    TIDEMARK_ASSIGN_OR_RETURN(aggregate.argument, map.RequiredName(function.name));
  }
  if (used.empty()) {
    known.pop_back();
    return YamlError(map.line(), "the aggregate " + Quoted(name) +
                                     " needs a function: " + Alternatives(known) + ".");
  }
  if (aggregate.argument == "*" && aggregate.function != Aggregate::kCount) {
    return YamlError(map.line(), "\"*\" goes with count only; " + used + " needs a column.");
  }
  if (map.Has("by")) {
    if (aggregate.function != Aggregate::kFirst && aggregate.function != Aggregate::kLast) {
      return YamlError(map.line(), "\"by\" goes with first and last only.");
    }
    TIDEMARK_ASSIGN_OR_RETURN(aggregate.order_by, map.RequiredName("by"));
  }
  TIDEMARK_RETURN_IF_ERROR(CheckAggregateType(aggregate, used, table, map.line()));
  return aggregate;
}

absl::Status ParseAggregates(const YAML::Node& node, const TableDefinition& table,
                             GroupDefinition* group) {
  TIDEMARK_ASSIGN_OR_RETURN(const YamlEntries entries, YamlPairs(node, "\"aggregates\""));
  if (entries.empty()) return YamlError(LineOf(node), "\"aggregates\" is empty.");
  for (const auto& [name, spec] : entries) {
    TIDEMARK_ASSIGN_OR_RETURN(group->aggregates.emplace_back(), ParseAggregate(name, spec, table));
  }
  return absl::OkStatus();
}

// {column of the table: column of the relation}
absl::StatusOr<std::map<std::string, std::string>> ParseColumnMap(const YAML::Node& node,
                                                                  std::string_view what) {
  std::map<std::string, std::string> columns;
  TIDEMARK_ASSIGN_OR_RETURN(const YamlEntries entries, YamlPairs(node, what));
  if (entries.empty()) return YamlError(LineOf(node), std::string(what) + " is empty.");
  for (const auto& [name, column] : entries) {
    TIDEMARK_ASSIGN_OR_RETURN(columns[name], YamlName(column, "the column for " + Quoted(name)));
  }
  return columns;
}

absl::Status ParseGroupBy(const YAML::Node& node, const TableDefinition& table,
                          GroupDefinition* group) {
  for (const std::string& name : table.key) group->key_columns[name] = name;
  if (!node.IsDefined()) return absl::OkStatus();
  TIDEMARK_ASSIGN_OR_RETURN(const auto columns, ParseColumnMap(node, "\"group_by\""));
  for (const auto& [name, column] : columns) {
    const auto key = group->key_columns.find(name);
    if (key == group->key_columns.end()) {
      return YamlError(LineOf(node), "\"group_by\" names " + Quoted(name) +
                                         ", which is not a key column of the table; it maps key "
                                         "columns to columns of the relation.");
    }
    key->second = column;
  }
  return absl::OkStatus();
}

absl::Status ParseOnDelete(const YAML::Node& node, GroupDefinition* group) {
  if (!node.IsDefined()) return absl::OkStatus();
  TIDEMARK_ASSIGN_OR_RETURN(const std::string text, YamlText(node, "\"on_delete\""));
  if (text == "group") {
    group->on_delete = OnDelete::kGroup;
  } else if (text == "row") {
    group->on_delete = OnDelete::kRow;
  } else if (text == "ignore") {
    group->on_delete = OnDelete::kIgnore;
  } else {
    return YamlError(LineOf(node),
                     "\"on_delete\" is group, row or ignore, not " + Quoted(text) + ".");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RelationRef> ParseFrom(const YAML::Node& node,
                                      const std::vector<std::string>& sources) {
  TIDEMARK_ASSIGN_OR_RETURN(const YamlMap map,
                            YamlMap::From(node, "\"from\"", {"source", "relation"}));
  RelationRef from;
  TIDEMARK_ASSIGN_OR_RETURN(from.source, map.RequiredName("source"));
  TIDEMARK_ASSIGN_OR_RETURN(from.relation, map.RequiredName("relation"));
  if (std::find(sources.begin(), sources.end(), from.source) == sources.end()) {
    return YamlError(LineOf(map["source"]),
                     "there is no source " + Quoted(from.source) +
                         (sources.empty() ? "; none is defined under \"sources\"."
                                          : "; defined are " + Alternatives(sources) + "."));
  }
  return from;
}

absl::StatusOr<std::vector<std::string>> ParseSequence(const YAML::Node& node) {
  std::vector<std::string> columns;
  if (!node.IsDefined()) return columns;
  if (!node.IsSequence()) {
    TIDEMARK_ASSIGN_OR_RETURN(columns.emplace_back(), YamlName(node, "\"sequence\""));
    return columns;
  }
  TIDEMARK_ASSIGN_OR_RETURN(columns, YamlNames(node, "\"sequence\""));
  if (columns.empty() || columns.size() > limits::kMaxKeyColumns) {
    return YamlError(LineOf(node), "\"sequence\" must name 1 to " +
                                       std::to_string(limits::kMaxKeyColumns) + " columns.");
  }
  return columns;
}

absl::StatusOr<GroupDefinition> ParseGroup(const YAML::Node& node,
                                           const std::vector<std::string>& sources,
                                           const TableDefinition& table) {
  TIDEMARK_ASSIGN_OR_RETURN(const YamlMap map,
                            YamlMap::From(node, "a group",
                                          {"name", "from", "columns", "group_by", "where",
                                           "aggregates", "on_delete", "sequence"},
                                          {"window"}));
  GroupDefinition group;
  group.line = map.line();
  TIDEMARK_ASSIGN_OR_RETURN(group.name, map.RequiredName("name"));
  TIDEMARK_ASSIGN_OR_RETURN(const YAML::Node from, map.Required("from"));
  TIDEMARK_ASSIGN_OR_RETURN(group.from, ParseFrom(from, sources));
  TIDEMARK_RETURN_IF_ERROR(ParseGroupBy(map["group_by"], table, &group));
  TIDEMARK_ASSIGN_OR_RETURN(group.sequence, ParseSequence(map["sequence"]));
  if (map.Has("columns") == map.Has("aggregates")) {
    return YamlError(
        group.line, "group " + Quoted(group.name) + " needs either \"columns\" or \"aggregates\".");
  }
  if (map.Has("columns")) {
    if (map.Has("where")) {
      return YamlError(LineOf(map["where"]), "\"where\" belongs to groups with \"aggregates\".");
    }
    TIDEMARK_ASSIGN_OR_RETURN(group.columns, ParseColumnMap(map["columns"], "\"columns\""));
    TIDEMARK_RETURN_IF_ERROR(ParseOnDelete(map["on_delete"], &group));
    return group;
  }
  if (map.Has("on_delete")) {
    return YamlError(LineOf(map["on_delete"]),
                     "\"on_delete\" belongs to groups with \"columns\"; a deleted row leaves its "
                     "aggregates by itself.");
  }
  TIDEMARK_ASSIGN_OR_RETURN(group.where, ParseWhere(map["where"]));
  TIDEMARK_RETURN_IF_ERROR(ParseAggregates(map["aggregates"], table, &group));
  return group;
}

}  // namespace tidemark::tables
