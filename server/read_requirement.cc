#include "server/read_requirement.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"
#include "server/read_errors.h"
#include "tidemark/v1/consistency.pb.h"

namespace tidemark {
namespace {

std::string Path(std::string_view field, std::string_view member) {
  return absl::StrCat(ToAbsl(field), ".", ToAbsl(member));
}

// The token's snapshot; the error says which field held it.
absl::StatusOr<state::SnapshotId> ResolveTokenIn(const std::string& field, const std::string& token,
                                                 const state::StateReader& reader) {
  absl::StatusOr<state::SnapshotId> snapshot = reader.ResolveToken(token);
  if (!snapshot.ok()) return TokenError(snapshot.status(), field, token, reader);
  return snapshot;
}

// What well-formed Timestamps and Durations can hold: years 0001 to 9999, about 10,000 years.
constexpr int64_t kMinTimestampSeconds = -62135596800;
constexpr int64_t kMaxTimestampSeconds = 253402300799;
constexpr int64_t kMaxDurationSeconds = 315576000000;
constexpr int32_t kMaxNanos = 999999999;

template <typename T>  // a Timestamp or Duration, as it came
std::string AsSent(const T& value) {
  return absl::StrCat("{seconds: ", value.seconds(), ", nanos: ", value.nanos(), "}");
}

absl::StatusOr<absl::Time> ParsePastTime(const std::string& field,
                                         const google::protobuf::Timestamp& time, absl::Time now) {
  if (time.seconds() < kMinTimestampSeconds || time.seconds() > kMaxTimestampSeconds ||
      time.nanos() < 0 || time.nanos() > kMaxNanos) {
    return FieldInvalid(field, absl::StrCat(AsSent(time), " is no Timestamp: seconds must be ",
                                            kMinTimestampSeconds, " to ", kMaxTimestampSeconds,
                                            " (years 0001 to 9999), nanos 0 to ", kMaxNanos, "."));
  }
  const absl::Time parsed = absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
  if (parsed >= now) {
    return FieldInvalid(field, "must be past: what is committed up to then is not known yet.");
  }
  return parsed;
}

absl::StatusOr<absl::Duration> ParseStaleness(const std::string& field,
                                              const google::protobuf::Duration& span) {
  const int64_t seconds = span.seconds();
  const int32_t nanos = span.nanos();
  const bool one_sign = !((seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0));
  if (!one_sign || seconds < -kMaxDurationSeconds || seconds > kMaxDurationSeconds ||
      nanos < -kMaxNanos || nanos > kMaxNanos) {
    return FieldInvalid(field,
                        absl::StrCat(AsSent(span), " is no Duration: seconds must be within +-",
                                     kMaxDurationSeconds, ", nanos within +-", kMaxNanos,
                                     ", and both of one sign."));
  }
  if (seconds <= 0 && nanos <= 0) {
    return FieldInvalid(field, absl::StrCat("must be more than 0 and at most ", kMaxDurationSeconds,
                                            "s; it is ", AsSent(span), "."));
  }
  return absl::Seconds(seconds) + absl::Nanoseconds(nanos);
}

absl::StatusOr<Requirement> ParseRecency(const std::string& field, const v1::SourceRecency& recency,
                                         std::vector<std::string> all,
                                         const ingest::SourceSet& sources) {
  Requirement requirement{.kind = Requirement::Kind::kSourceRecency};
  if (recency.sources().empty()) {
    requirement.sources = std::move(all);
    return requirement;
  }
  requirement.sources.assign(recency.sources().begin(), recency.sources().end());
  std::sort(requirement.sources.begin(), requirement.sources.end());
  requirement.sources.erase(std::unique(requirement.sources.begin(), requirement.sources.end()),
                            requirement.sources.end());
  for (const std::string& name : requirement.sources) {
    if (name.empty()) return FieldInvalid(Path(field, "sources"), "a name is empty.");
    if (sources.Find(name) == nullptr) return SourceNotFound(sources, name);
  }
  return requirement;
}

absl::StatusOr<Requirement> ParsePosition(const std::string& field,
                                          const v1::SourcePosition& position,
                                          const ingest::SourceSet& sources) {
  if (position.source().empty()) {
    return FieldInvalid(Path(field, "source"), "is required: the name of a source.");
  }
  if (position.position().empty()) {
    return FieldInvalid(Path(field, "position"),
                        "is required: a position as SourceStatus.position shows it.");
  }
  const ingest::Source* source = sources.Find(position.source());
  if (source == nullptr) return SourceNotFound(sources, position.source());
  absl::StatusOr<std::string> bytes = source->ParsePosition(position.position());
  if (!bytes.ok()) {
    return FieldInvalid(Path(field, "position"),
                        absl::StrCat("not a position of source ", position.source(), ": ",
                                     Quoted(position.position()), "."));
  }
  return Requirement{.kind = Requirement::Kind::kAtPosition,
                     .sources = {position.source()},
                     .position = *std::move(bytes)};
}

}  // namespace

absl::StatusOr<Requirement> ParseRequirement(const v1::Consistency* consistency, TableSpan tables,
                                             const tables::Catalog& catalog,
                                             const ingest::SourceSet& sources,
                                             const state::StateReader& reader, absl::Time now,
                                             std::string_view field) {
  using Kind = Requirement::Kind;
  if (consistency == nullptr) return Requirement{};
  switch (consistency->requirement_case()) {
    case v1::Consistency::REQUIREMENT_NOT_SET:
    case v1::Consistency::kLatest:
      return Requirement{};
    case v1::Consistency::kAtLeast: {
      TIDEMARK_ASSIGN_OR_RETURN(
          const state::SnapshotId snapshot,
          ResolveTokenIn(Path(field, "at_least"), consistency->at_least(), reader));
      return Requirement{.kind = Kind::kAtLeast, .snapshot = snapshot};
    }
    case v1::Consistency::kExact: {
      TIDEMARK_ASSIGN_OR_RETURN(const state::SnapshotId snapshot,
                                ResolveTokenIn(Path(field, "exact"), consistency->exact(), reader));
      return Requirement{.kind = Kind::kExact, .snapshot = snapshot};
    }
    case v1::Consistency::kTag:
      return FieldInvalid(Path(field, "tag"), "not yet available in this version.");
    case v1::Consistency::kAsOf: {
      TIDEMARK_ASSIGN_OR_RETURN(const absl::Time time,
                                ParsePastTime(Path(field, "as_of"), consistency->as_of(), now));
      return Requirement{.kind = Kind::kAsOf, .time = time};
    }
    case v1::Consistency::kMaxStaleness: {
      TIDEMARK_ASSIGN_OR_RETURN(
          const absl::Duration span,
          ParseStaleness(Path(field, "max_staleness"), consistency->max_staleness()));
      return Requirement{
          .kind = Kind::kMaxStaleness, .staleness = span, .sources = SourcesOf(catalog, tables)};
    }
    case v1::Consistency::kSourceRecency:
      return ParseRecency(Path(field, "source_recency"), consistency->source_recency(),
                          SourcesOf(catalog, tables), sources);
    case v1::Consistency::kAtPosition:
      return ParsePosition(Path(field, "at_position"), consistency->at_position(), sources);
  }
  return FieldInvalid(field, "unknown requirement.");
}

std::vector<std::string> SourcesOf(const tables::Catalog& catalog, TableSpan tables) {
  std::vector<std::string> names;
  for (const tables::Table* table : tables) {
    for (std::string& name : catalog.SourcesOf(*table)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

absl::Status SourceNotFound(const ingest::SourceSet& sources, std::string_view name) {
  std::vector<std::string> known;
  for (const auto& source : sources.all()) {
    if (known.size() < limits::kMaxErrorListNames) known.push_back(source->name());
  }
  const std::string shown = Printable(name);
  return MakeError(Reason::kSourceNotFound,
                   absl::StrCat("There is no source ", Quoted(name), ". There are ",
                                sources.all().size(), ": ", absl::StrJoin(known, ", "), "."),
                   {{"source", shown},
                    {"sources", absl::StrJoin(known, ",")},
                    {"source_count", absl::StrCat(sources.all().size())}});
}

std::vector<SourceLag> LagsOf(const ingest::SourceSet& sources,
                              const std::vector<std::string>& names, absl::Time now) {
  std::vector<SourceLag> lags;
  lags.reserve(names.size());
  for (const std::string& name : names) {
    const ingest::Source* source = sources.Find(name);
    const absl::Time fresh = source == nullptr ? absl::InfinitePast() : source->FreshAsOf();
    lags.push_back({name, std::max(now - fresh, absl::ZeroDuration())});
  }
  std::stable_sort(lags.begin(), lags.end(),
                   [](const SourceLag& a, const SourceLag& b) { return a.lag > b.lag; });
  return lags;
}

std::string SpanText(absl::Duration span) {
  if (span == absl::InfiniteDuration()) return "unknown";
  return absl::FormatDuration(absl::Trunc(span, absl::Milliseconds(1)));
}

}  // namespace tidemark
