#include "bench/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

extern char** environ;

namespace tidemark::bench {
namespace {

// A line "Name:   123 kB" of /proc/PID/status, in bytes.
size_t StatusBytes(pid_t pid, const std::string& name) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/status"));
  std::string word;
  while (file >> word) {
    size_t kilobytes = 0;
    if (word == name && file >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

}  // namespace

Child::Child(const std::vector<std::string>& command, const std::string& log) : pid_(-1) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) {
    pid_ = -1;
  }
  posix_spawn_file_actions_destroy(&actions);
}

Child::~Child() {
  if (Running()) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

bool Child::Running() {
  if (pid_ < 0) return false;
  int state = 0;
  if (waitpid(pid_, &state, WNOHANG) == 0) return true;
  exit_code_ = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  pid_ = -1;
  return false;
}

absl::Status Child::WaitForFile(const std::string& path, double seconds) {
  const absl::Time deadline = absl::Now() + absl::Seconds(seconds);
  while (access(path.c_str(), F_OK) != 0) {
    if (!Running()) return absl::UnavailableError("the process ended before it was ready");
    if (absl::Now() > deadline) return absl::UnavailableError(absl::StrCat("no ", path));
    poll(nullptr, 0, /*milliseconds=*/20);
  }
  return absl::OkStatus();
}

int Child::Wait() {
  if (pid_ < 0) return exit_code_;
  int state = 0;
  waitpid(pid_, &state, 0);
  pid_ = -1;
  exit_code_ = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  return exit_code_;
}

double Child::cpu_seconds() const {
  std::ifstream file(absl::StrCat("/proc/", pid_, "/stat"));
  std::string line;
  std::getline(file, line);
  const size_t after_name = line.rfind(')');
  if (after_name == std::string::npos) return 0;
  std::istringstream fields(line.substr(after_name + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;  // state to cmajflt
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

size_t Child::resident_bytes() const { return StatusBytes(pid_, "VmRSS:"); }
size_t Child::peak_bytes() const { return StatusBytes(pid_, "VmHWM:"); }

}  // namespace tidemark::bench
