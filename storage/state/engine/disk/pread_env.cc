#include "storage/state/engine/disk/pread_env.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace tidemark::state::engine {
namespace {

// Never NotFound: LevelDB's Get would pass it on, and a table file that is gone would read as a key
// that was never written.
leveldb::Status FileError(const std::string& name, int error) {
  return leveldb::Status::IOError(name, std::strerror(error));
}

class PreadFile final : public leveldb::RandomAccessFile {
 public:
  PreadFile(std::string name, int fd) : name_(std::move(name)), fd_(fd) {}
  ~PreadFile() override { ::close(fd_); }

  leveldb::Status Read(uint64_t offset, size_t size, leveldb::Slice* result,
                       char* scratch) const override {
    size_t done = 0;
    while (done < size) {
      const ssize_t n =
          ::pread(fd_, scratch + done, size - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return FileError(name_, errno);
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    *result = leveldb::Slice(scratch, done);
    return leveldb::Status::OK();
  }

 private:
  const std::string name_;
  const int fd_;
};

class PreadEnvironment final : public leveldb::EnvWrapper {
 public:
  PreadEnvironment() : EnvWrapper(leveldb::Env::Default()) {}

  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** result) override {
    const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      *result = nullptr;
      return FileError(name, errno);
    }
    *result = new PreadFile(name, fd);
    return leveldb::Status::OK();
  }
};

}  // namespace

leveldb::Env* PreadEnv() {
  static PreadEnvironment* const env = new PreadEnvironment();
  return env;
}

}  // namespace tidemark::state::engine
