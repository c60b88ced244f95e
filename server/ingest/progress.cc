#include "server/ingest/progress.h"

#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/error.h"
#include "common/mutex.h"

namespace tidemark::ingest {
namespace {

// Answered heads that are not reached yet. Only a source that lags has more than one; past the
// bound every other one is forgotten, which makes fresh_as_of coarser and never wrong.
constexpr size_t kMaxOpenHeads = 64;

// One callback: called at most once, never after Cancel returned.
class Waiter {
 public:
  Waiter(Source::Callback callback, bool recent)
      : recent_(recent), callback_(std::move(callback)) {}

  // True: it waits for a probe's head, not for a position of the caller's.
  bool recent() const { return recent_; }
  // What it waits for, once that is known. Guarded by the mutex of the State it waits in.
  std::string position;

  void Call(const absl::Status& status) TIDEMARK_EXCLUDES(mutex_) {
    Source::Callback callback;
    {
      MutexLock lock(mutex_);
      if (!callback_) return;
      callback = std::exchange(callback_, nullptr);
      caller_ = std::this_thread::get_id();
    }
    callback(status);
    callback = nullptr;  // what it holds goes before Cancel may return
    MutexLock lock(mutex_);
    caller_ = std::thread::id();
    idle_.NotifyAll();
  }

  void Cancel() TIDEMARK_EXCLUDES(mutex_) {
    Source::Callback dropped;  // destroyed outside the lock
    MutexLock lock(mutex_);
    dropped = std::exchange(callback_, nullptr);
    // A callback that destroys its own handle must not wait for itself.
    while (caller_ != std::thread::id() && caller_ != std::this_thread::get_id()) {
      idle_.Wait(mutex_);
    }
  }

 private:
  const bool recent_;
  Mutex mutex_;
  CondVar idle_;
  Source::Callback callback_ TIDEMARK_GUARDED_BY(mutex_);
  std::thread::id caller_ TIDEMARK_GUARDED_BY(mutex_);
};
using WaiterPtr = std::shared_ptr<Waiter>;

void CallAll(const std::vector<WaiterPtr>& waiters, const absl::Status& status) {
  for (const WaiterPtr& waiter : waiters) waiter->Call(status);
}

std::vector<WaiterPtr> Release(std::set<WaiterPtr>& waiters) {
  std::vector<WaiterPtr> released(waiters.begin(), waiters.end());
  waiters.clear();
  return released;
}

}  // namespace

class Progress::State {
 public:
  State(std::string source, const Clock& clock) : source_(std::move(source)), clock_(clock) {}

  void AppliedUpTo(std::string_view position);
  void Reset();
  std::string applied() const {
    MutexLock lock(mutex_);
    return applied_;
  }
  bool IsPast(std::string_view position) const {
    MutexLock lock(mutex_);
    return applied_ >= position;
  }
  void AddPast(std::string_view position, const WaiterPtr& waiter);
  bool WaitForProbe(absl::Duration period, absl::Duration min_gap);
  void ProbeSent();
  void ProbeAnswered(std::string_view head);
  void ProbeFailed(const absl::Status& status);
  void AddRecent(const WaiterPtr& waiter);
  absl::Time fresh_as_of() const {
    MutexLock lock(mutex_);
    return fresh_as_of_;
  }
  void Stop();
  void Forget(const WaiterPtr& waiter);

 private:
  using Steady = std::chrono::steady_clock;
  struct Head {
    std::string position;
    absl::Time sent;
  };

  // Takes out who waits for a position at or before applied_.
  std::vector<WaiterPtr> TakeReached() TIDEMARK_REQUIRES(mutex_);
  void NoteHeads() TIDEMARK_REQUIRES(mutex_);
  void ThinOut() TIDEMARK_REQUIRES(mutex_);
  void Await(std::string_view position, const WaiterPtr& waiter) TIDEMARK_REQUIRES(mutex_) {
    waiter->position = position;
    past_.emplace(waiter->position, waiter);
  }
  absl::Status ShuttingDown() const {
    return MakeError(Reason::kShuttingDown,
                     absl::StrCat("Source \"", source_, "\" is being stopped; try again later."),
                     {{"source", source_}});
  }

