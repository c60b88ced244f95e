#include "server/ingest/postgres/follower.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/error.h"
#include "common/strings.h"
#include "server/ingest/postgres/copier.h"
#include "server/ingest/postgres/failure.h"
#include "server/ingest/postgres/relation_layout.h"
#include "server/ingest/postgres/source_catalog.h"
#include "server/ingest/postgres/sql.h"
#include "server/ingest/postgres/streamer.h"

namespace tidemark::ingest {

absl::Status Follower::Run() {
  TIDEMARK_RETURN_IF_ERROR(DrainAndReadState());
  TIDEMARK_RETURN_IF_ERROR(Connect());
  if (!records_.position.has_value()) {
    TIDEMARK_RETURN_IF_ERROR(Copy(Copying::kFirst, parts_.fed));
    return Stream();
  }
  absl::Status joined = CheckJoin();
  if (joined.ok()) joined = parts_.gap_in_stream;
  if (absl::IsDataLoss(joined)) {
    TIDEMARK_RETURN_IF_ERROR(CopyOver(joined));
    return Stream();
  }
  TIDEMARK_RETURN_IF_ERROR(joined);
  parts_.set_followed(StreamPlanUntil(std::nullopt).relations);
  parts_.progress->AppliedUpTo(LsnBytes(records_.position->resume_lsn));
  parts_.joined = true;
  const std::vector<std::string> missing = RelationsToBackfill();
  if (!missing.empty()) TIDEMARK_RETURN_IF_ERROR(Backfill(missing));
  return Stream();
}

// --- Where we are, and who is there --------------------------------------------------------------

absl::Status Follower::DrainAndReadState() {
  // What an earlier try sent is still being applied: what is durable is known only afterwards.
  while (parts_.outbox.pending() > 0) {
    if (parts_.interrupt.is_set()) return Interrupted();
    AwaitWake(parts_, absl::InfiniteDuration());
  }
  parts_.outbox.Restart();
  auto state = parts_.applier.ReadState(parts_.options.name);
  if (!state.ok()) return FailureOfApply(state.status());
  durable_ = *std::move(state);
  auto records = DecodeRecords(durable_);
  if (!records.ok()) return FailureOfApply(records.status());
  records_ = *std::move(records);
  parts_.board->SetDegraded(durable_.degraded);
  if (records_.identity.has_value()) {
    parts_.set_database({records_.identity->system_identifier, records_.identity->database});
  }
  return absl::OkStatus();
}

absl::Status Follower::Connect() {
  TIDEMARK_ASSIGN_OR_RETURN(connection_,
                            PgConnection::Open(parts_.connect_options(true), parts_.interrupt));
  TIDEMARK_ASSIGN_OR_RETURN(server_, Identify(*connection_));
  if (records_.identity.has_value()) {
    TIDEMARK_RETURN_IF_ERROR(CheckSameDatabase(*records_.identity, server_));
  }
  parts_.set_database({server_.system_identifier, server_.database});
  return absl::OkStatus();
}

SourceIdentity Follower::identity() const {
  return {server_.system_identifier, server_.timeline,    server_.database,
          server_.database_oid,      parts_.options.slot, absl::StrJoin(parts_.publications, ",")};
}

absl::Status Follower::CheckJoin() {
  const SourceIdentity& followed = *records_.identity;
  const Lsn resume = records_.position->resume_lsn;
  PgTypeMap types;
  TIDEMARK_ASSIGN_OR_RETURN(
      const std::vector<SourceRelation> relations,
      ReadRelations(*connection_, parts_.relations, parts_.publications, &types));
  TIDEMARK_RETURN_IF_ERROR(CheckHistory(*connection_, followed, server_, resume));
  TIDEMARK_ASSIGN_OR_RETURN(const auto slot,
                            ReadSlot(*connection_, parts_.options.slot, server_.database));
  TIDEMARK_RETURN_IF_ERROR(CheckSlot(parts_.options.slot, slot, resume));
  if (followed.publications != identity().publications) {
    return Gap(absl::StrCat("The publications to follow have changed from ", followed.publications,
                            " to ", identity().publications, "."));
  }
  for (const SourceRelation& relation : relations) {
    const auto record = records_.relations.find(relation.full_name);
    if (record == records_.relations.end()) continue;
    if (record->second.phase == RelationPhase::kCopying) {
      if (durable_.degraded) return Gap("The copy after an earlier gap was not completed.");
      continue;
    }
    TIDEMARK_RETURN_IF_ERROR(
        CheckRelation(parts_.catalog, parts_.options.name, record->second, relation, types));
  }
  return absl::OkStatus();
}

std::vector<std::string> Follower::RelationsToBackfill() const {
  std::vector<std::string> missing;
  for (const std::string& relation : parts_.fed) {
    const auto record = records_.relations.find(relation);
    bool complete =
        record != records_.relations.end() && record->second.phase == RelationPhase::kStreaming;
    for (const auto& feed : parts_.catalog.FeedsOf({parts_.options.name, relation})) {
      complete = complete && durable_.IsCopied(relation, feed.table->id);
    }
    if (!complete) missing.push_back(relation);
  }
  return missing;
}

// --- Copies --------------------------------------------------------------------------------------

absl::Status Follower::CopyOver(const absl::Status& gap) {
  const std::string reason(ToStd(gap.message()));
  // Said before anything else: what is read from now on may miss changes. And what this store once
  // published past its present end may be lost, if its directory was put back from a copy.
  if (!durable_.degraded) {
    Work work;
    work.kind = WorkKind::kProgress;
    work.degraded = true;
    work.new_incarnation = true;
    TIDEMARK_RETURN_IF_ERROR(SendAndAwait(std::move(work)));
    durable_.degraded = true;
    parts_.board->SetDegraded(true);
  }
  parts_.progress->Reset();
  parts_.set_followed({});
  // A copy that began was wanted, and goes on after a crash.
  const bool began =
      std::any_of(records_.relations.begin(), records_.relations.end(),
                  [](const auto& entry) { return entry.second.phase == RelationPhase::kCopying; });
  if (!parts_.options.resnapshot_on_gap && !accept_gap_ && !began) {
    return Gap(absl::StrCat(reason, " on_gap is stop: resume the source to copy it again."));
  }
  parts_.board->Set(SourceState::kGap, reason);
  return Copy(Copying::kAfterGap, parts_.fed);
}

absl::Status Follower::CheckCopyable() {
  PgTypeMap types;
  TIDEMARK_ASSIGN_OR_RETURN(
      const std::vector<SourceRelation> relations,
      ReadRelations(*connection_, parts_.relations, parts_.publications, &types));
  for (const SourceRelation& relation : relations) {
    if (!std::binary_search(parts_.fed.begin(), parts_.fed.end(), relation.full_name)) continue;
    TIDEMARK_ASSIGN_OR_RETURN(const CopyPlan plan,
                              PlanCopy(parts_.catalog, parts_.options.name, relation, types));
    TIDEMARK_RETURN_IF_ERROR(CheckReadable(*connection_, relation, plan));
  }
  return absl::OkStatus();
}

absl::Status Follower::Copy(Copying why, const std::vector<std::string>& relations) {
  // What cannot be copied is found before anything is given up.
  TIDEMARK_RETURN_IF_ERROR(CheckCopyable());
  const std::string& slot = parts_.options.slot;
  TIDEMARK_ASSIGN_OR_RETURN(const auto old, ReadSlot(*connection_, slot, server_.database));
  if (old.has_value()) {
    // Ours by name, and nobody follows it: left by a try that did not complete, or of a history
    // that is given up. An instance that comes back to it finds a gap, never a silent hole.
    TIDEMARK_RETURN_IF_ERROR(
        connection_
            ->Query(absl::StrCat("DROP_REPLICATION_SLOT ", QuoteIdentifier(slot)),
                    "dropping the old slot")
            .status());
  }
  const SourceStatus before = parts_.board->Get();
  const std::string detail =
      why == Copying::kAfterGap ? absl::StrCat("Copying again: ", before.detail) : "";
  // Takes long while a transaction is open there. A failure that stays is not talked over.
  if (before.state != SourceState::kFailed) parts_.board->Set(SourceState::kCopying, detail);
  TIDEMARK_ASSIGN_OR_RETURN(const auto snapshot, CreateSlot(slot, /*temporary=*/false));
  parts_.board->Set(SourceState::kCopying, detail);
  TIDEMARK_RETURN_IF_ERROR(MarkCopying(why, relations));
  Copier copier(parts_, records_.generation());
  TIDEMARK_RETURN_IF_ERROR(copier.TakeSnapshot(snapshot.first, snapshot.second));
  // Not needed while the copy runs, which can take hours.
  connection_.reset();
  TIDEMARK_ASSIGN_OR_RETURN(auto copied, copier.CopyRelations(relations));
  TIDEMARK_RETURN_IF_ERROR(FinishCopy(why, std::move(copied), snapshot.second));
  TIDEMARK_ASSIGN_OR_RETURN(connection_,
                            PgConnection::Open(parts_.connect_options(true), parts_.interrupt));
  return absl::OkStatus();
}

absl::Status Follower::Backfill(const std::vector<std::string>& relations) {
  // A temporary slot gives a snapshot at an exact point of the stream. The stream runs up to that
  // point and waits there, so that rows of the copy and events never cross.
  TIDEMARK_RETURN_IF_ERROR(CheckCopyable());
  auto stream = std::move(connection_);
  TIDEMARK_ASSIGN_OR_RETURN(connection_,
                            PgConnection::Open(parts_.connect_options(true), parts_.interrupt));
  TIDEMARK_ASSIGN_OR_RETURN(
      const auto snapshot,
      CreateSlot(absl::StrCat(parts_.options.slot.substr(0, 48), "_backfill"), /*temporary=*/true));
  parts_.board->Set(SourceState::kCopying);
  TIDEMARK_RETURN_IF_ERROR(MarkCopying(Copying::kBackfill, relations));
  Copier copier(parts_, records_.generation());
  TIDEMARK_RETURN_IF_ERROR(copier.TakeSnapshot(snapshot.first, snapshot.second));
  connection_ = std::move(stream);  // and the temporary slot is gone

  Streamer streamer(parts_, *connection_, StreamPlanUntil(snapshot.second));
  TIDEMARK_RETURN_IF_ERROR(RunStreamer(streamer));
  TIDEMARK_RETURN_IF_ERROR(connection_->EndCopyBoth());
  records_.position = streamer.position();

  TIDEMARK_ASSIGN_OR_RETURN(auto copied, copier.CopyRelations(relations));
  return FinishCopy(Copying::kBackfill, std::move(copied), snapshot.second);
}

absl::Status Follower::MarkCopying(Copying why, const std::vector<std::string>& relations) {
  // Durable before the first row of this generation: a copy that breaks off is followed by one
  // with a higher generation, which finds and takes out what this one left.
  const uint64_t generation = records_.generation() + 1;
  Work work;
  work.kind = WorkKind::kProgress;
  for (const std::string& relation : relations) {
    RelationRecord& record = records_.relations[relation];
    record.generation = generation;
    // In a backfill the relation may feed older tables, whose changes go on meanwhile.
    if (why != Copying::kBackfill || record.oid == 0) record.phase = RelationPhase::kCopying;
    work.state.push_back(EncodeRelation(parts_.options.name, relation, record));
  }
  return SendAndAwait(std::move(work));
}

absl::StatusOr<std::pair<std::string, Lsn>> Follower::CreateSlot(const std::string& slot,
                                                                 bool temporary) {
  // Takes as long as the oldest transaction that is open at the source now.
  const int pid = connection_->backend_pid();
  auto made = connection_->Query(
      absl::StrCat("CREATE_REPLICATION_SLOT ", QuoteIdentifier(slot), temporary ? " TEMPORARY" : "",
                   " LOGICAL pgoutput EXPORT_SNAPSHOT"),
      "creating the slot", absl::InfiniteDuration());
  if (absl::IsCancelled(made.status())) {
    // The session would wait on, unaware that nobody does, and hold the slot's name.
    EndSession(parts_.connect_options(false), pid);
  }
  TIDEMARK_RETURN_IF_ERROR(made.status());
  if (made->size() != 1 || (*made)[0].size() < 3) {
    return Retrying("The server's answer to CREATE_REPLICATION_SLOT has an unknown form.");
  }
  TIDEMARK_ASSIGN_OR_RETURN(const Lsn point, ParseLsn((*made)[0][1].value_or("")));
  return std::make_pair((*made)[0][2].value_or(""), point);
}

absl::Status Follower::FinishCopy(Copying why, std::map<std::string, RelationRecord> copied,
                                  Lsn point) {
  const std::string& source = parts_.options.name;
  SourcePosition position{point - 1, 0, point};
  if (why == Copying::kBackfill) position = *records_.position;
  Work work;
  work.kind = WorkKind::kCopyEnd;
  work.position = LsnBytes(point - 1);
  work.origin.source = source;
  work.origin.position = work.position;
  work.state.push_back(EncodeIdentity(source, identity()));
  work.state.push_back(EncodePosition(source, position));
  for (auto& [relation, record] : copied) {
    work.state.push_back(EncodeRelation(source, relation, record));
    work.copied.push_back({{source, relation}, record.generation});
    records_.relations[relation] = std::move(record);
  }
  if (durable_.degraded) work.degraded = false;
  TIDEMARK_RETURN_IF_ERROR(SendAndAwait(std::move(work)));
  records_.identity = identity();
  records_.position = position;
  durable_.degraded = false;
  parts_.board->SetDegraded(false);
  if (why != Copying::kBackfill) parts_.gap_in_stream = absl::OkStatus();
  parts_.progress->AppliedUpTo(LsnBytes(point));
  parts_.joined = true;
  return absl::OkStatus();
}

// --- Streaming -----------------------------------------------------------------------------------

absl::Status Follower::Stream() {
  // A gap that went away by itself, or a new timeline of the same history.
  Work work;
  work.kind = WorkKind::kProgress;
  if (durable_.degraded) work.degraded = false;
  if (records_.identity != identity()) {
    work.state.push_back(EncodeIdentity(parts_.options.name, identity()));
  }
  if (work.degraded.has_value() || !work.state.empty()) {
    TIDEMARK_RETURN_IF_ERROR(SendAndAwait(std::move(work)));
    durable_.degraded = false;
    records_.identity = identity();
    parts_.board->SetDegraded(false);
  }
  Streamer streamer(parts_, *connection_, StreamPlanUntil(std::nullopt));
  return RunStreamer(streamer);
}

absl::Status Follower::RunStreamer(Streamer& streamer) {
  const absl::Status ended = streamer.Run();
  if (absl::IsDataLoss(ended)) parts_.gap_in_stream = ended;
  return ended;
}

StreamPlan Follower::StreamPlanUntil(std::optional<Lsn> until) const {
  StreamPlan plan;
  plan.position = *records_.position;
  plan.generation = std::max<uint64_t>(records_.generation(), 1);
  for (const auto& [relation, record] : records_.relations) {
    // What comes of a relation before its copy is in the copy.
    if (record.phase == RelationPhase::kStreaming) plan.relations[relation] = record;
  }
  plan.sender_timeout = server_.sender_timeout;
  plan.until = until;
  return plan;
}

absl::Status Follower::SendAndAwait(Work work) {
  const absl::Status sent = parts_.outbox.Send(std::move(work));
  return sent.ok() ? AwaitSettled() : FailureOfApply(sent);
}

absl::Status Follower::AwaitSettled() {
  while (parts_.outbox.pending() > 0) {
    if (parts_.interrupt.is_set()) return Interrupted();
    AwaitWake(parts_, absl::InfiniteDuration());
  }
  const absl::Status failure = parts_.outbox.failure();
  return failure.ok() ? failure : FailureOfApply(failure);
}

}  // namespace tidemark::ingest
