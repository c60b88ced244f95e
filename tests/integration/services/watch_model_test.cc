// Watches against a model, while the writer writes: every watcher sees every change of its tables
// once, in order, whole snapshot by whole snapshot, wherever its stream breaks off.
#include <grpcpp/grpcpp.h>

#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "common/mutex.h"
#include "gtest/gtest.h"
#include "tests/integration/services/state_server.h"
#include "tests/support/rpc_matchers.h"

namespace tidemark {
namespace {

using testing::RpcCode;
using testing::RpcMetadata;
using testing::RpcReason;
using testing::StateWorld;

// One change as text: "orders C-1/2 UPDATE 5 -> 6".
using Changes = std::vector<std::string>;

constexpr int kSnapshots = 400;

// Random writes, and what each snapshot changed, worked out from plain maps.
class Model {
 public:
  explicit Model(StateWorld& world, uint32_t seed) : world_(world), random_(seed) {}

  void Run() {
    for (int made = 0; made < kSnapshots;) {
      const int count = 1 + static_cast<int>(random_() % 5);
      std::vector<StateWorld::Body> bodies;
      state::SnapshotId id = world_.reader().Latest()->id();
      for (int i = 0; i < count; ++i, ++made) bodies.push_back(Next(++id));
      world_.CommitBatch(bodies);
    }
  }

  // What a watch of orders with this customer as prefix (empty: all), and of the customers when
  // `customers`, must be told of a snapshot.
  Changes Expected(state::SnapshotId id, const std::string& prefix, bool customers) const {
    MutexLock lock(mutex_);
    Changes expected;
    const auto at = changes_.find(id);
    if (at == changes_.end()) return expected;
    for (const Entry& entry : at->second) {
      if (entry.table == "customers"
              ? !customers
              : !(prefix.empty() || entry.customer.empty() || entry.customer == prefix)) {
        continue;
      }
      expected.push_back(entry.text);
    }
    return expected;
  }

 private:
  struct Entry {
    std::string table;
    std::string customer;  // empty: a truncate
    std::string text;
  };
  using Orders = std::map<std::pair<std::string, int>, int>;
  using Customers = std::map<std::string, int>;

  StateWorld::Body Next(state::SnapshotId id) {
    const Orders orders_before = orders_;
    const Customers customers_before = customers_;
    struct Write {
      std::string customer;
      int order, value;  // order -1: the customer; value 0: delete
    };
    std::vector<Write> writes;
    const bool truncate = random_() % 40 == 0;
    if (truncate) orders_.clear();
    const int count = random_() % 30 == 0 ? 3000 : 1 + static_cast<int>(random_() % 6);
    for (int i = 0; i < count; ++i) {
      Write write{"C-" + std::to_string(random_() % 4), static_cast<int>(random_() % (count + 3)),
                  ++last_value_};
      if (random_() % 5 == 0) write.order = -1;
      if (random_() % 4 == 0) write.value = 0;
      if (write.order < 0) {
        Set(customers_, write.customer, write.value);
      } else {
        Set(orders_, {write.customer, write.order}, write.value);
      }
      writes.push_back(write);
    }
    // A marker, so that no snapshot is empty and ids are known beforehand.
    writes.push_back({"marker", -1, ++last_value_});
    Set(customers_, std::string("marker"), last_value_);
    std::vector<Entry> entries;
    if (truncate) entries.push_back({"orders", "", "orders TRUNCATE"});
    Diff(customers_before, customers_, "customers", &entries);
    Diff(truncate ? Orders() : orders_before, orders_, "orders", &entries);
    {
      MutexLock lock(mutex_);
      changes_[id] = std::move(entries);
    }
    return [writes, truncate](StateWorld::Txn& txn) {
      if (truncate) txn.Truncate("orders");
      for (const Write& w : writes) {
        if (w.order < 0 && w.value == 0) {
          txn.Delete("customers", {tables::Datum::String(w.customer)});
        } else if (w.order < 0) {
          txn.Put("customers", CustomerRow(w.customer, w.value));
        } else if (w.value == 0) {
          txn.Delete("orders", {tables::Datum::String(w.customer), tables::Datum::Int(w.order)});
        } else {
          txn.Put("orders", OrderRow(w.customer, w.order, w.value, std::string(500, 'x')));
        }
      }
    };
  }

