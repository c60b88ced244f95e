#include "tests/integration/cases/case_world.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/check.h"

namespace tidemark::testing {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(2);

void SetDeadline(grpc::ClientContext& context, absl::Duration in) {
  context.set_deadline(absl::ToChronoTime(absl::Now() + in));
}

void Check(const grpc::Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: code %d: %s\n", what, status.error_code(),
               status.error_message().c_str());
  std::abort();
}

std::string ValueText(const v1::Value& value) {
  switch (value.kind_case()) {
    case v1::Value::kNullValue:
      return "null";
    case v1::Value::kIntValue:
      return std::to_string(value.int_value());
    case v1::Value::kStringValue:
      return value.string_value();
    default:
      return value.ShortDebugString();
  }
}

std::string OpText(v1::Op op) { return v1::Op_Name(op).substr(std::string("OP_").size()); }

}  // namespace

CaseWorld::CaseWorld(const std::string& schema, const std::string& tables, PostgresServer* server)
    : slot_(CreateDatabase(server != nullptr ? *server : SharedPostgres())),
      dsn_((server != nullptr ? *server : SharedPostgres()).Dsn(slot_)),
      sql_(dsn_) {
  sql_.Exec(schema);
  dir_.Write("erp.dsn", dsn_ + "\n");
  dir_.Write("tidemark.yaml", absl::StrCat("sources:\n  - {name: erp, kind: postgres, dsn_file: "
                                           "erp.dsn, slot: ",
                                           slot_, ", probe_every: 100ms}\ntables:", tables));
}

CaseWorld::~CaseWorld() {
  if (state_ != nullptr) server_.Kill();
  // The PostgreSQL may be shared: a slot left behind would keep its log.
  AwaitSql(absl::StrCat("SELECT count(*) = 0 FROM pg_replication_slots WHERE slot_name = '", slot_,
                        "'", " AND active"));
  sql_.Exec(
      "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE "
      "database = current_database()");
}

void CaseWorld::AwaitSql(const std::string& condition) {
  sql_.Exec(absl::StrCat("SET statement_timeout = '2min'; DO $wait$ BEGIN WHILE NOT coalesce((",
                         condition,
                         "), false) LOOP PERFORM pg_sleep(0.005); PERFORM "
                         "pg_stat_clear_snapshot(); END LOOP; END $wait$; "
                         "SET statement_timeout = 0"));
}

bool CaseWorld::Start() {
  if (!server_.Start({"--config=" + dir_.File("tidemark.yaml")})) return false;
  channel_ = grpc::CreateChannel(server_.target(), grpc::InsecureChannelCredentials());
  state_ = v1::StateService::NewStub(channel_);
  ingest_ = v1::IngestService::NewStub(channel_);
  return true;
}

RunResult CaseWorld::StartInVain() {
  return RunTidemarkd({"--config=" + dir_.File("tidemark.yaml"), "--data-dir=" + server_.data_dir(),
                       "--listen=127.0.0.1:0", "--metrics-listen=off"});
}

v1::SnapshotStamp CaseWorld::Now() {
  v1::GetSnapshotRequest request;
  request.mutable_at()->mutable_source_recency();
  const absl::Time deadline = absl::Now() + kPatience;
  grpc::Status status;
  do {
    // A probe that the source cannot answer while it connects is asked again.
    grpc::ClientContext context;
    SetDeadline(context, deadline - absl::Now());
    v1::GetSnapshotResponse response;
    status = state_->GetSnapshot(&context, request, &response);
    if (status.ok()) {
      v1::SnapshotStamp stamp;
      stamp.set_token(response.snapshot().token());
      stamp.set_snapshot_id(response.snapshot().snapshot_id());
      *stamp.mutable_sources() = response.snapshot().sources();
      return stamp;
    }
  } while (status.error_code() == grpc::StatusCode::UNAVAILABLE && absl::Now() < deadline);
  Check(status, "waiting for the source");
  return {};
}

v1::SourceStatus CaseWorld::SourceStatus() {
  grpc::ClientContext context;
  SetDeadline(context, kPatience);
  v1::GetSourceRequest request;
  request.set_name("erp");
  v1::GetSourceResponse response;
  Check(ingest_->GetSource(&context, request, &response), "GetSource");
  return response.source().status();
}

void CaseWorld::AwaitSource(v1::SourceState state) {
  const absl::Time deadline = absl::Now() + kPatience;
  while (SourceStatus().state() != state) TIDEMARK_CHECK(absl::Now() < deadline);
}

