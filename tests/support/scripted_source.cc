#include "tests/support/scripted_source.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/error.h"
#include "common/strings.h"
#include "server/ingest/assembler.h"
#include "storage/state/coding.h"

namespace tidemark::testing {

using ingest::SourceState;
using ingest::Work;
using ingest::WorkKind;
using tables::EventOp;
using tables::RowEvent;

ScriptedSource::ScriptedSource(std::string name, ingest::Applier& applier, const Clock& clock,
                               ScriptedSourceOptions options)
    : name_(std::move(name)),
      applier_(applier),
      clock_(clock),
      options_(options),
      shared_(std::make_shared<Shared>(name_, clock)) {
  MutexLock lock(shared_->mutex);
  shared_->status.name = name_;
  shared_->status.kind = "scripted";
}

ScriptedSource::~ScriptedSource() { Stop(); }

// --- Relations and events.

ScriptedSource::Schema ScriptedSource::Relation(std::string relation,
                                                std::vector<tables::RelationColumn> columns) const {
  auto schema = std::make_shared<tables::RelationSchema>();
  schema->source = name_;
  schema->name = std::move(relation);
  schema->columns = std::move(columns);
  return schema;
}

RowEvent ScriptedSource::Insert(const Schema& schema, Row after) {
  return {.op = EventOp::kInsert, .schema = schema, .after = std::move(after)};
}

RowEvent ScriptedSource::Update(const Schema& schema, Row after, Row before) {
  return {.op = EventOp::kUpdate,
          .schema = schema,
          .before = std::move(before),
          .after = std::move(after)};
}

RowEvent ScriptedSource::Delete(const Schema& schema, Row before) {
  return {.op = EventOp::kDelete, .schema = schema, .before = std::move(before)};
}

RowEvent ScriptedSource::Truncate(const Schema& schema) {
  return {.op = EventOp::kTruncate, .schema = schema};
}

std::string ScriptedSource::Position(uint64_t number) {
  std::string position;
  state::AppendBigEndian64(&position, number);
  return position;
}

std::unique_ptr<ingest::EventList> ScriptedSource::Stamp(Events events, uint64_t number) const {
  uint64_t index = 0;
  for (RowEvent& event : events) {
    if (event.sequence.empty()) {
      event.sequence = Position(number);
      state::AppendBigEndian64(&event.sequence, ++index);
    }
    if (event.event_time == absl::InfinitePast()) event.event_time = clock_.Now();
  }
  return ingest::MakeEventList(std::move(events));
}

Work ScriptedSource::MakeWork(WorkKind kind, uint64_t number, uint64_t generation) const {
  Work work;
  work.kind = kind;
  work.source = name_;
  work.position = Position(number);
  work.origin.source = name_;
  work.origin.position = work.position;
  work.origin.generation = generation;
  work.event_time = clock_.Now();
  work.state.emplace_back(ingest::PartitionKey(name_), work.position);
  return work;
}

// --- What the applier gets.

absl::Status ScriptedSource::CommitLater(Events events) {
  uint64_t number = 0, generation = 0;
  {
    MutexLock lock(shared_->mutex);
    if (shared_->status.state == SourceState::kPaused) {
      return absl::FailedPreconditionError(absl::StrCat("Source ", name_, " is paused."));
    }
    number = ++shared_->queued;
    generation = shared_->generation;
  }
  Work work = MakeWork(WorkKind::kTransaction, number, generation);
  work.events = Stamp(std::move(events), number);
  return Queue(std::move(work), number);
}

absl::Status ScriptedSource::Commit(Events events) {
  const absl::Status queued = CommitLater(std::move(events));
  const absl::Status applied = Wait();
  return queued.ok() ? applied : queued;
}

absl::Status ScriptedSource::CopyRows(Events rows, uint64_t generation) {
  Work work = MakeWork(WorkKind::kCopyRows, number(), generation);
  work.origin.copy = true;
  work.events = Stamp(std::move(rows), number());
  const absl::Status queued = Queue(std::move(work), number());
  const absl::Status applied = Wait();
  return queued.ok() ? applied : queued;
}

absl::Status ScriptedSource::FinishCopy(const std::vector<std::string>& relations,
                                        uint64_t generation) {
  Work work = MakeWork(WorkKind::kCopyEnd, number(), generation);
  for (const std::string& relation : relations) {
    work.copied.push_back({{name_, relation}, generation});
  }
  TIDEMARK_RETURN_IF_ERROR(Queue(std::move(work), number()));
  TIDEMARK_RETURN_IF_ERROR(Wait());
  MutexLock lock(shared_->mutex);
  shared_->generation = std::max(shared_->generation, generation);
  for (const std::string& relation : relations) {
    shared_->status.relations.push_back({.relation = relation, .copied = true});
  }
  return absl::OkStatus();
}

absl::Status ScriptedSource::SetDegraded(bool degraded) {
  Work work = MakeWork(WorkKind::kProgress, number(), 1);
  work.degraded = degraded;
  TIDEMARK_RETURN_IF_ERROR(Queue(std::move(work), number()));
  TIDEMARK_RETURN_IF_ERROR(Wait());
  MutexLock lock(shared_->mutex);
  shared_->status.degraded = degraded;
  return absl::OkStatus();
}

absl::Status ScriptedSource::Queue(Work work, uint64_t number) {
  {
    MutexLock lock(shared_->mutex);
    ++shared_->pending;
  }
  const uint64_t events = work.events ? work.events->count() : 0;
  const bool transaction = work.kind == WorkKind::kTransaction;
  work.done = [shared = shared_, number, events, transaction](const absl::Status& status) {
    shared->Done(number, events, transaction, status);
  };
  const absl::Status queued = applier_.Queue(std::move(work));
  if (!queued.ok()) {
    MutexLock lock(shared_->mutex);
    --shared_->pending;
    shared_->error.Update(queued);
  }
  return queued;
}

void ScriptedSource::Shared::Done(uint64_t number, uint64_t events, bool transaction,
                                  const absl::Status& result) {
  if (result.ok()) {
    {
      MutexLock lock(mutex);
      status.events += events;
      status.transactions += transaction;
      status.last_applied_time = clock.Now();
      applied = number;
      if (transaction) status.last_event_time = clock.Now();
    }
    progress.AppliedUpTo(Position(number + 1));
  }
  MutexLock lock(mutex);
  error.Update(result);
  --pending;
  changed.NotifyAll();
}

absl::Status ScriptedSource::Wait() {
  absl::Status error;
  {
    MutexLock lock(shared_->mutex);
    while (shared_->pending > 0) shared_->changed.Wait(shared_->mutex);
    error = std::exchange(shared_->error, absl::OkStatus());
  }
  if (error.ok()) return error;
  applier_.RestartSource(name_);
  if (ReasonOf(error) != Reason::kShuttingDown) TIDEMARK_RETURN_IF_ERROR(ReadBack());
  return error;
}

// --- What others see.

uint64_t ScriptedSource::number() const {
  MutexLock lock(shared_->mutex);
  return shared_->queued;
}

void ScriptedSource::SetState(SourceState state, std::string detail) {
  MutexLock lock(shared_->mutex);
  shared_->status.state = state;
  shared_->status.detail = std::move(detail);
}

void ScriptedSource::SetHead(uint64_t number) {
  MutexLock lock(shared_->mutex);
  shared_->head = number;
}

void ScriptedSource::Probe() {
  MutexLock probing(probe_mutex_);
  shared_->progress.ProbeSent();
  uint64_t head = 0;
  {
    MutexLock lock(shared_->mutex);
    head = std::max(shared_->head, shared_->queued);
  }
  shared_->progress.ProbeAnswered(Position(head + 1));
}

void ScriptedSource::FailProbe() {
  MutexLock probing(probe_mutex_);
  shared_->progress.ProbeSent();
  shared_->progress.ProbeFailed(absl::UnavailableError("scripted"));
}

// --- Source.

absl::Status ScriptedSource::ReadBack() {
  TIDEMARK_ASSIGN_OR_RETURN(const ingest::DurableState durable, applier_.ReadState(name_));
  uint64_t number = 0;
  const auto position = durable.partitions.find("");
  if (position != durable.partitions.end()) {
    number = state::ReadBigEndian64(position->second.data());
    shared_->progress.AppliedUpTo(Position(number + 1));
  }
  MutexLock lock(shared_->mutex);
  shared_->queued = shared_->applied = number;
  shared_->status.degraded = durable.degraded;
  for (const auto& [place, mark] : durable.copied) {
    shared_->generation = std::max(shared_->generation, mark.generation);
  }
  return absl::OkStatus();
}

void ScriptedSource::Start() {
  TIDEMARK_CHECK(ReadBack().ok());
  {
    MutexLock lock(shared_->mutex);
    shared_->head = 0;
    if (shared_->queued == 0) shared_->progress.AppliedUpTo(Position(1));
  }
  SetState(SourceState::kStreaming);
  if (!options_.answer_probes) return;
  prober_ = std::make_unique<BackgroundWorker>(BackgroundWorker::Options{.name = "probe " + name_},
                                               [this] { Probe(); });
  prober_->Trigger();
}

void ScriptedSource::Stop() {
  shared_->progress.Stop();
  if (prober_) prober_->Stop();
}

absl::Status ScriptedSource::Pause() {
  SetState(SourceState::kPaused);
  return absl::OkStatus();
}

absl::Status ScriptedSource::Resume() {
  SetState(SourceState::kStreaming);
  return absl::OkStatus();
}

ingest::SourceStatus ScriptedSource::Status() const {
  ingest::SourceStatus status;
  {
    MutexLock lock(shared_->mutex);
    status = shared_->status;
    if (shared_->applied > 0) status.position = absl::StrCat(shared_->applied);
  }
  status.fresh_as_of = FreshAsOf();
  return status;
}

absl::StatusOr<std::string> ScriptedSource::ParsePosition(std::string_view text) const {
  uint64_t number = 0;
  if (!absl::SimpleAtoi(ToAbsl(text), &number)) {
    return FieldInvalid("position", absl::StrCat("\"", Printable(text), "\" is not a number"));
  }
  return Position(number);
}

std::string ScriptedSource::FormatPosition(std::string_view position) const {
  return position.size() == 8 ? absl::StrCat(state::ReadBigEndian64(position.data())) : "";
}

std::shared_ptr<void> ScriptedSource::WhenPast(std::string_view position, Callback callback) {
  return shared_->progress.WhenPast(position, std::move(callback));
}

std::shared_ptr<void> ScriptedSource::WhenRecent(Callback callback) {
  auto handle = shared_->progress.WhenRecent(std::move(callback));
  if (prober_) prober_->Trigger();
  return handle;
}

}  // namespace tidemark::testing
