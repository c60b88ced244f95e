// Every method of the contract: who may call it, and whether it exists yet. The one place for both:
// what is not in the table cannot be called, and what is not available answers
// METHOD_NOT_AVAILABLE. A test walks the contract's descriptors and requires a row for every
// method; the set of unavailable ones may only shrink.
#ifndef TIDEMARK_SERVER_METHOD_TABLE_H_
#define TIDEMARK_SERVER_METHOD_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "server/principal.h"

namespace tidemark {

enum class MethodShape { kUnary, kServerStream, kBidiStream };

struct Method {
  std::string_view service;  // "StateService"
  std::string_view name;     // "GetRow"
  Roles roles;               // any of them will do
  MethodShape shape = MethodShape::kUnary;
  bool available = false;

  // "tidemark.v1.StateService/GetRow", as callers know it.
  std::string FullName() const;
};

// Grouped by service, in the order of the contract.
const std::vector<Method>& AllMethods();
// nullptr when the contract has no such method.
const Method* FindMethod(std::string_view service, std::string_view name);
// Every service once, in the order of the table.
std::vector<std::string_view> AllServices();
// Whether a method of the service is available.
bool ServiceAvailable(std::string_view service);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_METHOD_TABLE_H_
