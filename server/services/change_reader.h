// Reads the changes of one watch from the store, message by message: for a watch that is behind the
// window, and for snapshots that are too large for it.
#ifndef TIDEMARK_SERVER_SERVICES_CHANGE_READER_H_
#define TIDEMARK_SERVER_SERVICES_CHANGE_READER_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/services/watch_request.h"
#include "storage/state/state_reader.h"

namespace tidemark::services {

// Not thread-safe. Between two calls that are not inside a snapshot it may be dropped and another
// one made at `position()`.
class ChangeReader {
 public:
  // Begins after `position`. Both references outlive the reader.
  ChangeReader(const state::StateReader& reader, const WatchSpec& spec, state::SnapshotId position)
      : reader_(reader), spec_(spec), position_(position) {}

  enum class Outcome {
    kMessage,  // `message` is one to send
    kPause,    // looked at enough for now; go on later
    kEnd,      // everything published when this cursor was opened is read
  };
  // Looks at up to `max_entries` of the changelog. `message` is only written with kMessage.
  // SNAPSHOT_EXPIRED when the changes after position() are no longer all kept.
  absl::StatusOr<Outcome> Next(size_t max_entries, std::string* message);

  // Every change of it and of the snapshots before it was returned, or is of no interest.
  state::SnapshotId position() const { return position_; }
  // Whether fragments of the snapshot after position() were returned, and not yet the last one.
  bool inside_snapshot() const { return fragments_; }

 private:
  absl::Status Open();
  // The collected changes of `current_` as a message.
  absl::StatusOr<Outcome> Emit(bool fragment, std::string* message);

  const state::StateReader& reader_;
  const WatchSpec& spec_;
  state::SnapshotId position_;

  state::PublicationPtr publication_;  // of the cursor
  std::unique_ptr<state::ChangeCursor> cursor_;
  std::chrono::steady_clock::time_point opened_;
  state::SnapshotId current_ = state::kNoSnapshot;  // being collected
  std::string changes_;                             // wire bytes collected of it
  bool fragments_ = false;
};

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_CHANGE_READER_H_
