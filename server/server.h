// The whole server: opens what it needs in order, serves, and takes it down in order. The only
// place that names concrete backends.
#ifndef TIDEMARK_SERVER_SERVER_H_
#define TIDEMARK_SERVER_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "server/config/config.h"
#include "server/telemetry/log.h"

namespace tidemark {

struct ServerOptions {
  Config config;
  std::string instance;    // empty = the one kept in the data directory
  std::string ready_file;  // empty = none
  bool channelz = false;
};

class Server {
 public:
  // Serves when this returns; the ready file is written. `log` and `clock` outlive the server. Any
  // error names what could not be had and why, in words for the operator; nothing is left running.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options, Log& log,
                                                       const Clock& clock);
  // Shuts down without waiting for calls.
  virtual ~Server() = default;

  virtual int port() const = 0;
  // 0 when there is no metrics page.
  virtual int metrics_port() const = 0;

  // Reads the token file again. An error: the old tokens stay in force.
  virtual absl::Status ReloadTokens() = 0;

  // The one way down: health NOT_SERVING and no new calls, waiting calls and streams are told,
  // working calls are finished within `deadline`; then the executor, the sources, the applier, the
  // workers, the store. True when no call had to be cancelled. Once only.
  virtual bool Shutdown(absl::Duration deadline) = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_SERVER_H_
