#include "server/transport/call_stop.h"

#include <utility>

#include "common/check.h"

namespace tidemark {

void WaitingCalls::Drain() {
  absl::flat_hash_map<CallStop*, CallHandle<Call>> calls;
  {
    MutexLock lock(mutex_);
    draining_ = true;
    calls.swap(waiting_);
  }
  for (const auto& [stop, call] : calls) stop->Signal(StopReason::kDraining);
}

void WaitingCalls::StopWithdrawn() {
  absl::flat_hash_map<CallStop*, CallHandle<Call>> calls;
  {
    MutexLock lock(mutex_);
    calls = waiting_;
  }
  for (const auto& [stop, call] : calls) {
    if (!MayGoOn(call)) stop->Signal(StopReason::kWithdrawn);
  }
}

std::optional<StopReason> WaitingCalls::Add(CallStop* stop, CallHandle<Call> call) {
  {
    MutexLock lock(mutex_);
    if (draining_) return StopReason::kDraining;
    waiting_.emplace(stop, call);
  }
  // After it can be found: a change before this is seen here, one after it finds the call.
  if (!MayGoOn(call)) return StopReason::kWithdrawn;
  return std::nullopt;
}

void WaitingCalls::Remove(CallStop* stop) {
  CallHandle<Call> call;  // let go outside the lock: it may be the last one
  MutexLock lock(mutex_);
  const auto place = waiting_.find(stop);
  if (place == waiting_.end()) return;
  call = std::move(place->second);
  waiting_.erase(place);
}

void CallStop::Arm(CallHandle<Call> call, std::function<void(StopReason)> callback) {
  std::optional<StopReason> reason;
  {
    MutexLock lock(mutex_);
    TIDEMARK_CHECK(!armed_);
    armed_ = true;
    if (closed_) return;
    reason = reason_;
    if (!reason.has_value()) callback_.swap(callback);
  }
  if (reason.has_value()) return callback(*reason);

  const TimerQueue::Id timer =
      timers_.Add(call->context().answer_by(), [this, call] { Signal(StopReason::kDeadline); });
  const std::optional<StopReason> at_once = waiting_.Add(this, std::move(call));
  bool closed = false;
  {
    MutexLock lock(mutex_);
    closed = closed_;
    timer_ = timer;
  }
  if (closed) {
    // Finished meanwhile, before there was anything to take out.
    timers_.Cancel(timer);
    waiting_.Remove(this);
  } else if (at_once.has_value()) {
    Signal(*at_once);
  }
}

void CallStop::Signal(StopReason reason) {
  std::function<void(StopReason)> callback;
  {
    MutexLock lock(mutex_);
    if (closed_ || reason_.has_value()) return;
    reason_ = reason;
    callback.swap(callback_);
  }
  if (callback) callback(reason);
}

bool CallStop::Close() {
  std::function<void(StopReason)> callback;
  TimerQueue::Id timer = 0;
  bool armed = false;
  {
    MutexLock lock(mutex_);
    if (closed_) return false;
    closed_ = true;
    callback.swap(callback_);
    timer = timer_;
    armed = armed_;
  }
  if (armed) {
    timers_.Cancel(timer);
    waiting_.Remove(this);
  }
  return true;
}

}  // namespace tidemark
