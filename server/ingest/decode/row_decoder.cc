#include "server/ingest/decode/row_decoder.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/error.h"
#include "common/strings.h"

namespace tidemark::ingest {

using pgoutput::FieldKind;
using tables::Datum;
using tables::EventOp;
using tables::RowEvent;

RowDecoder::RowDecoder(std::shared_ptr<const tables::RelationSchema> schema,
                       std::vector<PgTypePtr> types, std::vector<bool> wanted)
    : schema_(std::move(schema)), types_(std::move(types)), wanted_(std::move(wanted)) {
  TIDEMARK_CHECK(types_.size() == schema_->columns.size());
  TIDEMARK_CHECK(wanted_.size() == schema_->columns.size());
}

absl::StatusOr<RowEvent> RowDecoder::Decode(const pgoutput::RowChange& change) const {
  RowEvent event;
  event.schema = schema_;
  switch (change.op) {
    case pgoutput::RowOp::kInsert:
      event.op = EventOp::kInsert;
      break;
    case pgoutput::RowOp::kUpdate:
      event.op = EventOp::kUpdate;
      break;
    case pgoutput::RowOp::kDelete:
      event.op = EventOp::kDelete;
      break;
  }
  if (change.old_image != pgoutput::OldImage::kNone) {
    TIDEMARK_RETURN_IF_ERROR(
        DecodeTuple(change.before, change.old_image == pgoutput::OldImage::kKey, &event.before));
  }
  if (change.op != pgoutput::RowOp::kDelete) {
    TIDEMARK_RETURN_IF_ERROR(DecodeTuple(change.after, false, &event.after));
    // What was not sent because it did not change is in the old image, when that has it: the whole
    // row, or a key long enough to be TOASTed.
    for (size_t i = 0; i < event.before.size(); ++i) {
      if (event.after[i].is_unchanged()) event.after[i] = event.before[i];
    }
  }
  return event;
}

absl::StatusOr<RowEvent> RowDecoder::DecodeCopied(
    const std::vector<pgoutput::Field>& fields) const {
  RowEvent event;
  event.schema = schema_;
  TIDEMARK_RETURN_IF_ERROR(DecodeTuple(fields, false, &event.after));
  return event;
}

absl::Status RowDecoder::DecodeTuple(const std::vector<pgoutput::Field>& fields, bool only_keys,
                                     std::vector<Datum>* row) const {
  if (fields.size() != types_.size()) {
    return MakeError(Reason::kEventMalformed,
                     absl::StrCat("A row of ", schema_->name, " has ", fields.size(),
                                  " columns, its relation ", types_.size(), "."),
                     {{"relation", schema_->name}});
  }
  row->resize(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    const pgoutput::Field& field = fields[i];
    Datum& datum = (*row)[i];
    // Columns outside of the replica identity come as null in a key-only image.
    if (!wanted_[i] || field.kind == FieldKind::kUnchanged ||
        (only_keys && !schema_->columns[i].key)) {
      datum = Datum::Unchanged();
    } else if (field.kind == FieldKind::kNull) {
      datum = Datum::Null();
    } else if (field.kind == FieldKind::kText) {
      auto value = ParsePgText(*types_[i], field.bytes);
      if (!value.ok()) return Malformed(i, ToStd(value.status().message()));
      datum = *std::move(value);
    } else {
      return Malformed(i, "it is in binary form, which was not asked for.");
    }
  }
  return absl::OkStatus();
}

absl::Status RowDecoder::Malformed(size_t column, std::string_view problem) const {
  const std::string& name = schema_->columns[column].name;
  return MakeError(
      Reason::kEventMalformed,
      absl::StrCat("Column ", name, " of ", schema_->name, ": ", std::string(problem)),
      {{"relation", schema_->name}, {"column", name}, {"problem", std::string(problem)}});
}

}  // namespace tidemark::ingest
