#include "server/timer_queue.h"

#include <pthread.h>

namespace tidemark {

TimerQueue::TimerQueue() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "timers");
    Run();
  });
}

TimerQueue::~TimerQueue() { Stop(); }

TimerQueue::Id TimerQueue::Add(Time when, std::function<void()> callback) {
  if (when == Time::max()) return 0;
  MutexLock lock(mutex_);
  if (stopping_) return 0;
  const Id id = next_id_++;
  const auto [place, inserted] = timers_.emplace(std::pair(when, id), std::move(callback));
  due_.emplace(id, when);
  // Only a new first timer changes what the thread waits for.
  if (place == timers_.begin()) changed_.NotifyAll();
  return id;
}

void TimerQueue::Cancel(Id id) {
  // Destroyed outside the lock: what it captured may call back.
  std::function<void()> callback;
  MutexLock lock(mutex_);
  const auto due = due_.find(id);
  if (due == due_.end()) return;
  const auto timer = timers_.find({due->second, id});
  callback = std::move(timer->second);
  timers_.erase(timer);
  due_.erase(due);
}

void TimerQueue::Stop() {
  std::map<std::pair<Time, Id>, std::function<void()>> dropped;
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      while (!joined_) changed_.Wait(mutex_);
      return;
    }
    stopping_ = true;
    dropped.swap(timers_);
    due_.clear();
    changed_.NotifyAll();
  }
  thread_.join();
  MutexLock lock(mutex_);
  joined_ = true;
  changed_.NotifyAll();
}

size_t TimerQueue::size() const {
  MutexLock lock(mutex_);
  return timers_.size();
}

void TimerQueue::Run() {
  while (true) {
    std::function<void()> callback;
    {
      MutexLock lock(mutex_);
      while (!stopping_ &&
             (timers_.empty() || timers_.begin()->first.first > std::chrono::steady_clock::now())) {
        if (timers_.empty()) {
          changed_.Wait(mutex_);
        } else {
          changed_.WaitUntil(mutex_, timers_.begin()->first.first);
        }
      }
      if (stopping_) return;
      const auto first = timers_.begin();
      due_.erase(first->first.second);
      callback = std::move(first->second);
      timers_.erase(first);
    }
    callback();
  }
}

}  // namespace tidemark
