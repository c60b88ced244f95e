#include "tests/unit/server/ingest/postgres/followed_world.h"

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/strings.h"
#include "storage/tables/row_codec.h"
#include "storage/tables/value_text.h"

namespace tidemark::testing {
namespace {

using tables::Datum;
using tables::Kind;

void Check(const absl::Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  std::abort();
}

std::string MakeDir() {
  std::string dir = "/tmp/tm-world-XXXXXX";
  if (mkdtemp(dir.data()) == nullptr) std::abort();
  return dir;
}

std::chrono::steady_clock::time_point DeadlineIn(absl::Duration timeout) {
  return std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(timeout);
}

}  // namespace

void Happening::Happen(const absl::Status& status) {
  MutexLock lock(mutex_);
  happened_ = true;
  status_ = status;
  changed_.NotifyAll();
}

absl::Status Happening::Await(absl::Duration timeout) {
  const auto deadline = DeadlineIn(timeout);
  MutexLock lock(mutex_);
  while (!happened_) {
    if (!changed_.WaitUntil(mutex_, deadline) && !happened_) {
      return absl::DeadlineExceededError("it did not happen in time");
    }
  }
  return status_;
}

FollowedWorld::FollowedWorld(WorldOptions options)
    : options_(std::move(options)),
      server_(options_.server != nullptr ? *options_.server : SharedPostgres()),
      database_(CreateDatabase(server_)),
      dir_(MakeDir()),
      shop_database_(options_.with_shop ? CreateDatabase(server_) : "") {}

FollowedWorld::~FollowedWorld() {
  Close();
  // The server may be shared: a slot left behind would keep its log, and use one of its slots up.
  auto sql = SqlClient::Connect(dsn());
  if (sql.ok()) {
    (*sql)
        ->TryQuery(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
            "WHERE database IN ('" +
            database_ + "', '" + shop_database_ + "') AND NOT active")
        .status()
        .IgnoreError();
  }
  std::filesystem::remove_all(dir_);
}

SqlClient& FollowedWorld::sql() {
  if (sql_ == nullptr) sql_ = std::make_unique<SqlClient>(dsn());
  return *sql_;
}

SqlClient& FollowedWorld::shop_sql() {
  if (shop_sql_ == nullptr) shop_sql_ = std::make_unique<SqlClient>(server_.Dsn(shop_database_));
  return *shop_sql_;
}

void FollowedWorld::AwaitSql(const std::string& condition) {
  sql().Exec(absl::StrCat(
      "SET statement_timeout = ", absl::ToInt64Milliseconds(kDeadline),
      "; DO $wait$ BEGIN WHILE NOT coalesce((", condition,
      "), false) LOOP PERFORM pg_sleep(0.005); PERFORM pg_stat_clear_snapshot(); END LOOP; "
      "END $wait$; SET statement_timeout = 0"));
}

void FollowedWorld::DropSlot() {
  // The session of a connection that was just closed holds it for a moment.
  AwaitSql("SELECT NOT active FROM pg_replication_slots WHERE slot_name = 'tidemark_" + database_ +
           "'");
  sql().Exec("SELECT pg_drop_replication_slot('tidemark_" + database_ + "')");
}

ingest::PostgresSourceOptions FollowedWorld::SourceOptions(const std::string& name,
                                                           const std::string& database) {
  ingest::PostgresSourceOptions options;
  options.name = name;
  options.dsn = server_.Dsn(database);
  options.slot = "tidemark_" + database;  // slots of all databases share one name space
  options.publication = "tidemark";
  options.probe_every = absl::Milliseconds(200);
  options.status_every = absl::Seconds(1);
  options.retry_min = absl::Milliseconds(20);
  options.retry_max = absl::Milliseconds(500);
  options.spool_dir = dir_;
  return options;
}

void FollowedWorld::Open() {
  state::StateOptions store;
  store.dir = dir_ + "/state";
  store.stamp_encoder = [](const state::SnapshotInfo&, std::string_view, bool) { return ""; };
  auto opened = state::OpenLevelDbStore(store);
  Check(opened.status(), "opening the store");
  store_ = *std::move(opened);
  auto definitions = tables::ParseTableDefinitions(options_.tables, {"erp", "shop"});
  Check(definitions.status(), "parsing the tables");
  auto catalog = tables::Catalog::Open(*std::move(definitions), store_->writer());
  Check(catalog.status(), "opening the catalog");
  catalog_ = *std::move(catalog);
  applier_ = ingest::MakeApplier(*catalog_, *store_, options_.applier);
  Check(applier_->Start(), "starting the applier");

  ingest::PostgresSourceOptions source = SourceOptions("erp", database_);
  source.on_state = [this](ingest::SourceState state, const std::string& detail) {
    MutexLock lock(mutex_);
    state_ = {state, detail};
    states_.push_back(state_);
    changed_.NotifyAll();
  };
  if (options_.configure) options_.configure(source);
  source_ = ingest::MakePostgresSource(std::move(source), *catalog_, *applier_, SystemClock());
  source_->Start();
  if (!options_.with_shop) return;
  shop_ = ingest::MakePostgresSource(SourceOptions("shop", shop_database_), *catalog_, *applier_,
                                     SystemClock());
  shop_->Start();
}

void FollowedWorld::Close() {
  if (source_ != nullptr) source_->Stop();
  if (shop_ != nullptr) shop_->Stop();
  if (applier_ != nullptr) applier_->Stop();
  source_.reset();
  shop_.reset();
  applier_.reset();
  catalog_.reset();
  store_.reset();
  MutexLock lock(mutex_);
  state_ = {};
}

void FollowedWorld::SaveState(const std::string& name) {
  std::filesystem::copy(dir_ + "/state", dir_ + "/" + name,
                        std::filesystem::copy_options::recursive);
}

void FollowedWorld::RestoreState(const std::string& name) {
  std::filesystem::remove_all(dir_ + "/state");
  std::filesystem::copy(dir_ + "/" + name, dir_ + "/state",
                        std::filesystem::copy_options::recursive);
}

absl::Status FollowedWorld::AwaitState(ingest::SourceState state, const std::string& detail) {
  return AwaitStates(
      [&](const auto& now) { return now.first == state && absl::StrContains(now.second, detail); },
      /*passed=*/false);
}

absl::Status FollowedWorld::AwaitPassed(ingest::SourceState state, const std::string& detail) {
  return AwaitStates(
      [&](const auto& now) { return now.first == state && absl::StrContains(now.second, detail); },
      /*passed=*/true);
}

absl::Status FollowedWorld::AwaitStates(
    const std::function<bool(const std::pair<ingest::SourceState, std::string>&)>& wanted,
    bool passed) {
  const auto deadline = DeadlineIn(kDeadline);
  MutexLock lock(mutex_);
  while (!wanted(state_) && !(passed && std::any_of(states_.begin(), states_.end(), wanted))) {
    if (!changed_.WaitUntil(mutex_, deadline)) {
      return absl::DeadlineExceededError(absl::StrCat(
          "still ", ToAbsl(ingest::SourceStateName(state_.first)), ": ", state_.second));
    }
  }
  return absl::OkStatus();
}

absl::Status FollowedWorld::AwaitRecent(absl::Duration timeout) {
  absl::Status status = AwaitRecentOf(*source_, timeout);
  if (status.ok() && shop_ != nullptr) status = AwaitRecentOf(*shop_, timeout);
  return status;
}

absl::Status FollowedWorld::AwaitRecentOf(ingest::Source& source, absl::Duration timeout) {
  // A probe that fails while the server is away is asked again: only the deadline counts.
  const auto deadline = DeadlineIn(timeout);
  while (true) {
    auto happening = std::make_shared<Happening>();
    const auto wait =
        source.WhenRecent([happening](const absl::Status& s) { happening->Happen(s); });
    const auto left = deadline - std::chrono::steady_clock::now();
    const absl::Status status = happening->Await(absl::FromChrono(left));
    if (status.code() != absl::StatusCode::kUnavailable ||
        std::chrono::steady_clock::now() > deadline) {
      return status;
    }
  }
}

absl::Status FollowedWorld::AwaitPast(const std::string& lsn) {
  auto position = source_->ParsePosition(lsn);
  Check(position.status(), "parsing a position");
  auto happening = std::make_shared<Happening>();
  const auto wait =
      source_->WhenPast(*position, [happening](const absl::Status& s) { happening->Happen(s); });
  return happening->Await();
}

std::vector<std::pair<ingest::SourceState, std::string>> FollowedWorld::TakeStates() {
  MutexLock lock(mutex_);
  std::vector<std::pair<ingest::SourceState, std::string>> taken(states_.begin(), states_.end());
  states_.clear();
  return taken;
}

const tables::Table& FollowedWorld::FindTable(const std::string& name) {
  const tables::Table* table = catalog_->Find(name);
  if (table == nullptr) Check(absl::NotFoundError(name), "finding a table");
  return *table;
}

RowTexts FollowedWorld::Rows(const std::string& table) {
  return RowsOf(table, state::LatestPoint(reader().Latest()));
}

RowTexts FollowedWorld::RowsAt(const std::string& table, const std::string& lsn) {
  const auto position = source_->ParsePosition(lsn);
  Check(position.status(), "parsing a position");
  auto point = reader().NewestBefore(reader().Latest(), "erp", *position);
  Check(point.status(), "finding a snapshot");
  return RowsOf(table, *point);
}

RowTexts FollowedWorld::RowsOf(const std::string& name, const state::ReadPoint& point) {
  const tables::Table& table = FindTable(name);
  auto cursor = reader().Scan(point, table.id, {});
  Check(cursor.status(), "scanning");
  RowTexts rows;
  for (; (*cursor)->Valid(); (*cursor)->Next()) {
    auto row = tables::DecodeRow(table.definition, (*cursor)->row().bytes());
    Check(row.status(), "decoding a row");
    std::vector<std::string> columns;
    for (size_t i = 0; i < row->size(); ++i) {
      columns.push_back(absl::StrCat(table.definition.columns[i].name, "=", DatumText((*row)[i])));
    }
    rows.push_back(absl::StrJoin(columns, ", "));
  }
  Check((*cursor)->status(), "scanning");
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<Datum> FollowedWorld::FindRow(const std::string& name, const Datum& key) {
  const tables::Table& table = FindTable(name);
  const auto encoded = tables::EncodeKey(table.definition, std::vector<Datum>{key});
  Check(encoded.status(), "encoding a key");
  state::StoredRow row;
  Check(reader().Get(state::LatestPoint(reader().Latest()), table.id, *encoded, &row), "reading");
  if (!row.found()) return {};
  auto data = tables::DecodeRow(table.definition, row.bytes());
  Check(data.status(), "decoding a row");
  return *std::move(data);
}

std::vector<state::Change> FollowedWorld::ChangesAfter(state::SnapshotId id) {
  auto cursor = reader().Changes(reader().Latest(), id);
  Check(cursor.status(), "reading changes");
  std::vector<state::Change> changes;
  for (; (*cursor)->Valid(); (*cursor)->Next()) changes.push_back((*cursor)->change());
  Check((*cursor)->status(), "reading changes");
  return changes;
}

bool FollowedWorld::IsDegraded(const std::string& table) {
  return reader().Latest()->IsDegraded(FindTable(table).id);
}

std::string DatumText(const Datum& datum) {
  std::string text;
  switch (datum.kind()) {
    case Kind::kUnchanged:
      return "unchanged";
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return datum.number() != 0 ? "t" : "f";
    case Kind::kInt:
      return absl::StrCat(datum.number());
    case Kind::kDouble:
      return absl::StrCat("double ", datum.real());
    case Kind::kString:
    case Kind::kDecimal:
    case Kind::kJson:
      return datum.text();
    case Kind::kBytes:
      return "\\x" + ToHex(datum.text());
    case Kind::kDate:
      tables::AppendDate(static_cast<int32_t>(datum.number()), text);
      return text;
    case Kind::kTime:
      tables::AppendTime(datum.number(), text);
      return text;
    case Kind::kTimestamp:
      return absl::FormatTime("%Y-%m-%d %H:%M:%E*S", absl::FromUnixMicros(datum.number()),
                              absl::UTCTimeZone());
    case Kind::kList: {
      std::vector<std::string> items;
      for (const Datum& item : datum.items()) items.push_back(DatumText(item));
      return absl::StrCat("[", absl::StrJoin(items, ","), "]");
    }
  }
  return text;
}

RowTexts SqlTexts(const SqlRows& rows, const std::vector<std::string>& columns) {
  RowTexts texts;
  for (const SqlRow& row : rows) {
    std::vector<std::string> values;
    for (size_t i = 0; i < row.size(); ++i) {
      values.push_back(absl::StrCat(columns.at(i), "=", row[i].value_or("null")));
    }
    texts.push_back(absl::StrJoin(values, ", "));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace tidemark::testing
