// A store, a catalog of three tables, an applier and its sources, for tests of the applier.
//
//   accounts        last_row of erp public.accounts: account (key), balance, note
//   sales           last_row of shop public.sales: sale (key), customer, total
//   customer_state  public.customers of erp (anchor) and totals over public.sales of shop
#ifndef TIDEMARK_TESTS_UNIT_SERVER_INGEST_APPLIER_FIXTURE_H_
#define TIDEMARK_TESTS_UNIT_SERVER_INGEST_APPLIER_FIXTURE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ingest/applier.h"
#include "storage/state/state_store.h"
#include "storage/tables/catalog.h"
#include "storage/tables/datum.h"
#include "storage/tables/row_codec.h"
#include "tests/support/fault_env.h"
#include "tests/support/scripted_source.h"
#include "tests/support/status_matchers.h"

namespace tidemark::ingest {

using tables::Datum;
using tables::Kind;
using tables::RowEvent;
using testing::IsOk;
using testing::ReasonIs;
using testing::ScriptedSource;

inline std::unique_ptr<tables::Catalog> OpenCatalog(state::StateStore& store) {
  auto definitions = tables::ParseTableDefinitions(R"(
- name: accounts
  key: [account]
  tier: seconds
  readers: [default]
  columns: {account: int, balance: int, note: string}
  merge: last_row
  from: {source: erp, relation: public.accounts}
- name: sales
  key: [sale]
  tier: seconds
  readers: [default]
  columns: {sale: int, customer: string, total: int}
  merge: last_row
  from: {source: shop, relation: public.sales}
- name: customer_state
  key: [customer]
  tier: seconds
  readers: [default]
  columns: {customer: string, name: string, sales: int, total: int}
  groups:
    - name: master
      from: {source: erp, relation: public.customers}
      columns: {name: name}
      on_delete: row
    - name: sales
      from: {source: shop, relation: public.sales}
      group_by: {customer: customer}
      aggregates: {sales: {count: "*"}, total: {sum: total}}
)",
                                                   {"erp", "shop"});
  EXPECT_THAT(definitions, IsOk());
  auto catalog = tables::Catalog::Open(*std::move(definitions), store.writer());
  EXPECT_THAT(catalog, IsOk());
  return *std::move(catalog);
}

// Rows of one table by key, as text: what a reader sees, in a form that compares and prints well.
using Rows = std::map<std::string, std::string>;

inline std::string Text(const Datum& datum) {
  switch (datum.kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kInt:
      return std::to_string(datum.number());
    default:
      return datum.text();
  }
}

inline std::string Text(const std::vector<Datum>& row) {
  std::string text;
  for (const Datum& datum : row) text += (text.empty() ? "" : "|") + Text(datum);
  return text;
}

inline Rows RowsAt(state::StateReader& reader, const state::ReadPoint& point,
                   const tables::Table& table) {
  Rows rows;
  auto cursor = reader.Scan(point, table.id, {});
  EXPECT_THAT(cursor, IsOk());
  if (!cursor.ok()) return rows;
  for (; (*cursor)->Valid(); (*cursor)->Next()) {
    const auto row = tables::DecodeRow(table.definition, (*cursor)->row().bytes());
    EXPECT_THAT(row, IsOk());
    if (row.ok()) rows[Text((*row)[0])] = Text(*row);
  }
  EXPECT_THAT((*cursor)->status(), IsOk());
  return rows;
}

// LevelDB with small caches on `env`; it is the caller's to close the store before `env`.
inline std::unique_ptr<state::StateStore> OpenLevelDb(testing::FaultEnv& env,
                                                      size_t max_batch_bytes = 8 << 20) {
  state::StateOptions options;
  options.dir = "/state";
  options.block_cache_bytes = 1 << 20;
  options.row_cache_bytes = 1 << 20;
  options.max_batch_bytes = max_batch_bytes;
  options.stamp_encoder = [](const state::SnapshotInfo&, std::string_view token, bool) {
    return std::string(token);
  };
  options.env = &env;
  auto store = state::OpenLevelDbStore(std::move(options));
  EXPECT_THAT(store, IsOk());
  return *std::move(store);
}

class ApplierFixture {
 public:
  explicit ApplierFixture(std::unique_ptr<state::StateStore> store, ApplierOptions options = {})
      : store_(std::move(store)), catalog_(OpenCatalog(*store_)) {
    applier_ = MakeApplier(*catalog_, *store_, options);
    erp_ = std::make_unique<ScriptedSource>("erp", *applier_, clock_);
    shop_ = std::make_unique<ScriptedSource>("shop", *applier_, clock_);
    applier_->SetMarkProvider([this]() -> std::vector<state::SourceMark> {
      return {{"erp", "", erp_->FreshAsOf()}, {"shop", "", shop_->FreshAsOf()}};
    });
  }
  ~ApplierFixture() { Stop(); }

