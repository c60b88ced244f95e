// StateService and IngestService over the real engine, behind the real transport.
#ifndef TIDEMARK_TESTS_INTEGRATION_SERVICES_STATE_SERVER_H_
#define TIDEMARK_TESTS_INTEGRATION_SERVICES_STATE_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "server/executor.h"
#include "server/read_point.h"
#include "server/services/ingest_service.h"
#include "server/services/state_service.h"
#include "server/services/watch_hub.h"
#include "tests/support/state_world.h"
#include "tests/support/test_server.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "tidemark/v1/state_service.grpc.pb.h"

namespace tidemark {

struct StateServerOptions {
  services::WatchOptions watch;
  testing::TestServerOptions server;
};

class StateServer {
 public:
  explicit StateServer(const StateServerOptions& options = {});
  ~StateServer();

  testing::StateWorld& world() { return *world_; }
  services::WatchHub& hub() { return *hub_; }
  ReadPointResolver& resolver() { return *resolver_; }
  testing::TestServer& server() { return *server_; }
  v1::StateService::Stub& state() { return *state_; }
  v1::IngestService::Stub& ingest() { return *ingest_; }

  // --- Plain calls with a deadline.
  grpc::Status GetRow(const v1::GetRowRequest& request, v1::GetRowResponse* response,
                      absl::Duration deadline = absl::Seconds(30));
  grpc::Status Batch(const v1::BatchGetRowsRequest& request, v1::BatchGetRowsResponse* response);
  grpc::Status Scan(const v1::ScanRowsRequest& request, v1::ScanRowsResponse* response);

 private:
  std::string dir_;
  std::unique_ptr<testing::StateWorld> world_;
  Executor executor_{{.name = "executor", .threads = 2}};
  std::unique_ptr<ReadPointResolver> resolver_;
  std::unique_ptr<services::WatchHub> hub_;
  std::unique_ptr<services::StateService> state_service_;
  std::unique_ptr<services::IngestService> ingest_service_;
  ServiceBinder state_binder_{"StateService"};
  ServiceBinder ingest_binder_{"IngestService"};
  std::unique_ptr<testing::TestServer> server_;
  std::unique_ptr<v1::StateService::Stub> state_;
  std::unique_ptr<v1::IngestService::Stub> ingest_;
};

// --- Requests.
v1::Value TextValue(const std::string& text);
v1::Value IntValue(int64_t number);
v1::GetRowRequest RowRequest(const std::string& table, const std::vector<v1::Value>& key);
void AddRef(v1::BatchGetRowsRequest& request, const std::string& table,
            const std::vector<v1::Value>& key);

// --- Rows of the world's tables.
std::vector<tables::Datum> CustomerRow(const std::string& id, int64_t limit,
                                       const std::string& name = "Ann");
std::vector<tables::Datum> OrderRow(const std::string& customer, int64_t number, int64_t total,
                                    const std::string& note = "");

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_INTEGRATION_SERVICES_STATE_SERVER_H_
