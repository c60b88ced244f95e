#include "tests/support/fake_services.h"

#include "tidemark/v1/ingest_service.pb.h"
#include "tidemark/v1/state_service.pb.h"

namespace tidemark::testing {

FakeServices::FakeServices() {
  state_.Unary("GetTable", this, &FakeServices::GetTable);
  state_.Unary("ListTables", this, &FakeServices::ListTables, RunOn::kExecutor);
  state_.Async("GetRow", this, &FakeServices::GetRow);
  state_.Stream("WatchChanges", this, &FakeServices::WatchChanges);
  state_.Unary("BatchGetRows", this,
               &FakeServices::Nothing<v1::BatchGetRowsRequest, v1::BatchGetRowsResponse>);
  state_.Unary("ScanRows", this, &FakeServices::Nothing<v1::ScanRowsRequest, v1::ScanRowsResponse>);
  state_.Unary("GetSnapshot", this,
               &FakeServices::Nothing<v1::GetSnapshotRequest, v1::GetSnapshotResponse>);
  ingest_.Unary("ListSources", this,
                &FakeServices::Nothing<v1::ListSourcesRequest, v1::ListSourcesResponse>);
  ingest_.Unary("GetSource", this,
                &FakeServices::Nothing<v1::GetSourceRequest, v1::GetSourceResponse>);
  ingest_.Unary("PauseSource", this,
                &FakeServices::Nothing<v1::PauseSourceRequest, v1::PauseSourceResponse>);
  ingest_.Unary("ResumeSource", this,
                &FakeServices::Nothing<v1::ResumeSourceRequest, v1::ResumeSourceResponse>);
}

absl::Status FakeServices::GetTable(const v1::GetTableRequest& request, CallContext& context,
                                    v1::GetTableResponse* response) {
  return get_table ? get_table(request, context, response) : absl::OkStatus();
}

absl::Status FakeServices::ListTables(const v1::ListTablesRequest& request, CallContext& context,
                                      v1::ListTablesResponse* response) {
  return list_tables ? list_tables(request, context, response) : absl::OkStatus();
}

void FakeServices::GetRow(const v1::GetRowRequest& request, Reply<v1::GetRowResponse> reply) {
  if (get_row) return get_row(request, std::move(reply));
  reply.Finish(absl::OkStatus());
}

void FakeServices::WatchChanges(const v1::WatchChangesRequest& request,
                                ResponseStream<v1::WatchChangesResponse> stream) {
  if (watch_changes) return watch_changes(request, std::move(stream));
  stream.Finish(absl::OkStatus());
}

}  // namespace tidemark::testing
