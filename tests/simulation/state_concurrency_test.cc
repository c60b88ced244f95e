// S1, S2: readers on many threads beside the one writer, with the row cache on. Every read equals
// the history at its snapshot, through whatever publication it was made.
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "gmock/gmock.h"
#include "storage/state/state_store.h"
#include "tests/support/fault_env.h"
#include "tests/support/status_matchers.h"

namespace tidemark::state {
namespace {

using testing::IsOk;

constexpr int kKeys = 40;
constexpr int kCommits = 1200;
constexpr int kReaders = 3;

std::string KeyOf(uint64_t i) { return absl::StrCat("key", i); }

// What every key was at every snapshot; extended before the store is told to publish. Thread-safe.
class History {
 public:
  // One snapshot: what changed; "" is absent.
  void Add(SnapshotId id, const std::map<std::string, std::string>& changes) {
    MutexLock lock(mutex_);
    for (const auto& [key, row] : changes) rows_[key][id] = row;
  }
  // "row@version", or "-".
  std::string At(SnapshotId id, const std::string& key) const {
    MutexLock lock(mutex_);
    const auto versions = rows_.find(key);
    if (versions == rows_.end()) return "-";
    auto at = versions->second.upper_bound(id);
    if (at == versions->second.begin()) return "-";
    --at;
    return at->second.empty() ? "-" : absl::StrCat(at->second, "@", at->first);
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::map<SnapshotId, std::string>> rows_ TIDEMARK_GUARDED_BY(mutex_);
};

class StateConcurrency : public ::testing::Test {
 protected:
  StateConcurrency() {
    StateOptions options;
    options.dir = "/state";
    options.block_cache_bytes = 1 << 20;
    options.row_cache_bytes = 64 * 3000;  // a few rows a shard, so that rows come and go
    options.max_batch_bytes = 6000;
    options.stamp_encoder = [](const SnapshotInfo&, std::string_view token, bool) {
      return std::string(token);
    };
    options.host = "host";
    options.env = &env_;
    absl::StatusOr<std::unique_ptr<LevelDbStore>> store = OpenLevelDbStore(options);
    EXPECT_THAT(store, IsOk());
    store_ = *std::move(store);
    StateWriter& writer = store_->writer();
    EXPECT_THAT(writer.CreateTable("t"), IsOk());
    EXPECT_THAT(writer.BeginSnapshot(), IsOk());
    EXPECT_THAT(writer.FinishLoading(1), IsOk());
    EXPECT_THAT(writer.EndSnapshot({}), IsOk());
    EXPECT_THAT(writer.Commit({}), IsOk());
  }

  void WriteHistory(uint64_t seed);
  void ReadUntilStopped(uint64_t seed);
  void ReadOne(std::mt19937_64& random, const ReadPoint& point);
  void ScanAll(const ReadPoint& point);
  void WalkChanges(const PublicationPtr& publication, SnapshotId after);

