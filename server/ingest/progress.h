// How far a source is, and who waits for it: the part of a Source that is the same for every kind.
#ifndef TIDEMARK_SERVER_INGEST_PROGRESS_H_
#define TIDEMARK_SERVER_INGEST_PROGRESS_H_

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "server/ingest/source.h"

namespace tidemark::ingest {

// Thread-safe. The source's threads and the applier's `done` calls feed it; services wait on it.
//
// A probe asks the system of record for its newest position ("head"). Whatever was committed before
// the probe was sent lies before that head, so once everything before the head is applied, the
// state is fresh as of the time the probe was sent.
class Progress {
 public:
  explicit Progress(std::string source, const Clock& clock);
  ~Progress();

  // Everything before `position` is applied and published. Never moves back but by Reset.
  void AppliedUpTo(std::string_view position);
  // Forgets what was applied (a new history, after a gap); waits stay.
  void Reset();
  std::string applied_up_to() const;
  bool IsPast(std::string_view position) const;

  std::shared_ptr<void> WhenPast(std::string_view position, Source::Callback callback);

  // --- Probes. The source's probe thread calls WaitForProbe, asks, and answers.
  // Returns when a probe is due (every `period`, or sooner when somebody waits for one, but at most
  // one per `min_gap`); false after Stop.
  bool WaitForProbe(absl::Duration period, absl::Duration min_gap);
  void ProbeSent();
  void ProbeAnswered(std::string_view head);
  void ProbeFailed(const absl::Status& status);
  std::shared_ptr<void> WhenRecent(Source::Callback callback);
  absl::Time fresh_as_of() const;

  // Ends every wait with SHUTTING_DOWN, and those that come. Idempotent.
  void Stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_PROGRESS_H_
