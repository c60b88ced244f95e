// The adapter between gRPC and the handlers of unary methods: the only reactor for them.
//
// Life: made when gRPC hands over a call; deletes itself when both gRPC is done with it (OnDone)
// and the last handle of the handler is gone, in whichever order these come. Nothing of gRPC is
// touched after Finish.
#ifndef TIDEMARK_SERVER_TRANSPORT_UNARY_CALL_H_
#define TIDEMARK_SERVER_TRANSPORT_UNARY_CALL_H_

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <functional>
#include <span>
#include <string_view>

#include "server/executor.h"
#include "server/service_binder.h"
#include "server/timer_queue.h"
#include "server/transport/call_gate.h"
#include "server/transport/call_stop.h"

namespace tidemark {

// What every call needs of the server. All members outlive the calls.
struct CallEnvironment {
  CallGate& gate;
  Executor& executor;
  TimerQueue& timers;
  WaitingCalls& waiting;
  size_t max_message_bytes;
};

class UnaryReactor final : public grpc::ServerUnaryReactor, public UnaryCall {
 public:
  // Serves the call: everything from admission on. `request` and `response` belong to gRPC and live
  // until OnDone.
  static UnaryReactor* Start(const CallEnvironment& environment, const BoundMethod& bound,
                             grpc::CallbackServerContext* transport,
                             const grpc::ByteBuffer* request, grpc::ByteBuffer* response);

  google::protobuf::Message& response() override;
  void FinishWithWire(std::span<const std::string_view> pieces) override;
  void WhenStopped(std::function<void(StopReason)> callback) override;
  void Finish(const absl::Status& status) override;

 private:
  UnaryReactor(const CallEnvironment& environment, const BoundMethod& bound,
               grpc::CallbackServerContext* transport, grpc::ByteBuffer* response);
  ~UnaryReactor() override = default;

  void Serve(const grpc::ByteBuffer& request, CallHandle<UnaryCall> self);
  // Ends the call; only for who closed stop_.
  void Conclude(const absl::Status& status);

  void OnCancel() override;
  void OnDone() override;
  void Abandoned() override;
  void Release();

  const CallEnvironment& environment_;
  const BoundMethod& bound_;
  grpc::CallbackServerContext* const transport_;
  grpc::ByteBuffer* const wire_response_;

  Passage passage_;
  CallStop stop_;
  std::atomic<int> owners_{2};  // gRPC and the handles

  // Small requests and answers need no allocation of their own.
  alignas(8) char block_[1024];
  google::protobuf::Arena arena_{block_, sizeof(block_)};
  google::protobuf::Message* request_ = nullptr;
  google::protobuf::Message* response_ = nullptr;
};

// One slice that holds the pieces one after the other.
grpc::ByteBuffer JoinPieces(std::span<const std::string_view> pieces);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TRANSPORT_UNARY_CALL_H_
