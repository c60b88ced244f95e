#include "storage/state/engine/publication.h"

#include <algorithm>

#include "storage/state/engine/striped.h"

namespace tidemark::state::engine {

bool PinSet::Covers(SnapshotId id) const {
  return std::binary_search(snapshots_.begin(), snapshots_.end(), id);
}

// The analysis does not follow locks in a loop.
void PublicationBoard::Replace(const LevelDbPublicationPtr& publication)
    TIDEMARK_NO_THREAD_SAFETY_ANALYSIS {
  std::array<PublicationPtr, kSlots> replaced;  // destroyed after the locks are gone
  for (Slot& slot : slots_) slot.mutex.Lock();
  for (size_t i = 0; i < kSlots; ++i) {
    // A reference count of its own per slot, which keeps the shared one.
    replaced[i] = std::move(slots_[i].newest);
    slots_[i].newest = PublicationPtr(
        publication.get(), [held = publication](const Publication*) mutable { held.reset(); });
  }
  for (Slot& slot : slots_) slot.mutex.Unlock();
}

void PublicationBoard::Publish(const LevelDbPublicationPtr& publication) {
  Replace(publication);
  MutexLock lock(listeners_->mutex);
  for (const StateReader::Listener& listener : listeners_->list) listener(publication);
}

PublicationPtr PublicationBoard::Latest() const {
  const Slot& slot = slots_[ThreadNumber() % kSlots];
  MutexLock lock(slot.mutex);
  return slot.newest;
}

std::shared_ptr<void> PublicationBoard::AddListener(StateReader::Listener listener) {
  MutexLock lock(listeners_->mutex);
  const auto at = listeners_->list.insert(listeners_->list.end(), std::move(listener));
  return std::shared_ptr<void>(nullptr, [listeners = listeners_, at](void*) {
    MutexLock lock(listeners->mutex);
    listeners->list.erase(at);
  });
}

}  // namespace tidemark::state::engine
