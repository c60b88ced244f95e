// grpc.health.v1, as load balancers and grpc-health-probe use it.
#include <grpcpp/grpcpp.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_services.h"
#include "tests/support/raw_call.h"
#include "tests/support/test_server.h"

namespace tidemark {
namespace {

using testing::FakeServices;
using testing::RawCall;
using testing::TestServer;

// HealthCheckResponse's status (1 = SERVING, 2 = NOT_SERVING), or minus the code of the error. By
// hand on the wire: the two messages have one field each, and no library brings their classes.
int Check(TestServer& server, const std::string& service) {
  std::string wire;
  if (!service.empty()) {
    wire = std::string("\x0a") + static_cast<char>(service.size()) + service;
  }
  std::string answer;
  const grpc::Status status =
      RawCall(server.channel().get(), "/grpc.health.v1.Health/Check", wire, &answer);
  if (!status.ok()) return -status.error_code();
  EXPECT_EQ(answer.size(), 2u);
  EXPECT_EQ(answer[0], 0x08);
  return answer[1];
}

constexpr int kServing = 1;
constexpr int kNotServing = 2;

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
