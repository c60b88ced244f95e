#include "server/read_point.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/background_worker.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/mutex.h"
#include "common/strings.h"
#include "server/read_errors.h"
#include "server/read_requirement.h"
#include "tidemark/v1/consistency.pb.h"

namespace tidemark {
namespace {

using Kind = Requirement::Kind;

class Resolver;

// States: arming (its callbacks are being registered) -> waiting -> ready (queued for the
// resolver's thread) -> done. Whoever moves it to done calls `done_`.
class Wait final : public ReadWait, public std::enable_shared_from_this<Wait> {
 public:
  Wait(Resolver& resolver, const ReadSpec& spec, Requirement requirement,
       ReadPointResolver::Done done)
      : resolver_(resolver),
        requirement_(std::move(requirement)),
        tables_(spec.tables.begin(), spec.tables.end()),
        with_sources_(spec.with_sources),
        done_(std::move(done)) {}

  // Registers with `sources`; true when nothing is left to wait for.
  bool Arm(const ingest::SourceSet& sources) TIDEMARK_EXCLUDES(mutex_);
  void Stop(StopReason reason) override;
  // What it waited for is there, or failed: answers. On the resolver's thread, or inline.
  void Complete() TIDEMARK_EXCLUDES(mutex_);
  // Ends the wait; no effect when it ended before.
  void Answer(absl::StatusOr<ReadView> view) TIDEMARK_EXCLUDES(mutex_);

  const Requirement& requirement() const { return requirement_; }
  const std::vector<const tables::Table*>& tables() const { return tables_; }
  bool with_sources() const { return with_sources_; }

 private:
  void SourceDone(const std::string& source, const absl::Status& status) TIDEMARK_EXCLUDES(mutex_);

  enum class State { kArming, kWaiting, kReady, kDone };

  Resolver& resolver_;
  const Requirement requirement_;
  const std::vector<const tables::Table*> tables_;
  const bool with_sources_;

  Mutex mutex_;  // never held while the resolver's is taken
  State state_ TIDEMARK_GUARDED_BY(mutex_) = State::kArming;
  std::set<std::string> missing_ TIDEMARK_GUARDED_BY(mutex_);  // sources not there yet
  absl::Status failure_ TIDEMARK_GUARDED_BY(mutex_);
  // Destroying one waits for its callback, which takes mutex_: never under it.
  std::vector<std::shared_ptr<void>> handles_ TIDEMARK_GUARDED_BY(mutex_);
  ReadPointResolver::Done done_ TIDEMARK_GUARDED_BY(mutex_);
};

class Resolver final : public ReadPointResolver {
 public:
  Resolver(state::StateReader& reader, const tables::Catalog& catalog,
           const ingest::SourceSet& sources, const Clock& clock, ReadPointOptions options)
      : reader_(reader), catalog_(catalog), sources_(sources), clock_(clock), options_(options) {
    listener_ = reader_.AddListener(
        [this](const state::PublicationPtr& publication) { Published(publication->id()); });
  }
  ~Resolver() override {
    listener_.reset();
    Stop();
  }

  std::shared_ptr<ReadWait> Resolve(const ReadSpec& spec, Done done) override;
  void Stop() override TIDEMARK_EXCLUDES(mutex_);
  size_t waits() const override TIDEMARK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return waits_.size();
  }

  // Reads now: freshness first, then the publication.
  absl::StatusOr<ReadView> ReadNow(const Requirement& requirement, TableSpan tables,
                                   bool with_sources) const;
  // The error of a wait that came to its deadline; `missing`: sources it still waits for.
  absl::Status DeadlineError(const Wait& wait, const std::vector<std::string>& missing) const;
  void MakeReady(std::shared_ptr<Wait> wait) TIDEMARK_EXCLUDES(mutex_);
  void Forget(const std::shared_ptr<Wait>& wait) TIDEMARK_EXCLUDES(mutex_);

 private:
  absl::Status Register(const std::shared_ptr<Wait>& wait) TIDEMARK_EXCLUDES(mutex_);
  void Published(state::SnapshotId id) TIDEMARK_EXCLUDES(mutex_);
  void CompleteReady() TIDEMARK_EXCLUDES(mutex_);

  state::StateReader& reader_;
  const tables::Catalog& catalog_;
  const ingest::SourceSet& sources_;
  const Clock& clock_;
  const ReadPointOptions options_;

  mutable Mutex mutex_;
  bool stopped_ TIDEMARK_GUARDED_BY(mutex_) = false;
  std::set<std::shared_ptr<Wait>> waits_ TIDEMARK_GUARDED_BY(mutex_);
  // Of `waits_`, those for a snapshot, by the snapshot.
  std::set<std::pair<state::SnapshotId, std::shared_ptr<Wait>>> by_snapshot_
      TIDEMARK_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Wait>> ready_ TIDEMARK_GUARDED_BY(mutex_);

