#include "server/ingest/postgres/failure.h"

#include <array>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/strings.h"

namespace tidemark::ingest {
namespace {

constexpr char kSqlStatePayload[] = "tidemark/sqlstate";
constexpr size_t kMaxServerText = 300;  // of the server's own words in a detail

enum class Meaning { kRetry, kFailed };

struct Advice {
  const char* sqlstate;
  Meaning meaning;
  const char* text;  // what to do; empty: the server's words say it
};

constexpr Advice kAdvice[] = {
    {"28000", Meaning::kFailed,
     "Check the user in the DSN, pg_hba.conf, and that the role may LOGIN and has REPLICATION."},
    {"28P01", Meaning::kFailed, "Check the user and password in the DSN."},
    {"3D000", Meaning::kFailed, "Check the database name in the DSN."},
    {"42501", Meaning::kFailed,
     "The role needs REPLICATION, and USAGE on the schema and SELECT on every relation."},
    {"53300", Meaning::kRetry, "Raise max_wal_senders or max_connections, or end another session."},
    {"53400", Meaning::kFailed,
     "Raise max_replication_slots (needs a restart), or drop a slot nobody uses."},
    {"55000", Meaning::kFailed, ""},
    {"55006", Meaning::kRetry,
     "Another instance follows the slot: it is never taken away from it. Stop that one, or give "
     "this one a slot of its own."},
    {"57P01", Meaning::kRetry, ""},
    {"57P03", Meaning::kRetry, ""},
};

const Advice* AdviceFor(std::string_view sqlstate) {
  for (const Advice& advice : kAdvice) {
    if (sqlstate == advice.sqlstate) return &advice;
  }
  return nullptr;
}

// The server's words as a sentence.
std::string Sentence(std::string_view text) {
  std::string sentence = ValidUtf8(text, kMaxServerText);
  for (char& c : sentence) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  if (!sentence.empty() && sentence.back() != '.') sentence += '.';
  return sentence;
}

}  // namespace

absl::Status Retrying(std::string_view detail) { return absl::UnavailableError(ToAbsl(detail)); }
absl::Status Failed(std::string_view detail) {
  return absl::FailedPreconditionError(ToAbsl(detail));
}
absl::Status Gap(std::string_view detail) { return absl::DataLossError(ToAbsl(detail)); }
absl::Status Interrupted() { return absl::CancelledError("interrupted"); }

absl::Status FailureOf(const ServerError& error, std::string_view doing) {
  const Advice* advice = AdviceFor(error.sqlstate);
  std::string detail =
      absl::StrCat("While ", ToAbsl(doing), ": ",
                   error.sqlstate.empty() ? "" : "the server says: ", Sentence(error.message));
  if (advice != nullptr && *advice->text != '\0') {
    absl::StrAppend(&detail, " ", advice->text);
  } else if (!error.hint.empty()) {
    absl::StrAppend(&detail, " Hint: ", Sentence(error.hint));
  }
  absl::Status failure =
      advice != nullptr && advice->meaning == Meaning::kFailed ? Failed(detail) : Retrying(detail);
  if (!error.sqlstate.empty()) failure.SetPayload(kSqlStatePayload, absl::Cord(error.sqlstate));
  return failure;
}

std::string SqlStateOf(const absl::Status& failure) {
  const auto payload = failure.GetPayload(kSqlStatePayload);
  return payload.has_value() ? std::string(*payload) : "";
}

ServerError ParseConnectionError(std::string_view text) {
  ServerError error;
  const std::string_view line = text.substr(0, text.find('\n'));
  error.message = std::string(line);
  // "... FATAL:  28P01: password authentication failed ...", its first word in any language.
  constexpr std::string_view kBefore = ":  ";
  constexpr size_t kCodeSize = 5;
  for (size_t at = line.find(kBefore); at != std::string_view::npos;
       at = line.find(kBefore, at + 1)) {
    const std::string_view code = line.substr(at + kBefore.size(), kCodeSize);
    const size_t end = at + kBefore.size() + kCodeSize;
    if (code.size() < kCodeSize || end >= line.size() || line[end] != ':' ||
        code.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string_view::npos) {
      continue;
    }
    error.sqlstate = std::string(code);
    error.message = std::string(line.substr(std::min(line.size(), end + 2)));
    break;
  }
  return error;
}

absl::Status FailureOfApply(const absl::Status& status) {
  const std::string_view message = ToStd(status.message());
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return Failed(absl::StrCat("A change cannot be applied: ", ToAbsl(message),
                                 " The position stays before it."));
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kDataLoss:
      return Failed(message);
    default:
      return Retrying(message);
  }
}

SourceState StateOf(const absl::Status& failure) {
  switch (failure.code()) {
    case absl::StatusCode::kFailedPrecondition:
      return SourceState::kFailed;
    case absl::StatusCode::kDataLoss:
      return SourceState::kGap;
    default:
      return SourceState::kRetrying;
  }
}

}  // namespace tidemark::ingest
