#include "server/transport/error_mapping.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace tidemark {
namespace {

// A message travels percent-encoded, up to three bytes for one, beside the details in trailers of
// which a default client takes 8 KiB.
constexpr size_t kMaxMessageBytes = 512;
constexpr size_t kMaxMetadataEntries = 20;
constexpr size_t kMaxMetadataValueBytes = 1024;
constexpr size_t kMaxDescriptionBytes = 256;

google::rpc::ErrorInfo InfoOf(Reason reason, const ErrorMetadata& metadata) {
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(ReasonName(reason)));
  info.set_domain("tidemark.v1");
  for (const auto& [key, value] : metadata) {
    if (info.metadata().size() >= kMaxMetadataEntries) break;
    (*info.mutable_metadata())[ValidUtf8(key, 64)] = ValidUtf8(value, kMaxMetadataValueBytes);
  }
  return info;
}

std::string ValueOf(const ErrorMetadata& metadata, std::string_view key) {
  for (const auto& [name, value] : metadata) {
    if (name == key) return ValidUtf8(value, kMaxDescriptionBytes);
  }
  return "";
}

// Halves the longest metadata value; false when there is nothing left worth cutting.
bool Shorten(google::rpc::ErrorInfo& info) {
  std::string* longest = nullptr;
  for (auto& [key, value] : *info.mutable_metadata()) {
    if (longest == nullptr || value.size() > longest->size()) longest = &value;
  }
  if (longest == nullptr || longest->size() < 16) return false;
  *longest = ValidUtf8(*longest, longest->size() / 2);
  return true;
}

std::string Details(absl::StatusCode code, const std::string& message, Reason reason,
                    const ErrorMetadata& metadata, std::optional<absl::Duration> retry_after) {
  google::rpc::Status status;
  status.set_code(static_cast<int>(code));
  status.set_message(message);
  google::rpc::ErrorInfo info = InfoOf(reason, metadata);
  status.add_details()->PackFrom(info);
  if (code == absl::StatusCode::kInvalidArgument) {
    google::rpc::BadRequest bad_request;
    auto* violation = bad_request.add_field_violations();
    violation->set_field(ValueOf(metadata, "field"));
    const std::string problem = ValueOf(metadata, "problem");
    violation->set_description(problem.empty() ? ValidUtf8(message, kMaxDescriptionBytes)
                                               : problem);
    status.add_details()->PackFrom(bad_request);
  }
  if (retry_after.has_value()) {
    google::rpc::RetryInfo retry;
    const int64_t nanos = std::max<int64_t>(0, absl::ToInt64Nanoseconds(*retry_after));
    retry.mutable_retry_delay()->set_seconds(nanos / 1'000'000'000);
    retry.mutable_retry_delay()->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
    status.add_details()->PackFrom(retry);
  }
  if (reason == Reason::kBudgetExceeded) {
    google::rpc::QuotaFailure quota;
    auto* violation = quota.add_violations();
    violation->set_subject(ValueOf(metadata, "budget_id"));
    violation->set_description(ValidUtf8(message, kMaxDescriptionBytes));
    status.add_details()->PackFrom(quota);
  }
  while (status.ByteSizeLong() > limits::kMaxErrorDetailBytes && Shorten(info)) {
    status.mutable_details(0)->PackFrom(info);
  }
  return status.SerializeAsString();
}

PublicError MapReason(const absl::Status& status) {
  PublicError error;
  error.code = status.code();
  error.message = ValidUtf8(ToStd(status.message()), kMaxMessageBytes);
  error.details = Details(error.code, error.message, ReasonOf(status), MetadataOf(status),
                          RetryAfterOf(status));
  return error;
}

}  // namespace

bool IsDefect(const absl::Status& status) {
  return !status.ok() && ReasonOf(status) == Reason::kNone &&
         status.code() != absl::StatusCode::kCancelled &&
         status.code() != absl::StatusCode::kDeadlineExceeded;
}

PublicError MapError(const absl::Status& status, std::string_view request_id) {
  if (status.ok()) return {};
  if (ReasonOf(status) != Reason::kNone) return MapReason(status);
  if (status.code() == absl::StatusCode::kCancelled) {
    return {.code = status.code(), .message = "The call was cancelled."};
  }
  if (status.code() == absl::StatusCode::kDeadlineExceeded) {
    return {.code = status.code(), .message = "The deadline passed."};
  }
  PublicError error = MapReason(
      MakeError(Reason::kInternal,
                absl::StrCat("The server failed at this; its log says why, under request id ",
                             ToAbsl(request_id), "."),
                {{"request_id", std::string(request_id)}}));
  error.sanitised = true;
  return error;
}

}  // namespace tidemark
