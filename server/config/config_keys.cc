#include "server/config/config_keys.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"

namespace tidemark {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
constexpr uint64_t kGiB = 1024 * kMiB;
constexpr uint64_t kTiB = 1024 * kGiB;

struct Unit {
  std::string_view name;
  uint64_t bytes;
};
// The largest first, so that a value is printed in the largest unit that divides it.
constexpr Unit kUnits[] = {{"GiB", kGiB}, {"MiB", kMiB}, {"KiB", kKiB}, {"", 1}};

absl::Status Problem(std::string_view text) { return absl::InvalidArgumentError(ToAbsl(text)); }

absl::StatusOr<uint64_t> ParseCount(std::string_view text) {
  uint64_t value = 0;
  // SimpleAtoi takes signs and blanks.
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (!digits || !absl::SimpleAtoi(ToAbsl(text), &value)) {
    return Problem("must be a whole number");
  }
  return value;
}

absl::StatusOr<uint64_t> ParseBytes(std::string_view text) {
  for (const Unit& unit : kUnits) {
    if (text.size() < unit.name.size() ||
        text.substr(text.size() - unit.name.size()) != unit.name) {
      continue;
    }
    const absl::StatusOr<uint64_t> count =
        ParseCount(text.substr(0, text.size() - unit.name.size()));
    if (!count.ok() || *count > UINT64_MAX / unit.bytes) break;
    return *count * unit.bytes;
  }
  return Problem("must be a size such as 256MiB (B is left out; KiB, MiB, GiB are powers of 1024)");
}

std::string BytesText(uint64_t bytes) {
  for (const Unit& unit : kUnits) {
    if (bytes % unit.bytes == 0 && bytes >= unit.bytes) {
      return absl::StrCat(bytes / unit.bytes, ToAbsl(unit.name));
    }
  }
  return "0";
}

template <typename T, typename Key, typename Text>
absl::Status SetInRange(const absl::StatusOr<T>& parsed, const Key& key, const Text& text) {
  if (!parsed.ok()) return parsed.status();
  if (*parsed < key.min || *parsed > key.max) {
    return Problem(absl::StrCat("must be from ", text(key.min), " to ", text(key.max)));
  }
  *key.value = *parsed;
  return absl::OkStatus();
}

struct Setter {
  const std::string& text;

  absl::Status operator()(const TextKey& key) const {
    *key.value = text;
    return absl::OkStatus();
  }
  absl::Status operator()(const PathKey& key) const {
    if (text.empty() || text.find('\0') != text.npos) return Problem("must be a path");
    *key.value = text;
    return absl::OkStatus();
  }
  absl::Status operator()(const BytesKey& key) const {
    return SetInRange(ParseBytes(text), key, BytesText);
  }
  absl::Status operator()(const CountKey& key) const {
    return SetInRange(ParseCount(text), key, [](uint64_t n) { return absl::StrCat(n); });
  }
  absl::Status operator()(const SpanKey& key) const {
    return SetInRange(ParseSpan(text), key, SpanAsWritten);
  }
  absl::Status operator()(const LevelKey& key) const {
    const auto level = ParseLogLevel(text);
    if (!level.has_value()) return Problem("must be debug, info, warning or error");
    *key.value = *level;
    return absl::OkStatus();
  }
};

struct Printer {
  std::string operator()(const TextKey& key) const { return *key.value; }
  std::string operator()(const PathKey& key) const { return *key.value; }
  std::string operator()(const BytesKey& key) const { return BytesText(*key.value); }
  std::string operator()(const CountKey& key) const { return absl::StrCat(*key.value); }
  std::string operator()(const SpanKey& key) const { return SpanAsWritten(*key.value); }
  std::string operator()(const LevelKey& key) const {
    return std::string(LogLevelName(*key.value));
  }
};

}  // namespace

std::vector<ConfigKey> ConfigKeys(Config& config) {
  const absl::Duration day = absl::Hours(24);
  return {
      {"server", "listen", TextKey{&config.listen}},
      {"server", "metrics_listen", TextKey{&config.metrics_listen}},
      {"server", "drain_deadline",
       SpanKey{&config.drain_deadline, absl::ZeroDuration(), absl::Hours(1)}},
      // Below the limit of a default client a stored row might not be readable; far above it a
      // single call could hold too much memory.
      {"server", "max_message_bytes",
       BytesKey{&config.max_message_bytes, limits::kMaxMessageBytes, 64 * kMiB}},
      {"server", "max_concurrent_calls", CountKey{&config.max_concurrent_calls, 1, 100'000}},
      {"auth", "token_file", PathKey{&config.token_file}},
      {"state", "dir", PathKey{&config.state_dir}},
      {"state", "block_cache", BytesKey{&config.block_cache, kMiB, kTiB}},
      {"state", "row_cache", BytesKey{&config.row_cache, 0, kTiB}},
      {"state", "max_batch_bytes", BytesKey{&config.max_batch_bytes, 64 * kKiB, 256 * kMiB}},
      {"state", "max_transaction_bytes",
       BytesKey{&config.max_transaction_bytes, 64 * kKiB, 64 * kGiB}},
      {"state", "retain_for", SpanKey{&config.retain_for, absl::Seconds(1), 3650 * day}},
      {"state", "min_snapshots", CountKey{&config.min_snapshots, 1, 1'000'000'000}},
      {"state", "tombstone_keep", SpanKey{&config.tombstone_keep, absl::Seconds(1), 3650 * day}},
      {"log", "level", LevelKey{&config.log_level}},
  };
}

std::vector<std::string> ConfigSections() { return {"server", "auth", "state", "log"}; }

std::vector<std::string> LaterKeys(std::string_view section) {
  if (section == "state") return {"auto_tags", "backup_dir"};
  return {};
}

std::vector<std::string> LaterSections() {
  return {"postgres", "tools", "decisions_dir", "connectors_dir"};
}

absl::Status SetKey(const ConfigKey& key, const std::string& text) {
  return std::visit(Setter{text}, key.value);
}

std::string KeyText(const ConfigKey& key) { return std::visit(Printer{}, key.value); }

absl::StatusOr<absl::Duration> ParseSpan(std::string_view text) {
  constexpr std::string_view kWant = "must be a span such as 500ms, 20s, 90m, 12h or 7d";
  if (!text.empty() && text.back() == 'd') {
    const absl::StatusOr<uint64_t> days = ParseCount(text.substr(0, text.size() - 1));
    if (!days.ok() || *days > 100'000) return Problem(kWant);
    return absl::Hours(24) * static_cast<int64_t>(*days);
  }
  absl::Duration span;
  if (!absl::ParseDuration(ToAbsl(text), &span) || span == absl::InfiniteDuration() ||
      span == -absl::InfiniteDuration()) {
    return Problem(kWant);
  }
  return span;
}

std::string SpanAsWritten(absl::Duration span) {
  const absl::Duration day = absl::Hours(24);
  if (span >= day && absl::Trunc(span, day) == span) return absl::StrCat(span / day, "d");
  return absl::FormatDuration(span);
}

}  // namespace tidemark
