// Requests that mean no good: each has its reason, changes nothing, and harms no other call.
#include <grpcpp/grpcpp.h>

#include <random>
#include <string>
#include <vector>

#include "common/limits.h"
#include "gtest/gtest.h"
#include "server/services/wire.h"
#include "tests/integration/services/state_server.h"
#include "tests/support/raw_call.h"
#include "tests/support/rpc_matchers.h"

namespace tidemark {
namespace {

using testing::DetailOf;
using testing::RawCall;
using testing::RpcCode;
using testing::RpcMetadata;
using testing::RpcOk;
using testing::RpcReason;
using testing::StateWorld;

const char* const kMethods[] = {"GetRow",      "BatchGetRows", "ScanRows",
                                "GetSnapshot", "ListTables",   "GetTable"};

class HostileTest : public ::testing::Test {
 protected:
  HostileTest() {
    world_.Load();
    world_.Commit([&](StateWorld::Txn& txn) { txn.Put("customers", CustomerRow("C-1", 1)); });
  }
  ~HostileTest() override {
    // Whatever was sent, the next call is served and nothing changed.
    v1::GetRowResponse response;
    EXPECT_THAT(server_.GetRow(RowRequest("customers", {TextValue("C-1")}), &response), RpcOk());
    EXPECT_EQ(response.read_at().snapshot_id(), 3u);
    EXPECT_EQ(server_.resolver().waits(), 0u);
  }

  grpc::Status Raw(const std::string& method, const std::string& bytes) {
    return RawCall(server_.server().channel().get(), "/tidemark.v1.StateService/" + method, bytes);
  }

