// The README's tour, line by line as a reader would paste it, against the real binary that follows
// a real PostgreSQL under load.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/child_process.h"
#include "tests/support/postgres_server.h"
#include "tests/support/status_matchers.h"

namespace tidemark::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void WriteFile(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The lines of the ```console blocks.
std::vector<std::string> TourLines(const std::string& readme) {
  std::vector<std::string> lines;
  bool inside = false;
  for (absl::string_view line : absl::StrSplit(readme, '\n')) {
    if (line == "```console") {
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      lines.emplace_back(line);
    }
  }
  return lines;
}

// The last `"name": "..."` of a JSON text.
std::string FieldOf(const std::string& json, const std::string& name) {
  const std::regex field("\"" + name + "\": *\"([^\"]*)\"");
  std::string value;
  for (std::sregex_iterator it(json.begin(), json.end(), field), end; it != end; ++it) {
    value = (*it)[1];
  }
  return value;
}

class TourTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (PostgresBinDir().empty()) GTEST_SKIP() << "PostgreSQL 15 is not installed";
    work_ = fs::path(::testing::TempDir()) / ("tour." + std::to_string(::getpid()));
    fs::create_directories(work_ / "bin");
    auto erp = PostgresServer::Create();
    ASSERT_THAT(erp, IsOk());
    erp_ = *std::move(erp);
    const std::string dsn = erp_->TcpDsn(CreateDatabase(*erp_));
    ASSERT_THAT(RunToEnd({.argv = {bin_ / "erp_load", "--dsn=" + dsn, "--init", "--customers=50",
                                   "--schema=" + (source_ / "examples/erp/schema.sql").string()},
                          .output_file = work_ / "init.log"},
                         absl::Seconds(60)),
                IsOk());
    load_ = StartProgram("erp_load", {"--dsn=" + dsn, "--customers=50", "--rate=50"});
    WriteFile(work_ / "erp.dsn", dsn + "\n");
    fs::copy_file(source_ / "examples/credit_desk/tidemark.yaml", work_ / "tidemark.yaml");
    server_ = StartProgram("tidemarkd", {"--config=" + (work_ / "tidemark.yaml").string(),
                                         "--data-dir=" + (work_ / "data").string(),
                                         "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0",
                                         "--ready-file=" + (work_ / "ready").string()});
    AwaitServing();
  }

  void TearDown() override {
    server_.reset();
    load_.reset();
    std::error_code ignored;
    fs::remove_all(work_, ignored);
  }

  std::unique_ptr<ChildProcess> StartProgram(const std::string& name,
                                             const std::vector<std::string>& arguments) {
    ChildOptions options{.argv = {bin_ / name}, .output_file = work_ / (name + ".log")};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    auto child = ChildProcess::Start(options);
    EXPECT_THAT(child, IsOk());
    return child.ok() ? *std::move(child) : nullptr;
  }

  // Until the ready file says the port and the first copy is complete.
  void AwaitServing() {
    const absl::Time deadline = absl::Now() + absl::Seconds(60);
    const std::string row =
        "grpcurl -plaintext -d '"
        R"({"table": "customer_state",)"
        R"( "key": [{"string_value": "C00007"}]})"
        "' 127.0.0.1:7400 tidemark.v1.StateService/GetRow";
    for (;;) {
      // Nothing tells of a copy's end but asking; the wait ends early when the server dies.
      ASSERT_EQ(server_->Wait(absl::Milliseconds(20)), std::nullopt)
          << TailOf(work_ / "tidemarkd.log", 4000);
      ASSERT_LT(absl::Now(), deadline)
          << output_ << TailOf(work_ / "line.err", 2000) << TailOf(work_ / "tidemarkd.log", 4000);
      std::smatch port;
      const std::string ready = ReadFile(work_ / "ready");
      if (std::regex_search(ready, port, std::regex("\"port\": *([0-9]+)"))) {
        target_ = "127.0.0.1:" + port[1].str();
        UseProgram(bin_ / "grpc_call");
        if (Run(row) == 0 && output_.find("\"row\"") != std::string::npos) return;
      }
    }
  }

  // Makes `grpcurl` mean `program` in the lines that follow.
  void UseProgram(const fs::path& program) {
    std::error_code ignored;
    fs::remove(work_ / "bin/grpcurl", ignored);
    fs::create_symlink(program, work_ / "bin/grpcurl");
  }

  // Runs one line in a shell; its standard output is output_, its exit code the result.
  int Run(const std::string& line) {
    const std::string command = absl::StrReplaceAll(line, {{"127.0.0.1:7400", target_}});
    const std::string out = work_ / "line.out";
    WriteFile(out, "");
    auto shell =
        ChildProcess::Start({.argv = {"/bin/bash", "-c", command + " >" + out},
                             .environment = {"PATH=" + (work_ / "bin").string() + ":/usr/bin:/bin",
                                             "TOKEN=" + token_, "POSITION=" + position_},
                             .output_file = work_ / "line.err"});
    EXPECT_THAT(shell, IsOk());
    const auto status = (*shell)->Wait(absl::Seconds(60));
    output_ = ReadFile(out);
    return status.has_value() && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
  }

  void TakeTheTour() {
    int calls = 0;
    std::string row_seen, position_seen;
    for (const std::string& line : TourLines(ReadFile(source_ / "README.md"))) {
      SCOPED_TRACE(line);
      if (absl::StartsWith(line, "TOKEN=")) {
        token_ = FieldOf(output_, "token");
        row_seen = output_;
        ASSERT_NE(token_, "");
      } else if (absl::StartsWith(line, "POSITION=")) {
        position_ = position_seen;
        ASSERT_NE(position_, "");
      } else {
        ASSERT_TRUE(absl::StartsWith(line, "grpcurl -plaintext ")) << "a line of another kind";
        const bool endless = line.find("-max-time") != std::string::npos;
        // grpcurl's exit code is 64 and the status code; 4 is DEADLINE_EXCEEDED.
        EXPECT_EQ(Run(line), endless ? 68 : 0) << TailOf(work_ / "line.err", 2000);
        EXPECT_NE(output_, "");
        if (line.find("$TOKEN") != std::string::npos) {
          EXPECT_EQ(output_, row_seen);
        }
        if (line.find("nobody") != std::string::npos) {
          EXPECT_THAT(output_, HasSubstr("\"token\""));
          EXPECT_EQ(output_.find("\"row\""), std::string::npos);
        }
        if (line.find("Health") != std::string::npos) {
          EXPECT_THAT(output_, HasSubstr("SERVING"));
        }
        if (endless) {
          EXPECT_THAT(output_, HasSubstr("\"changes\""));
        }
        if (const std::string position = FieldOf(output_, "position"); !position.empty()) {
          position_seen = position;
        }
        ++calls;
      }
    }
    EXPECT_GE(calls, 10) << "the tour was not found in the README";
  }

  const fs::path source_ = Environment("TIDEMARK_SOURCE_DIR");
  const fs::path bin_ = Environment("TIDEMARK_BIN_DIR");
  fs::path work_;
  std::unique_ptr<PostgresServer> erp_;
  std::unique_ptr<ChildProcess> load_;
  std::unique_ptr<ChildProcess> server_;
  std::string target_;
  std::string output_;
  std::string token_;
  std::string position_;
};

TEST_F(TourTest, EveryLineOfTheReadmeWorksThroughReflectionAlone) {
  UseProgram(bin_ / "grpc_call");
  TakeTheTour();
}

TEST_F(TourTest, EveryLineOfTheReadmeWorksWithGrpcurl) {
  const fs::path grpcurl = source_ / ".tools/grpcurl";
  if (!fs::exists(grpcurl)) {
    GTEST_SKIP() << "grpcurl is not installed (tools/install_grpcurl); the lines were run by our "
                    "reflection client only";
  }
  UseProgram(grpcurl);
  TakeTheTour();
}

}  // namespace
}  // namespace tidemark::testing
