// What a handler knows about the call it serves besides the request.
#ifndef TIDEMARK_SERVER_CALL_CONTEXT_H_
#define TIDEMARK_SERVER_CALL_CONTEXT_H_

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

#include "server/method_table.h"
#include "server/principal.h"

namespace tidemark {

struct Caller;  // server/authenticator.h

using SteadyTime = std::chrono::steady_clock::time_point;

// Filled by the adapter before the handler runs and constant then, but for what is said to be
// thread-safe. Lives as long as any handle of its call.
class CallContext {
 public:
  CallContext() = default;
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  const Method& method() const { return *method_; }
  // Never null. It has one of the roles the method needs.
  const Principal& principal() const { return *principal_; }
  // As the caller sent it in `x-request-id`, cut to 128 bytes; empty when it sent none.
  const std::string& request_id() const { return request_id_; }
  // The trace id of a valid `traceparent`; empty when there is none.
  std::string_view trace_id() const {
    return traceparent_.empty() ? std::string_view() : std::string_view(traceparent_).substr(3, 32);
  }
  const std::string& traceparent() const { return traceparent_; }

  // When the caller gives up. A unary call without a deadline gets the server's cap; a stream
  // without one has none (time_point::max()).
  SteadyTime deadline() const { return deadline_; }
  // When a handler that waits must stop waiting and answer, a little before `deadline`, so that its
  // typed error reaches the caller before the caller's own timer does. Call::WhenStopped says
  // kDeadline then.
  SteadyTime answer_by() const { return answer_by_; }

  // Thread-safe. Whether nobody waits for the answer any more: long loops ask now and then and
  // return absl::CancelledError().
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  // The snapshot token of the answer, for the call's log line. Ignored when the call will not be
  // logged. Not thread-safe: before the call is finished.
  void NoteToken(std::string_view token) {
    if (logged_) token_ = token;
  }

 private:
  friend class CallGate;  // server/transport/call_gate.h
  friend class CallContextForTest;

  const Method* method_ = nullptr;
  PrincipalPtr principal_;
  const Caller* caller_ = nullptr;  // kept by the call's Passage; null without a transport
  std::string request_id_;
  std::string traceparent_;
  SteadyTime deadline_ = SteadyTime::max();
  SteadyTime answer_by_ = SteadyTime::max();
  bool logged_ = false;
  std::string token_;
  std::atomic<bool> cancelled_{false};
};

// Fills a context without a transport, to call a handler directly.
class CallContextForTest {
 public:
  static void Set(CallContext& context, const Method& method, PrincipalPtr principal,
                  SteadyTime answer_by = SteadyTime::max()) {
    context.method_ = &method;
    context.principal_ = std::move(principal);
    context.deadline_ = answer_by;
    context.answer_by_ = answer_by;
  }
  static void Cancel(CallContext& context) { context.cancelled_ = true; }
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_CALL_CONTEXT_H_
