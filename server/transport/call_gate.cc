#include "server/transport/call_gate.h"

#include <grpcpp/server_context.h>

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/check.h"
#include "common/error.h"
#include "common/strings.h"

namespace tidemark {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMaxRequestIdBytes = 128;
// How long before its deadline a waiting call is answered: a tenth of the time it has, within
// bounds that leave the answer time to travel and the wait most of its time.
constexpr milliseconds kMinMargin{10};
constexpr milliseconds kMaxMargin{250};
constexpr absl::Duration kRetryWhenFull = absl::Milliseconds(100);
constexpr absl::Duration kRetryWhenClosed = absl::Seconds(1);

std::string_view Header(const grpc::CallbackServerContext& transport, const char* name) {
  const auto& headers = transport.client_metadata();
  const auto header = headers.find(name);
  if (header == headers.end()) return {};
  return {header->second.data(), header->second.size()};
}

bool IsLowerHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// version "00"-trace id-parent id-flags, as W3C Trace Context writes it.
bool IsTraceparent(std::string_view text) {
  return text.size() == 55 && text.substr(0, 3) == "00-" && text[35] == '-' && text[52] == '-' &&
         IsLowerHex(text.substr(3, 32)) && IsLowerHex(text.substr(36, 16)) &&
         IsLowerHex(text.substr(53)) && text.substr(3, 32) != std::string(32, '0');
}

// A place below the bound, or none.
bool Take(std::atomic<int>& count, int bound) {
  if (count.fetch_add(1, std::memory_order_relaxed) < bound) return true;
  count.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

std::string MakeRequestId() {
  std::random_device random;
  return absl::StrFormat("%08x%08x", random(), random());
}

LogLevel LevelOf(const absl::Status& status, bool sanitised) {
  if (sanitised || status.code() == absl::StatusCode::kDataLoss) return LogLevel::kError;
  return LogLevel::kInfo;
}

}  // namespace

CallGate::CallGate(const GateOptions& options, const Authenticator& authenticator,
                   CallMetrics& metrics, Log& log)
    : options_(options), authenticator_(authenticator), metrics_(metrics), log_(log) {}

absl::Status CallGate::Enter(const Method& method, grpc::CallbackServerContext& transport,
                             CallContext& context, Passage& passage) {
  passage.arrived_ = std::chrono::steady_clock::now();
  passage.method_ = &method;
  metrics_.Started(method);
  context.method_ = &method;
  context.request_id_ = Header(transport, "x-request-id").substr(0, kMaxRequestIdBytes);
  const std::string_view traceparent = Header(transport, "traceparent");
  if (IsTraceparent(traceparent)) context.traceparent_ = traceparent;
  if (!context.request_id_.empty()) {
    transport.AddInitialMetadata("x-request-id", context.request_id_);
  }
  if (!context.traceparent_.empty()) {
    transport.AddInitialMetadata("traceparent", context.traceparent_);
  }
  // A caller who names a call wants to find it: its line is written whatever its outcome.
  context.logged_ = log_.Enabled(context.request_id_.empty() ? LogLevel::kDebug : LogLevel::kInfo);
  SetDeadline(method, transport, context, passage);
  return Admit(method, Header(transport, "authorization"), context, passage);
}

absl::Status CallGate::Admit(const Method& method, std::string_view authorization,
                             CallContext& context, Passage& passage) {
  if (closed_.load(std::memory_order_relaxed)) {
    refused_closed_.fetch_add(1, std::memory_order_relaxed);
    return MakeError(Reason::kShuttingDown, "The server is stopping; retry on another connection.",
                     {}, kRetryWhenClosed);
  }
  const bool unary = method.shape == MethodShape::kUnary;
  if (!Take(unary ? calls_ : streams_, unary ? options_.max_calls : options_.max_streams)) {
    const char* queue = unary ? "calls" : "streams";
    return MakeError(
        Reason::kOverloaded,
        absl::StrCat("The server has as many ", queue, " in progress as it takes; retry later."),
        {{"queue", queue}}, kRetryWhenFull);
  }
  passage.counted_ = true;
  passage.present_ = true;
  present_.fetch_add(1);
  TIDEMARK_ASSIGN_OR_RETURN(CallerPtr caller, authenticator_.Authenticate(authorization));
  context.principal_ = caller->principal;
  if (!Take(caller->calls, options_.max_calls_per_caller)) {
    return MakeError(Reason::kRateLimited,
                     absl::StrCat("This caller has ", options_.max_calls_per_caller,
                                  " calls in progress, which is its limit; retry later."),
                     {{"limit", absl::StrCat(options_.max_calls_per_caller)}}, kRetryWhenFull);
  }
  passage.caller_ = std::move(caller);
  context.caller_ = passage.caller_.get();
  if (!method.available) {
    return MakeError(Reason::kMethodNotAvailable,
                     absl::StrCat(method.FullName(), " is not available in this version."),
                     {{"method", method.FullName()}});
  }
  if (!context.principal_->roles.HasAnyOf(method.roles)) {
    return MakeError(
        Reason::kRoleMissing,
        absl::StrCat(method.FullName(), " needs one of the roles ", RoleNames(method.roles), "."),
        {{"roles", RoleNames(method.roles)}, {"method", method.FullName()}});
  }
  return absl::OkStatus();
}

bool CallGate::StillAdmits(const CallContext& context) const {
  return context.caller_ == nullptr ||
         authenticator_.StillAdmits(*context.caller_, context.method().roles);
}

void CallGate::SetDeadline(const Method& method, const grpc::CallbackServerContext& transport,
                           CallContext& context, const Passage& passage) const {
  const auto wall = transport.deadline();
  std::chrono::nanoseconds left;
  if (wall != std::chrono::system_clock::time_point::max()) {
    left = wall - std::chrono::system_clock::now();
  } else if (method.shape == MethodShape::kUnary) {
    left = absl::ToChronoNanoseconds(options_.deadline_cap);
  } else {
    return;
  }
  left = std::clamp<std::chrono::nanoseconds>(left, milliseconds(0), std::chrono::hours(24 * 365));
  context.deadline_ = passage.arrived_ + left;
  context.answer_by_ =
      context.deadline_ - std::clamp<std::chrono::nanoseconds>(left / 10, kMinMargin, kMaxMargin);
}

PublicError CallGate::Conclude(const absl::Status& status, const CallContext& context,
                               Passage& passage) {
  if (passage.caller_ != nullptr) {
    passage.caller_->calls.fetch_sub(1, std::memory_order_relaxed);
  }
  if (passage.counted_) {
    const bool unary = passage.method_->shape == MethodShape::kUnary;
    (unary ? calls_ : streams_).fetch_sub(1, std::memory_order_relaxed);
  }
  const auto took = std::chrono::steady_clock::now() - passage.arrived_;
  if (status.ok()) {
    metrics_.Handled(*passage.method_, absl::StatusCode::kOk, took);
    if (context.logged_) LogOutcome(status, {}, context.request_id_, context, took);
    return {};
  }
  // Whoever is told of a defect needs a name for it.
  const bool nameless = context.request_id_.empty() && IsDefect(status);
  const std::string request_id = nameless ? MakeRequestId() : context.request_id_;
  PublicError error = MapError(status, request_id);
  metrics_.Handled(*passage.method_, error.code, took);
  LogOutcome(status, error, request_id, context, took);
  return error;
}

void CallGate::LogOutcome(const absl::Status& status, const PublicError& error,
                          std::string_view request_id, const CallContext& context,
                          std::chrono::nanoseconds took) {
  const LogLevel level = !status.ok()                  ? LevelOf(status, error.sanitised)
                         : context.request_id_.empty() ? LogLevel::kDebug
                                                       : LogLevel::kInfo;
  if (!log_.Enabled(level)) return;
  std::string principal;
  if (context.principal_ != nullptr) {
    principal = context.principal_->tenant + "/" + context.principal_->subject;
  }
  const std::string method = context.method_->FullName();
  log_.Write(level, status.ok() ? "call served" : "call refused or failed",
             {{"method", method},
              {"code", ToStd(absl::StatusCodeToString(error.code))},
              {"reason", ReasonName(error.sanitised ? Reason::kInternal : ReasonOf(status))},
              {"latency_ms", std::chrono::duration<double, std::milli>(took).count()},
              {"request_id", request_id},
              {"trace_id", context.trace_id()},
              {"principal", principal},
              {"token", context.token_},
              {"error", ToStd(status.message())}});
}

void CallGate::Leave(Passage& passage) {
  if (!passage.present_) return;
  present_.fetch_sub(1);
  if (closed_) {
    MutexLock lock(mutex_);
    left_.NotifyAll();
  }
}

bool CallGate::AwaitIdle(std::chrono::nanoseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  MutexLock lock(mutex_);
  while (present_ > 0) {
    if (!left_.WaitUntil(mutex_, deadline) && std::chrono::steady_clock::now() >= deadline) {
      return present_ == 0;
    }
  }
  return true;
}

void CallGate::AwaitQuiet(std::chrono::nanoseconds quiet, std::chrono::nanoseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  MutexLock lock(mutex_);
  uint64_t before = 0;
  do {
    before = refused_closed_.load();
    const auto until = std::min(deadline, std::chrono::steady_clock::now() + quiet);
    while (std::chrono::steady_clock::now() < until) left_.WaitUntil(mutex_, until);
  } while (refused_closed_.load() != before && std::chrono::steady_clock::now() < deadline);
}

}  // namespace tidemark
