// Server reflection in its final version (grpc.reflection.v1); gRPC's own plugin only serves
// v1alpha.
#ifndef TIDEMARK_SERVER_TRANSPORT_REFLECTION_V1_H_
#define TIDEMARK_SERVER_TRANSPORT_REFLECTION_V1_H_

#include <memory>
#include <string>
#include <vector>

namespace grpc {
class Service;
}

namespace tidemark {

// `services`: full names, as listed to callers; itself is added.
std::unique_ptr<grpc::Service> MakeReflectionV1(std::vector<std::string> services);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TRANSPORT_REFLECTION_V1_H_
