#include "server/ingest/postgres/relation_layout.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/strings.h"
#include "server/ingest/postgres/failure.h"
#include "server/ingest/postgres/sql.h"
#include "storage/tables/merging/merger.h"

namespace tidemark::ingest {
namespace {

using tables::RelationSchema;

constexpr uint32_t kInt2 = 21, kInt4 = 23, kInt8 = 20, kText = 25, kVarchar = 1043, kNumeric = 1700;
constexpr int32_t kModifierHeader = 4;  // what type modifiers are offset by

// Names of the columns that tell rows apart: those of old images; of full ones those of the primary
// key, and none where there is no such key, since two rows may then be the same.
std::set<std::string> RowKey(const SourceRelation& relation) {
  const bool full = relation.identity == 'f';
  std::set<std::string> key;
  for (const SourceColumn& column : relation.columns) {
    if (full ? column.primary : column.identity) key.insert(column.name);
  }
  return key;
}

// Whether every stored value of the old type is the same value of the new one.
bool IsWidening(uint32_t from, int32_t from_modifier, uint32_t to, int32_t to_modifier) {
  if (from == kInt2) return to == kInt4 || to == kInt8;
  if (from == kInt4) return to == kInt8;
  if (from == kVarchar) {
    if (to == kText) return true;
    return to == kVarchar &&
           (to_modifier < 0 || (from_modifier >= 0 && to_modifier >= from_modifier));
  }
  if (from == kNumeric && to == kNumeric) {
    if (to_modifier < 0) return true;
    if (from_modifier < 0) return false;
    const int32_t before = from_modifier - kModifierHeader, after = to_modifier - kModifierHeader;
    const bool same_scale = (before & 0xffff) == (after & 0xffff);
    return same_scale && after >> 16 >= before >> 16;
  }
  return false;
}

absl::Status CheckColumn(const std::string& relation, const ColumnLayout& copied, uint32_t type,
                         int32_t modifier) {
  if (copied.type == type && copied.modifier == modifier) return absl::OkStatus();
  if (IsWidening(copied.type, copied.modifier, type, modifier)) return absl::OkStatus();
  return Gap(absl::StrCat("The type of column ", copied.name, " of ", relation,
                          " has changed, which can change every row without an event."));
}

// What to do about a relation whose changes do not say which row they are about.
std::string GiveItAKey(const std::string& relation) {
  const size_t dot = relation.find('.');
  const std::string name =
      absl::StrCat(QuoteIdentifier(relation.substr(0, dot)), ".",
                   QuoteIdentifier(relation.substr(dot == relation.npos ? 0 : dot + 1)));
  return absl::StrCat("Nothing tells its rows apart: give it a primary key and ALTER TABLE ", name,
                      " REPLICA IDENTITY DEFAULT; USING INDEX or FULL do as well. It is copied "
                      "again then; with on_gap: stop after ResumeSource.");
}

// `full`: whole rows are sent, so that a relation without a key can be followed.
absl::Status CheckKey(const std::string& relation, const RelationRecord& record,
                      const std::set<std::string>& now, bool full) {
  std::set<std::string> copied;
  for (const ColumnLayout& column : record.columns) {
    if (column.key) copied.insert(column.name);
  }
  if (copied == now) return absl::OkStatus();
  std::string detail =
      absl::StrCat("The columns that identify rows of ", relation, " have changed from (",
                   absl::StrJoin(copied, ", "), ") to (", absl::StrJoin(now, ", "), ").");
  // A copy alone does not heal this one.
  if (now.empty() && !full) absl::StrAppend(&detail, " ", GiveItAKey(relation));
  return Gap(detail);
}

// Asks the tables; `generated`: to explain a column that is missing.
absl::Status CheckSchema(const tables::Catalog& catalog, const RelationSchema& schema,
                         const std::vector<std::string>& generated) {
  const absl::Status fits = tables::Merger::CheckSchema(catalog, schema);
  if (fits.ok()) return fits;
  std::string detail(ToStd(fits.message()));
  if (!generated.empty()) {
    absl::StrAppend(&detail, " (PostgreSQL does not replicate generated columns: ",
                    absl::StrJoin(generated, ", "), ".)");
  }
  return Failed(detail);
}

PgTypePtr TypeOf(const PgTypeMap& types, uint32_t oid) {
  PgTypePtr type = types.Find(oid);
  return type != nullptr ? type : MakeTextType(absl::StrCat("type ", oid));
}

void AddColumn(const std::string& name, const PgTypePtr& type, bool key, std::string type_name,
               RelationSchema* schema) {
  tables::RelationColumn column;
  column.name = name;
  column.type = KindOf(*type);
  column.key = key;
  column.source_type = std::move(type_name);
  schema->columns.push_back(std::move(column));
}

}  // namespace

std::set<std::string> NeededColumns(const tables::Catalog& catalog, std::string_view source,
                                    const std::string& relation) {
  std::set<std::string> needed;
  for (const auto& feed : catalog.FeedsOf({std::string(source), relation})) {
    const tables::GroupDefinition& group = feed.table->definition.groups[feed.group];
    for (const auto& [column, from] : group.key_columns) needed.insert(from);
    for (const auto& [column, from] : group.columns) needed.insert(from);
    needed.insert(group.sequence.begin(), group.sequence.end());
    for (const tables::Condition& condition : group.where) needed.insert(condition.column);
    for (const tables::AggregateColumn& aggregate : group.aggregates) {
      if (aggregate.argument != "*") needed.insert(aggregate.argument);
      if (!aggregate.order_by.empty()) needed.insert(aggregate.order_by);
    }
  }
  return needed;
}

absl::StatusOr<CopyPlan> PlanCopy(const tables::Catalog& catalog, std::string_view source,
                                  const SourceRelation& relation, const PgTypeMap& types) {
  const std::set<std::string> needed = NeededColumns(catalog, source, relation.full_name);
  const std::set<std::string> key = RowKey(relation);
  CopyPlan plan;
  plan.record.oid = relation.oid;
  plan.record.membership = relation.membership;
  auto schema = std::make_shared<RelationSchema>();
  schema->source = std::string(source);
  schema->name = relation.full_name;
  schema->full_old_images = relation.identity == 'f';
  std::vector<PgTypePtr> column_types;
  for (const SourceColumn& column : relation.columns) {
    const bool is_key = key.count(column.name) != 0;
    if (!is_key && needed.count(column.name) == 0) continue;
    plan.record.columns.push_back(
        {column.name, column.number, column.type, column.modifier, is_key});
    column_types.push_back(TypeOf(types, column.type));
    AddColumn(column.name, column_types.back(), is_key, column.type_name, schema.get());
  }
  if (absl::Status fits = CheckSchema(catalog, *schema, relation.generated_columns); !fits.ok()) {
    return fits;
  }
  std::vector<bool> wanted(column_types.size(), true);
  plan.decoder =
      std::make_shared<RowDecoder>(std::move(schema), std::move(column_types), std::move(wanted));
  return plan;
}

absl::Status CheckRelation(const tables::Catalog& catalog, std::string_view source,
                           const RelationRecord& record, const SourceRelation& now,
                           const PgTypeMap& types) {
  if (record.oid != now.oid) {
    return Gap(absl::StrCat("Relation ", now.full_name,
                            " is another one than was copied: it was "
                            "dropped and made again, or others were renamed."));
  }
  if (record.membership != now.membership) {
    return Gap(absl::StrCat("How ", now.full_name,
                            " is published has changed; changes may have "
                            "been left out meanwhile."));
  }
  // Missing columns are found here.
  const absl::Status fits = PlanCopy(catalog, source, now, types).status();
  if (!fits.ok()) return fits;
  for (const ColumnLayout& copied : record.columns) {
    const auto column = std::find_if(now.columns.begin(), now.columns.end(),
                                     [&](const SourceColumn& c) { return c.name == copied.name; });
    if (column == now.columns.end()) continue;  // no table needs it any more
    if (column->number != copied.number) {
      return Gap(absl::StrCat("Column ", copied.name, " of ", now.full_name,
                              " is another one than was copied: it was dropped and made again."));
    }
    if (absl::Status same = CheckColumn(now.full_name, copied, column->type, column->modifier);
        !same.ok()) {
      return same;
    }
  }
  return CheckKey(now.full_name, record, RowKey(now), now.identity == 'f');
}

absl::StatusOr<std::shared_ptr<const RowDecoder>> DecoderFor(const tables::Catalog& catalog,
                                                             std::string_view source,
                                                             const RelationRecord& record,
                                                             const pgoutput::Relation& message,
                                                             const PgTypeMap& types) {
  const std::string name = absl::StrCat(ToAbsl(message.schema), ".", ToAbsl(message.name));
  if (record.oid != message.id) {
    return Gap(absl::StrCat("Relation ", name,
                            " is another one than was copied: it was dropped "
                            "and made again, or others were renamed."));
  }
  auto schema = std::make_shared<RelationSchema>();
  schema->source = std::string(source);
  schema->name = name;
  schema->full_old_images = message.identity == pgoutput::ReplicaIdentity::kFull;
  std::vector<PgTypePtr> column_types;
  std::vector<bool> wanted;
  std::set<std::string> key;
  for (const pgoutput::RelationColumn& column : message.columns) {
    const auto copied = std::find_if(record.columns.begin(), record.columns.end(),
                                     [&](const ColumnLayout& c) { return c.name == column.name; });
    const bool is_wanted = copied != record.columns.end();
    if (is_wanted) {
      if (absl::Status same = CheckColumn(name, *copied, column.type, column.modifier);
          !same.ok()) {
        return same;
      }
    }
    if (column.key) key.insert(std::string(column.name));
    wanted.push_back(is_wanted);
    column_types.push_back(TypeOf(types, column.type));
    AddColumn(std::string(column.name), column_types.back(), is_wanted && copied->key,
              column_types.back()->name, schema.get());
  }
  // How the relation was then; how it is now decides whether it can be copied.
  if (absl::Status fits = CheckSchema(catalog, *schema, {}); !fits.ok()) {
    return Gap(ToStd(fits.message()));
  }
  // A full image has every column, so only the copied key counts, while it is there; another must
  // have exactly that key.
  if (schema->full_old_images) {
    key.clear();
    for (const tables::RelationColumn& column : schema->columns) {
      if (column.key) key.insert(column.name);
    }
  }
  absl::Status same = CheckKey(name, record, key, schema->full_old_images);
  if (!same.ok()) return same;
  return std::shared_ptr<const RowDecoder>(
      std::make_shared<RowDecoder>(std::move(schema), std::move(column_types), std::move(wanted)));
}

}  // namespace tidemark::ingest
