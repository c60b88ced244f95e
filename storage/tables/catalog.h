// The tables of a store: definitions with their ids, found by name, id or relation. Immutable once
// built; read by the services and the applier alike.
#ifndef TIDEMARK_STORAGE_TABLES_CATALOG_H_
#define TIDEMARK_STORAGE_TABLES_CATALOG_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "storage/state/state_writer.h"
#include "storage/tables/table_definition.h"

namespace tidemark::tables {

struct Table {
  state::TableId id = 0;
  TableDefinition definition;
};

class Catalog {
 public:
  // Creates the tables the store does not have yet (loading, committed by the caller's next
  // Commit), and checks that the others have the definition they were created with:
  // FAILED_PRECONDITION naming the table, what differs and what to do; nothing
  // is then changed. A table of the store that is not defined any more keeps its rows, but cannot
  // be opened again, because it misses changes from now on.
  static absl::StatusOr<std::unique_ptr<Catalog>> Open(std::vector<TableDefinition> definitions,
                                                       state::StateWriter& writer);

  const Table* Find(std::string_view name) const;
  const Table* Find(state::TableId id) const;
  const std::vector<std::unique_ptr<Table>>& tables() const { return tables_; }
  // Groups fed by a relation: {table, index of the group}.
  struct Feed {
    const Table* table = nullptr;
    size_t group = 0;
  };
  const std::vector<Feed>& FeedsOf(const RelationRef& relation) const;
  // Every relation of `source` that feeds a table, sorted.
  std::vector<std::string> RelationsOf(std::string_view source) const;
  // Every source that feeds the table, sorted.
  std::vector<std::string> SourcesOf(const Table& table) const;

 private:
  Catalog() = default;
  void Add(state::TableId id, TableDefinition definition);

  std::vector<std::unique_ptr<Table>> tables_;
  absl::flat_hash_map<std::string, const Table*> by_name_;
  absl::flat_hash_map<state::TableId, const Table*> by_id_;
  absl::flat_hash_map<std::string, std::vector<Feed>> by_relation_;  // source \0 relation
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_CATALOG_H_
