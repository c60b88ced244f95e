#include "tests/support/tidemarkd_process.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/time/clock.h"
#include "common/check.h"

namespace tidemark::testing {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(1);

int ExitCode(std::optional<int> status) {
  return status.has_value() && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
}

}  // namespace

TempDirectory::TempDirectory() {
  std::string path = (std::filesystem::temp_directory_path() / "tidemark_XXXXXX").string();
  TIDEMARK_CHECK(mkdtemp(path.data()) != nullptr);
  path_ = path;
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDirectory::Write(const std::string& name, const std::string& text) const {
  std::ofstream(File(name), std::ios::binary) << text;
  return File(name);
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string TidemarkdPath() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tidemarkd").string();
}

RunResult RunTidemarkd(const std::vector<std::string>& arguments) {
  const TempDirectory dir;
  ChildOptions options{.argv = {TidemarkdPath()}, .output_file = dir.File("output")};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  auto child = ChildProcess::Start(options);
  TIDEMARK_CHECK(child.ok());
  RunResult result;
  result.exit_code = ExitCode((*child)->Wait(kPatience));
  result.output = ReadText(options.output_file);
  return result;
}

bool TidemarkdProcess::Start(const std::vector<std::string>& arguments) {
  std::filesystem::remove(ready_file());
  ChildOptions options{.argv = {TidemarkdPath(), "--data-dir=" + data_dir(), "--listen=127.0.0.1:0",
                                "--metrics-listen=127.0.0.1:0", "--ready-file=" + ready_file()},
                       .output_file = dir_.File("output")};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  auto child = ChildProcess::Start(options);
  TIDEMARK_CHECK(child.ok());
  child_ = *std::move(child);
  const absl::Time deadline = absl::Now() + kPatience;
  while (!std::filesystem::exists(ready_file())) {
    // Waits for the end of the process, which is the other thing that can happen.
    if (child_->Wait(absl::Milliseconds(5)).has_value() || absl::Now() > deadline) return false;
  }
  int pid = 0;
  return std::sscanf(ReadText(ready_file()).c_str(), "{\"port\":%d,\"metrics_port\":%d,\"pid\":%d}",
                     &port_, &metrics_port_, &pid) == 3;
}

int TidemarkdProcess::Stop() {
  child_->Signal(SIGTERM);
  return AwaitEnd();
}

int TidemarkdProcess::AwaitEnd() { return ExitCode(child_->Wait(kPatience)); }

}  // namespace tidemark::testing