  const std::string source_;
  const Clock& clock_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool stopped_ TIDEMARK_GUARDED_BY(mutex_) = false;
  std::string applied_ TIDEMARK_GUARDED_BY(mutex_);
  absl::Time fresh_as_of_ TIDEMARK_GUARDED_BY(mutex_) = absl::InfinitePast();
  // A waiter is in at most one of the three.
  std::set<WaiterPtr> next_probe_ TIDEMARK_GUARDED_BY(mutex_);
  std::set<WaiterPtr> this_probe_ TIDEMARK_GUARDED_BY(mutex_);
  std::set<std::pair<std::string, WaiterPtr>> past_ TIDEMARK_GUARDED_BY(mutex_);
  // The probe in flight: when it was sent.
  std::optional<absl::Time> sent_ TIDEMARK_GUARDED_BY(mutex_);
  std::optional<Steady::time_point> last_sent_ TIDEMARK_GUARDED_BY(mutex_);
  std::vector<Head> heads_ TIDEMARK_GUARDED_BY(mutex_);  // answered, not reached; by time sent
};

std::vector<WaiterPtr> Progress::State::TakeReached() {
  std::vector<WaiterPtr> reached;
  while (!past_.empty() && past_.begin()->first <= applied_) {
    reached.push_back(past_.begin()->second);
    past_.erase(past_.begin());
  }
  return reached;
}

void Progress::State::NoteHeads() {
  for (auto head = heads_.begin(); head != heads_.end();) {
    if (head->position > applied_) {
      ++head;
      continue;
    }
    fresh_as_of_ = std::max(fresh_as_of_, head->sent);
    head = heads_.erase(head);
  }
}

void Progress::State::ThinOut() {
  if (heads_.size() <= kMaxOpenHeads) return;
  const size_t kept = (heads_.size() + 1) / 2;  // the oldest, every second one, the newest
  for (size_t i = 1; i < kept; ++i) heads_[i] = std::move(heads_[i * 2]);
  heads_.resize(kept);
}

void Progress::State::AppliedUpTo(std::string_view position) {
  std::vector<WaiterPtr> reached;
  {
    MutexLock lock(mutex_);
    if (position <= applied_) return;
    applied_ = position;
    NoteHeads();
    reached = TakeReached();
  }
  CallAll(reached, absl::OkStatus());
}

void Progress::State::Reset() {
  MutexLock lock(mutex_);
  applied_.clear();
  heads_.clear();
  sent_.reset();
  next_probe_.merge(this_probe_);
  for (auto entry = past_.begin(); entry != past_.end();) {
    if (!entry->second->recent()) {
      ++entry;
      continue;
    }
    next_probe_.insert(entry->second);
    entry = past_.erase(entry);
  }
  changed_.NotifyAll();
}

void Progress::State::AddPast(std::string_view position, const WaiterPtr& waiter) {
  bool reached = false;
  {
    MutexLock lock(mutex_);
    reached = applied_ >= position;
    if (!reached && !stopped_) {
      Await(position, waiter);
      return;
    }
  }
  waiter->Call(reached ? absl::OkStatus() : ShuttingDown());
}

void Progress::State::AddRecent(const WaiterPtr& waiter) {
  {
    MutexLock lock(mutex_);
    if (!stopped_) {
      next_probe_.insert(waiter);
      changed_.NotifyAll();
      return;
    }
  }
  waiter->Call(ShuttingDown());
}

bool Progress::State::WaitForProbe(absl::Duration period, absl::Duration min_gap) {
  // Longer than a year is for ever: the clock's arithmetic must not overflow.
  const absl::Duration longest = absl::Hours(24 * 365);
  const auto span = [&](absl::Duration d) {
    return absl::ToChronoNanoseconds(std::min(d, longest));
  };
  MutexLock lock(mutex_);
  while (!stopped_) {
    if (!last_sent_) return true;
    const auto due = *last_sent_ + span(next_probe_.empty() ? period : std::min(period, min_gap));
    if (Steady::now() >= due) return true;
    changed_.WaitUntil(mutex_, due);
  }
  return false;
}

void Progress::State::ProbeSent() {
  MutexLock lock(mutex_);
  TIDEMARK_CHECK(!sent_);
  sent_ = clock_.Now();
  last_sent_ = Steady::now();
  this_probe_ = std::exchange(next_probe_, {});
}

void Progress::State::ProbeAnswered(std::string_view head) {
  std::vector<WaiterPtr> reached;
  {
    MutexLock lock(mutex_);
    if (!sent_) return;  // of the history before Reset
    const absl::Time sent = *std::exchange(sent_, std::nullopt);
    if (!heads_.empty() && heads_.back().position == head) {
      heads_.back().sent = sent;  // the same head seen later says more
    } else {
      heads_.push_back({std::string(head), sent});
    }
    NoteHeads();
    ThinOut();
    for (const WaiterPtr& waiter : Release(this_probe_)) Await(head, waiter);
    reached = TakeReached();
  }
  CallAll(reached, absl::OkStatus());
}

void Progress::State::ProbeFailed(const absl::Status& status) {
  std::vector<WaiterPtr> joined;
  {
    MutexLock lock(mutex_);
    if (!sent_) return;
    sent_.reset();
    joined = Release(this_probe_);
  }
  CallAll(joined, MakeError(Reason::kSourceUnavailable,
                            absl::StrCat("The system of record of source \"", source_,
                                         "\" could not be asked for its newest position (",
                                         absl::StatusCodeToString(status.code()),
                                         "); try again, or read without source_recency."),
                            {{"source", source_}}, absl::Seconds(1)));
}

void Progress::State::Stop() {
  std::vector<WaiterPtr> ended;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    next_probe_.merge(this_probe_);
    for (const auto& entry : past_) next_probe_.insert(entry.second);
    past_.clear();
    ended = Release(next_probe_);
    changed_.NotifyAll();
  }
  CallAll(ended, ShuttingDown());
}

