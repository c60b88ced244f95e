#include "common/background_worker.h"

#include <pthread.h>

#include <utility>

#include "common/check.h"

namespace tidemark {

BackgroundWorker::BackgroundWorker(Options options, std::function<void()> work)
    : options_(std::move(options)), work_(std::move(work)) {
  TIDEMARK_CHECK(options_.period > absl::ZeroDuration());
  thread_ = std::thread([this] { Run(); });
}

BackgroundWorker::~BackgroundWorker() { Stop(); }

void BackgroundWorker::Trigger() {
  MutexLock lock(mutex_);
  triggered_ = true;
  changed_.NotifyAll();
}

bool BackgroundWorker::Step() {
  MutexLock lock(mutex_);
  triggered_ = true;
  // A round that runs now may have passed what the caller wants done: the next one counts.
  const uint64_t wanted = rounds_started_ + 1;
  changed_.NotifyAll();
  while (rounds_ended_ < wanted && !stopping()) changed_.Wait(mutex_);
  return rounds_ended_ >= wanted;
}

void BackgroundWorker::Stop() {
  TIDEMARK_CHECK(thread_.get_id() != std::this_thread::get_id());
  {
    MutexLock lock(mutex_);
    if (stopping()) {
      while (!joined_) changed_.Wait(mutex_);
      return;
    }
    stopping_.store(true, std::memory_order_relaxed);
    changed_.NotifyAll();
  }
  thread_.join();
  MutexLock lock(mutex_);
  joined_ = true;
  changed_.NotifyAll();
}

void BackgroundWorker::Run() {
  pthread_setname_np(pthread_self(), options_.name.substr(0, 15).c_str());
  while (AwaitRound()) {
    work_();
    MutexLock lock(mutex_);
    ++rounds_ended_;
    changed_.NotifyAll();
  }
}

bool BackgroundWorker::AwaitRound() {
  MutexLock lock(mutex_);
  // A period too long for the clock's arithmetic never ends either.
  if (options_.period > absl::Hours(24 * 365)) {
    while (!triggered_ && !stopping()) changed_.Wait(mutex_);
  } else {
    const auto due = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(options_.period);
    while (!triggered_ && !stopping() && std::chrono::steady_clock::now() < due) {
      changed_.WaitUntil(mutex_, due);
    }
  }
  if (stopping()) return false;
  triggered_ = false;
  ++rounds_started_;
  return true;
}

}  // namespace tidemark
