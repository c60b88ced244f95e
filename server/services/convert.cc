#include "server/services/convert.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"
#include "tidemark/v1/ingest_service.pb.h"
#include "tidemark/v1/snapshot.pb.h"
#include "tidemark/v1/table.pb.h"

namespace tidemark::services {
namespace {

bool IsFinite(absl::Time time) {
  return time != absl::InfinitePast() && time != absl::InfiniteFuture();
}

v1::SourceState ToState(ingest::SourceState state) {
  switch (state) {
    case ingest::SourceState::kStarting:
      return v1::SOURCE_STATE_STARTING;
    case ingest::SourceState::kCopying:
      return v1::SOURCE_STATE_COPYING;
    case ingest::SourceState::kStreaming:
      return v1::SOURCE_STATE_STREAMING;
    case ingest::SourceState::kPaused:
      return v1::SOURCE_STATE_PAUSED;
    case ingest::SourceState::kRetrying:
      return v1::SOURCE_STATE_RETRYING;
    case ingest::SourceState::kGap:
      return v1::SOURCE_STATE_GAP;
    case ingest::SourceState::kFenced:
      return v1::SOURCE_STATE_FENCED;
    case ingest::SourceState::kFailed:
      return v1::SOURCE_STATE_FAILED;
  }
  return v1::SOURCE_STATE_UNSPECIFIED;
}

v1::Atomicity ToAtomicity(ingest::Atomicity atomicity) {
  return atomicity == ingest::Atomicity::kTransaction ? v1::ATOMICITY_TRANSACTION
                                                      : v1::ATOMICITY_EVENT;
}

// Name of the group that fills the column; empty for keys and tables without groups.
std::string_view GroupOf(const tables::TableDefinition& table, const std::string& column) {
  if (table.last_row) return {};
  for (const tables::GroupDefinition& group : table.groups) {
    if (group.columns.find(column) != group.columns.end()) return group.name;
    for (const tables::AggregateColumn& aggregate : group.aggregates) {
      if (aggregate.column == column) return group.name;
    }
  }
  return {};
}

// As the definition writes it: "int", "list", "list of string".
std::string TypeText(const tables::ColumnDefinition& column) {
  std::string text(tables::KindName(column.type));
  if (column.item_type == tables::Kind::kNull) return text;
  return text + " of " + std::string(tables::KindName(column.item_type));
}

}  // namespace

void ToTimestamp(absl::Time time, google::protobuf::Timestamp* out) {
  const int64_t seconds = absl::ToUnixSeconds(time);  // rounds down
  out->set_seconds(seconds);
  out->set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
}

void ToDuration(absl::Duration span, google::protobuf::Duration* out) {
  constexpr int64_t kMaxSeconds = 315576000000;  // of a Duration: 10,000 years
  span = std::clamp(span, absl::ZeroDuration(), absl::Seconds(kMaxSeconds));
  const int64_t seconds = absl::ToInt64Seconds(span);
  out->set_seconds(seconds);
  out->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(span - absl::Seconds(seconds))));
}

void ToSourceStatus(const ingest::SourceStatus& status, absl::Time now, v1::SourceStatus* out) {
  out->set_source(status.name);
  out->set_state(ToState(status.state));
  out->set_atomicity(ToAtomicity(status.atomicity));
  out->set_position(status.position);
  if (IsFinite(status.last_event_time)) {
    ToTimestamp(status.last_event_time, out->mutable_last_event_time());
  }
  if (IsFinite(status.last_applied_time)) {
    ToTimestamp(status.last_applied_time, out->mutable_last_applied_time());
  }
  if (IsFinite(status.fresh_as_of)) {
    ToTimestamp(status.fresh_as_of, out->mutable_fresh_as_of());
    ToDuration(now - status.fresh_as_of, out->mutable_lag());
  }
  out->set_detail(status.detail);
}

void ToSource(const ingest::SourceStatus& status, const tables::Catalog& catalog, absl::Time now,
              v1::Source* out) {
  out->set_name(status.name);
  out->set_kind(status.kind);
  ToSourceStatus(status, now, out->mutable_status());
  for (std::string& relation : catalog.RelationsOf(status.name)) {
    out->add_relations(std::move(relation));
  }
  std::set<std::string_view> names;
  for (const auto& table : catalog.tables()) {
    for (const tables::GroupDefinition& group : table->definition.groups) {
      if (group.from.source == status.name) names.insert(table->definition.name);
    }
  }
  for (std::string_view name : names) out->add_tables(std::string(name));
  out->set_applied_events(status.events);
}

CopyProgress ProgressOf(const tables::Table& table,
                        const std::vector<ingest::SourceStatus>& sources) {
  CopyProgress progress;
  bool known = true;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const tables::GroupDefinition& group : table.definition.groups) {
    if (!seen.insert({group.from.source, group.from.relation}).second) continue;
    const ingest::RelationProgress* found = nullptr;
    for (const ingest::SourceStatus& source : sources) {
      if (source.name != group.from.source) continue;
      for (const ingest::RelationProgress& relation : source.relations) {
        if (relation.relation == group.from.relation) found = &relation;
      }
    }
    if (found == nullptr) {
      known = false;
      continue;
    }
    progress.rows_copied += found->rows_copied;
    progress.rows_estimated += found->rows_estimated;
    known = known && (found->copied || found->rows_estimated > 0);
  }
  if (!known) progress.rows_estimated = 0;
  return progress;
}

void ToTable(const tables::Table& table, const TableView& view, absl::Time now, v1::Table* out) {
  const tables::TableDefinition& definition = table.definition;
  out->set_name(definition.name);
  for (const std::string& column : definition.key) out->add_key(column);
  for (const tables::ColumnDefinition& column : definition.columns) {
    v1::Column* added = out->add_columns();
    added->set_name(column.name);
    added->set_type(TypeText(column));
    added->set_group(std::string(GroupOf(definition, column.name)));
  }
  out->set_tier(definition.tier);
  out->set_state(view.loading    ? v1::TABLE_STATE_LOADING
                 : view.degraded ? v1::TABLE_STATE_DEGRADED
                                 : v1::TABLE_STATE_READY);
  out->set_atomicity(v1::ATOMICITY_TRANSACTION);
  for (const ingest::SourceStatus& source : view.sources) {
    if (source.atomicity == ingest::Atomicity::kEvent) out->set_atomicity(v1::ATOMICITY_EVENT);
    ToSourceStatus(source, now, out->add_sources());
  }
  for (const tables::GroupDefinition& group : definition.groups) {
    v1::TableRelation* relation = out->add_relations();
    relation->set_source(group.from.source);
    relation->set_relation(group.from.relation);
    if (!definition.last_row) relation->set_group(group.name);
  }
  if (view.loading) {
    const CopyProgress progress = ProgressOf(table, view.sources);
    out->mutable_loading()->set_rows_copied(progress.rows_copied);
    out->mutable_loading()->set_rows_estimated(progress.rows_estimated);
  }
  out->set_degraded(view.degraded);
  out->set_merge(definition.last_row ? "last_row" : "groups");
}

}  // namespace tidemark::services
