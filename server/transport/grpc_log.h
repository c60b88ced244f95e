// gRPC's own log lines, as lines of ours.
#ifndef TIDEMARK_SERVER_TRANSPORT_GRPC_LOG_H_
#define TIDEMARK_SERVER_TRANSPORT_GRPC_LOG_H_

#include "server/telemetry/log.h"

namespace tidemark {

// From construction to destruction gRPC's errors go to `log`, afterwards nowhere; the rest of what
// it says, and what protobuf says of bytes it cannot read, is dropped. gRPC has one log per
// process: at most one of these at a time (checked).
class GrpcLogRedirect {
 public:
  explicit GrpcLogRedirect(Log& log);
  ~GrpcLogRedirect();
  GrpcLogRedirect(const GrpcLogRedirect&) = delete;
  GrpcLogRedirect& operator=(const GrpcLogRedirect&) = delete;
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TRANSPORT_GRPC_LOG_H_
