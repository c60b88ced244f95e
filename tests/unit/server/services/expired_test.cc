// What callers are told once old snapshots are no longer kept, and the way back that they are
// shown.
#include <atomic>
#include <string>

#include "common/error.h"
#include "server/services/table_access.h"
#include "storage/state/state_errors.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/server/services/watch_fixture.h"

namespace tidemark::services {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::ReasonIs;

// A reader whose floor the test raises, over one that keeps everything.
class FloorReader final : public state::StateReader {
 public:
  explicit FloorReader(state::StateReader& all) : all_(all) {}
  void RaiseFloor(state::SnapshotId floor) { floor_ = floor; }

  state::PublicationPtr Latest() const override { return all_.Latest(); }
  std::shared_ptr<void> AddListener(Listener listener) override {
    return all_.AddListener(std::move(listener));
  }
  absl::StatusOr<state::ReadPoint> PointAt(state::PublicationPtr publication,
                                           state::SnapshotId id) const override {
    if (id < floor_) return state::SnapshotExpired(id, floor_);
    return all_.PointAt(std::move(publication), id);
  }
  absl::Status Get(const state::ReadPoint& point, state::TableId table, std::string_view key,
                   state::StoredRow* row) const override {
    return all_.Get(point, table, key, row);
  }
  absl::StatusOr<std::unique_ptr<state::RowCursor>> Scan(
      const state::ReadPoint& point, state::TableId table,
      const state::KeyRange& range) const override {
    return all_.Scan(point, table, range);
  }
  absl::StatusOr<std::unique_ptr<state::ChangeCursor>> Changes(
      const state::PublicationPtr& publication, state::SnapshotId after) const override {
    if (after < floor_) return state::SnapshotExpired(after, floor_);
    return all_.Changes(publication, after);
  }
  absl::StatusOr<state::SnapshotInfo> Describe(const state::ReadPoint& point) const override {
    return all_.Describe(point);
  }
  absl::StatusOr<state::ReadPoint> NewestAt(state::PublicationPtr publication,
                                            absl::Time time) const override {
    return all_.NewestAt(std::move(publication), time);
  }
  absl::StatusOr<state::ReadPoint> NewestBefore(state::PublicationPtr publication,
                                                std::string_view source,
                                                std::string_view position) const override {
    return all_.NewestBefore(std::move(publication), source, position);
  }
  std::string TokenOf(state::SnapshotId id) const override { return all_.TokenOf(id); }
  absl::StatusOr<state::SnapshotId> ResolveToken(std::string_view token) const override {
    return all_.ResolveToken(token);
  }
  state::Incarnation incarnation() const override { return all_.incarnation(); }

 private:
  state::StateReader& all_;
  std::atomic<state::SnapshotId> floor_{state::kFirstSnapshot};
};

class ExpiredTest : public ::testing::Test {
 protected:
  using Watch = testing::FakeStream<v1::WatchChangesResponse>;

  static WatchOptions Options() {
    WatchOptions options;
    options.tick = absl::InfiniteDuration();
    options.window = {.max_snapshot_bytes = 1, .max_bytes = 1};  // every watch reads the store
    return options;
  }
  ExpiredTest() { world_.Load(); }
  ~ExpiredTest() override { executor_.Stop(); }

  state::SnapshotId Put(int limit) {
    return world_.Commit([&](StateWorld::Txn& txn) {
      txn.Put("customers", {Datum::String("C-1"), Datum::String("Ann"), Datum::Int(limit)});
    });
  }
  // The error names `oldest` as what to read instead.
  void ExpectWayBack(const absl::Status& status, state::SnapshotId wanted,
                     state::SnapshotId oldest) {
    EXPECT_THAT(status, ReasonIs(Reason::kSnapshotExpired));
    EXPECT_EQ(MetadataValue(status, "snapshot_id"), std::to_string(wanted));
    EXPECT_EQ(MetadataValue(status, "oldest_snapshot_id"), std::to_string(oldest));
    EXPECT_EQ(MetadataValue(status, "oldest_token"), world_.Token(oldest));
  }

