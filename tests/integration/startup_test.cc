// What the binary refuses to start with: exit code, one plain message with file and cause, and
// nothing changed on disk.
#include <sys/socket.h>

#include <filesystem>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/tidemarkd_process.h"

namespace tidemark {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReadText;
using testing::RunResult;
using testing::RunTidemarkd;
using testing::TempDirectory;
using testing::TidemarkdProcess;

// The last line of what it wrote: the message.
std::string LastLine(const std::string& output) {
  const size_t end = output.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t start = output.rfind('\n', end);
  return output.substr(start + 1, end - start);
}

// Runs with `arguments` and free ports, and expects the message.
std::string Refusal(const TempDirectory& dir, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--data-dir=" + dir.File("data"), "--listen=127.0.0.1:0",
                                       "--ready-file=" + dir.File("ready")});
  const RunResult result = RunTidemarkd(arguments);
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_FALSE(std::filesystem::exists(dir.File("ready")));
  return LastLine(result.output);
}

// Name -> bytes of the files below a directory, but for LevelDB's diary and locks.
std::map<std::string, std::string> FilesOf(const std::string& dir) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.rfind("LOG", 0) == 0 || name == "LOCK") continue;
    files[entry.path().string()] = ReadText(entry.path().string());
  }
  return files;
}

TEST(StartupTest, UsageErrorsEndWithTwo) {
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } cases[] = {
      {{}, "tidemarkd: give --data-dir, --config or both; see --help"},
      {{"--data-dir=/x", "--colour=blue"}, "there is no flag \"--colour=blue\"; see --help"},
      {{"--data-dir"}, "--data-dir needs a value"},
      {{"serve"}, "\"serve\" is no flag"},
      {{"--data-dir=/x", "--channelz=perhaps"}, "--channelz does not take \"perhaps\""},
      {{"--data-dir=/x", "--log-level=loud"}, "--log-level takes debug, info, warning or error"},
      {{"--data-dir=/x", "--ingest-file=f.jsonl"}, "--ingest-file is not yet available"},
      {{"--data-dir=/x", "--exit-when-idle"}, "--exit-when-idle is not yet available"},
      {{"--data-dir=/x", "--verify"}, "--verify is not yet available"},
      {{"--data-dir=/x", "--restore=b"}, "--restore is not yet available"},
      {{"--data-dir=/x", "--rebuild=t"}, "--rebuild is not yet available"},
      {{"--data-dir=/x", "--migrate"}, "--migrate is not yet available"},
  };
  for (const auto& c : cases) {
    const RunResult result = RunTidemarkd(c.arguments);
    EXPECT_EQ(result.exit_code, 2) << result.output;
    EXPECT_THAT(result.output, HasSubstr(c.message));
  }
}

