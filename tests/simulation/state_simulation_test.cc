// Random histories of the state store with faults, compared with the reference model after every
// step: batches, large transactions in chunks, abandoned ones, truncates, copies, compaction,
// restarts, crashes that lose what was not synced, failing writes, readers of old publications.
//
// TIDEMARK_SEED=n replays one history; TIDEMARK_SEEDS=n runs n of them. The seed is printed with
// every failure.
#include <cstdlib>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "gmock/gmock.h"
#include "storage/state/memory/memory_state_store.h"
#include "tests/simulation/layout_check.h"
#include "tests/simulation/state_compare.h"
#include "tests/simulation/state_workload.h"
#include "tests/support/fault_env.h"
#include "tests/support/status_matchers.h"

namespace tidemark::state {
namespace {

using testing::FaultEnv;
using ::testing::IsEmpty;
using testing::IsOk;

constexpr char kDir[] = "/state";

// How often each thing that matters happened in the whole campaign. One that never did means the
// campaign proves less than it says.
std::map<std::string, uint64_t>& Happened() {
  static auto* const happened =
      new std::map<std::string, uint64_t>{{"commit", 0},
                                          {"batch made while one is written", 0},
                                          {"chunk written", 0},
                                          {"chunk undone while running", 0},
                                          {"compaction", 0},
                                          {"clean restart", 0},
                                          {"crash", 0},
                                          {"write failure", 0},
                                          {"row cache hit", 0},
                                          {"old publication read", 0},
                                          {"open transaction found", 0},
                                          {"unacknowledged work lost", 0},
                                          {"unacknowledged work kept", 0},
                                          {"part of it kept", 0}};
  return *happened;
}

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : work_(seed) {
    static constexpr size_t kBatchBytes[] = {250, 700, 3000, 8 << 20};
    static constexpr size_t kCacheBytes[] = {0, 64 * 2500, 1 << 20};
    max_batch_bytes_ = kBatchBytes[work_.Below(std::size(kBatchBytes))];
    row_cache_bytes_ = kCacheBytes[work_.Below(std::size(kCacheBytes))];
    Open();
  }

  void Run() {
    const uint64_t steps = 10 + work_.Below(25);
    for (uint64_t step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE(absl::StrCat("step ", step));
      const uint64_t what = work_.Below(20);
      if (what < 13) {
        Batch();
      } else if (what < 15) {
        Crash();
      } else if (what < 16) {
        FailWrite();
      } else if (what < 17) {
        Restart();
      } else if (what < 18) {
        ++Happened()["compaction"];
        store_->Compact();
      } else {
        ReadOld();
      }
      Compare();
    }
    if (!::testing::Test::HasFailure()) Restart();
  }

 private:
  void Open() {
    StateOptions options;
    options.dir = kDir;
    options.block_cache_bytes = 1 << 20;
    options.row_cache_bytes = row_cache_bytes_;
    options.max_batch_bytes = max_batch_bytes_;
    options.clock = &clock_;
    options.stamp_encoder = [](const SnapshotInfo&, std::string_view, bool) { return "stamp"; };
    options.host = "simulated";
    options.env = &env_;
    absl::StatusOr<std::unique_ptr<LevelDbStore>> store = OpenLevelDbStore(options);
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }

  void Close() {
    old_.clear();
    const StateCounters counters = store_->Counters();
    Happened()["chunk written"] += counters.chunks;
    Happened()["chunk undone while running"] += counters.undone;
    Happened()["row cache hit"] += counters.gets_from_row_cache;
    store_.reset();
  }

  // Batches of pieces, each made while the one before may still be on its way to the disk.
  void Batch() {
    for (uint64_t batches = 1 + work_.Below(3); batches > 0; --batches) {
      for (uint64_t n = 1 + work_.Below(4); n > 0; --n) {
        const Piece piece = work_.NextPiece(model_->writer().Tables());
        const absl::StatusOr<PieceOutcome> outcome = WritePiece(piece, store_->writer());
        ASSERT_THAT(outcome, IsOk());
        const absl::StatusOr<PieceOutcome> expected = WritePiece(piece, model_->writer());
        ASSERT_THAT(expected, IsOk());
        ASSERT_EQ(outcome->id, expected->id);
        ASSERT_EQ(outcome->seen, expected->seen);
      }
      clock_.Advance(absl::Milliseconds(work_.Below(2000)));
      ++Happened()["commit"];
      if (batches > 1) ++Happened()["batch made while one is written"];
      const CommitInfo info = work_.NextCommitInfo(model_->writer().Tables());
      ASSERT_THAT(store_->writer().StartCommit(info), IsOk());
      ASSERT_THAT(model_->writer().StartCommit(info), IsOk());
    }
    ASSERT_THAT(store_->writer().FinishCommit(), IsOk());
    KeepOld();
  }

