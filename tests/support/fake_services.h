// Every available method of the contract, bound to functions a test can replace. For tests of what
// lies around the services.
#ifndef TIDEMARK_TESTS_SUPPORT_FAKE_SERVICES_H_
#define TIDEMARK_TESTS_SUPPORT_FAKE_SERVICES_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "server/service_binder.h"

namespace tidemark::v1 {
class BatchGetRowsRequest;
class BatchGetRowsResponse;
class GetRowRequest;
class GetRowResponse;
class GetSnapshotRequest;
class GetSnapshotResponse;
class GetSourceRequest;
class GetSourceResponse;
class GetTableRequest;
class GetTableResponse;
class ListSourcesRequest;
class ListSourcesResponse;
class ListTablesRequest;
class ListTablesResponse;
class PauseSourceRequest;
class PauseSourceResponse;
class ResumeSourceRequest;
class ResumeSourceResponse;
class ScanRowsRequest;
class ScanRowsResponse;
class WatchChangesRequest;
class WatchChangesResponse;
}  // namespace tidemark::v1

namespace tidemark::testing {

// Answers OK with an empty response (an empty stream) unless a function is set.
class FakeServices {
 public:
  FakeServices();
  std::vector<const ServiceBinder*> binders() const { return {&state_, &ingest_}; }

  // Runs inline on the transport's thread.
  std::function<absl::Status(const v1::GetTableRequest&, CallContext&, v1::GetTableResponse*)>
      get_table;
  // Runs on the executor.
  std::function<absl::Status(const v1::ListTablesRequest&, CallContext&, v1::ListTablesResponse*)>
      list_tables;
  // May answer later.
  std::function<void(const v1::GetRowRequest&, Reply<v1::GetRowResponse>)> get_row;
  std::function<void(const v1::WatchChangesRequest&, ResponseStream<v1::WatchChangesResponse>)>
      watch_changes;

 private:
  absl::Status GetTable(const v1::GetTableRequest&, CallContext&, v1::GetTableResponse*);
  absl::Status ListTables(const v1::ListTablesRequest&, CallContext&, v1::ListTablesResponse*);
  void GetRow(const v1::GetRowRequest&, Reply<v1::GetRowResponse>);
  void WatchChanges(const v1::WatchChangesRequest&, ResponseStream<v1::WatchChangesResponse>);
  template <typename Request, typename Response>
  absl::Status Nothing(const Request&, CallContext&, Response*) {
    return absl::OkStatus();
  }

  ServiceBinder state_{"StateService"};
  ServiceBinder ingest_{"IngestService"};
};

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_FAKE_SERVICES_H_
