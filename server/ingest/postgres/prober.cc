#include "server/ingest/postgres/prober.h"

#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/error.h"
#include "server/ingest/postgres/failure.h"
#include "server/ingest/postgres/relation_layout.h"
#include "server/ingest/postgres/source_catalog.h"
#include "server/ingest/postgres/sql.h"

namespace tidemark::ingest {
namespace {

constexpr absl::Duration kMinGap = absl::Milliseconds(100);  // between two probes
constexpr absl::Duration kProbeTimeout = absl::Seconds(5);
// How long a head must stand before it is taken to be stuck.
constexpr absl::Duration kStuckAfter = absl::Milliseconds(500);
constexpr char kDoing[] = "probing for the end of the log";

}  // namespace

void Prober::Run() {
  while (parts_.progress->WaitForProbe(parts_.options.probe_every, kMinGap)) {
    parts_.progress->ProbeSent();
    const absl::StatusOr<Lsn> head = Probe();
    if (head.ok()) {
      parts_.progress->ProbeAnswered(LsnBytes(*head));
      // Whether or not it is reached yet: the one that follows asks the server when it is not.
      parts_.wanted_head = *head;
      parts_.wake->Set();
      NudgeIfStuck(*head).IgnoreError();
    } else {
      parts_.progress->ProbeFailed(head.status());
      if (SqlStateOf(head.status()).empty()) connection_.reset();
    }
  }
  connection_.reset();
}

absl::Status Prober::Connect() {
  TIDEMARK_ASSIGN_OR_RETURN(connection_,
                            PgConnection::Open(parts_.connect_options(false), parts_.interrupt));
  TIDEMARK_ASSIGN_OR_RETURN(
      const PgRows rows,
      connection_->Query("SELECT system_identifier, current_database() FROM pg_control_system()",
                         kDoing, kProbeTimeout));
  if (rows.size() != 1) return Retrying("The server does not say who it is.");
  database_ = {rows[0][0].value_or(""), rows[0][1].value_or("")};
  return absl::OkStatus();
}

absl::StatusOr<Lsn> Prober::Probe() {
  if (connection_ == nullptr) TIDEMARK_RETURN_IF_ERROR(Connect());
  // The head of another database would say nothing of ours.
  const DatabaseName followed = parts_.database();
  if (!followed.system_identifier.empty() && !(followed == database_)) {
    return Failed("The DSN leads to another database than the one followed.");
  }
  TIDEMARK_ASSIGN_OR_RETURN(
      const PgRows rows,
      connection_->Query(
          absl::StrCat("SELECT pg_current_wal_flush_lsn(), (SELECT "
                       "pg_wal_lsn_diff(pg_current_wal_flush_lsn(), restart_lsn)::int8 FROM "
                       "pg_replication_slots WHERE slot_name = ",
                       QuoteLiteral(parts_.options.slot), "), ",
                       FingerprintExpression(connection_->server_version(), parts_.relations,
                                             parts_.publications)),
          kDoing, kProbeTimeout));
  if (rows.size() != 1 || !rows[0][0].has_value()) return Retrying("The probe has no answer.");
  const int64_t retained = rows[0][1].has_value() ? std::atoll(rows[0][1]->c_str()) : 0;
  parts_.board->SetRetainedBytes(retained > 0 ? static_cast<uint64_t>(retained) : 0);
  TIDEMARK_RETURN_IF_ERROR(CheckRelations(rows[0][2].value_or("")));
  TIDEMARK_ASSIGN_OR_RETURN(const Lsn head, ParseLsn(*rows[0][0]));
  if (!parts_.joined || LsnBytes(head) < parts_.progress->applied_up_to()) {
    return Retrying("The server is not known to go on from what is applied here.");
  }
  return head;
}

absl::Status Prober::NudgeIfStuck(Lsn head) {
  const absl::Time now = absl::Now();
  if (head != last_head_ || parts_.progress->IsPast(LsnBytes(head)) || !parts_.streaming ||
      parts_.outbox.pending() > 0) {
    last_head_ = head;
    head_since_ = now;
    return absl::OkStatus();
  }
  if (now - head_since_ < kStuckAfter) return absl::OkStatus();
  head_since_ = now;
  // The log is flushed by pages: with a large transaction open and nothing else going on, its
  // flushed end stands inside a record, which nobody can read, for up to fifteen seconds. An empty
  // transaction makes the server flush the rest.
  return connection_->Query("SELECT pg_current_xact_id()", kDoing, kProbeTimeout).status();
}

absl::Status Prober::CheckRelations(const std::string& fingerprint) {
  uint64_t version = 0;
  const std::map<std::string, RelationRecord> followed = parts_.followed(&version);
  if (followed.empty() || (fingerprint == fingerprint_ && version == version_)) {
    return absl::OkStatus();
  }
  TIDEMARK_ASSIGN_OR_RETURN(
      const std::vector<SourceRelation> relations,
      ReadRelations(*connection_, parts_.relations, parts_.publications, &types_));
  absl::Status same;
  for (const SourceRelation& relation : relations) {
    const auto record = followed.find(relation.full_name);
    if (record == followed.end() || !same.ok()) continue;
    same = CheckRelation(parts_.catalog, parts_.options.name, record->second, relation, types_);
  }
  if (same.ok()) {
    fingerprint_ = fingerprint;
    version_ = version;
  } else {
    // Not judged here: the one that follows looks again, and says what is wrong.
    parts_.check_again = true;
    parts_.wake->Set();
  }
  return same;
}

}  // namespace tidemark::ingest
