// A random workload of the state store: pieces that can be written to any StateWriter, and what was
// seen while writing them.
#ifndef TIDEMARK_TESTS_SIMULATION_STATE_WORKLOAD_H_
#define TIDEMARK_TESTS_SIMULATION_STATE_WORKLOAD_H_

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/state/state_writer.h"

namespace tidemark::state {

struct Op {
  enum Kind { kPut, kTruncate, kFinishLoading, kPutAux, kDeleteAux, kLookAround };
  Kind kind = kPut;
  TableId table = 0;
  std::string key;
  RowKind row_kind = RowKind::kPresent;
  std::string meta;   // kTruncate: the sequence
  std::string value;  // the row, or the auxiliary value
  bool remember = false;
  bool tombstone = false;
  AuxSpace space = AuxSpace::kSourceState;
};

// What stays or goes as a whole.
struct Piece {
  enum Kind { kSnapshot, kAbandoned, kCreateTable, kOutside };
  Kind kind = kSnapshot;
  std::vector<Op> ops;
  SnapshotOrigin origin;
};

// What writing a piece returned and showed: equal on equal stores.
struct PieceOutcome {
  std::optional<SnapshotId> id;
  std::vector<std::string> seen;
  bool operator==(const PieceOutcome&) const = default;
};

// Stops at the first error; the piece is then not ended.
absl::StatusOr<PieceOutcome> WritePiece(const Piece& piece, StateWriter& writer);

// Makes pieces that fit the tables there are.
class Workload {
 public:
  explicit Workload(uint64_t seed);

  std::mt19937_64& random() { return random_; }
  uint64_t Below(uint64_t n) { return random_() % n; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

  // `tables`: of the store now. `position` rises from piece to piece.
  Piece NextPiece(const std::vector<TableRecord>& tables);
  CommitInfo NextCommitInfo(const std::vector<TableRecord>& tables);
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  Op NextOp(const std::vector<TableRecord>& tables);
  Op NextAuxOp();
  std::string Value();

  std::mt19937_64 random_;
  std::vector<std::string> keys_;
  uint64_t value_bytes_ = 0;  // rows have up to so many
  uint64_t position_ = 100000;
  std::string positions_[2];
};

inline constexpr AuxSpace kAuxSpaces[] = {AuxSpace::kSourceState, AuxSpace::kContribution,
                                          AuxSpace::kOrderedContribution, AuxSpace::kWindow,
                                          AuxSpace::kDeadLetter};
inline constexpr std::string_view kSources[] = {"crm", "erp"};

}  // namespace tidemark::state

#endif  // TIDEMARK_TESTS_SIMULATION_STATE_WORKLOAD_H_
