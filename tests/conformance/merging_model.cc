#include "tests/conformance/merging_model.h"

#include <algorithm>
#include <optional>

#include "common/check.h"
#include "storage/state/tuple_key.h"
#include "storage/tables/row_codec.h"
#include "storage/tables/value_text.h"

namespace tidemark::tables {
namespace {

size_t IndexOf(const RelationSchema& schema, const std::string& column) {
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    if (schema.columns[i].name == column) return i;
  }
  CheckFailed(__FILE__, __LINE__, column.c_str());
}

std::string IdentityOf(const RelationSchema& schema, const std::vector<Datum>& image) {
  state::KeyEncoder key;
  for (size_t i = 0; i < image.size(); ++i) {
    if (schema.columns[i].key) TIDEMARK_CHECK(AppendKey(image[i], key).ok());
  }
  return key.Release();
}

bool SaysIdentity(const RelationSchema& schema, const std::vector<Datum>& image) {
  for (size_t i = 0; i < image.size(); ++i) {
    if (schema.columns[i].key && image[i].is_unchanged()) return false;
  }
  return !image.empty();
}

// -1, 0, 1; the special values as PostgreSQL sorts them. Only what the generator makes.
int Compare(const Datum& a, const Datum& b) {
  const auto rank = [](const Datum& datum) {
    if (datum.kind() != Kind::kString) return 0;
    if (datum.text() == "-infinity" || datum.text() == "-Infinity") return -1;
    if (datum.text() == "infinity" || datum.text() == "Infinity") return 1;
    return datum.text() == "NaN" ? 2 : 0;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? -1 : 1;
  if (rank(a) != 0) return 0;
  return CompareData(a, b);
}

Datum Constant(const std::string& text, const Datum& like) {
  return like.kind() == Kind::kInt ? Datum::Int(std::stoll(text)) : Datum::String(text);
}

bool Holds(const Condition& condition, const Datum& value) {
  using Op = Condition::Op;
  if (value.is_null()) return condition.op == Op::kIsNull;
  std::vector<int> orders;
  for (const std::string& text : condition.values) {
    orders.push_back(Compare(value, Constant(text, value)));
  }
  const bool among = std::count(orders.begin(), orders.end(), 0) > 0;
  switch (condition.op) {
    case Op::kEq:
    case Op::kIn:
      return among;
    case Op::kNe:
    case Op::kNotIn:
      return !among;
    case Op::kLt:
      return orders[0] < 0;
    case Op::kLe:
      return orders[0] <= 0;
    case Op::kGt:
      return orders[0] > 0;
    case Op::kGe:
      return orders[0] >= 0;
    case Op::kIsNull:
      return false;
    case Op::kIsNotNull:
      return true;
  }
  return false;
}

// Cents and fraction digits; the generator makes at most four.
Datum SumDecimals(const std::vector<Datum>& values) {
  int64_t sum = 0;
  size_t scale = 0;
  bool nan = false;
  for (const Datum& value : values) {
    if (value.kind() == Kind::kString) {
      nan = true;
      continue;
    }
    const std::string& text = value.text();
    const size_t point = text.find('.');
    const size_t digits = point == std::string::npos ? 0 : text.size() - point - 1;
    scale = std::max(scale, digits);
    std::string unscaled = text;
    if (point != std::string::npos) unscaled.erase(point, 1);
    unscaled.append(4 - digits, '0');
    sum += std::stoll(unscaled);
  }
  if (nan) return Datum::String("NaN");
  const bool negative = sum < 0;
  std::string text = std::to_string(negative ? -sum : sum);
  if (text.size() < 5) text.insert(0, 5 - text.size(), '0');
  text.insert(text.size() - 4, ".");
  text.resize(text.size() - (4 - scale) - (scale == 0 ? 1 : 0));
  return Datum::Decimal(negative ? "-" + text : text);
}

}  // namespace

MergingModel::MergingModel(std::vector<TableDefinition> tables) : tables_(std::move(tables)) {}

void MergingModel::Apply(const RowEvent& event, uint64_t generation) {
  const Order order{generation, event.sequence};
  for (auto* bases : {&bases_, &undeleted_}) {
    const bool deletes = bases == &bases_;
    Base& base = (*bases)[event.schema->name];
    base.schema = event.schema;
    if (event.op == EventOp::kTruncate) {
      if (!deletes || order < base.truncation) continue;
      base.truncation = order;
      for (auto row = base.rows.begin(); row != base.rows.end();) {
        row = row->second.order < order ? base.rows.erase(row) : std::next(row);
      }
      continue;
    }
    if (event.op == EventOp::kDelete) {
      if (deletes) Delete(base, IdentityOf(*event.schema, event.before), order);
      continue;
    }
    const std::string key = IdentityOf(*event.schema, event.after);
    std::vector<Datum> earlier;
    if (SaysIdentity(*event.schema, event.before)) {
      const std::string old_key = IdentityOf(*event.schema, event.before);
      if (old_key != key) {
        earlier = base.rows[old_key].values;
        if (deletes) Delete(base, old_key, order);
      }
    }
    if (earlier.empty()) earlier = base.rows[key].values;
    // A full old image says what unsent columns are, also when earlier events are still to come.
    if (event.schema->full_old_images && !event.before.empty()) earlier = event.before;
    Upsert(base, key, order, event.after, earlier);
  }
}

void MergingModel::Upsert(Base& base, const std::string& key, Order order,
                          const std::vector<Datum>& after, const std::vector<Datum>& earlier) {
  BaseRow& row = base.rows[key];
  if (order < row.order || order < base.truncation) return;
  std::vector<Datum> values = after;
  for (size_t i = 0; i < values.size(); ++i) {
    // The same event again has its values here already.
    if (values[i].is_unchanged()) values[i] = order == row.order ? row.values[i] : earlier[i];
  }
  row = {false, std::move(order), std::move(values)};
}

void MergingModel::Delete(Base& base, const std::string& key, Order order) {
  BaseRow& row = base.rows[key];
  if (order < row.order || order < base.truncation) return;
  row.deleted = true;
  row.order = std::move(order);
}

void MergingModel::Sweep(const std::string& relation, uint64_t generation) {
  const auto base = bases_.find(relation);
  if (base == bases_.end()) return;
  for (auto& [key, row] : base->second.rows) {
    if (!row.deleted && !row.values.empty() && row.order.first < generation) {
      row.deleted = true;
      row.order = {generation, ""};
    }
  }
}

Datum MergingModel::ComputeAggregate(
    const TableDefinition& table, const GroupDefinition& group, const AggregateColumn& aggregate,
    const std::vector<std::pair<std::string, const BaseRow*>>& rows) const {
  const RelationSchema& schema = *bases_.at(group.from.relation).schema;
  if (aggregate.argument == "*") return Datum::Int(static_cast<int64_t>(rows.size()));
  const size_t argument = IndexOf(schema, aggregate.argument);
  std::vector<Datum> values;
  for (const auto& [key, row] : rows) {
    if (!row->values[argument].is_null()) values.push_back(row->values[argument]);
  }
  if (aggregate.function == Aggregate::kCount) {
    return Datum::Int(static_cast<int64_t>(values.size()));
  }
  if (aggregate.function == Aggregate::kSum) {
    if (values.empty()) return Datum::Null();
    if (table.FindColumn(aggregate.column)->type == Kind::kDecimal) return SumDecimals(values);
    int64_t sum = 0;
    for (const Datum& value : values) sum += value.number();
    return Datum::Int(sum);
  }
  // The row that stands first or last: by value, then (first, last) by sequence, then by key.
  const bool ends =
      aggregate.function == Aggregate::kFirst || aggregate.function == Aggregate::kLast;
  const bool high = aggregate.function == Aggregate::kMax || aggregate.function == Aggregate::kLast;
  const size_t by =
      ends && !aggregate.order_by.empty() ? IndexOf(schema, aggregate.order_by) : argument;
  const bool by_value = !ends || !aggregate.order_by.empty();
  const std::pair<std::string, const BaseRow*>* best = nullptr;
  for (const auto& entry : rows) {
    if (by_value && entry.second->values[by].is_null()) continue;
    int order = best == nullptr ? (high ? 1 : -1) : 0;
    if (best != nullptr && by_value) {
      order = Compare(entry.second->values[by], best->second->values[by]);
    }
    if (order == 0 && ends) order = entry.second->order.second.compare(best->second->order.second);
    if (order == 0) order = entry.first.compare(best->first);
    if (high ? order > 0 : order < 0) best = &entry;
  }
  return best == nullptr ? Datum::Null() : best->second->values[argument];
}

std::map<std::string, std::string> MergingModel::ComputeTable(const TableDefinition& table) const {
  std::map<std::string, std::string> rows;
  const GroupDefinition& anchor = table.groups[table.anchor()];
  const auto base = bases_.find(anchor.from.relation);
  if (base == bases_.end()) return rows;
  for (const auto& [identity, anchor_row] : base->second.rows) {
    if (anchor_row.deleted || anchor_row.values.empty()) continue;
    std::vector<Datum> key;
    for (const std::string& name : table.key) {
      key.push_back(anchor_row.values[IndexOf(*base->second.schema, anchor.key_columns.at(name))]);
    }
    const std::string key_bytes = EncodeKey(table, key).value();
    std::vector<Datum> row(table.columns.size());
    for (size_t i = 0; i < table.key.size(); ++i) row[table.ColumnIndex(table.key[i])] = key[i];
    for (const GroupDefinition& group : table.groups) {
      const auto& bases = group.on_delete == OnDelete::kIgnore ? undeleted_ : bases_;
      const auto found = bases.find(group.from.relation);
      std::vector<std::pair<std::string, const BaseRow*>> members;
      if (found != bases.end()) {
        const RelationSchema& schema = *found->second.schema;
        for (const auto& [member_key, member] : found->second.rows) {
          if (member.deleted || member.values.empty()) continue;
          bool belongs = true;
          for (size_t i = 0; i < table.key.size(); ++i) {
            const Datum& value = member.values[IndexOf(schema, group.key_columns.at(table.key[i]))];
            belongs = belongs && !value.is_null() && Compare(value, key[i]) == 0;
          }
          for (const Condition& condition : group.where) {
            belongs = belongs && Holds(condition, member.values[IndexOf(schema, condition.column)]);
          }
          if (belongs) members.emplace_back(member_key, &member);
        }
        if (!group.is_aggregate() && !members.empty()) {
          for (const auto& [target, from] : group.columns) {
            row[table.ColumnIndex(target)] = members[0].second->values[IndexOf(schema, from)];
          }
        }
      }
      for (const AggregateColumn& aggregate : group.aggregates) {
        row[table.ColumnIndex(aggregate.column)] =
            found != bases.end() ? ComputeAggregate(table, group, aggregate, members)
            : aggregate.function == Aggregate::kCount ? Datum::Int(0)
                                                      : Datum::Null();
      }
    }
    rows[key_bytes] = EncodeRow(table, row).value();
  }
  return rows;
}

MergingModel::Tables MergingModel::Compute() const {
  Tables tables;
  for (const TableDefinition& table : tables_) tables[table.name] = ComputeTable(table);
  return tables;
}

}  // namespace tidemark::tables
