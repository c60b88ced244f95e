#include "storage/tables/merging/row_keys.h"

#include <utility>

#include "storage/tables/merging/bound_relation.h"
#include "storage/tables/merging/event_values.h"

namespace tidemark::tables {
namespace {

// More relations in use at one time than that are bound again when they come back.
constexpr size_t kMaxBoundSchemas = 4096;

}  // namespace

RowKeys::RowKeys(const Catalog& catalog) : catalog_(catalog) {}

RowKeys::~RowKeys() = default;

const BoundRelation* RowKeys::Bind(const std::shared_ptr<const RelationSchema>& schema) {
  const auto found = bound_.find(schema.get());
  if (found != bound_.end()) return found->second.get();
  auto relation = BindRelation(catalog_, schema);
  // One that cannot be bound is remembered as one that feeds nothing. It too keeps its schema
  // alive, so that the pointer names no other one meanwhile.
  if (!relation.ok()) {
    relation = std::make_unique<BoundRelation>();
    (*relation)->schema = schema;
  }
  if (bound_.size() >= kMaxBoundSchemas) bound_.clear();
  return (bound_[schema.get()] = *std::move(relation)).get();
}

void RowKeys::Append(const RowEvent& event, std::vector<RowKey>* keys) {
  const std::vector<Datum>& image = event.after.empty() ? event.before : event.after;
  if (event.op == EventOp::kTruncate || image.size() != event.schema->columns.size()) return;
  const std::vector<Datum> none;
  const bool has_before = event.before.size() == image.size();
  for (const BoundGroup& group : Bind(event.schema)->groups) {
    auto key = KeyOf(group, group.key, image, has_before ? event.before : none);
    if (key.ok()) keys->push_back({group.table->id, *std::move(key)});
  }
}

}  // namespace tidemark::tables
