// The server's log: one JSON object a line on standard error. Writing never waits: lines go through
// a bounded queue, whose oldest ones are dropped (and counted) when standard error is slower than
// what happens.
//
// Text of callers is data: it is escaped and cut, and cannot end a line or make a field.
//
// Example:
//   log.Write(LogLevel::kInfo, "source changed state", {{"source", name}, {"state", "STREAMING"}});
#ifndef TIDEMARK_SERVER_TELEMETRY_LOG_H_
#define TIDEMARK_SERVER_TELEMETRY_LOG_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/clock.h"

namespace tidemark {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
// "debug", "info", "warning", "error".
std::string_view LogLevelName(LogLevel level);
std::optional<LogLevel> ParseLogLevel(std::string_view name);

struct LogField {
  std::string_view key;  // snake_case
  std::variant<std::string_view, int64_t, double> value;
};

// Thread-safe.
class Log {
 public:
  struct Options {
    LogLevel level = LogLevel::kInfo;
    const Clock* clock = &SystemClock();
    // Takes each line (without its end) on the log's own thread; empty = standard error.
    std::function<void(std::string_view line)> write;
    size_t max_queued = 8192;  // lines
  };

  explicit Log(const Options& options);
  // Writes what is queued.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  bool Enabled(LogLevel level) const { return level >= level_.load(std::memory_order_relaxed); }
  void SetLevel(LogLevel level) { level_.store(level, std::memory_order_relaxed); }

  // Fields with an empty text are left out.
  void Write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

  // Lines dropped since start.
  uint64_t dropped() const;

 private:
  struct Output;

  const Clock& clock_;
  std::atomic<LogLevel> level_;
  const std::unique_ptr<Output> output_;
};

// `text` as a JSON string with its quotes: valid UTF-8, control characters escaped, cut to
// `limit` bytes.
std::string JsonString(std::string_view text, size_t limit = 4096);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TELEMETRY_LOG_H_
