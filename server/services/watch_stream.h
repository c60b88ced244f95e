// One WatchChanges call.
//
// It pulls: a message is built only when the one before was taken by the transport, so the
// changelog itself is the buffer and a stream holds one message at most. Near the head it takes
// changes from the shared window; further behind it reads the store on the executor.
#ifndef TIDEMARK_SERVER_SERVICES_WATCH_STREAM_H_
#define TIDEMARK_SERVER_SERVICES_WATCH_STREAM_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "server/call.h"
#include "server/executor.h"
#include "server/services/change_reader.h"
#include "server/services/change_window.h"
#include "server/services/watch_request.h"
#include "storage/state/state_reader.h"

namespace tidemark::v1 {
class WatchChangesResponse;
}

namespace tidemark::services {

// What streams share; all of it outlives them.
struct WatchStreamParts {
  const state::StateReader& reader;
  const ChangeWindow& window;
  Executor& executor;
  size_t checkpoint_ticks = 8;  // without a message, until a checkpoint is sent
  size_t stall_ticks = 60;      // one message waits to be taken, until SLOW_CONSUMER
  size_t max_behind = 50000;    // snapshots a stream that was at the head may fall behind
};

// Thread-safe. Owned by the call's callbacks and the hub until it has ended.
class WatchStream : public std::enable_shared_from_this<WatchStream> {
 public:
  using Stream = ResponseStream<v1::WatchChangesResponse>;

  // Begins after `position`, which FindStart allowed.
  WatchStream(const WatchStreamParts& parts, WatchSpec spec, state::SnapshotId position,
              Stream stream);

  // Sends the first checkpoint and goes on by itself. `ended` is called once, when the call is
  // finished, on any thread.
  void Start(std::function<void()> ended);
  // The window moved on.
  void Wake() TIDEMARK_EXCLUDES(mutex_);
  // A fixed time passed: checkpoints of idle streams, and the patience with slow readers.
  void Tick() TIDEMARK_EXCLUDES(mutex_);

  const WatchSpec& spec() const { return spec_; }

 private:
  enum class State {
    kIdle,      // everything published was looked at
    kWorking,   // one thread builds, or a task of the executor will
    kSending,   // that thread hands a message to the transport
    kInFlight,  // the transport has it
    kEnded,
  };
  enum class Next { kMessage, kIdle, kReadStore };

  // The loop of whoever made the state kWorking. `from_store`: on the executor, where it may read
  // the changelog.
  void Work(bool from_store) TIDEMARK_EXCLUDES(mutex_);
  absl::StatusOr<Next> Build(bool from_store) TIDEMARK_EXCLUDES(mutex_);
  absl::StatusOr<Next> BuildFromWindow() TIDEMARK_EXCLUDES(mutex_);
  absl::StatusOr<Next> BuildFromStore() TIDEMARK_EXCLUDES(mutex_);
  absl::StatusOr<Next> BuildCheckpoint();
  // The matching changes as a message without its end; empty when none matches.
  absl::Status AppendMatches(const SnapshotChanges& changes);
  // What follows a step of Build; true when this thread's work is over.
  bool Send() TIDEMARK_EXCLUDES(mutex_);
  bool Rest() TIDEMARK_EXCLUDES(mutex_);
  bool Defer() TIDEMARK_EXCLUDES(mutex_);

  void Written() TIDEMARK_EXCLUDES(mutex_);
  // Why the reader is too slow while a message is in flight; empty when it is not.
  std::string Slowness() const TIDEMARK_REQUIRES(mutex_);
  // Ends the call now, or has it ended by the thread that works.
  void End(absl::Status status) TIDEMARK_EXCLUDES(mutex_);
  // True when somebody called End while this thread worked; the call is then finished.
  bool EndedMeanwhile() TIDEMARK_EXCLUDES(mutex_);
  void Finish(const absl::Status& status) TIDEMARK_EXCLUDES(mutex_);

  // Constant after construction.
  const WatchStreamParts& parts_;
  const WatchSpec spec_;
  const Stream stream_;

  // Used by the thread that works only.
  std::unique_ptr<ChangeReader> store_;
  std::string message_;
  state::SnapshotId built_position_;  // position_ once message_ is handed over

  Mutex mutex_;
  State state_ TIDEMARK_GUARDED_BY(mutex_) = State::kWorking;
  // Everything of it and before is handed over. Written by the thread that works.
  state::SnapshotId position_ TIDEMARK_GUARDED_BY(mutex_);
  bool woken_ TIDEMARK_GUARDED_BY(mutex_) = false;               // while it worked
  bool written_ TIDEMARK_GUARDED_BY(mutex_) = false;             // while it sent
  bool live_ TIDEMARK_GUARDED_BY(mutex_) = false;                // was at the head once
  bool checkpoint_due_ TIDEMARK_GUARDED_BY(mutex_) = true;       // a stream begins with one
  size_t quiet_ticks_ TIDEMARK_GUARDED_BY(mutex_) = 0;           // since the last message
  size_t flight_ticks_ TIDEMARK_GUARDED_BY(mutex_) = 0;          // of the message in flight
  std::optional<absl::Status> end_ TIDEMARK_GUARDED_BY(mutex_);  // for the thread that works
  std::function<void()> ended_ TIDEMARK_GUARDED_BY(mutex_);
};

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_WATCH_STREAM_H_
