// From what the server holds to the messages of the API.
#ifndef TIDEMARK_SERVER_SERVICES_CONVERT_H_
#define TIDEMARK_SERVER_SERVICES_CONVERT_H_

#include "absl/time/time.h"
#include "server/ingest/source.h"
#include "storage/state/state_reader.h"
#include "storage/tables/catalog.h"

namespace google::protobuf {
class Duration;
class Timestamp;
}  // namespace google::protobuf

namespace tidemark::v1 {
class LoadingProgress;
class Source;
class SourceStatus;
class Table;
}  // namespace tidemark::v1

namespace tidemark::services {

void ToTimestamp(absl::Time time, google::protobuf::Timestamp* out);
// Negative spans become zero, too long ones the longest Duration.
void ToDuration(absl::Duration span, google::protobuf::Duration* out);

// `now` gives the lag.
void ToSourceStatus(const ingest::SourceStatus& status, absl::Time now, v1::SourceStatus* out);
// The source with the tables it feeds.
void ToSource(const ingest::SourceStatus& status, const tables::Catalog& catalog, absl::Time now,
              v1::Source* out);

// What is asked about a table besides its definition.
struct TableView {
  bool loading = false;
  bool degraded = false;
  std::vector<ingest::SourceStatus> sources;  // of the table, by name
};
void ToTable(const tables::Table& table, const TableView& view, absl::Time now, v1::Table* out);

// How far the copies that fill the table have come, by what its sources say.
struct CopyProgress {
  uint64_t rows_copied = 0;
  uint64_t rows_estimated = 0;  // 0 = unknown
};
CopyProgress ProgressOf(const tables::Table& table,
                        const std::vector<ingest::SourceStatus>& sources);

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_CONVERT_H_
