#include "server/ingest/postgres/streamer.h"

#include <poll.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"
#include "server/ingest/decode/replication_frame.h"
#include "server/ingest/postgres/failure.h"
#include "server/ingest/postgres/sql.h"

namespace tidemark::ingest {
namespace {

// Frames handled between two looks at everything else.
constexpr int kFramesPerRound = 2000;
// Between two confirmations of what has become durable.
constexpr std::chrono::milliseconds kConfirmGap{100};
// The server gives up after wal_sender_timeout without a word; this many words fit in it.
constexpr int kStatusesPerTimeout = 3;

std::chrono::steady_clock::duration StatusInterval(absl::Duration wanted, absl::Duration timeout) {
  return absl::ToChronoNanoseconds(
      std::max(absl::Milliseconds(10), std::min(wanted, timeout / kStatusesPerTimeout)));
}

std::string PublicationNames(const std::vector<std::string>& publications) {
  std::string names;
  for (const std::string& publication : publications) {
    absl::StrAppend(&names, names.empty() ? "" : ",", QuoteIdentifier(publication));
  }
  return names;
}

absl::Status OutOfOrder(std::string_view what) {
  return Failed(absl::StrCat("The server's stream is not as the protocol says: ", ToAbsl(what),
                             ". The position stays before it."));
}

}  // namespace

Streamer::Streamer(SourceParts& parts, PgConnection& connection, StreamPlan plan)
    : parts_(parts),
      connection_(connection),
      plan_(std::move(plan)),
      status_interval_(StatusInterval(parts.options.status_every, plan_.sender_timeout)),
      assembler_({parts.options.max_transaction_bytes, parts.options.spool_dir}),
      position_(plan_.position),
      idle_(plan_.position.resume_lsn),
      received_(plan_.position.resume_lsn),
      durable_(std::make_shared<std::atomic<Lsn>>(plan_.position.resume_lsn)) {}

absl::Status Streamer::Run() {
  TIDEMARK_RETURN_IF_ERROR(Start());
  while (true) {
    TIDEMARK_RETURN_IF_ERROR(CheckInterrupts());
    TIDEMARK_ASSIGN_OR_RETURN(const bool busy, ReadSome());
    TIDEMARK_RETURN_IF_ERROR(SettleIdle());
    TIDEMARK_RETURN_IF_ERROR(SendStatusIfDue());
    if (UntilReached()) return absl::OkStatus();
    if (!busy) Await();
  }
}

absl::Status Streamer::Start() {
  const std::string command =
      absl::StrCat("START_REPLICATION SLOT ", QuoteIdentifier(parts_.options.slot), " LOGICAL ",
                   FormatLsn(position_.resume_lsn), " (proto_version '1', publication_names ",
                   QuoteLiteral(PublicationNames(parts_.publications)), ")");
  TIDEMARK_RETURN_IF_ERROR(connection_.StartCopyBoth(command, "following the slot"));
  last_progress_ = Steady::now();
  if (!plan_.until.has_value()) {
    parts_.set_followed(plan_.relations);
    parts_.streaming = true;
    parts_.board->Set(SourceState::kStreaming);
  }
  return absl::OkStatus();
}

absl::Status Streamer::CheckInterrupts() const {
  if (parts_.interrupt.is_set() || parts_.paused || parts_.check_again) return Interrupted();
  const absl::Status failure = parts_.outbox.failure();
  return failure.ok() ? failure : FailureOfApply(failure);
}

// --- What comes in -------------------------------------------------------------------------------

absl::StatusOr<bool> Streamer::ReadSome() {
  for (int i = 0; i < kFramesPerRound; ++i) {
    // A full outbox stops the reading, and so the server.
    if (!before_until_ || !parts_.outbox.HasRoom()) return false;
    TIDEMARK_ASSIGN_OR_RETURN(const auto frame, connection_.TryReadFrame(/*may_read=*/true));
    if (!frame.has_value()) return false;
    TIDEMARK_RETURN_IF_ERROR(HandleFrame(*frame));
  }
  return true;
}

absl::Status Streamer::HandleFrame(std::string_view bytes) {
  ReplicationFrame frame;
  if (absl::Status parsed = ParseReplicationFrame(bytes, &frame); !parsed.ok()) {
    return FailureOfApply(parsed);
  }
  if (frame.kind == ReplicationFrame::Kind::kData) return HandleMessage(frame.payload);
  received_ = std::max(received_, frame.wal_end);
  if (!transaction_.has_value()) NoteIdle(frame.wal_end);
  if (frame.reply_requested) {
    reply_requested_ = true;
    // A server that shuts down asks until everything it sent is confirmed.
    progress_wanted_ = true;
  }
  return absl::OkStatus();
}

absl::Status Streamer::HandleMessage(std::string_view bytes) {
  if (absl::Status parsed = pgoutput::Parse(bytes, &message_); !parsed.ok()) {
    return FailureOfApply(parsed);
  }
  if (const auto* change = std::get_if<pgoutput::RowChange>(&message_)) return OnRow(*change);
  if (const auto* begin = std::get_if<pgoutput::Begin>(&message_)) return OnBegin(*begin);
  if (const auto* commit = std::get_if<pgoutput::Commit>(&message_)) return OnCommit(*commit);
  if (const auto* relation = std::get_if<pgoutput::Relation>(&message_)) {
    return OnRelation(*relation);
  }
  if (const auto* type = std::get_if<pgoutput::Type>(&message_)) return OnType(*type);
  if (const auto* truncate = std::get_if<pgoutput::Truncate>(&message_)) {
    return OnTruncate(*truncate);
  }
  // Origins say where a transaction came from, logical messages are for other readers.
  return absl::OkStatus();
}

absl::Status Streamer::OnBegin(const pgoutput::Begin& begin) {
  if (transaction_.has_value()) return OutOfOrder("a transaction begins inside another");
  if (plan_.until.has_value() && begin.commit_lsn >= *plan_.until) {
    before_until_ = false;
    NoteIdle(*plan_.until);
    return absl::OkStatus();
  }
  transaction_ = begin;
  skip_transaction_ = begin.commit_lsn < position_.resume_lsn;
  received_ = std::max(received_, begin.commit_lsn);
  return absl::OkStatus();
}

absl::Status Streamer::OnCommit(const pgoutput::Commit& commit) {
  if (!transaction_.has_value() || transaction_->commit_lsn != commit.commit_lsn) {
    return OutOfOrder("a commit ends no transaction");
  }
  transaction_.reset();
  received_ = std::max(received_, commit.end_lsn);
  if (skip_transaction_) return absl::OkStatus();
  if (assembler_.count() == 0) {
    NoteIdle(commit.end_lsn);
    return absl::OkStatus();
  }
  const uint64_t events = assembler_.count();
  position_ = {commit.commit_lsn, events, commit.end_lsn};
  idle_ = std::max(idle_, commit.end_lsn);
  Work work;
  work.kind = WorkKind::kTransaction;
  TIDEMARK_ASSIGN_OR_RETURN(work.events, assembler_.Finish());
  work.position = LsnBytes(commit.commit_lsn);
  work.origin.source = parts_.options.name;
  work.origin.position = work.position;
  work.origin.generation = plan_.generation;
  work.event_time = commit.commit_time;
  work.state.push_back(EncodePosition(parts_.options.name, position_));
  const absl::Status sent =
      parts_.outbox.Send(std::move(work), [durable = durable_, progress = parts_.progress,
                                           board = parts_.board, &clock = parts_.clock, events,
                                           time = commit.commit_time, end = commit.end_lsn] {
        durable->store(end);
        board->CountTransaction(events, time, clock.Now());
        progress->AppliedUpTo(LsnBytes(end));
      });
  return sent.ok() ? sent : FailureOfApply(sent);
}

absl::Status Streamer::OnType(const pgoutput::Type& type) {
  // For a domain the message tells the base type; what is not built in is looked up.
  if (type.schema != "pg_catalog") return absl::OkStatus();
  if (PgTypePtr builtin = BuiltinPgType(type.name)) types_.Add(type.id, std::move(builtin));
  return absl::OkStatus();
}

absl::Status Streamer::OnRelation(const pgoutput::Relation& relation) {
  const std::string name = absl::StrCat(ToAbsl(relation.schema), ".", ToAbsl(relation.name));
  const auto record = plan_.relations.find(name);
  if (record == plan_.relations.end()) {
    for (const auto& [followed, its] : plan_.relations) {
      if (its.oid != relation.id) continue;
      return Gap(absl::StrCat("Relation ", followed, " was renamed to ", name, " at the source."));
    }
    decoders_[relation.id] = nullptr;
    return absl::OkStatus();
  }
  TIDEMARK_RETURN_IF_ERROR(ResolveTypes(relation));
  TIDEMARK_ASSIGN_OR_RETURN(decoders_[relation.id], DecoderFor(parts_.catalog, parts_.options.name,
                                                               record->second, relation, types_));
  return absl::OkStatus();
}

absl::Status Streamer::ResolveTypes(const pgoutput::Relation& relation) {
  std::vector<uint32_t> unknown;
  for (const pgoutput::RelationColumn& column : relation.columns) {
    if (types_.Find(column.type) == nullptr) unknown.push_back(column.type);
  }
  if (unknown.empty()) return absl::OkStatus();
  // The stream's own connection takes no queries. Rare: once per type and session.
  TIDEMARK_ASSIGN_OR_RETURN(
      const auto connection,
      PgConnection::Open(parts_.connect_options(/*replication=*/false), parts_.interrupt));
  return ReadTypes(*connection, unknown, &types_);
}

absl::StatusOr<const RowDecoder*> Streamer::FindDecoder(uint32_t relation) const {
  const auto found = decoders_.find(relation);
  if (found == decoders_.end() || !transaction_.has_value()) {
    return OutOfOrder(absl::StrCat("a change of relation ", relation,
                                   " comes before its begin or "
                                   "its relation"));
  }
  return found->second.get();
}

absl::Status Streamer::OnRow(const pgoutput::RowChange& change) {
  TIDEMARK_ASSIGN_OR_RETURN(const RowDecoder* const decoder, FindDecoder(change.relation));
  if (decoder == nullptr || skip_transaction_) return absl::OkStatus();
  auto event = decoder->Decode(change);
  return event.ok() ? AddEvent(*std::move(event)) : FailureOfApply(event.status());
}

absl::Status Streamer::OnTruncate(const pgoutput::Truncate& truncate) {
  for (uint32_t relation : truncate.relations) {
    TIDEMARK_ASSIGN_OR_RETURN(const RowDecoder* const decoder, FindDecoder(relation));
    if (decoder == nullptr || skip_transaction_) continue;
    tables::RowEvent event;
    event.op = tables::EventOp::kTruncate;
    event.schema = decoder->schema();
    TIDEMARK_RETURN_IF_ERROR(AddEvent(std::move(event)));
  }
  return absl::OkStatus();
}

absl::Status Streamer::AddEvent(tables::RowEvent event) {
  event.sequence = EventSequence(transaction_->commit_lsn, assembler_.count() + 1);
  event.event_time = transaction_->commit_time;
  const absl::Status added = assembler_.Add(std::move(event));
  return added.ok() ? added : FailureOfApply(added);
}

// --- What goes on --------------------------------------------------------------------------------

void Streamer::NoteIdle(Lsn position) {
  if (plan_.until.has_value()) position = std::min(position, *plan_.until);
  idle_ = std::max(idle_, position);
}

absl::Status Streamer::SettleIdle() {
  if (idle_ <= position_.resume_lsn || parts_.outbox.pending() > 0) return absl::OkStatus();
  // Every work is applied, and nothing of ours has come since.
  parts_.progress->AppliedUpTo(LsnBytes(idle_));
  const bool last = plan_.until.has_value() && idle_ >= *plan_.until;
  if (!progress_wanted_ && !last && Steady::now() < NextProgress()) return absl::OkStatus();
  // Written down, so that the server may be told to forget what is before it: it would fill its
  // disk with the log of tables that are not ours.
  progress_wanted_ = false;
  last_progress_ = Steady::now();
  position_.resume_lsn = idle_;
  Work work;
  work.kind = WorkKind::kProgress;
  work.state.push_back(EncodePosition(parts_.options.name, position_));
  const absl::Status sent = parts_.outbox.Send(
      std::move(work), [durable = durable_, end = idle_] { durable->store(end); });
  return sent.ok() ? sent : FailureOfApply(sent);
}

Streamer::Steady::time_point Streamer::NextProgress() const {
  return last_progress_ + absl::ToChronoNanoseconds(parts_.options.status_every);
}

bool Streamer::UntilReached() const {
  return plan_.until.has_value() && !transaction_.has_value() && durable_->load() >= *plan_.until &&
         parts_.outbox.pending() == 0;
}

Streamer::Steady::time_point Streamer::NextStatus() const {
  const Lsn durable = durable_->load();
  const bool head_wanted = parts_.wanted_head > std::max(asked_head_, idle_);
  if (reply_requested_ || head_wanted || last_status_ == Steady::time_point()) {
    return Steady::time_point::min();
  }
  return last_status_ + (durable > confirmed_
                             ? std::min<Steady::duration>(kConfirmGap, status_interval_)
                             : status_interval_);
}

absl::Status Streamer::SendStatusIfDue() {
  if (Steady::now() < NextStatus()) {
    return connection_.wants_write() ? connection_.FlushSome() : absl::OkStatus();
  }
  const Lsn durable = durable_->load();
  const Lsn head = parts_.wanted_head;
  // Somebody waits for a position at which the server has nothing for us: its answer tells how far
  // it has looked.
  const bool ask = (head > idle_ && head > asked_head_) || plan_.until.has_value();
  if (ask) asked_head_ = head;
  confirmed_ = durable;
  reply_requested_ = false;
  last_status_ = Steady::now();
  return connection_.SendFrame(
      EncodeStandbyStatus(std::max(received_, durable), durable, parts_.clock.Now(), ask));
}

void Streamer::Await() {
  const bool may_read = before_until_ && parts_.outbox.HasRoom();
  pollfd fds[] = {{connection_.socket(), 0, 0},
                  {parts_.wake->fd(), POLLIN, 0},
                  {parts_.interrupt.fd(), POLLIN, 0}};
  if (may_read) fds[0].events |= POLLIN;
  if (connection_.wants_write()) fds[0].events |= POLLOUT;
  auto due = NextStatus();
  // While works are pending their end wakes us.
  if (idle_ > position_.resume_lsn && parts_.outbox.pending() == 0) {
    due = std::min(due, NextProgress());
  }
  const auto left = due == Steady::time_point::min()
                        ? std::chrono::milliseconds(0)
                        : std::chrono::ceil<std::chrono::milliseconds>(due - Steady::now());
  constexpr std::chrono::milliseconds kLongest{60000};
  poll(fds, 3, static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kLongest).count()));
  if (fds[1].revents != 0) parts_.wake->Clear();
}

}  // namespace tidemark::ingest
