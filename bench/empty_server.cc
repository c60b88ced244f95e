// The yardstick of P1: a gRPC C++ callback handler that does nothing but return as many bytes.
//
//   empty_server --bytes=260 --ready_file=P      writes {"port":N} to P and serves until killed
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "tidemark/v1/state_service.grpc.pb.h"

ABSL_FLAG(int, bytes, 256, "size of every response");
ABSL_FLAG(std::string, ready_file, "", "written once it serves");

namespace tidemark::bench {
namespace {

class EmptyService final
    : public v1::StateService::WithRawCallbackMethod_GetRow<v1::StateService::Service> {
 public:
  explicit EmptyService(size_t bytes) : answer_(std::string(bytes, 'x')) {}

  grpc::ServerUnaryReactor* GetRow(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* /*request*/,
                                   grpc::ByteBuffer* response) override {
    *response = grpc::ByteBuffer(&answer_, 1);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  grpc::Slice answer_;
};

int Main() {
  EmptyService service(static_cast<size_t>(absl::GetFlag(FLAGS_bytes)));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  const std::string path = absl::GetFlag(FLAGS_ready_file);
  std::ofstream(path + ".new") << "{\"port\":" << port << "}\n";
  if (std::rename((path + ".new").c_str(), path.c_str()) != 0) return 1;
  server->Wait();
  return 0;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return tidemark::bench::Main();
}
