#include "bench/log_capture.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "common/check.h"
#include "storage/state/coding.h"

namespace tidemark::bench {
namespace {

// LevelDB's log format: a header of 7 bytes whose last says which part of a batch follows; each of
// the two is one Append. What fills a block up is shorter than a header.
constexpr size_t kHeaderBytes = 7;
enum Part : char { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

// A serialised batch: sequence number and count, then the operations.
constexpr size_t kBatchHeaderBytes = 12;

}  // namespace

class LogCapture::TeeFile final : public leveldb::WritableFile {
 public:
  TeeFile(std::unique_ptr<leveldb::WritableFile> real, std::vector<std::string>& batches)
      : real_(std::move(real)), batches_(batches) {}

  leveldb::Status Append(const leveldb::Slice& data) override {
    if (part_ == 0) {
      if (data.size() == kHeaderBytes) part_ = data[kHeaderBytes - 1];
    } else {
      if (part_ == kFull || part_ == kFirst) batch_.clear();
      batch_.append(data.data(), data.size());
      if (part_ == kFull || part_ == kLast) batches_.push_back(batch_);
      part_ = 0;
    }
    return real_->Append(data);
  }
  leveldb::Status Close() override { return real_->Close(); }
  leveldb::Status Flush() override { return real_->Flush(); }
  leveldb::Status Sync() override { return real_->Sync(); }

 private:
  const std::unique_ptr<leveldb::WritableFile> real_;
  std::vector<std::string>& batches_;
  char part_ = 0;  // of what the next Append brings; 0: a header
  std::string batch_;
};

leveldb::Status LogCapture::NewWritableFile(const std::string& name, leveldb::WritableFile** file) {
  leveldb::Status status = target()->NewWritableFile(name, file);
  const std::string_view suffix = ".log";
  if (status.ok() && name.size() > suffix.size() &&
      name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
    *file = new TeeFile(std::unique_ptr<leveldb::WritableFile>(*file), batches_);
  }
  return status;
}

std::vector<std::string> LogCapture::Take() { return std::exchange(batches_, {}); }

struct LogCapture::Background {
  LogCapture* capture;
  void (*function)(void*);
  void* argument;
};

void LogCapture::Schedule(void (*function)(void*), void* argument) {
  {
    MutexLock lock(mutex_);
    ++scheduled_;
  }
  target()->Schedule(&LogCapture::Run, new Background{this, function, argument});
}

void LogCapture::Run(void* background) {
  const std::unique_ptr<Background> work(static_cast<Background*>(background));
  // One compaction schedules the next before it ends.
  work->function(work->argument);
  MutexLock lock(work->capture->mutex_);
  --work->capture->scheduled_;
  work->capture->idle_.NotifyAll();
}

void LogCapture::WaitUntilCompacted() {
  MutexLock lock(mutex_);
  while (scheduled_ > 0) idle_.Wait(mutex_);
}

leveldb::WriteBatch ParseBatch(const std::string& serialised) {
  leveldb::WriteBatch batch;
  TIDEMARK_CHECK(serialised.size() >= kBatchHeaderBytes);
  state::ByteReader reader(std::string_view(serialised).substr(kBatchHeaderBytes));
  while (!reader.rest().empty()) {
    uint8_t is_put = 0;
    std::string_view key, value;
    TIDEMARK_CHECK(reader.ReadByte(&is_put) && reader.ReadBytes(&key));
    if (is_put) {
      TIDEMARK_CHECK(reader.ReadBytes(&value));
      batch.Put({key.data(), key.size()}, {value.data(), value.size()});
    } else {
      batch.Delete({key.data(), key.size()});
    }
  }
  return batch;
}

}  // namespace tidemark::bench
