// What happens before and after every call, the same for all of them. In: is there room, who is it,
// does the method exist, may they, until when. Out: the error as callers see it, the log line, the
// metrics.
#ifndef TIDEMARK_SERVER_TRANSPORT_CALL_GATE_H_
#define TIDEMARK_SERVER_TRANSPORT_CALL_GATE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "server/authenticator.h"
#include "server/call_context.h"
#include "server/method_table.h"
#include "server/telemetry/call_metrics.h"
#include "server/telemetry/log.h"
#include "server/transport/error_mapping.h"

namespace grpc {
class CallbackServerContext;
}

namespace tidemark {

struct GateOptions {
  // Unary calls in progress, of all callers and of one; likewise streams. More are refused at once.
  int max_calls = 2000;
  int max_calls_per_caller = 2000;
  int max_streams = 1000;
  // A unary call without a deadline ends after it.
  absl::Duration deadline_cap = absl::Seconds(30);
};

// One call's passage. Owned by the call; touched by one thread at a time.
class Passage {
 public:
  Passage() = default;
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

 private:
  friend class CallGate;
  SteadyTime arrived_;
  const Method* method_ = nullptr;
  CallerPtr caller_;      // counted in caller_->calls
  bool counted_ = false;  // in the gate's count of calls or streams
  bool present_ = false;  // in the gate's count of what the transport still holds
};

// Thread-safe.
class CallGate {
 public:
  // All outlive the gate.
  CallGate(const GateOptions& options, const Authenticator& authenticator, CallMetrics& metrics,
           Log& log);

  // Fills the context and takes a place for the call. Errors: SHUTTING_DOWN, OVERLOADED,
  // UNAUTHENTICATED, RATE_LIMITED, METHOD_NOT_AVAILABLE, ROLE_MISSING.
  absl::Status Enter(const Method& method, grpc::CallbackServerContext& transport,
                     CallContext& context, Passage& passage);

  // The call's outcome is known: counts and logs it, gives its place back (so that a caller who has
  // its answer finds room for the next call), and returns what the caller is told. Called once per
  // call, refused ones too.
  PublicError Conclude(const absl::Status& status, const CallContext& context, Passage& passage);

  // The call is gone from the transport.
  void Leave(Passage& passage) TIDEMARK_EXCLUDES(mutex_);

  // Whether the caller of an admitted call may still make it, after a change of tokens too.
  bool StillAdmits(const CallContext& context) const;

  static void Cancelled(CallContext& context) { context.cancelled_ = true; }

  // From now on every call is refused with SHUTTING_DOWN.
  void Close() { closed_ = true; }
  // After Close: waits until the transport holds no call, or `timeout` passed; whether none is
  // left.
  bool AwaitIdle(std::chrono::nanoseconds timeout) TIDEMARK_EXCLUDES(mutex_);

  // After Close: waits until no call was refused for `quiet`, or `timeout` passed. A call that gRPC
  // has not handed over when the server shuts down is cancelled by it, without a reason: callers
  // who were refused and go elsewhere are not hit by that.
  void AwaitQuiet(std::chrono::nanoseconds quiet, std::chrono::nanoseconds timeout)
      TIDEMARK_EXCLUDES(mutex_);

  int calls() const { return calls_.load(std::memory_order_relaxed); }
  int streams() const { return streams_.load(std::memory_order_relaxed); }

 private:
  absl::Status Admit(const Method& method, std::string_view authorization, CallContext& context,
                     Passage& passage);
  void SetDeadline(const Method& method, const grpc::CallbackServerContext& transport,
                   CallContext& context, const Passage& passage) const;
  void LogOutcome(const absl::Status& status, const PublicError& error, std::string_view request_id,
                  const CallContext& context, std::chrono::nanoseconds took);

  const GateOptions options_;
  const Authenticator& authenticator_;
  CallMetrics& metrics_;
  Log& log_;

  std::atomic<bool> closed_{false};
  std::atomic<int> calls_{0};
  std::atomic<int> streams_{0};
  std::atomic<int> present_{0};
  std::atomic<uint64_t> refused_closed_{0};

  Mutex mutex_;  // only for waiting on left_
  CondVar left_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TRANSPORT_CALL_GATE_H_
