// S6: the power goes at every single operation of the file system in turn. After each of them every
// acknowledged commit is there, and what was not acknowledged is there as a whole or not at all.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "gmock/gmock.h"
#include "storage/state/state_store.h"
#include "tests/support/fault_env.h"
#include "tests/support/status_matchers.h"

namespace tidemark::state {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using testing::FaultEnv;
using testing::IsOk;
using testing::ReasonIs;

constexpr int kRows = 12;

class StateCrash : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<LevelDbStore>> Open(FaultEnv& env) {
    StateOptions options;
    options.dir = "/state";
    options.block_cache_bytes = 1 << 20;
    options.row_cache_bytes = 1 << 20;
    options.max_batch_bytes = 2000;  // a snapshot of all rows is written in chunks
    options.clock = &clock_;
    options.stamp_encoder = [](const SnapshotInfo&, std::string_view, bool) { return "stamp"; };
    options.host = "host";
    options.env = &env;
    return OpenLevelDbStore(options);
  }

  // Every row gets `value`, with the position in the same snapshot.
  static absl::Status WriteAll(StateWriter& writer, int value) {
    TIDEMARK_RETURN_IF_ERROR(writer.BeginSnapshot());
    for (int i = 0; i < kRows; ++i) {
      TIDEMARK_RETURN_IF_ERROR(writer.Put(1, absl::StrCat("k", i), RowKind::kPresent, "m",
                                          absl::StrCat(value, "/", std::string(90, 'x'))));
    }
    TIDEMARK_RETURN_IF_ERROR(
        writer.PutAux(AuxSpace::kSourceState, "position", absl::StrCat(value)));
    TIDEMARK_RETURN_IF_ERROR(writer.EndSnapshot({}).status());
    return writer.Commit({});
  }

  static absl::Status CreateTable(StateWriter& writer) {
    TIDEMARK_RETURN_IF_ERROR(writer.CreateTable("t").status());
    TIDEMARK_RETURN_IF_ERROR(writer.BeginSnapshot());
    TIDEMARK_RETURN_IF_ERROR(writer.FinishLoading(1));
    TIDEMARK_RETURN_IF_ERROR(writer.EndSnapshot({}).status());
    return writer.Commit({});
  }

  // The value all rows and the position have, -1 when there is none yet. Expects one value.
  static int ValueOf(LevelDbStore& store) {
    if (store.writer().FindTable(1) == nullptr) return -1;
    const PublicationPtr now = store.reader().Latest();
    std::string value;
    const auto cursor = store.reader().Scan(LatestPoint(now), 1, {});
    EXPECT_THAT(cursor, IsOk());
    int rows = 0;
    for (; (*cursor)->Valid(); (*cursor)->Next(), ++rows) {
      const std::string bytes((*cursor)->row().bytes());
      const std::string now_value = bytes.substr(0, bytes.find('/'));
      if (rows > 0) {
        EXPECT_EQ(now_value, value) << "half a transaction";
      }
      value = now_value;
    }
    EXPECT_THAT((*cursor)->status(), IsOk());
    const auto position = store.writer().GetAux(AuxSpace::kSourceState, "position");
    EXPECT_THAT(position, IsOk());
    EXPECT_EQ(position->value_or(""), value) << "rows and position do not agree";
    EXPECT_THAT(rows, AnyOf(0, kRows));
    return rows == 0 ? -1 : std::stoi(value);
  }

  ManualClock clock_{absl::FromUnixSeconds(1764540000)};
};

