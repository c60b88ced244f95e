// The bounded queue between the sources' threads and the applier: one lane per source, so that
// neither a full lane nor a failed work of one source holds up another.
#ifndef TIDEMARK_SERVER_INGEST_WORK_QUEUE_H_
#define TIDEMARK_SERVER_INGEST_WORK_QUEUE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "server/ingest/batch_writer.h"
#include "server/ingest/work.h"

namespace tidemark::ingest {

// A work on its way. `epoch` rises whenever its source restarts: an error refuses the works of its
// epoch and older ones.
struct QueuedWork {
  Work work;
  uint64_t epoch = 0;
  CopyEndPlace place;
  absl::Status refusal;  // set by Take: not OK when an earlier work of the source failed
  uint64_t ticket = 0;   // order of arrival over all lanes
  size_t bytes = 0;      // of memory, as counted in the lane
};

// Thread-safe: sources push, the applier's thread takes.
class WorkQueue {
 public:
  // Bounds of each lane.
  WorkQueue(size_t max_bytes, size_t max_works);

  // Waits for room. Returns how many works were waiting before this one: when there was none, the
  // applier may be asleep. Errors: see Applier::Queue.
  absl::StatusOr<size_t> Push(Work work);
  void Restart(std::string_view source);

  // The work that waits longest; nullopt when none does.
  std::optional<QueuedWork> Take();
  // Puts an unfinished work back: behind what other sources queued meanwhile, before everything of
  // its own source.
  void PutBack(QueuedWork work);
  // A work of `source` queued in `epoch` failed.
  void Refuse(std::string_view source, uint64_t epoch, const absl::Status& error);

  // Whoever waits in Push, and who comes, gets SHUTTING_DOWN.
  void Close();

  size_t works() const;
  size_t bytes() const;

 private:
  struct Lane {
    std::deque<QueuedWork> works;
    size_t bytes = 0;
    bool awaited = false;  // somebody waits for room
    uint64_t epoch = 1;
    uint64_t refused_epoch = 0;  // works up to this epoch are refused, with `refusal`
    absl::Status refusal;
  };
  Lane& LaneOf(std::string_view source) TIDEMARK_REQUIRES(mutex_);
  bool HasRoom(const Lane& lane, size_t bytes) const TIDEMARK_REQUIRES(mutex_);
  // Whether it is worth waking who waits for room.
  bool IsHalfEmpty(const Lane& lane) const TIDEMARK_REQUIRES(mutex_) {
    return lane.works.size() <= max_works_ / 2 && lane.bytes <= max_bytes_ / 2;
  }

  const size_t max_bytes_;
  const size_t max_works_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool closed_ TIDEMARK_GUARDED_BY(mutex_) = false;
  uint64_t next_ticket_ TIDEMARK_GUARDED_BY(mutex_) = 1;
  size_t works_ TIDEMARK_GUARDED_BY(mutex_) = 0;
  size_t bytes_ TIDEMARK_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Lane, std::less<>> lanes_ TIDEMARK_GUARDED_BY(mutex_);
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_WORK_QUEUE_H_