TEST(StartupTest, HelpAndVersionAndPrintedConfigurationEndWithZero) {
  const RunResult help = RunTidemarkd({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, HasSubstr("--data-dir=VALUE"));
  const RunResult version = RunTidemarkd({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.output, HasSubstr("tidemarkd "));
  const TempDirectory dir;
  const std::string config =
      dir.Write("tidemark.yaml",
                "sources: [{name: erp, kind: postgres, dsn_file: erp.dsn}]\nlog: {level: debug}\n");
  dir.Write("erp.dsn", "host=db password=hunter2\n");
  const RunResult printed = RunTidemarkd({"--config", config, "--print-config"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.output, HasSubstr("level: debug"));
  EXPECT_THAT(printed.output, HasSubstr("drain_deadline: 20s"));
  EXPECT_THAT(printed.output, Not(HasSubstr("hunter2")));
  const RunResult checked = RunTidemarkd({"--config", config, "--check-config"});
  EXPECT_EQ(checked.exit_code, 0);
  EXPECT_THAT(checked.output, EndsWith("tidemark.yaml: no problem found\n"));
  EXPECT_FALSE(std::filesystem::exists(dir.File("state")));
}

TEST(StartupTest, AConfigurationThatCannotWorkIsNamedWithItsLine) {
  const TempDirectory dir;
  const std::string config = dir.Write("tidemark.yaml", "state:\n  row_cash: 1GiB\n");
  const std::string message = Refusal(dir, {"--config=" + config});
  EXPECT_THAT(message, HasSubstr("tidemark.yaml: line 2: \"state\" has no key \"row_cash\""));
  EXPECT_EQ(RunTidemarkd({"--config=" + config, "--check-config"}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(dir.File("data")));
}

TEST(StartupTest, FilesThatAreMissingAreNamed) {
  const TempDirectory dir;
  EXPECT_EQ(Refusal(dir, {"--config=" + dir.File("none.yaml")}),
            "tidemarkd: cannot read " + dir.File("none.yaml") + ": No such file or directory");
  const std::string tokens = dir.Write("a.yaml", "auth: {token_file: tokens.yaml}\n");
  EXPECT_THAT(Refusal(dir, {"--config=" + tokens}),
              HasSubstr("cannot read " + dir.File("tokens.yaml")));
  const std::string source =
      dir.Write("b.yaml", "sources: [{name: erp, kind: postgres, dsn_file: erp.dsn}]\n");
  EXPECT_THAT(Refusal(dir, {"--config=" + source}),
              HasSubstr("cannot read " + dir.File("erp.dsn")));
  dir.Write("erp.dsn", "\n");
  EXPECT_THAT(Refusal(dir, {"--config=" + source}),
              HasSubstr(dir.File("erp.dsn") + " holds no connection string"));
}

TEST(StartupTest, ADsnThatLibpqCannotReadIsRefusedWithoutItsSecrets) {
  const TempDirectory dir;
  const std::string config =
      dir.Write("tidemark.yaml", "sources: [{name: erp, kind: postgres, dsn_file: erp.dsn}]\n");
  dir.Write("erp.dsn", "host=db passwort=hunter2\n");
  const std::string problem =
      dir.File("erp.dsn") + " is no connection string: invalid connection option \"passwort\"";
  EXPECT_EQ(Refusal(dir, {"--config=" + config}), "tidemarkd: " + problem);
  const RunResult checked = RunTidemarkd({"--config=" + config, "--check-config"});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_EQ(checked.output, "tidemarkd: " + problem + "\n");
  dir.Write("erp.dsn", "host=db password=my hunter2 user=u\n");
  const std::string secret = Refusal(dir, {"--config=" + config});
  EXPECT_THAT(secret, HasSubstr("is no connection string: missing \"=\" after a word of it"));
  EXPECT_THAT(secret, Not(HasSubstr("hunter2")));
}

TEST(StartupTest, WithoutAuthenticationOtherMachinesAreNotServed) {
  const TempDirectory dir;
  const RunResult result = RunTidemarkd({"--data-dir=" + dir.File("data"), "--listen=0.0.0.0:0"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("listens on loopback only"));
}

TEST(StartupTest, AnAddressInUseIsNamed) {
  const TempDirectory dir;
  TidemarkdProcess first(dir);
  ASSERT_TRUE(first.Start()) << first.output();
  const TempDirectory other;
  const RunResult grpc = RunTidemarkd(
      {"--data-dir=" + other.File("data"), "--listen=" + first.target(), "--metrics-listen=off"});
  EXPECT_EQ(grpc.exit_code, 1);
  EXPECT_THAT(LastLine(grpc.output), HasSubstr("cannot listen at " + first.target()));
  const std::string metrics = "127.0.0.1:" + std::to_string(first.metrics_port());
  EXPECT_THAT(Refusal(other, {"--metrics-listen=" + metrics}),
              HasSubstr("cannot listen for metrics at " + metrics));
  EXPECT_EQ(first.Stop(), 0);
}

TEST(StartupTest, ADirectoryBelongsToOneProcess) {
  const TempDirectory dir;
  TidemarkdProcess first(dir);
  ASSERT_TRUE(first.Start()) << first.output();
  const RunResult second = RunTidemarkd({"--data-dir=" + first.data_dir(), "--listen=127.0.0.1:0"});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(LastLine(second.output), HasSubstr(first.data_dir() + "/state"));
  EXPECT_EQ(first.Stop(), 0);
}

// Case O-KV-01. A process that cannot answer says so by not being there: nothing listens, the exit
// code is 1, and the message names file and cause. The directory is left as it is.
TEST(StartupTest, O_KV_01_ADamagedOrMissingCurrentIsRefusedAndNothingIsMadeAnew) {
  const TempDirectory dir;
  const std::string current = dir.File("data/state/CURRENT");
  {
    TidemarkdProcess server(dir);
    ASSERT_TRUE(server.Start()) << server.output();
    ASSERT_EQ(server.Stop(), 0);
  }
  const std::string good = ReadText(current);
  ASSERT_THAT(good, HasSubstr("MANIFEST"));
  const std::pair<const char*, std::string> damages[] = {
      {"empty", ""},
      {"NUL bytes", std::string(16, '\0')},
      {"without its newline", good.substr(0, good.size() - 1)},
      {"names a file that is not there", "MANIFEST-999999\n"},
  };
  for (const auto& [what, bytes] : damages) {
    SCOPED_TRACE(what);
    dir.Write("data/state/CURRENT", bytes);
    const auto before = FilesOf(dir.File("data/state"));
    EXPECT_THAT(Refusal(dir, {}), HasSubstr("CURRENT"));
    EXPECT_EQ(FilesOf(dir.File("data/state")), before);
  }
  std::filesystem::remove(current);
  const auto before = FilesOf(dir.File("data/state"));
  EXPECT_THAT(Refusal(dir, {}), HasSubstr("CURRENT"));
  EXPECT_EQ(FilesOf(dir.File("data/state")), before);

  // The documented ways back: the file from a copy, or the directory out of the way.
  dir.Write("data/state/CURRENT", good);
  TidemarkdProcess repaired(dir);
  EXPECT_TRUE(repaired.Start()) << repaired.output();
  EXPECT_EQ(repaired.Stop(), 0);
  std::filesystem::remove(current);
  std::filesystem::rename(dir.File("data/state"), dir.File("data/state.damaged"));
  TidemarkdProcess rebuilt(dir);
  EXPECT_TRUE(rebuilt.Start()) << rebuilt.output();
  EXPECT_EQ(rebuilt.Stop(), 0);
}

}  // namespace
}  // namespace tidemark