  BackgroundWorker worker_{{.name = "read-waits"}, [this] { CompleteReady(); }};
  std::shared_ptr<void> listener_;  // after worker_, which it triggers
};

bool Wait::Arm(const ingest::SourceSet& sources) {
  {
    MutexLock lock(mutex_);
    missing_.insert(requirement_.sources.begin(), requirement_.sources.end());
  }
  for (const std::string& name : requirement_.sources) {
    ingest::Source* source = sources.Find(name);
    if (source == nullptr) {  // feeds the table, but is not configured any more
      SourceDone(name, MakeError(Reason::kSourceUnavailable,
                                 absl::StrCat("Source ", name, " is not configured."),
                                 {{"source", name}, {"state", "ABSENT"}}, absl::Seconds(10)));
      continue;
    }
    auto callback = [self = shared_from_this(), name](const absl::Status& status) {
      self->SourceDone(name, status);
    };
    std::shared_ptr<void> handle =
        requirement_.kind == Kind::kAtPosition
            ? source->WhenPast(requirement_.position, std::move(callback))
            : source->WhenRecent(std::move(callback));
    MutexLock lock(mutex_);
    if (state_ != State::kDone) handles_.push_back(std::move(handle));
  }
  MutexLock lock(mutex_);
  if (state_ == State::kDone) return false;  // stopped meanwhile
  if (missing_.empty() || !failure_.ok()) return true;
  state_ = State::kWaiting;
  return false;
}

void Wait::SourceDone(const std::string& source, const absl::Status& status) {
  {
    MutexLock lock(mutex_);
    missing_.erase(source);
    if (failure_.ok()) failure_ = status;
    if (!missing_.empty() && failure_.ok()) return;
    if (state_ != State::kWaiting) return;
    state_ = State::kReady;
  }
  // Not answered here: the answer destroys the handle of this very callback.
  resolver_.MakeReady(shared_from_this());
}

void Wait::Complete() {
  absl::Status failure;
  {
    MutexLock lock(mutex_);
    if (state_ == State::kDone) return;
    failure = failure_;
  }
  Answer(failure.ok() ? resolver_.ReadNow(requirement_, tables_, with_sources_)
                      : absl::StatusOr<ReadView>(failure));
}

void Wait::Stop(StopReason reason) {
  std::set<std::string> missing;
  {
    MutexLock lock(mutex_);
    if (state_ == State::kDone) return;
    missing = missing_;
  }
  switch (reason) {
    case StopReason::kCancelled:
      return Answer(absl::CancelledError("The caller gave up."));
    case StopReason::kDeadline:
      return Answer(resolver_.DeadlineError(*this, {missing.begin(), missing.end()}));
    case StopReason::kDraining:
      return Answer(ShuttingDown());
    case StopReason::kWithdrawn:
      return Answer(TokenWithdrawn());
  }
}

void Wait::Answer(absl::StatusOr<ReadView> view) {
  ReadPointResolver::Done done;
  std::vector<std::shared_ptr<void>> handles;
  {
    MutexLock lock(mutex_);
    if (state_ == State::kDone) return;
    state_ = State::kDone;
    done = std::move(done_);
    handles.swap(handles_);
  }
  resolver_.Forget(shared_from_this());
  handles.clear();
  done(std::move(view));
}

std::shared_ptr<ReadWait> Resolver::Resolve(const ReadSpec& spec, Done done) {
  absl::StatusOr<Requirement> requirement = ParseRequirement(
      spec.consistency, spec.tables, catalog_, sources_, reader_, clock_.Now(), spec.field);
  if (!requirement.ok()) {
    done(requirement.status());
    return nullptr;
  }
  const bool for_snapshot = requirement->kind == Kind::kAtLeast;
  const bool for_sources =
      requirement->kind == Kind::kSourceRecency || requirement->kind == Kind::kAtPosition;
  if (!for_sources && (!for_snapshot || reader_.Latest()->id() >= requirement->snapshot)) {
    done(ReadNow(*requirement, spec.tables, spec.with_sources));
    return nullptr;
  }
  auto wait = std::make_shared<Wait>(*this, spec, *std::move(requirement), std::move(done));
  if (absl::Status refused = Register(wait); !refused.ok()) {
    wait->Answer(refused);
    return nullptr;
  }
  // For a snapshot: one published between the look above and Register is seen only here.
  const bool there =
      for_sources ? wait->Arm(sources_) : reader_.Latest()->id() >= wait->requirement().snapshot;
  if (!there) return wait;
  wait->Complete();
  return nullptr;
}

absl::Status Resolver::Register(const std::shared_ptr<Wait>& wait) {
  MutexLock lock(mutex_);
  if (stopped_) return ShuttingDown();
  if (waits_.size() >= options_.max_waits) {
    return TooManyWaits(waits_.size());
  }
  waits_.insert(wait);
  if (wait->requirement().kind == Kind::kAtLeast) {
    by_snapshot_.insert({wait->requirement().snapshot, wait});
  }
  return absl::OkStatus();
}

void Resolver::Forget(const std::shared_ptr<Wait>& wait) {
  MutexLock lock(mutex_);
  waits_.erase(wait);
  by_snapshot_.erase({wait->requirement().snapshot, wait});
}

void Resolver::MakeReady(std::shared_ptr<Wait> wait) {
  {
    MutexLock lock(mutex_);
    ready_.push_back(std::move(wait));
  }
  worker_.Trigger();
}

// On the writer's thread: only moves what is due.
void Resolver::Published(state::SnapshotId id) {
  bool any = false;
  {
    MutexLock lock(mutex_);
    while (!by_snapshot_.empty() && by_snapshot_.begin()->first <= id) {
      ready_.push_back(by_snapshot_.begin()->second);
      by_snapshot_.erase(by_snapshot_.begin());
      any = true;
    }
  }
  if (any) worker_.Trigger();
}

void Resolver::CompleteReady() {
  std::vector<std::shared_ptr<Wait>> ready;
  {
    MutexLock lock(mutex_);
    ready.swap(ready_);
  }
  for (const std::shared_ptr<Wait>& wait : ready) wait->Complete();
}

void Resolver::Stop() {
  std::set<std::shared_ptr<Wait>> waits;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    waits = waits_;
  }
  for (const std::shared_ptr<Wait>& wait : waits) wait->Stop(StopReason::kDraining);
  worker_.Stop();
}

