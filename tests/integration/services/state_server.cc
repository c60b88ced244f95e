#include "tests/integration/services/state_server.h"

#include <stdlib.h>

#include <filesystem>

#include "common/check.h"

namespace tidemark {

StateServer::StateServer(const StateServerOptions& options) {
  char dir[] = "/tmp/tidemark_services_XXXXXX";
  TIDEMARK_CHECK(mkdtemp(dir) != nullptr);
  dir_ = dir;
  world_ = std::make_unique<testing::StateWorld>(testing::StateWorldOptions{
      .make_store = [this](state::StampEncoder encoder, const Clock& clock) {
        state::StateOptions store{.dir = dir_ + "/state",
                                  .block_cache_bytes = 8 << 20,
                                  .row_cache_bytes = 1 << 20,
                                  .clock = &clock,
                                  .stamp_encoder = std::move(encoder)};
        auto opened = state::OpenLevelDbStore(std::move(store));
        TIDEMARK_CHECK(opened.ok());
        return *std::move(opened);
      }});
  resolver_ = MakeReadPointResolver(world_->reader(), world_->catalog(), world_->sources(),
                                    world_->clock());
  hub_ = std::make_unique<services::WatchHub>(world_->reader(), world_->catalog(),
                                              world_->sources(), executor_, options.watch);
  state_service_ = std::make_unique<services::StateService>(
      services::StateServiceParts{.reader = world_->reader(),
                                  .catalog = world_->catalog(),
                                  .sources = world_->sources(),
                                  .resolver = *resolver_,
                                  .executor = executor_,
                                  .watches = *hub_,
                                  .clock = world_->clock()});
  ingest_service_ = std::make_unique<services::IngestService>(
      world_->sources(), world_->catalog(), world_->reader().incarnation(), world_->clock());
  state_service_->Bind(state_binder_);
  ingest_service_->Bind(ingest_binder_);
  server_ = std::make_unique<testing::TestServer>(
      std::vector<const ServiceBinder*>{&state_binder_, &ingest_binder_}, options.server);
  state_ = v1::StateService::NewStub(server_->channel());
  ingest_ = v1::IngestService::NewStub(server_->channel());
}

StateServer::~StateServer() {
  server_.reset();
  executor_.Stop();
  hub_.reset();
  resolver_.reset();
  world_.reset();
  std::filesystem::remove_all(dir_);
}

grpc::Status StateServer::GetRow(const v1::GetRowRequest& request, v1::GetRowResponse* response,
                                 absl::Duration deadline) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + deadline));
  response->Clear();
  return state_->GetRow(&context, request, response);
}

grpc::Status StateServer::Batch(const v1::BatchGetRowsRequest& request,
                                v1::BatchGetRowsResponse* response) {
  grpc::ClientContext context;
  response->Clear();
  return state_->BatchGetRows(&context, request, response);
}

grpc::Status StateServer::Scan(const v1::ScanRowsRequest& request, v1::ScanRowsResponse* response) {
  grpc::ClientContext context;
  response->Clear();
  return state_->ScanRows(&context, request, response);
}

v1::Value TextValue(const std::string& text) {
  v1::Value value;
  value.set_string_value(text);
  return value;
}

v1::Value IntValue(int64_t number) {
  v1::Value value;
  value.set_int_value(number);
  return value;
}

v1::GetRowRequest RowRequest(const std::string& table, const std::vector<v1::Value>& key) {
  v1::GetRowRequest request;
  request.set_table(table);
  for (const v1::Value& value : key) *request.add_key() = value;
  return request;
}

void AddRef(v1::BatchGetRowsRequest& request, const std::string& table,
            const std::vector<v1::Value>& key) {
  v1::RowRef* ref = request.add_refs();
  ref->set_table(table);
  for (const v1::Value& value : key) *ref->add_key() = value;
}

std::vector<tables::Datum> CustomerRow(const std::string& id, int64_t limit,
                                       const std::string& name) {
  using tables::Datum;
  return {Datum::String(id), Datum::String(name), Datum::Int(limit)};
}

std::vector<tables::Datum> OrderRow(const std::string& customer, int64_t number, int64_t total,
                                    const std::string& note) {
  using tables::Datum;
  return {Datum::String(customer), Datum::Int(number), Datum::Decimal(std::to_string(total)),
          Datum::String(note)};
}

}  // namespace tidemark