void Progress::State::Forget(const WaiterPtr& waiter) {
  {
    MutexLock lock(mutex_);
    next_probe_.erase(waiter);
    this_probe_.erase(waiter);
    past_.erase({waiter->position, waiter});
  }
  waiter->Cancel();
}

namespace {

template <typename State>
class Handle {
 public:
  Handle(std::shared_ptr<State> state, WaiterPtr waiter)
      : state_(std::move(state)), waiter_(std::move(waiter)) {}
  ~Handle() { state_->Forget(waiter_); }

 private:
  std::shared_ptr<State> state_;
  WaiterPtr waiter_;
};

}  // namespace

Progress::Progress(std::string source, const Clock& clock)
    : state_(std::make_shared<State>(std::move(source), clock)) {}

Progress::~Progress() { Stop(); }

void Progress::AppliedUpTo(std::string_view position) { state_->AppliedUpTo(position); }
void Progress::Reset() { state_->Reset(); }
std::string Progress::applied_up_to() const { return state_->applied(); }
bool Progress::IsPast(std::string_view position) const { return state_->IsPast(position); }

std::shared_ptr<void> Progress::WhenPast(std::string_view position, Source::Callback callback) {
  auto waiter = std::make_shared<Waiter>(std::move(callback), /*recent=*/false);
  auto handle = std::make_shared<Handle<State>>(state_, waiter);
  state_->AddPast(position, waiter);
  return handle;
}

bool Progress::WaitForProbe(absl::Duration period, absl::Duration min_gap) {
  return state_->WaitForProbe(period, min_gap);
}
void Progress::ProbeSent() { state_->ProbeSent(); }
void Progress::ProbeAnswered(std::string_view head) { state_->ProbeAnswered(head); }
void Progress::ProbeFailed(const absl::Status& status) { state_->ProbeFailed(status); }

std::shared_ptr<void> Progress::WhenRecent(Source::Callback callback) {
  auto waiter = std::make_shared<Waiter>(std::move(callback), /*recent=*/true);
  auto handle = std::make_shared<Handle<State>>(state_, waiter);
  state_->AddRecent(waiter);
  return handle;
}

absl::Time Progress::fresh_as_of() const { return state_->fresh_as_of(); }
void Progress::Stop() { state_->Stop(); }

}  // namespace tidemark::ingest
