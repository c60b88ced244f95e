#include "tests/conformance/merging_workload.h"

#include <utility>

namespace tidemark::tables {

const char kBusinessTables[] = R"(
- name: orders
  key: [id]
  columns: {id: int, customer: int, status: string, total: int, amount: decimal, placed: timestamp,
            note: string}
  from: {source: erp, relation: orders}
- name: customers
  key: [id]
  columns: {id: int, name: string, credit: decimal, blob: string, segment: string, score: double,
            hint: string, orders: int, priced: int, total: int, amount: decimal, cheapest: decimal,
            dearest: decimal, open_orders: int, newest_note: string, first_total: int, paid: int,
            last_paid: int, last_paid_at: int, latest: timestamp}
  groups:
  - name: master
    from: {source: erp, relation: customers}
    columns: {name: name, credit: credit, blob: blob}
    on_delete: row
  - name: profile
    from: {source: erp, relation: profiles}
    group_by: {id: customer}
    columns: {segment: segment, score: score}
  - name: hints
    from: {source: erp, relation: hints}
    columns: {hint: text}
    on_delete: ignore
  - name: orders
    from: {source: erp, relation: orders}
    group_by: {id: customer}
    aggregates: {orders: {count: "*"}, priced: {count: amount}, total: {sum: total},
                 amount: {sum: amount}, cheapest: {min: amount}, dearest: {max: amount},
                 latest: {max: placed}}
  - name: open_orders
    from: {source: erp, relation: orders}
    group_by: {id: customer}
    where: [{column: status, op: in, values: [new, held]}, {column: total, op: gt, value: 2}]
    aggregates: {open_orders: {count: "*"}, newest_note: {last: note, by: placed},
                 first_total: {first: total}}
  - name: payments
    from: {source: erp, relation: payments}
    group_by: {id: customer}
    aggregates: {paid: {sum: amount}, last_paid: {last: amount, by: paid_at},
                 last_paid_at: {max: paid_at}}
- name: by_status
  key: [status]
  columns: {status: string, label: string, total: int, smallest: int}
  groups:
  - name: sums
    from: {source: erp, relation: orders}
    aggregates: {total: {sum: total}, smallest: {min: total}}
  - name: labels
    from: {source: erp, relation: labels}
    columns: {label: text}
)";

namespace {

constexpr const char* kStatuses[] = {"new", "held", "paid"};

}  // namespace

MergingWorkload::MergingWorkload(uint64_t seed) : random_(seed) {
  const auto add = [this](const std::string& name, std::vector<TestColumn> columns, bool full) {
    names_.push_back(name);
    relations_[name].schema = Relation("erp", name, std::move(columns), full);
  };
  add("customers",
      {{"id", Kind::kInt, true},
       {"name", Kind::kString},
       {"credit", Kind::kDecimal},
       {"blob", Kind::kString}},
      false);
  add("profiles",
      {{"customer", Kind::kInt, true}, {"segment", Kind::kString}, {"score", Kind::kDouble}},
      false);
  add("hints", {{"id", Kind::kInt, true}, {"text", Kind::kString}}, false);
  add("orders",
      {{"id", Kind::kInt, true},
       {"customer", Kind::kInt},
       {"status", Kind::kString},
       {"total", Kind::kInt},
       {"amount", Kind::kDecimal},
       {"placed", Kind::kTimestamp},
       {"note", Kind::kString}},
      false);
  add("payments",
      {{"customer", Kind::kInt, true},
       {"number", Kind::kInt, true},
       {"amount", Kind::kInt},
       {"paid_at", Kind::kInt}},
      true);
  add("labels", {{"status", Kind::kString, true}, {"text", Kind::kString}}, false);
}

std::vector<int64_t> MergingWorkload::NewKey(const std::string& name) {
  if (name == "orders") return {static_cast<int64_t>(Pick(12))};
  if (name == "payments") return {static_cast<int64_t>(Pick(4)), static_cast<int64_t>(Pick(4))};
  if (name == "labels") return {static_cast<int64_t>(Pick(3))};
  return {static_cast<int64_t>(Pick(5))};
}

