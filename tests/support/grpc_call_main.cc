// Stands in for grpcurl where that cannot be had: `grpc_call -plaintext [-max-time S] [-d JSON]
// HOST:PORT METHOD`, with grpcurl's exit codes (64 + the status code).
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "tests/support/reflection_client.h"

int main(int argc, char** argv) {
  std::string data = "{}";
  double seconds = 60;
  std::vector<std::string> rest;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "-plaintext") continue;
    if ((flag == "-d" || flag == "-max-time") && i + 1 < argc) {
      const std::string value = argv[++i];
      if (flag == "-d") data = value;
      if (flag == "-max-time") seconds = std::strtod(value.c_str(), nullptr);
    } else {
      rest.push_back(flag);
    }
  }
  if (rest.size() != 2) {
    std::cerr << "usage: grpc_call -plaintext [-max-time S] [-d JSON] HOST:PORT METHOD\n";
    return 2;
  }
  tidemark::testing::ReflectionClient client(
      grpc::CreateChannel(rest[0], grpc::InsecureChannelCredentials()));
  const auto deadline = std::chrono::system_clock::now() +
                        std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  const grpc::Status status = client.Call(
      rest[1], data, deadline, [](const std::string& json) { std::cout << json << std::endl; });
  if (status.ok()) return 0;
  std::cerr << "ERROR:\n  Code: " << status.error_code()
            << "\n  Message: " << status.error_message() << "\n";
  return 64 + status.error_code();
}
