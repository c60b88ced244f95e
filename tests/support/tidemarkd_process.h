// The real server as a process of its own.
//
// Example:
//   TidemarkdProcess server(dir);                       // dir: for data, ready file, output
//   ASSERT_TRUE(server.Start({"--config=" + config}));  // serves on free ports
//   ... server.target() ...
//   EXPECT_EQ(server.Stop(), 0);
#ifndef TIDEMARK_TESTS_SUPPORT_TIDEMARKD_PROCESS_H_
#define TIDEMARK_TESTS_SUPPORT_TIDEMARKD_PROCESS_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/support/child_process.h"

namespace tidemark::testing {

// A fresh, empty directory, removed with the object.
class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file in it and returns its path.
  std::string Write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

std::string ReadText(const std::string& path);

// How a run ended that was not meant to go on.
struct RunResult {
  int exit_code = -1;  // -1: ended by a signal, or not at all
  std::string output;  // standard output and error
};

// The binary beside the test's own.
std::string TidemarkdPath();

// Runs the server with exactly these arguments, to its end.
RunResult RunTidemarkd(const std::vector<std::string>& arguments);

// Not thread-safe.
class TidemarkdProcess {
 public:
  // Data go to dir/data. The directory outlives the object.
  explicit TidemarkdProcess(const TempDirectory& dir) : dir_(dir) {}

  // Starts with --data-dir, free ports and a ready file beside `arguments`; true once it serves.
  // False when it ended or does not serve within a minute: output() says why.
  bool Start(const std::vector<std::string>& arguments = {});
  void Signal(int signal) { child_->Signal(signal); }
  // SIGTERM, and the exit code; -1 when it did not exit within a minute, or by a signal.
  int Stop();
  // The exit code once it ends by itself; as Stop.
  int AwaitEnd();
  void Kill() { child_->KillTree(); }

  int port() const { return port_; }
  int metrics_port() const { return metrics_port_; }
  int pid() const { return child_->pid(); }
  std::string target() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string ready_file() const { return dir_.File("ready.json"); }
  std::string data_dir() const { return dir_.File("data"); }
  // Everything it wrote since the first Start.
  std::string output() const { return ReadText(dir_.File("output")); }

 private:
  const TempDirectory& dir_;
  std::unique_ptr<ChildProcess> child_;
  int port_ = 0;
  int metrics_port_ = 0;
};

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_TIDEMARKD_PROCESS_H_
