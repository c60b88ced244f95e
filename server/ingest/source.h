// A source: a change stream followed by a thread of its own, and what others may ask it.
#ifndef TIDEMARK_SERVER_INGEST_SOURCE_H_
#define TIDEMARK_SERVER_INGEST_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::ingest {

// Named as in the API's SourceState.
enum class SourceState {
  kStarting,
  kCopying,
  kStreaming,
  kPaused,
  kRetrying,
  kGap,
  kFenced,
  kFailed
};
std::string_view SourceStateName(SourceState state);  // "STREAMING"

// Whether the source delivers transaction boundaries (promise S3) or single events.
enum class Atomicity { kTransaction, kEvent };

struct RelationProgress {
  std::string relation;
  bool copied = false;
  uint64_t rows_copied = 0;
  uint64_t rows_estimated = 0;  // 0 = unknown
};

struct SourceStatus {
  std::string name;
  std::string kind;  // "postgres"
  SourceState state = SourceState::kStarting;
  Atomicity atomicity = Atomicity::kTransaction;
  std::string position;  // text form of what is applied and durable; empty = nothing yet
  absl::Time last_event_time = absl::InfinitePast();
  absl::Time last_applied_time = absl::InfinitePast();
  absl::Time fresh_as_of = absl::InfinitePast();
  // What went wrong or is going on, in plain words with what to do; empty when all is well.
  std::string detail;
  bool degraded = false;
  std::vector<RelationProgress> relations;
  uint64_t events = 0;          // applied since start
  uint64_t transactions = 0;    // applied since start
  uint64_t retained_bytes = 0;  // what the source's server keeps for us (slot lag); 0 = unknown
};

// Thread-safe. The destructor stops and joins.
class Source {
 public:
  virtual ~Source() = default;

  virtual const std::string& name() const = 0;
  virtual void Start() = 0;
  virtual void Stop() = 0;            // idempotent; pending waits get SHUTTING_DOWN
  virtual absl::Status Pause() = 0;   // by nature idempotent; the position stays
  virtual absl::Status Resume() = 0;  // also ends FAILED and GAP with on_gap: stop, by trying again
  virtual SourceStatus Status() const = 0;

  // Text of a position as users see it ("0/16B3748") to bytes that compare like memcmp, and back.
  // FIELD_INVALID for other text.
  virtual absl::StatusOr<std::string> ParsePosition(std::string_view text) const = 0;
  virtual std::string FormatPosition(std::string_view position) const = 0;

  // Called once: with OK when everything before `position` is applied and published (at once when
  // it is already), SHUTTING_DOWN when the source stops. Destroying the handle cancels (and waits
  // for a call in progress).
  using Callback = std::function<void(const absl::Status&)>;
  virtual std::shared_ptr<void> WhenPast(std::string_view position, Callback callback) = 0;
  // Called once with OK when everything the system of record had committed when this was called is
  // applied and published. Joins the next probe: at most one per 100 ms whatever the number of
  // callers. Errors: SOURCE_UNAVAILABLE when the system of record cannot be asked.
  virtual std::shared_ptr<void> WhenRecent(Callback callback) = 0;
  // The newest local time at which everything committed at the system of record was known to be
  // applied and published here. InfinitePast = never yet.
  virtual absl::Time FreshAsOf() const = 0;
};

// The sources of a server, by name; no two of one name (checked). Immutable after construction.
class SourceSet {
 public:
  explicit SourceSet(std::vector<std::unique_ptr<Source>> sources);
  Source* Find(std::string_view name) const;  // nullptr when there is none
  const std::vector<std::unique_ptr<Source>>& all() const { return sources_; }
  void StartAll();
  void StopAll();

 private:
  std::vector<std::unique_ptr<Source>> sources_;  // sorted by name
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_SOURCE_H_
