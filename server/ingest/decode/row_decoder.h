// Rows of one relation, as PostgreSQL sends them, to row events.
#ifndef TIDEMARK_SERVER_INGEST_DECODE_ROW_DECODER_H_
#define TIDEMARK_SERVER_INGEST_DECODE_ROW_DECODER_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/ingest/decode/pg_types.h"
#include "server/ingest/decode/pgoutput.h"
#include "storage/tables/row_event.h"

namespace tidemark::ingest {

// Immutable; thread-safe.
class RowDecoder {
 public:
  // `types` and `wanted`: one per column of the schema. Columns not wanted are not decoded; they
  // come as kUnchanged, and whatever they hold does no harm.
  RowDecoder(std::shared_ptr<const tables::RelationSchema> schema, std::vector<PgTypePtr> types,
             std::vector<bool> wanted);

  const std::shared_ptr<const tables::RelationSchema>& schema() const { return schema_; }

  // The event of a change: op, schema, before and after. EVENT_MALFORMED naming relation and
  // column.
  absl::StatusOr<tables::RowEvent> Decode(const pgoutput::RowChange& change) const;
  // The insert of a copied row. EVENT_MALFORMED likewise.
  absl::StatusOr<tables::RowEvent> DecodeCopied(const std::vector<pgoutput::Field>& fields) const;

 private:
  absl::Status DecodeTuple(const std::vector<pgoutput::Field>& fields, bool only_keys,
                           std::vector<tables::Datum>* row) const;
  absl::Status Malformed(size_t column, std::string_view problem) const;

  const std::shared_ptr<const tables::RelationSchema> schema_;
  const std::vector<PgTypePtr> types_;
  const std::vector<bool> wanted_;
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_DECODE_ROW_DECODER_H_
