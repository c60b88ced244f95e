#include "server/telemetry/log.h"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cmath>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/strings.h"

namespace tidemark {
namespace {

std::string_view SeverityName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARNING";
    case LogLevel::kError:
      return "ERROR";
  }
  return "";
}

class FunctionSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FunctionSink(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& line) override {
    write_({line.payload.data(), line.payload.size()});
  }
  void flush_() override {}

  const std::function<void(std::string_view)> write_;
};

void AppendValue(const LogField& field, std::string& line) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    line += JsonString(*text);
  } else if (const auto* number = std::get_if<int64_t>(&field.value)) {
    absl::StrAppend(&line, *number);
  } else {
    const double real = std::get<double>(field.value);
    line += std::isfinite(real) ? absl::StrCat(real) : "null";
  }
}

}  // namespace

std::string_view LogLevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "";
}

std::optional<LogLevel> ParseLogLevel(std::string_view name) {
  for (LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    if (LogLevelName(level) == name) return level;
  }
  return std::nullopt;
}

struct Log::Output {
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<spdlog::async_logger> logger;
};

Log::Log(const Options& options)
    : clock_(*options.clock), level_(options.level), output_(new Output) {
  spdlog::sink_ptr sink;
  if (options.write) {
    sink = std::make_shared<FunctionSink>(options.write);
  } else {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  sink->set_pattern("%v");
  output_->pool = std::make_shared<spdlog::details::thread_pool>(options.max_queued, 1);
  output_->logger = std::make_shared<spdlog::async_logger>(
      "tidemark", std::move(sink), output_->pool, spdlog::async_overflow_policy::overrun_oldest);
  output_->logger->set_level(spdlog::level::trace);
}

Log::~Log() {
  output_->logger->flush();
  output_->logger.reset();
  // Joins its thread once the queue is empty.
  output_->pool.reset();
}

void Log::Write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!Enabled(level)) return;
  std::string line = absl::StrCat(
      "{\"time\":\"", absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", clock_.Now(), absl::UTCTimeZone()),
      "\",\"severity\":\"", ToAbsl(SeverityName(level)), "\",\"message\":", JsonString(message));
  for (const LogField& field : fields) {
    const auto* text = std::get_if<std::string_view>(&field.value);
    if (text != nullptr && text->empty()) continue;
    absl::StrAppend(&line, ",", JsonString(field.key), ":");
    AppendValue(field, line);
  }
  line += '}';
  output_->logger->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
}

uint64_t Log::dropped() const { return output_->pool->overrun_counter(); }

std::string JsonString(std::string_view text, size_t limit) {
  std::string out = "\"";
  for (const char c : ValidUtf8(text, limit)) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          absl::StrAppendFormat(&out, "\\u%04x", c);
        } else {
          out += c;
        }
    }
  }
  out += '"';
  return out;
}

}  // namespace tidemark
