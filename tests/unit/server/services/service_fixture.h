// StateService over a StateWorld, called directly.
#ifndef TIDEMARK_TESTS_UNIT_SERVER_SERVICES_SERVICE_FIXTURE_H_
#define TIDEMARK_TESTS_UNIT_SERVER_SERVICES_SERVICE_FIXTURE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/executor.h"
#include "server/read_point.h"
#include "server/services/state_service.h"
#include "server/services/watch_hub.h"
#include "tests/support/fake_calls.h"
#include "tests/support/state_world.h"
#include "tidemark/v1/state_service.pb.h"

namespace tidemark::services {

using tables::Datum;
using testing::StateWorld;

class ServiceTest : public ::testing::Test {
 protected:
  using GetRowCall = testing::FakeUnaryCall<v1::GetRowResponse>;
  using BatchCall = testing::FakeUnaryCall<v1::BatchGetRowsResponse>;
  using ScanCall = testing::FakeUnaryCall<v1::ScanRowsResponse>;
  using SnapshotCall = testing::FakeUnaryCall<v1::GetSnapshotResponse>;
  using Watch = testing::FakeStream<v1::WatchChangesResponse>;

  explicit ServiceTest(WatchOptions options = OnlyTold())
      : hub_(world_.reader(), world_.catalog(), world_.sources(), executor_, options) {}
  ~ServiceTest() override {
    resolver_->Stop();
    executor_.Stop();
  }

  // No tick by itself.
  static WatchOptions OnlyTold() {
    WatchOptions options;
    options.tick = absl::InfiniteDuration();
    options.checkpoint_ticks = 2;
    options.stall_ticks = 3;
    return options;
  }

  static v1::Value Text(const std::string& text) {
    v1::Value value;
    value.set_string_value(text);
    return value;
  }
  static v1::Value Int(int64_t number) {
    v1::Value value;
    value.set_int_value(number);
    return value;
  }
  static v1::GetRowRequest Row(const std::string& table, const std::vector<v1::Value>& key) {
    v1::GetRowRequest request;
    request.set_table(table);
    for (const v1::Value& value : key) *request.add_key() = value;
    return request;
  }
  static std::vector<Datum> Customer(const std::string& id, const std::string& name,
                                     int64_t limit) {
    return {Datum::String(id), Datum::String(name), Datum::Int(limit)};
  }
  static std::vector<Datum> Order(const std::string& customer, int64_t number,
                                  const std::string& total, const std::string& note = "") {
    return {Datum::String(customer), Datum::Int(number), Datum::Decimal(total),
            Datum::String(note)};
  }
  state::SnapshotId PutCustomer(const std::string& id, const std::string& name, int64_t limit) {
    return world_.Commit(
        [&](StateWorld::Txn& txn) { txn.Put("customers", Customer(id, name, limit)); });
  }

  // Calls that end at once, or on the executor.
  absl::Status GetRow(const v1::GetRowRequest& request, v1::GetRowResponse* response = nullptr,
                      const PrincipalPtr& principal = testing::ReaderOf("default")) {
    GetRowCall call("StateService", "GetRow", principal);
    service_.GetRow(request, call.reply());
    if (response != nullptr) *response = call.response();
    return call.status();
  }
  absl::Status Batch(const v1::BatchGetRowsRequest& request,
                     v1::BatchGetRowsResponse* response = nullptr) {
    BatchCall call("StateService", "BatchGetRows");
    service_.BatchGetRows(request, call.reply());
    if (response != nullptr) *response = call.response();
    return call.status();
  }
  absl::Status Scan(const v1::ScanRowsRequest& request, v1::ScanRowsResponse* response = nullptr,
                    const PrincipalPtr& principal = testing::ReaderOf("default")) {
    ScanCall call("StateService", "ScanRows", principal);
    service_.ScanRows(request, call.reply());
    if (response != nullptr) *response = call.response();
    return call.status();
  }
  absl::Status Snapshot(const v1::GetSnapshotRequest& request, v1::Snapshot* snapshot = nullptr) {
    SnapshotCall call("StateService", "GetSnapshot");
    service_.GetSnapshot(request, call.reply());
    if (snapshot != nullptr) *snapshot = call.response().snapshot();
    return call.status();
  }

  StateWorld world_;
  Executor executor_{{.name = "executor", .threads = 2}};
  std::unique_ptr<ReadPointResolver> resolver_ =
      MakeReadPointResolver(world_.reader(), world_.catalog(), world_.sources(), world_.clock());
  WatchHub hub_;
  StateService service_{{.reader = world_.reader(),
                         .catalog = world_.catalog(),
                         .sources = world_.sources(),
                         .resolver = *resolver_,
                         .executor = executor_,
                         .watches = hub_,
                         .clock = world_.clock()}};
};

}  // namespace tidemark::services

#endif  // TIDEMARK_TESTS_UNIT_SERVER_SERVICES_SERVICE_FIXTURE_H_
