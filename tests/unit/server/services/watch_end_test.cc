// How a watch ends, and that nothing is lost when it does.
#include <string>

#include "common/error.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/server/services/watch_fixture.h"

namespace tidemark::services {
namespace {

using testing::ReasonIs;
using testing::StatusIs;

TEST_F(WatchTest, AReaderThatTakesNothingIsSlowAndLosesNothing) {
  Watch slow("StateService", "WatchChanges");
  slow.Hold();
  Open(slow, Watching({"customers"}));
  slow.Take();  // the first checkpoint
  const state::SnapshotId written = PutCustomer("C-1", "Ann", 1);
  PutCustomer("C-1", "Ann", 2);
  slow.AwaitWritten(2);
  int ticks = 0;
  for (; !slow.done(); ++ticks) hub_.Tick();
  EXPECT_GT(ticks, 3);
  EXPECT_THAT(slow.status(), ReasonIs(Reason::kSlowConsumer));
  EXPECT_EQ(hub_.streams(), 0u);
  // What was handed over counts as delivered; the rest follows its token.
  EXPECT_EQ(MetadataValue(slow.status(), "resume_token"), world_.Token(written));
  v1::WatchChangesRequest request = Watching({"customers"});
  request.set_after(MetadataValue(slow.status(), "resume_token"));
  Watch again("StateService", "WatchChanges");
  Open(again, request);
  EXPECT_EQ(Greeting(again), written);
  EXPECT_EQ(again.Next()->changes(0).after().columns().at("limit").int_value(), 2);
}

TEST_F(WatchTest, AResumeTokenNeverPointsIntoAFragmentedSnapshot) {
  Watch slow("StateService", "WatchChanges");
  slow.Hold();
  Open(slow, Watching({"orders"}));
  slow.Take();
  const state::SnapshotId start = Head();
  world_.Commit([&](StateWorld::Txn& t) {
    for (int i = 0; i < 20; ++i) {
      t.Put("orders", Order("C-1", i, "1", std::string(1 << 19, 'x')));
    }
  });
  slow.Take();  // one fragment; the next one is handed over
  slow.AwaitWritten(3);
  while (!slow.done()) hub_.Tick();
  EXPECT_THAT(slow.status(), ReasonIs(Reason::kSlowConsumer));
  EXPECT_EQ(MetadataValue(slow.status(), "resume_token"), world_.Token(start));
}

TEST_F(WatchTest, DrainingEndsStreamsWithTheirResumeToken) {
  Watch idle("StateService", "WatchChanges"), held("StateService", "WatchChanges");
  held.Hold();
  Open(idle, Watching({"customers"}));
  Open(held, Watching({"customers"}));
  held.Take();
  const state::SnapshotId id = PutCustomer("C-1", "Ann", 1);
  Greeting(idle);
  EXPECT_EQ(idle.Next()->at().snapshot_id(), id);
  held.AwaitWritten(2);
  for (Watch* watch : {&idle, &held}) {
    watch->Stop(StopReason::kDraining);
    EXPECT_THAT(watch->status(), ReasonIs(Reason::kShuttingDown));
    EXPECT_EQ(MetadataValue(watch->status(), "resume_token"), world_.Token(id));
  }
  hub_.Stop();
  EXPECT_THAT(Refused(Watching({"customers"})), ReasonIs(Reason::kShuttingDown));
}

TEST_F(WatchTest, AWithdrawnTokenEndsTheStreamAndNothingFollows) {
  Watch watch("StateService", "WatchChanges");
  Open(watch, Watching({"customers"}));
  Greeting(watch);
  watch.Stop(StopReason::kWithdrawn);
  EXPECT_THAT(watch.status(), ReasonIs(Reason::kUnauthenticated));
  EXPECT_EQ(MetadataValue(watch.status(), "problem"), "withdrawn");
  EXPECT_EQ(hub_.streams(), 0u);
  PutCustomer("C-1", "Ann", 1);
  EXPECT_FALSE(watch.Next().has_value());
}

TEST_F(WatchTest, CancellingAndDeadlinesEndTheStream) {
  Watch gone("StateService", "WatchChanges"), late("StateService", "WatchChanges");
  Open(gone, Watching({"customers"}));
  Open(late, Watching({"customers"}));
  EXPECT_EQ(hub_.streams(), 2u);
  gone.Stop(StopReason::kCancelled);
  EXPECT_THAT(gone.status(), StatusIs(absl::StatusCode::kCancelled));
  late.Stop(StopReason::kDeadline);
  EXPECT_THAT(late.status(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(hub_.streams(), 0u);
}

// Few streams, and little patience with those that fall behind.
class ImpatientTest : public WatchTest {
 protected:
  static WatchOptions Impatient() {
    WatchOptions options = OnlyTold();
    options.max_streams = 2;
    options.max_behind = 5;
    options.stall_ticks = 1000000000;
    // Else the ticks of a test that waits could send a checkpoint ahead of the first change.
    options.checkpoint_ticks = 1000000000;
    return options;
  }
  ImpatientTest() : WatchTest(Impatient()) {}
};

TEST_F(ImpatientTest, AStreamThatFallsTooFarBehindTheHeadIsSlow) {
  Watch watch("StateService", "WatchChanges");
  Open(watch, Watching({"customers"}));
  const state::SnapshotId start = Greeting(watch);
  watch.Hold();
  for (int i = 1; i <= 7; ++i) PutCustomer("C-1", "Ann", i);
  while (!watch.done()) hub_.Tick();
  EXPECT_THAT(watch.status(), ReasonIs(Reason::kSlowConsumer));
  EXPECT_EQ(MetadataValue(watch.status(), "resume_token"), world_.Token(start + 1));
}

TEST_F(ImpatientTest, TooManyStreamsAreOverloaded) {
  Watch one("StateService", "WatchChanges"), two("StateService", "WatchChanges");
  Open(one, Watching({"customers"}));
  Open(two, Watching({"customers"}));
  const absl::Status status = Refused(Watching({"customers"}));
  EXPECT_THAT(status, ReasonIs(Reason::kOverloaded));
  EXPECT_TRUE(RetryAfterOf(status).has_value());
  one.Stop(StopReason::kCancelled);
  EXPECT_THAT(one.status(), StatusIs(absl::StatusCode::kCancelled));
  Watch three("StateService", "WatchChanges");
  Open(three, Watching({"customers"}));
  EXPECT_FALSE(three.done());
}

}  // namespace
}  // namespace tidemark::services