  StateWorld world_;
  FloorReader reader_{world_.reader()};
  Executor executor_{{.name = "executor", .threads = 1}};
  std::unique_ptr<ReadPointResolver> resolver_ =
      MakeReadPointResolver(reader_, world_.catalog(), world_.sources(), world_.clock());
  WatchHub hub_{reader_, world_.catalog(), world_.sources(), executor_, Options()};
  StateService service_{{.reader = reader_,
                         .catalog = world_.catalog(),
                         .sources = world_.sources(),
                         .resolver = *resolver_,
                         .executor = executor_,
                         .watches = hub_,
                         .clock = world_.clock()}};
};

TEST_F(ExpiredTest, AReadAtAnExpiredSnapshotNamesTheOldestOne) {
  const state::SnapshotId old = Put(1);
  const state::SnapshotId kept = Put(2);
  reader_.RaiseFloor(kept);
  v1::GetRowRequest request;
  request.set_table("customers");
  request.add_key()->set_string_value("C-1");
  request.mutable_consistency()->set_exact(world_.Token(old));
  testing::FakeUnaryCall<v1::GetRowResponse> expired("StateService", "GetRow");
  service_.GetRow(request, expired.reply());
  ExpectWayBack(expired.status(), old, kept);
  request.mutable_consistency()->set_exact(MetadataValue(expired.status(), "oldest_token"));
  testing::FakeUnaryCall<v1::GetRowResponse> back("StateService", "GetRow");
  service_.GetRow(request, back.reply());
  EXPECT_THAT(back.status(), IsOk());
}

TEST_F(ExpiredTest, ATableYoungerThanTheSnapshotIsNotSaidToBeNoLongerKept) {
  StateWorld young;
  young.Load({"orders"});
  const state::SnapshotId before = young.reader().Latest()->id();
  young.Load({"customers"});
  young.Commit([](StateWorld::Txn& txn) {
    txn.Put("customers", {Datum::String("C-1"), Datum::String("Ann"), Datum::Int(1)});
  });
  const tables::Table& table = young.table("customers");
  state::StoredRow none;
  const absl::Status expired = young.reader().Get(
      *young.reader().PointAt(young.reader().Latest(), before), table.id, "", &none);
  const absl::Status shown =
      ExplainTableError(expired, table, young.catalog(), young.sources(), young.reader());
  EXPECT_THAT(shown, ReasonIs(Reason::kSnapshotExpired));
  EXPECT_THAT(std::string(shown.message()),
              HasSubstr("Table customers is younger than that snapshot and had no state at it; the "
                        "oldest to read is "));
}

TEST_F(ExpiredTest, AScanThatOutlivesItsSnapshotIsExpired) {
  world_.Commit([&](StateWorld::Txn& txn) {
    for (int i = 0; i < 3; ++i) {
      txn.Put("customers", {Datum::String(std::to_string(i)), Datum::String(""), Datum::Int(i)});
    }
  });
  v1::ScanRowsRequest request;
  request.set_table("customers");
  request.set_page_size(2);
  testing::FakeUnaryCall<v1::ScanRowsResponse> first("StateService", "ScanRows");
  service_.ScanRows(request, first.reply());
  const state::SnapshotId at = first.response().read_at().snapshot_id();
  request.set_page_token(first.response().next_page_token());
  reader_.RaiseFloor(Put(9));
  testing::FakeUnaryCall<v1::ScanRowsResponse> second("StateService", "ScanRows");
  service_.ScanRows(request, second.reply());
  ExpectWayBack(second.status(), at, at + 1);
}

TEST_F(ExpiredTest, AWatchMustBeginAtOrAboveTheFloor) {
  const state::SnapshotId old = Put(1);
  const state::SnapshotId kept = Put(2);
  reader_.RaiseFloor(kept);
  v1::WatchChangesRequest request = Watching({"customers"});
  request.set_after(world_.Token(old));
  Watch watch("StateService", "WatchChanges");
  service_.WatchChanges(request, watch.stream());
  ExpectWayBack(watch.status(), old, kept);
}

TEST_F(ExpiredTest, AWatchThatFellBelowTheFloorEndsInsteadOfSkipping) {
  Watch watch("StateService", "WatchChanges");
  watch.Hold();
  service_.WatchChanges(Watching({"customers"}), watch.stream());
  watch.AwaitWritten(1);
  const state::SnapshotId start = world_.reader().Latest()->id();
  Put(1);
  const state::SnapshotId kept = Put(2);
  reader_.RaiseFloor(kept);
  watch.Take();
  ExpectWayBack(watch.status(), start, kept);
  EXPECT_EQ(watch.written(), 1u);
}

}  // namespace
}  // namespace tidemark::services