  StateServer server_;
  StateWorld& world_ = server_.world();
};

TEST_F(HostileTest, EmptyRequestsAreAnsweredByField) {
  EXPECT_EQ(RpcMetadata(Raw("GetRow", ""), "field"), "table");
  EXPECT_EQ(RpcMetadata(Raw("BatchGetRows", ""), "field"), "refs");
  EXPECT_EQ(RpcMetadata(Raw("ScanRows", ""), "field"), "table");
  EXPECT_EQ(RpcMetadata(Raw("GetTable", ""), "field"), "name");
  EXPECT_THAT(Raw("GetSnapshot", ""), RpcOk());
  EXPECT_THAT(Raw("ListTables", ""), RpcOk());
}

TEST_F(HostileTest, BytesThatAreNoMessageAreRefused) {
  std::mt19937 random(3);
  for (const char* method : kMethods) {
    for (int i = 0; i < 200; ++i) {
      std::string bytes(random() % 64, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      const grpc::Status status = Raw(method, bytes);
      // Some bytes are a request that happens to be right.
      if (!status.ok()) {
        EXPECT_NE(DetailOf<google::rpc::ErrorInfo>(status).reason(), "");
      }
    }
  }
}

TEST_F(HostileTest, ChangedRequestsAreRefusedOrServed) {
  v1::BatchGetRowsRequest request;
  AddRef(request, "customers", {TextValue("C-1")});
  AddRef(request, "orders", {TextValue("C-1"), IntValue(1)});
  request.mutable_consistency()->set_exact(world_.Token(3));
  const std::string good = request.SerializeAsString();
  ASSERT_THAT(Raw("BatchGetRows", good), RpcOk());
  for (size_t i = 0; i < good.size(); ++i) {
    for (int flip : {1, 8, 64, 255}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      const grpc::Status status = Raw("BatchGetRows", bytes);
      if (!status.ok()) {
        EXPECT_NE(DetailOf<google::rpc::ErrorInfo>(status).reason(), "");
      }
    }
  }
}

TEST_F(HostileTest, DeepValuesAreRefused) {
  for (const int depth : {static_cast<int>(limits::kMaxValueDepth) + 1, 45, 2000}) {
    // Value { list_value { values { ... } } }, built from the inside out.
    std::string value("\x18\x01", 2);
    for (int i = 0; i < depth && value.size() < (1 << 20); ++i) {
      std::string list, outer;
      services::AppendBytes(v1::ListValue::kValuesFieldNumber, value, &list);
      services::AppendBytes(v1::Value::kListValueFieldNumber, list, &outer);
      value = std::move(outer);
    }
    std::string request;
    services::AppendBytes(v1::GetRowRequest::kTableFieldNumber, "customers", &request);
    services::AppendBytes(v1::GetRowRequest::kKeyFieldNumber, value, &request);
    const grpc::Status status = Raw("GetRow", request);
    EXPECT_THAT(status, RpcCode(grpc::StatusCode::INVALID_ARGUMENT)) << depth;
    EXPECT_NE(DetailOf<google::rpc::ErrorInfo>(status).reason(), "");
  }
}

TEST_F(HostileTest, TextThatIsNotUtf8IsRefusedAndNeverEchoed) {
  const std::string table("\x0a\x04\xff\xfe\x00\x80", 6);
  std::string key(
      "\x0a\x09"
      "customers",
      11);
  key.append("\x12\x03\x2a\x01\xff", 5);
  for (const std::string& bytes : {table, key}) {
    const grpc::Status status = Raw("GetRow", bytes);
    EXPECT_THAT(status, RpcCode(grpc::StatusCode::INVALID_ARGUMENT));
    EXPECT_EQ(status.error_message().find('\xff'), std::string::npos);
  }
}

TEST_F(HostileTest, NamesAndTokensOfAnySizeAreRefusedWithSmallErrors) {
  const std::string large(1 << 20, 'x');
  v1::GetRowResponse response;
  v1::GetRowRequest request = RowRequest(large, {TextValue("C-1")});
  EXPECT_THAT(server_.GetRow(request, &response), RpcReason("TABLE_NOT_FOUND"));
  request = RowRequest("customers", {TextValue(large)});
  EXPECT_THAT(server_.GetRow(request, &response), RpcReason("KEY_MALFORMED"));
  request = RowRequest("customers", {TextValue("C-1")});
  request.add_columns(large);
  EXPECT_THAT(server_.GetRow(request, &response), RpcReason("FIELD_INVALID"));
  request.clear_columns();
  request.mutable_consistency()->set_exact(large);
  EXPECT_THAT(server_.GetRow(request, &response), RpcReason("TOKEN_MALFORMED"));
  request.mutable_consistency()->mutable_at_position()->set_source(large);
  request.mutable_consistency()->mutable_at_position()->set_position(large);
  EXPECT_THAT(server_.GetRow(request, &response), RpcReason("SOURCE_NOT_FOUND"));
  request.mutable_consistency()->mutable_at_position()->set_source("erp");
  EXPECT_THAT(server_.GetRow(request, &response), RpcReason("FIELD_INVALID"));
  request.mutable_consistency()->mutable_source_recency()->add_sources(large);
  EXPECT_THAT(server_.GetRow(request, &response), RpcReason("SOURCE_NOT_FOUND"));
  v1::ScanRowsRequest scan;
  scan.set_table("customers");
  scan.set_page_token(large);
  v1::ScanRowsResponse page;
  EXPECT_THAT(server_.Scan(scan, &page), RpcReason("PAGE_TOKEN_INVALID"));
}

TEST_F(HostileTest, KeysOfManyValuesAndManyColumnsAreRefused) {
  v1::GetRowRequest request = RowRequest("customers", {});
  for (int i = 0; i < 100000; ++i) *request.add_key() = IntValue(i);
  v1::GetRowResponse response;
  EXPECT_THAT(server_.GetRow(request, &response), RpcReason("KEY_MALFORMED"));
  request = RowRequest("customers", {TextValue("C-1")});
  for (int i = 0; i < 100000; ++i) request.add_columns("id");
  EXPECT_THAT(server_.GetRow(request, &response), RpcOk());
  EXPECT_EQ(response.row().columns_size(), 1);
}

}  // namespace
}  // namespace tidemark
