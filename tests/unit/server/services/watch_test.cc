// WatchChanges: ordered, unique, whole snapshots, resumable, bookmarked.
#include <string>
#include <vector>

#include "common/error.h"
#include "common/limits.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/server/services/watch_fixture.h"

namespace tidemark::services {
namespace {

using testing::ReaderOf;
using testing::ReasonIs;

TEST_F(WatchTest, BeginsWithACheckpointWhereItStarts) {
  PutCustomer("C-1", "Ann", 1);
  Watch watch("StateService", "WatchChanges");
  Open(watch, Watching({"customers"}));
  const auto message = watch.Next();
  EXPECT_TRUE(message->checkpoint());
  EXPECT_FALSE(message->fragment());
  EXPECT_EQ(message->at().snapshot_id(), Head());
  EXPECT_EQ(message->at().token(), world_.Token(Head()));
  EXPECT_TRUE(message->at().has_commit_time());
}

TEST_F(WatchTest, TellsEveryKindOfChange) {
  Watch watch("StateService", "WatchChanges");
  v1::WatchChangesRequest request = Watching({"orders"});
  request.set_include_before(true);
  Open(watch, request);
  Greeting(watch);
  world_.Commit([&](StateWorld::Txn& t) { t.Put("orders", Order("C-1", 7, "1.50", "new")); });
  auto message = watch.Next();
  ASSERT_EQ(message->changes_size(), 1);
  EXPECT_EQ(message->changes(0).table(), "orders");
  ASSERT_EQ(message->changes(0).key_size(), 2);
  EXPECT_EQ(message->changes(0).key(0).string_value(), "C-1");
  EXPECT_EQ(message->changes(0).key(1).int_value(), 7);
  EXPECT_EQ(message->changes(0).op(), v1::OP_INSERT);
  EXPECT_FALSE(message->changes(0).has_before());
  EXPECT_EQ(message->changes(0).after().columns().at("total").decimal_value(), "1.50");
  EXPECT_EQ(message->at().snapshot_id(), Head());
  EXPECT_TRUE(message->checkpoint());

  world_.Commit([&](StateWorld::Txn& t) { t.Put("orders", Order("C-1", 7, "2.50", "new")); });
  message = watch.Next();
  EXPECT_EQ(message->changes(0).op(), v1::OP_UPDATE);
  EXPECT_EQ(message->changes(0).before().columns().at("total").decimal_value(), "1.50");
  EXPECT_EQ(message->changes(0).after().columns().at("total").decimal_value(), "2.50");

  world_.Commit([&](StateWorld::Txn& t) {
    t.Delete("orders", {Datum::String("C-1"), Datum::Int(7)});
  });
  message = watch.Next();
  EXPECT_EQ(message->changes(0).op(), v1::OP_DELETE);
  EXPECT_EQ(message->changes(0).before().columns().at("total").decimal_value(), "2.50");
  EXPECT_FALSE(message->changes(0).has_after());

  world_.Commit([&](StateWorld::Txn& t) { t.Put("orders", Order("C-1", 8, "1", "")); });
  watch.Next();
  world_.Commit([&](StateWorld::Txn& t) {
    t.Truncate("orders");
    t.Put("orders", Order("C-0", 1, "3", ""));
  });
  message = watch.Next();
  ASSERT_EQ(message->changes_size(), 2);
  EXPECT_EQ(message->changes(0).op(), v1::OP_TRUNCATE);
  EXPECT_EQ(message->changes(0).key_size(), 0);
  EXPECT_EQ(message->changes(1).op(), v1::OP_INSERT);
  EXPECT_EQ(message->changes(1).key(0).string_value(), "C-0");
}

TEST_F(WatchTest, BeforeImagesComeOnlyWhenAsked) {
  PutCustomer("C-1", "Ann", 1);
  Watch watch("StateService", "WatchChanges");
  Open(watch, Watching({"customers"}));
  Greeting(watch);
  PutCustomer("C-1", "Ann", 2);
  EXPECT_FALSE(watch.Next()->changes(0).has_before());
}

TEST_F(WatchTest, SnapshotsOfOneBatchComeOneByOneAndWhole) {
  Watch watch("StateService", "WatchChanges");
  Open(watch, Watching({"orders", "customers"}));
  const state::SnapshotId start = Greeting(watch);
  std::vector<StateWorld::Body> bodies;
  for (int i = 0; i < 5; ++i) {
    bodies.push_back([i](StateWorld::Txn& t) {
      t.Put("orders", Order("C-2", i, "1", ""));
      t.Put("orders", Order("C-1", i, "1", ""));
      t.Put("customers", Customer("C-1", "Ann", i));
    });
  }
  world_.CommitBatch(bodies);
  for (int i = 1; i <= 5; ++i) {
    const auto message = watch.Next();
    EXPECT_EQ(message->at().snapshot_id(), start + i);
    EXPECT_EQ(message->at().token(), world_.Token(start + i));
    ASSERT_EQ(message->changes_size(), 3);
    EXPECT_EQ(message->changes(0).table(), "customers");  // order of tables, then keys
    EXPECT_EQ(message->changes(1).key(0).string_value(), "C-1");
    EXPECT_EQ(message->changes(2).key(0).string_value(), "C-2");
    EXPECT_TRUE(message->checkpoint());
  }
}

TEST_F(WatchTest, KeyPrefixFiltersAndTheBookmarkAdvancesAllTheSame) {
  v1::WatchChangesRequest request = Watching({"orders"});
  *request.mutable_tables(0)->add_key_prefix() = Text("C-1");
  Watch watch("StateService", "WatchChanges");
  Open(watch, request);
  Greeting(watch);
  world_.Commit([&](StateWorld::Txn& t) {
    t.Put("orders", Order("C-1", 1, "1", ""));
    t.Put("orders", Order("C-10", 1, "1", ""));
  });
  const auto message = watch.Next();
  ASSERT_EQ(message->changes_size(), 1);
  EXPECT_EQ(message->changes(0).key(0).string_value(), "C-1");
  for (int i = 0; i < 10; ++i) {
    world_.Commit([&](StateWorld::Txn& t) { t.Put("orders", Order("C-2", i, "1", "")); });
  }
  PutCustomer("C-1", "Ann", 1);  // of a table that is not watched
  hub_.Tick();
  hub_.Tick();
  // Wherever the pump was at the tick, checkpoints reach the head.
  state::SnapshotId bookmark = 0;
  while (bookmark < Head()) {
    const auto checkpoint = watch.Next();
    EXPECT_EQ(checkpoint->changes_size(), 0);
    EXPECT_TRUE(checkpoint->checkpoint());
    EXPECT_GE(checkpoint->at().snapshot_id(), bookmark);
    bookmark = checkpoint->at().snapshot_id();
    hub_.Tick();
    hub_.Tick();
  }
  // A truncate takes the watched rows with it, so it passes every filter.
  world_.Commit([&](StateWorld::Txn& t) { t.Truncate("orders"); });
  auto truncate = watch.Next();
  while (truncate->changes().empty()) truncate = watch.Next();
  EXPECT_EQ(truncate->changes(0).op(), v1::OP_TRUNCATE);
}

TEST_F(WatchTest, IdleStreamsGetCheckpoints) {
  Watch watch("StateService", "WatchChanges");
  Open(watch, Watching({"customers"}));
  Greeting(watch);
  hub_.Tick();
  EXPECT_EQ(watch.written(), 1u);
  hub_.Tick();
  const auto message = watch.Next();
  EXPECT_TRUE(message->checkpoint());
  EXPECT_EQ(message->at().snapshot_id(), Head());
}

TEST_F(WatchTest, ResumesAfterAnyTokenWithoutGapOrRepeat) {
  const state::SnapshotId first = PutCustomer("C-1", "Ann", 1);
  for (int i = 2; i <= 20; ++i) PutCustomer("C-1", "Ann", i);
  for (state::SnapshotId after = first; after <= Head(); ++after) {
    v1::WatchChangesRequest request = Watching({"customers"});
    request.set_after(world_.Token(after));
    Watch watch("StateService", "WatchChanges");
    Open(watch, request);
    EXPECT_EQ(Greeting(watch), after);
    for (state::SnapshotId id = after + 1; id <= Head(); ++id) {
      const auto message = watch.Next();
      ASSERT_EQ(message->at().snapshot_id(), id);
      ASSERT_EQ(message->changes_size(), 1);
      EXPECT_EQ(message->changes(0).after().columns().at("limit").int_value(),
                static_cast<int64_t>(id - first + 1));
    }
  }
}

TEST_F(WatchTest, EarliestBeginsWhereTheTablesDo) {
  const state::SnapshotId loaded = Head();
  PutCustomer("C-1", "Ann", 1);
  v1::WatchChangesRequest request = Watching({"customers"});
  request.mutable_earliest();
  Watch watch("StateService", "WatchChanges");
  Open(watch, request);
  EXPECT_EQ(Greeting(watch), loaded);
  EXPECT_EQ(watch.Next()->at().snapshot_id(), loaded + 1);
}

TEST_F(WatchTest, ATooOldStartIsExpiredWithTheWayBack) {
  v1::WatchChangesRequest request = Watching({"customers"});
  request.set_after(world_.Token(1));
  const absl::Status status = Refused(request);
  EXPECT_THAT(status, ReasonIs(Reason::kSnapshotExpired));
  EXPECT_EQ(MetadataValue(status, "oldest_token"), world_.Token(2));
}

TEST_F(WatchTest, BadTokensAreTypedErrors) {
  v1::WatchChangesRequest request = Watching({"customers"});
  request.set_after("nonsense");
  EXPECT_THAT(Refused(request), ReasonIs(Reason::kTokenMalformed));
  EXPECT_EQ(MetadataValue(Refused(request), "field"), "after");
  request.set_after("");
  EXPECT_THAT(Refused(request), ReasonIs(Reason::kTokenMalformed));
  request.set_after(state::EncodeToken({.incarnation = {9}, .snapshot = 1}));
  EXPECT_THAT(Refused(request), ReasonIs(Reason::kStoreMismatch));
  request.set_after(world_.Token(1000));
  EXPECT_THAT(Refused(request), ReasonIs(Reason::kSnapshotInFuture));
}

TEST_F(WatchTest, BadRequestsAreRefusedByField) {
  EXPECT_EQ(MetadataValue(Refused({}), "field"), "tables");
  EXPECT_EQ(MetadataValue(Refused(Watching(std::vector<std::string>(33, "orders"))), "field"),
            "tables");
  EXPECT_EQ(MetadataValue(Refused(Watching({"orders", "customers", "orders"})), "field"),
            "tables[2].table");
  v1::WatchChangesRequest lookups = Watching({"orders"});
  lookups.mutable_tables(0)->add_lookups()->set_table("customers");
  EXPECT_EQ(MetadataValue(Refused(lookups), "field"), "tables[0].lookups");
  v1::WatchChangesRequest prefix = Watching({"orders"});
  *prefix.mutable_tables(0)->add_key_prefix() = Int(1);
  EXPECT_THAT(Refused(prefix), ReasonIs(Reason::kKeyMalformed));
  EXPECT_EQ(MetadataValue(Refused(prefix), "field"), "tables[0].key_prefix");
  EXPECT_THAT(Refused(Watching({"nothing"})), ReasonIs(Reason::kTableNotFound));
  EXPECT_THAT(Refused(Watching({"secrets"})), ReasonIs(Reason::kTableForbidden));
  EXPECT_THAT(Refused(Watching({"customers"}), ReaderOf("other")),
              ReasonIs(Reason::kTableForbidden));
}

TEST_F(WatchTest, StampsSayWhatWasDegradedAtEachSnapshot) {
  Watch watch("StateService", "WatchChanges");
  Open(watch, Watching({"customers"}));
  Greeting(watch);
  world_.SetDegraded({"customers"});
  PutCustomer("C-1", "Ann", 1);
  world_.SetDegraded({"orders"});
  PutCustomer("C-1", "Ann", 2);
  EXPECT_TRUE(watch.Next()->at().degraded());
  EXPECT_FALSE(watch.Next()->at().degraded());
}

TEST_F(WatchTest, ALargeSnapshotComesInFragmentsAllButTheLastMarked) {
  Watch live("StateService", "WatchChanges");
  Open(live, Watching({"orders"}));
  const state::SnapshotId start = Greeting(live);
  world_.Commit([&](StateWorld::Txn& t) {
    for (int i = 0; i < 20; ++i) {
      t.Put("orders", Order("C-1", i, "1", std::string(1 << 19, 'x')));
    }
  });
  world_.Commit([&](StateWorld::Txn& t) { t.Put("orders", Order("C-2", 1, "1", "")); });
  v1::WatchChangesRequest request = Watching({"orders"});
  request.set_after(world_.Token(start));
  Watch late("StateService", "WatchChanges");
  Open(late, request);
  Greeting(late);
  for (Watch* watch : {&live, &late}) {
    int rows = 0, fragments = 0;
    for (bool last = false; !last;) {
      const auto message = watch->Next();
      EXPECT_EQ(message->at().snapshot_id(), start + 1);
      EXPECT_LE(message->ByteSizeLong(), limits::kMaxMessageBytes);
      for (const v1::Change& change : message->changes()) {
        EXPECT_EQ(change.key(1).int_value(), rows++);
      }
      last = !message->fragment();
      EXPECT_EQ(message->checkpoint(), last);
      fragments += message->fragment();
    }
    EXPECT_EQ(rows, 20);
    EXPECT_GE(fragments, 3);
    EXPECT_EQ(watch->Next()->at().snapshot_id(), start + 2);
  }
}

TEST_F(WatchTest, TwoImagesOfTheLargestRowFitInOneMessage) {
  const size_t room = limits::kMaxRowBytes - 200;
  world_.Commit(
      [&](StateWorld::Txn& t) { t.Put("orders", Order("C-1", 1, "1", std::string(room, 'x'))); });
  Watch watch("StateService", "WatchChanges");
  v1::WatchChangesRequest request = Watching({"orders"});
  request.set_include_before(true);
  Open(watch, request);
  Greeting(watch);
  world_.Commit(
      [&](StateWorld::Txn& t) { t.Put("orders", Order("C-1", 1, "2", std::string(room, 'y'))); });
  const auto message = watch.Next();
  ASSERT_EQ(message->changes_size(), 1);
  EXPECT_EQ(message->changes(0).before().columns().at("note").string_value()[0], 'x');
  EXPECT_LE(message->ByteSizeLong(), limits::kMaxMessageBytes);
}

class LoadingWatchTest : public ServiceTest {};

TEST_F(LoadingWatchTest, TablesInTheirFirstCopyAreLoading) {
  world_.Load({"customers"});
  Watch watch("StateService", "WatchChanges");
  service_.WatchChanges(Watching({"customers", "orders"}), watch.stream());
  EXPECT_THAT(watch.status(), ReasonIs(Reason::kTableLoading));
  EXPECT_EQ(MetadataValue(watch.status(), "table"), "orders");
}

// The window holds little, so that streams read the store beside it.
class SmallWindowTest : public WatchTest {
 protected:
  static WatchOptions Small() {
    WatchOptions options = OnlyTold();
    options.window = {.max_snapshot_bytes = 2000, .max_bytes = 4000};
    return options;
  }
  SmallWindowTest() : WatchTest(Small()) {}
};

TEST_F(SmallWindowTest, SnapshotsTooLargeForTheWindowAreReadFromTheStore) {
  Watch watch("StateService", "WatchChanges");
  Open(watch, Watching({"orders"}));
  const state::SnapshotId start = Greeting(watch);
  for (int i = 1; i <= 50; ++i) {
    world_.Commit([&](StateWorld::Txn& t) {
      t.Put("orders", Order("C-1", i, "1", std::string(i % 3 == 0 ? 5000 : 10, 'x')));
    });
  }
  for (int i = 1; i <= 50; ++i) {
    const auto message = watch.Next();
    ASSERT_EQ(message->at().snapshot_id(), start + i);
    ASSERT_EQ(message->changes(0).key(1).int_value(), i);
  }
}

TEST_F(SmallWindowTest, AStreamThatJoinsSeesWhatTheWindowWasNotReadFor) {
  Watch customers("StateService", "WatchChanges");
  Open(customers, Watching({"customers"}));
  const state::SnapshotId start = Greeting(customers);
  world_.Commit([&](StateWorld::Txn& t) {
    t.Put("orders", Order("C-1", 1, "1", ""));
    t.Put("customers", Customer("C-1", "Ann", 1));
  });
  EXPECT_EQ(customers.Next()->changes_size(), 1);  // the window has this snapshot now
  v1::WatchChangesRequest request = Watching({"orders"});
  request.set_after(world_.Token(start));
  Watch orders("StateService", "WatchChanges");
  Open(orders, request);
  Greeting(orders);
  EXPECT_EQ(orders.Next()->changes(0).table(), "orders");
}

}  // namespace
}  // namespace tidemark::services
