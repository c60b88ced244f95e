#include "server/executor.h"

#include <pthread.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/error.h"

namespace tidemark {

Executor::Executor(Options options) : options_(std::move(options)) {
  TIDEMARK_CHECK(options_.threads >= 1);
  for (size_t i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this, i] {
      const std::string name = absl::StrCat(options_.name.substr(0, 12), "-", i);
      pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
      Run();
    });
  }
}

Executor::~Executor() { Stop(); }

absl::Status Executor::Submit(std::function<void()> work) {
  MutexLock lock(mutex_);
  if (stopping_) {
    return MakeError(Reason::kShuttingDown, "The server is stopping.", {}, absl::Seconds(1));
  }
  if (queue_.size() >= options_.max_queued) {
    return MakeError(Reason::kOverloaded,
                     absl::StrCat("The queue \"", options_.name, "\" is full; retry later."),
                     {{"queue", options_.name}}, absl::Milliseconds(100));
  }
  queue_.push_back(std::move(work));
  changed_.NotifyOne();
  return absl::OkStatus();
}

void Executor::Stop() {
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      while (!joined_) changed_.Wait(mutex_);
      return;
    }
    stopping_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
  MutexLock lock(mutex_);
  joined_ = true;
  changed_.NotifyAll();
}

size_t Executor::queued() const {
  MutexLock lock(mutex_);
  return queue_.size();
}

void Executor::Run() {
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) changed_.Wait(mutex_);
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace tidemark
