#include "server/read_errors.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"

namespace tidemark {
namespace {

// Long enough not to be asked again at once by everybody, short beside a commit's usual delay.
constexpr absl::Duration kRetryAfter = absl::Milliseconds(200);

// "was last seen complete 1.5s ago".
std::string LastSeen(absl::Duration lag) {
  if (lag == absl::InfiniteDuration()) return "was never seen complete";
  return absl::StrCat("was last seen complete ", SpanText(lag), " ago");
}

std::string Hex(const state::Incarnation& incarnation) {
  return ToHex({reinterpret_cast<const char*>(incarnation.data()), incarnation.size()});
}

}  // namespace

absl::Status ShuttingDown() {
  return MakeError(Reason::kShuttingDown, "The server stops; retry on another connection.", {},
                   absl::Seconds(1));
}

absl::Status TokenWithdrawn() {
  return MakeError(Reason::kUnauthenticated,
                   "The token this call began with was withdrawn, or does not allow it any more.",
                   {{"problem", "withdrawn"}});
}

absl::Status TooManyWaits(size_t count) {
  return MakeError(Reason::kOverloaded,
                   absl::StrCat("Already ", count, " calls wait for fresher state."),
                   {{"queue", "read-waits"}}, kRetryAfter);
}

absl::Status TooStale(const std::vector<SourceLag>& lags, absl::Duration limit) {
  const std::string allowed = absl::FormatDuration(limit);  // as it was asked for
  std::string sources;
  for (size_t i = 0; i < lags.size() && i < limits::kMaxErrorListNames; ++i) {
    absl::StrAppend(&sources, i == 0 ? "" : ",", lags[i].source, "=", SpanText(lags[i].lag));
  }
  return MakeError(Reason::kStateTooStale,
                   absl::StrCat("Source ", lags[0].source, " ", LastSeen(lags[0].lag), "; at most ",
                                allowed, " is allowed. Lags: ", sources, "."),
                   {{"source", lags[0].source},
                    {"lag", SpanText(lags[0].lag)},
                    {"max_staleness", allowed},
                    {"sources", sources},
                    {"source_count", absl::StrCat(lags.size())}});
}

absl::Status SnapshotNotReached(state::SnapshotId wanted, state::SnapshotId current,
                                const std::vector<SourceLag>& lags) {
  ErrorMetadata metadata = {{"snapshot_id", absl::StrCat(current)},
                            {"wanted", absl::StrCat(wanted)}};
  std::string behind;
  if (!lags.empty()) {
    metadata.push_back({"source", lags[0].source});
    metadata.push_back({"lag", SpanText(lags[0].lag)});
    behind = absl::StrCat(" Source ", lags[0].source, " ", LastSeen(lags[0].lag), ".");
  }
  return MakeError(Reason::kNotYetApplied,
                   absl::StrCat("Snapshot ", wanted, " is not applied yet; the newest is ", current,
                                ".", behind),
                   std::move(metadata), kRetryAfter);
}

absl::Status PositionNotReached(const std::string& wanted, state::SnapshotId current,
                                const SourceLag& lag, std::string_view state) {
  return MakeError(Reason::kNotYetApplied,
                   absl::StrCat("Source ", lag.source, " (", ToAbsl(state), ") is not past ",
                                wanted, " yet; the newest snapshot is ", current, "."),
                   {{"snapshot_id", absl::StrCat(current)},
                    {"wanted", wanted},
                    {"source", lag.source},
                    {"lag", SpanText(lag.lag)},
                    {"state", std::string(state)}},
                   kRetryAfter);
}

absl::Status SourceBehind(const SourceLag& lag, std::string_view state) {
  return MakeError(
      Reason::kSourceBehind,
      absl::StrCat("Source ", lag.source, " (", ToAbsl(state), ") was not caught up in time; it ",
                   LastSeen(lag.lag), "."),
      {{"source", lag.source}, {"lag", SpanText(lag.lag)}, {"state", std::string(state)}});
}

absl::Status TokenError(const absl::Status& status, const std::string& field,
                        std::string_view token, const state::StateReader& reader) {
  switch (ReasonOf(status)) {
    case Reason::kTokenMalformed:
      return MakeError(Reason::kTokenMalformed,
                       absl::StrCat(field,
                                    ": not a snapshot token, or damaged or cut. Use tokens "
                                    "exactly as they came."),
                       {{"field", field}});
    case Reason::kStoreMismatch: {
      const absl::StatusOr<state::SnapshotToken> decoded = state::DecodeToken(token);
      if (!decoded.ok()) return status;
      return MakeError(Reason::kStoreMismatch, absl::StrCat(field, ": ", status.message()),
                       {{"field", field},
                        {"incarnation", Hex(reader.incarnation())},
                        {"token_incarnation", Hex(decoded->incarnation)}});
    }
    default:
      return status;
  }
}

absl::Status SnapshotInFuture(state::SnapshotId wanted, state::SnapshotId latest) {
  return MakeError(
      Reason::kSnapshotInFuture,
      absl::StrCat("This store has not made snapshot ", wanted, " yet; the newest is ", latest,
                   ". Use at_least to wait for one."),
      {{"snapshot_id", absl::StrCat(wanted)}, {"latest_snapshot_id", absl::StrCat(latest)}});
}

absl::Status SnapshotExpired(const state::StateReader& reader, state::SnapshotId oldest,
                             std::string_view problem, state::SnapshotId wanted) {
  ErrorMetadata metadata;
  if (wanted != state::kNoSnapshot) metadata.push_back({"snapshot_id", absl::StrCat(wanted)});
  metadata.push_back({"oldest_snapshot_id", absl::StrCat(oldest)});
  metadata.push_back({"oldest_token", reader.TokenOf(oldest)});
  return MakeError(
      Reason::kSnapshotExpired,
      absl::StrCat(ToAbsl(problem), "; the oldest to read is ", oldest,
                   ". Read at latest or at oldest_token; a watch reads at latest and goes on "
                   "after the token of that answer."),
      std::move(metadata));
}

absl::Status ExplainExpired(const state::StateReader& reader, const absl::Status& status,
                            std::string_view problem) {
  state::SnapshotId oldest = state::kNoSnapshot;
  if (ReasonOf(status) != Reason::kSnapshotExpired ||
      !absl::SimpleAtoi(MetadataValue(status, "oldest"), &oldest)) {
    return status;
  }
  state::SnapshotId wanted = state::kNoSnapshot;
  (void)absl::SimpleAtoi(MetadataValue(status, "snapshot_id"), &wanted);
  return SnapshotExpired(reader, oldest, problem, wanted);
}

}  // namespace tidemark
