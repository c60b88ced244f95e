// The stream of changes: from START_REPLICATION to works of whole transactions, and the standby
// status that tells the source's server what it may forget.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_STREAMER_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_STREAMER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/ingest/assembler.h"
#include "server/ingest/decode/pg_types.h"
#include "server/ingest/decode/pgoutput.h"
#include "server/ingest/postgres/connection.h"
#include "server/ingest/postgres/durable_records.h"
#include "server/ingest/postgres/relation_layout.h"
#include "server/ingest/postgres/source_parts.h"

namespace tidemark::ingest {

struct StreamPlan {
  SourcePosition position;  // where the stream goes on
  uint64_t generation = 0;  // events are stamped with it
  std::map<std::string, RelationRecord> relations;
  absl::Duration sender_timeout = absl::InfiniteDuration();  // the server's wal_sender_timeout
  // Set: stream only what was committed before it, then end.
  std::optional<Lsn> until;
};

// Not thread-safe: the thread that follows the source.
class Streamer {
 public:
  // A replication connection; all outlive it.
  Streamer(SourceParts& parts, PgConnection& connection, StreamPlan plan);

  // Follows the slot until something ends it: a failure; kCancelled when stopped, paused or asked
  // to check the source again; OK when everything before plan.until is durable, with the position
  // then in position().
  absl::Status Run();

  const SourcePosition& position() const { return position_; }

 private:
  using Steady = std::chrono::steady_clock;

  absl::Status Start();
  absl::Status CheckInterrupts() const;
  // --- What comes in.
  absl::StatusOr<bool> ReadSome();
  absl::Status HandleFrame(std::string_view bytes);
  absl::Status HandleMessage(std::string_view bytes);
  absl::Status OnBegin(const pgoutput::Begin& begin);
  absl::Status OnCommit(const pgoutput::Commit& commit);
  absl::Status OnRelation(const pgoutput::Relation& relation);
  absl::Status OnType(const pgoutput::Type& type);
  absl::Status OnRow(const pgoutput::RowChange& change);
  absl::Status OnTruncate(const pgoutput::Truncate& truncate);
  absl::StatusOr<const RowDecoder*> FindDecoder(uint32_t relation) const;
  absl::Status AddEvent(tables::RowEvent event);
  absl::Status ResolveTypes(const pgoutput::Relation& relation);
  // --- What goes on.
  void NoteIdle(Lsn position);
  absl::Status SettleIdle();
  absl::Status SendStatusIfDue();
  Steady::time_point NextProgress() const;
  Steady::time_point NextStatus() const;
  bool UntilReached() const;
  void Await();

  SourceParts& parts_;
  PgConnection& connection_;
  const StreamPlan plan_;
  const Steady::duration status_interval_;

  PgTypeMap types_;
  absl::flat_hash_map<uint32_t, std::shared_ptr<const RowDecoder>> decoders_;  // null: not ours
  pgoutput::Message message_;
  Assembler assembler_;
  std::optional<pgoutput::Begin> transaction_;  // open
  bool skip_transaction_ = false;               // it is applied already

  SourcePosition position_;  // of what has been sent to the applier
  Lsn idle_ = 0;             // nothing of ours lies between what was sent and this
  Lsn received_ = 0;
  bool before_until_ = true;  // false: the first transaction at or after plan.until has begun

  // Durable, so the server may forget what is before it. Written by works that may outlive us.
  const std::shared_ptr<std::atomic<Lsn>> durable_;
  Lsn confirmed_ = 0;
  Lsn asked_head_ = 0;
  bool reply_requested_ = false;
  bool progress_wanted_ = false;
  Steady::time_point last_status_;
  Steady::time_point last_progress_;
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_STREAMER_H_
