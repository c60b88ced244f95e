// What the system of record says of the relations we follow: columns, types, replica identity and
// publications, and whether all of it is as it must be.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_SOURCE_CATALOG_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_SOURCE_CATALOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/ingest/decode/pg_types.h"
#include "server/ingest/postgres/connection.h"

namespace tidemark::ingest {

struct SourceColumn {
  std::string name;
  int32_t number = 0;  // pg_attribute.attnum
  uint32_t type = 0;
  int32_t modifier = -1;
  std::string type_name;   // "numeric(12,2)"
  bool identity = false;   // in old images: part of the replica identity
  bool primary = false;    // part of the primary key
  bool generated = false;  // computed by the server, which does not replicate it
};

struct SourceRelation {
  std::string full_name;  // "public.orders": as tables name it
  std::string schema;
  std::string name;
  uint32_t oid = 0;
  bool partitioned = false;
  char identity = 'd';  // pg_class.relreplident
  uint64_t estimated_rows = 0;
  std::vector<SourceColumn> columns;  // those that are replicated, in order
  std::vector<std::string> generated_columns;
  std::string membership;  // see RelationRecord
  std::string row_filter;  // SQL condition; empty: every row is published
};

// Reads the relations named in `names`, in that order, and adds what types they use to `types`.
// Failures, each naming what is missing and what to do: a publication or relation that does not
// exist, a relation that is in no publication or only in one that leaves out kinds of changes, or
// that cannot be published at all.
absl::StatusOr<std::vector<SourceRelation>> ReadRelations(
    PgConnection& connection, const std::vector<std::string>& names,
    const std::vector<std::string>& publications, PgTypeMap* types);

// An SQL expression that is another text whenever something ReadRelations looks at has changed:
// cheap enough to be asked with every probe.
std::string FingerprintExpression(int server_version, const std::vector<std::string>& names,
                                  const std::vector<std::string>& publications);

// Adds the types with these oids, and those they are made of. Those that do not exist (any more)
// become text.
absl::Status ReadTypes(PgConnection& connection, const std::vector<uint32_t>& oids,
                       PgTypeMap* types);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_SOURCE_CATALOG_H_
