// A client that knows no contract: it asks the server for it (reflection v1), takes requests as
// JSON and gives answers as JSON. What grpcurl does, for machines where grpcurl cannot be had, and
// to see that reflection is enough.
//
// Example:
//   ReflectionClient client(channel);
//   grpc::Status status = client.Call("tidemark.v1.StateService/ListTables", "{}", deadline,
//                                     [](const std::string& json) { std::cout << json; });
#ifndef TIDEMARK_TESTS_SUPPORT_REFLECTION_CLIENT_H_
#define TIDEMARK_TESTS_SUPPORT_REFLECTION_CLIENT_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace tidemark::testing {

// Not thread-safe.
class ReflectionClient {
 public:
  explicit ReflectionClient(std::shared_ptr<grpc::Channel> channel);

  // A unary or server-streaming method, "package.Service/Method". `on_answer` gets every answer,
  // fields without a value left out. NOT_FOUND when the server does not describe the method,
  // INVALID_ARGUMENT when `request_json` does not fit its request; else the call's own status.
  grpc::Status Call(const std::string& method, const std::string& request_json,
                    std::chrono::system_clock::time_point deadline,
                    const std::function<void(const std::string& json)>& on_answer);

 private:
  // Fetches the files that describe `symbol`, with all they import.
  grpc::Status Learn(const std::string& symbol, std::chrono::system_clock::time_point deadline);
  grpc::Status Send(const std::string& path, const google::protobuf::Message& request,
                    const google::protobuf::Descriptor& answer_type,
                    std::chrono::system_clock::time_point deadline,
                    const std::function<void(const std::string& json)>& on_answer);

  const std::shared_ptr<grpc::Channel> channel_;
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
};

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_REFLECTION_CLIENT_H_
