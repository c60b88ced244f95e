// Errors a caller can act on: an absl::Status that carries a reason, its metadata and, where a
// retry can help, how long to wait. The table in error.cc is the only place that ties a reason to
// its name and code; proto/tidemark/v1/error_reason.proto tells the caller what to do about each.
//
// Example:
//   return MakeError(Reason::kTableNotFound, "There is no table \"orderz\".", {{"table", name}});
//   if (ReasonOf(status) == Reason::kSnapshotExpired) ...
#ifndef TIDEMARK_COMMON_ERROR_H_
#define TIDEMARK_COMMON_ERROR_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tidemark {

enum class Reason {
  kNone,  // OK, or an error without a reason (a bug, or gRPC's own)
  // NOT_FOUND
  kTableNotFound,
  kTagNotFound,
  kSourceNotFound,
  kApprovalNotFound,
  kToolCallNotFound,
  kSessionNotFound,
  kRunNotFound,
  kBudgetNotFound,
  kReservationNotFound,
  kDocumentNotFound,
  kMemoryNotFound,
  kDecisionNotFound,
  kDeadLetterNotFound,
  kCheckpointNotFound,
  // INVALID_ARGUMENT
  kKeyMalformed,
  kTokenMalformed,
  kPageTokenInvalid,
  kFieldInvalid,
  kValueTooLarge,
  kEventMalformed,
  kTransactionTooLarge,
  // ALREADY_EXISTS
  kTagAlreadyExists,
  kBudgetAlreadyExists,
  // OUT_OF_RANGE
  kSnapshotExpired,
  kSnapshotInFuture,
  // FAILED_PRECONDITION
  kTagExpired,
  kStoreMismatch,
  kStateTooStale,
  kStateDegraded,
  kIllegalTransition,
  kAlreadyDecided,
  kApprovalExpired,
  kApprovalConflict,
  kEvidenceDrifted,
  kArgsHashMismatch,
  kIdempotencyKeyReused,
  kIdempotencyKeyExpired,
  kRequestIdReused,
  kTagInUse,
  kTableReadOnly,
  // UNAVAILABLE
  kNotYetApplied,
  kTableLoading,
  kPostgresUnavailable,
  kSourceUnavailable,
  kStoreReadOnly,
  kShuttingDown,
  // DEADLINE_EXCEEDED
  kSourceBehind,
  // DATA_LOSS
  kDataDamaged,
  // UNKNOWN
  kCommitOutcomeUnknown,
  // ABORTED
  kCheckpointConflict,
  kSessionFenced,
  kLeaseLost,
  kVersionConflict,
  kSourceFenced,
  kTransactionOpen,
  // RESOURCE_EXHAUSTED
  kBudgetExceeded,
  kOverloaded,
  kRateLimited,
  kSlowConsumer,
  kResponseTooLarge,
  // UNAUTHENTICATED
  kUnauthenticated,
  // PERMISSION_DENIED
  kRoleMissing,
  kSelfApproval,
  kNotAHuman,
  kTableForbidden,
  // UNIMPLEMENTED
  kMethodNotAvailable,
  // INTERNAL
  kInternal,
};

// Keys in snake_case; every dynamic part of the message is also here.
using ErrorMetadata = std::vector<std::pair<std::string, std::string>>;

// `message` says what happened, which value, and what to do; it is shown to callers as it is.
// `retry_after`: set when the same call may succeed later.
absl::Status MakeError(Reason reason, std::string_view message, ErrorMetadata metadata = {},
                       std::optional<absl::Duration> retry_after = std::nullopt);

// FIELD_INVALID for one request field; `field` is its path ("consistency.at_position.position").
absl::Status FieldInvalid(std::string_view field, std::string_view problem);

// kNone for OK and for statuses not made by MakeError.
Reason ReasonOf(const absl::Status& status);
ErrorMetadata MetadataOf(const absl::Status& status);
// One value of the metadata; empty when the key is absent.
std::string MetadataValue(const absl::Status& status, std::string_view key);
std::optional<absl::Duration> RetryAfterOf(const absl::Status& status);

// "TABLE_NOT_FOUND"; empty for kNone.
std::string_view ReasonName(Reason reason);
absl::StatusCode CodeOf(Reason reason);
// Every reason but kNone, in declaration order.
std::vector<Reason> AllReasons();

// Propagates an error: `TIDEMARK_RETURN_IF_ERROR(store.Open());`
#define TIDEMARK_RETURN_IF_ERROR(expression)                                                \
  do {                                                                                      \
    if (auto tidemark_status = (expression); !tidemark_status.ok()) return tidemark_status; \
  } while (false)

// `TIDEMARK_ASSIGN_OR_RETURN(auto row, store.Get(key));`
#define TIDEMARK_CONCAT_INNER(a, b) a##b
#define TIDEMARK_CONCAT(a, b) TIDEMARK_CONCAT_INNER(a, b)
#define TIDEMARK_ASSIGN_OR_RETURN(declaration, expression) \
  TIDEMARK_ASSIGN_OR_RETURN_INNER(TIDEMARK_CONCAT(tidemark_or_, __LINE__), declaration, expression)
#define TIDEMARK_ASSIGN_OR_RETURN_INNER(variable, declaration, expression) \
  auto variable = (expression);                                            \
  if (!variable.ok()) return std::move(variable).status();                 \
  declaration = *std::move(variable)

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_ERROR_H_
