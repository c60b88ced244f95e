// Merging, obviously: every relation's rows in a map, every table computed anew from them. Shares
// nothing with storage/tables/merging; of the tables room it uses definitions, values and the
// encoding of rows and keys.
#ifndef TIDEMARK_TESTS_CONFORMANCE_MERGING_MODEL_H_
#define TIDEMARK_TESTS_CONFORMANCE_MERGING_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "storage/tables/row_event.h"
#include "storage/tables/table_definition.h"
#include "tests/support/merge_world.h"

namespace tidemark::tables {

class MergingModel {
 public:
  explicit MergingModel(std::vector<TableDefinition> tables);

  // Applies an event of a relation. `generation` as in EventOrigin.
  void Apply(const RowEvent& event, uint64_t generation);
  // The end of a copy.
  void Sweep(const std::string& relation, uint64_t generation);

  // What readers see: per table, row bytes by key.
  using Tables = std::map<std::string, std::map<std::string, std::string>>;
  Tables Compute() const;

 private:
  using Order = std::pair<uint64_t, std::string>;  // generation, sequence
  struct BaseRow {
    bool deleted = false;
    Order order;
    std::vector<Datum> values;
  };
  struct Base {
    SchemaPtr schema;
    std::map<std::string, BaseRow> rows;  // by what identifies them
    Order truncation;
  };

  void Upsert(Base& base, const std::string& key, Order order, const std::vector<Datum>& after,
              const std::vector<Datum>& earlier);
  void Delete(Base& base, const std::string& key, Order order);
  std::map<std::string, std::string> ComputeTable(const TableDefinition& table) const;
  Datum ComputeAggregate(const TableDefinition& table, const GroupDefinition& group,
                         const AggregateColumn& aggregate,
                         const std::vector<std::pair<std::string, const BaseRow*>>& rows) const;

  std::vector<TableDefinition> tables_;
  std::map<std::string, Base> bases_;  // by relation
  // Rows of relations that feed a group with on_delete: ignore, as they last were.
  std::map<std::string, Base> undeleted_;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_TESTS_CONFORMANCE_MERGING_MODEL_H_