  void CommitBoth() {
    ++Happened()["commit"];
    const CommitInfo info = work_.NextCommitInfo(model_->writer().Tables());
    ASSERT_THAT(store_->writer().Commit(info), IsOk());
    ASSERT_THAT(model_->writer().Commit(info), IsOk());
    KeepOld();
  }

  void KeepOld() {
    if (work_.OneIn(3)) old_.push_back({store_->reader().Latest(), model_->reader().Latest()});
    if (old_.size() > 3) old_.pop_front();
  }

  // Between the engine ("one") and the model ("other").
  std::optional<std::string> Difference() {
    auto difference = CompareReaders(store_->reader(), store_->reader().Latest(), model_->reader(),
                                     model_->reader().Latest(), work_.keys(), /*newest=*/true);
    if (difference.has_value()) return difference;
    return CompareWriters(store_->writer(), model_->writer(), work_.keys());
  }

  void Compare() {
    if (::testing::Test::HasFailure()) return;
    ASSERT_EQ(Difference().value_or(""), "");
  }

  void ReadOld() {
    for (const auto& [ours, models] : old_) {
      ++Happened()["old publication read"];
      const auto difference = CompareReaders(store_->reader(), ours, model_->reader(), models,
                                             work_.keys(), /*newest=*/false);
      ASSERT_EQ(difference.value_or(""), "") << "through an old publication";
    }
  }

  void Restart() {
    ++Happened()["clean restart"];
    Close();
    ASSERT_THAT(CheckLayout(env_, kDir), IsEmpty());
    Open();
    Renew();
  }

  // Marks are not part of what is compared after a restart until they are committed again.
  void Renew() {
    if (store_ != nullptr) CommitBoth();
  }

  // Writes pieces in two batches, the second while the first is on its way, until something fails;
  // returns those that were ended.
  std::vector<Piece> WriteUntilItFails() {
    acknowledged_ = 0;
    StateWriter& writer = store_->writer();
    std::vector<Piece> ended;
    std::optional<size_t> on_its_way;  // pieces, once the first batch is
    const auto settle = [&](const absl::Status& status) {
      if (status.ok()) {
        acknowledged_ = on_its_way.value_or(0);
      } else {
        EXPECT_THAT(status, testing::ReasonIs(Reason::kStoreReadOnly));
      }
      return status.ok();
    };
    for (int batch = 0; batch < 2; ++batch) {
      if (!WritePieces(&ended)) {
        if (on_its_way) settle(writer.FinishCommit());
        return ended;
      }
      // Waits for the batch before.
      if (!settle(writer.StartCommit(work_.NextCommitInfo(writer.Tables())))) return ended;
      on_its_way = ended.size();
    }
    settle(writer.FinishCommit());
    return ended;
  }

  // Appends the pieces that were ended; false when one failed.
  bool WritePieces(std::vector<Piece>* ended) {
    const std::vector<TableRecord> tables = store_->writer().Tables();
    for (int i = 0; i < 4; ++i) {
      const Piece piece = work_.NextPiece(tables);
      if (piece.kind == Piece::kCreateTable) continue;
      const bool finishes = std::any_of(piece.ops.begin(), piece.ops.end(),
                                        [](const Op& op) { return op.kind == Op::kFinishLoading; });
      if (finishes) continue;  // a table is finished once; these pieces may be written again
      const absl::StatusOr<PieceOutcome> outcome = WritePiece(piece, store_->writer());
      if (!outcome.ok()) {
        EXPECT_THAT(outcome, testing::ReasonIs(Reason::kStoreReadOnly));
        // What was put outside of a snapshot is part of the batch, whatever came after it.
        if (piece.kind == Piece::kOutside) ended->push_back(piece);
        return false;
      }
      if (piece.kind != Piece::kAbandoned) ended->push_back(piece);
    }
    return true;
  }

