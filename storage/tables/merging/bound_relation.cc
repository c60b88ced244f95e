#include "storage/tables/merging/bound_relation.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/strings.h"

namespace tidemark::tables {
namespace {

class GroupBinder {
 public:
  GroupBinder(const RelationSchema& schema, const Catalog::Feed& feed)
      : schema_(schema), group_(UnboundGroup(feed, {})) {}

  absl::StatusOr<BoundGroup> Bind() {
    TIDEMARK_RETURN_IF_ERROR(BindKey());
    TIDEMARK_RETURN_IF_ERROR(BindSequence());
    if (definition().is_aggregate()) {
      TIDEMARK_RETURN_IF_ERROR(BindAggregates());
    } else {
      TIDEMARK_RETURN_IF_ERROR(BindColumns());
      TIDEMARK_RETURN_IF_ERROR(CheckKeyInOldImages());
    }
    return std::move(group_);
  }

 private:
  const TableDefinition& table() const { return group_.table->definition; }
  const GroupDefinition& definition() const { return *group_.definition; }
  const RelationColumn& column(size_t index) const { return schema_.columns[index]; }

  absl::Status Invalid(std::string_view column, const std::string& problem) const {
    return MakeError(Reason::kFieldInvalid,
                     "Relation " + schema_.source + "/" + schema_.name + " does not fit table \"" +
                         table().name + "\" (group " + definition().name + "): " + problem,
                     {{"source", schema_.source},
                      {"relation", schema_.name},
                      {"table", table().name},
                      {"column", std::string(column)}});
  }

  absl::StatusOr<size_t> Find(const std::string& name) const {
    for (size_t i = 0; i < schema_.columns.size(); ++i) {
      if (schema_.columns[i].name == name) return i;
    }
    std::string known;
    for (size_t i = 0; i < schema_.columns.size(); ++i) {
      known += (i == 0 ? "" : ", ") + schema_.columns[i].name;
      if (known.size() > 400) {
        known += ", ...";
        break;
      }
    }
    return Invalid(name, "it has no column \"" + name + "\" (it has " + Printable(known, 500) +
                             "). Add the column to the relation, or take it out of the table's "
                             "definition.");
  }

  static std::string TypeText(const RelationColumn& column) {
    std::string text(KindName(column.type));
    if (!column.source_type.empty()) text += " (" + column.source_type + ")";
    return text;
  }

  // The relation's column `name` as a value of `type`; kNull leaves it as it is.
  absl::StatusOr<BoundColumn> Convert(const std::string& name, Kind type) const {
    BoundColumn bound;
    TIDEMARK_ASSIGN_OR_RETURN(bound.relation_column, Find(name));
    const RelationColumn& from = column(bound.relation_column);
    bound.name = from.name;
    bound.type = type == Kind::kNull ? from.type : type;
    if (CanCoerce(from.type, bound.type)) return bound;
    return Invalid(name, "its column \"" + name + "\" is of type " + TypeText(from) +
                             ", which does not become " + std::string(KindName(type)) +
                             " without loss. Declare the table's column as " +
                             std::string(KindName(from.type)) + ", or leave it out.");
  }

  absl::Status CheckOrder(const BoundColumn& bound, const std::string& use, bool doubles) const {
    const RelationColumn& from = column(bound.relation_column);
    const bool ordered = bound.type != Kind::kJson && bound.type != Kind::kList &&
                         (doubles || bound.type != Kind::kDouble);
    if (ordered) return absl::OkStatus();
    return Invalid(from.name, "its column \"" + from.name + "\" is of type " + TypeText(from) +
                                  ", which cannot be " + use + ".");
  }

  absl::Status BindKey() {
    for (const std::string& name : table().key) {
      TIDEMARK_ASSIGN_OR_RETURN(
          group_.key.emplace_back(),
          Convert(definition().key_columns.at(name), table().FindColumn(name)->type));
      group_.key.back().table_column = static_cast<size_t>(table().ColumnIndex(name));
    }
    return absl::OkStatus();
  }

  absl::Status BindSequence() {
    for (const std::string& name : definition().sequence) {
      TIDEMARK_ASSIGN_OR_RETURN(group_.sequence.emplace_back(), Convert(name, Kind::kNull));
      TIDEMARK_RETURN_IF_ERROR(CheckOrder(group_.sequence.back(), "a sequence", false));
      AddBinding("sequence", group_.sequence.back());
    }
    return absl::OkStatus();
  }

