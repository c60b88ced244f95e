// GetRow and BatchGetRows: S1, S2, the spliced answers, and every refusal by name.
#include <google/protobuf/util/message_differencer.h>

#include <string>

#include "common/error.h"
#include "common/limits.h"
#include "storage/tables/row_codec.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/server/services/service_fixture.h"

namespace tidemark::services {
namespace {

using google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::ReaderOf;
using testing::ReasonIs;

class GetRowTest : public ServiceTest {
 protected:
  GetRowTest() { world_.Load(); }
};

TEST_F(GetRowTest, S1_AnswersTheRowItsVersionAndTheSnapshotItWasReadAt) {
  const state::SnapshotId written = PutCustomer("C-1", "Ann", 100);
  const state::SnapshotId later = PutCustomer("C-2", "Bob", 200);
  v1::GetRowResponse response;
  ASSERT_THAT(GetRow(Row("customers", {Text("C-1")}), &response), IsOk());
  EXPECT_EQ(response.row().columns().at("name").string_value(), "Ann");
  EXPECT_EQ(response.row().columns().at("limit").int_value(), 100);
  EXPECT_EQ(response.row_version(), written);
  EXPECT_EQ(response.read_at().snapshot_id(), later);
  EXPECT_EQ(response.read_at().token(), world_.Token(later));
  EXPECT_EQ(response.read_at().commit_time().seconds(), absl::ToUnixSeconds(world_.clock().Now()));
  EXPECT_FALSE(response.read_at().degraded());
  EXPECT_EQ(response.read_at().sources_size(), 0);
}

TEST_F(GetRowTest, S1_AnAbsentRowIsAnAnswerWithAStamp) {
  const state::SnapshotId id = PutCustomer("C-1", "Ann", 100);
  v1::GetRowResponse response;
  ASSERT_THAT(GetRow(Row("customers", {Text("C-9")}), &response), IsOk());
  EXPECT_FALSE(response.has_row());
  EXPECT_EQ(response.row_version(), 0u);
  EXPECT_EQ(response.read_at().snapshot_id(), id);
}

TEST_F(GetRowTest, SplicedBytesAreThoseOfThePlainMessage) {
  PutCustomer("C-1", std::string(100000, 'x'), -1);
  GetRowCall call("StateService", "GetRow");
  service_.GetRow(Row("customers", {Text("C-1")}), call.reply());
  ASSERT_THAT(call.status(), IsOk());
  v1::GetRowResponse plain;
  v1::Value& name = (*plain.mutable_row()->mutable_columns())["name"];
  name.set_string_value(std::string(100000, 'x'));
  (*plain.mutable_row()->mutable_columns())["id"] = Text("C-1");
  (*plain.mutable_row()->mutable_columns())["limit"] = Int(-1);
  plain.set_row_version(call.response().row_version());
  ASSERT_TRUE(plain.mutable_read_at()->ParseFromString(
      world_.reader().Latest()->stamp(/*degraded=*/false)));
  EXPECT_TRUE(MessageDifferencer::Equals(call.response(), plain));
  EXPECT_EQ(call.wire().size(), plain.ByteSizeLong());
}

TEST_F(GetRowTest, ExactReadsAnOldSnapshotWithItsOwnStamp) {
  world_.SetDegraded({"customers"});
  const state::SnapshotId old = PutCustomer("C-1", "Ann", 100);
  world_.SetDegraded({});
  world_.clock().Advance(absl::Seconds(5));
  PutCustomer("C-1", "Ann", 500);
  v1::GetRowRequest request = Row("customers", {Text("C-1")});
  request.mutable_consistency()->set_exact(world_.Token(old));
  v1::GetRowResponse response;
  ASSERT_THAT(GetRow(request, &response), IsOk());
  EXPECT_EQ(response.row().columns().at("limit").int_value(), 100);
  EXPECT_EQ(response.row_version(), old);
  EXPECT_EQ(response.read_at().snapshot_id(), old);
  EXPECT_EQ(response.read_at().token(), world_.Token(old));
  EXPECT_TRUE(response.read_at().degraded());
  EXPECT_EQ(response.read_at().commit_time().seconds(),
            absl::ToUnixSeconds(world_.clock().Now()) - 5);
}

TEST_F(GetRowTest, DegradedIsAboutTheTablesOfTheCall) {
  world_.SetDegraded({"orders"});
  PutCustomer("C-1", "Ann", 100);
  v1::GetRowResponse response;
  ASSERT_THAT(GetRow(Row("customers", {Text("C-1")}), &response), IsOk());
  EXPECT_FALSE(response.read_at().degraded());
  ASSERT_THAT(GetRow(Row("orders", {Text("C-1"), Int(1)}), &response), IsOk());
  EXPECT_TRUE(response.read_at().degraded());
}

TEST_F(GetRowTest, IncludeSourcesTellsWhereTheTablesSourcesStand) {
  world_.erp().SetStatus([](ingest::SourceStatus& status) { status.detail = "all is well"; });
  const state::SnapshotId old = PutCustomer("C-1", "Ann", 100);
  PutCustomer("C-1", "Ann", 200);
  world_.erp().Probe(0);
  world_.clock().Advance(absl::Milliseconds(250));
  v1::GetRowRequest request = Row("customers", {Text("C-1")});
  request.set_include_sources(true);
  v1::GetRowResponse response;
  ASSERT_THAT(GetRow(request, &response), IsOk());
  ASSERT_EQ(response.read_at().sources_size(), 1);
  const v1::SourceStatus& source = response.read_at().sources(0);
  EXPECT_EQ(source.source(), "erp");
  EXPECT_EQ(source.state(), v1::SOURCE_STATE_STREAMING);
  EXPECT_EQ(source.atomicity(), v1::ATOMICITY_TRANSACTION);
  EXPECT_EQ(source.position(), "3");
  EXPECT_EQ(source.lag().nanos(), 250000000);
  EXPECT_EQ(source.detail(), "all is well");
  // At an old snapshot: its position, and nothing that is only true now.
  request.mutable_consistency()->set_exact(world_.Token(old));
  ASSERT_THAT(GetRow(request, &response), IsOk());
  EXPECT_EQ(response.read_at().snapshot_id(), old);
  ASSERT_EQ(response.read_at().sources_size(), 1);
  EXPECT_EQ(response.read_at().sources(0).position(), "2");
  EXPECT_EQ(response.read_at().sources(0).state(), v1::SOURCE_STATE_UNSPECIFIED);
  EXPECT_FALSE(response.read_at().sources(0).has_fresh_as_of());
}

TEST_F(GetRowTest, SelectsColumns) {
  PutCustomer("C-1", "Ann", 100);
  v1::GetRowRequest request = Row("customers", {Text("C-1")});
  for (const char* column : {"limit", "id", "limit"}) request.add_columns(column);
  v1::GetRowResponse response;
  ASSERT_THAT(GetRow(request, &response), IsOk());
  EXPECT_EQ(response.row().columns_size(), 2);
  EXPECT_EQ(response.row().columns().at("limit").int_value(), 100);
  EXPECT_EQ(response.row().columns().at("id").string_value(), "C-1");
}

TEST_F(GetRowTest, UnknownColumnIsRefusedWithTheKnownOnes) {
  v1::GetRowRequest request = Row("customers", {Text("C-1")});
  request.add_columns("id");
  request.add_columns("limits");
  const absl::Status status = GetRow(request);
  EXPECT_THAT(status, ReasonIs(Reason::kFieldInvalid));
  EXPECT_EQ(MetadataValue(status, "field"), "columns");
  EXPECT_EQ(MetadataValue(status, "column"), "limits");
  EXPECT_EQ(MetadataValue(status, "columns"), "id,name,limit");
}

TEST_F(GetRowTest, UnknownTableIsRefusedWithTheTablesTheCallerMayRead) {
  const absl::Status status = GetRow(Row("customer", {Text("C-1")}));
  EXPECT_THAT(status, ReasonIs(Reason::kTableNotFound));
  EXPECT_EQ(MetadataValue(status, "table"), "customer");
  EXPECT_EQ(MetadataValue(status, "tables"), "customers,orders,rates");
  EXPECT_EQ(MetadataValue(status, "table_count"), "3");
  EXPECT_THAT(GetRow(Row("", {Text("C-1")})), ReasonIs(Reason::kFieldInvalid));
}

TEST_F(GetRowTest, TablesOfOtherTenantsAreForbidden) {
  EXPECT_THAT(GetRow(Row("secrets", {Text("S")})), ReasonIs(Reason::kTableForbidden));
  EXPECT_THAT(GetRow(Row("secrets", {Text("S")}), nullptr, ReaderOf("other")), IsOk());
  EXPECT_THAT(GetRow(Row("customers", {Text("C")}), nullptr, ReaderOf("other")),
              ReasonIs(Reason::kTableForbidden));
  EXPECT_THAT(GetRow(Row("customers", {Text("C")}), nullptr, ReaderOf("")),
              ReasonIs(Reason::kTableForbidden));
}

TEST_F(GetRowTest, MalformedKeysNameTheColumnAndWhatItExpects) {
  v1::Value null, unset, real, list;
  null.set_null_value(google::protobuf::NULL_VALUE);
  real.set_double_value(1.0);
  list.mutable_list_value()->add_values()->set_int_value(1);
  const std::vector<std::vector<v1::Value>> keys = {
      {},
      {Text("C-1")},
      {Text("C-1"), Int(1), Int(2)},
      {Int(1), Int(1)},
      {Text("C-1"), Text("1")},
      {Text("C-1"), null},
      {Text("C-1"), unset},
      {Text("C-1"), real},
      {Text("C-1"), list},
      {Text(std::string(limits::kMaxKeyBytes, 'x')), Int(1)}};
  for (const auto& key : keys) {
    const absl::Status status = GetRow(Row("orders", key));
    EXPECT_THAT(status, ReasonIs(Reason::kKeyMalformed));
    EXPECT_EQ(MetadataValue(status, "table"), "orders");
    EXPECT_EQ(MetadataValue(status, "key_columns"), "customer_id string, order_no int");
    EXPECT_FALSE(MetadataValue(status, "problem").empty());
  }
  EXPECT_EQ(MetadataValue(GetRow(Row("orders", {Text("C"), Text("1")})), "column"), "order_no");
}

TEST_F(GetRowTest, AKeyValueWithoutAKindIsNamedOnce) {
  EXPECT_EQ(std::string(GetRow(Row("orders", {v1::Value(), Int(1)})).message()),
            "key: The key of table \"orders\": column \"customer_id\": The value has no kind; null "
            "is written as null_value. The key is (customer_id string, order_no int).");
}

TEST_F(GetRowTest, NamesOfCallersCannotEndTheirQuotes) {
  const std::string name = "x\"\n. All is well";
  const std::string shown = "\"x\\\"\\x0a. All is well\"";
  EXPECT_THAT(std::string(GetRow(Row(name, {Text("C-1")})).message()),
              HasSubstr("There is no table " + shown + "."));
  v1::GetRowRequest request = Row("customers", {Text("C-1")});
  request.add_columns(name);
  EXPECT_THAT(std::string(GetRow(request).message()), HasSubstr("has no column " + shown + ";"));
}

TEST_F(GetRowTest, FieldsNotActedOnYetAreRefusedByName) {
  v1::GetRowRequest request = Row("customers", {Text("C-1")});
  request.set_decision("credit");
  EXPECT_EQ(MetadataValue(GetRow(request), "field"), "decision");
  v1::BatchGetRowsRequest batch;
  batch.set_decision("credit");
  EXPECT_EQ(MetadataValue(Batch(batch), "field"), "decision");
  v1::ScanRowsRequest scan;
  scan.set_decision("credit");
  EXPECT_EQ(MetadataValue(Scan(scan), "field"), "decision");
}

TEST_F(GetRowTest, WaitsForItsSnapshotAndStopsWaitingWithTheCall) {
  v1::GetRowRequest request = Row("customers", {Text("C-1")});
  const state::SnapshotId now = PutCustomer("C-1", "Ann", 100);
  request.mutable_consistency()->set_at_least(world_.Token(now + 1));
  GetRowCall served("StateService", "GetRow"), late("StateService", "GetRow"),
      gone("StateService", "GetRow"), draining("StateService", "GetRow"),
      withdrawn("StateService", "GetRow");
  for (GetRowCall* call : {&served, &late, &gone, &draining, &withdrawn}) {
    service_.GetRow(request, call->reply());
    EXPECT_FALSE(call->done());
  }
  late.Stop(StopReason::kDeadline);
  EXPECT_THAT(late.status(), ReasonIs(Reason::kNotYetApplied));
  gone.Stop(StopReason::kCancelled);
  EXPECT_THAT(gone.status(), testing::StatusIs(absl::StatusCode::kCancelled));
  draining.Stop(StopReason::kDraining);
  EXPECT_THAT(draining.status(), ReasonIs(Reason::kShuttingDown));
  withdrawn.Stop(StopReason::kWithdrawn);
  EXPECT_THAT(withdrawn.status(), ReasonIs(Reason::kUnauthenticated));
  EXPECT_EQ(resolver_->waits(), 1u);
  PutCustomer("C-1", "Ann", 200);
  ASSERT_THAT(served.status(), IsOk());
  EXPECT_EQ(served.response().row().columns().at("limit").int_value(), 200);
  EXPECT_EQ(served.response().read_at().snapshot_id(), now + 1);
}

class LoadingTest : public ServiceTest {};

TEST_F(LoadingTest, ATableInItsFirstCopyAnswersWithItsProgress) {
  world_.Load({"customers"});
  world_.erp().SetStatus([](ingest::SourceStatus& status) {
    status.relations = {{"public.orders", false, 30, 100}};
  });
  const absl::Status status = GetRow(Row("orders", {Text("C-1"), Int(1)}));
  EXPECT_THAT(status, ReasonIs(Reason::kTableLoading));
  EXPECT_EQ(MetadataValue(status, "table"), "orders");
  EXPECT_EQ(MetadataValue(status, "rows_copied"), "30");
  EXPECT_EQ(MetadataValue(status, "rows_estimated"), "100");
  EXPECT_TRUE(RetryAfterOf(status).has_value());
  v1::ScanRowsRequest scan;
  scan.set_table("orders");
  EXPECT_THAT(Scan(scan), ReasonIs(Reason::kTableLoading));
}

TEST_F(LoadingTest, SnapshotsBeforeTheFirstOfATableAreExpiredForIt) {
  const std::string before = world_.Token(1);
  world_.Load();
  v1::GetRowRequest request = Row("customers", {Text("C-1")});
  request.mutable_consistency()->set_exact(before);
  const absl::Status status = GetRow(request);
  EXPECT_THAT(status, ReasonIs(Reason::kSnapshotExpired));
  EXPECT_EQ(MetadataValue(status, "snapshot_id"), "1");
  EXPECT_EQ(MetadataValue(status, "oldest_snapshot_id"), "2");
  EXPECT_EQ(MetadataValue(status, "oldest_token"), world_.Token(2));
}

class BatchTest : public GetRowTest {
 protected:
  static void AddRef(v1::BatchGetRowsRequest& request, const std::string& table,
                     const std::vector<v1::Value>& key) {
    v1::RowRef* ref = request.add_refs();
    ref->set_table(table);
    for (const v1::Value& value : key) *ref->add_key() = value;
  }
};

TEST_F(BatchTest, S2_RowsOfSeveralTablesInRequestOrderAtOneSnapshot) {
  const state::SnapshotId id = world_.Commit([&](StateWorld::Txn& txn) {
    txn.Put("customers", Customer("C-1", "Ann", 100));
    txn.Put("orders", Order("C-1", 7, "12.50", "first"));
  });
  v1::BatchGetRowsRequest request;
  AddRef(request, "orders", {Text("C-1"), Int(7)});
  AddRef(request, "customers", {Text("C-9")});
  AddRef(request, "customers", {Text("C-1")});
  AddRef(request, "orders", {Text("C-1"), Int(7)});
  request.mutable_refs(0)->add_columns("total");
  v1::BatchGetRowsResponse response;
  ASSERT_THAT(Batch(request, &response), IsOk());
  ASSERT_EQ(response.results_size(), 4);
  EXPECT_EQ(response.results(0).row().columns_size(), 1);
  EXPECT_EQ(response.results(0).row().columns().at("total").decimal_value(), "12.50");
  EXPECT_FALSE(response.results(1).has_row());
  EXPECT_EQ(response.results(1).row_version(), 0u);
  EXPECT_EQ(response.results(2).row().columns().at("name").string_value(), "Ann");
  EXPECT_EQ(response.results(2).row_version(), id);
  EXPECT_EQ(response.results(3).row().columns().at("note").string_value(), "first");
  EXPECT_EQ(response.read_at().snapshot_id(), id);
}

TEST_F(BatchTest, AThousandRefsAreAnsweredAndOneMoreIsRefused) {
  for (int i = 0; i < 50; ++i) PutCustomer("C-" + std::to_string(i), "Name", i);
  v1::BatchGetRowsRequest request;
  for (size_t i = 0; i < limits::kMaxBatchRefs; ++i) {
    AddRef(request, "customers", {Text("C-" + std::to_string(i % 50))});
  }
  v1::BatchGetRowsResponse response;
  ASSERT_THAT(Batch(request, &response), IsOk());
  ASSERT_EQ(response.results_size(), static_cast<int>(limits::kMaxBatchRefs));
  for (int i = 0; i < response.results_size(); ++i) {
    ASSERT_EQ(response.results(i).row().columns().at("limit").int_value(), i % 50);
  }
  AddRef(request, "customers", {Text("C-1")});
  EXPECT_EQ(MetadataValue(Batch(request), "field"), "refs");
  EXPECT_EQ(MetadataValue(Batch({}), "field"), "refs");
}

TEST_F(BatchTest, OneBadRefRefusesTheCallAndIsNamed) {
  v1::BatchGetRowsRequest request;
  AddRef(request, "customers", {Text("C-1")});
  AddRef(request, "customers", {Int(1)});
  absl::Status status = Batch(request);
  EXPECT_THAT(status, ReasonIs(Reason::kKeyMalformed));
  EXPECT_EQ(MetadataValue(status, "field"), "refs[1].key");
  EXPECT_THAT(std::string(status.message()), HasSubstr("refs[1].key"));
  request.mutable_refs(1)->set_table("nothing");
  status = Batch(request);
  EXPECT_THAT(status, ReasonIs(Reason::kTableNotFound));
  EXPECT_EQ(MetadataValue(status, "field"), "refs[1].table");
  *request.mutable_refs(1) = request.refs(0);
  request.mutable_refs(1)->add_columns("x");
  EXPECT_EQ(MetadataValue(Batch(request), "field"), "refs[1].columns");
}

TEST_F(BatchTest, AnAnswerPastThePageBoundIsRefusedWithItsSize) {
  PutCustomer("C-1", std::string(1 << 20, 'x'), 1);
  v1::BatchGetRowsRequest request;
  for (int i = 0; i < 2; ++i) AddRef(request, "customers", {Text("C-1")});
  EXPECT_THAT(Batch(request), IsOk());
  for (int i = 0; i < 500; ++i) AddRef(request, "customers", {Text("C-1")});
  const absl::Status status = Batch(request);
  EXPECT_THAT(status, ReasonIs(Reason::kResponseTooLarge));
  EXPECT_EQ(MetadataValue(status, "limit"), std::to_string(limits::kMaxPageBytes));
  EXPECT_EQ(MetadataValue(status, "rows"), "3");
}

}  // namespace
}  // namespace tidemark::services
