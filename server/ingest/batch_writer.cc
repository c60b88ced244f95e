#include "server/ingest/batch_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/error.h"
#include "server/ingest/source_state.h"

namespace tidemark::ingest {
namespace {

using state::AuxSpace;

// Events between two looks at `stopping`: a transaction of fewer is finished, whatever happens.
constexpr size_t kEventsPerStopCheck = 4096;

// No row is of an older generation: the first copy has nothing to sweep.
constexpr uint64_t kFirstGeneration = 1;

// The relation to sweep next, from `place` on; the number of relations when all are swept.
size_t NextToSweep(const Work& work, const CopyEndPlace& place) {
  size_t next = place.relation;
  while (next < work.copied.size() && work.copied[next].second <= kFirstGeneration) ++next;
  return next;
}

}  // namespace

BatchWriter::BatchWriter(const tables::Catalog& catalog, state::StateStore& store,
                         BatchWriterOptions options, const std::atomic<bool>& stopping)
    : catalog_(catalog),
      store_(store),
      writer_(store.writer()),
      options_(options),
      stopping_(stopping),
      merger_(catalog, writer_, &stopping) {}

absl::Status BatchWriter::Load() {
  if (loaded_) return absl::OkStatus();
  marks_.clear();
  degraded_.clear();
  for (const state::SourceMark& mark : store_.reader().Latest()->info().sources) {
    marks_[mark.source] = mark;
  }
  std::set<std::string> sources;
  for (const auto& table : catalog_.tables()) {
    for (std::string& source : catalog_.SourcesOf(*table)) sources.insert(std::move(source));
  }
  for (const std::string& source : sources) {
    TIDEMARK_ASSIGN_OR_RETURN(const DurableState durable, ReadDurableState(writer_, source));
    if (durable.degraded) degraded_.insert(source);
  }
  loaded_ = true;
  return absl::OkStatus();
}

absl::Status BatchWriter::Open() {
  TIDEMARK_RETURN_IF_ERROR(Load());
  TIDEMARK_RETURN_IF_ERROR(StartCommit({}));
  return FinishCommit().status();
}

bool BatchWriter::ChangesDegraded(const Work& work) const {
  return work.degraded && *work.degraded != (degraded_.count(work.source) > 0);
}

bool BatchWriter::WantsOwnBatch(const Work& work, const CopyEndPlace& place) const {
  if (!staged_) return false;
  if (degraded_changed_) return true;
  if (work.events && work.events->total_bytes() + staged_bytes() > options_.max_batch_bytes) {
    return true;
  }
  const bool last_step =
      work.kind != WorkKind::kCopyEnd || NextToSweep(work, place) == work.copied.size();
  return last_step && ChangesDegraded(work);
}

absl::StatusOr<bool> BatchWriter::Apply(Work& work, CopyEndPlace& place) {
  TIDEMARK_RETURN_IF_ERROR(Load());
  switch (work.kind) {
    case WorkKind::kTransaction:
    case WorkKind::kCopyRows:
      TIDEMARK_RETURN_IF_ERROR(InSnapshot(work, [&] {
        TIDEMARK_RETURN_IF_ERROR(ApplyEvents(work));
        return WriteState(work);
      }));
      counts_.events += work.events->count();
      counts_.transactions += work.kind == WorkKind::kTransaction;
      break;
    case WorkKind::kProgress:
      staged_ = true;
      if (work.new_incarnation) TIDEMARK_RETURN_IF_ERROR(writer_.StartIncarnation());
      TIDEMARK_RETURN_IF_ERROR(WriteState(work));
      break;
    case WorkKind::kCopyEnd: {
      TIDEMARK_ASSIGN_OR_RETURN(const bool swept, Sweep(work, place));
      if (!swept) return false;
      TIDEMARK_RETURN_IF_ERROR(InSnapshot(work, [&] { return FinishCopy(work); }));
      break;
    }
  }
  Note(work);
  return true;
}

template <typename Body>
absl::Status BatchWriter::InSnapshot(const Work& work, Body body) {
  TIDEMARK_RETURN_IF_ERROR(writer_.BeginSnapshot());
  staged_ = true;
  absl::Status status = body();
  if (status.ok()) {
    const auto id = writer_.EndSnapshot({work.source, work.position, work.event_time});
    if (id.ok()) {
      counts_.snapshots += id->has_value();
      return absl::OkStatus();
    }
    status = id.status();
  }
  // When this fails too, the store takes no more writes and forgets the batch by itself.
  const absl::Status abandoned = writer_.AbandonSnapshot();
  return abandoned.ok() ? status : abandoned;
}

absl::Status BatchWriter::ApplyEvents(Work& work) {
  size_t applied = 0;
  while (true) {
    TIDEMARK_ASSIGN_OR_RETURN(const tables::RowEvent* event, work.events->Next());
    if (!event) return absl::OkStatus();
    TIDEMARK_RETURN_IF_ERROR(merger_.Apply(*event, work.origin));
    if (++applied % kEventsPerStopCheck == 0 && stopping_.load(std::memory_order_relaxed)) {
      return MakeError(Reason::kShuttingDown,
                       "The server is shutting down; the transaction was abandoned.");
    }
  }
}

absl::Status BatchWriter::WriteState(const Work& work) {
  for (const auto& [key, value] : work.state) {
    if (value) {
      TIDEMARK_RETURN_IF_ERROR(writer_.PutAux(AuxSpace::kSourceState, key, *value));
    } else {
      TIDEMARK_RETURN_IF_ERROR(writer_.DeleteAux(AuxSpace::kSourceState, key));
    }
  }
  if (!ChangesDegraded(work)) return absl::OkStatus();
  const std::string key = DegradedKey(work.source);
  return *work.degraded ? writer_.PutAux(AuxSpace::kSourceState, key, {})
                        : writer_.DeleteAux(AuxSpace::kSourceState, key);
}

absl::StatusOr<bool> BatchWriter::Sweep(const Work& work, CopyEndPlace& place) {
  place.relation = NextToSweep(work, place);
  if (place.relation == work.copied.size()) return true;
  const tables::RelationRef& relation = work.copied[place.relation].first;
  tables::EventOrigin origin = work.origin;
  origin.generation = work.copied[place.relation].second;
  origin.copy = true;
  bool done = false;
  TIDEMARK_RETURN_IF_ERROR(InSnapshot(work, [&]() -> absl::Status {
    TIDEMARK_ASSIGN_OR_RETURN(
        done, merger_.Sweep(relation, origin, options_.sweep_slice_rows, &place.cursor));
    return absl::OkStatus();
  }));
  if (done) {
    ++place.relation;
    place.cursor.clear();
  }
  return false;
}

absl::Status BatchWriter::FinishCopy(const Work& work) {
  std::set<const tables::Table*> fed;
  for (const auto& [relation, generation] : work.copied) {
    const std::string mark = EncodeCopyMark({generation, work.position});
    for (const auto& feed : catalog_.FeedsOf(relation)) {
      fed.insert(feed.table);
      const std::string key = CopyMarkKey(relation.source, relation.relation, feed.table->id);
      TIDEMARK_RETURN_IF_ERROR(writer_.PutAux(AuxSpace::kSourceState, key, mark));
    }
  }
  for (const tables::Table* table : fed) {
    const state::TableRecord* record = writer_.FindTable(table->id);
    TIDEMARK_CHECK(record);
    if (!record->loading) continue;
    TIDEMARK_ASSIGN_OR_RETURN(const bool copied, IsFullyCopied(*table));
    if (copied) TIDEMARK_RETURN_IF_ERROR(writer_.FinishLoading(table->id));
  }
  return WriteState(work);
}

absl::StatusOr<bool> BatchWriter::IsFullyCopied(const tables::Table& table) {
  for (const tables::GroupDefinition& group : table.definition.groups) {
    TIDEMARK_ASSIGN_OR_RETURN(
        const auto mark,
        writer_.GetAux(AuxSpace::kSourceState,
                       CopyMarkKey(group.from.source, group.from.relation, table.id)));
    if (!mark) return false;
  }
  return true;
}

void BatchWriter::Note(const Work& work) {
  state::SourceMark& mark = marks_[work.source];
  mark.source = work.source;
  if (!work.position.empty()) mark.position = work.position;
  if (!ChangesDegraded(work)) return;
  degraded_changed_ = true;
  if (*work.degraded) {
    degraded_.insert(work.source);
  } else {
    degraded_.erase(work.source);
  }
}

std::vector<state::TableId> BatchWriter::DegradedTables() const {
  std::vector<state::TableId> ids;
  if (degraded_.empty()) return ids;
  for (const auto& table : catalog_.tables()) {
    for (const std::string& source : catalog_.SourcesOf(*table)) {
      if (degraded_.count(source) == 0) continue;
      ids.push_back(table->id);
      break;
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

absl::Status BatchWriter::StartCommit(const std::vector<state::SourceMark>& fresh) {
  for (const state::SourceMark& given : fresh) {
    state::SourceMark& mark = marks_[given.source];
    if (mark.source.empty()) mark = given;
    mark.fresh_as_of = std::max(mark.fresh_as_of, given.fresh_as_of);
  }
  state::CommitInfo info;
  for (const auto& [source, mark] : marks_) info.sources.push_back(mark);
  info.degraded = DegradedTables();
  const absl::Status started = writer_.StartCommit(info);
  loaded_ = started.ok();
  staged_ = degraded_changed_ = false;
  committing_counts_ = std::exchange(counts_, {});
  return started;
}

absl::StatusOr<BatchCounts> BatchWriter::FinishCommit() {
  const absl::Status committed = writer_.FinishCommit();
  if (committed.ok()) return committing_counts_;
  loaded_ = false;
  return committed;
}

}  // namespace tidemark::ingest
