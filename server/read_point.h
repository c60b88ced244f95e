// Turns the freshness a caller asks for (Consistency) into the one snapshot its call reads.
// Resolved once per call: handlers see a ReadView and cannot read without one, and stamps are made
// from it, so an answer never says a snapshot other than the one it was read at (S1, S2).
//
// What is promised is looked at first and the publication is taken afterwards, so the promise holds
// for what is then read: state is applied and published before a source calls itself fresh.
//
// Example:
//   auto wait = resolver.Resolve(
//       {.consistency = &request.consistency(), .tables = tables},
//       [reply](absl::StatusOr<ReadView> view) { ... read through view->point, finish ... });
//   if (wait != nullptr) reply.WhenStopped([wait](StopReason reason) { wait->Stop(reason); });
#ifndef TIDEMARK_SERVER_READ_POINT_H_
#define TIDEMARK_SERVER_READ_POINT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "server/call.h"
#include "server/ingest/source.h"
#include "storage/state/state_reader.h"
#include "storage/tables/catalog.h"

namespace tidemark::v1 {
class Consistency;
}

namespace tidemark {

// What a call reads, and how fresh it must be. The tables live as long as the catalog; the rest is
// only used while Resolve runs.
struct ReadSpec {
  const v1::Consistency* consistency = nullptr;  // null or unset = latest
  std::span<const tables::Table* const> tables;  // the sources of these count
  bool with_sources = false;                     // fill ReadView::sources
  std::string_view field = "consistency";        // path of `consistency` in the request, for errors
};

// The snapshot to read.
struct ReadView {
  state::ReadPoint point;
  // With ReadSpec::with_sources: the sources of the tables, by name, as they were before the
  // publication was taken; what they say of freshness therefore holds for it.
  std::vector<ingest::SourceStatus> sources;

  bool newest() const { return point.id == point.publication->id(); }
};

// A call that waits for its snapshot. Thread-safe.
class ReadWait {
 public:
  virtual ~ReadWait() = default;
  // Ends the wait now, unless it ended before: kDeadline with the requirement's own error
  // (NOT_YET_APPLIED, SOURCE_BEHIND), kDraining with SHUTTING_DOWN, kCancelled with CANCELLED.
  virtual void Stop(StopReason reason) = 0;
};

struct ReadPointOptions {
  size_t max_waits = 10000;  // calls that wait at the same time; more are OVERLOADED
};

// Thread-safe. Outlives the calls it serves.
class ReadPointResolver {
 public:
  // Called exactly once per Resolve, without a lock held: on the caller's thread when nothing has
  // to be waited for, else on the resolver's own thread or on the thread that calls
  // ReadWait::Stop. Point reads may follow in it; longer work belongs to an executor.
  using Done = std::function<void(absl::StatusOr<ReadView>)>;

  virtual ~ReadPointResolver() = default;

  // Returns the wait, or null when `done` was called already. Errors by requirement:
  //   any             FIELD_INVALID with the field's path
  //   at_least, exact TOKEN_MALFORMED, STORE_MISMATCH
  //   at_least        NOT_YET_APPLIED at the deadline
  //   exact           SNAPSHOT_EXPIRED, SNAPSHOT_IN_FUTURE
  //   tag             FIELD_INVALID: not yet available
  //   as_of           FIELD_INVALID for a time that is not past; SNAPSHOT_EXPIRED
  //   max_staleness   STATE_TOO_STALE; never waits
  //   source_recency  SOURCE_NOT_FOUND, SOURCE_UNAVAILABLE; SOURCE_BEHIND at the deadline
  //   at_position     SOURCE_NOT_FOUND, SNAPSHOT_EXPIRED; NOT_YET_APPLIED at the deadline
  // Waits: OVERLOADED when too many do, SHUTTING_DOWN after Stop.
  virtual std::shared_ptr<ReadWait> Resolve(const ReadSpec& spec, Done done) = 0;

  // Ends every wait with SHUTTING_DOWN; calls that need no wait are still served. Idempotent.
  virtual void Stop() = 0;

  // Calls that wait now. For metrics.
  virtual size_t waits() const = 0;
};

// `reader`, `catalog`, `sources` and `clock` outlive the resolver.
std::unique_ptr<ReadPointResolver> MakeReadPointResolver(state::StateReader& reader,
                                                         const tables::Catalog& catalog,
                                                         const ingest::SourceSet& sources,
                                                         const Clock& clock,
                                                         ReadPointOptions options = {});

// Where the sources of `tables` stand now, by name.
std::vector<ingest::SourceStatus> StatusOfSources(const tables::Catalog& catalog,
                                                  const ingest::SourceSet& sources,
                                                  std::span<const tables::Table* const> tables);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_READ_POINT_H_
