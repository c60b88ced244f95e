#include "server/services/watch_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"
#include "server/read_errors.h"
#include "server/services/change_encoding.h"
#include "server/services/wire.h"
#include "tidemark/v1/state_service.pb.h"

namespace tidemark::services {
namespace {

// One task of the executor looks at this many entries of the changelog at most: some 10 ms.
constexpr size_t kEntriesPerTask = 10000;
// A buffer that grew larger for one message is not kept for the next.
constexpr size_t kKeptBufferBytes = 64 << 10;

absl::Status StatusOf(StopReason reason) {
  switch (reason) {
    case StopReason::kCancelled:
      return absl::CancelledError("The caller gave up.");
    case StopReason::kDeadline:
      return absl::DeadlineExceededError("The deadline of the stream has passed.");
    case StopReason::kDraining:
      return ShuttingDown();
    case StopReason::kWithdrawn:
      return TokenWithdrawn();
  }
  return absl::InternalError("unknown stop reason");
}

absl::Status SlowConsumer(std::string_view problem) {
  return MakeError(Reason::kSlowConsumer,
                   absl::StrCat("The reader of this watch is too slow: ", ToAbsl(problem),
                                " Nothing is lost: watch again after resume_token."));
}

}  // namespace

WatchStream::WatchStream(const WatchStreamParts& parts, WatchSpec spec, state::SnapshotId position,
                         Stream stream)
    : parts_(parts),
      spec_(std::move(spec)),
      stream_(std::move(stream)),
      built_position_(position),
      position_(position) {}

void WatchStream::Start(std::function<void()> ended) {
  {
    MutexLock lock(mutex_);
    ended_ = std::move(ended);
  }
  stream_.WhenWritten([self = shared_from_this()] { self->Written(); });
  stream_.WhenStopped(
      [self = shared_from_this()](StopReason reason) { self->End(StatusOf(reason)); });
  Work(/*from_store=*/false);
}

std::string WatchStream::Slowness() const {
  if (flight_ticks_ > parts_.stall_ticks) return "it took no message for too long.";
  if (live_ && parts_.window.head() > position_ + parts_.max_behind) {
    return absl::StrCat("it is more than ", parts_.max_behind, " snapshots behind.");
  }
  return "";
}

void WatchStream::Wake() {
  std::string slowness;
  {
    MutexLock lock(mutex_);
    switch (state_) {
      case State::kIdle:
        state_ = State::kWorking;
        break;
      case State::kInFlight:
        slowness = Slowness();
        if (slowness.empty()) return;
        break;
      default:
        woken_ = true;
        return;
    }
  }
  if (!slowness.empty()) return End(SlowConsumer(slowness));
  Work(/*from_store=*/false);
}

void WatchStream::Tick() {
  std::string slowness;
  {
    MutexLock lock(mutex_);
    if (state_ == State::kInFlight) {
      ++flight_ticks_;
      slowness = Slowness();
      if (slowness.empty()) return;
    } else {
      if (++quiet_ticks_ >= parts_.checkpoint_ticks) checkpoint_due_ = true;
      if (state_ != State::kIdle) return;
      // Behind and idle: the executor was full.
      if (!checkpoint_due_ && position_ >= parts_.window.head()) return;
      state_ = State::kWorking;
    }
  }
  if (!slowness.empty()) return End(SlowConsumer(slowness));
  Work(/*from_store=*/false);
}

void WatchStream::Work(bool from_store) {
  for (bool over = false; !over;) {
    if (EndedMeanwhile()) return;
    const absl::StatusOr<Next> next = Build(from_store);
    if (!next.ok()) {
      End(next.status());
      continue;
    }
    switch (*next) {
      case Next::kMessage:
        over = Send();
        break;
      case Next::kIdle:
        over = Rest();
        break;
      case Next::kReadStore:
        over = Defer();
        break;
    }
  }
}

absl::StatusOr<WatchStream::Next> WatchStream::Build(bool from_store) {
  bool checkpoint;
  {
    MutexLock lock(mutex_);
    built_position_ = position_;
    checkpoint = checkpoint_due_;
  }
  message_.clear();
  if (checkpoint && !(store_ != nullptr && store_->inside_snapshot())) return BuildCheckpoint();
  if (store_ == nullptr) {
    const absl::StatusOr<Next> next = BuildFromWindow();
    if (!next.ok() || *next != Next::kReadStore) return next;
  }
  return from_store ? BuildFromStore() : Next::kReadStore;
}

absl::StatusOr<WatchStream::Next> WatchStream::BuildCheckpoint() {
  TIDEMARK_ASSIGN_OR_RETURN(const std::string stamp, StampAt(parts_.reader, parts_.reader.Latest(),
                                                             built_position_, spec_.tables));
  AppendEnd({.stamp = stamp, .checkpoint = true}, &message_);
  return Next::kMessage;
}

absl::StatusOr<WatchStream::Next> WatchStream::BuildFromWindow() {
  for (;;) {
    const state::SnapshotId next = built_position_ + 1;
    if (next > parts_.window.head()) return Next::kIdle;
    const std::shared_ptr<const SnapshotChanges> changes = parts_.window.Find(next);
    if (changes == nullptr || !changes->Covers(spec_.tables)) return Next::kReadStore;
    message_.clear();
    TIDEMARK_RETURN_IF_ERROR(AppendMatches(*changes));
    // With the rows before, it may have grown beyond one message: the store's reader splits it.
    if (message_.size() > limits::kMaxPageBytes) return Next::kReadStore;
    built_position_ = next;
    if (!message_.empty()) {
      AppendEnd({.stamp = changes->StampFor(spec_.tables), .checkpoint = true}, &message_);
      return Next::kMessage;
    }
    MutexLock lock(mutex_);
    position_ = next;
  }
}

absl::Status WatchStream::AppendMatches(const SnapshotChanges& changes) {
  state::PublicationPtr publication;
  std::string before;
  for (const SnapshotChanges::Record& record : changes.records) {
    if (spec_.Match(record.table, record.op, record.key) == nullptr) continue;
    before.clear();
    if (spec_.include_before) {
      if (publication == nullptr) publication = parts_.reader.Latest();
      TIDEMARK_RETURN_IF_ERROR(AppendBefore(parts_.reader, publication, record.table, record.op,
                                            record.key, changes.id, &before));
    }
    AppendLength(v1::WatchChangesResponse::kChangesFieldNumber, record.wire.size() + before.size(),
                 &message_);
    message_ += record.wire;
    message_ += before;
    if (message_.size() > limits::kMaxPageBytes) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<WatchStream::Next> WatchStream::BuildFromStore() {
  if (store_ == nullptr) {
    store_ = std::make_unique<ChangeReader>(parts_.reader, spec_, built_position_);
  }
  const absl::StatusOr<ChangeReader::Outcome> outcome = store_->Next(kEntriesPerTask, &message_);
  if (!outcome.ok()) {
    return ExplainExpired(
        parts_.reader, outcome.status(),
        absl::StrCat("What follows snapshot ", store_->position(), " is no longer kept"));
  }
  built_position_ = store_->position();
  if (*outcome == ChangeReader::Outcome::kMessage) return Next::kMessage;
  {
    MutexLock lock(mutex_);
    position_ = built_position_;
  }
  if (*outcome == ChangeReader::Outcome::kPause) return Next::kReadStore;
  store_.reset();
  return BuildFromWindow();
}

bool WatchStream::Send() {
  {
    MutexLock lock(mutex_);
    if (end_.has_value()) return false;
    state_ = State::kSending;
    position_ = built_position_;
    checkpoint_due_ = false;
    quiet_ticks_ = 0;
    flight_ticks_ = 0;
  }
  stream_.Write({message_});
  if (message_.capacity() > kKeptBufferBytes) message_ = std::string();
  MutexLock lock(mutex_);
  if (written_ || end_.has_value()) {
    written_ = false;
    state_ = State::kWorking;
    return false;
  }
  state_ = State::kInFlight;
  return true;
}

bool WatchStream::Rest() {
  MutexLock lock(mutex_);
  live_ = true;
  if (end_.has_value() || woken_ || checkpoint_due_) {
    woken_ = false;
    return false;
  }
  state_ = State::kIdle;
  return true;
}

bool WatchStream::Defer() {
  const absl::Status refused =
      parts_.executor.Submit([self = shared_from_this()] { self->Work(/*from_store=*/true); });
  if (refused.ok()) return true;
  if (ReasonOf(refused) != Reason::kOverloaded) {
    End(refused);
    return false;
  }
  MutexLock lock(mutex_);
  if (end_.has_value()) return false;
  state_ = State::kIdle;  // the next tick tries again
  return true;
}

void WatchStream::Written() {
  {
    MutexLock lock(mutex_);
    if (state_ == State::kSending) written_ = true;
    if (state_ != State::kInFlight) return;
    state_ = State::kWorking;
  }
  Work(/*from_store=*/false);
}

void WatchStream::End(absl::Status status) {
  {
    MutexLock lock(mutex_);
    switch (state_) {
      case State::kEnded:
        return;
      case State::kWorking:
      case State::kSending:
        if (!end_.has_value()) end_ = std::move(status);
        return;
      case State::kIdle:
      case State::kInFlight:
        state_ = State::kEnded;
        break;
    }
  }
  Finish(status);
}

bool WatchStream::EndedMeanwhile() {
  std::optional<absl::Status> end;
  {
    MutexLock lock(mutex_);
    if (!end_.has_value()) return false;
    state_ = State::kEnded;
    end = end_;
  }
  Finish(*end);
  return true;
}

void WatchStream::Finish(const absl::Status& status) {
  absl::Status shown = status;
  std::function<void()> ended;
  {
    MutexLock lock(mutex_);
    ended.swap(ended_);
    const Reason reason = ReasonOf(status);
    if (reason == Reason::kSlowConsumer || reason == Reason::kShuttingDown) {
      // What was handed to the transport reaches the reader before this does.
      shown = MakeError(reason, ToStd(status.message()),
                        {{"resume_token", parts_.reader.TokenOf(position_)}}, RetryAfterOf(status));
    }
  }
  store_.reset();
  // First: who is told of the end may watch again at once, and must find its place free.
  if (ended) ended();
  stream_.Finish(shown);
}

}  // namespace tidemark::services
