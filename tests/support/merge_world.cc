#include "tests/support/merge_world.h"

#include <utility>

#include "common/check.h"
#include "common/error.h"
#include "storage/state/coding.h"
#include "storage/tables/row_codec.h"
#include "storage/tables/value_text.h"

namespace tidemark::tables {
namespace {

RowEvent Event(EventOp op, const SchemaPtr& schema, uint64_t sequence, std::vector<Datum> before,
               std::vector<Datum> after) {
  RowEvent event;
  event.op = op;
  event.schema = schema;
  event.sequence = Sequence(sequence);
  event.before = std::move(before);
  event.after = std::move(after);
  return event;
}

template <typename T>
T Must(absl::StatusOr<T> result) {
  if (!result.ok()) {
    CheckFailed(__FILE__, __LINE__, result.status().ToString().c_str());
  }
  return *std::move(result);
}
void Must(const absl::Status& status) {
  if (!status.ok()) CheckFailed(__FILE__, __LINE__, status.ToString().c_str());
}

std::string RowText(const TableDefinition& table, std::string_view bytes) {
  const auto row = Must(DecodeRow(table, bytes));
  std::string text;
  for (size_t i = 0; i < row.size(); ++i) {
    text += (i == 0 ? "" : " ") + table.columns[i].name + "=" + DatumText(row[i]);
  }
  return text;
}

const char* OpName(state::ChangeOp op) {
  switch (op) {
    case state::ChangeOp::kInsert:
      return "INSERT";
    case state::ChangeOp::kUpdate:
      return "UPDATE";
    case state::ChangeOp::kDelete:
      return "DELETE";
    case state::ChangeOp::kTruncate:
      return "TRUNCATE";
  }
  return "";
}

}  // namespace

SchemaPtr Relation(std::string source, std::string name, std::vector<TestColumn> columns,
                   bool full_old_images) {
  auto schema = std::make_shared<RelationSchema>();
  schema->source = std::move(source);
  schema->name = std::move(name);
  schema->full_old_images = full_old_images;
  for (TestColumn& column : columns) {
    schema->columns.push_back({std::move(column.name), column.type, column.key, ""});
  }
  return schema;
}

std::string Sequence(uint64_t number) {
  std::string bytes;
  state::AppendBigEndian64(&bytes, number);
  return bytes;
}

RowEvent Insert(const SchemaPtr& schema, uint64_t sequence, std::vector<Datum> after) {
  return Event(EventOp::kInsert, schema, sequence, {}, std::move(after));
}
RowEvent Update(const SchemaPtr& schema, uint64_t sequence, std::vector<Datum> before,
                std::vector<Datum> after) {
  return Event(EventOp::kUpdate, schema, sequence, std::move(before), std::move(after));
}
RowEvent Delete(const SchemaPtr& schema, uint64_t sequence, std::vector<Datum> before) {
  return Event(EventOp::kDelete, schema, sequence, std::move(before), {});
}
RowEvent Truncate(const SchemaPtr& schema, uint64_t sequence) {
  return Event(EventOp::kTruncate, schema, sequence, {}, {});
}

std::string DatumText(const Datum& datum) {
  std::string text;
  switch (datum.kind()) {
    case Kind::kUnchanged:
      return "unchanged";
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return datum.number() != 0 ? "true" : "false";
    case Kind::kInt:
    case Kind::kTimestamp:
      return std::to_string(datum.number());
    case Kind::kDouble:
      return std::to_string(datum.real());
    case Kind::kDate:
      AppendDate(static_cast<int32_t>(datum.number()), text);
      return text;
    case Kind::kTime:
      AppendTime(datum.number(), text);
      return text;
    case Kind::kList:
      for (const Datum& item : datum.items()) text += (text.empty() ? "" : ", ") + DatumText(item);
      return "[" + text + "]";
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kDecimal:
    case Kind::kJson:
      return datum.text();
  }
  return text;
}

std::string RowTexts(const TableDefinition& table, const std::map<std::string, std::string>& rows) {
  std::string text;
  for (const auto& [key, bytes] : rows) text += RowText(table, bytes) + "\n";
  return text;
}

MergeWorld::MergeWorld(state::StateStore& store, std::string_view yaml, bool loading)
    : store_(store),
      catalog_(Must(Catalog::Open(Must(ParseTableDefinitions(yaml, {"erp", "crm", "shop"})),
                                  store.writer()))) {
  Restart();
  if (!loading) FinishLoading();
}

void MergeWorld::Restart() { merger_ = std::make_unique<Merger>(*catalog_, writer()); }

void MergeWorld::FinishLoading() {
  Must(writer().BeginSnapshot());
  for (const auto& table : catalog_->tables()) Must(writer().FinishLoading(table->id));
  Must(writer().EndSnapshot({}).status());
  Must(writer().Commit({}));
}

EventOrigin MergeWorld::Origin() {
  EventOrigin origin;
  origin.source = "erp";
  origin.position = "p";
  return origin;
}

absl::StatusOr<std::optional<state::SnapshotId>> MergeWorld::Apply(
    const std::vector<RowEvent>& events, const EventOrigin& origin) {
  Must(writer().BeginSnapshot());
  for (const RowEvent& event : events) {
    const absl::Status status = merger_->Apply(event, origin);
    if (!status.ok()) {
      Must(writer().AbandonSnapshot());
      return status;
    }
  }
  const auto id = Must(writer().EndSnapshot({origin.source, origin.position, {}}));
  Must(writer().Commit({}));
  return id;
}

absl::StatusOr<std::optional<state::SnapshotId>> MergeWorld::Sweep(const RelationRef& relation,
                                                                   uint64_t generation,
                                                                   size_t max_rows) {
  EventOrigin origin = Origin();
  origin.generation = generation;
  std::string cursor;
  std::optional<state::SnapshotId> last;
  for (bool done = false; !done;) {
    Must(writer().BeginSnapshot());
    TIDEMARK_ASSIGN_OR_RETURN(done, merger_->Sweep(relation, origin, max_rows, &cursor));
    const auto id = Must(writer().EndSnapshot({origin.source, origin.position, {}}));
    if (id) last = id;
    Must(writer().Commit({}));
    Restart();
  }
  return last;
}

std::map<std::string, std::string> MergeWorld::Bytes(std::string_view table, state::SnapshotId id) {
  state::StateReader& reader = store_.reader();
  const Table* found = catalog_->Find(table);
  TIDEMARK_CHECK(found != nullptr);
  state::ReadPoint point = LatestPoint(reader.Latest());
  if (id != state::kNoSnapshot) point = Must(reader.PointAt(reader.Latest(), id));
  std::map<std::string, std::string> rows;
  for (auto cursor = Must(reader.Scan(point, found->id, {}));; cursor->Next()) {
    Must(cursor->status());
    if (!cursor->Valid()) return rows;
    rows[std::string(cursor->key())] = std::string(cursor->row().bytes());
  }
}

std::string MergeWorld::Rows(std::string_view table, state::SnapshotId id) {
  return RowTexts(catalog_->Find(table)->definition, Bytes(table, id));
}

std::string MergeWorld::Changes(state::SnapshotId after) {
  state::StateReader& reader = store_.reader();
  const state::PublicationPtr now = reader.Latest();
  std::string text;
  for (auto cursor = Must(reader.Changes(now, after));; cursor->Next()) {
    Must(cursor->status());
    if (!cursor->Valid()) return text;
    const state::Change& change = cursor->change();
    text += OpName(change.op);
    if (change.op != state::ChangeOp::kTruncate) {
      const bool old = change.op == state::ChangeOp::kDelete;
      const auto point = Must(reader.PointAt(now, old ? change.prev : change.snapshot));
      state::StoredRow row;
      Must(reader.Get(point, change.table, change.key, &row));
      text += " " + RowText(catalog_->Find(change.table)->definition, row.bytes());
    }
    text += "\n";
  }
}

std::optional<state::Version> MergeWorld::Stored(std::string_view table,
                                                 const std::vector<Datum>& key) {
  const Table* found = catalog_->Find(table);
  Must(writer().BeginSnapshot());
  auto version = Must(writer().Current(found->id, Must(EncodeKey(found->definition, key))));
  Must(writer().AbandonSnapshot());
  return version;
}

size_t MergeWorld::Count(state::AuxSpace space) {
  size_t count = 0;
  Must(writer().VisitAux(space, "", "", false, [&](std::string_view, std::string_view) {
    ++count;
    return true;
  }));
  return count;
}

}  // namespace tidemark::tables
