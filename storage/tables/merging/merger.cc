#include "storage/tables/merging/merger.h"

#include <utility>
#include <vector>

#include "common/error.h"
#include "common/strings.h"
#include "storage/state/coding.h"
#include "storage/tables/merging/aggregate_merge.h"
#include "storage/tables/merging/columns_merge.h"
#include "storage/tables/merging/group_context.h"
#include "storage/tables/row_codec.h"

namespace tidemark::tables {
namespace {

constexpr auto kSpace = state::AuxSpace::kContribution;
// Schemas of relations in use at one time; more than that are bound again when they come back.
constexpr size_t kMaxBoundSchemas = 4096;
// Rows looked at before the first of them is taken out.
constexpr size_t kTakeOutBatch = 1000;

absl::Status CheckImages(const RowEvent& event) {
  const size_t columns = event.schema->columns.size();
  const bool needs_after = event.op == EventOp::kInsert || event.op == EventOp::kUpdate;
  const bool needs_before = event.op == EventOp::kDelete;
  const auto fits = [columns](const std::vector<Datum>& image, bool needed) {
    return image.size() == columns || (image.empty() && !needed);
  };
  if (fits(event.after, needs_after) && fits(event.before, needs_before)) return absl::OkStatus();
  return MakeError(Reason::kEventMalformed,
                   "An event of relation " + event.schema->source + "/" + event.schema->name +
                       " does not have one value per column in the image its operation needs.",
                   {{"source", event.schema->source}, {"relation", event.schema->name}});
}

}  // namespace

// Everything that is kept from event to event.
struct Merger::State {
  explicit State(state::StateWriter& writer) : row(writer), left_row(writer) {}

