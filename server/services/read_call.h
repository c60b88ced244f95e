// The step "resolve the read point" of a handler.
#ifndef TIDEMARK_SERVER_SERVICES_READ_CALL_H_
#define TIDEMARK_SERVER_SERVICES_READ_CALL_H_

#include <memory>
#include <utility>

#include "server/call.h"
#include "server/read_point.h"

namespace tidemark::services {

// Calls `then(ReadView)` with the snapshot that `spec` asks for, now or once it is there; finishes
// the call with the requirement's error otherwise. `then` keeps a copy of `reply` itself.
template <typename Response, typename Then>
void ReadThen(ReadPointResolver& resolver, const ReadSpec& spec, const Reply<Response>& reply,
              Then then) {
  std::shared_ptr<ReadWait> wait = resolver.Resolve(
      spec, [reply, then = std::move(then)](absl::StatusOr<ReadView> view) mutable {
        if (!view.ok()) return reply.Finish(view.status());
        then(*std::move(view));
      });
  if (wait == nullptr) return;
  reply.WhenStopped([wait = std::move(wait)](StopReason reason) { wait->Stop(reason); });
}

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_READ_CALL_H_