absl::StatusOr<ReadView> Resolver::ReadNow(const Requirement& requirement, TableSpan tables,
                                           bool with_sources) const {
  ReadView view;
  if (with_sources) view.sources = StatusOfSources(catalog_, sources_, tables);
  if (requirement.kind == Kind::kMaxStaleness) {
    const std::vector<SourceLag> lags = LagsOf(sources_, requirement.sources, clock_.Now());
    if (!lags.empty() && lags[0].lag > requirement.staleness) {
      return TooStale(lags, requirement.staleness);
    }
  }
  state::PublicationPtr publication = reader_.Latest();
  absl::StatusOr<state::ReadPoint> point;
  std::string problem;
  switch (requirement.kind) {
    case Kind::kExact:
      point = reader_.PointAt(publication, requirement.snapshot);
      problem = absl::StrCat("Snapshot ", requirement.snapshot, " is no longer kept");
      break;
    case Kind::kAsOf:
      point = reader_.NewestAt(publication, requirement.time);
      // With nothing collected yet, what is missing never was.
      problem = absl::StrCat(
          publication->floor() == state::kFirstSnapshot ? "This store did not exist yet at "
                                                        : "No snapshot is kept from before or at ",
          absl::FormatTime("%E4Y-%m-%dT%H:%M:%E*SZ", requirement.time, absl::UTCTimeZone()));
      break;
    case Kind::kAtPosition:
      point = reader_.NewestBefore(publication, requirement.sources[0], requirement.position);
      problem = absl::StrCat("The snapshot before that position of ", requirement.sources[0],
                             " is no longer kept");
      break;
    default:
      view.point = LatestPoint(std::move(publication));
      return view;
  }
  if (!point.ok()) {
    if (ReasonOf(point.status()) == Reason::kSnapshotInFuture) {
      return SnapshotInFuture(requirement.snapshot, publication->id());
    }
    return ExplainExpired(reader_, point.status(), problem);
  }
  view.point = *std::move(point);
  return view;
}

absl::Status Resolver::DeadlineError(const Wait& wait,
                                     const std::vector<std::string>& missing) const {
  const Requirement& requirement = wait.requirement();
  const state::SnapshotId current = reader_.Latest()->id();
  if (requirement.kind == Kind::kAtLeast) {
    const std::vector<std::string> names = SourcesOf(catalog_, wait.tables());
    return SnapshotNotReached(requirement.snapshot, current, LagsOf(sources_, names, clock_.Now()));
  }
  // All sources may have come in at the last moment: then the first one stands for them.
  const std::vector<SourceLag> lags = LagsOf(
      sources_, missing.empty() ? std::vector{requirement.sources[0]} : missing, clock_.Now());
  const ingest::Source* source = sources_.Find(lags[0].source);
  const std::string_view state =
      source == nullptr ? "ABSENT" : ingest::SourceStateName(source->Status().state);
  if (requirement.kind == Kind::kSourceRecency || source == nullptr) {
    return SourceBehind(lags[0], state);
  }
  return PositionNotReached(source->FormatPosition(requirement.position), current, lags[0], state);
}

}  // namespace

std::unique_ptr<ReadPointResolver> MakeReadPointResolver(state::StateReader& reader,
                                                         const tables::Catalog& catalog,
                                                         const ingest::SourceSet& sources,
                                                         const Clock& clock,
                                                         ReadPointOptions options) {
  return std::make_unique<Resolver>(reader, catalog, sources, clock, options);
}

std::vector<ingest::SourceStatus> StatusOfSources(const tables::Catalog& catalog,
                                                  const ingest::SourceSet& sources,
                                                  TableSpan tables) {
  std::vector<ingest::SourceStatus> statuses;
  for (const std::string& name : SourcesOf(catalog, tables)) {
    const ingest::Source* source = sources.Find(name);
    if (source != nullptr) statuses.push_back(source->Status());
  }
  return statuses;
}

}  // namespace tidemark