  RowDraft row, left_row;
  absl::flat_hash_map<const RelationSchema*, std::unique_ptr<BoundRelation>> bound;
  // By table and group, as stored.
  absl::flat_hash_map<std::pair<state::TableId, size_t>, std::unique_ptr<GroupHeader>> headers;
};

Merger::Merger(const Catalog& catalog, state::StateWriter& writer,
               const std::atomic<bool>* stopping)
    : catalog_(catalog),
      writer_(writer),
      stopping_(stopping),
      state_(std::make_unique<State>(writer)) {}

Merger::~Merger() = default;

absl::Status Merger::CheckSchema(const Catalog& catalog, const RelationSchema& schema) {
  return BindRelation(catalog, std::make_shared<const RelationSchema>(schema)).status();
}

absl::StatusOr<GroupHeader*> Merger::Header(state::TableId table, size_t group) {
  std::unique_ptr<GroupHeader>& header = state_->headers[{table, group}];
  if (header == nullptr) {
    TIDEMARK_ASSIGN_OR_RETURN(const auto bytes,
                              writer_.GetAux(kSpace, ContributionPrefix(table, group)));
    header = std::make_unique<GroupHeader>();
    if (bytes) {
      TIDEMARK_ASSIGN_OR_RETURN(*header, DecodeGroupHeader(*bytes));
    }
  }
  return header.get();
}

absl::Status Merger::PutHeader(state::TableId table, size_t group, const GroupHeader& header) {
  return writer_.PutAux(kSpace, ContributionPrefix(table, group), EncodeGroupHeader(header));
}

absl::Status Merger::CheckBindings(const BoundGroup& group, const EventOrigin& origin) {
  if (group.bindings.empty()) return absl::OkStatus();
  TIDEMARK_ASSIGN_OR_RETURN(GroupHeader * header, Header(group.table->id, group.index));
  if (header->bindings == group.bindings) return absl::OkStatus();
  if (!header->bindings.empty()) {
    // A copy brings every row again, under other names or in another order than those stored.
    if (origin.copy) TIDEMARK_RETURN_IF_ERROR(TakeOutOlder(group, header->order_types, origin));
    bool stored = false;
    if (!origin.copy) {
      TIDEMARK_ASSIGN_OR_RETURN(stored, HasStoredOrders(group));
    }
    if (stored) {
      return EventError(Reason::kFieldInvalid, group,
                        "the columns that identify, order or sequence its rows changed from [" +
                            Printable(header->bindings, 500) + "] to [" +
                            Printable(group.bindings, 500) +
                            "], but rows are stored under the former. Change them back, or let the "
                            "relation be copied again.");
    }
  }
  header->bindings = group.bindings;
  header->order_types = group.order_types;
  return PutHeader(group.table->id, group.index, *header);
}

absl::StatusOr<bool> Merger::HasStoredOrders(const BoundGroup& group) {
  // Rows remember the sequences of their columns groups; only a copy stands above them.
  if (!group.definition->is_aggregate()) return true;
  const std::string prefix = ContributionPrefix(group.table->id, group.index);
  bool found = false;
  TIDEMARK_RETURN_IF_ERROR(writer_.VisitAux(kSpace, prefix, prefix + '\0', /*reverse=*/false,
                                            [&](std::string_view, std::string_view value) {
                                              found = !IsDeletedContribution(value);
                                              return !found;
                                            }));
  return found;
}

absl::Status Merger::TakeOutOlder(const BoundGroup& bound, std::vector<Kind> order_types,
                                  const EventOrigin& origin) {
  if (!bound.definition->is_aggregate()) return absl::OkStatus();
  const BoundGroup group = UnboundGroup({bound.table, bound.index}, std::move(order_types));
  const GroupContext context{writer_, group,       origin,          absl::InfinitePast(),
                             {},      state_->row, state_->left_row};
  TakeOutLimit limit;
  limit.order.generation = origin.generation;
  return TakeOutAll(context, limit);
}

absl::Status Merger::TakeOutAll(const GroupContext& context, const TakeOutLimit& limit) {
  std::string place;
  for (bool done = false; !done;) {
    if (stopping_ != nullptr && stopping_->load(std::memory_order_relaxed)) {
      return MakeError(Reason::kShuttingDown,
                       "The server is shutting down; the transaction was abandoned.");
    }
    TIDEMARK_ASSIGN_OR_RETURN(done, TakeOutSome(context, limit, kTakeOutBatch, &place));
  }
  return absl::OkStatus();
}

absl::StatusOr<const BoundRelation*> Merger::Bind(
    const std::shared_ptr<const RelationSchema>& schema, const EventOrigin& origin) {
  const auto found = state_->bound.find(schema.get());
  if (found != state_->bound.end()) return found->second.get();
  TIDEMARK_ASSIGN_OR_RETURN(auto relation, BindRelation(catalog_, schema));
  for (const BoundGroup& group : relation->groups) {
    TIDEMARK_RETURN_IF_ERROR(CheckBindings(group, origin));
  }
  // The bound relation keeps its schema alive, so that the pointer names no other one meanwhile.
  if (state_->bound.size() >= kMaxBoundSchemas) state_->bound.clear();
  return (state_->bound[schema.get()] = std::move(relation)).get();
}

absl::Status Merger::Apply(const RowEvent& event, const EventOrigin& origin) {
  const absl::Status status = ApplyToGroups(event, origin);
  // The snapshot is abandoned now: what was read or written in it is not so any more.
  if (!status.ok()) Forget();
  return status;
}

void Merger::Forget() {
  state_->bound.clear();
  state_->headers.clear();
}

absl::Status Merger::ApplyToGroups(const RowEvent& event, const EventOrigin& origin) {
  TIDEMARK_ASSIGN_OR_RETURN(const BoundRelation* relation, Bind(event.schema, origin));
  if (relation->groups.empty()) return absl::OkStatus();
  TIDEMARK_RETURN_IF_ERROR(CheckImages(event));
  for (const BoundGroup& group : relation->groups) {
    TIDEMARK_ASSIGN_OR_RETURN(const GroupHeader* header, Header(group.table->id, group.index));
    const state::TableRecord* record = writer_.FindTable(group.table->id);
    const bool emptied = record != nullptr && !record->truncation_sequence.empty();
    const GroupContext context{writer_,
                               group,
                               origin,
                               event.event_time,
                               emptied ? record->truncation_sequence : header->truncation,
                               state_->row,
                               state_->left_row};
    if (event.op == EventOp::kTruncate) {
      TIDEMARK_RETURN_IF_ERROR(Truncate(context, event));
    } else if (group.definition->is_aggregate()) {
      TIDEMARK_RETURN_IF_ERROR(ApplyAggregate(context, event));
    } else {
      TIDEMARK_RETURN_IF_ERROR(ApplyColumns(context, event));
    }
  }
  return absl::OkStatus();
}

absl::Status Merger::Truncate(const GroupContext& context, const RowEvent& event) {
  const BoundGroup& group = context.group;
  TakeOutLimit limit;
  limit.order = {context.origin.generation, event.sequence};
  limit.truncate = true;
  if (context.IsTruncated(limit.order)) return absl::OkStatus();
  const bool comparable = group.definition->sequence.empty();
  const std::string truncation = comparable ? EncodeOrder(limit.order) : std::string();
  // All rows of the table come from this relation, in order: none can be newer than the truncate.
  if (group.table->definition.last_row && context.origin.ordered) {
    return writer_.Truncate(group.table->id, truncation);
  }
  if (comparable) {
    TIDEMARK_ASSIGN_OR_RETURN(GroupHeader * header, Header(group.table->id, group.index));
    header->truncation = truncation;
    TIDEMARK_RETURN_IF_ERROR(PutHeader(group.table->id, group.index, *header));
  }
  // The truncate itself must not lose against the truncation just noted.
  GroupContext unlimited = context;
  unlimited.truncation = {};
  return TakeOutAll(unlimited, limit);
}

absl::StatusOr<bool> Merger::TakeOutSome(const GroupContext& context, const TakeOutLimit& limit,
                                         size_t max_rows, std::string* place) {
  const BoundGroup& group = context.group;
  const size_t groups = group.table->definition.groups.size();
  std::vector<std::string> keys;
  size_t looked_at = 0;
  // Decoding decides again when a row is taken out; here only what certainly stays is left out.
  const auto note = [&](std::string_view key, bool candidate) {
    if (candidate) keys.emplace_back(key);
    place->assign(key);
    *place += '\0';  // the smallest key after it
    return ++looked_at < max_rows;
  };
  absl::Status damage;
  if (group.definition->is_aggregate()) {
    const std::string prefix = ContributionPrefix(group.table->id, group.index);
    // The header lies under the prefix itself.
    const std::string from = place->empty() ? prefix + '\0' : *place;
    TIDEMARK_RETURN_IF_ERROR(
        writer_.VisitAux(kSpace, prefix, from, /*reverse=*/false,
                         [&](std::string_view key, std::string_view) { return note(key, true); }));
    for (const std::string& key : keys) {
      TIDEMARK_RETURN_IF_ERROR(TakeOutContribution(context, key, limit));
    }
  } else {
    TIDEMARK_RETURN_IF_ERROR(writer_.VisitRows(
        group.table->id, *place, [&](std::string_view key, const state::Version& version) {
          const auto states = DecodeMeta(version.meta, groups);
          damage = states.status();
          if (!states.ok()) return false;
          const GroupState& state = (*states)[group.index];
          return note(key, state.presence == GroupState::Presence::kPresent &&
                               limit.Covers(*group.definition, {state.generation, state.sequence}));
        }));
    TIDEMARK_RETURN_IF_ERROR(damage);
    for (std::string& key : keys) {
      TIDEMARK_RETURN_IF_ERROR(TakeOutColumns(context, std::move(key), limit));
    }
  }
  return looked_at < max_rows;
}

absl::StatusOr<bool> Merger::Sweep(const RelationRef& relation, const EventOrigin& origin,
                                   size_t max_rows, std::string* cursor) {
  absl::StatusOr<bool> done = SweepSome(relation, origin, max_rows, cursor);
  if (!done.ok()) Forget();
  return done;
}

absl::StatusOr<bool> Merger::SweepSome(const RelationRef& relation, const EventOrigin& origin,
                                       size_t max_rows, std::string* cursor) {
  // Nothing is older than the first generation.
  if (origin.generation <= 1) return true;
  const auto& feeds = catalog_.FeedsOf(relation);
  uint64_t index = 0;
  std::string place;
  state::ByteReader reader(*cursor);
  if (!cursor->empty() && (!reader.ReadVarint(&index) || index > feeds.size())) {
    return MakeError(Reason::kDataDamaged, "The place of a sweep does not decode.");
  }
  place = std::string(reader.rest());
  if (index < feeds.size()) {
    const Catalog::Feed& feed = feeds[index];
    TIDEMARK_ASSIGN_OR_RETURN(const GroupHeader* header, Header(feed.table->id, feed.group));
    const BoundGroup group = UnboundGroup(feed, header->order_types);
    const GroupContext context{writer_, group,       origin,          absl::InfinitePast(),
                               {},      state_->row, state_->left_row};
    TakeOutLimit limit;
    limit.order.generation = origin.generation;
    TIDEMARK_ASSIGN_OR_RETURN(const bool end, TakeOutSome(context, limit, max_rows, &place));
    if (end) {
      ++index;
      place.clear();
    }
  }
  cursor->clear();
  state::AppendVarint(cursor, index);
  cursor->append(place);
  return index == feeds.size();
}

}  // namespace tidemark::tables
