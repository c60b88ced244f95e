#include "tests/simulation/state_workload.h"

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"

namespace tidemark::state {
namespace {

std::string Describe(std::string_view key, const std::optional<Version>& version) {
  if (!version.has_value()) return absl::StrCat(ToAbsl(key), ": unknown");
  return absl::StrCat(ToAbsl(key), ": ", static_cast<int>(version->kind), " ", version->meta, " ",
                      version->row);
}

absl::Status LookAround(const Op& op, StateWriter& writer, std::vector<std::string>* seen) {
  for (const bool reverse : {false, true}) {
    TIDEMARK_RETURN_IF_ERROR(writer.VisitAux(
        op.space, op.key, op.value, reverse, [&](std::string_view key, std::string_view value) {
          seen->push_back(absl::StrCat(ToAbsl(key), "=", ToAbsl(value)));
          return seen->size() % 7 != 0;
        }));
  }
  return writer.VisitRows(op.table, op.value, [&](std::string_view key, const Version& version) {
    seen->push_back(Describe(key, version));
    return seen->size() % 5 != 0;
  });
}

absl::Status WriteOp(const Op& op, StateWriter& writer, std::vector<std::string>* seen) {
  switch (op.kind) {
    case Op::kPut: {
      TIDEMARK_ASSIGN_OR_RETURN(const std::optional<Version> before,
                                writer.Current(op.table, op.key));
      seen->push_back(Describe(op.key, before));
      TIDEMARK_RETURN_IF_ERROR(writer.Put(op.table, op.key, op.row_kind, op.meta, op.value,
                                          PutOptions{.remember = op.remember}));
      TIDEMARK_ASSIGN_OR_RETURN(const std::optional<Version> after,
                                writer.Current(op.table, op.key));
      seen->push_back(Describe(op.key, after));
      return absl::OkStatus();
    }
    case Op::kTruncate:
      return writer.Truncate(op.table, op.meta);
    case Op::kFinishLoading:
      return writer.FinishLoading(op.table);
    case Op::kPutAux:
      return writer.PutAux(op.space, op.key, op.value, op.tombstone);
    case Op::kDeleteAux:
      return writer.DeleteAux(op.space, op.key);
    case Op::kLookAround:
      return LookAround(op, writer, seen);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PieceOutcome> WritePiece(const Piece& piece, StateWriter& writer) {
  PieceOutcome outcome;
  if (piece.kind == Piece::kCreateTable) {
    TIDEMARK_ASSIGN_OR_RETURN(const TableId id, writer.CreateTable(piece.origin.position));
    outcome.seen.push_back(absl::StrCat("table ", id));
    return outcome;
  }
  const bool in_snapshot = piece.kind != Piece::kOutside;
  if (in_snapshot) TIDEMARK_RETURN_IF_ERROR(writer.BeginSnapshot());
  for (const Op& op : piece.ops) {
    TIDEMARK_RETURN_IF_ERROR(WriteOp(op, writer, &outcome.seen));
  }
  if (piece.kind == Piece::kAbandoned) {
    TIDEMARK_RETURN_IF_ERROR(writer.AbandonSnapshot());
  } else if (in_snapshot) {
    TIDEMARK_ASSIGN_OR_RETURN(outcome.id, writer.EndSnapshot(piece.origin));
  }
  return outcome;
}

Workload::Workload(uint64_t seed) : random_(seed) {
  static constexpr std::string_view kAlphabet[] = {"a", "b", "aa", "ab", "a\xff", "", "c"};
  const uint64_t count = 1 + Below(std::size(kAlphabet));
  for (uint64_t i = 0; i < count; ++i) keys_.push_back(std::string(kAlphabet[i]));
  value_bytes_ = OneIn(2) ? 1 : 120;
}

// Few different values, so that changes often cancel out.
std::string Workload::Value() {
  return std::string(1 + Below(value_bytes_), static_cast<char>('x' + Below(2)));
}

Op Workload::NextAuxOp() {
  Op op;
  op.space = kAuxSpaces[Below(std::size(kAuxSpaces))];
  op.key = keys_[Below(keys_.size())];
  op.kind = OneIn(3) ? Op::kDeleteAux : Op::kPutAux;
  op.value = OneIn(5) ? "" : Value();
  op.tombstone = op.space == AuxSpace::kContribution && OneIn(3);
  return op;
}

Op Workload::NextOp(const std::vector<TableRecord>& tables) {
  if (tables.empty() || OneIn(6)) return NextAuxOp();
  Op op;
  op.table = tables[Below(tables.size())].id;
  op.key = keys_[Below(keys_.size())];
  if (OneIn(25)) {
    op.kind = Op::kTruncate;
    op.meta = absl::StrCat("t", ++position_);
  } else if (OneIn(12)) {
    op.kind = Op::kLookAround;
    op.space = kAuxSpaces[Below(std::size(kAuxSpaces))];
    op.key = OneIn(2) ? "" : "a";
    if (OneIn(2)) op.value = op.key + keys_[Below(keys_.size())];
  } else {
    const uint64_t kind = Below(10);
    op.row_kind = kind < 6 ? RowKind::kPresent : kind < 8 ? RowKind::kTombstone : RowKind::kHidden;
    op.meta = absl::StrCat("m", Below(3));
    op.value = op.row_kind == RowKind::kTombstone ? "" : Value();
    op.remember = OneIn(2);
  }
  return op;
}

Piece Workload::NextPiece(const std::vector<TableRecord>& tables) {
  Piece piece;
  if (tables.size() < 3 && OneIn(tables.empty() ? 2 : 20)) {
    piece.kind = Piece::kCreateTable;
    piece.origin.position = absl::StrCat("definition ", ++position_);
    return piece;
  }
  if (OneIn(10)) {
    piece.kind = Piece::kOutside;
    piece.ops.push_back(NextAuxOp());
    return piece;
  }
  piece.kind = OneIn(6) ? Piece::kAbandoned : Piece::kSnapshot;
  const uint64_t source = Below(3);
  if (source < 2) {
    piece.origin.source = std::string(kSources[source]);
    piece.origin.position = absl::StrCat(++position_);
    piece.origin.event_time = absl::FromUnixSeconds(static_cast<int64_t>(position_));
    if (piece.kind == Piece::kSnapshot) positions_[source] = piece.origin.position;
  }
  const uint64_t ops = OneIn(8) ? Below(40) : Below(7);
  bool finished = false;
  for (uint64_t i = 0; i < ops; ++i) {
    piece.ops.push_back(NextOp(tables));
    for (const TableRecord& table : tables) {
      if (!table.loading || finished || !OneIn(15)) continue;
      Op finish;
      finish.kind = Op::kFinishLoading;
      finish.table = table.id;
      piece.ops.push_back(finish);
      finished = true;  // at most one, and once, in a piece
    }
  }
  return piece;
}

CommitInfo Workload::NextCommitInfo(const std::vector<TableRecord>& tables) {
  CommitInfo info;
  for (size_t i = 0; i < std::size(kSources); ++i) {
    info.sources.push_back({std::string(kSources[i]), positions_[i],
                            absl::FromUnixSeconds(static_cast<int64_t>(++position_))});
  }
  for (const TableRecord& table : tables) {
    if (OneIn(4)) info.degraded.push_back(table.id);
  }
  return info;
}

}  // namespace tidemark::state
