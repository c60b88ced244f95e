// The works of one source on their way to the applier: bounded, counted, and the first that was not
// applied remembered.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_OUTBOX_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_OUTBOX_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/ingest/applier.h"
#include "server/ingest/postgres/wake_fd.h"

namespace tidemark::ingest {

// Below the applier's own bounds for a source, so that Send never waits in the applier: the thread
// that sends also answers the source's server, which gives up on a follower that falls silent.
struct OutboxOptions {
  size_t max_bytes = 32 << 20;
  size_t max_works = 5000;
};

// Send, Restart: one thread. The rest: thread-safe.
class Outbox {
 public:
  // `applier` outlives it. `wake` is set whenever room appears, nothing is pending any more, or a
  // work failed.
  Outbox(std::string source, Applier& applier, std::shared_ptr<WakeFd> wake,
         OutboxOptions options = {});

  bool HasRoom() const;
  // Works sent and not yet settled.
  size_t pending() const;
  // Why the first of them that was not applied was not; nothing behind it is applied either.
  absl::Status failure() const;

  // Queues `work`. `applied` is called on the applier's thread once it is durable and published;
  // it must not rely on the source, which may be gone by then. An error, here or in failure():
  // start again from what is durable.
  absl::Status Send(Work work, std::function<void()> applied = nullptr);

  // Forgets a failure. Only when nothing is pending.
  void Restart();

 private:
  struct State;

  const std::string source_;
  Applier& applier_;
  const OutboxOptions options_;
  const std::shared_ptr<State> state_;  // shared with works that outlive the source
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_OUTBOX_H_
