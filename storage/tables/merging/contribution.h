// What one source row put into an aggregate group (key space K), and what is kept once per group.
// Byte by byte in docs/storage_format_rows.md.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_CONTRIBUTION_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_CONTRIBUTION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/state/types.h"
#include "storage/tables/datum.h"

namespace tidemark::tables {

// Where an event stands among those of its row: a higher generation wins before any sequence.
struct EventOrder {
  uint64_t generation = 0;
  std::string sequence;
  bool operator==(const EventOrder&) const = default;
};
// <0, 0, >0.
int CompareOrder(const EventOrder& a, const EventOrder& b);
// Bytes that compare alike.
std::string EncodeOrder(const EventOrder& order);

struct Contribution {
  bool deleted = false;  // the row is gone; only its order is remembered
  bool counted = false;  // it is in the group `group_key`: the key is whole, `where` holds
  EventOrder order;
  std::string group_key;     // encoded key of the table row; empty when a key column is null
  std::vector<Datum> image;  // one per column of the layout; empty when deleted
  bool operator==(const Contribution&) const = default;
};
std::string EncodeContribution(const Contribution& contribution);
// DATA_DAMAGED for other bytes or another number of columns.
absl::StatusOr<Contribution> DecodeContribution(std::string_view bytes, size_t columns);
// Whether encoded bytes are those of a row that is gone; says nothing about the rest of them.
bool IsDeletedContribution(std::string_view bytes);

// Kept under the group's K prefix itself.
struct GroupHeader {
  std::string bindings;           // BoundGroup::bindings rows are stored under; empty: none yet
  std::string truncation;         // EncodeOrder of the last truncate: what is below it loses
  std::vector<Kind> order_types;  // per ordering of the layout; kNull where no column orders
};
std::string EncodeGroupHeader(const GroupHeader& header);
absl::StatusOr<GroupHeader> DecodeGroupHeader(std::string_view bytes);

// Table and group; source row keys follow.
std::string ContributionPrefix(state::TableId table, size_t group);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_CONTRIBUTION_H_
