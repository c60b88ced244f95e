// freshness: how long a commit at the ERP takes to reach a watcher in another process.
//
// Watches table orders until --samples changes arrived, then asks the ERP when the newest version
// of every order was committed (pg_xact_commit_timestamp; the ERP runs with
// track_commit_timestamp). A version's arrival is the first change of its order that arrived at or
// after its commit. Both clocks are this machine's. Prints {"p50":..., "p99":..., "max":...,
// "count":...} in milliseconds.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "examples/credit_desk/client.h"
#include "examples/erp/database.h"
#include "tidemark/v1/state_service.grpc.pb.h"

ABSL_FLAG(std::string, target, "127.0.0.1:7400", "address of tidemarkd");
ABSL_FLAG(std::string, dsn, "", "libpq connection string of the ERP");
ABSL_FLAG(int, samples, 10000, "measured commits wanted");
ABSL_FLAG(int, max_seconds, 300, "give up after this long");

namespace tidemark::examples {
namespace {

using Arrivals = std::map<std::string, std::vector<int64_t>>;  // order -> microseconds, rising

// Milliseconds from the commit of each order's newest version to its arrival, for versions
// committed since `since` (microseconds).
absl::StatusOr<std::vector<double>> Measure(Database& erp, const Arrivals& arrivals,
                                            int64_t since) {
  auto rows = erp.Run(
      "SELECT order_id, (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000)::bigint "
      "FROM orders WHERE xmin::text::bigint > 2");
  if (!rows.ok()) return rows.status();
  std::vector<double> samples;
  for (const std::vector<Cell>& row : *rows) {
    int64_t committed = 0;
    if (!row[1].has_value() || !absl::SimpleAtoi(*row[1], &committed) || committed < since)
      continue;
    const auto found = arrivals.find(row[0].value_or(""));
    if (found == arrivals.end()) continue;
    const auto arrived = std::lower_bound(found->second.begin(), found->second.end(), committed);
    if (arrived != found->second.end()) {
      samples.push_back(static_cast<double>(*arrived - committed) / 1000.0);
    }
  }
  return samples;
}

int Fail(const std::string& message) {
  std::fprintf(stderr, "freshness: %s\n", message.c_str());
  return 2;
}

int Main() {
  auto stub = v1::StateService::NewStub(Connect(absl::GetFlag(FLAGS_target)));
  auto erp = Database::Connect(absl::GetFlag(FLAGS_dsn));
  if (!erp.ok()) return Fail(erp.status().ToString());
  grpc::ClientContext context;
  Prepare(context, std::chrono::seconds(absl::GetFlag(FLAGS_max_seconds)));
  v1::WatchChangesRequest request;
  request.add_tables()->set_table("orders");
  request.mutable_latest();
  auto stream = stub->WatchChanges(&context, request);
  Arrivals arrivals;
  std::vector<double> samples;
  int64_t since = 0;
  size_t ask_at = static_cast<size_t>(absl::GetFlag(FLAGS_samples));
  v1::WatchChangesResponse message;
  while (stream->Read(&message)) {
    const int64_t now = absl::ToUnixMicros(absl::Now());
    if (since == 0) since = now;
    for (const v1::Change& change : message.changes()) {
      if (change.op() == v1::OP_DELETE) continue;
      arrivals[Column(change.after(), "order_id")].push_back(now);
    }
    if (arrivals.size() < ask_at) continue;
    auto measured = Measure(*erp, arrivals, since);
    if (!measured.ok()) return Fail(measured.status().ToString());
    samples = *std::move(measured);
    if (samples.size() >= static_cast<size_t>(absl::GetFlag(FLAGS_samples))) break;
    ask_at += ask_at / 10;
  }
  context.TryCancel();
  const grpc::Status status = stream->Finish();
  if (samples.size() < static_cast<size_t>(absl::GetFlag(FLAGS_samples))) {
    return Fail("only " + std::to_string(samples.size()) + " samples: " + Describe(status));
  }
  std::sort(samples.begin(), samples.end());
  auto at = [&](double q) {
    return samples[static_cast<size_t>(q * static_cast<double>(samples.size() - 1))];
  };
  std::printf("{\"p50\":%.2f,\"p99\":%.2f,\"max\":%.2f,\"count\":%zu}\n", at(0.5), at(0.99),
              samples.back(), samples.size());
  return 0;
}

}  // namespace
}  // namespace tidemark::examples

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return tidemark::examples::Main();
}
