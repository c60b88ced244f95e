#include "server/ingest/postgres/outbox.h"

#include <utility>

#include "common/check.h"
#include "common/mutex.h"

namespace tidemark::ingest {

struct Outbox::State {
  explicit State(std::shared_ptr<WakeFd> signal) : wake(std::move(signal)) {}

  const std::shared_ptr<WakeFd> wake;
  Mutex mutex;
  size_t works TIDEMARK_GUARDED_BY(mutex) = 0;
  size_t bytes TIDEMARK_GUARDED_BY(mutex) = 0;
  bool was_full TIDEMARK_GUARDED_BY(mutex) = false;
  absl::Status failure TIDEMARK_GUARDED_BY(mutex);

  void Settle(size_t work_bytes, const absl::Status& status) {
    MutexLock lock(mutex);
    --works;
    bytes -= work_bytes;
    if (!status.ok() && failure.ok()) failure = status;
    // Nobody looks at every work that settles.
    if (works == 0 || was_full || !status.ok()) wake->Set();
    was_full = false;
  }
};

Outbox::Outbox(std::string source, Applier& applier, std::shared_ptr<WakeFd> wake,
               OutboxOptions options)
    : source_(std::move(source)),
      applier_(applier),
      options_(options),
      state_(std::make_shared<State>(std::move(wake))) {}

bool Outbox::HasRoom() const {
  MutexLock lock(state_->mutex);
  const bool room = state_->works < options_.max_works && state_->bytes < options_.max_bytes;
  if (!room) state_->was_full = true;
  return room;
}

size_t Outbox::pending() const {
  MutexLock lock(state_->mutex);
  return state_->works;
}

absl::Status Outbox::failure() const {
  MutexLock lock(state_->mutex);
  return state_->failure;
}

absl::Status Outbox::Send(Work work, std::function<void()> applied) {
  const size_t bytes = work.events != nullptr ? work.events->memory_bytes() : 0;
  {
    MutexLock lock(state_->mutex);
    if (!state_->failure.ok()) return state_->failure;
    ++state_->works;
    state_->bytes += bytes;
  }
  work.source = source_;
  work.done = [state = state_, bytes, applied = std::move(applied)](const absl::Status& status) {
    if (status.ok() && applied) applied();
    state->Settle(bytes, status);
  };
  const absl::Status queued = applier_.Queue(std::move(work));
  if (!queued.ok()) state_->Settle(bytes, queued);
  return queued;
}

void Outbox::Restart() {
  {
    MutexLock lock(state_->mutex);
    TIDEMARK_CHECK(state_->works == 0);
    state_->failure = absl::OkStatus();
  }
  applier_.RestartSource(source_);
}

}  // namespace tidemark::ingest
