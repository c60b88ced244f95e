#include "server/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/error.h"
#include "common/strings.h"
#include "server/config/config.h"

namespace tidemark {
namespace {

constexpr size_t kMaxBytes = 20;

absl::Status CheckName(const std::string& name, std::string_view where) {
  const bool valid = !name.empty() && name.size() <= kMaxBytes &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                     });
  if (valid) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(ToAbsl(where),
                                                 ": the name of an instance has 1 to ", kMaxBytes,
                                                 " of a-z, 0-9 and _; this is ", Quoted(name)));
}

absl::Status CannotWrite(const std::string& path) {
  return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::string> InstanceName(const std::string& data_dir, const std::string& wanted) {
  if (!wanted.empty()) {
    TIDEMARK_RETURN_IF_ERROR(CheckName(wanted, "--instance"));
    return wanted;
  }
  const std::string path = (std::filesystem::path(data_dir) / "instance").string();
  if (std::filesystem::exists(path)) {
    TIDEMARK_ASSIGN_OR_RETURN(std::string name, ReadFile(path, 4096));
    absl::StripAsciiWhitespace(&name);
    TIDEMARK_RETURN_IF_ERROR(CheckName(name, path));
    return name;
  }
  const std::string name = absl::StrFormat("%08x", std::random_device()());
  TIDEMARK_RETURN_IF_ERROR(WriteWhole(path, name + "\n"));
  return name;
}

absl::Status WriteWhole(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return CannotWrite(part);
  const bool written =
      write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
  if (!written) {
    const absl::Status status = CannotWrite(part);
    close(fd);
    return status;
  }
  close(fd);
  if (rename(part.c_str(), path.c_str()) != 0) return CannotWrite(path);
  return absl::OkStatus();
}

}  // namespace tidemark