  template <typename Map>
  static void Set(Map& map, const typename Map::key_type& key, int value) {
    if (value == 0) {
      map.erase(key);
    } else {
      map[key] = value;
    }
  }
  static std::string CustomerOf(const std::string& key) { return key; }
  static std::string CustomerOf(const std::pair<std::string, int>& key) { return key.first; }
  static std::string KeyText(const std::string& key) { return key; }
  static std::string KeyText(const std::pair<std::string, int>& key) {
    return key.first + "/" + std::to_string(key.second);
  }
  template <typename Map>
  static void Diff(const Map& before, const Map& after, const std::string& table,
                   std::vector<Entry>* entries) {
    Map keys = before;
    keys.insert(after.begin(), after.end());
    for (const auto& [key, unused] : keys) {
      const auto b = before.find(key), a = after.find(key);
      std::string text = table + " " + KeyText(key);
      if (b == before.end()) {
        text += " INSERT " + std::to_string(a->second);
      } else if (a == after.end()) {
        text += " DELETE " + std::to_string(b->second);
      } else if (a->second != b->second) {
        text += " UPDATE " + std::to_string(b->second) + " -> " + std::to_string(a->second);
      } else {
        continue;
      }
      entries->push_back({table, CustomerOf(key), std::move(text)});
    }
  }

  StateWorld& world_;
  std::mt19937 random_;
  int last_value_ = 0;
  Orders orders_;
  Customers customers_;
  mutable Mutex mutex_;
  std::map<state::SnapshotId, std::vector<Entry>> changes_ TIDEMARK_GUARDED_BY(mutex_);
};

std::string Number(const v1::Change& change, const v1::Row& row) {
  return change.table() == "customers" ? std::to_string(row.columns().at("limit").int_value())
                                       : row.columns().at("total").decimal_value();
}

std::string Text(const v1::Change& change) {
  std::string text = change.table() + " ";
  for (int i = 0; i < change.key_size(); ++i) {
    text += i == 0 ? change.key(i).string_value() : "/" + std::to_string(change.key(i).int_value());
  }
  switch (change.op()) {
    case v1::OP_INSERT:
      EXPECT_FALSE(change.has_before());
      return text + " INSERT " + Number(change, change.after());
    case v1::OP_UPDATE:
      return text + " UPDATE " + Number(change, change.before()) + " -> " +
             Number(change, change.after());
    case v1::OP_DELETE:
      EXPECT_FALSE(change.has_after());
      return text + " DELETE " + Number(change, change.before());
    default:
      return text + "TRUNCATE";
  }
}

// For failures that can be read.
std::string Join(const Changes& changes) {
  std::string text;
  for (const std::string& change : changes) text += change + "\n";
  return text;
}

// Follows the model's world until `end`, breaking off now and then.
class Watcher {
 public:
  Watcher(StateServer& server, const Model& model, std::string prefix, bool customers,
          uint32_t seed)
      : server_(server),
        model_(model),
        prefix_(std::move(prefix)),
        customers_(customers),
        random_(seed) {}

  void Follow(state::SnapshotId start, const std::function<bool(state::SnapshotId)>& is_end) {
    bookmark_ = checked_ = start;
    token_ = server_.world().Token(start);
    while (!is_end(bookmark_) && !::testing::Test::HasFailure()) OneStream(is_end);
  }
  int streams() const { return streams_; }

 private:
  void OneStream(const std::function<bool(state::SnapshotId)>& is_end) {
    ++streams_;
    v1::WatchChangesRequest request;
    v1::WatchedTable* orders = request.add_tables();
    orders->set_table("orders");
    if (!prefix_.empty()) *orders->add_key_prefix() = TextValue(prefix_);
    if (customers_) request.add_tables()->set_table("customers");
    request.set_after(token_);
    request.set_include_before(true);
    grpc::ClientContext context;
    auto stream = server_.state().WatchChanges(&context, request);
    Changes collected;
    v1::WatchChangesResponse message;
    for (uint32_t left = 1 + random_() % 60; left > 0 && stream->Read(&message); --left) {
      const state::SnapshotId at = message.at().snapshot_id();
      ASSERT_EQ(message.checkpoint(), !message.fragment());
      // Only the first checkpoint of a stream repeats the place it begins at.
      ASSERT_GE(at, bookmark_);
      for (const v1::Change& change : message.changes()) collected.push_back(Text(change));
      if (message.fragment()) continue;
      // Nothing is told of the snapshots in between, and all of it of this one.
      for (state::SnapshotId id = checked_ + 1; id < at; ++id) {
        ASSERT_EQ(model_.Expected(id, prefix_, customers_), Changes()) << "gap at " << id;
      }
      if (at > checked_) {
        ASSERT_EQ(Join(collected), Join(model_.Expected(at, prefix_, customers_)))
            << "snapshot " << at;
        checked_ = at;
      } else {
        ASSERT_TRUE(collected.empty()) << "snapshot " << at << " was told twice";
      }
      collected.clear();
      bookmark_ = at;
      token_ = message.at().token();
      if (is_end(bookmark_)) break;
    }
    context.TryCancel();
    while (stream->Read(&message)) {
    }
    EXPECT_THAT(stream->Finish(), RpcCode(grpc::StatusCode::CANCELLED));
  }

