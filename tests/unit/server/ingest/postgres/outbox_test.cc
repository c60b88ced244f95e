#include "server/ingest/postgres/outbox.h"

#include <vector>

#include "common/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ingest/assembler.h"
#include "tests/support/status_matchers.h"

namespace tidemark::ingest {
namespace {

using testing::IsOk;
using testing::ReasonIs;

// Keeps what is queued until the test settles it.
class HoldingApplier final : public Applier {
 public:
  absl::Status Start() override { return absl::OkStatus(); }
  void Stop() override {}
  absl::Status Queue(Work work) override {
    if (!refusal.ok()) return refusal;
    works.push_back(std::move(work));
    return absl::OkStatus();
  }
  void RestartSource(std::string_view source) override { restarted.emplace_back(source); }
  absl::StatusOr<DurableState> ReadState(std::string_view) override { return DurableState(); }
  void SetMarkProvider(MarkProvider) override {}
  ApplierCounters Counters() const override { return {}; }

  absl::Status refusal;
  std::vector<Work> works;
  std::vector<std::string> restarted;
};

class OutboxTest : public ::testing::Test {
 protected:
  void Settle(size_t index, const absl::Status& status) { applier_.works[index].done(status); }

  HoldingApplier applier_;
  std::shared_ptr<WakeFd> wake_ = std::make_shared<WakeFd>();
};

Work OneEvent() {
  Work work;
  std::vector<tables::RowEvent> events(1);
  work.events = MakeEventList(std::move(events));
  return work;
}

TEST_F(OutboxTest, StopsTakingAtItsBoundAndWakesWhenThereIsRoom) {
  Outbox outbox("erp", applier_, wake_, {.max_bytes = 1 << 20, .max_works = 2});
  EXPECT_TRUE(outbox.HasRoom());
  ASSERT_THAT(outbox.Send(Work()), IsOk());
  ASSERT_THAT(outbox.Send(Work()), IsOk());
  EXPECT_EQ(applier_.works[0].source, "erp");
  EXPECT_FALSE(outbox.HasRoom());
  EXPECT_FALSE(wake_->is_set());
  Settle(0, absl::OkStatus());
  EXPECT_TRUE(wake_->is_set());
  EXPECT_TRUE(outbox.HasRoom());
  EXPECT_EQ(outbox.pending(), 1u);
}

TEST_F(OutboxTest, CountsBytes) {
  Outbox outbox("erp", applier_, wake_, {.max_bytes = 1, .max_works = 100});
  ASSERT_THAT(outbox.Send(OneEvent()), IsOk());
  EXPECT_FALSE(outbox.HasRoom());
  Settle(0, absl::OkStatus());
  EXPECT_TRUE(outbox.HasRoom());
}

TEST_F(OutboxTest, TellsWhenNothingIsPendingAnyMore) {
  Outbox outbox("erp", applier_, wake_);
  ASSERT_THAT(outbox.Send(Work()), IsOk());
  ASSERT_THAT(outbox.Send(Work()), IsOk());
  Settle(0, absl::OkStatus());
  EXPECT_FALSE(wake_->is_set());
  Settle(1, absl::OkStatus());
  EXPECT_TRUE(wake_->is_set());
}

TEST_F(OutboxTest, RemembersTheFirstFailureAndTakesNothingBehindIt) {
  Outbox outbox("erp", applier_, wake_);
  int applied = 0;
  ASSERT_THAT(outbox.Send(Work(), [&] { ++applied; }), IsOk());
  ASSERT_THAT(outbox.Send(Work(), [&] { ++applied; }), IsOk());
  Settle(0, MakeError(Reason::kValueTooLarge, "first"));
  Settle(1, MakeError(Reason::kFieldInvalid, "second"));
  EXPECT_EQ(applied, 0);
  EXPECT_TRUE(wake_->is_set());
  EXPECT_THAT(outbox.failure(), ReasonIs(Reason::kValueTooLarge));
  EXPECT_THAT(outbox.Send(Work()), ReasonIs(Reason::kValueTooLarge));
  EXPECT_EQ(applier_.works.size(), 2u);
  outbox.Restart();
  EXPECT_THAT(applier_.restarted, ::testing::ElementsAre("erp"));
  EXPECT_THAT(outbox.Send(Work(), [&] { ++applied; }), IsOk());
  Settle(2, absl::OkStatus());
  EXPECT_EQ(applied, 1);
}

TEST_F(OutboxTest, AWorkTheApplierRefusesIsAFailure) {
  Outbox outbox("erp", applier_, wake_);
  applier_.refusal = MakeError(Reason::kShuttingDown, "stop");
  EXPECT_THAT(outbox.Send(Work()), ReasonIs(Reason::kShuttingDown));
  EXPECT_EQ(outbox.pending(), 0u);
  EXPECT_THAT(outbox.failure(), ReasonIs(Reason::kShuttingDown));
}

TEST_F(OutboxTest, WorksMaySettleWhenItIsGone) {
  auto outbox = std::make_unique<Outbox>("erp", applier_, wake_);
  ASSERT_THAT(outbox->Send(Work()), IsOk());
  outbox.reset();
  Settle(0, absl::OkStatus());
}

TEST(WakeFdTest, IsSetUntilCleared) {
  WakeFd wake;
  EXPECT_FALSE(wake.is_set());
  wake.Set();
  wake.Set();
  EXPECT_TRUE(wake.is_set());
  wake.Clear();
  EXPECT_FALSE(wake.is_set());
  wake.Set();
  EXPECT_TRUE(wake.is_set());
}

}  // namespace
}  // namespace tidemark::ingest
