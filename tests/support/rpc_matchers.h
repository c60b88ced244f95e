// What a client sees of an error.
//
// Example:
//   EXPECT_THAT(stub->GetRow(&context, request, &response), RpcReason("TABLE_NOT_FOUND"));
#ifndef TIDEMARK_TESTS_SUPPORT_RPC_MATCHERS_H_
#define TIDEMARK_TESTS_SUPPORT_RPC_MATCHERS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace tidemark::testing {

// The detail of type Detail, default when there is none.
template <typename Detail>
Detail DetailOf(const grpc::Status& status) {
  google::rpc::Status details;
  Detail detail;
  if (!details.ParseFromString(status.error_details())) return detail;
  for (const auto& any : details.details()) {
    if (any.UnpackTo(&detail)) return detail;
  }
  return {};
}

template <typename Detail>
bool HasDetail(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return false;
  for (const auto& any : details.details()) {
    if (any.Is<Detail>()) return true;
  }
  return false;
}

// One value of ErrorInfo's metadata; empty when it is absent.
inline std::string RpcMetadata(const grpc::Status& status, const std::string& key) {
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  const auto entry = info.metadata().find(key);
  return entry == info.metadata().end() ? std::string() : entry->second;
}

MATCHER(RpcOk, negation ? "is an error" : "is OK") {
  *result_listener << "code " << arg.error_code() << ": " << arg.error_message();
  return arg.ok();
}

MATCHER_P(RpcCode, code, "has the code " + std::to_string(code)) {
  *result_listener << "code " << arg.error_code() << ": " << arg.error_message();
  return arg.error_code() == code;
}

// ErrorInfo with this reason and our domain; details and status agree about the code.
MATCHER_P(RpcReason, reason, "has the reason " + std::string(reason)) {
  const auto info = DetailOf<google::rpc::ErrorInfo>(arg);
  google::rpc::Status details;
  details.ParseFromString(arg.error_details());
  *result_listener << "code " << arg.error_code() << ", reason \"" << info.reason()
                   << "\": " << arg.error_message();
  return info.reason() == reason && info.domain() == "tidemark.v1" &&
         details.code() == arg.error_code();
}

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_RPC_MATCHERS_H_