  testing::FaultEnv env_;
  std::unique_ptr<LevelDbStore> store_;
  History history_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> reads_{0}, scans_{0}, walks_{0};
};

void StateConcurrency::WriteHistory(uint64_t seed) {
  std::mt19937_64 random(seed);
  StateWriter& writer = store_->writer();
  std::map<std::string, std::string> now;
  SnapshotId next = 3;
  for (int commit = 0; commit < kCommits; ++commit) {
    for (uint64_t snapshots = 1 + random() % 3; snapshots > 0; --snapshots) {
      const std::map<std::string, std::string> before = now;
      ASSERT_THAT(writer.BeginSnapshot(), IsOk());
      if (random() % 60 == 0) {
        ASSERT_THAT(writer.Truncate(1, "s"), IsOk());
        now.clear();
      }
      const bool large = random() % 25 == 0;  // written in chunks
      for (uint64_t ops = large ? 60 : 1 + random() % 6; ops > 0; --ops) {
        const std::string key = KeyOf(random() % kKeys);
        const uint64_t what = random() % 8;
        if (what == 0) {
          ASSERT_THAT(writer.Put(1, key, RowKind::kTombstone, "m", ""), IsOk());
          now.erase(key);
        } else if (what == 1) {
          ASSERT_THAT(writer.Put(1, key, RowKind::kHidden, "m", "hidden"), IsOk());
          now.erase(key);
        } else {
          const std::string row =
              what == 2 && now.count(key) > 0
                  ? now[key]  // only the meta changes, in place
                  : absl::StrCat(random() % 1000, ":", std::string(large ? 150 : 20, 'r'));
          ASSERT_THAT(writer.Put(1, key, RowKind::kPresent, absl::StrCat("m", random() % 100), row),
                      IsOk());
          now[key] = row;
        }
      }
      if (random() % 12 == 0) {
        ASSERT_THAT(writer.AbandonSnapshot(), IsOk());
        now = before;
        continue;
      }
      std::map<std::string, std::string> changes;
      for (int i = 0; i < kKeys; ++i) {
        const std::string key = KeyOf(i);
        const std::string was = before.count(key) > 0 ? before.at(key) : "";
        const std::string is = now.count(key) > 0 ? now.at(key) : "";
        if (was != is) changes[key] = is;
      }
      // Before the store may publish it; a later snapshot's chunks can publish this one.
      history_.Add(next, changes);
      const absl::StatusOr<std::optional<SnapshotId>> id = writer.EndSnapshot({});
      ASSERT_THAT(id, IsOk());
      if (id->has_value()) {
        ASSERT_EQ(**id, next);
        ++next;
      } else {
        ASSERT_TRUE(changes.empty());
      }
    }
    // Half of the batches are written while the next is made.
    ASSERT_THAT(commit % 2 == 0 ? writer.Commit({}) : writer.StartCommit({}), IsOk());
    if (commit % 200 == 0) store_->Compact();
  }
  ASSERT_THAT(writer.FinishCommit(), IsOk());
}

void StateConcurrency::ReadOne(std::mt19937_64& random, const ReadPoint& point) {
  const std::string key = KeyOf(random() % kKeys);
  StoredRow row;
  ASSERT_THAT(store_->reader().Get(point, 1, key, &row), IsOk());
  const std::string got =
      row.found() ? absl::StrCat(std::string(row.bytes()), "@", row.version()) : "-";
  ASSERT_EQ(got, history_.At(point.id, key)) << key << " at " << point.id;
  reads_.fetch_add(1, std::memory_order_relaxed);
}

void StateConcurrency::ScanAll(const ReadPoint& point) {
  const auto cursor = store_->reader().Scan(point, 1, {});
  ASSERT_THAT(cursor, IsOk());
  std::map<std::string, std::string> got;
  for (; (*cursor)->Valid(); (*cursor)->Next()) {
    got[std::string((*cursor)->key())] =
        absl::StrCat(std::string((*cursor)->row().bytes()), "@", (*cursor)->row().version());
  }
  ASSERT_THAT((*cursor)->status(), IsOk());
  for (int i = 0; i < kKeys; ++i) {
    const auto at = got.find(KeyOf(i));
    ASSERT_EQ(at == got.end() ? "-" : at->second, history_.At(point.id, KeyOf(i)));
  }
  scans_.fetch_add(1, std::memory_order_relaxed);
}

void StateConcurrency::WalkChanges(const PublicationPtr& publication, SnapshotId after) {
  const auto cursor = store_->reader().Changes(publication, after);
  ASSERT_THAT(cursor, IsOk());
  for (; (*cursor)->Valid(); (*cursor)->Next()) {
    const Change& change = (*cursor)->change();
    ASSERT_LE(change.snapshot, publication->id());
    if (change.op == ChangeOp::kTruncate) continue;
    const bool present = history_.At(change.snapshot, change.key) != "-";
    ASSERT_EQ(change.op == ChangeOp::kDelete, !present) << change.key << " in " << change.snapshot;
  }
  ASSERT_THAT((*cursor)->status(), IsOk());
  walks_.fetch_add(1, std::memory_order_relaxed);
}

void StateConcurrency::ReadUntilStopped(uint64_t seed) {
  std::mt19937_64 random(seed);
  PublicationPtr held = store_->reader().Latest();
  while (!stop_ && !HasFailure()) {
    if (random() % 50 == 0) held = store_->reader().Latest();
    // Mostly the newest, at times one that has been held for a while: both fill the row cache.
    const PublicationPtr publication = random() % 4 == 0 ? held : store_->reader().Latest();
    const SnapshotId newest = publication->id();
    const SnapshotId id = random() % 3 == 0 ? 2 + random() % (newest - 1) : newest;
    const absl::StatusOr<ReadPoint> point = store_->reader().PointAt(publication, id);
    ASSERT_THAT(point, IsOk());
    const uint64_t what = random() % 40;
    if (what == 0) {
      ScanAll(*point);
    } else if (what == 1) {
      WalkChanges(publication, newest > 10 ? newest - random() % 8 : newest);
    } else {
      for (int i = 0; i < 10; ++i) ReadOne(random, *point);
    }
  }
}

TEST_F(StateConcurrency, S1_EveryReadEqualsTheHistoryAtItsSnapshot) {
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([this, i] { ReadUntilStopped(100 + i); });
  }
  WriteHistory(7);
  stop_ = true;
  for (std::thread& reader : readers) reader.join();
  const StateCounters counters = store_->Counters();
  EXPECT_GT(counters.gets_from_row_cache, 0u);
  EXPECT_GT(counters.chunks, 0u);
  EXPECT_GT(counters.undone, 0u);
  EXPECT_GT(counters.seeks, 0u);
  EXPECT_GT(reads_, 0u);
  EXPECT_GT(scans_, 0u);
  EXPECT_GT(walks_, 0u);
}

}  // namespace
}  // namespace tidemark::state
