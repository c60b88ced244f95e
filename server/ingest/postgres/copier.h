// The copy of relations from an exported snapshot.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_COPIER_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_COPIER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/ingest/decode/pg_types.h"
#include "server/ingest/postgres/connection.h"
#include "server/ingest/postgres/durable_records.h"
#include "server/ingest/postgres/lsn.h"
#include "server/ingest/postgres/relation_layout.h"
#include "server/ingest/postgres/source_parts.h"

namespace tidemark::ingest {

// Whether every column of `plan` may be read, without reading a row: no privilege is missing, and
// row security hides nothing.
absl::Status CheckReadable(PgConnection& connection, const SourceRelation& relation,
                           const CopyPlan& plan);

// Not thread-safe: the thread that follows the source.
class Copier {
 public:
  // Rows are stamped with `generation`. `parts` outlives it.
  Copier(SourceParts& parts, uint64_t generation) : parts_(parts), generation_(generation) {}

  // Takes the snapshot `exported` on a connection of its own; the session that exported it is not
  // needed any more when this returns OK. The copy then is of everything committed before
  // `consistent_point`, and nothing else.
  absl::Status TakeSnapshot(const std::string& exported, Lsn consistent_point);

  // Reads every row of `relations` and sends them to the applier. The records of the copied
  // relations, as they were in the snapshot. An error leaves rows of this generation behind, which
  // a copy with a higher one takes out.
  absl::StatusOr<std::map<std::string, RelationRecord>> CopyRelations(
      const std::vector<std::string>& relations);

 private:
  absl::Status CopyRelation(const SourceRelation& relation, const CopyPlan& plan);
  // RETRYING when what was read is not what the snapshot holds.
  absl::Status CheckNotRewritten(const SourceRelation& relation);
  absl::Status SendRows(std::vector<tables::RowEvent> rows);
  absl::Status AwaitRoom();

  SourceParts& parts_;
  const uint64_t generation_;
  Lsn consistent_point_ = 0;
  std::unique_ptr<PgConnection> connection_;
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_COPIER_H_
