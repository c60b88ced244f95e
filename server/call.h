// A call as its handler sees it: context, answer, and word when nobody waits any more. Knows no
// gRPC; the adapter in server/transport implements it.
//
// A handler that can answer at once is a plain function (service_binder.h). One that may have to
// wait takes a Reply, keeps it, returns, and finishes it later from any thread:
//
//   void GetRow(const GetRowRequest& request, Reply<GetRowResponse> reply) {
//     reply.WhenStopped([reply, wait](StopReason reason) { ... reply.Finish(NotYetApplied()); });
//     wait->Start([reply] { ... reply.FinishWithWire({row, stamp}); });
//   }
//
// Life of a call: the adapter makes it, the handler gets the first handle. It ends with the first
// Finish; when the last handle goes without one, it is finished as an internal error, so no call is
// ever lost. Request, response and context stay valid as long as a handle does, finished or not.
#ifndef TIDEMARK_SERVER_CALL_H_
#define TIDEMARK_SERVER_CALL_H_

#include <atomic>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "server/call_context.h"

namespace google::protobuf {
class Message;
}

namespace tidemark {

// Why a handler should stop working on a call.
enum class StopReason {
  kCancelled,  // the caller is gone; what it is told does not matter
  kDeadline,   // context().answer_by() is reached: say what is missing
  kDraining,   // the server stops: answer SHUTTING_DOWN, a stream with its resume token
  kWithdrawn,  // the caller's token does not admit this call any more: answer UNAUTHENTICATED
};

// Thread-safe, but for what the shapes below say.
class Call {
 public:
  Call() = default;
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  CallContext& context() { return context_; }

  // Calls `callback` at most once, with the first reason that comes up: now, on this thread, when
  // one already has. At most one WhenStopped per call. Quick: it runs on a thread of the transport
  // or of the timers. Dropped, with what it captured, when the call is finished; one that has
  // begun then runs on. A stream has no kDeadline unless its caller set a deadline.
  virtual void WhenStopped(std::function<void(StopReason)> callback) = 0;

  // Ends the call. Unary: OK sends response(). Stream: waits for the write in flight, if there is
  // one. The first one counts, later ones have no effect.
  virtual void Finish(const absl::Status& status) = 0;

 private:
  template <typename>
  friend class CallHandle;
  // The last handle is gone.
  virtual void Abandoned() = 0;

  CallContext context_;
  std::atomic<int> handles_{0};
};

class UnaryCall : public Call {
 public:
  // The answer to fill, made at the first call. Not thread-safe: one thread at a time, before
  // Finish.
  virtual google::protobuf::Message& response() = 0;
  // Ends the call with OK; the answer's wire bytes are `pieces` one after the other, copied before
  // this returns. RESPONSE_TOO_LARGE instead when they are more than a message may hold.
  virtual void FinishWithWire(std::span<const std::string_view> pieces) = 0;
};

class StreamCall : public Call {
 public:
  // Calls `callback` each time a message was taken by the transport and the next may be written.
  // Set before the first Write. Like WhenStopped: quick, and dropped when the call is finished.
  virtual void WhenWritten(std::function<void()> callback) = 0;
  // Sends one message, whose wire bytes are `pieces` one after the other, copied before this
  // returns. One at a time: not before WhenWritten's callback came for the one before. A message
  // that cannot be sent any more is dropped; WhenStopped then says kCancelled.
  virtual void Write(std::span<const std::string_view> pieces) = 0;
};

// Keeps a call alive. Copyable; an empty one may only be assigned to and destroyed.
template <typename C>
class CallHandle {
 public:
  CallHandle() = default;
  explicit CallHandle(C* call) : call_(call) { Add(); }
  CallHandle(const CallHandle& other) : call_(other.call_) { Add(); }
  CallHandle(CallHandle&& other) noexcept : call_(std::exchange(other.call_, nullptr)) {}
  CallHandle& operator=(CallHandle other) noexcept {
    std::swap(call_, other.call_);
    return *this;
  }
  ~CallHandle() {
    if (call_ == nullptr) return;
    Call* call = call_;
    if (call->handles_.fetch_sub(1, std::memory_order_acq_rel) == 1) call->Abandoned();
  }

  C* operator->() const { return call_; }
  C& operator*() const { return *call_; }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  void Add() {
    if (call_ != nullptr)
      static_cast<Call*>(call_)->handles_.fetch_add(1, std::memory_order_relaxed);
  }
  C* call_ = nullptr;
};

// A unary call whose answer is a Response.
template <typename Response>
class Reply {
 public:
  explicit Reply(CallHandle<UnaryCall> call) : call_(std::move(call)) {}
  CallContext& context() const { return call_->context(); }
  Response& response() const { return static_cast<Response&>(call_->response()); }
  void WhenStopped(std::function<void(StopReason)> callback) const {
    call_->WhenStopped(std::move(callback));
  }
  void Finish(const absl::Status& status) const { call_->Finish(status); }
  void FinishWithWire(std::span<const std::string_view> pieces) const {
    call_->FinishWithWire(pieces);
  }
  void FinishWithWire(std::initializer_list<std::string_view> pieces) const {
    call_->FinishWithWire(std::span(pieces.begin(), pieces.size()));
  }

 private:
  CallHandle<UnaryCall> call_;
};

// A server stream of Responses.
template <typename Response>
class ResponseStream {
 public:
  explicit ResponseStream(CallHandle<StreamCall> call) : call_(std::move(call)) {}
  CallContext& context() const { return call_->context(); }
  void WhenStopped(std::function<void(StopReason)> callback) const {
    call_->WhenStopped(std::move(callback));
  }
  void WhenWritten(std::function<void()> callback) const {
    call_->WhenWritten(std::move(callback));
  }
  void Write(std::span<const std::string_view> pieces) const { call_->Write(pieces); }
  void Write(std::initializer_list<std::string_view> pieces) const {
    call_->Write(std::span(pieces.begin(), pieces.size()));
  }
  void Write(const Response& response) const { Write({response.SerializeAsString()}); }
  void Finish(const absl::Status& status) const { call_->Finish(status); }

 private:
  CallHandle<StreamCall> call_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_CALL_H_
