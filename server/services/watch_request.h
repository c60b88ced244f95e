// A WatchChangesRequest, checked.
#ifndef TIDEMARK_SERVER_SERVICES_WATCH_REQUEST_H_
#define TIDEMARK_SERVER_SERVICES_WATCH_REQUEST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/principal.h"
#include "storage/state/state_reader.h"
#include "storage/tables/catalog.h"

namespace tidemark::v1 {
class WatchChangesRequest;
}

namespace tidemark::services {

inline constexpr size_t kMaxWatchedTables = 32;

// What one watch is about.
struct WatchSpec {
  struct Filter {
    const tables::Table* table = nullptr;
    std::string prefix;  // of encoded keys; empty = every row
  };
  std::vector<Filter> filters;               // sorted by table id
  std::vector<const tables::Table*> tables;  // of the filters, in the same order
  bool include_before = false;

  // The filter that lets the change through; nullptr when none does. A truncate of a watched table
  // passes every prefix: it takes those rows with it.
  const Filter* Match(state::TableId table, state::ChangeOp op, std::string_view key) const;
};

// FIELD_INVALID (no table, too many, one twice, lookups), and the errors of FindTable and ParseKey.
absl::StatusOr<WatchSpec> ParseWatch(const v1::WatchChangesRequest& request,
                                     const tables::Catalog& catalog, const Principal& principal);

// The snapshot after which the watch begins. TOKEN_MALFORMED, STORE_MISMATCH, SNAPSHOT_IN_FUTURE;
// SNAPSHOT_EXPIRED when changes after it are not all kept, or a table is younger than it;
// TABLE_LOADING (not explained, `*loading` says which table).
absl::StatusOr<state::SnapshotId> FindStart(const v1::WatchChangesRequest& request,
                                            const WatchSpec& spec, const state::StateReader& reader,
                                            const tables::Table** loading);

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_WATCH_REQUEST_H_
