// grpc.health.v1, as load balancers and grpc-health-probe use it.
#include <grpcpp/grpcpp.h>

#include "gmock/gmock.h"
#include "grpc/health/v1/health.pb.h"
#include "gtest/gtest.h"
#include "tests/support/fake_services.h"
#include "tests/support/raw_call.h"
#include "tests/support/test_server.h"

namespace tidemark {
namespace {

using testing::FakeServices;
using testing::RawCall;
using testing::TestServer;

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr int kServing = HealthCheckResponse::SERVING;
constexpr int kNotServing = HealthCheckResponse::NOT_SERVING;

// The status of a name, or minus the code of the error.
int Check(TestServer& server, const std::string& service) {
  HealthCheckRequest request;
  request.set_service(service);
  std::string wire;
  const grpc::Status status = RawCall(server.channel().get(), "/grpc.health.v1.Health/Check",
                                      request.SerializeAsString(), &wire);
  if (!status.ok()) return -status.error_code();
  HealthCheckResponse response;
  EXPECT_TRUE(response.ParseFromString(wire));
  return response.status();
}

TEST(HealthTest, EveryServiceOfTheContractHasAName) {
  FakeServices services;
  TestServer server(services.binders());
  EXPECT_EQ(Check(server, ""), kServing);
  for (std::string_view service : AllServices()) {
    const std::string name = "tidemark.v1." + std::string(service);
    EXPECT_EQ(Check(server, name), kNotServing) << name;
  }
  server.server().SetServing("tidemark.v1.StateService", true);
  EXPECT_EQ(Check(server, "tidemark.v1.StateService"), kServing);
  EXPECT_EQ(Check(server, "tidemark.v1.NoService"), -grpc::NOT_FOUND);
}

TEST(HealthTest, ASourceThatFallsDoesNotTakeTheReadsWithIt) {
  FakeServices services;
  TestServer server(services.binders());
  server.server().SetServing("tidemark.v1.StateService", true);
  server.server().SetServing("source/erp", true);
  EXPECT_EQ(Check(server, "source/erp"), kServing);
  server.server().SetServing("source/erp", false);
  EXPECT_EQ(Check(server, "source/erp"), kNotServing);
  EXPECT_EQ(Check(server, "tidemark.v1.StateService"), kServing);
  EXPECT_EQ(Check(server, "source/shop"), -grpc::NOT_FOUND);
}

}  // namespace
}  // namespace tidemark
