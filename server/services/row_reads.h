// Reading rows at a ReadView, straight from stored bytes to the wire bytes of answers: no row is
// ever parsed.
#ifndef TIDEMARK_SERVER_SERVICES_ROW_READS_H_
#define TIDEMARK_SERVER_SERVICES_ROW_READS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/call_context.h"
#include "server/ingest/source.h"
#include "server/read_point.h"
#include "server/services/table_access.h"
#include "storage/state/state_reader.h"
#include "storage/tables/catalog.h"

namespace tidemark::v1 {
class ScanRowsRequest;
}

namespace tidemark::services {

// One row that is asked for.
struct RowTarget {
  const tables::Table* table = nullptr;
  std::string key;
  std::vector<int> columns;  // empty = all
};

// The rows of one page.
struct ScanTarget {
  const tables::Table* table = nullptr;
  std::string prefix;        // of keys; empty = every row
  std::string after;         // the last key of the page before; empty = from the start
  std::vector<int> columns;  // empty = all
  size_t max_rows = 0;
};

struct ScanPage {
  std::string rows;      // wire bytes of ScanRowsResponse.rows
  std::string last_key;  // of the page, when more rows follow; else empty
  bool has_more = false;
};

// Thread-safe. The references outlive it.
class RowReads {
 public:
  RowReads(const state::StateReader& reader, const tables::Catalog& catalog,
           const ingest::SourceSet& sources)
      : reader_(reader), catalog_(catalog), sources_(sources) {}

  // `path` is put before the names of the fields in errors ("refs[3].").
  absl::StatusOr<RowTarget> Target(const Principal& principal, const std::string& table,
                                   const Values& key, const Names& columns,
                                   std::string_view path = "") const;

  // Of the first page: `after` is empty.
  absl::StatusOr<ScanTarget> ScanOf(const Principal& principal,
                                    const v1::ScanRowsRequest& request) const;

  absl::Status Get(const ReadView& view, const RowTarget& target, state::StoredRow* row) const;

  // Wire bytes of BatchGetRowsResponse.results, in order. RESPONSE_TOO_LARGE as soon as they are
  // more than limits::kMaxPageBytes; CANCELLED when nobody waits any more.
  absl::StatusOr<std::string> Batch(const ReadView& view, const std::vector<RowTarget>& targets,
                                    const CallContext& context) const;

  // A page ends at `max_rows` or at limits::kMaxPageBytes, whichever comes first, and has at least
  // one row when there is one. CANCELLED when nobody waits any more.
  absl::StatusOr<ScanPage> Scan(const ReadView& view, const ScanTarget& target,
                                const CallContext& context) const;

  // ExplainTableError with what this object knows.
  absl::Status Explain(const absl::Status& status, const tables::Table& table) const;

 private:
  const state::StateReader& reader_;
  const tables::Catalog& catalog_;
  const ingest::SourceSet& sources_;
};

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_ROW_READS_H_
