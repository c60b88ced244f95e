#include "server/transport/contract.h"

#include <google/protobuf/descriptor.h>

#include "gtest/gtest.h"
#include "server/method_table.h"

namespace tidemark {
namespace {

MethodShape ShapeOf(const google::protobuf::MethodDescriptor& method) {
  if (method.client_streaming()) return MethodShape::kBidiStream;
  return method.server_streaming() ? MethodShape::kServerStream : MethodShape::kUnary;
}

TEST(ContractTest, EveryMethodOfTheContractHasItsRowInTheTable) {
  size_t methods = 0;
  for (const auto* service : ContractServices()) {
    for (int i = 0; i < service->method_count(); ++i) {
      const auto& described = *service->method(i);
      const Method* method = FindMethod(service->name(), described.name());
      ASSERT_NE(method, nullptr) << described.full_name() << " is not in the method table";
      EXPECT_EQ(method->shape, ShapeOf(described)) << described.full_name();
      ++methods;
    }
  }
  EXPECT_EQ(methods, AllMethods().size()) << "the table has methods that the contract has not";
}

}  // namespace
}  // namespace tidemark