grpc::Status CaseWorld::GetRow(const std::string& table, const std::vector<v1::Value>& key,
                               const v1::Consistency& consistency, v1::GetRowResponse* response,
                               absl::Duration deadline) {
  v1::GetRowRequest request;
  request.set_table(table);
  for (const v1::Value& value : key) *request.add_key() = value;
  *request.mutable_consistency() = consistency;
  grpc::ClientContext context;
  SetDeadline(context, deadline);
  return state_->GetRow(&context, request, response);
}

Texts CaseWorld::Rows(const std::string& table) { return Rows(table, v1::Consistency()); }

Texts CaseWorld::Rows(const std::string& table, const v1::SnapshotStamp& stamp) {
  return Rows(table, Exactly(stamp));
}

Texts CaseWorld::Rows(const std::string& table, const v1::Consistency& consistency) {
  v1::ScanRowsRequest request;
  request.set_table(table);
  request.set_page_size(10000);
  *request.mutable_consistency() = consistency;
  Texts rows;
  do {
    grpc::ClientContext context;
    SetDeadline(context, kPatience);
    v1::ScanRowsResponse page;
    Check(state_->ScanRows(&context, request, &page), "ScanRows");
    for (const v1::KeyedRow& row : page.rows()) rows.push_back(RowText(row.row()));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return rows;
}

std::vector<v1::WatchChangesResponse> CaseWorld::Messages(const v1::SnapshotStamp& start,
                                                          const Texts& tables) {
  const uint64_t end = Now().snapshot_id();
  v1::WatchChangesRequest request;
  for (const std::string& table : tables) request.add_tables()->set_table(table);
  request.set_after(start.token());
  request.set_include_before(true);
  grpc::ClientContext context;
  SetDeadline(context, kPatience);
  const auto stream = state_->WatchChanges(&context, request);
  std::vector<v1::WatchChangesResponse> messages;
  uint64_t at = 0;
  while (at < end) {
    v1::WatchChangesResponse message;
    if (!stream->Read(&message)) break;
    if (!message.fragment() && message.checkpoint()) at = message.at().snapshot_id();
    messages.push_back(std::move(message));
  }
  context.TryCancel();
  v1::WatchChangesResponse rest;
  while (stream->Read(&rest)) messages.push_back(rest);
  const grpc::Status status = stream->Finish();
  if (at < end) Check(status, "WatchChanges");
  TIDEMARK_CHECK(at >= end);
  return messages;
}

Texts CaseWorld::Feed(const v1::SnapshotStamp& start, const Texts& tables) {
  Texts texts;
  for (const v1::WatchChangesResponse& message : Messages(start, tables)) {
    for (const v1::Change& change : message.changes()) {
      texts.push_back(absl::StrCat("+", message.at().snapshot_id() - start.snapshot_id(), " ",
                                   ChangeText(change)));
    }
  }
  return texts;
}

v1::Value IntValue(int64_t number) {
  v1::Value value;
  value.set_int_value(number);
  return value;
}

v1::Consistency Exactly(const v1::SnapshotStamp& stamp) {
  v1::Consistency consistency;
  consistency.set_exact(stamp.token());
  return consistency;
}

v1::Consistency AtPosition(const std::string& position) {
  v1::Consistency consistency;
  consistency.mutable_at_position()->set_source("erp");
  consistency.mutable_at_position()->set_position(position);
  return consistency;
}

std::string RowText(const v1::Row& row) {
  std::map<std::string, std::string> columns;
  for (const auto& [column, value] : row.columns()) columns[column] = ValueText(value);
  return absl::StrJoin(columns, " ", absl::PairFormatter("="));
}

std::string ChangeText(const v1::Change& change) {
  Texts key;
  for (const v1::Value& value : change.key()) key.push_back(ValueText(value));
  std::string text =
      absl::StrCat(OpText(change.op()), " ", change.table(), "(", absl::StrJoin(key, ","), ")");
  if (change.has_before()) absl::StrAppend(&text, " ", RowText(change.before()));
  if (change.has_after()) absl::StrAppend(&text, " -> ", RowText(change.after()));
  return text;
}

Texts SqlTexts(const SqlRows& rows, const Texts& columns) {
  Texts texts;
  for (const SqlRow& row : rows) {
    Texts values;
    for (size_t i = 0; i < row.size(); ++i) {
      values.push_back(absl::StrCat(columns.at(i), "=", row[i].value_or("null")));
    }
    texts.push_back(absl::StrJoin(values, " "));
  }
  return texts;
}

}  // namespace tidemark::testing
