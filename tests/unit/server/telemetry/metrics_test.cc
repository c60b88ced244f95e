#include <cstdlib>
#include <map>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/telemetry/call_metrics.h"
#include "server/telemetry/metrics_server.h"
#include "tests/support/http_get.h"
#include "tests/support/status_matchers.h"

namespace tidemark {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using testing::HttpGet;
using testing::IsOk;
using ::testing::StartsWith;
using testing::StatusIs;

// Sample (name and labels as written) -> value; every line that is no comment must be one.
std::map<std::string, double> Samples(const std::string& text) {
  std::map<std::string, double> samples;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.rfind(' ');
    EXPECT_NE(space, std::string::npos) << line;
    char* end = nullptr;
    const std::string value = line.substr(space + 1);
    samples[line.substr(0, space)] = std::strtod(value.c_str(), &end);
    EXPECT_EQ(*end, '\0') << line;
  }
  return samples;
}

constexpr char kGetRow[] =
    "grpc_type=\"unary\",grpc_service=\"tidemark.v1.StateService\",grpc_method=\"GetRow\"";

std::string Sample(std::string_view name, std::string_view more = "") {
  return std::string(name) + "{" + kGetRow + std::string(more) + "}";
}

TEST(CallMetricsTest, CountsByMethodCodeAndTime) {
  CallMetrics metrics;
  const Method& method = *FindMethod("StateService", "GetRow");
  for (int i = 0; i < 3; ++i) metrics.Started(method);
  metrics.Handled(method, absl::StatusCode::kOk, milliseconds(2));
  metrics.Handled(method, absl::StatusCode::kNotFound, milliseconds(700));

  const auto samples = Samples(MetricsText({&metrics}));
  EXPECT_EQ(samples.at(Sample("grpc_server_started_total")), 3);
  EXPECT_EQ(samples.at(Sample("grpc_server_handled_total", ",grpc_code=\"OK\"")), 1);
  EXPECT_EQ(samples.at(Sample("grpc_server_handled_total", ",grpc_code=\"NotFound\"")), 1);
  EXPECT_EQ(samples.at(Sample("grpc_server_handling_seconds_count")), 2);
  EXPECT_NEAR(samples.at(Sample("grpc_server_handling_seconds_sum")), 0.702, 1e-9);
  EXPECT_EQ(samples.at(Sample("grpc_server_handling_seconds_bucket", ",le=\"0.001\"")), 0);
  EXPECT_EQ(samples.at(Sample("grpc_server_handling_seconds_bucket", ",le=\"0.0025\"")), 1);
  EXPECT_EQ(samples.at(Sample("grpc_server_handling_seconds_bucket", ",le=\"1\"")), 2);
  EXPECT_EQ(samples.at(Sample("grpc_server_handling_seconds_bucket", ",le=\"+Inf\"")), 2);
}

TEST(CallMetricsTest, AvailableMethodsHaveTheirSeriesBeforeTheFirstCall) {
  const CallMetrics metrics;
  const std::string text = MetricsText({&metrics});
  const auto samples = Samples(text);
  for (const Method& method : AllMethods()) {
    const std::string label = "grpc_method=\"" + std::string(method.name) + "\"";
    if (method.available) {
      EXPECT_THAT(text, HasSubstr(label));
    } else if (method.service == "BudgetService") {
      EXPECT_EQ(text.find(label), std::string::npos) << method.FullName();
    }
  }
  EXPECT_EQ(samples.at(Sample("grpc_server_handled_total", ",grpc_code=\"OK\"")), 0);
}

TEST(MetricsServerTest, ServesMetricsAndHealthAndNothingElse) {
  CallMetrics metrics;
  auto server = MetricsServer::Start("127.0.0.1:0", {&metrics});
  ASSERT_THAT(server, IsOk());
  const int port = (*server)->port();
  ASSERT_GT(port, 0);

  const std::string page = HttpGet(port, "/metrics");
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(page, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(page, HasSubstr("# TYPE grpc_server_handling_seconds histogram"));

  EXPECT_THAT(HttpGet(port, "/healthz"), StartsWith("HTTP/1.1 503"));
  (*server)->SetHealthy(true);
  EXPECT_THAT(HttpGet(port, "/healthz"), StartsWith("HTTP/1.1 200"));

  for (const char* path : {"/", "/metrics/x", "/../etc/passwd", "/CMakeLists.txt", "/healthzz"}) {
    EXPECT_THAT(HttpGet(port, path), StartsWith("HTTP/1.1 4")) << path;
  }
}

TEST(MetricsServerTest, AnAddressInUseIsNamed) {
  CallMetrics metrics;
  auto first = MetricsServer::Start("127.0.0.1:0", {&metrics});
  ASSERT_THAT(first, IsOk());
  const std::string address = "127.0.0.1:" + std::to_string((*first)->port());
  const auto second = MetricsServer::Start(address, {&metrics});
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(address));
}

}  // namespace
}  // namespace tidemark
