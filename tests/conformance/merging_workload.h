// Random histories of a small business: what its database goes through, and the events a change
// stream makes of it.
#ifndef TIDEMARK_TESTS_CONFORMANCE_MERGING_WORKLOAD_H_
#define TIDEMARK_TESTS_CONFORMANCE_MERGING_WORKLOAD_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "storage/tables/row_event.h"
#include "tests/support/merge_world.h"

namespace tidemark::tables {

// Tables over the relations below: a last_row table, and two assembled ones with columns groups of
// every on_delete and aggregates of every kind.
extern const char kBusinessTables[];

class MergingWorkload {
 public:
  explicit MergingWorkload(uint64_t seed);

  // The relations' rows now, by their key.
  struct RelationState {
    SchemaPtr schema;
    std::map<std::vector<int64_t>, std::vector<Datum>> rows;
  };

  // One source transaction: 1 to 6 changes of any relations, truncates now and then.
  std::vector<RowEvent> Transaction();
  // Every row of a relation, as a copy sends it.
  std::vector<RowEvent> Copy(const std::string& relation);
  const std::vector<std::string>& relations() const { return names_; }
  uint64_t Pick(uint64_t bound) { return random_() % bound; }
  bool Chance(int percent) { return static_cast<int>(Pick(100)) < percent; }

 private:
  RowEvent Change(const std::string& name, RelationState& relation);
  std::vector<Datum> NewRow(const std::string& name, const std::vector<int64_t>& key);
  std::vector<int64_t> NewKey(const std::string& name);
  Datum NewValue(const RelationColumn& column);
  std::vector<Datum> OldImage(const RelationState& relation, const std::vector<Datum>& row);

  std::mt19937_64 random_;
  uint64_t sequence_ = 0;
  std::vector<std::string> names_;
  std::map<std::string, RelationState> relations_;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_TESTS_CONFORMANCE_MERGING_WORKLOAD_H_
