// A signal between threads that a poll() can wait for beside a socket.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_WAKE_FD_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_WAKE_FD_H_

#include <atomic>

namespace tidemark::ingest {

// Thread-safe. Set until cleared; setting it again costs no system call.
class WakeFd {
 public:
  WakeFd();
  ~WakeFd();
  WakeFd(const WakeFd&) = delete;
  WakeFd& operator=(const WakeFd&) = delete;

  // fd() becomes readable.
  void Set();
  // No longer. Look at what the signal is about after this, not before.
  void Clear();
  bool is_set() const { return set_.load(); }
  int fd() const { return fd_; }

 private:
  const int fd_;
  std::atomic<bool> set_{false};
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_WAKE_FD_H_
