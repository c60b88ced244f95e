#include "tests/support/fault_env.h"

#include <algorithm>
#include <utility>

namespace tidemark::testing {
namespace {

leveldb::Status Missing(const std::string& name) {
  return leveldb::Status::NotFound(name, "No such file");
}

class SequentialReader final : public leveldb::SequentialFile {
 public:
  explicit SequentialReader(std::string content) : content_(std::move(content)) {}
  leveldb::Status Read(size_t size, leveldb::Slice* result, char* scratch) override {
    size = std::min(size, content_.size() - at_);
    std::copy_n(content_.data() + at_, size, scratch);
    *result = leveldb::Slice(scratch, size);
    at_ += size;
    return leveldb::Status::OK();
  }
  leveldb::Status Skip(uint64_t size) override {
    at_ = std::min<uint64_t>(content_.size(), at_ + size);
    return leveldb::Status::OK();
  }

 private:
  const std::string content_;
  size_t at_ = 0;
};

// LevelDB opens a file for this only when it is complete.
class RandomReader final : public leveldb::RandomAccessFile {
 public:
  explicit RandomReader(std::string content) : content_(std::move(content)) {}
  leveldb::Status Read(uint64_t offset, size_t size, leveldb::Slice* result,
                       char* scratch) const override {
    offset = std::min<uint64_t>(offset, content_.size());
    size = std::min<uint64_t>(size, content_.size() - offset);
    std::copy_n(content_.data() + offset, size, scratch);
    *result = leveldb::Slice(scratch, size);
    return leveldb::Status::OK();
  }

 private:
  const std::string content_;
};

class NamedLock final : public leveldb::FileLock {
 public:
  explicit NamedLock(std::string name) : name(std::move(name)) {}
  const std::string name;
};

class SilentLogger final : public leveldb::Logger {
 public:
  void Logv(const char*, std::va_list) override {}
};

}  // namespace

class FaultWritableFile final : public leveldb::WritableFile {
 public:
  FaultWritableFile(FaultEnv& env, std::string name, FaultEnv::FilePtr file, uint64_t boot)
      : env_(env), name_(std::move(name)), file_(std::move(file)), boot_(boot) {}
  leveldb::Status Append(const leveldb::Slice& data) override {
    return env_.Append(name_, file_, boot_, data);
  }
  leveldb::Status Close() override { return leveldb::Status::OK(); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return env_.Sync(name_, file_, boot_); }

 private:
  FaultEnv& env_;
  const std::string name_;
  const FaultEnv::FilePtr file_;
  const uint64_t boot_;
};

// --- Faults.

void FaultEnv::PowerOff() {
  MutexLock lock(mutex_);
  powered_ = false;
}

void FaultEnv::Restart(std::mt19937_64* random) {
  MutexLock lock(mutex_);
  for (const auto& [name, file] : files_) {
    const size_t unsynced = file->content.size() - file->synced;
    const size_t kept = random != nullptr ? (*random)() % (unsynced + 1) : 0;
    file->content.resize(file->synced + kept);
    file->synced = file->content.size();
  }
  locks_.clear();
  powered_ = true;
  fail_after_ = -1;
  before_ = nullptr;
  ++boot_;
}

void FaultEnv::FailAfter(int64_t operations, std::string message) {
  MutexLock lock(mutex_);
  fail_after_ = operations < 0 ? -1 : operations_ + operations;
  fail_message_ = std::move(message);
}

void FaultEnv::OnOperation(std::function<void(int64_t)> before) {
  MutexLock lock(mutex_);
  before_ = std::move(before);
}

int64_t FaultEnv::operations() const {
  MutexLock lock(mutex_);
  return operations_;
}

leveldb::Status FaultEnv::Operation(const std::string& name) {
  std::function<void(int64_t)> before;
  int64_t number = 0;
  {
    MutexLock lock(mutex_);
    before = before_;
    number = operations_++;
  }
  if (before) before(number);
  MutexLock lock(mutex_);
  if (!powered_) return leveldb::Status::IOError(name, "power is off");
  if (fail_after_ >= 0 && number >= fail_after_) {
    return leveldb::Status::IOError(name, fail_message_);
  }
  return leveldb::Status::OK();
}

leveldb::Status FaultEnv::Append(const std::string& name, const FilePtr& file, uint64_t boot,
                                 const leveldb::Slice& data) {
  const leveldb::Status status = Operation(name);
  MutexLock lock(mutex_);
  if (boot != boot_) return leveldb::Status::IOError(name, "opened before the crash");
  if (!status.ok()) {
    // A full disk takes what still fits.
    if (powered_) file->content.append(data.data(), data.size() / 2);
    return status;
  }
  file->content.append(data.data(), data.size());
  return status;
}

leveldb::Status FaultEnv::Sync(const std::string& name, const FilePtr& file, uint64_t boot) {
  const leveldb::Status status = Operation(name);
  MutexLock lock(mutex_);
  if (boot != boot_) return leveldb::Status::IOError(name, "opened before the crash");
  if (status.ok()) file->synced = file->content.size();
  return status;
}

// --- Looking and tampering.

FaultEnv::FilePtr FaultEnv::Find(const std::string& name) const {
  const auto at = files_.find(name);
  return at == files_.end() ? nullptr : at->second;
}

bool FaultEnv::Exists(const std::string& name) const {
  MutexLock lock(mutex_);
  return files_.count(name) > 0;
}

std::string FaultEnv::Content(const std::string& name) const {
  MutexLock lock(mutex_);
  const FilePtr file = Find(name);
  return file == nullptr ? std::string() : file->content;
}

void FaultEnv::SetContent(const std::string& name, std::string content) {
  MutexLock lock(mutex_);
  auto file = std::make_shared<File>();
  file->synced = content.size();
  file->content = std::move(content);
  files_[name] = std::move(file);
}

void FaultEnv::Remove(const std::string& name) {
  MutexLock lock(mutex_);
  files_.erase(name);
}

std::vector<std::string> FaultEnv::Names() const {
  MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, file] : files_) names.push_back(name);
  return names;
}

