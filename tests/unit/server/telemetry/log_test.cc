#include "server/telemetry/log.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/mutex.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

using nlohmann::json;

// Lines as they are written, each parsed.
class Lines {
 public:
  std::function<void(std::string_view)> Writer() {
    return [this](std::string_view line) {
      EXPECT_EQ(line.find('\n'), std::string_view::npos) << line;
      lines_.push_back(json::parse(line));
    };
  }
  // Once the log is gone.
  const std::vector<json>& all() const { return lines_; }

 private:
  std::vector<json> lines_;
};

TEST(LogTest, OneJsonObjectALine) {
  const ManualClock clock(absl::FromUnixMicros(1'796'076'245'000'123));
  Lines out;
  {
    Log log({.clock = &clock, .write = out.Writer()});
    log.Write(LogLevel::kInfo, "call served",
              {{"method", "tidemark.v1.StateService/GetRow"},
               {"calls", int64_t{3}},
               {"latency_ms", 0.25},
               {"request_id", ""}});
    log.Write(LogLevel::kError, "second");
  }
  const auto& lines = out.all();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], json::parse(R"({"time": "2026-11-30T22:04:05.000123Z", "severity": "INFO",
      "message": "call served", "method": "tidemark.v1.StateService/GetRow", "calls": 3,
      "latency_ms": 0.25})"));
  EXPECT_EQ(lines[1]["severity"], "ERROR");
}

TEST(LogTest, HostileTextCannotEndALineOrMakeAField) {
  const std::string hostile[] = {
      "a\nb\r\n{\"severity\":\"ERROR\"}",
      "\",\"principal\":\"root",
      std::string("nul\0byte", 8),
      "\xff\xfe broken \xc3",
      "\x1b[31m red \x7f",
      "\xe2\x80\xa8 line separator",
      std::string(100'000, 'x'),
  };
  Lines out;
  {
    Log log({.write = out.Writer()});
    for (const std::string& text : hostile) {
      log.Write(LogLevel::kInfo, text, {{"error", text}, {"n", std::nan("")}});
    }
  }
  const auto& lines = out.all();
  ASSERT_EQ(lines.size(), std::size(hostile));
  for (const json& line : lines) {
    EXPECT_EQ(line.size(), 5u) << line;
    EXPECT_EQ(line["severity"], "INFO");
    EXPECT_TRUE(line["n"].is_null());
    EXPECT_LE(line.dump().size(), 20'000u);
  }
  EXPECT_EQ(lines[1]["error"], hostile[1]);
  EXPECT_EQ(lines[3]["error"], "?? broken ?");
}

TEST(LogTest, LinesBelowTheLevelAreNotWritten) {
  Lines out;
  {
    Log log({.level = LogLevel::kWarning, .write = out.Writer()});
    EXPECT_FALSE(log.Enabled(LogLevel::kInfo));
    log.Write(LogLevel::kInfo, "no");
    log.SetLevel(LogLevel::kDebug);
    log.Write(LogLevel::kDebug, "yes");
  }
  const auto& lines = out.all();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["message"], "yes");
}

TEST(LogTest, AStuckStandardErrorNeverHoldsUpAWriter) {
  Mutex mutex;
  CondVar changed;
  bool stuck = false;
  bool released = false;
  Log log({.write =
               [&](std::string_view) {
                 MutexLock lock(mutex);
                 stuck = true;
                 changed.NotifyAll();
                 while (!released) changed.Wait(mutex);
               },
           .max_queued = 4});
  log.Write(LogLevel::kInfo, "first");
  {
    MutexLock lock(mutex);
    while (!stuck) changed.Wait(mutex);
  }
  for (int i = 0; i < 10; ++i) log.Write(LogLevel::kInfo, "more");
  EXPECT_EQ(log.dropped(), 6u);
  MutexLock lock(mutex);
  released = true;
  changed.NotifyAll();
}

TEST(LogTest, LevelsHaveNames) {
  EXPECT_EQ(ParseLogLevel("debug"), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("info"), LogLevel::kInfo);
  EXPECT_EQ(ParseLogLevel("warning"), LogLevel::kWarning);
  EXPECT_EQ(ParseLogLevel("error"), LogLevel::kError);
  EXPECT_EQ(ParseLogLevel("INFO"), std::nullopt);
}

}  // namespace
}  // namespace tidemark