  // Finds out how much of the batches survived and brings the model there.
  void CatchUp(const std::vector<Piece>& ended) {
    // Marks renewed without a write are not on disk: both get the same ones.
    const CommitInfo marks = work_.NextCommitInfo(model_->writer().Tables());
    ASSERT_THAT(store_->writer().Commit(marks), IsOk());
    ASSERT_THAT(model_->writer().Commit(marks), IsOk());
    size_t kept = 0;
    while (true) {
      const auto difference = Difference();
      if (!difference.has_value() && kept >= acknowledged_) break;
      ASSERT_LT(kept, ended.size())
          << "what is there is not the state after any part of what was written: "
          << difference.value_or("");
      ASSERT_THAT(WritePiece(ended[kept++], model_->writer()), IsOk());
      ASSERT_THAT(model_->writer().Commit(marks), IsOk());
    }
    if (ended.size() > acknowledged_) {
      ++Happened()[kept == acknowledged_  ? "unacknowledged work lost"
                   : kept == ended.size() ? "unacknowledged work kept"
                                          : "part of it kept"];
    }
  }

  void Crash() {
    ++Happened()["crash"];
    const int64_t at = env_.operations() + static_cast<int64_t>(work_.Below(12));
    env_.OnOperation([this, at](int64_t operation) {
      if (operation >= at) env_.PowerOff();
    });
    const std::vector<Piece> ended = WriteUntilItFails();
    env_.PowerOff();
    Close();
    env_.Restart(work_.OneIn(2) ? &work_.random() : nullptr);
    AfterFailure(ended);
  }

  void FailWrite() {
    ++Happened()["write failure"];
    env_.FailAfter(static_cast<int64_t>(work_.Below(8)));
    const std::vector<Piece> ended = WriteUntilItFails();
    if (acknowledged_ == 0) {
      const auto difference =
          CompareReaders(store_->reader(), store_->reader().Latest(), model_->reader(),
                         model_->reader().Latest(), work_.keys(), /*newest=*/true);
      // Ended snapshots may have been published before a large one that failed.
      if (max_batch_bytes_ > 3000) {
        ASSERT_EQ(difference.value_or(""), "");
      }
    }
    Close();
    env_.FailAfter(-1);
    AfterFailure(ended);
  }

  void AfterFailure(const std::vector<Piece>& ended) {
    Open();
    if (::testing::Test::HasFatalFailure()) return;
    if (store_->Counters().undone > 0) ++Happened()["open transaction found"];
    CatchUp(ended);
    if (::testing::Test::HasFatalFailure()) return;
    Renew();
    Close();
    ASSERT_THAT(CheckLayout(env_, kDir), IsEmpty());
    Open();
    Renew();
  }

  Workload work_;
  size_t max_batch_bytes_ = 0;
  size_t row_cache_bytes_ = 0;
  ManualClock clock_{absl::FromUnixSeconds(1764540000)};
  FaultEnv env_;
  std::unique_ptr<LevelDbStore> store_;
  std::unique_ptr<StateStore> model_ = CreateMemoryStore({.clock = &clock_});
  std::deque<std::pair<PublicationPtr, PublicationPtr>> old_;
  size_t acknowledged_ = 0;  // of the pieces that a fault was injected into
};

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

TEST(StateSimulation, EveryHistoryAgreesWithTheModelAtEveryStep) {
  const uint64_t only = FromEnvironment("TIDEMARK_SEED", 0);
  const uint64_t first = only > 0 ? only : 1;
  const uint64_t count = only > 0 ? 1 : FromEnvironment("TIDEMARK_SEEDS", 150);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(absl::StrCat("replay with TIDEMARK_SEED=", seed));
    Simulation(seed).Run();
    if (HasFailure()) return;
  }
  std::string table;
  for (const auto& [what, times] : Happened()) {
    absl::StrAppend(&table, "  ", times, " x ", what, "\n");
    if (only == 0 && count >= 100) {
      EXPECT_GT(times, 0u) << what << " never happened";
    }
  }
  RecordProperty("happened", table);
  std::cout << table;
}

}  // namespace
}  // namespace tidemark::state
