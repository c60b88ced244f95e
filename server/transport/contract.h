// The descriptors of the contract. Being asked for, they are linked in whole, so that reflection
// knows every message.
#ifndef TIDEMARK_SERVER_TRANSPORT_CONTRACT_H_
#define TIDEMARK_SERVER_TRANSPORT_CONTRACT_H_

#include <vector>

namespace google::protobuf {
class ServiceDescriptor;
}

namespace tidemark {

// Every service of package tidemark.v1.
std::vector<const google::protobuf::ServiceDescriptor*> ContractServices();

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TRANSPORT_CONTRACT_H_
