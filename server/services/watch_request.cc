#include "server/services/watch_request.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "server/read_errors.h"
#include "server/services/table_access.h"
#include "tidemark/v1/state_service.pb.h"

namespace tidemark::services {
namespace {

absl::StatusOr<state::SnapshotId> ParseAfter(const std::string& token,
                                             const state::StateReader& reader,
                                             const state::PublicationPtr& publication) {
  absl::StatusOr<state::SnapshotId> after = reader.ResolveToken(token);
  if (!after.ok()) return TokenError(after.status(), "after", token, reader);
  if (*after > publication->id()) return SnapshotInFuture(*after, publication->id());
  if (*after < publication->floor()) {
    // Whether a pin still holds the snapshot itself does not matter: its successors are gone.
    return SnapshotExpired(reader, publication->floor(),
                           absl::StrCat("Snapshot ", *after, " is no longer kept"), *after);
  }
  return after;
}

}  // namespace

const WatchSpec::Filter* WatchSpec::Match(state::TableId table, state::ChangeOp op,
                                          std::string_view key) const {
  for (const Filter& filter : filters) {
    if (filter.table->id != table) continue;
    const bool passes =
        op == state::ChangeOp::kTruncate || key.substr(0, filter.prefix.size()) == filter.prefix;
    return passes ? &filter : nullptr;
  }
  return nullptr;
}

absl::StatusOr<WatchSpec> ParseWatch(const v1::WatchChangesRequest& request,
                                     const tables::Catalog& catalog, const Principal& principal) {
  if (request.tables().empty() || request.tables_size() > static_cast<int>(kMaxWatchedTables)) {
    return FieldInvalid("tables", absl::StrCat("must be 1 to ", kMaxWatchedTables, ", not ",
                                               request.tables_size(), "."));
  }
  WatchSpec spec;
  spec.include_before = request.include_before();
  for (const v1::WatchedTable& watched : request.tables()) {
    const std::string path = absl::StrCat("tables[", spec.filters.size(), "].");
    if (!watched.lookups().empty()) return NotYetActedOn(absl::StrCat(path, "lookups"));
    WatchSpec::Filter filter;
    TIDEMARK_ASSIGN_OR_RETURN(
        filter.table, FindTable(catalog, principal, watched.table(), absl::StrCat(path, "table")));
    TIDEMARK_ASSIGN_OR_RETURN(filter.prefix,
                              ParseKey(*filter.table, watched.key_prefix(), /*prefix=*/true,
                                       absl::StrCat(path, "key_prefix")));
    for (const WatchSpec::Filter& other : spec.filters) {
      if (other.table == filter.table) {
        return FieldInvalid(absl::StrCat(path, "table"), "is watched twice; name it once.");
      }
    }
    spec.filters.push_back(std::move(filter));
  }
  std::sort(spec.filters.begin(), spec.filters.end(),
            [](const WatchSpec::Filter& a, const WatchSpec::Filter& b) {
              return a.table->id < b.table->id;
            });
  for (const WatchSpec::Filter& filter : spec.filters) spec.tables.push_back(filter.table);
  return spec;
}

absl::StatusOr<state::SnapshotId> FindStart(const v1::WatchChangesRequest& request,
                                            const WatchSpec& spec, const state::StateReader& reader,
                                            const tables::Table** loading) {
  const state::PublicationPtr publication = reader.Latest();
  state::SnapshotId start = publication->id();
  const bool earliest = request.start_case() == v1::WatchChangesRequest::kEarliest;
  if (earliest) start = publication->floor();
  if (request.start_case() == v1::WatchChangesRequest::kAfter) {
    TIDEMARK_ASSIGN_OR_RETURN(start, ParseAfter(request.after(), reader, publication));
  }
  for (const tables::Table* table : spec.tables) {
    const absl::StatusOr<state::ReadPoint> point = reader.PointAt(publication, start);
    if (!point.ok()) {
      return ExplainExpired(reader, point.status(),
                            absl::StrCat("Snapshot ", start, " is no longer kept"));
    }
    // No key is empty: this asks only whether the table can be read there.
    state::StoredRow none;
    const absl::Status readable = reader.Get(*point, table->id, "", &none);
    if (readable.ok()) continue;
    state::SnapshotId first = state::kNoSnapshot;
    if (earliest && ReasonOf(readable) == Reason::kSnapshotExpired &&
        absl::SimpleAtoi(MetadataValue(readable, "oldest"), &first) && first > start) {
      start = first;  // the table is younger than the oldest snapshot
      continue;
    }
    *loading = table;
    return readable;
  }
  return start;
}

}  // namespace tidemark::services
