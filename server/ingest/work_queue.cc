#include "server/ingest/work_queue.h"

#include <utility>

#include "common/check.h"
#include "common/error.h"

namespace tidemark::ingest {

WorkQueue::WorkQueue(size_t max_bytes, size_t max_works)
    : max_bytes_(max_bytes), max_works_(max_works) {}

WorkQueue::Lane& WorkQueue::LaneOf(std::string_view source) {
  const auto found = lanes_.find(source);
  return found != lanes_.end() ? found->second : lanes_[std::string(source)];
}

bool WorkQueue::HasRoom(const Lane& lane, size_t bytes) const {
  // A work larger than the bound would never find room beside another.
  return lane.works.empty() || (lane.works.size() < max_works_ && lane.bytes + bytes <= max_bytes_);
}

absl::StatusOr<size_t> WorkQueue::Push(Work work) {
  const size_t bytes = work.events ? work.events->memory_bytes() : 0;
  MutexLock lock(mutex_);
  Lane& lane = LaneOf(work.source);
  while (!closed_ && lane.refused_epoch < lane.epoch && !HasRoom(lane, bytes)) {
    lane.awaited = true;
    changed_.Wait(mutex_);
  }
  if (closed_) {
    return MakeError(Reason::kShuttingDown, "The server is shutting down; nothing was applied.");
  }
  if (lane.refused_epoch == lane.epoch) return lane.refusal;
  QueuedWork queued;
  queued.work = std::move(work);
  queued.epoch = lane.epoch;
  queued.ticket = next_ticket_++;
  queued.bytes = bytes;
  lane.works.push_back(std::move(queued));
  lane.bytes += bytes;
  bytes_ += bytes;
  return works_++;
}

void WorkQueue::Restart(std::string_view source) {
  MutexLock lock(mutex_);
  ++LaneOf(source).epoch;
}

std::optional<QueuedWork> WorkQueue::Take() {
  MutexLock lock(mutex_);
  Lane* oldest = nullptr;
  for (auto& [source, lane] : lanes_) {
    if (lane.works.empty()) continue;
    if (!oldest || lane.works.front().ticket < oldest->works.front().ticket) oldest = &lane;
  }
  if (!oldest) return std::nullopt;
  QueuedWork taken = std::move(oldest->works.front());
  oldest->works.pop_front();
  oldest->bytes -= taken.bytes;
  bytes_ -= taken.bytes;
  --works_;
  if (taken.epoch <= oldest->refused_epoch) taken.refusal = oldest->refusal;
  // A source woken for every place that becomes free would run in step with the applier, a switch
  // of threads for each work.
  if (oldest->awaited && IsHalfEmpty(*oldest)) {
    oldest->awaited = false;
    changed_.NotifyAll();
  }
  return taken;
}

void WorkQueue::PutBack(QueuedWork work) {
  MutexLock lock(mutex_);
  Lane& lane = LaneOf(work.work.source);
  work.ticket = next_ticket_++;
  lane.bytes += work.bytes;
  bytes_ += work.bytes;
  ++works_;
  lane.works.push_front(std::move(work));
}

void WorkQueue::Refuse(std::string_view source, uint64_t epoch, const absl::Status& error) {
  TIDEMARK_CHECK(!error.ok());
  MutexLock lock(mutex_);
  Lane& lane = LaneOf(source);
  // The first error of an epoch is the cause; what is refused because of it tells nothing new.
  if (epoch <= lane.refused_epoch) return;
  lane.refused_epoch = epoch;
  lane.refusal = error;
  changed_.NotifyAll();
}

void WorkQueue::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
  changed_.NotifyAll();
}

size_t WorkQueue::works() const {
  MutexLock lock(mutex_);
  return works_;
}

size_t WorkQueue::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

}  // namespace tidemark::ingest
