// A store whose writes fail from a moment on, and take again later: what a full disk does.
#ifndef TIDEMARK_TESTS_UNIT_SERVER_INGEST_FAILING_STORE_H_
#define TIDEMARK_TESTS_UNIT_SERVER_INGEST_FAILING_STORE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "storage/state/state_store.h"

namespace tidemark::ingest {

// Passes everything on, but for what fails.
class FailingWriter final : public state::StateWriter {
 public:
  explicit FailingWriter(state::StateWriter& real) : real_(real) {}

  // Commit fails, and everything after it, until Mend.
  void Break() { broken_ = true; }
  void Mend() { broken_ = failed_ = false; }

  std::vector<state::TableRecord> Tables() const override { return real_.Tables(); }
  const state::TableRecord* FindTable(state::TableId table) const override {
    return real_.FindTable(table);
  }
  absl::StatusOr<state::TableId> CreateTable(std::string_view definition) override {
    return real_.CreateTable(definition);
  }
  absl::Status SetDefinition(state::TableId table, std::string_view definition) override {
    return real_.SetDefinition(table, definition);
  }
  absl::Status FinishLoading(state::TableId table) override { return real_.FinishLoading(table); }
  absl::Status StartIncarnation() override { return real_.StartIncarnation(); }
  absl::Status BeginSnapshot() override { return failed_ ? ReadOnly() : real_.BeginSnapshot(); }
  absl::StatusOr<std::optional<state::Version>> Current(state::TableId table,
                                                        std::string_view key) override {
    return real_.Current(table, key);
  }
  absl::Status Put(state::TableId table, std::string_view key, state::RowKind kind,
                   std::string_view meta, std::string_view row,
                   const state::PutOptions& options) override {
    return real_.Put(table, key, kind, meta, row, options);
  }
  absl::Status Truncate(state::TableId table, std::string_view truncation_sequence) override {
    return real_.Truncate(table, truncation_sequence);
  }
  absl::StatusOr<std::optional<std::string>> GetAux(state::AuxSpace space,
                                                    std::string_view key) override {
    return real_.GetAux(space, key);
  }
  absl::Status PutAux(state::AuxSpace space, std::string_view key, std::string_view value,
                      bool tombstone) override {
    return failed_ ? ReadOnly() : real_.PutAux(space, key, value, tombstone);
  }
  absl::Status DeleteAux(state::AuxSpace space, std::string_view key) override {
    return real_.DeleteAux(space, key);
  }
  absl::Status VisitAux(state::AuxSpace space, std::string_view prefix, std::string_view from,
                        bool reverse, const AuxVisitor& visit, std::string_view fence) override {
    return real_.VisitAux(space, prefix, from, reverse, visit, fence);
  }
  absl::Status VisitRows(state::TableId table, std::string_view from,
                         const RowVisitor& visit) override {
    return real_.VisitRows(table, from, visit);
  }
  absl::StatusOr<std::optional<state::SnapshotId>> EndSnapshot(
      const state::SnapshotOrigin& origin) override {
    if (!broken_) return real_.EndSnapshot(origin);
    // The batch that cannot be written: nothing of it must stay in the real store.
    return real_.AbandonSnapshot().ok() ? absl::StatusOr<std::optional<state::SnapshotId>>(
                                              std::optional<state::SnapshotId>())
                                        : ReadOnly();
  }
  absl::Status AbandonSnapshot() override { return real_.AbandonSnapshot(); }
  size_t staged_bytes() const override { return real_.staged_bytes(); }
  absl::Status Commit(const state::CommitInfo& info) override {
    if (!broken_) return real_.Commit(info);
    failed_ = true;
    return ReadOnly();
  }
  absl::Status Health() const override { return failed_ ? ReadOnly() : real_.Health(); }

 private:
  static absl::Status ReadOnly() {
    return MakeError(Reason::kStoreReadOnly, "No space left on device.");
  }

  state::StateWriter& real_;
  std::atomic<bool> broken_{false}, failed_{false};
};

class FailingStore final : public state::StateStore {
 public:
  explicit FailingStore(std::unique_ptr<state::StateStore> real)
      : real_(std::move(real)), writer_(real_->writer()) {}
  state::StateReader& reader() override { return real_->reader(); }
  state::StateWriter& writer() override { return writer_; }
  FailingWriter& failing() { return writer_; }

 private:
  std::unique_ptr<state::StateStore> real_;
  FailingWriter writer_;
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_TESTS_UNIT_SERVER_INGEST_FAILING_STORE_H_
