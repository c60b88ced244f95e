#include "server/ingest/postgres/wake_fd.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "common/check.h"

namespace tidemark::ingest {

WakeFd::WakeFd() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { TIDEMARK_CHECK(fd_ >= 0); }

WakeFd::~WakeFd() { close(fd_); }

void WakeFd::Set() {
  if (set_.exchange(true)) return;
  const uint64_t one = 1;
  while (write(fd_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void WakeFd::Clear() {
  // Read before the flag is taken back: a Set in between then writes again, or is seen by what the
  // caller looks at next.
  uint64_t count = 0;
  while (read(fd_, &count, sizeof(count)) < 0 && errno == EINTR) {
  }
  set_.exchange(false);
}

}  // namespace tidemark::ingest
