#include "server/services/state_service.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/limits.h"
#include "server/read_errors.h"
#include "server/services/convert.h"
#include "server/services/listing.h"
#include "server/services/read_call.h"
#include "server/services/table_access.h"
#include "server/services/wire.h"

namespace tidemark::services {
namespace {

// Up to here a batch is read on the transport's thread: some 100 us, less than a hand-over costs
// under load.
constexpr int kInlineRefs = 128;

// The distinct tables of the targets, in order of their ids.
std::vector<const tables::Table*> TablesOf(const std::vector<RowTarget>& targets) {
  std::vector<const tables::Table*> tables;
  for (const RowTarget& target : targets) {
    if (tables.empty() || tables.back() != target.table) tables.push_back(target.table);
  }
  std::sort(tables.begin(), tables.end(),
            [](const tables::Table* a, const tables::Table* b) { return a->id < b->id; });
  tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
  return tables;
}

// What every page of a scan has in common.
std::string ScanIdentity(const v1::ScanRowsRequest& request) {
  v1::ScanRowsRequest identity = request;
  identity.clear_page_token();
  identity.clear_page_size();
  return identity.SerializeAsString();
}

}  // namespace

StateService::StateService(const StateServiceParts& parts)
    : parts_(parts), rows_(parts.reader, parts.catalog, parts.sources) {}

PageTokenCodec StateService::PageTokens() const {
  return PageTokenCodec(parts_.reader.incarnation());
}

void StateService::Bind(ServiceBinder& binder) {
  binder.Async("GetRow", this, &StateService::GetRow);
  binder.Async("BatchGetRows", this, &StateService::BatchGetRows);
  binder.Async("ScanRows", this, &StateService::ScanRows);
  binder.Stream("WatchChanges", this, &StateService::WatchChanges);
  binder.Async("GetSnapshot", this, &StateService::GetSnapshot);
  binder.Unary("ListTables", this, &StateService::ListTables);
  binder.Unary("GetTable", this, &StateService::GetTable);
}

void StateService::GetRow(const v1::GetRowRequest& request, Reply<v1::GetRowResponse> reply) {
  if (!request.decision().empty()) return reply.Finish(NotYetActedOn("decision"));
  absl::StatusOr<RowTarget> target =
      rows_.Target(reply.context().principal(), request.table(), request.key(), request.columns());
  if (!target.ok()) return reply.Finish(target.status());
  const tables::Table* const tables[] = {target->table};
  ReadThen(parts_.resolver,
           {.consistency = request.has_consistency() ? &request.consistency() : nullptr,
            .tables = tables,
            .with_sources = request.include_sources()},
           reply, [this, target = *std::move(target), reply](const ReadView& view) {
             AnswerRow(target, view, reply);
           });
}

void StateService::AnswerRow(const RowTarget& target, const ReadView& view,
                             const Reply<v1::GetRowResponse>& reply) const {
  state::StoredRow row;
  if (absl::Status status = rows_.Get(view, target, &row); !status.ok()) {
    return reply.Finish(status);
  }
  const tables::Table* const tables[] = {target.table};
  absl::StatusOr<Stamp> stamp = StampOf(view, tables, reply.context());
  if (!stamp.ok()) return reply.Finish(stamp.status());
  std::string scratch;
  absl::StatusOr<std::string_view> shown = ShownRow(row.bytes(), target.columns, &scratch);
  if (!shown.ok()) return reply.Finish(shown.status());
  SmallWire head, middle;
  if (row.found()) head.Length(v1::GetRowResponse::kRowFieldNumber, shown->size());
  middle.Number(v1::GetRowResponse::kRowVersionFieldNumber, row.version())
      .Length(v1::GetRowResponse::kReadAtFieldNumber, stamp->wire().size());
  reply.FinishWithWire({head.bytes(), *shown, middle.bytes(), stamp->wire()});
}

void StateService::BatchGetRows(const v1::BatchGetRowsRequest& request,
                                Reply<v1::BatchGetRowsResponse> reply) {
  if (!request.decision().empty()) return reply.Finish(NotYetActedOn("decision"));
  if (request.refs().empty() || request.refs_size() > static_cast<int>(limits::kMaxBatchRefs)) {
    return reply.Finish(FieldInvalid("refs", absl::StrCat("must be 1 to ", limits::kMaxBatchRefs,
                                                          ", not ", request.refs_size(), ".")));
  }
  const Principal& principal = reply.context().principal();
  std::vector<RowTarget> targets;
  targets.reserve(request.refs_size());
  for (const v1::RowRef& ref : request.refs()) {
    absl::StatusOr<RowTarget> target =
        rows_.Target(principal, ref.table(), ref.key(), ref.columns());
    if (!target.ok()) {  // once more, now with the path that a good one does not need
      return reply.Finish(rows_
                              .Target(principal, ref.table(), ref.key(), ref.columns(),
                                      absl::StrCat("refs[", targets.size(), "]."))
                              .status());
    }
    targets.push_back(*std::move(target));
  }
  const std::vector<const tables::Table*> tables = TablesOf(targets);
  ReadThen(parts_.resolver,
           {.consistency = request.has_consistency() ? &request.consistency() : nullptr,
            .tables = tables,
            .with_sources = request.include_sources()},
           reply, [this, targets = std::move(targets), reply](const ReadView& view) mutable {
             if (targets.size() <= kInlineRefs) return AnswerBatch(targets, view, reply);
             RunLater(reply, [this, targets = std::move(targets), view, reply] {
               AnswerBatch(targets, view, reply);
             });
           });
}

void StateService::AnswerBatch(const std::vector<RowTarget>& targets, const ReadView& view,
                               const Reply<v1::BatchGetRowsResponse>& reply) const {
  absl::StatusOr<std::string> results = rows_.Batch(view, targets, reply.context());
  if (!results.ok()) return reply.Finish(results.status());
  absl::StatusOr<Stamp> stamp = StampOf(view, TablesOf(targets), reply.context());
  if (!stamp.ok()) return reply.Finish(stamp.status());
  SmallWire head;
  head.Length(v1::BatchGetRowsResponse::kReadAtFieldNumber, stamp->wire().size());
  reply.FinishWithWire({*results, head.bytes(), stamp->wire()});
}

void StateService::ScanRows(const v1::ScanRowsRequest& request, Reply<v1::ScanRowsResponse> reply) {
  if (!request.decision().empty()) return reply.Finish(NotYetActedOn("decision"));
  absl::StatusOr<ScanTarget> target = rows_.ScanOf(reply.context().principal(), request);
  if (!target.ok()) return reply.Finish(target.status());
  const PageScope scope = ScopeOf(reply.context(), ScanIdentity(request));
  // Later pages are read at the snapshot of the first one, whatever it was asked for.
  v1::Consistency of_first_page;
  const v1::Consistency* consistency = request.has_consistency() ? &request.consistency() : nullptr;
  if (!request.page_token().empty()) {
    absl::StatusOr<PageToken> token = PageTokens().Decode(request.page_token(), scope);
    if (!token.ok()) return reply.Finish(token.status());
    target->after = std::move(token->after);
    of_first_page.set_exact(parts_.reader.TokenOf(token->snapshot));
    consistency = &of_first_page;
  }
  const tables::Table* const tables[] = {target->table};
  ReadThen(
      parts_.resolver,
      {.consistency = consistency, .tables = tables, .with_sources = request.include_sources()},
      reply, [this, target = *std::move(target), scope, reply](const ReadView& view) {
        RunLater(reply,
                 [this, target, scope, view, reply] { AnswerScan(target, scope, view, reply); });
      });
}

void StateService::AnswerScan(const ScanTarget& target, const PageScope& scope,
                              const ReadView& view,
                              const Reply<v1::ScanRowsResponse>& reply) const {
  absl::StatusOr<ScanPage> page = rows_.Scan(view, target, reply.context());
  if (!page.ok()) return reply.Finish(page.status());
  const tables::Table* const tables[] = {target.table};
  absl::StatusOr<Stamp> stamp = StampOf(view, tables, reply.context());
  if (!stamp.ok()) return reply.Finish(stamp.status());
  std::string next;
  if (page->has_more) {
    AppendBytes(v1::ScanRowsResponse::kNextPageTokenFieldNumber,
                PageTokens().Encode({.snapshot = view.point.id, .after = page->last_key}, scope),
                &next);
  }
  SmallWire head;
  head.Length(v1::ScanRowsResponse::kReadAtFieldNumber, stamp->wire().size());
  reply.FinishWithWire({page->rows, next, head.bytes(), stamp->wire()});
}

void StateService::WatchChanges(const v1::WatchChangesRequest& request,
                                ResponseStream<v1::WatchChangesResponse> stream) {
  parts_.watches.Open(request, std::move(stream));
}

void StateService::GetSnapshot(const v1::GetSnapshotRequest& request,
                               Reply<v1::GetSnapshotResponse> reply) {
  const std::vector<const tables::Table*> tables =
      ReadableTables(parts_.catalog, reply.context().principal());
  v1::Consistency oldest;
  const v1::Consistency* consistency = request.has_at() ? &request.at() : nullptr;
  if (request.has_earliest()) {
    oldest.set_exact(parts_.reader.TokenOf(parts_.reader.Latest()->floor()));
    consistency = &oldest;
  }
  ReadThen(parts_.resolver,
           {.consistency = consistency, .tables = tables, .with_sources = true, .field = "at"},
           reply, [this, reply](const ReadView& view) {
             reply.Finish(FillSnapshot(view, reply.response().mutable_snapshot()));
           });
}

absl::Status StateService::FillSnapshot(const ReadView& view, v1::Snapshot* snapshot) const {
  TIDEMARK_ASSIGN_OR_RETURN(const state::SnapshotInfo info, parts_.reader.Describe(view.point));
  snapshot->set_token(parts_.reader.TokenOf(info.id));
  snapshot->set_snapshot_id(info.id);
  if (info.commit_time != absl::InfinitePast()) {
    ToTimestamp(info.commit_time, snapshot->mutable_commit_time());
  }
  FillSources(view, info, parts_.sources, parts_.clock.Now(), snapshot->mutable_sources());
  return absl::OkStatus();
}

absl::Status StateService::ListTables(const v1::ListTablesRequest& request, CallContext& context,
                                      v1::ListTablesResponse* response) {
  const std::vector<const tables::Table*> tables =
      ReadableTables(parts_.catalog, context.principal());
  const state::PublicationPtr publication = parts_.reader.Latest();
  TIDEMARK_RETURN_IF_ERROR(FillStamp(publication, tables, response->mutable_read_at()));
  TIDEMARK_ASSIGN_OR_RETURN(
      *response->mutable_next_page_token(),
      ListPage(
          tables, [](const tables::Table* table) { return table->definition.name; },
          request.page_size(), request.page_token(), ScopeOf(context, ""), PageTokens(),
          [&](const tables::Table* table) {
            FillTable(*table, publication, response->add_tables());
          }));
  return absl::OkStatus();
}

absl::Status StateService::GetTable(const v1::GetTableRequest& request, CallContext& context,
                                    v1::GetTableResponse* response) {
  TIDEMARK_ASSIGN_OR_RETURN(const tables::Table* table,
                            FindTable(parts_.catalog, context.principal(), request.name(), "name"));
  const tables::Table* const tables[] = {table};
  const state::PublicationPtr publication = parts_.reader.Latest();
  FillTable(*table, publication, response->mutable_table());
  return FillStamp(publication, tables, response->mutable_read_at());
}

absl::Status StateService::FillStamp(const state::PublicationPtr& publication,
                                     std::span<const tables::Table* const> tables,
                                     v1::SnapshotStamp* out) const {
  TIDEMARK_ASSIGN_OR_RETURN(const Stamp stamp,
                            Stamp::Of({.point = LatestPoint(publication)}, tables, parts_.reader,
                                      parts_.sources, parts_.clock.Now()));
  const std::string_view wire = stamp.wire();
  if (!out->ParseFromArray(wire.data(), static_cast<int>(wire.size()))) {
    return absl::InternalError("the publication's stamp is no SnapshotStamp");
  }
  return absl::OkStatus();
}

void StateService::FillTable(const tables::Table& table, const state::PublicationPtr& publication,
                             v1::Table* out) const {
  const tables::Table* const tables[] = {&table};
  // No key is empty: this asks only whether the table can be read.
  state::StoredRow none;
  const absl::Status readable = parts_.reader.Get(LatestPoint(publication), table.id, "", &none);
  ToTable(table,
          {.loading = ReasonOf(readable) == Reason::kTableLoading,
           .degraded = publication->IsDegraded(table.id),
           .sources = StatusOfSources(parts_.catalog, parts_.sources, tables)},
          parts_.clock.Now(), out);
}

template <typename Response, typename Work>
void StateService::RunLater(const Reply<Response>& reply, Work work) const {
  absl::Status refused = parts_.executor.Submit(std::move(work));
  if (!refused.ok()) reply.Finish(refused);
}

absl::StatusOr<Stamp> StateService::StampOf(const ReadView& view,
                                            std::span<const tables::Table* const> tables,
                                            CallContext& context) const {
  absl::StatusOr<Stamp> stamp =
      Stamp::Of(view, tables, parts_.reader, parts_.sources, parts_.clock.Now());
  if (stamp.ok()) context.NoteToken(stamp->token());
  return stamp;
}

}  // namespace tidemark::services
