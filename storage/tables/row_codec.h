// Rows, keys and group states as bytes: between the API's Values, data and what is stored.
#ifndef TIDEMARK_STORAGE_TABLES_ROW_CODEC_H_
#define TIDEMARK_STORAGE_TABLES_ROW_CODEC_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/tables/datum.h"
#include "storage/tables/table_definition.h"

namespace tidemark::v1 {
class Row;
class Value;
}  // namespace tidemark::v1

namespace tidemark::tables {

// Wire bytes of a Row: one map entry per column of the table, in definition order, nulls included.
// VALUE_TOO_LARGE over limits::kMaxRowBytes.
absl::StatusOr<std::string> EncodeRow(const TableDefinition& table, const std::vector<Datum>& row);
// One datum per column in definition order. DATA_DAMAGED for bytes EncodeRow does not write.
absl::StatusOr<std::vector<Datum>> DecodeRow(const TableDefinition& table, std::string_view wire);

// One map entry of an encoded row; all three point into the row's bytes.
struct RowEntry {
  std::string_view name;
  std::string_view value;  // wire bytes of the Value
  std::string_view bytes;  // the whole entry, tag and length included
};
// The entries in order. DATA_DAMAGED for bytes that are not entries one after the other.
absl::Status SplitRow(std::string_view wire, std::vector<RowEntry>* entries);
// Appends the entry of one column; kUnchanged is not encodable (checked).
void AppendEntry(std::string_view name, const Datum& value, std::string& out);
// The same from the wire bytes of a Value.
void AppendEncodedEntry(std::string_view name, std::string_view value, std::string& out);
// VALUE_TOO_LARGE when a row of `bytes` is over limits::kMaxRowBytes.
absl::Status CheckRowSize(const TableDefinition& table, size_t bytes);

// Appends to `out` the wire bytes of a Row that holds only `columns` (indexes in definition order,
// rising) of `wire`: entries are copied, values are not decoded.
absl::Status SelectColumns(std::string_view wire, const std::vector<int>& columns,
                           std::string* out);

// The encoded key of a row. KEY_MALFORMED naming the column: too few or many values, wrong type
// (an int is taken for a decimal column), null, too large. With `prefix`, fewer values are allowed.
absl::StatusOr<std::string> EncodeKey(const TableDefinition& table,
                                      const std::vector<const v1::Value*>& values, bool prefix);
absl::StatusOr<std::string> EncodeKey(const TableDefinition& table, const std::vector<Datum>& key);
// The key's values, as the API shows them. DATA_DAMAGED when it is not a key of this table.
absl::StatusOr<std::vector<Datum>> DecodeKeyColumns(const TableDefinition& table,
                                                    std::string_view key);

// What is known about one group of a row; the `meta` of a stored version is one per group.
struct GroupState {
  // Numbers are on disk: never renumber.
  enum class Presence : uint8_t { kAbsent = 0, kPresent = 1, kDeleted = 2 };
  Presence presence = Presence::kAbsent;
  // A deleted group whose sequence need not outlive the row: nothing late can come.
  bool forgettable = false;
  // Of the event that last changed the group.
  uint64_t generation = 0;
  std::string sequence;
  std::string position;
  absl::Time event_time = absl::InfinitePast();  // stored to the microsecond
  // What an aggregate group knows besides its columns (merging/totals.h); empty for others.
  std::string totals;
  bool operator==(const GroupState&) const = default;
};
std::string EncodeMeta(const std::vector<GroupState>& groups);
// DATA_DAMAGED for other bytes or another number of groups.
absl::StatusOr<std::vector<GroupState>> DecodeMeta(std::string_view meta, size_t groups);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_ROW_CODEC_H_
