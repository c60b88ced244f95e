#include "storage/tables/table_definition.h"

namespace tidemark::tables {
namespace {

// Quoted so that no name can be taken for another line or word.
std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string QuoteAll(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += " " + Quote(text);
  return out;
}

std::string QuoteMap(const std::map<std::string, std::string>& pairs) {
  std::string out;
  for (const auto& [left, right] : pairs) out += " " + Quote(left) + "=" + Quote(right);
  return out;
}

const char* OnDeleteName(OnDelete on_delete) {
  switch (on_delete) {
    case OnDelete::kGroup:
      return "group";
    case OnDelete::kRow:
      return "row";
    case OnDelete::kIgnore:
      return "ignore";
  }
  return "";
}

// Compared with what older programs stored: words are never changed.
const char* OpName(Condition::Op op) {
  using Op = Condition::Op;
  switch (op) {
    case Op::kEq:
      return "eq";
    case Op::kNe:
      return "ne";
    case Op::kLt:
      return "lt";
    case Op::kLe:
      return "le";
    case Op::kGt:
      return "gt";
    case Op::kGe:
      return "ge";
    case Op::kIn:
      return "in";
    case Op::kNotIn:
      return "not_in";
    case Op::kIsNull:
      return "is_null";
    case Op::kIsNotNull:
      return "is_not_null";
  }
  return "";
}

void AppendGroup(const GroupDefinition& group, std::string& out) {
  out += "group " + group.name + (group.is_aggregate() ? " aggregates" : " columns") + "\n";
  out += "from " + Quote(group.from.source) + " " + Quote(group.from.relation) + "\n";
  out += "group_by" + QuoteMap(group.key_columns) + "\n";
  if (!group.sequence.empty()) out += "sequence" + QuoteAll(group.sequence) + "\n";
  if (!group.is_aggregate()) {
    out += "set" + QuoteMap(group.columns) + "\n";
    out += std::string("on_delete ") + OnDeleteName(group.on_delete) + "\n";
  }
  for (const Condition& condition : group.where) {
    out += "where " + Quote(condition.column) + " " + OpName(condition.op) +
           QuoteAll(condition.values) + "\n";
  }
  for (const AggregateColumn& aggregate : group.aggregates) {
    out += "aggregate " + Quote(aggregate.column) + " " +
           std::string(AggregateName(aggregate.function)) + " " + Quote(aggregate.argument);
    if (!aggregate.order_by.empty()) out += " by " + Quote(aggregate.order_by);
    out += "\n";
  }
}

}  // namespace

std::string_view AggregateName(Aggregate function) {
  switch (function) {
    case Aggregate::kCount:
      return "count";
    case Aggregate::kSum:
      return "sum";
    case Aggregate::kMin:
      return "min";
    case Aggregate::kMax:
      return "max";
    case Aggregate::kFirst:
      return "first";
    case Aggregate::kLast:
      return "last";
  }
  return "";
}

std::string TableDefinition::Canonical() const {
  std::string out = "table " + name + "\nkey" + QuoteAll(key) + "\n";
  for (const ColumnDefinition& column : columns) {
    out += "column " + Quote(column.name) + " " + std::string(KindName(column.type));
    if (column.item_type != Kind::kNull) out += " of " + std::string(KindName(column.item_type));
    out += "\n";
  }
  if (last_row) out += "last_row\n";
  for (const GroupDefinition& group : groups) AppendGroup(group, out);
  return out;
}

int TableDefinition::ColumnIndex(std::string_view column) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == column) return static_cast<int>(i);
  }
  return -1;
}

const ColumnDefinition* TableDefinition::FindColumn(std::string_view column) const {
  const int index = ColumnIndex(column);
  return index < 0 ? nullptr : &columns[static_cast<size_t>(index)];
}

size_t TableDefinition::anchor() const {
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].is_aggregate()) return i;
  }
  return 0;  // not reached: the parser refuses tables without a columns group
}

}  // namespace tidemark::tables
