// ScanRows, GetSnapshot, ListTables, GetTable.
#include <set>
#include <string>

#include "common/error.h"
#include "common/limits.h"
#include "server/services/convert.h"
#include "storage/tables/table_definition.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/server/services/service_fixture.h"

namespace tidemark::services {
namespace {

using testing::IsOk;
using testing::ReaderOf;
using testing::ReasonIs;

class ScanTest : public ServiceTest {
 protected:
  ScanTest() { world_.Load(); }

  void PutOrders(int customers, int orders, const std::string& note = "") {
    world_.Commit([&](StateWorld::Txn& txn) {
      for (int c = 0; c < customers; ++c) {
        for (int o = 0; o < orders; ++o) {
          txn.Put("orders", Order("C-" + std::to_string(c), o, "1.00", note));
        }
      }
    });
  }
  static v1::ScanRowsRequest Orders(int page_size = 0, const std::string& customer = "") {
    v1::ScanRowsRequest request;
    request.set_table("orders");
    request.set_page_size(page_size);
    if (!customer.empty()) *request.add_key_prefix() = Text(customer);
    return request;
  }
};

TEST_F(ScanTest, PagesInKeyOrderAtTheSnapshotOfTheFirstPage) {
  PutOrders(3, 4);
  v1::ScanRowsRequest request = Orders(5);
  v1::ScanRowsResponse page;
  std::vector<std::string> keys;
  std::vector<int> sizes;
  std::set<uint64_t> snapshots;
  do {
    ASSERT_THAT(Scan(request, &page), IsOk());
    for (const v1::KeyedRow& row : page.rows()) {
      keys.push_back(row.key(0).string_value() + "/" + std::to_string(row.key(1).int_value()));
      EXPECT_EQ(row.row().columns().at("customer_id").string_value(), row.key(0).string_value());
      EXPECT_GT(row.row_version(), 0u);
    }
    sizes.push_back(page.rows_size());
    snapshots.insert(page.read_at().snapshot_id());
    request.set_page_token(page.next_page_token());
    PutOrders(4, 9);  // what comes after the first page is not seen
  } while (!page.next_page_token().empty());
  EXPECT_EQ(sizes, (std::vector<int>{5, 5, 2}));
  EXPECT_EQ(snapshots.size(), 1u);
  ASSERT_EQ(keys.size(), 12u);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
}

TEST_F(ScanTest, AFullLastPageHasNoSuccessor) {
  PutOrders(1, 10);
  v1::ScanRowsResponse page;
  ASSERT_THAT(Scan(Orders(10), &page), IsOk());
  EXPECT_EQ(page.rows_size(), 10);
  EXPECT_TRUE(page.next_page_token().empty());
  ASSERT_THAT(Scan(Orders(1, "C-7"), &page), IsOk());
  EXPECT_EQ(page.rows_size(), 0);
  EXPECT_TRUE(page.next_page_token().empty());
  EXPECT_GT(page.read_at().snapshot_id(), 0u);
}

TEST_F(ScanTest, KeyPrefixLimitsTheRows) {
  PutOrders(12, 3);
  v1::ScanRowsResponse page;
  ASSERT_THAT(Scan(Orders(0, "C-1"), &page), IsOk());
  ASSERT_EQ(page.rows_size(), 3);  // not those of C-10 and C-11
  for (const v1::KeyedRow& row : page.rows()) EXPECT_EQ(row.key(0).string_value(), "C-1");
  v1::ScanRowsRequest one = Orders(0, "C-1");
  *one.add_key_prefix() = Int(2);
  ASSERT_THAT(Scan(one, &page), IsOk());
  EXPECT_EQ(page.rows_size(), 1);
  *one.add_key_prefix() = Int(2);
  EXPECT_THAT(Scan(one), ReasonIs(Reason::kKeyMalformed));
  EXPECT_EQ(MetadataValue(Scan(one), "field"), "key_prefix");
}

TEST_F(ScanTest, PagesEndByBytesAsWell) {
  PutOrders(1, 8, std::string(1 << 20, 'x'));
  v1::ScanRowsRequest request = Orders(10000);
  v1::ScanRowsResponse page;
  int rows = 0, pages = 0;
  do {
    ASSERT_THAT(Scan(request, &page), IsOk());
    EXPECT_LE(page.ByteSizeLong(), limits::kMaxMessageBytes);
    rows += page.rows_size();
    ++pages;
    request.set_page_token(page.next_page_token());
  } while (!page.next_page_token().empty());
  EXPECT_EQ(rows, 8);
  EXPECT_EQ(pages, 4);
}

TEST_F(ScanTest, PageSizeHasADefaultACapAndNoNegatives) {
  PutOrders(2, 60);
  v1::ScanRowsResponse page;
  ASSERT_THAT(Scan(Orders(), &page), IsOk());
  EXPECT_EQ(page.rows_size(), static_cast<int>(limits::kDefaultPageSize));
  ASSERT_THAT(Scan(Orders(2000000000), &page), IsOk());
  EXPECT_EQ(page.rows_size(), 120);
  EXPECT_EQ(MetadataValue(Scan(Orders(-1)), "field"), "page_size");
}

TEST_F(ScanTest, APageTokenBelongsToItsRequestAndPrincipal) {
  PutOrders(2, 10);
  v1::ScanRowsResponse page;
  ASSERT_THAT(Scan(Orders(5, "C-0"), &page), IsOk());
  const std::string token = page.next_page_token();
  ASSERT_FALSE(token.empty());

  v1::ScanRowsRequest other_size = Orders(3, "C-0");  // the size of a page may change
  other_size.set_page_token(token);
  ASSERT_THAT(Scan(other_size, &page), IsOk());
  EXPECT_EQ(page.rows_size(), 3);
  EXPECT_EQ(page.rows(0).key(1).int_value(), 5);

  v1::ScanRowsRequest other_prefix = Orders(5, "C-1");
  v1::ScanRowsRequest other_columns = Orders(5, "C-0");
  other_columns.add_columns("note");
  v1::ScanRowsRequest other_table = Orders(5);
  other_table.set_table("customers");
  v1::ScanRowsRequest other_consistency = Orders(5, "C-0");
  other_consistency.mutable_consistency()->mutable_latest();
  for (v1::ScanRowsRequest* request :
       {&other_prefix, &other_columns, &other_table, &other_consistency}) {
    request->set_page_token(token);
    EXPECT_THAT(Scan(*request), ReasonIs(Reason::kPageTokenInvalid));
  }
  v1::ScanRowsRequest same = Orders(5, "C-0");
  same.set_page_token(token);
  EXPECT_THAT(Scan(same, nullptr, ReaderOf("default", "somebody else")),
              ReasonIs(Reason::kPageTokenInvalid));
  EXPECT_THAT(Scan(same, nullptr, ReaderOf("other")), ReasonIs(Reason::kPageTokenInvalid));
  same.set_page_token(token + "x");
  EXPECT_EQ(MetadataValue(Scan(same), "field"), "page_token");
}

TEST_F(ScanTest, AFullExecutorIsOverloadedAtOnce) {
  executor_.Stop();
  EXPECT_THAT(Scan(Orders()), ReasonIs(Reason::kShuttingDown));
}

TEST_F(ScanTest, GetSnapshotResolvesWithoutReading) {
  const state::SnapshotId old = PutCustomer("C-1", "Ann", 1);
  const state::SnapshotId now = PutCustomer("C-1", "Ann", 2);
  v1::GetSnapshotRequest request;
  v1::Snapshot snapshot;
  ASSERT_THAT(Snapshot(request, &snapshot), IsOk());
  EXPECT_EQ(snapshot.snapshot_id(), now);
  EXPECT_EQ(snapshot.token(), world_.Token(now));
  EXPECT_TRUE(snapshot.has_commit_time());
  ASSERT_EQ(snapshot.sources_size(), 2);
  EXPECT_EQ(snapshot.sources(0).source(), "erp");
  EXPECT_EQ(snapshot.sources(0).position(), "3");
  EXPECT_EQ(snapshot.sources(0).state(), v1::SOURCE_STATE_STREAMING);
  EXPECT_EQ(snapshot.sources(1).source(), "shop");

  request.mutable_at()->set_exact(world_.Token(old));
  ASSERT_THAT(Snapshot(request, &snapshot), IsOk());
  EXPECT_EQ(snapshot.snapshot_id(), old);
  EXPECT_EQ(snapshot.sources(0).position(), "2");
  EXPECT_EQ(snapshot.sources(0).state(), v1::SOURCE_STATE_UNSPECIFIED);

  request.mutable_at()->mutable_at_position()->set_source("erp");
  request.mutable_at()->mutable_at_position()->set_position("3");
  ASSERT_THAT(Snapshot(request, &snapshot), IsOk());
  EXPECT_EQ(snapshot.snapshot_id(), old);

  request.mutable_earliest();
  ASSERT_THAT(Snapshot(request, &snapshot), IsOk());
  EXPECT_EQ(snapshot.snapshot_id(), 1u);

  request.mutable_at()->set_tag("x");
  EXPECT_EQ(MetadataValue(Snapshot(request), "field"), "at.tag");
}

TEST_F(ScanTest, ListTablesPagesThroughWhatTheCallerMayRead) {
  const auto list = [&](const v1::ListTablesRequest& request, v1::ListTablesResponse* response,
                        const PrincipalPtr& principal = ReaderOf("default")) {
    CallContext context;
    CallContextForTest::Set(context, *FindMethod("StateService", "ListTables"), principal);
    response->Clear();
    return service_.ListTables(request, context, response);
  };
  v1::ListTablesRequest request;
  v1::ListTablesResponse response;
  ASSERT_THAT(list(request, &response), IsOk());
  ASSERT_EQ(response.tables_size(), 3);
  EXPECT_EQ(response.read_at().token(), world_.Token(world_.reader().Latest()->id()));
  EXPECT_EQ(response.tables(0).name(), "customers");
  EXPECT_EQ(response.tables(1).name(), "orders");
  EXPECT_EQ(response.tables(2).name(), "rates");
  EXPECT_TRUE(response.next_page_token().empty());

  request.set_page_size(2);
  ASSERT_THAT(list(request, &response), IsOk());
  EXPECT_EQ(response.tables_size(), 2);
  request.set_page_token(response.next_page_token());
  EXPECT_THAT(list(request, &response, ReaderOf("other")), ReasonIs(Reason::kPageTokenInvalid));
  ASSERT_THAT(list(request, &response), IsOk());
  ASSERT_EQ(response.tables_size(), 1);
  EXPECT_EQ(response.tables(0).name(), "rates");
  EXPECT_TRUE(response.next_page_token().empty());
  ASSERT_THAT(list({}, &response, ReaderOf("nobody")), IsOk());
  EXPECT_EQ(response.tables_size(), 0);
  request.set_page_size(-1);
  EXPECT_THAT(list(request, &response), ReasonIs(Reason::kFieldInvalid));
}

class TableTest : public ServiceTest {
 protected:
  absl::Status GetTable(const std::string& name, v1::Table* table) {
    CallContext context;
    CallContextForTest::Set(context, *FindMethod("StateService", "GetTable"), ReaderOf("default"));
    v1::GetTableRequest request;
    request.set_name(name);
    v1::GetTableResponse response;
    absl::Status status = service_.GetTable(request, context, &response);
    *table = response.table();
    return status;
  }
};

TEST_F(TableTest, TellsDefinitionStateAndProgress) {
  world_.Load({"customers", "orders"});
  v1::Table table;
  ASSERT_THAT(GetTable("orders", &table), IsOk());
  EXPECT_EQ(table.name(), "orders");
  ASSERT_EQ(table.key_size(), 2);
  EXPECT_EQ(table.key(1), "order_no");
  ASSERT_EQ(table.columns_size(), 4);
  EXPECT_EQ(table.columns(2).name(), "total");
  EXPECT_EQ(table.columns(2).type(), "decimal");
  EXPECT_EQ(table.columns(2).group(), "");
  EXPECT_EQ(table.tier(), "seconds");
  EXPECT_EQ(table.state(), v1::TABLE_STATE_READY);
  EXPECT_EQ(table.atomicity(), v1::ATOMICITY_TRANSACTION);
  EXPECT_EQ(table.merge(), "last_row");
  ASSERT_EQ(table.relations_size(), 1);
  EXPECT_EQ(table.relations(0).source(), "erp");
  EXPECT_EQ(table.relations(0).relation(), "public.orders");
  ASSERT_EQ(table.sources_size(), 1);

  world_.shop().SetStatus([](ingest::SourceStatus& status) {
    status.atomicity = ingest::Atomicity::kEvent;
    status.relations = {{"rates", false, 5, 20}};
  });
  world_.erp().SetStatus([](ingest::SourceStatus& status) {
    status.relations = {{"public.days", true, 10, 0}};
  });
  ASSERT_THAT(GetTable("rates", &table), IsOk());
  EXPECT_EQ(table.state(), v1::TABLE_STATE_LOADING);
  EXPECT_EQ(table.atomicity(), v1::ATOMICITY_EVENT);
  EXPECT_EQ(table.merge(), "groups");
  EXPECT_EQ(table.columns(2).group(), "quoted");
  EXPECT_EQ(table.columns(0).group(), "");
  ASSERT_EQ(table.relations_size(), 2);
  EXPECT_EQ(table.relations(1).group(), "quoted");
  EXPECT_EQ(table.loading().rows_copied(), 15u);
  EXPECT_EQ(table.loading().rows_estimated(), 20u);

  world_.SetDegraded({"customers"});
  PutCustomer("C-1", "Ann", 1);
  ASSERT_THAT(GetTable("customers", &table), IsOk());
  EXPECT_EQ(table.state(), v1::TABLE_STATE_DEGRADED);
  EXPECT_TRUE(table.degraded());
}

TEST_F(TableTest, ShowsTypesAsDeclared) {
  const auto definitions = tables::ParseTableDefinitions(R"(
- name: things
  key: [id]
  tier: seconds
  readers: [default]
  columns: {id: string, any: list, tags: list of string}
  merge: last_row
  from: {source: erp, relation: public.things})",
                                                         {"erp"});
  ASSERT_THAT(definitions, IsOk());
  v1::Table table;
  ToTable({.definition = definitions->front()}, {}, absl::UnixEpoch(), &table);
  ASSERT_EQ(table.columns_size(), 3);
  EXPECT_EQ(table.columns(0).type(), "string");
  EXPECT_EQ(table.columns(1).type(), "list");
  EXPECT_EQ(table.columns(2).type(), "list of string");
}

TEST_F(TableTest, RefusesByName) {
  v1::Table table;
  EXPECT_THAT(GetTable("nothing", &table), ReasonIs(Reason::kTableNotFound));
  EXPECT_THAT(GetTable("secrets", &table), ReasonIs(Reason::kTableForbidden));
  EXPECT_THAT(GetTable("", &table), ReasonIs(Reason::kFieldInvalid));
}

}  // namespace
}  // namespace tidemark::services
