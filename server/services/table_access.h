// From the names and values of a request to tables, keys and columns, with the caller's rights
// checked on the way. `field` is always the path in the request, for errors.
#ifndef TIDEMARK_SERVER_SERVICES_TABLE_ACCESS_H_
#define TIDEMARK_SERVER_SERVICES_TABLE_ACCESS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/ingest/source.h"
#include "server/principal.h"
#include "storage/state/state_reader.h"
#include "storage/tables/catalog.h"

namespace google::protobuf {
template <typename T>
class RepeatedPtrField;
}

namespace tidemark::v1 {
class Value;
}

namespace tidemark::services {

using Values = google::protobuf::RepeatedPtrField<v1::Value>;
using Names = google::protobuf::RepeatedPtrField<std::string>;

// Whether the table lists the caller's tenant as a reader.
bool MayRead(const tables::Table& table, const Principal& principal);
// Every table the caller may read, by name.
std::vector<const tables::Table*> ReadableTables(const tables::Catalog& catalog,
                                                 const Principal& principal);

// FIELD_INVALID for an empty name, TABLE_NOT_FOUND with up to five names the caller may read,
// TABLE_FORBIDDEN.
absl::StatusOr<const tables::Table*> FindTable(const tables::Catalog& catalog,
                                               const Principal& principal, std::string_view name,
                                               std::string_view field);

// The encoded key, or with `prefix` the encoded beginning of one. KEY_MALFORMED naming the column,
// what it expects, and all key columns.
absl::StatusOr<std::string> ParseKey(const tables::Table& table, const Values& key, bool prefix,
                                     std::string_view field);

// Indexes of the columns, in definition order, no repeats; empty when all are wanted. FIELD_INVALID
// for an unknown one, with the known ones.
absl::StatusOr<std::vector<int>> ParseColumns(const tables::Table& table, const Names& columns,
                                              std::string_view field);

// The wire bytes of the row that an answer shows: `row` itself or, copied to `scratch`, its
// `columns`.
absl::StatusOr<std::string_view> ShownRow(std::string_view row, const std::vector<int>& columns,
                                          std::string* scratch);

// `status` as an error about this table: TABLE_LOADING gets the progress of its copies and a delay
// to retry after, SNAPSHOT_EXPIRED the token of the oldest snapshot. Others stay as they are.
absl::Status ExplainTableError(const absl::Status& status, const tables::Table& table,
                               const tables::Catalog& catalog, const ingest::SourceSet& sources,
                               const state::StateReader& reader);

// FIELD_INVALID: the server does not act on the field yet, so it must not be set.
absl::Status NotYetActedOn(std::string_view field);

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_TABLE_ACCESS_H_
