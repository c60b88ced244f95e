// A process started by a test: owned, and ended with it.
//
// Example:
//   auto child = ChildProcess::Start({.argv = {"/usr/bin/sleep", "100"}});
//   ASSERT_THAT(child, IsOk());
//   (*child)->KillTree();                      // kill -9, children too, waits until all are gone
#ifndef TIDEMARK_TESTS_SUPPORT_CHILD_PROCESS_H_
#define TIDEMARK_TESTS_SUPPORT_CHILD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::testing {

struct ChildOptions {
  std::vector<std::string> argv;         // argv[0] is the path of the program
  std::vector<std::string> environment;  // "NAME=value", beside the test's own
  std::string output_file;  // standard output and error, appended; empty: the test's own
  std::string run_as;       // name of a user, when the test runs as root; empty: as the test does
  std::string directory;    // working directory; empty: the test's own
};

// Not thread-safe. The child leads a session of its own and gets SIGQUIT when the thread that
// started it ends, so that a test that crashes leaves nothing behind: start it from a thread that
// lives as long as the child should.
class ChildProcess {
 public:
  // Errors of fork; a program that cannot be started exits with 127.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ChildOptions& options);
  ~ChildProcess();  // KillTree()
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_; }  // readable when the child has exited
  bool running();
  // Wait status as of waitpid, once it has exited; nullopt when it has not within `timeout`.
  std::optional<int> Wait(absl::Duration timeout);
  void Signal(int signal);
  // kill -9 of the child and of all its descendants; returns when every one of them is gone.
  void KillTree();

 private:
  ChildProcess(pid_t pid, int pidfd) : pid_(pid), pidfd_(pidfd) {}

  const pid_t pid_;
  const int pidfd_;
  std::optional<int> status_;
};

// Runs a program to its end. DEADLINE_EXCEEDED after `timeout`; INTERNAL with the end of its output
// when it did not exit with 0 (needs `output_file`).
absl::Status RunToEnd(const ChildOptions& options, absl::Duration timeout);

// The last `limit` bytes of a file; empty when it cannot be read.
std::string TailOf(const std::string& path, size_t limit);

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_CHILD_PROCESS_H_
