// The single-valued keys of tidemark.yaml as one table: reading, checking, printing and the
// documentation's test all walk it.
#ifndef TIDEMARK_SERVER_CONFIG_CONFIG_KEYS_H_
#define TIDEMARK_SERVER_CONFIG_CONFIG_KEYS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/config/config.h"

namespace tidemark {

struct TextKey {
  std::string* value;
};
struct PathKey {
  std::string* value;
};
struct BytesKey {  // "8MiB"
  uint64_t* value;
  uint64_t min, max;
};
struct CountKey {
  uint64_t* value;
  uint64_t min, max;
};
struct SpanKey {  // "20s", "7d"
  absl::Duration* value;
  absl::Duration min, max;
};
struct LevelKey {
  LogLevel* value;
};

struct ConfigKey {
  std::string_view section;
  std::string_view name;
  std::variant<TextKey, PathKey, BytesKey, CountKey, SpanKey, LevelKey> value;
};

// Grouped by section, in the order of the documentation. The pointers are into `config`.
std::vector<ConfigKey> ConfigKeys(Config& config);
// The sections, in order.
std::vector<std::string> ConfigSections();
// Keys of a section that belong to later versions.
std::vector<std::string> LaterKeys(std::string_view section);
// Top-level keys that belong to later versions.
std::vector<std::string> LaterSections();

// Sets the key from its text; the error says what would be right, without place or line.
absl::Status SetKey(const ConfigKey& key, const std::string& text);
// The key's value as SetKey takes it.
std::string KeyText(const ConfigKey& key);

// "1h30m", "7d". The error says what would be right.
absl::StatusOr<absl::Duration> ParseSpan(std::string_view text);
std::string SpanAsWritten(absl::Duration span);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_CONFIG_CONFIG_KEYS_H_
