#include "tests/support/child_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

extern char** environ;

namespace tidemark::testing {
namespace {

// glibc's wrapper came after the system call; older headers have only the number.
int PidfdOpen(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

// True when `fd` became readable before the deadline.
bool WaitReadable(int fd, absl::Time deadline) {
  while (true) {
    const absl::Duration left = deadline - absl::Now();
    pollfd entry = {fd, POLLIN, 0};
    const int timeout = static_cast<int>(absl::ToInt64Milliseconds(
        std::clamp(left + absl::Milliseconds(1), absl::ZeroDuration(), absl::Minutes(1))));
    const int ready = poll(&entry, 1, timeout);
    if (ready > 0) return true;
    if (ready == 0 && absl::Now() >= deadline) return false;
  }
}

// Processes whose parent is `parent`, from /proc.
std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return children;
  while (const dirent* entry = readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
    std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    // "pid (name) state ppid ...": the name may hold anything, so look behind its last bracket.
    const size_t end = stat.rfind(')');
    if (end == std::string::npos) continue;
    char state = 0;
    pid_t ppid = 0;
    if (std::sscanf(stat.c_str() + end + 1, " %c %d", &state, &ppid) == 2 && ppid == parent) {
      children.push_back(pid);
    }
  }
  closedir(proc);
  return children;
}

void KillDescendants(pid_t pid, std::vector<int>& pidfds) {
  for (pid_t child : ChildrenOf(pid)) {
    const int fd = PidfdOpen(child);
    kill(child, SIGSTOP);
    KillDescendants(child, pidfds);
    kill(child, SIGKILL);
    if (fd >= 0) pidfds.push_back(fd);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const ChildOptions& options) {
  // Everything that allocates is done before the fork: the child of a process with threads may
  // only make system calls.
  std::vector<char*> argv;
  for (const std::string& arg : options.argv) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  for (const std::string& entry : options.environment) {
    environment.push_back(const_cast<char*>(entry.c_str()));
  }
  environment.push_back(nullptr);
  const passwd* user = nullptr;
  if (!options.run_as.empty() && geteuid() == 0) {
    user = getpwnam(options.run_as.c_str());
    if (user == nullptr) {
      return absl::NotFoundError(absl::StrCat("there is no user ", options.run_as));
    }
  }
  const uid_t uid = user != nullptr ? user->pw_uid : 0;
  const gid_t gid = user != nullptr ? user->pw_gid : 0;

  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return absl::UnavailableError(absl::StrCat("fork: ", std::strerror(errno)));
  if (pid == 0) {
    setsid();
    if (user != nullptr && (setgroups(0, nullptr) != 0 || setgid(gid) != 0 || setuid(uid) != 0)) {
      _exit(127);
    }
    // After setuid, which clears it.
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (getppid() != parent) _exit(127);
    if (!options.directory.empty() && chdir(options.directory.c_str()) != 0) _exit(127);
    if (!options.output_file.empty()) {
      const int out = open(options.output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      if (out < 0) _exit(127);
      dup2(out, STDOUT_FILENO);
      dup2(out, STDERR_FILENO);
      close(out);
    }
    const int in = open("/dev/null", O_RDONLY);
    dup2(in, STDIN_FILENO);
    execve(argv[0], argv.data(), environment.data());
    _exit(127);
  }
  const int pidfd = PidfdOpen(pid);
  if (pidfd < 0) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return absl::UnavailableError(absl::StrCat("pidfd_open: ", std::strerror(errno)));
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, pidfd));
}

ChildProcess::~ChildProcess() {
  KillTree();
  close(pidfd_);
}

bool ChildProcess::running() { return !Wait(absl::ZeroDuration()).has_value(); }

std::optional<int> ChildProcess::Wait(absl::Duration timeout) {
  if (!status_.has_value() && WaitReadable(pidfd_, absl::Now() + timeout)) {
    int status = 0;
    if (waitpid(pid_, &status, 0) == pid_) status_ = status;
  }
  return status_;
}

void ChildProcess::Signal(int signal) {
  if (!status_.has_value()) kill(pid_, signal);
}

void ChildProcess::KillTree() {
  if (status_.has_value()) return;
  // Stopped first, so that it starts no other while its children are being killed.
  kill(pid_, SIGSTOP);
  std::vector<int> pidfds;
  KillDescendants(pid_, pidfds);
  kill(pid_, SIGKILL);
  Wait(absl::InfiniteDuration());
  for (int fd : pidfds) {
    WaitReadable(fd, absl::InfiniteFuture());
    close(fd);
  }
}

absl::Status RunToEnd(const ChildOptions& options, absl::Duration timeout) {
  auto child = ChildProcess::Start(options);
  if (!child.ok()) return child.status();
  const std::optional<int> status = (*child)->Wait(timeout);
  if (!status.has_value()) {
    return absl::DeadlineExceededError(absl::StrCat(options.argv[0], " did not end"));
  }
  if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0) {
    return absl::InternalError(absl::StrCat(options.argv[0], " ended with wait status ", *status,
                                            ": ", TailOf(options.output_file, 2000)));
  }
  return absl::OkStatus();
}

std::string TailOf(const std::string& path, size_t limit) {
  std::ifstream file(path, std::ios::binary);
  std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return all.size() <= limit ? all : all.substr(all.size() - limit);
}

}  // namespace tidemark::testing
