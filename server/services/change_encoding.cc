#include "server/services/change_encoding.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "server/services/stamp.h"
#include "server/services/wire.h"
#include "storage/tables/row_codec.h"
#include "tidemark/v1/state_service.pb.h"

namespace tidemark::services {
namespace {

v1::Op ToOp(state::ChangeOp op) {
  switch (op) {
    case state::ChangeOp::kInsert:
      return v1::OP_INSERT;
    case state::ChangeOp::kUpdate:
      return v1::OP_UPDATE;
    case state::ChangeOp::kDelete:
      return v1::OP_DELETE;
    case state::ChangeOp::kTruncate:
      return v1::OP_TRUNCATE;
  }
  return v1::OP_UNSPECIFIED;
}

// Appends the row at `snapshot` as `field`; the changelog says that it is there.
absl::Status AppendRow(const state::StateReader& reader, const state::PublicationPtr& publication,
                       state::SnapshotId snapshot, state::TableId table, std::string_view key,
                       int field, std::string* out) {
  TIDEMARK_ASSIGN_OR_RETURN(const state::ReadPoint point, reader.PointAt(publication, snapshot));
  state::StoredRow row;
  TIDEMARK_RETURN_IF_ERROR(reader.Get(point, table, key, &row));
  if (!row.found()) {
    const std::string where = absl::StrCat("changelog of snapshot ", snapshot, ", table ", table);
    return MakeError(Reason::kDataDamaged,
                     absl::StrCat("A row that the changelog names is missing: ", where, "."),
                     {{"where", where}});
  }
  AppendBytes(field, row.bytes(), out);
  return absl::OkStatus();
}

}  // namespace

absl::Status AppendChange(const state::StateReader& reader,
                          const state::PublicationPtr& publication, const tables::Table& table,
                          const state::Change& change, std::string* out) {
  AppendBytes(v1::Change::kTableFieldNumber, table.definition.name, out);
  if (change.op != state::ChangeOp::kTruncate) {
    TIDEMARK_ASSIGN_OR_RETURN(const std::vector<tables::Datum> key,
                              tables::DecodeKeyColumns(table.definition, change.key));
    std::string value;
    for (const tables::Datum& datum : key) {
      value.clear();
      tables::AppendValue(datum, value);
      AppendBytes(v1::Change::kKeyFieldNumber, value, out);
    }
  }
  AppendNumber(v1::Change::kOpFieldNumber, ToOp(change.op), out);
  if (change.op != state::ChangeOp::kInsert && change.op != state::ChangeOp::kUpdate) {
    return absl::OkStatus();
  }
  return AppendRow(reader, publication, change.snapshot, table.id, change.key,
                   v1::Change::kAfterFieldNumber, out);
}

absl::Status AppendBefore(const state::StateReader& reader,
                          const state::PublicationPtr& publication, state::TableId table,
                          state::ChangeOp op, std::string_view key, state::SnapshotId snapshot,
                          std::string* out) {
  if (op != state::ChangeOp::kUpdate && op != state::ChangeOp::kDelete) return absl::OkStatus();
  return AppendRow(reader, publication, snapshot - 1, table, key, v1::Change::kBeforeFieldNumber,
                   out);
}

void AppendEnd(const MessageEnd& end, std::string* out) {
  AppendBytes(v1::WatchChangesResponse::kAtFieldNumber, end.stamp, out);
  AppendNumber(v1::WatchChangesResponse::kFragmentFieldNumber, end.fragment ? 1 : 0, out);
  AppendNumber(v1::WatchChangesResponse::kCheckpointFieldNumber, end.checkpoint ? 1 : 0, out);
}

absl::StatusOr<std::string> StampAt(const state::StateReader& reader,
                                    const state::PublicationPtr& publication, state::SnapshotId id,
                                    std::span<const tables::Table* const> tables) {
  if (id == publication->id()) {
    return publication->stamp(IsDegraded(publication->info(), tables));
  }
  TIDEMARK_ASSIGN_OR_RETURN(const state::ReadPoint point, reader.PointAt(publication, id));
  TIDEMARK_ASSIGN_OR_RETURN(const state::SnapshotInfo info, reader.Describe(point));
  return EncodeStamp(info, reader.TokenOf(id), IsDegraded(info, tables));
}

}  // namespace tidemark::services