  StateServer& server_;
  const Model& model_;
  const std::string prefix_;
  const bool customers_;
  std::mt19937 random_;
  state::SnapshotId bookmark_ = 0, checked_ = 0;
  std::string token_;
  int streams_ = 0;
};

StateServerOptions Options() {
  StateServerOptions options;
  options.watch.tick = absl::Milliseconds(20);
  options.watch.checkpoint_ticks = 2;
  // Small enough that streams read the window, fall out of it, and meet snapshots it cannot hold.
  options.watch.window = {.max_snapshot_bytes = 64 << 10, .max_bytes = 256 << 10};
  return options;
}

TEST(WatchModelTest, EveryWatcherSeesEveryChangeOnceWhereverItsStreamsBreakOff) {
  StateServer server(Options());
  server.world().Load();
  Model model(server.world(), 42);
  const state::SnapshotId start = server.world().reader().Latest()->id();
  const auto is_end = [&](state::SnapshotId id) { return id >= start + kSnapshots; };
  struct Kind {
    const char* prefix;
    bool customers;
  };
  std::vector<std::unique_ptr<Watcher>> watchers;
  std::vector<std::thread> threads;
  uint32_t seed = 0;
  for (const Kind kind :
       {Kind{"", true}, Kind{"C-1", false}, Kind{"C-2", true}, Kind{"none", false}}) {
    watchers.push_back(
        std::make_unique<Watcher>(server, model, kind.prefix, kind.customers, ++seed));
    threads.emplace_back(
        [watcher = watchers.back().get(), &is_end, start] { watcher->Follow(start, is_end); });
  }
  model.Run();
  for (std::thread& thread : threads) thread.join();
  // The one that takes every change broke off many times.
  EXPECT_GT(watchers[0]->streams(), 3);
  while (server.hub().streams() > 0) std::this_thread::yield();
}

TEST(WatchModelTest, AReaderThatStopsReadingIsToldSoAndGoesOnWithoutAGap) {
  StateServerOptions options = Options();
  options.watch.stall_ticks = 5;
  StateServer server(options);
  server.world().Load();
  v1::WatchChangesRequest request;
  request.add_tables()->set_table("orders");
  grpc::ClientContext context;
  auto stream = server.state().WatchChanges(&context, request);
  v1::WatchChangesResponse message;
  ASSERT_TRUE(stream->Read(&message));
  const state::SnapshotId start = message.at().snapshot_id();
  // More than flow control lets through unread.
  constexpr int kLarge = 20;
  for (int i = 0; i < kLarge; ++i) {
    server.world().Commit([&](StateWorld::Txn& txn) {
      txn.Put("orders", OrderRow("C-1", i, i, std::string(1 << 20, 'x')));
    });
  }
  while (server.hub().streams() > 0) std::this_thread::yield();
  state::SnapshotId last = start;
  while (stream->Read(&message)) {
    if (message.changes().empty()) continue;
    EXPECT_EQ(message.at().snapshot_id(), ++last);
  }
  const grpc::Status slow = stream->Finish();
  ASSERT_THAT(slow, RpcReason("SLOW_CONSUMER"));
  EXPECT_THAT(slow, RpcCode(grpc::StatusCode::RESOURCE_EXHAUSTED));
  EXPECT_EQ(RpcMetadata(slow, "resume_token"), server.world().Token(last));
  EXPECT_LT(last, start + kLarge);

  request.set_after(RpcMetadata(slow, "resume_token"));
  grpc::ClientContext again;
  stream = server.state().WatchChanges(&again, request);
  while (last < start + kLarge) {
    ASSERT_TRUE(stream->Read(&message));
    if (message.changes().empty()) continue;
    EXPECT_EQ(message.at().snapshot_id(), ++last);
  }
  again.TryCancel();
}

TEST(WatchModelTest, DrainingEndsWatchesWithAResumeToken) {
  StateServer server(Options());
  server.world().Load();
  v1::WatchChangesRequest request;
  request.add_tables()->set_table("orders");
  grpc::ClientContext context;
  auto stream = server.state().WatchChanges(&context, request);
  v1::WatchChangesResponse message;
  ASSERT_TRUE(stream->Read(&message));
  server.server().server().Drain(absl::Seconds(10));
  std::string token = message.at().token();
  while (stream->Read(&message)) token = message.at().token();
  const grpc::Status status = stream->Finish();
  EXPECT_THAT(status, RpcReason("SHUTTING_DOWN"));
  EXPECT_EQ(RpcMetadata(status, "resume_token"), token);
}

}  // namespace
}  // namespace tidemark
