// StateService: stamped reads of the state tables, and the watch on their changes.
//
// Every method is validate -> resolve the read point -> read -> answer; what a step needs lies in
// table_access (names to tables and keys), read_point (freshness to a snapshot), row_reads (rows to
// wire bytes), stamp, and watch_hub.
#ifndef TIDEMARK_SERVER_SERVICES_STATE_SERVICE_H_
#define TIDEMARK_SERVER_SERVICES_STATE_SERVICE_H_

#include <string>
#include <vector>

#include "common/clock.h"
#include "server/call.h"
#include "server/executor.h"
#include "server/ingest/source.h"
#include "server/read_point.h"
#include "server/service_binder.h"
#include "server/services/page_token.h"
#include "server/services/row_reads.h"
#include "server/services/stamp.h"
#include "server/services/watch_hub.h"
#include "storage/state/state_reader.h"
#include "storage/tables/catalog.h"
#include "tidemark/v1/state_service.pb.h"

namespace tidemark::services {

// What the service is given; all of it outlives the service.
struct StateServiceParts {
  state::StateReader& reader;
  const tables::Catalog& catalog;
  const ingest::SourceSet& sources;
  ReadPointResolver& resolver;
  Executor& executor;
  WatchHub& watches;
  const Clock& clock;
};

// Thread-safe. Outlives the calls it serves.
class StateService {
 public:
  explicit StateService(const StateServiceParts& parts);

  void Bind(ServiceBinder& binder);

  void GetRow(const v1::GetRowRequest& request, Reply<v1::GetRowResponse> reply);
  void BatchGetRows(const v1::BatchGetRowsRequest& request, Reply<v1::BatchGetRowsResponse> reply);
  void ScanRows(const v1::ScanRowsRequest& request, Reply<v1::ScanRowsResponse> reply);
  void WatchChanges(const v1::WatchChangesRequest& request,
                    ResponseStream<v1::WatchChangesResponse> stream);
  void GetSnapshot(const v1::GetSnapshotRequest& request, Reply<v1::GetSnapshotResponse> reply);
  absl::Status ListTables(const v1::ListTablesRequest& request, CallContext& context,
                          v1::ListTablesResponse* response);
  absl::Status GetTable(const v1::GetTableRequest& request, CallContext& context,
                        v1::GetTableResponse* response);

 private:
  void AnswerRow(const RowTarget& target, const ReadView& view,
                 const Reply<v1::GetRowResponse>& reply) const;
  void AnswerBatch(const std::vector<RowTarget>& targets, const ReadView& view,
                   const Reply<v1::BatchGetRowsResponse>& reply) const;
  void AnswerScan(const ScanTarget& target, const PageScope& scope, const ReadView& view,
                  const Reply<v1::ScanRowsResponse>& reply) const;
  absl::Status FillSnapshot(const ReadView& view, v1::Snapshot* snapshot) const;
  // Runs `work` on the executor, or finishes the call when it takes no more.
  template <typename Response, typename Work>
  void RunLater(const Reply<Response>& reply, Work work) const;
  absl::StatusOr<Stamp> StampOf(const ReadView& view, std::span<const tables::Table* const> tables,
                                CallContext& context) const;
  absl::Status FillStamp(const state::PublicationPtr& publication,
                         std::span<const tables::Table* const> tables,
                         v1::SnapshotStamp* out) const;
  void FillTable(const tables::Table& table, const state::PublicationPtr& publication,
                 v1::Table* out) const;

  // Of the newest incarnation: page tokens name snapshots too.
  PageTokenCodec PageTokens() const;

  const StateServiceParts parts_;
  const RowReads rows_;
};

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_STATE_SERVICE_H_
