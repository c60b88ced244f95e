// A file system in memory that knows which bytes were synced, loses the others in a crash, and
// fails when told to.
#ifndef TIDEMARK_TESTS_SUPPORT_FAULT_ENV_H_
#define TIDEMARK_TESTS_SUPPORT_FAULT_ENV_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/mutex.h"
#include "leveldb/env.h"

namespace tidemark::testing {

// Thread-safe. Threads and time are the system's. Outlives every database opened on it.
class FaultEnv final : public leveldb::EnvWrapper {
 public:
  FaultEnv() : EnvWrapper(leveldb::Env::Default()) {}

  // --- Faults.

  // The power goes: until Restart nothing written, synced, renamed or removed has any effect or
  // succeeds.
  void PowerOff();
  // Power is back: every file ends after its last synced byte, or, with `random`, after some of the
  // bytes written since. What is open from before stays without effect.
  void Restart(std::mt19937_64* random = nullptr);
  // From the (n+1)-th operation that changes a file on, all of them fail with `message`; in the one
  // that fails first, half of what should be appended may have been. Negative: none fails.
  void FailAfter(int64_t operations, std::string message = "No space left on device");
  // Calls `before` before each operation that changes a file, with its number; it may PowerOff.
  void OnOperation(std::function<void(int64_t)> before);
  int64_t operations() const;

  // --- Looking and tampering.
  bool Exists(const std::string& name) const;
  std::string Content(const std::string& name) const;
  void SetContent(const std::string& name, std::string content);
  void Remove(const std::string& name);
  std::vector<std::string> Names() const;
  uint64_t TotalBytes() const;

  // --- leveldb::Env.
  leveldb::Status NewSequentialFile(const std::string& name,
                                    leveldb::SequentialFile** result) override;
  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** result) override;
  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** result) override;
  leveldb::Status NewAppendableFile(const std::string& name,
                                    leveldb::WritableFile** result) override;
  bool FileExists(const std::string& name) override { return Exists(name); }
  leveldb::Status GetChildren(const std::string& dir, std::vector<std::string>* result) override;
  leveldb::Status RemoveFile(const std::string& name) override;
  leveldb::Status CreateDir(const std::string& dir) override;
  leveldb::Status RemoveDir(const std::string& dir) override;
  leveldb::Status GetFileSize(const std::string& name, uint64_t* size) override;
  leveldb::Status RenameFile(const std::string& from, const std::string& to) override;
  leveldb::Status LockFile(const std::string& name, leveldb::FileLock** lock) override;
  leveldb::Status UnlockFile(leveldb::FileLock* lock) override;
  leveldb::Status NewLogger(const std::string& name, leveldb::Logger** result) override;

 private:
  friend class FaultWritableFile;
  struct File {
    std::string content;
    size_t synced = 0;
  };
  using FilePtr = std::shared_ptr<File>;

  // Counts an operation; its outcome.
  leveldb::Status Operation(const std::string& name);
  leveldb::Status Append(const std::string& name, const FilePtr& file, uint64_t boot,
                         const leveldb::Slice& data);
  leveldb::Status Sync(const std::string& name, const FilePtr& file, uint64_t boot);
  FilePtr Find(const std::string& name) const TIDEMARK_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, FilePtr> files_ TIDEMARK_GUARDED_BY(mutex_);
  std::set<std::string> locks_ TIDEMARK_GUARDED_BY(mutex_);
  bool powered_ TIDEMARK_GUARDED_BY(mutex_) = true;
  uint64_t boot_ TIDEMARK_GUARDED_BY(mutex_) = 0;  // files opened before a crash write nothing
  int64_t operations_ TIDEMARK_GUARDED_BY(mutex_) = 0;
  int64_t fail_after_ TIDEMARK_GUARDED_BY(mutex_) = -1;
  std::string fail_message_ TIDEMARK_GUARDED_BY(mutex_);
  std::function<void(int64_t)> before_ TIDEMARK_GUARDED_BY(mutex_);
};

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_FAULT_ENV_H_
