// A Consistency, checked and in our own terms. Used by read_point only.
#ifndef TIDEMARK_SERVER_READ_REQUIREMENT_H_
#define TIDEMARK_SERVER_READ_REQUIREMENT_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/ingest/source.h"
#include "storage/state/state_reader.h"
#include "storage/tables/catalog.h"

namespace tidemark::v1 {
class Consistency;
}

namespace tidemark {

using TableSpan = std::span<const tables::Table* const>;

struct Requirement {
  enum class Kind {
    kLatest,
    kAtLeast,        // snapshot
    kExact,          // snapshot
    kAsOf,           // time
    kMaxStaleness,   // staleness, sources
    kSourceRecency,  // sources
    kAtPosition,     // sources (one), position
  };
  Kind kind = Kind::kLatest;
  state::SnapshotId snapshot = state::kNoSnapshot;
  absl::Time time;
  absl::Duration staleness;
  std::vector<std::string> sources;  // sorted, no repeats
  std::string position;              // the source's own bytes
};

// `now`: as_of must lie before it. `field` is the path of `consistency`. Errors: those of
// ReadPointResolver::Resolve that depend on the request alone.
absl::StatusOr<Requirement> ParseRequirement(const v1::Consistency* consistency, TableSpan tables,
                                             const tables::Catalog& catalog,
                                             const ingest::SourceSet& sources,
                                             const state::StateReader& reader, absl::Time now,
                                             std::string_view field);

// Every source of the tables, sorted.
std::vector<std::string> SourcesOf(const tables::Catalog& catalog, TableSpan tables);

// SOURCE_NOT_FOUND with up to five names there are.
absl::Status SourceNotFound(const ingest::SourceSet& sources, std::string_view name);

// How long ago each source was last known to be complete, the stalest first. A source that the
// server does not have, or that never was complete, has an infinite lag.
struct SourceLag {
  std::string source;
  absl::Duration lag;
};
std::vector<SourceLag> LagsOf(const ingest::SourceSet& sources,
                              const std::vector<std::string>& names, absl::Time now);

// "1.5s"; "unknown" for an infinite span.
std::string SpanText(absl::Duration span);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_READ_REQUIREMENT_H_