uint64_t FaultEnv::TotalBytes() const {
  MutexLock lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [name, file] : files_) bytes += file->content.size();
  return bytes;
}

// --- leveldb::Env.

leveldb::Status FaultEnv::NewSequentialFile(const std::string& name,
                                            leveldb::SequentialFile** result) {
  MutexLock lock(mutex_);
  const FilePtr file = Find(name);
  *result = file == nullptr ? nullptr : new SequentialReader(file->content);
  return file == nullptr ? Missing(name) : leveldb::Status::OK();
}

leveldb::Status FaultEnv::NewRandomAccessFile(const std::string& name,
                                              leveldb::RandomAccessFile** result) {
  MutexLock lock(mutex_);
  const FilePtr file = Find(name);
  *result = file == nullptr ? nullptr : new RandomReader(file->content);
  return file == nullptr ? Missing(name) : leveldb::Status::OK();
}

leveldb::Status FaultEnv::NewWritableFile(const std::string& name, leveldb::WritableFile** result) {
  *result = nullptr;
  const leveldb::Status status = Operation(name);
  if (!status.ok()) return status;
  MutexLock lock(mutex_);
  auto file = std::make_shared<File>();
  files_[name] = file;
  *result = new FaultWritableFile(*this, name, std::move(file), boot_);
  return status;
}

leveldb::Status FaultEnv::NewAppendableFile(const std::string& name,
                                            leveldb::WritableFile** result) {
  if (!Exists(name)) return NewWritableFile(name, result);
  MutexLock lock(mutex_);
  *result = new FaultWritableFile(*this, name, Find(name), boot_);
  return leveldb::Status::OK();
}

leveldb::Status FaultEnv::GetChildren(const std::string& dir, std::vector<std::string>* result) {
  MutexLock lock(mutex_);
  result->clear();
  const std::string prefix = dir + "/";
  for (const auto& [name, file] : files_) {
    if (name.compare(0, prefix.size(), prefix) == 0) result->push_back(name.substr(prefix.size()));
  }
  return leveldb::Status::OK();
}

leveldb::Status FaultEnv::RemoveFile(const std::string& name) {
  const leveldb::Status status = Operation(name);
  if (!status.ok()) return status;
  MutexLock lock(mutex_);
  return files_.erase(name) > 0 ? status : Missing(name);
}

leveldb::Status FaultEnv::CreateDir(const std::string&) { return leveldb::Status::OK(); }
leveldb::Status FaultEnv::RemoveDir(const std::string&) { return leveldb::Status::OK(); }

leveldb::Status FaultEnv::GetFileSize(const std::string& name, uint64_t* size) {
  MutexLock lock(mutex_);
  const FilePtr file = Find(name);
  *size = file == nullptr ? 0 : file->content.size();
  return file == nullptr ? Missing(name) : leveldb::Status::OK();
}

leveldb::Status FaultEnv::RenameFile(const std::string& from, const std::string& to) {
  const leveldb::Status status = Operation(from);
  if (!status.ok()) return status;
  MutexLock lock(mutex_);
  const FilePtr file = Find(from);
  if (file == nullptr) return Missing(from);
  files_.erase(from);
  files_[to] = file;
  return status;
}

leveldb::Status FaultEnv::LockFile(const std::string& name, leveldb::FileLock** lock) {
  MutexLock guard(mutex_);
  *lock = nullptr;
  if (!locks_.insert(name).second) return leveldb::Status::IOError("lock " + name, "already held");
  *lock = new NamedLock(name);
  return leveldb::Status::OK();
}

leveldb::Status FaultEnv::UnlockFile(leveldb::FileLock* lock) {
  const std::unique_ptr<NamedLock> owned(static_cast<NamedLock*>(lock));
  MutexLock guard(mutex_);
  locks_.erase(owned->name);
  return leveldb::Status::OK();
}

leveldb::Status FaultEnv::NewLogger(const std::string&, leveldb::Logger** result) {
  *result = new SilentLogger();
  return leveldb::Status::OK();
}

}  // namespace tidemark::testing
