// A StateWriter that counts what is asked of the one behind it.
#ifndef TIDEMARK_TESTS_SUPPORT_COUNTING_WRITER_H_
#define TIDEMARK_TESTS_SUPPORT_COUNTING_WRITER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/state/state_writer.h"

namespace tidemark::tables {

class CountingWriter final : public state::StateWriter {
 public:
  explicit CountingWriter(state::StateWriter& writer) : writer_(writer) {}

  void Reset() { gets_ = puts_ = deletes_ = seeks_ = seen_ = 0; }
  // Point reads, writes, deletes, seeks, and entries that seeks were shown.
  std::string Text() const {
    return "gets=" + std::to_string(gets_) + " puts=" + std::to_string(puts_) +
           " deletes=" + std::to_string(deletes_) + " seeks=" + std::to_string(seeks_) +
           " seen=" + std::to_string(seen_);
  }

  std::vector<state::TableRecord> Tables() const override { return writer_.Tables(); }
  const state::TableRecord* FindTable(state::TableId table) const override {
    return writer_.FindTable(table);
  }
  absl::StatusOr<state::TableId> CreateTable(std::string_view definition) override {
    return writer_.CreateTable(definition);
  }
  absl::Status SetDefinition(state::TableId table, std::string_view definition) override {
    return writer_.SetDefinition(table, definition);
  }
  absl::Status FinishLoading(state::TableId table) override { return writer_.FinishLoading(table); }
  absl::Status StartIncarnation() override { return writer_.StartIncarnation(); }
  absl::Status BeginSnapshot() override { return writer_.BeginSnapshot(); }
  absl::StatusOr<std::optional<state::Version>> Current(state::TableId table,
                                                        std::string_view key) override {
    ++gets_;
    return writer_.Current(table, key);
  }
  absl::Status Put(state::TableId table, std::string_view key, state::RowKind kind,
                   std::string_view meta, std::string_view row,
                   const state::PutOptions& options) override {
    ++puts_;
    return writer_.Put(table, key, kind, meta, row, options);
  }
  absl::Status Truncate(state::TableId table, std::string_view sequence) override {
    return writer_.Truncate(table, sequence);
  }
  absl::StatusOr<std::optional<std::string>> GetAux(state::AuxSpace space,
                                                    std::string_view key) override {
    ++gets_;
    return writer_.GetAux(space, key);
  }
  absl::Status PutAux(state::AuxSpace space, std::string_view key, std::string_view value,
                      bool tombstone) override {
    ++puts_;
    return writer_.PutAux(space, key, value, tombstone);
  }
  absl::Status DeleteAux(state::AuxSpace space, std::string_view key) override {
    ++deletes_;
    return writer_.DeleteAux(space, key);
  }
  absl::Status VisitAux(state::AuxSpace space, std::string_view prefix, std::string_view from,
                        bool reverse, const AuxVisitor& visit, std::string_view fence) override {
    ++seeks_;
    const auto count = [&](std::string_view key, std::string_view value) {
      ++seen_;
      return visit(key, value);
    };
    return writer_.VisitAux(space, prefix, from, reverse, count, fence);
  }
  absl::Status VisitRows(state::TableId table, std::string_view from,
                         const RowVisitor& visit) override {
    ++seeks_;
    return writer_.VisitRows(table, from, visit);
  }
  absl::StatusOr<std::optional<state::SnapshotId>> EndSnapshot(
      const state::SnapshotOrigin& origin) override {
    return writer_.EndSnapshot(origin);
  }
  absl::Status AbandonSnapshot() override { return writer_.AbandonSnapshot(); }
  size_t staged_bytes() const override { return writer_.staged_bytes(); }
  absl::Status Commit(const state::CommitInfo& info) override { return writer_.Commit(info); }
  absl::Status Health() const override { return writer_.Health(); }

 private:
  state::StateWriter& writer_;
  size_t gets_ = 0, puts_ = 0, deletes_ = 0, seeks_ = 0, seen_ = 0;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_TESTS_SUPPORT_COUNTING_WRITER_H_
