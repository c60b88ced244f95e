#include "server/ingest/postgres/copier.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "server/ingest/assembler.h"
#include "server/ingest/decode/copy_text.h"
#include "server/ingest/postgres/failure.h"
#include "server/ingest/postgres/source_catalog.h"
#include "server/ingest/postgres/sql.h"

namespace tidemark::ingest {
namespace {

// Of one work: what a batch of the applier holds many of.
constexpr size_t kRowsPerWork = 500;
constexpr size_t kBytesPerWork = 1 << 20;

// The rows to copy: the columns of the record, in its order.
std::string RowsQuery(const SourceRelation& relation, const RelationRecord& record) {
  std::string columns;
  for (const ColumnLayout& column : record.columns) {
    absl::StrAppend(&columns, columns.empty() ? "" : ", ", QuoteIdentifier(column.name));
  }
  // Tables that inherit from this one are relations of their own; partitions are not.
  return absl::StrCat("SELECT ", columns, " FROM ", relation.partitioned ? "" : "ONLY ",
                      QuoteIdentifier(relation.schema), ".", QuoteIdentifier(relation.name),
                      relation.row_filter.empty() ? "" : " WHERE ", relation.row_filter);
}

}  // namespace

absl::Status CheckReadable(PgConnection& connection, const SourceRelation& relation,
                           const CopyPlan& plan) {
  return connection
      .Query(RowsQuery(relation, plan.record) + " LIMIT 0",
             absl::StrCat("reading ", relation.full_name))
      .status();
}

absl::Status Copier::TakeSnapshot(const std::string& exported, Lsn consistent_point) {
  consistent_point_ = consistent_point;
  TIDEMARK_ASSIGN_OR_RETURN(connection_,
                            PgConnection::Open(parts_.connect_options(false), parts_.interrupt));
  return connection_
      ->Query(absl::StrCat("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                           "SET TRANSACTION SNAPSHOT ",
                           QuoteLiteral(exported)),
              "taking the exported snapshot")
      .status();
}

absl::StatusOr<std::map<std::string, RelationRecord>> Copier::CopyRelations(
    const std::vector<std::string>& names) {
  PgTypeMap types;
  TIDEMARK_ASSIGN_OR_RETURN(const std::vector<SourceRelation> relations,
                            ReadRelations(*connection_, names, parts_.publications, &types));
  std::vector<CopyPlan> plans;
  std::vector<RelationProgress> progress;
  for (const SourceRelation& relation : relations) {
    TIDEMARK_ASSIGN_OR_RETURN(CopyPlan plan,
                              PlanCopy(parts_.catalog, parts_.options.name, relation, types));
    plan.record.phase = RelationPhase::kStreaming;
    plan.record.generation = generation_;
    plan.record.consistent_point = consistent_point_;
    plans.push_back(std::move(plan));
    progress.push_back({relation.full_name, false, 0, relation.estimated_rows});
  }
  parts_.board->SetRelations(std::move(progress));
  std::map<std::string, RelationRecord> records;
  for (size_t i = 0; i < relations.size(); ++i) {
    TIDEMARK_RETURN_IF_ERROR(CopyRelation(relations[i], plans[i]));
    records[relations[i].full_name] = std::move(plans[i].record);
  }
  TIDEMARK_RETURN_IF_ERROR(connection_->Query("COMMIT", "ending the copy").status());
  return records;
}

absl::Status Copier::CopyRelation(const SourceRelation& relation, const CopyPlan& plan) {
  TIDEMARK_RETURN_IF_ERROR(connection_->StartCopyOut(
      absl::StrCat("COPY (", RowsQuery(relation, plan.record), ") TO STDOUT"),
      absl::StrCat("copying ", relation.full_name)));
  CopyTextReader reader;
  std::vector<pgoutput::Field> fields;
  std::vector<tables::RowEvent> rows;
  // Below the sequence of everything that follows; the generation stands above it.
  const std::string sequence = EventSequence(consistent_point_ - 1, 0);
  uint64_t copied = 0;
  size_t bytes = 0;
  while (true) {
    TIDEMARK_ASSIGN_OR_RETURN(const auto line, connection_->NextCopyRow());
    if (line.has_value()) {
      absl::Status read = reader.Read(*line, plan.record.columns.size(), &fields);
      if (!read.ok()) return FailureOfApply(read);
      auto row = plan.decoder->DecodeCopied(fields);
      if (!row.ok()) return FailureOfApply(row.status());
      row->sequence = sequence;
      rows.push_back(*std::move(row));
      bytes += line->size();
      ++copied;
    }
    if (rows.size() == kRowsPerWork || bytes >= kBytesPerWork || !line.has_value()) {
      if (!rows.empty()) TIDEMARK_RETURN_IF_ERROR(SendRows(std::exchange(rows, {})));
      bytes = 0;
      parts_.board->SetCopied(relation.full_name, copied, !line.has_value());
    }
    if (!line.has_value()) return CheckNotRewritten(relation);
  }
}

absl::Status Copier::CheckNotRewritten(const SourceRelation& relation) {
  // TRUNCATE and what rewrites a table do not keep old row versions: between the snapshot and the
  // copy's lock they leave nothing the snapshot can see. The query reads the file's name as of the
  // snapshot, the function as of now.
  TIDEMARK_ASSIGN_OR_RETURN(
      const PgRows rows,
      connection_->Query(
          absl::StrCat("SELECT count(*) FROM pg_class c WHERE c.relkind = 'r' AND c.oid IN "
                       "(SELECT relid FROM pg_partition_tree(",
                       relation.oid, ") UNION SELECT ", relation.oid,
                       ") AND c.relfilenode IS DISTINCT FROM pg_relation_filenode(c.oid)"),
          "checking the copy"));
  if (rows.size() == 1 && rows[0][0] == "0") return absl::OkStatus();
  return Retrying(absl::StrCat("Relation ", relation.full_name,
                               " was truncated or rewritten before it was copied; the copy starts "
                               "again."));
}

absl::Status Copier::SendRows(std::vector<tables::RowEvent> rows) {
  TIDEMARK_RETURN_IF_ERROR(AwaitRoom());
  const uint64_t count = rows.size();
  Work work;
  work.kind = WorkKind::kCopyRows;
  work.position = LsnBytes(consistent_point_ - 1);
  work.origin.source = parts_.options.name;
  work.origin.position = work.position;
  work.origin.generation = generation_;
  work.origin.copy = true;
  work.events = MakeEventList(std::move(rows));
  const absl::Status sent =
      parts_.outbox.Send(std::move(work), [board = parts_.board, count, &clock = parts_.clock] {
        board->CountCopied(count, clock.Now());
      });
  return sent.ok() ? sent : FailureOfApply(sent);
}

absl::Status Copier::AwaitRoom() {
  bool paused = false;
  while (true) {
    if (parts_.interrupt.is_set()) return Interrupted();
    if (absl::Status failure = parts_.outbox.failure(); !failure.ok()) {
      return FailureOfApply(failure);
    }
    if (parts_.paused) {
      if (!paused) {
        parts_.board->Set(SourceState::kPaused,
                          "The copy stands still; the source keeps its snapshot open.");
      }
      paused = true;
    } else if (parts_.outbox.HasRoom()) {
      if (paused) parts_.board->Set(SourceState::kCopying);
      return absl::OkStatus();
    }
    AwaitWake(parts_, absl::InfiniteDuration());
  }
}

}  // namespace tidemark::ingest
