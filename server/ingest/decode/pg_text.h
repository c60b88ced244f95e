// Inside of decode/: what scalars and arrays share. Callers use ParsePgText of pg_types.h.
#ifndef TIDEMARK_SERVER_INGEST_DECODE_PG_TEXT_H_
#define TIDEMARK_SERVER_INGEST_DECODE_PG_TEXT_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/ingest/decode/pg_types.h"

namespace tidemark::ingest {

// ParsePgText inside `depth` lists.
absl::StatusOr<tables::Datum> ParsePgTextAt(const PgType& type, std::string_view text,
                                            size_t depth);

// The list of an array's text form: `{1,NULL,"a \"b\""}`, nested by dimension. Lower bounds other
// than 1 (`[0:1]={...}`) are not part of a list and dropped.
absl::StatusOr<tables::Datum> ParsePgArray(const PgType& type, std::string_view text, size_t depth);

// EVENT_MALFORMED: `text` is not of `type`.
absl::Status NotOfType(const PgType& type, std::string_view text);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_DECODE_PG_TEXT_H_
