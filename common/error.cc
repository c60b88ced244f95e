#include "common/error.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/strings.h"

namespace tidemark {
namespace {

struct ReasonRow {
  Reason reason;
  std::string_view name;
  absl::StatusCode code;
};

constexpr ReasonRow kReasons[] = {
    {Reason::kTableNotFound, "TABLE_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kTagNotFound, "TAG_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kSourceNotFound, "SOURCE_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kApprovalNotFound, "APPROVAL_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kToolCallNotFound, "TOOL_CALL_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kSessionNotFound, "SESSION_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kRunNotFound, "RUN_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kBudgetNotFound, "BUDGET_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kReservationNotFound, "RESERVATION_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kDocumentNotFound, "DOCUMENT_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kMemoryNotFound, "MEMORY_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kDecisionNotFound, "DECISION_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kDeadLetterNotFound, "DEAD_LETTER_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kCheckpointNotFound, "CHECKPOINT_NOT_FOUND", absl::StatusCode::kNotFound},
    {Reason::kKeyMalformed, "KEY_MALFORMED", absl::StatusCode::kInvalidArgument},
    {Reason::kTokenMalformed, "TOKEN_MALFORMED", absl::StatusCode::kInvalidArgument},
    {Reason::kPageTokenInvalid, "PAGE_TOKEN_INVALID", absl::StatusCode::kInvalidArgument},
    {Reason::kFieldInvalid, "FIELD_INVALID", absl::StatusCode::kInvalidArgument},
    {Reason::kValueTooLarge, "VALUE_TOO_LARGE", absl::StatusCode::kInvalidArgument},
    {Reason::kEventMalformed, "EVENT_MALFORMED", absl::StatusCode::kInvalidArgument},
    {Reason::kTransactionTooLarge, "TRANSACTION_TOO_LARGE", absl::StatusCode::kInvalidArgument},
    {Reason::kTagAlreadyExists, "TAG_ALREADY_EXISTS", absl::StatusCode::kAlreadyExists},
    {Reason::kBudgetAlreadyExists, "BUDGET_ALREADY_EXISTS", absl::StatusCode::kAlreadyExists},
    {Reason::kSnapshotExpired, "SNAPSHOT_EXPIRED", absl::StatusCode::kOutOfRange},
    {Reason::kSnapshotInFuture, "SNAPSHOT_IN_FUTURE", absl::StatusCode::kOutOfRange},
    {Reason::kTagExpired, "TAG_EXPIRED", absl::StatusCode::kFailedPrecondition},
    {Reason::kStoreMismatch, "STORE_MISMATCH", absl::StatusCode::kFailedPrecondition},
    {Reason::kStateTooStale, "STATE_TOO_STALE", absl::StatusCode::kFailedPrecondition},
    {Reason::kStateDegraded, "STATE_DEGRADED", absl::StatusCode::kFailedPrecondition},
    {Reason::kIllegalTransition, "ILLEGAL_TRANSITION", absl::StatusCode::kFailedPrecondition},
    {Reason::kAlreadyDecided, "ALREADY_DECIDED", absl::StatusCode::kFailedPrecondition},
    {Reason::kApprovalExpired, "APPROVAL_EXPIRED", absl::StatusCode::kFailedPrecondition},
    {Reason::kApprovalConflict, "APPROVAL_CONFLICT", absl::StatusCode::kFailedPrecondition},
    {Reason::kEvidenceDrifted, "EVIDENCE_DRIFTED", absl::StatusCode::kFailedPrecondition},
    {Reason::kArgsHashMismatch, "ARGS_HASH_MISMATCH", absl::StatusCode::kFailedPrecondition},
    {Reason::kIdempotencyKeyReused, "IDEMPOTENCY_KEY_REUSED",
     absl::StatusCode::kFailedPrecondition},
    {Reason::kIdempotencyKeyExpired, "IDEMPOTENCY_KEY_EXPIRED",
     absl::StatusCode::kFailedPrecondition},
    {Reason::kRequestIdReused, "REQUEST_ID_REUSED", absl::StatusCode::kFailedPrecondition},
    {Reason::kTagInUse, "TAG_IN_USE", absl::StatusCode::kFailedPrecondition},
    {Reason::kTableReadOnly, "TABLE_READ_ONLY", absl::StatusCode::kFailedPrecondition},
    {Reason::kNotYetApplied, "NOT_YET_APPLIED", absl::StatusCode::kUnavailable},
    {Reason::kTableLoading, "TABLE_LOADING", absl::StatusCode::kUnavailable},
    {Reason::kPostgresUnavailable, "POSTGRES_UNAVAILABLE", absl::StatusCode::kUnavailable},
    {Reason::kSourceUnavailable, "SOURCE_UNAVAILABLE", absl::StatusCode::kUnavailable},
    {Reason::kStoreReadOnly, "STORE_READ_ONLY", absl::StatusCode::kUnavailable},
    {Reason::kShuttingDown, "SHUTTING_DOWN", absl::StatusCode::kUnavailable},
    {Reason::kSourceBehind, "SOURCE_BEHIND", absl::StatusCode::kDeadlineExceeded},
    {Reason::kDataDamaged, "DATA_DAMAGED", absl::StatusCode::kDataLoss},
    {Reason::kCommitOutcomeUnknown, "COMMIT_OUTCOME_UNKNOWN", absl::StatusCode::kUnknown},
    {Reason::kCheckpointConflict, "CHECKPOINT_CONFLICT", absl::StatusCode::kAborted},
    {Reason::kSessionFenced, "SESSION_FENCED", absl::StatusCode::kAborted},
    {Reason::kLeaseLost, "LEASE_LOST", absl::StatusCode::kAborted},
    {Reason::kVersionConflict, "VERSION_CONFLICT", absl::StatusCode::kAborted},
    {Reason::kSourceFenced, "SOURCE_FENCED", absl::StatusCode::kAborted},
    {Reason::kTransactionOpen, "TRANSACTION_OPEN", absl::StatusCode::kAborted},
    {Reason::kBudgetExceeded, "BUDGET_EXCEEDED", absl::StatusCode::kResourceExhausted},
    {Reason::kOverloaded, "OVERLOADED", absl::StatusCode::kResourceExhausted},
    {Reason::kRateLimited, "RATE_LIMITED", absl::StatusCode::kResourceExhausted},
    {Reason::kSlowConsumer, "SLOW_CONSUMER", absl::StatusCode::kResourceExhausted},
    {Reason::kResponseTooLarge, "RESPONSE_TOO_LARGE", absl::StatusCode::kResourceExhausted},
    {Reason::kUnauthenticated, "UNAUTHENTICATED", absl::StatusCode::kUnauthenticated},
    {Reason::kRoleMissing, "ROLE_MISSING", absl::StatusCode::kPermissionDenied},
    {Reason::kSelfApproval, "SELF_APPROVAL", absl::StatusCode::kPermissionDenied},
    {Reason::kNotAHuman, "NOT_A_HUMAN", absl::StatusCode::kPermissionDenied},
    {Reason::kTableForbidden, "TABLE_FORBIDDEN", absl::StatusCode::kPermissionDenied},
    {Reason::kMethodNotAvailable, "METHOD_NOT_AVAILABLE", absl::StatusCode::kUnimplemented},
    {Reason::kInternal, "INTERNAL", absl::StatusCode::kInternal},
};

const ReasonRow* FindRow(Reason reason) {
  for (const ReasonRow& row : kReasons) {
    if (row.reason == reason) return &row;
  }
  return nullptr;
}

// Payload URLs of an absl::Status. The values never leave the process.
constexpr char kReasonUrl[] = "tidemark/reason";
constexpr char kMetadataUrl[] = "tidemark/metadata";
constexpr char kRetryUrl[] = "tidemark/retry_after_us";

// Metadata as length-prefixed strings: "5:table6:orders".
void AppendString(std::string_view s, std::string& out) {
  absl::StrAppend(&out, s.size(), ":", ToAbsl(s));
}

std::string TakeString(std::string_view& in) {
  const size_t colon = in.find(':');
  int64_t size = 0;
  if (colon == std::string_view::npos || !absl::SimpleAtoi(ToAbsl(in.substr(0, colon)), &size)) {
    in = {};
    return "";
  }
  std::string value(in.substr(colon + 1, size));
  in.remove_prefix(colon + 1 + value.size());
  return value;
}

std::string PayloadOf(const absl::Status& status, const char* url) {
  const auto payload = status.GetPayload(url);
  return payload.has_value() ? std::string(*payload) : std::string();
}

}  // namespace

absl::Status MakeError(Reason reason, std::string_view message, ErrorMetadata metadata,
                       std::optional<absl::Duration> retry_after) {
  absl::Status status(CodeOf(reason), ToAbsl(message));
  status.SetPayload(kReasonUrl, absl::Cord(ToAbsl(ReasonName(reason))));
  if (!metadata.empty()) {
    std::string encoded;
    for (const auto& [key, value] : metadata) {
      AppendString(key, encoded);
      AppendString(value, encoded);
    }
    status.SetPayload(kMetadataUrl, absl::Cord(encoded));
  }
  if (retry_after.has_value()) {
    status.SetPayload(kRetryUrl, absl::Cord(absl::StrCat(absl::ToInt64Microseconds(*retry_after))));
  }
  return status;
}

absl::Status FieldInvalid(std::string_view field, std::string_view problem) {
  return MakeError(Reason::kFieldInvalid, absl::StrCat(ToAbsl(field), ": ", ToAbsl(problem)),
                   {{"field", std::string(field)}, {"problem", std::string(problem)}});
}

Reason ReasonOf(const absl::Status& status) {
  const std::string name = PayloadOf(status, kReasonUrl);
  for (const ReasonRow& row : kReasons) {
    if (row.name == name) return row.reason;
  }
  return Reason::kNone;
}

ErrorMetadata MetadataOf(const absl::Status& status) {
  ErrorMetadata metadata;
  const std::string encoded = PayloadOf(status, kMetadataUrl);
  std::string_view rest = encoded;
  while (!rest.empty()) {
    std::string key = TakeString(rest);
    metadata.emplace_back(std::move(key), TakeString(rest));
  }
  return metadata;
}

std::string MetadataValue(const absl::Status& status, std::string_view key) {
  for (auto& [name, value] : MetadataOf(status)) {
    if (name == key) return value;
  }
  return "";
}

std::optional<absl::Duration> RetryAfterOf(const absl::Status& status) {
  int64_t micros = 0;
  if (!absl::SimpleAtoi(PayloadOf(status, kRetryUrl), &micros)) return std::nullopt;
  return absl::Microseconds(micros);
}

std::string_view ReasonName(Reason reason) {
  const ReasonRow* row = FindRow(reason);
  return row == nullptr ? std::string_view() : row->name;
}

absl::StatusCode CodeOf(Reason reason) {
  const ReasonRow* row = FindRow(reason);
  return row == nullptr ? absl::StatusCode::kUnknown : row->code;
}

std::vector<Reason> AllReasons() {
  std::vector<Reason> reasons;
  for (const ReasonRow& row : kReasons) reasons.push_back(row.reason);
  return reasons;
}

}  // namespace tidemark
