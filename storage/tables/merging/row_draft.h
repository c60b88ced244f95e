// One row of a table being changed: the newest stored version, new values for some columns, new
// states for some groups. Columns nobody sets are copied as bytes, not decoded.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_ROW_DRAFT_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_ROW_DRAFT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "storage/state/state_writer.h"
#include "storage/tables/catalog.h"
#include "storage/tables/row_codec.h"

namespace tidemark::tables {

// Used within one event, then dropped or loaded again. Not thread-safe.
class RowDraft {
 public:
  explicit RowDraft(state::StateWriter& writer) : writer_(writer) {}

  // The newest version of the key. With `known_new` nothing is looked up: the caller knows there is
  // none.
  absl::Status Load(const Table& table, std::string key, bool known_new = false);

  const std::string& key() const { return key_; }
  GroupState& group(size_t index) { return groups_[index]; }
  const GroupState& group(size_t index) const { return groups_[index]; }

  // Whether the group was present in the version that was loaded.
  bool WasPresent(size_t index) const { return was_present_[index]; }
  // Wire bytes of the stored Value of a column; nullopt when no row is stored (or only a
  // tombstone). Valid until the next Load.
  absl::StatusOr<std::optional<std::string_view>> StoredValue(size_t column);

  // A place for a value that had to be made for this column; valid until the next Load.
  Datum* Scratch(size_t column) { return &scratch_[column]; }
  // `value` outlives the draft's next Save.
  void Set(size_t column, const Datum& value) { changes_[column] = {&value, {}}; }
  // Wire bytes of a Value, kept as they are.
  void SetBytes(size_t column, std::string_view value) { changes_[column] = {nullptr, value}; }

  // Writes the row: present, hidden or gone by what is known of its groups. A row that has neither
  // bytes nor sequences to remember is forgotten. Writes nothing when nothing changes; with
  // `unless_same_row` also when only group states would. VALUE_TOO_LARGE.
  absl::Status Save(bool unless_same_row = false);

 private:
  struct ColumnChange {
    const Datum* datum = nullptr;
    std::string_view value;
    bool is_set() const { return datum != nullptr || value.data() != nullptr; }
  };

  absl::Status SplitStored();
  absl::Status AppendDefaults();
  state::RowKind NewKind(bool* remember) const;
  absl::Status BuildRow(std::string* row);

  state::StateWriter& writer_;
  const Table* table_ = nullptr;
  std::string key_;
  bool known_new_ = false;
  std::optional<state::Version> stored_;
  std::vector<GroupState> groups_;
  std::vector<bool> was_present_;
  std::vector<ColumnChange> changes_;
  std::vector<Datum> scratch_;
  std::vector<RowEntry> entries_;  // of stored_->row, once split
  std::string row_;                // kept for its capacity
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_ROW_DRAFT_H_
