// Puts one service of the contract onto a gRPC server, from the method table and what a
// ServiceBinder collected: bound methods go to their handlers, methods that do not exist yet answer
// METHOD_NOT_AVAILABLE.
#ifndef TIDEMARK_SERVER_TRANSPORT_RPC_SERVICE_H_
#define TIDEMARK_SERVER_TRANSPORT_RPC_SERVICE_H_

#include <grpcpp/impl/service_type.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "server/service_binder.h"
#include "server/transport/unary_call.h"

namespace tidemark {

class RpcService final : public grpc::Service {
 public:
  // `binder` is null for a service of which nothing is available. Every available method must be
  // bound (checked). `environment` and `binder` outlive the service.
  RpcService(const CallEnvironment& environment, std::string_view service,
             const ServiceBinder* binder);

 private:
  void AddBound(const CallEnvironment& environment, const BoundMethod& bound);
  void AddUnavailable(const CallEnvironment& environment, const Method& method);
  // The path gRPC keeps a pointer to.
  const char* Path(const Method& method);

  std::deque<std::string> paths_;
  int methods_added_ = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TRANSPORT_RPC_SERVICE_H_
