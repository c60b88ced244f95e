#include "storage/tables/merging/row_draft.h"

#include <algorithm>
#include <utility>

#include "common/error.h"

namespace tidemark::tables {

using Presence = GroupState::Presence;

namespace {

// Counts are zero, not null, where nothing was counted.
bool IsCount(const TableDefinition& table, const std::string& column) {
  for (const GroupDefinition& group : table.groups) {
    for (const AggregateColumn& aggregate : group.aggregates) {
      if (aggregate.column == column) return aggregate.function == Aggregate::kCount;
    }
  }
  return false;
}

}  // namespace

absl::Status RowDraft::Load(const Table& table, std::string key, bool known_new) {
  table_ = &table;
  key_ = std::move(key);
  known_new_ = known_new;
  stored_.reset();
  entries_.clear();
  const size_t groups = table.definition.groups.size();
  was_present_.assign(groups, false);
  changes_.assign(table.definition.columns.size(), {});
  if (scratch_.size() < changes_.size()) scratch_.resize(changes_.size());
  if (!known_new) {
    TIDEMARK_ASSIGN_OR_RETURN(stored_, writer_.Current(table.id, key_));
  }
  if (!stored_) {
    groups_.assign(groups, GroupState());
    return absl::OkStatus();
  }
  TIDEMARK_ASSIGN_OR_RETURN(groups_, DecodeMeta(stored_->meta, groups));
  for (size_t i = 0; i < groups; ++i) was_present_[i] = groups_[i].presence == Presence::kPresent;
  return absl::OkStatus();
}

absl::Status RowDraft::SplitStored() {
  if (!entries_.empty() || !stored_ || stored_->row.empty()) return absl::OkStatus();
  TIDEMARK_RETURN_IF_ERROR(SplitRow(stored_->row, &entries_));
  if (entries_.size() == table_->definition.columns.size()) return absl::OkStatus();
  return MakeError(Reason::kDataDamaged,
                   "A stored row has another number of columns than its "
                   "table.");
}

absl::StatusOr<std::optional<std::string_view>> RowDraft::StoredValue(size_t column) {
  TIDEMARK_RETURN_IF_ERROR(SplitStored());
  if (entries_.empty()) return std::optional<std::string_view>();
  return std::optional<std::string_view>(entries_[column].value);
}

state::RowKind RowDraft::NewKind(bool* remember) const {
  *remember = false;
  if (groups_[table_->definition.anchor()].presence == Presence::kPresent) {
    return state::RowKind::kPresent;
  }
  for (const GroupState& group : groups_) {
    if (group.presence == Presence::kPresent) return state::RowKind::kHidden;
    if (group.presence == Presence::kDeleted && !group.forgettable) *remember = true;
  }
  return state::RowKind::kTombstone;
}

absl::Status RowDraft::BuildRow(std::string* row) {
  const TableDefinition& table = table_->definition;
  const bool whole = std::all_of(changes_.begin(), changes_.end(),
                                 [](const ColumnChange& change) { return change.is_set(); });
  if (!whole) TIDEMARK_RETURN_IF_ERROR(SplitStored());
  std::vector<Datum> key;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i].name;
    if (changes_[i].datum != nullptr) {
      AppendEntry(name, *changes_[i].datum, *row);
    } else if (changes_[i].is_set()) {
      AppendEncodedEntry(name, changes_[i].value, *row);
    } else if (!entries_.empty()) {
      row->append(entries_[i].bytes);
    } else {
      // The first version of an assembled row: its key, zero for counts, null for the rest.
      const auto in_key = std::find(table.key.begin(), table.key.end(), name);
      if (in_key == table.key.end()) {
        AppendEntry(name, IsCount(table, name) ? Datum::Int(0) : Datum::Null(), *row);
        continue;
      }
      if (key.empty()) {
        TIDEMARK_ASSIGN_OR_RETURN(key, DecodeKeyColumns(table, key_));
      }
      AppendEntry(name, key[static_cast<size_t>(in_key - table.key.begin())], *row);
    }
  }
  return CheckRowSize(table, row->size());
}

absl::Status RowDraft::Save(bool unless_same_row) {
  state::PutOptions options;
  options.known_new = known_new_;
  const state::RowKind kind = NewKind(&options.remember);
  row_.clear();
  if (kind != state::RowKind::kTombstone) TIDEMARK_RETURN_IF_ERROR(BuildRow(&row_));
  const std::string meta = EncodeMeta(groups_);
  if (stored_ && stored_->kind == kind && stored_->row == row_ &&
      (unless_same_row || stored_->meta == meta)) {
    return absl::OkStatus();
  }
  // Nothing is known of the key, and nothing would be.
  if (!stored_ && kind == state::RowKind::kTombstone && !options.remember) return absl::OkStatus();
  return writer_.Put(table_->id, key_, kind, meta, row_, options);
}

}  // namespace tidemark::tables
