// Which rows an event is going to change: for reading ahead, so no promise and no errors.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_ROW_KEYS_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_ROW_KEYS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "storage/state/types.h"
#include "storage/tables/catalog.h"
#include "storage/tables/row_event.h"

namespace tidemark::tables {

struct BoundRelation;

struct RowKey {
  state::TableId table = 0;
  std::string key;
};

// Not thread-safe. Touches no state: may be used beside the writer.
class RowKeys {
 public:
  explicit RowKeys(const Catalog& catalog);  // outlives it
  ~RowKeys();

  // Appends the rows that the event's new image names, or its old one when it has no new one.
  // Nothing for truncates, for relations that feed no table, and for events that cannot be applied.
  void Append(const RowEvent& event, std::vector<RowKey>* keys);

 private:
  const BoundRelation* Bind(const std::shared_ptr<const RelationSchema>& schema);

  const Catalog& catalog_;
  absl::flat_hash_map<const RelationSchema*, std::unique_ptr<BoundRelation>> bound_;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_ROW_KEYS_H_
