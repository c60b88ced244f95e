#include "server/service_binder.h"

#include "common/check.h"

namespace tidemark {

void ServiceBinder::Add(std::string_view method, MethodShape shape, BoundMethod bound) {
  bound.method = FindMethod(service_, method);
  TIDEMARK_CHECK(bound.method != nullptr);
  TIDEMARK_CHECK(bound.method->available);
  TIDEMARK_CHECK(bound.method->shape == shape);
  for (const BoundMethod& other : methods_) TIDEMARK_CHECK(other.method != bound.method);
  methods_.push_back(std::move(bound));
}

}  // namespace tidemark
