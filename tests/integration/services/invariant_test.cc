// Promises S1 and S2 while the writer writes: what is read is exactly what the stamp says.
#include <grpcpp/grpcpp.h>

#include <atomic>
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

using testing::RpcOk;
using testing::StateWorld;

constexpr int kCustomers = 5;
constexpr int kBatches = 150;

std::string Customer(int i) { return "C-" + std::to_string(i); }

// Every snapshot moves a number between two customers and writes the sum of each into an order of
// that customer: limits sum up to zero, and each order equals its customer's limit.
class Workload {
 public:
  explicit Workload(StateServer& server) : world_(server.world()) {
    world_.Load();
    world_.Commit([&](StateWorld::Txn& txn) {
      for (int i = 0; i < kCustomers; ++i) Put(txn, i);
    });
    Record(world_.reader().Latest()->id());
  }

  void Run() {
    std::mt19937 random(7);
    for (int batch = 0; batch < kBatches; ++batch) {
      const int count = 1 + static_cast<int>(random() % 4);
      const state::SnapshotId before = world_.reader().Latest()->id();
      std::vector<StateWorld::Body> bodies;
      // Recorded before it is published, since a reader may see it at once.
      for (int i = 0; i < count; ++i) {
        const int from = static_cast<int>(random() % kCustomers);
        const int to = (from + 1 + static_cast<int>(random() % (kCustomers - 1))) % kCustomers;
        limits_[from] -= 3;
        limits_[to] += 3;
        Record(before + i + 1);
        bodies.push_back([this, from, to, limits = limits_](StateWorld::Txn& txn) {
          for (int customer : {from, to}) Put(txn, customer, limits[customer]);
        });
      }
      world_.CommitBatch(bodies);
    }
    done_ = true;
  }
  bool done() const { return done_; }

  // The limits at a snapshot.
  std::vector<int64_t> At(state::SnapshotId id) const {
    MutexLock lock(mutex_);
    return history_.at(id);
  }

 private:
  void Put(StateWorld::Txn& txn, int customer, int64_t limit = 0) {
    txn.Put("customers", CustomerRow(Customer(customer), limit));
    txn.Put("orders", OrderRow(Customer(customer), 0, limit));
  }
  void Record(state::SnapshotId id) {
    MutexLock lock(mutex_);
    history_[id] = limits_;
  }

  StateWorld& world_;
  std::vector<int64_t> limits_ = std::vector<int64_t>(kCustomers, 0);
  std::atomic<bool> done_{false};
  mutable Mutex mutex_;
  std::map<state::SnapshotId, std::vector<int64_t>> history_ TIDEMARK_GUARDED_BY(mutex_);
};

class InvariantTest : public ::testing::Test {
 protected:
  // Calls `read` from a few threads until the workload is over, and once more.
  void WhileWriting(const std::function<void(std::mt19937&)>& read) {
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
      readers.emplace_back([&, i] {
        std::mt19937 random(i);
        for (bool last = false; !last;) {
          last = workload_.done();
          read(random);
        }
      });
    }
    workload_.Run();
    for (std::thread& reader : readers) reader.join();
  }

  StateServer server_;
  Workload workload_{server_};
};

TEST_F(InvariantTest, S1_AValueIsNeverNewerOrOlderThanItsStamp) {
  WhileWriting([&](std::mt19937& random) {
    const int customer = static_cast<int>(random() % kCustomers);
    v1::GetRowResponse response;
    ASSERT_THAT(server_.GetRow(RowRequest("customers", {TextValue(Customer(customer))}), &response),
                RpcOk());
    const state::SnapshotId at = response.read_at().snapshot_id();
    EXPECT_LE(response.row_version(), at);
    EXPECT_EQ(response.row().columns().at("limit").int_value(), workload_.At(at)[customer]);
    EXPECT_EQ(response.read_at().token(), server_.world().Token(at));
  });
}

TEST_F(InvariantTest, S2_RowsOfOneBatchAcrossTablesAreOfOneSnapshot) {
  WhileWriting([&](std::mt19937&) {
    v1::BatchGetRowsRequest request;
    for (int i = 0; i < kCustomers; ++i) {
      AddRef(request, "customers", {TextValue(Customer(i))});
      AddRef(request, "orders", {TextValue(Customer(i)), IntValue(0)});
    }
    v1::BatchGetRowsResponse response;
    ASSERT_THAT(server_.Batch(request, &response), RpcOk());
    int64_t sum = 0;
    for (int i = 0; i < kCustomers; ++i) {
      const int64_t limit = response.results(2 * i).row().columns().at("limit").int_value();
      EXPECT_EQ(response.results(2 * i + 1).row().columns().at("total").decimal_value(),
                std::to_string(limit));
      sum += limit;
    }
    EXPECT_EQ(sum, 0);
  });
}

TEST_F(InvariantTest, S2_ThePagesOfAScanAreOfOneSnapshot) {
  WhileWriting([&](std::mt19937&) {
    v1::ScanRowsRequest request;
    request.set_table("customers");
    request.set_page_size(2);
    v1::ScanRowsResponse page;
    std::vector<int64_t> limits;
    state::SnapshotId at = 0;
    do {
      ASSERT_THAT(server_.Scan(request, &page), RpcOk());
      if (at == 0) at = page.read_at().snapshot_id();
      EXPECT_EQ(page.read_at().snapshot_id(), at);
      for (const v1::KeyedRow& row : page.rows()) {
        limits.push_back(row.row().columns().at("limit").int_value());
      }
      request.set_page_token(page.next_page_token());
    } while (!page.next_page_token().empty());
    EXPECT_EQ(limits, workload_.At(at));
  });
}

TEST_F(InvariantTest, S1_EverySnapshotReadsBackExactly) {
  WhileWriting([&](std::mt19937& random) {
    const state::SnapshotId newest = server_.world().reader().Latest()->id();
    const state::SnapshotId at = 3 + random() % (newest - 2);
    v1::BatchGetRowsRequest request;
    request.mutable_consistency()->set_exact(server_.world().Token(at));
    for (int i = 0; i < kCustomers; ++i) AddRef(request, "customers", {TextValue(Customer(i))});
    v1::BatchGetRowsResponse response;
    ASSERT_THAT(server_.Batch(request, &response), RpcOk());
    EXPECT_EQ(response.read_at().snapshot_id(), at);
    std::vector<int64_t> limits;
    for (const v1::RowResult& result : response.results()) {
      EXPECT_LE(result.row_version(), at);
      limits.push_back(result.row().columns().at("limit").int_value());
    }
    EXPECT_EQ(limits, workload_.At(at));
  });
}

TEST_F(InvariantTest, F1_AtPositionHoldsNothingAtOrAfterIt) {
  // Transaction 1 loaded the tables, 2 made the customers: position p made snapshot p + 1.
  WhileWriting([&](std::mt19937& random) {
    const uint64_t position = 3 + random() % 40;
    v1::GetRowRequest request = RowRequest("customers", {TextValue(Customer(0))});
    request.mutable_consistency()->mutable_at_position()->set_source("erp");
    request.mutable_consistency()->mutable_at_position()->set_position(std::to_string(position));
    v1::GetRowResponse response;
    ASSERT_THAT(server_.GetRow(request, &response), RpcOk());
    EXPECT_EQ(response.read_at().snapshot_id(), position);
    EXPECT_EQ(response.row().columns().at("limit").int_value(), workload_.At(position)[0]);
  });
}

}  // namespace
}  // namespace tidemark
