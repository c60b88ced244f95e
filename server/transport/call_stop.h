// Tells a waiting call to stop: its caller is gone or not admitted any more, its time is up, or the
// server drains. What WhenStopped (server/call.h) is made of.
#ifndef TIDEMARK_SERVER_TRANSPORT_CALL_STOP_H_
#define TIDEMARK_SERVER_TRANSPORT_CALL_STOP_H_

#include <functional>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/mutex.h"
#include "server/call.h"
#include "server/timer_queue.h"

namespace tidemark {

class CallStop;

// Every call that waits, so that a drain or a change of tokens can reach them. Thread-safe.
class WaitingCalls {
 public:
  // Whether a call may go on; quick, and thread-safe.
  using Admits = std::function<bool(const CallContext&)>;

  // Without `admits` every call may.
  explicit WaitingCalls(Admits admits = nullptr) : admits_(std::move(admits)) {}

  // Stops with kWithdrawn those that wait and may not go on. Those that begin to wait are looked at
  // then, so that none is missed once `admits` tells of the change.
  void StopWithdrawn() TIDEMARK_EXCLUDES(mutex_);
  // Stops those that wait with kDraining, and at once those that begin to.
  void Drain() TIDEMARK_EXCLUDES(mutex_);

 private:
  friend class CallStop;
  // Why the call must stop at once, if it must.
  std::optional<StopReason> Add(CallStop* stop, CallHandle<Call> call) TIDEMARK_EXCLUDES(mutex_);
  bool MayGoOn(const CallHandle<Call>& call) const {
    return admits_ == nullptr || admits_(call->context());
  }
  void Remove(CallStop* stop) TIDEMARK_EXCLUDES(mutex_);

  const Admits admits_;
  // Never held while a CallStop's own mutex is taken, nor the other way round.
  Mutex mutex_;
  bool draining_ TIDEMARK_GUARDED_BY(mutex_) = false;
  absl::flat_hash_map<CallStop*, CallHandle<Call>> waiting_ TIDEMARK_GUARDED_BY(mutex_);
};

// Part of one call; thread-safe. A call that never waits only ever pays for Close.
class CallStop {
 public:
  CallStop(WaitingCalls& waiting, TimerQueue& timers) : waiting_(waiting), timers_(timers) {}
  CallStop(const CallStop&) = delete;
  CallStop& operator=(const CallStop&) = delete;

  // Call::WhenStopped. `call` keeps the call that this is part of alive for those who signal.
  void Arm(CallHandle<Call> call, std::function<void(StopReason)> callback)
      TIDEMARK_EXCLUDES(mutex_);
  // The first reason counts.
  void Signal(StopReason reason) TIDEMARK_EXCLUDES(mutex_);
  // The call is finished: drops the callback. True for the first caller only, who finishes it.
  bool Close() TIDEMARK_EXCLUDES(mutex_);

 private:
  WaitingCalls& waiting_;
  TimerQueue& timers_;

  Mutex mutex_;
  bool closed_ TIDEMARK_GUARDED_BY(mutex_) = false;
  bool armed_ TIDEMARK_GUARDED_BY(mutex_) = false;
  std::optional<StopReason> reason_ TIDEMARK_GUARDED_BY(mutex_);
  std::function<void(StopReason)> callback_ TIDEMARK_GUARDED_BY(mutex_);
  TimerQueue::Id timer_ TIDEMARK_GUARDED_BY(mutex_) = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TRANSPORT_CALL_STOP_H_
