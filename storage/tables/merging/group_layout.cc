#include "storage/tables/merging/group_layout.h"

namespace tidemark::tables {
namespace {

int AddImageColumn(const std::string& name, Kind type, GroupLayout* layout) {
  for (size_t i = 0; i < layout->image.size(); ++i) {
    if (layout->image[i].name == name && layout->image[i].type == type) return static_cast<int>(i);
  }
  layout->image.push_back({name, type});
  return static_cast<int>(layout->image.size()) - 1;
}

// A column that only orders is kept as the relation has it, unless another use keeps it anyway in a
// type with the same order (so that `last: x, by: t` and `max: t` share one ordering).
int AddOrderColumn(const std::string& name, GroupLayout* layout) {
  for (size_t i = 0; i < layout->image.size(); ++i) {
    const ImageColumn& column = layout->image[i];
    if (column.name == name && column.type != Kind::kNull && column.type != Kind::kString) {
      return static_cast<int>(i);
    }
  }
  return AddImageColumn(name, Kind::kNull, layout);
}

int AddOrdering(int image, bool by_sequence, bool high, GroupLayout* layout) {
  size_t i = 0;
  while (i < layout->orderings.size() && layout->orderings[i].image != image) ++i;
  if (i == layout->orderings.size()) layout->orderings.push_back({image});
  Ordering& ordering = layout->orderings[i];
  ordering.by_sequence |= by_sequence;
  ordering.low |= !high;
  ordering.high |= high;
  return static_cast<int>(i);
}

}  // namespace

GroupLayout LayoutOf(const TableDefinition& table, const GroupDefinition& group) {
  GroupLayout layout;
  for (const std::string& name : table.key) {
    layout.key.push_back(
        AddImageColumn(group.key_columns.at(name), table.FindColumn(name)->type, &layout));
  }
  // Arguments first: order columns may share their place.
  for (const AggregateColumn& aggregate : group.aggregates) {
    AggregateUse use;
    if (aggregate.argument != "*") {
      const bool counted = aggregate.function == Aggregate::kCount;
      const Kind type = table.FindColumn(aggregate.column)->type;
      use.image = AddImageColumn(aggregate.argument, counted ? Kind::kNull : type, &layout);
    }
    use.high = aggregate.function == Aggregate::kMax || aggregate.function == Aggregate::kLast;
    layout.aggregates.push_back(use);
  }
  for (size_t i = 0; i < group.aggregates.size(); ++i) {
    const AggregateColumn& aggregate = group.aggregates[i];
    AggregateUse& use = layout.aggregates[i];
    switch (aggregate.function) {
      case Aggregate::kCount:
      case Aggregate::kSum:
        break;
      case Aggregate::kMin:
      case Aggregate::kMax:
        use.ordering = AddOrdering(use.image, /*by_sequence=*/false, use.high, &layout);
        break;
      case Aggregate::kFirst:
      case Aggregate::kLast: {
        const int image =
            aggregate.order_by.empty() ? -1 : AddOrderColumn(aggregate.order_by, &layout);
        use.ordering = AddOrdering(image, /*by_sequence=*/true, use.high, &layout);
        break;
      }
    }
  }
  for (const Condition& condition : group.where) {
    layout.where.push_back(AddImageColumn(condition.column, Kind::kNull, &layout));
  }
  for (const std::string& column : group.sequence) {
    layout.sequence.push_back(AddImageColumn(column, Kind::kNull, &layout));
  }
  return layout;
}

}  // namespace tidemark::tables
