// credit_desk: an agent that decides every new order of the ERP on Tidemark's state.
//
// It takes new orders from WatchChanges, reads order and customer at one snapshot, decides, and
// prints one line of JSON per decision with the token it decided on. It resumes its watch from the
// last token it saw when the connection breaks, so it sees every order once.
#include <grpcpp/grpcpp.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "examples/credit_desk/client.h"
#include "examples/credit_desk/decision.h"
#include "tidemark/v1/state_service.grpc.pb.h"

ABSL_FLAG(std::string, target, "127.0.0.1:7400", "address of tidemarkd");

namespace tidemark::examples {
namespace {

using std::chrono::milliseconds;

class CreditDesk {
 public:
  explicit CreditDesk(const std::string& target)
      : stub_(v1::StateService::NewStub(Connect(target))) {}

  // Watches until Stop; every broken stream is taken up again where it broke.
  void Run() {
    while (!stopped()) {
      const grpc::Status status = WatchOnce();
      if (stopped()) break;
      std::fprintf(stderr, "credit_desk: watch ended: %s\n", Describe(status).c_str());
      if (ReasonOf(status) == "SNAPSHOT_EXPIRED") token_.clear();  // start from what is new
      PauseBeforeRetry();
    }
    std::printf("{\"decisions\":{\"release\":%d,\"hold\":%d,\"prepayment\":%d}}\n", counts_[0],
                counts_[1], counts_[2]);
    std::fflush(stdout);
  }

  void Stop() {
    MutexLock lock(mutex_);
    stopped_ = true;
    if (watch_ != nullptr) watch_->TryCancel();
    wake_.NotifyAll();
  }

 private:
  bool stopped() {
    MutexLock lock(mutex_);
    return stopped_;
  }

  void PauseBeforeRetry() {
    MutexLock lock(mutex_);
    if (!stopped_) wake_.WaitFor(mutex_, milliseconds(200));
  }

  grpc::Status WatchOnce() {
    grpc::ClientContext context;
    Prepare(context, std::chrono::hours(24));
    {
      MutexLock lock(mutex_);
      if (stopped_) return grpc::Status::CANCELLED;
      watch_ = &context;
    }
    v1::WatchChangesRequest request;
    request.add_tables()->set_table("orders");
    if (token_.empty()) {
      request.mutable_latest();
    } else {
      request.set_after(token_);
    }
    auto stream = stub_->WatchChanges(&context, request);
    v1::WatchChangesResponse message;
    std::vector<std::string> orders;
    while (stream->Read(&message)) {
      for (const v1::Change& change : message.changes()) {
        if (change.op() == v1::OP_INSERT && Column(change.after(), "status") == "new") {
          orders.push_back(Column(change.after(), "order_id"));
        }
      }
      if (message.fragment()) continue;  // the rest of this snapshot follows
      for (const std::string& order : orders) DecideOne(order, message.at().token());
      orders.clear();
      token_ = message.at().token();
    }
    {
      MutexLock lock(mutex_);
      watch_ = nullptr;
    }
    return stream->Finish();
  }

  // Reads with at_least the token of the watch, so that the order is there; then the customer at
  // exactly the snapshot the order was read at.
  void DecideOne(const std::string& order_id, const std::string& token) {
    v1::Consistency consistency;
    consistency.set_at_least(token);
    v1::GetRowResponse order;
    if (!Read("orders", order_id, consistency, &order) || !order.has_row()) return;
    if (Column(order.row(), "status") != "new") return;  // somebody was faster
    consistency.set_exact(order.read_at().token());
    v1::GetRowResponse customer;
    if (!Read("customer_state", Column(order.row(), "customer_id"), consistency, &customer)) return;
    const Decision decision = Decide(order.row(), customer.has_row() ? &customer.row() : nullptr);
    ++counts_[static_cast<int>(decision.verdict)];
    std::printf("{\"order\":\"%s\",\"decision\":\"%s\",\"reason\":\"%s\",\"token\":\"%s\"}\n",
                order_id.c_str(), VerdictName(decision.verdict), decision.reason.c_str(),
                order.read_at().token().c_str());
  }

  bool Read(const std::string& table, const std::string& key, const v1::Consistency& consistency,
            v1::GetRowResponse* response) {
    v1::GetRowRequest request;
    request.set_table(table);
    request.add_key()->set_string_value(key);
    *request.mutable_consistency() = consistency;
    while (!stopped()) {
      grpc::ClientContext context;
      Prepare(context, std::chrono::seconds(10));
      const grpc::Status status = stub_->GetRow(&context, request, response);
      if (status.ok()) return true;
      std::fprintf(stderr, "credit_desk: reading %s %s: %s\n", table.c_str(), key.c_str(),
                   Describe(status).c_str());
      if (status.error_code() != grpc::StatusCode::UNAVAILABLE) return false;
      PauseBeforeRetry();
    }
    return false;
  }

  std::unique_ptr<v1::StateService::Stub> stub_;
  std::string token_;  // everything up to it is decided
  int counts_[3] = {0, 0, 0};
  Mutex mutex_;
  CondVar wake_;
  bool stopped_ TIDEMARK_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* watch_ TIDEMARK_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace
}  // namespace tidemark::examples

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const int stop_fd = signalfd(-1, &signals, SFD_CLOEXEC);
  tidemark::examples::CreditDesk desk(absl::GetFlag(FLAGS_target));
  std::thread thread([&desk] { desk.Run(); });
  pollfd waiting{stop_fd, POLLIN, 0};
  while (poll(&waiting, 1, -1) < 1) {
  }
  desk.Stop();
  thread.join();
  close(stop_fd);
  return 0;
}
