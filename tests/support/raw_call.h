// A unary call by path and wire bytes, for methods and messages no generated stub has.
#ifndef TIDEMARK_TESTS_SUPPORT_RAW_CALL_H_
#define TIDEMARK_TESTS_SUPPORT_RAW_CALL_H_

#include <grpcpp/client_context.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/byte_buffer.h>

#include <string>

namespace tidemark::testing {

// `path`: "/package.Service/Method". `response` may be null.
inline grpc::Status RawCall(grpc::ChannelInterface* channel, const std::string& path,
                            const std::string& request, std::string* response = nullptr) {
  grpc::ClientContext context;
  const grpc::Slice slice(request);
  const grpc::ByteBuffer wire(&slice, 1);
  grpc::ByteBuffer answer;
  const grpc::internal::RpcMethod rpc(path.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
  const grpc::Status status =
      grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer, grpc::ByteBuffer,
                                        grpc::ByteBuffer>(channel, rpc, &context, wire, &answer);
  grpc::Slice bytes;
  if (status.ok() && response != nullptr && answer.DumpToSingleSlice(&bytes).ok()) {
    response->assign(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
  }
  return status;
}

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_RAW_CALL_H_
