#include "server/transport/stream_call.h"

#include <grpcpp/server_context.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "server/transport/grpc_status.h"
#include "server/transport/request_parse.h"

namespace tidemark {

StreamReactor::StreamReactor(const CallEnvironment& environment, const BoundMethod& bound,
                             grpc::CallbackServerContext* transport)
    : environment_(environment),
      bound_(bound),
      transport_(transport),
      stop_(environment.waiting, environment.timers) {}

StreamReactor* StreamReactor::Start(const CallEnvironment& environment, const BoundMethod& bound,
                                    grpc::CallbackServerContext* transport,
                                    const grpc::ByteBuffer* request) {
  auto* reactor = new StreamReactor(environment, bound, transport);
  reactor->Serve(*request, CallHandle<StreamCall>(reactor));
  return reactor;
}

void StreamReactor::Serve(const grpc::ByteBuffer& request, CallHandle<StreamCall> self) {
  absl::Status status = environment_.gate.Enter(*bound_.method, *transport_, context(), passage_);
  if (status.ok()) {
    request_ = bound_.request->New(&arena_);
    status = ParseRequest(request, request_);
  }
  if (!status.ok()) return Finish(status);
  // So that the caller knows that the stream is open before there is anything to tell.
  StartSendInitialMetadata();
  bound_.stream(*request_, std::move(self));
}

void StreamReactor::WhenWritten(std::function<void()> callback) {
  auto written = std::make_shared<const std::function<void()>>(std::move(callback));
  MutexLock lock(mutex_);
  if (!finished_) written_.swap(written);
}

void StreamReactor::Write(std::span<const std::string_view> pieces) {
  grpc::ByteBuffer message = JoinPieces(pieces);
  {
    MutexLock lock(mutex_);
    if (finished_) return;
    TIDEMARK_CHECK(!writing_);
    writing_ = true;
    message_.Swap(&message);
  }
  StartWrite(&message_);
}

void StreamReactor::WhenStopped(std::function<void(StopReason)> callback) {
  stop_.Arm(CallHandle<Call>(this), std::move(callback));
}

void StreamReactor::Finish(const absl::Status& status) {
  if (!stop_.Close()) return;
  PublicError outcome = environment_.gate.Conclude(status, context(), passage_);
  Written written;  // destroyed outside the lock
  {
    MutexLock lock(mutex_);
    finished_ = true;
    written.swap(written_);
    outcome_ = std::move(outcome);
    if (writing_) return;  // OnWriteDone sends it
  }
  ServerWriteReactor::Finish(ToGrpcStatus(outcome_));
}

void StreamReactor::OnWriteDone(bool ok) {
  Written written;
  bool finished = false;
  {
    MutexLock lock(mutex_);
    writing_ = false;
    finished = finished_;
    written = written_;
  }
  if (finished) {
    ServerWriteReactor::Finish(ToGrpcStatus(outcome_));
  } else if (!ok) {
    CallGate::Cancelled(context());
    stop_.Signal(StopReason::kCancelled);
  } else if (written != nullptr) {
    (*written)();
  }
}

void StreamReactor::OnCancel() {
  CallGate::Cancelled(context());
  stop_.Signal(StopReason::kCancelled);
}

void StreamReactor::OnDone() {
  environment_.gate.Leave(passage_);
  Release();
}

void StreamReactor::Abandoned() {
  // No effect unless the handler let go of the stream without an end.
  Finish(absl::InternalError(
      absl::StrCat("the handler of ", bound_.method->FullName(), " dropped the stream")));
  Release();
}

void StreamReactor::Release() {
  if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace tidemark
