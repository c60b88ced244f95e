#include "bench/load_generator.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tidemark::bench {
namespace {

struct Call {
  grpc::ClientContext context;
  grpc::ByteBuffer response;
  grpc::Status status;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
};

// One connection with its completion queue and thread: starts a call for each one that ends.
class Connection {
 public:
  Connection(const Load& load, int number, std::atomic<uint64_t>& next) : load_(load), next_(next) {
    grpc::ChannelArguments arguments;
    arguments.SetInt("tidemark.bench.connection", number);  // otherwise connections are shared
    channel_ =
        grpc::CreateCustomChannel(load.target, grpc::InsecureChannelCredentials(), arguments);
    stub_ = std::make_unique<grpc::GenericStub>(channel_);
  }

  void Run(int in_flight) {
    for (int i = 0; i < in_flight; ++i) StartOne();
    void* tag = nullptr;
    bool ok = false;
    while (running_ > 0 && queue_.Next(&tag, &ok)) {
      std::unique_ptr<Call> call(static_cast<Call*>(tag));
      --running_;
      if (!call->status.ok()) {
        if (failure_.ok()) {
          failure_ = absl::UnavailableError(
              absl::StrCat(load_.method, ": code ", static_cast<int>(call->status.error_code()),
                           " ", call->status.error_message()));
        }
        continue;
      }
      ++done_;
      response_bytes_ = call->response.Length();
      if (failure_.ok()) StartOne();
    }
    queue_.Shutdown();
    while (queue_.Next(&tag, &ok)) {
    }
  }

  const absl::Status& failure() const { return failure_; }
  uint64_t done() const { return done_; }
  uint64_t response_bytes() const { return response_bytes_; }

 private:
  void StartOne() {
    const uint64_t number = next_.fetch_add(1);
    if (number >= load_.calls) return;
    auto call = std::make_unique<Call>();
    call->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    grpc::Slice slice(load_.request(number));
    grpc::ByteBuffer request(&slice, 1);
    call->reader = stub_->PrepareUnaryCall(&call->context, load_.method, request, &queue_);
    call->reader->StartCall();
    Call* raw = call.release();  // comes back as the tag
    raw->reader->Finish(&raw->response, &raw->status, raw);
    ++running_;
  }

  const Load& load_;
  std::atomic<uint64_t>& next_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::GenericStub> stub_;
  grpc::CompletionQueue queue_;
  int running_ = 0;
  uint64_t done_ = 0;
  uint64_t response_bytes_ = 0;
  absl::Status failure_;
};

}  // namespace

absl::StatusOr<LoadResult> RunLoad(const Load& load) {
  std::atomic<uint64_t> next{0};
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < load.channels; ++i) {
    connections.push_back(std::make_unique<Connection>(load, i, next));
  }
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (auto& connection : connections) {
    threads.emplace_back(
        [&load, raw = connection.get()] { raw->Run(load.in_flight / load.channels); });
  }
  for (std::thread& thread : threads) thread.join();
  LoadResult result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (auto& connection : connections) {
    if (!connection->failure().ok()) return connection->failure();
    result.calls += connection->done();
    result.response_bytes = std::max(result.response_bytes, connection->response_bytes());
  }
  return result;
}

}  // namespace tidemark::bench