TEST_F(StateCrash, S6_PowerLostAtEveryOperationLosesNothingAcknowledgedAndHalvesNothing) {
  int64_t crash_at = 0;
  bool crashed = true;
  int undone = 0;
  // Ends with the first history that runs to its end before the power would go.
  for (; crashed; ++crash_at) {
    SCOPED_TRACE(absl::StrCat("power goes at operation ", crash_at));
    FaultEnv env;
    crashed = false;
    env.OnOperation([&](int64_t operation) {
      if (operation != crash_at) return;
      crashed = true;
      env.PowerOff();
    });
    int acknowledged = -1, tried = -1;
    if (absl::StatusOr<std::unique_ptr<LevelDbStore>> store = Open(env); store.ok()) {
      absl::Status status = CreateTable((*store)->writer());
      while (status.ok() && tried < 4) {
        status = WriteAll((*store)->writer(), ++tried);
        if (status.ok()) acknowledged = tried;
      }
      if (!status.ok()) {
        EXPECT_THAT(status, ReasonIs(Reason::kStoreReadOnly));
      }
    }
    std::mt19937_64 random(crash_at);
    env.Restart(crash_at % 2 == 0 ? nullptr : &random);
    absl::StatusOr<std::unique_ptr<LevelDbStore>> store = Open(env);
    ASSERT_THAT(store, IsOk());
    undone += (*store)->Counters().undone > 0;
    EXPECT_THAT(ValueOf(**store), AnyOf(acknowledged, tried));
    // It goes on from there.
    if ((*store)->writer().FindTable(1) == nullptr) {
      ASSERT_THAT(CreateTable((*store)->writer()), IsOk());
    }
    if (!(*store)->writer().FindTable(1)->loading) {
      EXPECT_THAT(WriteAll((*store)->writer(), 77), IsOk());
      EXPECT_EQ(ValueOf(**store), 77);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(crash_at, 50);
  EXPECT_GT(undone, 0) << "no crash met an open transaction";
}

TEST_F(StateCrash, S6_PowerLostAgainWhileRecoveringChangesNothing) {
  // A transaction is left open with several chunks on disk; then the power goes at every operation
  // of the recovery in turn, once more and once more.
  FaultEnv env;
  {
    absl::StatusOr<std::unique_ptr<LevelDbStore>> store = Open(env);
    ASSERT_THAT(store, IsOk());
    ASSERT_THAT(CreateTable((*store)->writer()), IsOk());
    ASSERT_THAT(WriteAll((*store)->writer(), 1), IsOk());
    ASSERT_THAT((*store)->writer().BeginSnapshot(), IsOk());
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < kRows; ++i) {
        ASSERT_THAT((*store)->writer().Put(1, absl::StrCat("k", i), RowKind::kPresent, "m",
                                           absl::StrCat("half", round, std::string(100, 'x'))),
                    IsOk());
      }
    }
    ASSERT_GT((*store)->Counters().chunks, 3u);
    env.PowerOff();
  }
  bool crashed = true;
  int crashes = -1;
  for (int crash_after = 0; crashed; ++crash_after, ++crashes) {
    SCOPED_TRACE(absl::StrCat("crash after ", crash_after, " operations"));
    env.Restart();
    crashed = false;
    const int64_t at = env.operations() + crash_after;
    env.OnOperation([&](int64_t operation) {
      if (operation != at) return;
      crashed = true;
      env.PowerOff();
    });
    absl::StatusOr<std::unique_ptr<LevelDbStore>> store = Open(env);
    if (!crashed) {
      ASSERT_THAT(store, IsOk());
      EXPECT_EQ(ValueOf(**store), 1);
      EXPECT_EQ((*store)->reader().Latest()->id(), 3);
    }
  }
  EXPECT_GT(crashes, 10);
}

TEST_F(StateCrash, ADiskThatFillsUpAtAnyMomentLosesNothingAcknowledged) {
  bool failed = true;
  for (int64_t fail_at = 0; failed; ++fail_at) {
    SCOPED_TRACE(absl::StrCat("no space from operation ", fail_at));
    FaultEnv env;
    env.FailAfter(fail_at);
    failed = false;
    int acknowledged = -1, tried = -1;
    absl::StatusOr<std::unique_ptr<LevelDbStore>> store = Open(env);
    if (store.ok()) {
      absl::Status status = CreateTable((*store)->writer());
      while (status.ok() && tried < 4) {
        status = WriteAll((*store)->writer(), ++tried);
        if (status.ok()) acknowledged = tried;
      }
      failed = !status.ok();
      if (failed) {
        EXPECT_THAT(status, ReasonIs(Reason::kStoreReadOnly));
        // What is published can still be read, whole.
        const PublicationPtr now = (*store)->reader().Latest();
        if (now->id() >= 2) {
          const auto cursor = (*store)->reader().Scan(LatestPoint(now), 1, {});
          ASSERT_THAT(cursor, IsOk());
          int rows = 0;
          for (; (*cursor)->Valid(); (*cursor)->Next()) {
            EXPECT_EQ(std::string((*cursor)->row().bytes()).substr(0, 2),
                      absl::StrCat(acknowledged, "/"));
            ++rows;
          }
          EXPECT_EQ(rows, acknowledged < 0 ? 0 : kRows);
        }
      }
    } else {
      failed = true;
    }
    if (store.ok()) store->reset();
    env.FailAfter(-1);  // there is space again
    store = Open(env);
    ASSERT_THAT(store, IsOk());
    EXPECT_THAT(ValueOf(**store), AnyOf(acknowledged, tried));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tidemark::state
