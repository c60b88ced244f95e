// Which columns of a relation we take, how its rows are told apart, and whether it is still the
// relation that was copied: what changes at the source without an event must not go unnoticed.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_RELATION_LAYOUT_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_RELATION_LAYOUT_H_

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/ingest/decode/pg_types.h"
#include "server/ingest/decode/pgoutput.h"
#include "server/ingest/decode/row_decoder.h"
#include "server/ingest/postgres/durable_records.h"
#include "server/ingest/postgres/source_catalog.h"
#include "storage/tables/catalog.h"

namespace tidemark::ingest {

// Columns of the relation that some table needs.
std::set<std::string> NeededColumns(const tables::Catalog& catalog, std::string_view source,
                                    const std::string& relation);

// What a copy of `relation` reads: the layout to remember (needed columns and those that tell rows
// apart), and the decoder of its rows, one field per column of the layout. FAILED when a table
// cannot take the relation, with what to do.
struct CopyPlan {
  RelationRecord record;  // phase, generation and consistent point are the caller's
  std::shared_ptr<const RowDecoder> decoder;
};
absl::StatusOr<CopyPlan> PlanCopy(const tables::Catalog& catalog, std::string_view source,
                                  const SourceRelation& relation, const PgTypeMap& types);

// Whether the relation as the catalog has it now is the one that was copied, with columns that
// still mean the same. GAP with what changed; FAILED when a table cannot take it any more.
absl::Status CheckRelation(const tables::Catalog& catalog, std::string_view source,
                           const RelationRecord& record, const SourceRelation& now,
                           const PgTypeMap& types);

// The decoder of the changes that follow a relation message. GAP and FAILED as above.
absl::StatusOr<std::shared_ptr<const RowDecoder>> DecoderFor(const tables::Catalog& catalog,
                                                             std::string_view source,
                                                             const RelationRecord& record,
                                                             const pgoutput::Relation& message,
                                                             const PgTypeMap& types);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_RELATION_LAYOUT_H_