Datum MergingWorkload::NewValue(const RelationColumn& column) {
  if (Chance(12)) return Datum::Null();
  const auto small = static_cast<int64_t>(Pick(6));
  if (column.name == "status") return Datum::String(kStatuses[Pick(3)]);
  switch (column.type) {
    case Kind::kInt:
      return Datum::Int(column.name == "customer" ? small : small - 1);
    case Kind::kDouble:
      return Datum::Double(static_cast<double>(small) / 4);
    case Kind::kDecimal: {
      if (Chance(3)) return Datum::String("NaN");
      static constexpr const char* kTexts[] = {"1",     "1.0",    "1.00", "-2.5",
                                               "10.25", "0.0001", "-0.75"};
      return Datum::Decimal(kTexts[Pick(7)]);
    }
    case Kind::kTimestamp:
      if (Chance(10)) return Datum::String(Chance(50) ? "infinity" : "-infinity");
      return Datum::Timestamp(small * 1'000'000);
    default:
      return Datum::String("text " + std::to_string(small));
  }
}

std::vector<Datum> MergingWorkload::NewRow(const std::string& name,
                                           const std::vector<int64_t>& key) {
  std::vector<Datum> row;
  size_t keys = 0;
  for (const RelationColumn& column : relations_[name].schema->columns) {
    if (!column.key) {
      row.push_back(NewValue(column));
    } else if (column.type == Kind::kString) {
      row.push_back(Datum::String(kStatuses[key[keys++]]));
    } else {
      row.push_back(Datum::Int(key[keys++]));
    }
  }
  return row;
}

std::vector<Datum> MergingWorkload::OldImage(const RelationState& relation,
                                             const std::vector<Datum>& row) {
  std::vector<Datum> image = row;
  if (relation.schema->full_old_images) return image;
  for (size_t i = 0; i < image.size(); ++i) {
    if (!relation.schema->columns[i].key) image[i] = Datum::Unchanged();
  }
  return image;
}

RowEvent MergingWorkload::Change(const std::string& name, RelationState& relation) {
  const std::vector<int64_t> key = NewKey(name);
  const auto found = relation.rows.find(key);
  if (found == relation.rows.end()) {
    relation.rows[key] = NewRow(name, key);
    return Insert(relation.schema, ++sequence_, relation.rows[key]);
  }
  const std::vector<Datum> old = found->second;
  if (Chance(25)) {
    relation.rows.erase(found);
    return Delete(relation.schema, ++sequence_, OldImage(relation, old));
  }
  const std::vector<int64_t> new_key = Chance(20) ? NewKey(name) : key;
  const bool moves = new_key != key && relation.rows.count(new_key) == 0;
  std::vector<Datum> row = NewRow(name, moves ? new_key : key);
  std::vector<Datum> sent = row;
  // Columns that stay as they are; large ones are then not sent.
  for (size_t i = 0; i < row.size(); ++i) {
    const RelationColumn& column = relation.schema->columns[i];
    if (column.key || !Chance(40)) continue;
    row[i] = sent[i] = old[i];
    const bool large = column.name == "blob" || column.name == "note" || column.name == "text" ||
                       column.name == "amount";
    if (large && Chance(60)) sent[i] = Datum::Unchanged();
  }
  std::vector<Datum> before;
  if (moves || relation.schema->full_old_images) before = OldImage(relation, old);
  if (moves) relation.rows.erase(found);
  relation.rows[moves ? new_key : key] = row;
  return Update(relation.schema, ++sequence_, std::move(before), std::move(sent));
}

std::vector<RowEvent> MergingWorkload::Transaction() {
  std::vector<RowEvent> events;
  const size_t changes = 1 + Pick(6);
  for (size_t i = 0; i < changes; ++i) {
    const std::string& name = names_[Pick(names_.size())];
    RelationState& relation = relations_[name];
    if (Chance(2)) {
      relation.rows.clear();
      events.push_back(Truncate(relation.schema, ++sequence_));
    } else {
      events.push_back(Change(name, relation));
    }
  }
  return events;
}

std::vector<RowEvent> MergingWorkload::Copy(const std::string& name) {
  std::vector<RowEvent> events;
  ++sequence_;
  for (const auto& [key, row] : relations_[name].rows) {
    events.push_back(Insert(relations_[name].schema, sequence_, row));
  }
  return events;
}

}  // namespace tidemark::tables
