// The truth: what SQL says at one position of the ERP, and what Tidemark answers for that position.
#ifndef TIDEMARK_EXAMPLES_CREDIT_DESK_TRUTH_H_
#define TIDEMARK_EXAMPLES_CREDIT_DESK_TRUTH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tidemark/v1/state_service.grpc.pb.h"

namespace tidemark::examples {

// One table's rows: key column as text -> the other columns as text, in the order of the query.
using TableRows = std::map<std::string, std::vector<std::string>>;

struct Truth {
  std::string lsn;  // everything committed before it, nothing at or after it
  TableRows customers;
  TableRows orders;
};

// Names of the compared columns, in the order of TableRows' values.
const std::vector<std::string>& CustomerColumns();
const std::vector<std::string>& OrderColumns();

// Reads the ERP at the consistent point of a temporary replication slot, while others write.
absl::StatusOr<Truth> ReadTruth(const std::string& dsn);

struct Answer {
  TableRows rows;
  uint64_t snapshot_id = 0;
  std::string token;
};
// All rows of `table` at `position` of source erp, page by page at one snapshot.
absl::StatusOr<Answer> ReadTable(v1::StateService::Stub& stub, const std::string& table,
                                 const std::string& key, const std::vector<std::string>& columns,
                                 const v1::Consistency& consistency);

// One line per difference, at most `limit` of them; returns how many there are.
uint64_t CompareRows(const std::string& table, const std::vector<std::string>& columns,
                     const TableRows& truth, const TableRows& answer, size_t limit,
                     std::vector<std::string>* lines);

}  // namespace tidemark::examples

#endif  // TIDEMARK_EXAMPLES_CREDIT_DESK_TRUTH_H_
