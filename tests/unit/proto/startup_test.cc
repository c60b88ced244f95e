// Everything that registers descriptors at start-up, linked into one process: our contract, the
// vendored google.rpc and reflection files, and gRPC's own plugins. A file registered twice ends
// the process before main, so that these tests run at all is half of what they prove.
#include <grpcpp/ext/channelz_service_plugin.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/error_details.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "gtest/gtest.h"
#include "tidemark/v1/checkpoint_service.pb.h"
#include "tidemark/v1/state_service.grpc.pb.h"

namespace tidemark {
namespace {

TEST(StartupTest, ErrorDetailsTravelThroughGrpcsOwnHelpers) {
  google::rpc::ErrorInfo info;
  info.set_reason("TABLE_NOT_FOUND");
  info.set_domain("tidemark.v1");
  google::rpc::Status sent;
  sent.set_code(grpc::StatusCode::NOT_FOUND);
  sent.set_message("There is no table of this name.");
  sent.add_details()->PackFrom(info);

  grpc::Status status;
  ASSERT_TRUE(grpc::SetErrorDetails(sent, &status).ok());
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);

  google::rpc::Status received;
  ASSERT_TRUE(grpc::ExtractErrorDetails(status, &received).ok());
  google::rpc::ErrorInfo unpacked;
  ASSERT_TRUE(received.details(0).UnpackTo(&unpacked));
  EXPECT_EQ(unpacked.reason(), "TABLE_NOT_FOUND");
}

TEST(StartupTest, OneServerCarriesBothReflectionsChannelzAndHealth) {
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::channelz::experimental::InitChannelzService();
  grpc::EnableDefaultHealthCheckService(true);
  v1::StateService::Service state;
  grpc::reflection::v1::ServerReflection::Service reflection;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&state);
  builder.RegisterService(&reflection);
  const auto server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  EXPECT_GT(port, 0);
  EXPECT_NE(server->GetHealthCheckService(), nullptr);
  server->Shutdown();
}

TEST(StartupTest, MessagesThatImportOtherFilesAreBuiltAndRead) {
  v1::CommitStepRequest step;
  step.add_tool_calls()->set_success("42");
  step.add_documents()->mutable_any();
  step.add_approvals()->add_evidence()->add_key()->set_decimal_value("-123.45");
  v1::CommitStepRequest read;
  ASSERT_TRUE(read.ParseFromString(step.SerializeAsString()));
  EXPECT_EQ(read.approvals(0).evidence(0).key(0).decimal_value(), "-123.45");
}

}  // namespace
}  // namespace tidemark