  void Start() {
    ASSERT_THAT(applier_->Start(), IsOk());
    erp_->Start();
    shop_->Start();
  }
  // As the server: sources first.
  void Stop() {
    erp_->Stop();
    shop_->Stop();
    applier_->Stop();
  }
  void StartReadable() {
    Start();
    MakeReadable();
  }
  // Ends the first copies: every table is readable, and empty unless rows were copied.
  void MakeReadable() {
    ASSERT_THAT(erp_->FinishCopy({"public.accounts", "public.customers"}), IsOk());
    ASSERT_THAT(shop_->FinishCopy({"public.sales"}), IsOk());
  }

  // --- Events.
  RowEvent PutAccount(int64_t account, int64_t balance, std::string note = "") const {
    return ScriptedSource::Update(accounts_, Account(account, balance, std::move(note)));
  }
  RowEvent DeleteAccount(int64_t account) const {
    return ScriptedSource::Delete(accounts_,
                                  {Datum::Int(account), Datum::Unchanged(), Datum::Unchanged()});
  }
  RowEvent PutCustomer(std::string customer, std::string name) const {
    return ScriptedSource::Update(
        customers_, {Datum::String(std::move(customer)), Datum::String(std::move(name))});
  }
  RowEvent PutSale(int64_t sale, std::string customer, int64_t total) const {
    return ScriptedSource::Update(
        sales_, {Datum::Int(sale), Datum::String(std::move(customer)), Datum::Int(total)});
  }
  // One that no table can take: its relation lacks the table's key.
  RowEvent BadAccount() const {
    return ScriptedSource::Insert(keyless_, {Datum::Int(1), Datum::String("")});
  }
  static std::vector<Datum> Account(int64_t account, int64_t balance, std::string note = "") {
    return {Datum::Int(account), Datum::Int(balance), Datum::String(std::move(note))};
  }

  // --- What readers see.
  const tables::Table& table(std::string_view name) const { return *catalog_->Find(name); }
  state::StateReader& reader() { return store_->reader(); }
  Rows Now(std::string_view name) { return At(reader().Latest()->id(), name); }
  Rows At(state::SnapshotId id, std::string_view name) {
    const auto point = reader().PointAt(reader().Latest(), id);
    EXPECT_THAT(point, IsOk());
    return point.ok() ? RowsAt(reader(), *point, table(name)) : Rows();
  }
  state::SnapshotId id() { return reader().Latest()->id(); }
  bool IsDegraded(std::string_view name) { return reader().Latest()->IsDegraded(table(name).id); }

  Applier& applier() { return *applier_; }
  ScriptedSource& erp() { return *erp_; }
  ScriptedSource& shop() { return *shop_; }
  const tables::Catalog& catalog() const { return *catalog_; }
  state::StateStore& store() { return *store_; }
  ManualClock& clock() { return clock_; }
  const ScriptedSource::Schema& accounts() const { return accounts_; }

 private:
  ManualClock clock_{absl::FromUnixSeconds(1000)};
  std::unique_ptr<state::StateStore> store_;
  std::unique_ptr<tables::Catalog> catalog_;
  std::unique_ptr<Applier> applier_;
  std::unique_ptr<ScriptedSource> erp_, shop_;
  ScriptedSource::Schema accounts_ =
      MakeSchema("erp", "public.accounts",
                 {{"account", Kind::kInt, true}, {"balance", Kind::kInt}, {"note", Kind::kString}});
  ScriptedSource::Schema keyless_ =
      MakeSchema("erp", "public.accounts", {{"balance", Kind::kInt}, {"note", Kind::kString}});
  ScriptedSource::Schema customers_ = MakeSchema(
      "erp", "public.customers", {{"customer", Kind::kString, true}, {"name", Kind::kString}});
  ScriptedSource::Schema sales_ =
      MakeSchema("shop", "public.sales",
                 {{"sale", Kind::kInt, true}, {"customer", Kind::kString}, {"total", Kind::kInt}});

  static ScriptedSource::Schema MakeSchema(std::string source, std::string name,
                                           std::vector<tables::RelationColumn> columns) {
    auto schema = std::make_shared<tables::RelationSchema>();
    schema->source = std::move(source);
    schema->name = std::move(name);
    schema->columns = std::move(columns);
    return schema;
  }
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_TESTS_UNIT_SERVER_INGEST_APPLIER_FIXTURE_H_