  absl::Status BindColumns() {
    for (size_t i = 0; i < table().columns.size(); ++i) {
      const ColumnDefinition& target = table().columns[i];
      const auto found = definition().columns.find(target.name);
      if (found == definition().columns.end()) continue;
      TIDEMARK_ASSIGN_OR_RETURN(BoundColumn bound, Convert(found->second, target.type));
      bound.table_column = i;
      bound.item_type = target.item_type;
      group_.columns.push_back(bound);
    }
    const auto is_in_key = [this](size_t index) {
      return std::any_of(group_.key.begin(), group_.key.end(),
                         [&](const BoundColumn& key) { return key.relation_column == index; });
    };
    size_t identity = 0, in_key = 0;
    for (size_t i = 0; i < schema_.columns.size(); ++i) {
      if (!column(i).key) continue;
      ++identity;
      in_key += is_in_key(i);
    }
    group_.key_is_identity = identity > 0 && in_key == identity;
    return absl::OkStatus();
  }

  // A delete, or a change of the key, must say which row it is about.
  absl::Status CheckKeyInOldImages() const {
    if (schema_.full_old_images) return absl::OkStatus();
    for (const BoundColumn& key : group_.key) {
      const RelationColumn& from = column(key.relation_column);
      if (from.key) continue;
      return Invalid(from.name,
                     "its deletes do not say the value of its column \"" + from.name +
                         "\", which is in the table's key. Give it REPLICA IDENTITY FULL (or USING "
                         "INDEX with an index that has the column), or choose a key among the "
                         "columns that identify its rows.");
    }
    return absl::OkStatus();
  }

  absl::Status BindAggregates() {
    for (size_t i = 0; i < schema_.columns.size(); ++i) {
      if (!column(i).key) continue;
      BoundColumn identity;
      identity.name = column(i).name;
      identity.relation_column = i;
      identity.type = column(i).type;
      TIDEMARK_RETURN_IF_ERROR(CheckOrder(identity, "part of what identifies a row", false));
      group_.identity.push_back(identity);
      AddBinding("identity", identity);
    }
    if (group_.identity.empty()) {
      return Invalid("",
                     "nothing identifies its rows, so a row cannot be told from another one "
                     "with the same contents. Give it a primary key.");
    }
    for (const ImageColumn& image : group_.layout.image) {
      TIDEMARK_ASSIGN_OR_RETURN(group_.image.emplace_back(), Convert(image.name, image.type));
    }
    for (const Ordering& ordering : group_.layout.orderings) {
      group_.order_types.push_back(Kind::kNull);
      if (ordering.image < 0) continue;
      const BoundColumn& by = group_.image[static_cast<size_t>(ordering.image)];
      TIDEMARK_RETURN_IF_ERROR(CheckOrder(by, "ordered by", true));
      AddBinding("order", by);
      group_.order_types.back() = by.type;
    }
    for (size_t i = 0; i < definition().where.size(); ++i) {
      const BoundColumn& tested = group_.image[static_cast<size_t>(group_.layout.where[i])];
      auto bound = BoundCondition::Bind(definition().where[i], tested.type);
      if (!bound.ok()) return Invalid(tested.name, std::string(ToStd(bound.status().message())));
      group_.where.push_back(*std::move(bound));
    }
    return absl::OkStatus();
  }

  void AddBinding(std::string_view role, const BoundColumn& bound) {
    group_.bindings += std::string(role) + " " + column(bound.relation_column).name + " " +
                       std::string(KindName(bound.type)) + "\n";
  }

  const RelationSchema& schema_;
  BoundGroup group_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BoundRelation>> BindRelation(
    const Catalog& catalog, std::shared_ptr<const RelationSchema> schema) {
  auto relation = std::make_unique<BoundRelation>();
  for (const Catalog::Feed& feed : catalog.FeedsOf({schema->source, schema->name})) {
    TIDEMARK_ASSIGN_OR_RETURN(relation->groups.emplace_back(), GroupBinder(*schema, feed).Bind());
  }
  relation->schema = std::move(schema);
  return relation;
}

BoundGroup UnboundGroup(const Catalog::Feed& feed, std::vector<Kind> order_types) {
  BoundGroup group;
  group.table = feed.table;
  group.index = feed.group;
  group.definition = &feed.table->definition.groups[feed.group];
  group.anchor = feed.table->definition.anchor() == feed.group;
  if (group.definition->is_aggregate()) {
    const TableDefinition& table = feed.table->definition;
    group.layout = LayoutOf(table, *group.definition);
    for (const AggregateColumn& aggregate : group.definition->aggregates) {
      group.aggregate_columns.push_back(static_cast<size_t>(table.ColumnIndex(aggregate.column)));
    }
  }
  group.order_types = std::move(order_types);
  return group;
}

absl::Status EventError(Reason reason, const BoundGroup& group, std::string_view problem) {
  const RelationRef& from = group.definition->from;
  return MakeError(reason,
                   "An event of relation " + from.source + "/" + from.relation +
                       " cannot be applied to table \"" + group.table->definition.name +
                       "\": " + std::string(problem),
                   {{"source", from.source},
                    {"relation", from.relation},
                    {"table", group.table->definition.name}});
}

}  // namespace tidemark::tables
