// From an absl::Status to what a caller is told: the one place where internal errors become
// public ones.
#ifndef TIDEMARK_SERVER_TRANSPORT_ERROR_MAPPING_H_
#define TIDEMARK_SERVER_TRANSPORT_ERROR_MAPPING_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tidemark {

struct PublicError {
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string message;  // valid UTF-8, bounded
  // Wire bytes of a google.rpc.Status with ErrorInfo, and BadRequest, RetryInfo, QuotaFailure where
  // they apply; at most limits::kMaxErrorDetailBytes. Empty for CANCELLED and DEADLINE_EXCEEDED
  // without a reason, which are gRPC's own.
  std::string details;
  // The status was not made for callers: what it says belongs into the log, not into the answer.
  bool sanitised = false;
};

// Whether the status was not made for callers: an error without a reason that is no CANCELLED or
// DEADLINE_EXCEEDED.
bool IsDefect(const absl::Status& status);

// What is told of `status`. An error without a reason is a defect of ours: INTERNAL with
// `request_id` (made up when the caller sent none) and not a word of its text.
PublicError MapError(const absl::Status& status, std::string_view request_id);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TRANSPORT_ERROR_MAPPING_H_
