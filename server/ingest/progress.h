// How far a source is, and who waits for it: the part of a Source that is the same for every kind.
#ifndef TIDEMARK_SERVER_INGEST_PROGRESS_H_
#define TIDEMARK_SERVER_INGEST_PROGRESS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "server/ingest/source.h"

namespace tidemark::ingest {

// Thread-safe. The source's threads and the applier's `done` calls feed it; services wait on it.
// Callbacks run on the thread that brought the news, outside every lock. A `done` may come after
// its source is gone: share the Progress with it (std::shared_ptr).
//
// A probe asks the system of record for its newest position ("head"). Whatever was committed before
// the probe was sent lies before that head, so once everything before the head is applied, the
// state is fresh as of the time the probe was sent. An idle source is fresh: its head stays where
// everything is applied.
class Progress {
 public:
  // `clock` outlives it.
  explicit Progress(std::string source, const Clock& clock);
  ~Progress();  // Stop()
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Everything before `position` is applied and published. Never moves back but by Reset.
  void AppliedUpTo(std::string_view position);
  // Forgets what was applied (a new history, after a gap). Waits stay: WhenRecent joins the next
  // probe again, since the head it had is of the old history; so is the answer of a probe in
  // flight, which is ignored.
  void Reset();
  std::string applied_up_to() const;
  bool IsPast(std::string_view position) const;

  // See Source. A position already past answers OK even after Stop.
  std::shared_ptr<void> WhenPast(std::string_view position, Source::Callback callback);

  // --- Probes. One thread of the source at a time calls WaitForProbe, then ProbeSent just before
  // it asks, then ProbeAnswered or ProbeFailed.
  // Returns when a probe is due (at once at first, then every `period`, or sooner when somebody
  // waits for one, but at most one per `min_gap`, counted from one sending to the next); false
  // after Stop.
  bool WaitForProbe(absl::Duration period, absl::Duration min_gap);
  void ProbeSent();
  void ProbeAnswered(std::string_view head);
  // Those who joined the probe get SOURCE_UNAVAILABLE. Nothing of `status` but its code is shown.
  void ProbeFailed(const absl::Status& status);
  // See Source. Joins the next probe to be sent; one already in flight was sent before the caller
  // came and says nothing about what was committed in between.
  std::shared_ptr<void> WhenRecent(Source::Callback callback);
  absl::Time fresh_as_of() const;

  // Ends every wait with SHUTTING_DOWN, and those that come. Idempotent.
  void Stop();

 private:
  class State;
  std::shared_ptr<State> state_;  // shared with the handles of waits
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_PROGRESS_H_
