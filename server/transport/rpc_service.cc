#include "server/transport/rpc_service.h"

#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/support/server_callback.h>

#include "common/check.h"
#include "server/transport/grpc_status.h"
#include "server/transport/stream_call.h"

namespace tidemark {
namespace {

using grpc::ByteBuffer;
using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

// Refuses a call of a method that does not exist yet, after the usual admission. On the wire every
// shape of method is a stream, so one class does for all.
class RefusalReactor final : public grpc::ServerBidiReactor<ByteBuffer, ByteBuffer> {
 public:
  RefusalReactor(CallGate& gate, const Method& method, grpc::CallbackServerContext* transport)
      : gate_(gate) {
    const absl::Status refusal = gate_.Enter(method, *transport, context_, passage_);
    TIDEMARK_CHECK(!refusal.ok());
    Finish(ToGrpcStatus(gate_.Conclude(refusal, context_, passage_)));
  }

 private:
  void OnDone() override {
    gate_.Leave(passage_);
    delete this;
  }

  CallGate& gate_;
  CallContext context_;
  Passage passage_;
};

const BoundMethod* FindBound(const ServiceBinder* binder, const Method& method) {
  if (binder == nullptr) return nullptr;
  for (const BoundMethod& bound : binder->methods()) {
    if (bound.method == &method) return &bound;
  }
  return nullptr;
}

}  // namespace

RpcService::RpcService(const CallEnvironment& environment, std::string_view service,
                       const ServiceBinder* binder) {
  for (const Method& method : AllMethods()) {
    if (method.service != service) continue;
    if (method.available) {
      const BoundMethod* bound = FindBound(binder, method);
      TIDEMARK_CHECK(bound != nullptr);
      AddBound(environment, *bound);
    } else {
      AddUnavailable(environment, method);
    }
    ++methods_added_;
  }
}

void RpcService::AddBound(const CallEnvironment& environment, const BoundMethod& bound) {
  if (bound.method->shape == MethodShape::kUnary) {
    AddMethod(new RpcServiceMethod(Path(*bound.method), RpcMethod::NORMAL_RPC, nullptr));
    MarkMethodRawCallback(
        methods_added_,
        new grpc::internal::CallbackUnaryHandler<ByteBuffer, ByteBuffer>(
            [&environment, &bound](grpc::CallbackServerContext* transport,
                                   const ByteBuffer* request, ByteBuffer* response) {
              return UnaryReactor::Start(environment, bound, transport, request, response);
            }));
  } else {
    TIDEMARK_CHECK(bound.method->shape == MethodShape::kServerStream);
    AddMethod(new RpcServiceMethod(Path(*bound.method), RpcMethod::SERVER_STREAMING, nullptr));
    MarkMethodRawCallback(
        methods_added_, new grpc::internal::CallbackServerStreamingHandler<ByteBuffer, ByteBuffer>(
                            [&environment, &bound](grpc::CallbackServerContext* transport,
                                                   const ByteBuffer* request) {
                              return StreamReactor::Start(environment, bound, transport, request);
                            }));
  }
}

void RpcService::AddUnavailable(const CallEnvironment& environment, const Method& method) {
  AddMethod(new RpcServiceMethod(Path(method), RpcMethod::BIDI_STREAMING, nullptr));
  MarkMethodRawCallback(methods_added_,
                        new grpc::internal::CallbackBidiHandler<ByteBuffer, ByteBuffer>(
                            [&environment, &method](grpc::CallbackServerContext* transport) {
                              return new RefusalReactor(environment.gate, method, transport);
                            }));
}

const char* RpcService::Path(const Method& method) {
  paths_.push_back("/" + method.FullName());
  return paths_.back().c_str();
}

}  // namespace tidemark
