#include "server/transport/unary_call.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/slice.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "server/transport/grpc_status.h"
#include "server/transport/request_parse.h"

namespace tidemark {
namespace {

absl::Status TooLarge(size_t size, size_t limit) {
  return MakeError(Reason::kResponseTooLarge,
                   absl::StrCat("The answer has ", size, " bytes, a message may have ", limit,
                                "; ask for fewer rows or columns, or page."),
                   {{"size", absl::StrCat(size)}, {"limit", absl::StrCat(limit)}});
}

// Where a slice's bytes may be filled in. Not to be copied before that: a small slice holds its
// bytes itself.
uint8_t* BytesOf(grpc::Slice& slice) { return const_cast<uint8_t*>(slice.begin()); }

}  // namespace

grpc::ByteBuffer JoinPieces(std::span<const std::string_view> pieces) {
  size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  grpc::Slice slice(size);
  uint8_t* out = BytesOf(slice);
  for (const std::string_view piece : pieces) {
    if (!piece.empty()) std::memcpy(out, piece.data(), piece.size());
    out += piece.size();
  }
  return grpc::ByteBuffer(&slice, 1);
}

UnaryReactor::UnaryReactor(const CallEnvironment& environment, const BoundMethod& bound,
                           grpc::CallbackServerContext* transport, grpc::ByteBuffer* response)
    : environment_(environment),
      bound_(bound),
      transport_(transport),
      wire_response_(response),
      stop_(environment.waiting, environment.timers) {}

UnaryReactor* UnaryReactor::Start(const CallEnvironment& environment, const BoundMethod& bound,
                                  grpc::CallbackServerContext* transport,
                                  const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  auto* reactor = new UnaryReactor(environment, bound, transport, response);
  reactor->Serve(*request, CallHandle<UnaryCall>(reactor));
  return reactor;
}

void UnaryReactor::Serve(const grpc::ByteBuffer& request, CallHandle<UnaryCall> self) {
  absl::Status status = environment_.gate.Enter(*bound_.method, *transport_, context(), passage_);
  if (status.ok()) {
    request_ = bound_.request->New(&arena_);
    status = ParseRequest(request, request_);
  }
  if (status.ok() && bound_.run_on == RunOn::kExecutor) {
    status = environment_.executor.Submit([this, self] {
      if (context().cancelled()) return Finish(absl::CancelledError());
      bound_.unary(*request_, self);
    });
  } else if (status.ok()) {
    return bound_.unary(*request_, std::move(self));
  }
  if (!status.ok()) Finish(status);
}

google::protobuf::Message& UnaryReactor::response() {
  if (response_ == nullptr) response_ = bound_.response->New(&arena_);
  return *response_;
}

void UnaryReactor::WhenStopped(std::function<void(StopReason)> callback) {
  stop_.Arm(CallHandle<Call>(this), std::move(callback));
}

void UnaryReactor::Finish(const absl::Status& status) {
  if (!stop_.Close()) return;
  if (!status.ok()) return Conclude(status);
  const size_t size = response().ByteSizeLong();
  if (size > environment_.max_message_bytes) {
    return Conclude(TooLarge(size, environment_.max_message_bytes));
  }
  grpc::Slice slice(size);
  response_->SerializeWithCachedSizesToArray(BytesOf(slice));
  *wire_response_ = grpc::ByteBuffer(&slice, 1);
  Conclude(absl::OkStatus());
}

void UnaryReactor::FinishWithWire(std::span<const std::string_view> pieces) {
  if (!stop_.Close()) return;
  *wire_response_ = JoinPieces(pieces);
  const size_t size = wire_response_->Length();
  Conclude(size > environment_.max_message_bytes ? TooLarge(size, environment_.max_message_bytes)
                                                 : absl::OkStatus());
}

void UnaryReactor::Conclude(const absl::Status& status) {
  const PublicError error = environment_.gate.Conclude(status, context(), passage_);
  grpc::ServerUnaryReactor::Finish(ToGrpcStatus(error));
}

void UnaryReactor::OnCancel() {
  CallGate::Cancelled(context());
  stop_.Signal(StopReason::kCancelled);
}

void UnaryReactor::OnDone() {
  environment_.gate.Leave(passage_);
  Release();
}

void UnaryReactor::Abandoned() {
  // No effect unless the handler let go of the call without an answer.
  Finish(absl::InternalError(
      absl::StrCat("the handler of ", bound_.method->FullName(), " dropped the call")));
  Release();
}

void UnaryReactor::Release() {
  if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace tidemark
