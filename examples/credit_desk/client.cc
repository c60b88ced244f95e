#include "examples/credit_desk/client.h"

#include <grpcpp/grpcpp.h>

#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tidemark/v1/value.pb.h"

namespace tidemark::examples {

std::shared_ptr<grpc::Channel> Connect(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

void Prepare(grpc::ClientContext& context, std::chrono::milliseconds timeout) {
  context.set_deadline(std::chrono::system_clock::now() + timeout);
  context.set_wait_for_ready(true);
  if (const char* token = std::getenv("TIDEMARK_TOKEN")) {
    context.AddMetadata("authorization", absl::StrCat("Bearer ", token));
  }
}

std::string ReasonOf(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return "";
  for (const auto& detail : details.details()) {
    google::rpc::ErrorInfo info;
    if (detail.UnpackTo(&info)) return info.reason();
  }
  return "";
}

std::string Describe(const grpc::Status& status) {
  static const char* const kCodes[] = {"OK",
                                       "CANCELLED",
                                       "UNKNOWN",
                                       "INVALID_ARGUMENT",
                                       "DEADLINE_EXCEEDED",
                                       "NOT_FOUND",
                                       "ALREADY_EXISTS",
                                       "PERMISSION_DENIED",
                                       "RESOURCE_EXHAUSTED",
                                       "FAILED_PRECONDITION",
                                       "ABORTED",
                                       "OUT_OF_RANGE",
                                       "UNIMPLEMENTED",
                                       "INTERNAL",
                                       "UNAVAILABLE",
                                       "DATA_LOSS",
                                       "UNAUTHENTICATED"};
  const int code = status.error_code();
  const char* name = code >= 0 && code <= 16 ? kCodes[code] : "UNKNOWN";
  return absl::StrCat(name, " ", ReasonOf(status), ": ", status.error_message());
}

std::string ToText(const v1::Value& value) {
  switch (value.kind_case()) {
    case v1::Value::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case v1::Value::kIntValue:
      return absl::StrCat(value.int_value());
    case v1::Value::kDoubleValue:
      return absl::StrCat(value.double_value());
    case v1::Value::kStringValue:
      return value.string_value();
    case v1::Value::kBytesValue:
      return value.bytes_value();
    case v1::Value::kDecimalValue:
      return value.decimal_value();
    case v1::Value::kTimestampValue:
      return absl::StrCat(value.timestamp_value().seconds() * 1000000 +
                          value.timestamp_value().nanos() / 1000);
    case v1::Value::kDateValue:
      return value.date_value();
    case v1::Value::kTimeValue:
      return value.time_value();
    case v1::Value::kJsonValue:
      return value.json_value();
    case v1::Value::kListValue:
      return value.list_value().ShortDebugString();
    case v1::Value::kNullValue:
    case v1::Value::KIND_NOT_SET:
      return "";
  }
  return "";
}

std::string Column(const v1::Row& row, const std::string& name) {
  const auto found = row.columns().find(name);
  return found == row.columns().end() ? "" : ToText(found->second);
}

int64_t Number(const v1::Row& row, const std::string& name) {
  int64_t number = 0;
  return absl::SimpleAtoi(Column(row, name), &number) ? number : 0;
}

}  // namespace tidemark::examples
