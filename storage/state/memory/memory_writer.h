// Writing the reference model: a working copy of everything; a snapshot's changes are what differs
// between the copy at its begin and at its end.
#ifndef TIDEMARK_STORAGE_STATE_MEMORY_MEMORY_WRITER_H_
#define TIDEMARK_STORAGE_STATE_MEMORY_MEMORY_WRITER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "storage/state/memory/history.h"
#include "storage/state/memory/memory_reader.h"
#include "storage/state/state_writer.h"

namespace tidemark::state::memory {

class MemoryWriter final : public StateWriter {
 public:
  // Publishes snapshot 1. `reader` and `clock` outlive the writer.
  MemoryWriter(MemoryReader& reader, const Clock& clock);

  std::vector<TableRecord> Tables() const override;
  const TableRecord* FindTable(TableId table) const override;
  absl::StatusOr<TableId> CreateTable(std::string_view definition) override;
  absl::Status SetDefinition(TableId table, std::string_view definition) override;
  absl::Status FinishLoading(TableId table) override;
  absl::Status StartIncarnation() override;
  absl::Status BeginSnapshot() override;
  absl::StatusOr<std::optional<Version>> Current(TableId table, std::string_view key) override;
  absl::Status Put(TableId table, std::string_view key, RowKind kind, std::string_view meta,
                   std::string_view row, const PutOptions& options) override;
  absl::Status Truncate(TableId table, std::string_view truncation_sequence) override;
  absl::StatusOr<std::optional<std::string>> GetAux(AuxSpace space, std::string_view key) override;
  absl::Status PutAux(AuxSpace space, std::string_view key, std::string_view value,
                      bool tombstone) override;
  absl::Status DeleteAux(AuxSpace space, std::string_view key) override;
  absl::Status VisitAux(AuxSpace space, std::string_view prefix, std::string_view from,
                        bool reverse, const AuxVisitor& visit, std::string_view fence) override;
  absl::Status VisitRows(TableId table, std::string_view from, const RowVisitor& visit) override;
  absl::StatusOr<std::optional<SnapshotId>> EndSnapshot(const SnapshotOrigin& origin) override;
  absl::Status AbandonSnapshot() override;
  size_t staged_bytes() const override { return now_.staged_bytes; }
  absl::Status Commit(const CommitInfo& info) override;
  absl::Status Health() const override { return absl::OkStatus(); }

 private:
  using Aux = std::map<AuxSpace, std::map<std::string, std::string>>;
  struct State {
    memory::Tables tables;
    Aux aux;
    size_t staged_bytes = 0;
  };

  bool open() const { return begin_.has_value(); }
  SnapshotId last_id() const { return history_.size(); }
  SnapshotId next_id() const { return history_.size() + 1; }
  // The table for changing; nullptr when there is none.
  Table* Mutable(TableId table);
  const Table* Find(TableId table) const;
  // The key's version when the snapshot began, or just after its last truncate of the table.
  const Version* Base(TableId table, std::string_view key) const;
  // Rows are written without history: no reader can ask for what was before.
  bool IsInPlace(const Table& table) const;
  std::vector<Change> NetChanges() const;

  MemoryReader& reader_;
  const Clock& clock_;
  // Ended snapshots; those beyond the published one wait for Commit.
  History history_;
  SnapshotInfo live_;
  State now_;
  std::optional<State> begin_;
  // Tables of now_ that no snapshot shares.
  std::map<TableId, std::shared_ptr<Table>> own_;
  std::set<std::pair<TableId, std::string>> touched_;
  std::set<TableId> truncated_;
  std::set<TableId> finished_;
  bool new_incarnation_ = false;  // with the next Commit
  TableId next_table_ = 1;
};

}  // namespace tidemark::state::memory

#endif  // TIDEMARK_STORAGE_STATE_MEMORY_MEMORY_WRITER_H_
