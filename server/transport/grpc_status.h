// A public error in gRPC's own type.
#ifndef TIDEMARK_SERVER_TRANSPORT_GRPC_STATUS_H_
#define TIDEMARK_SERVER_TRANSPORT_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "server/transport/error_mapping.h"

namespace tidemark {

// The codes of the two libraries are the same numbers.
inline grpc::Status ToGrpcStatus(const PublicError& error) {
  if (error.code == absl::StatusCode::kOk) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(error.code), error.message, error.details};
}

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TRANSPORT_GRPC_STATUS_H_
