// Every WatchChanges call: opens them, wakes them when a snapshot is published, and ends them.
#ifndef TIDEMARK_SERVER_SERVICES_WATCH_HUB_H_
#define TIDEMARK_SERVER_SERVICES_WATCH_HUB_H_

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/time/time.h"
#include "common/background_worker.h"
#include "common/mutex.h"
#include "server/executor.h"
#include "server/ingest/source.h"
#include "server/services/change_window.h"
#include "server/services/watch_stream.h"
#include "storage/state/state_reader.h"
#include "storage/tables/catalog.h"

namespace tidemark::v1 {
class WatchChangesRequest;
}

namespace tidemark::services {

struct WatchOptions {
  size_t max_streams = 1000;  // more are OVERLOADED
  // How often idle streams and slow readers are looked at. Infinite: only by Tick (tests).
  absl::Duration tick = absl::Milliseconds(250);
  size_t checkpoint_ticks = 8;  // without a message, until a stream gets a checkpoint
  size_t stall_ticks = 60;      // a message waits to be taken, until SLOW_CONSUMER
  size_t max_behind = 50000;    // snapshots a stream that was at the head may fall behind
  ChangeWindowOptions window;
};

// Thread-safe. Outlives the calls it serves; whoever destroys it stopped the executor before, so
// that no stream works any more.
class WatchHub {
 public:
  // The references outlive the hub.
  WatchHub(state::StateReader& reader, const tables::Catalog& catalog,
           const ingest::SourceSet& sources, Executor& executor, WatchOptions options = {});
  // Stops.
  ~WatchHub();

  // Serves the stream until it ends. Errors: those of ParseWatch and FindStart, OVERLOADED,
  // SHUTTING_DOWN; later SLOW_CONSUMER and SHUTTING_DOWN with `resume_token`, UNAUTHENTICATED when
  // the caller's token was withdrawn, SNAPSHOT_EXPIRED when the stream fell behind what is kept,
  // DATA_DAMAGED.
  void Open(const v1::WatchChangesRequest& request, WatchStream::Stream stream)
      TIDEMARK_EXCLUDES(mutex_);

  // Takes no new stream and wakes nobody any more; the transport ends the open ones. Idempotent.
  void Stop() TIDEMARK_EXCLUDES(mutex_);

  // One tick, seen by every stream when this returns. For tests.
  void Tick() { ticker_.Step(); }
  // Open streams. For metrics.
  size_t streams() const { return count_.load(std::memory_order_relaxed); }

 private:
  absl::Status Register(const std::shared_ptr<WatchStream>& stream) TIDEMARK_EXCLUDES(mutex_);
  void Remove(const std::shared_ptr<WatchStream>& stream) TIDEMARK_EXCLUDES(mutex_);
  void CountTables(const WatchSpec& spec, int by) TIDEMARK_REQUIRES(mutex_);
  std::vector<std::shared_ptr<WatchStream>> Streams() const TIDEMARK_EXCLUDES(mutex_);

  state::StateReader& reader_;
  const tables::Catalog& catalog_;
  const ingest::SourceSet& sources_;
  const WatchOptions options_;
  ChangeWindow window_;
  const WatchStreamParts parts_;

  std::atomic<size_t> count_{0};
  mutable Mutex mutex_;
  bool stopped_ TIDEMARK_GUARDED_BY(mutex_) = false;
  std::set<std::shared_ptr<WatchStream>> streams_ TIDEMARK_GUARDED_BY(mutex_);
  std::map<state::TableId, int> watched_ TIDEMARK_GUARDED_BY(mutex_);  // streams per table

  BackgroundWorker pump_;
  BackgroundWorker ticker_;
  std::shared_ptr<void> listener_;
};

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_WATCH_HUB_H_
