// A process the benchmark started: its processor time and memory, as the kernel accounts for them.
#ifndef TIDEMARK_BENCH_CHILD_H_
#define TIDEMARK_BENCH_CHILD_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace tidemark::bench {

// Ends with SIGKILL and is waited for when destroyed.
class Child {
 public:
  // Standard output and error go to `log`. A program that cannot be started ends at once.
  Child(const std::vector<std::string>& command, const std::string& log);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Waits until `path` exists. UNAVAILABLE when the process ends first or `seconds` pass.
  absl::Status WaitForFile(const std::string& path, double seconds);
  // Waits for the end; its exit code, or -1 when it was killed.
  int Wait();

  double cpu_seconds() const;     // user and system so far
  size_t resident_bytes() const;  // now
  size_t peak_bytes() const;      // so far

 private:
  bool Running();
  pid_t pid_;
  int exit_code_ = -1;
};

}  // namespace tidemark::bench

#endif  // TIDEMARK_BENCH_CHILD_H_
