#include "server/ingest/event_spool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "storage/state/coding.h"

namespace tidemark::ingest {
namespace {

constexpr size_t kBufferBytes = 256 << 10;
constexpr size_t kMaxVarintBytes = 10;

absl::Status FileError(const char* what, const std::string& dir, int error) {
  return absl::UnavailableError(absl::StrCat(
      "A source transaction larger than max_transaction_bytes needs a spool file, and ", what,
      " one in \"", dir, "\" failed: ", strerror(error),
      ". Make room there, or raise max_transaction_bytes; it is tried again."));
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventSpool>> EventSpool::Create(const std::string& dir) {
  int file = open(dir.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    // A file system without nameless files: take the name away at once.
    std::string name = dir + "/spool-XXXXXX";
    file = mkostemp(name.data(), O_CLOEXEC);
    if (file >= 0) unlink(name.c_str());
  }
  if (file < 0) return FileError("creating", dir, errno);
  return std::unique_ptr<EventSpool>(new EventSpool(file, dir));
}

EventSpool::~EventSpool() { close(file_); }

absl::Status EventSpool::Append(const tables::RowEvent& event) {
  record_.clear();
  EncodeEvent(event, schemas_, &record_);
  state::AppendBytes(&buffer_, record_);
  ++count_;
  total_bytes_ += MemoryBytes(event);
  return buffer_.size() < kBufferBytes ? absl::OkStatus() : Flush();
}

absl::Status EventSpool::Flush() {
  size_t written = 0;
  while (written < buffer_.size()) {
    const ssize_t n = write(file_, buffer_.data() + written, buffer_.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("writing", dir_, errno);
    written += n;
  }
  buffer_.clear();
  return absl::OkStatus();
}

// Reads the file front to back.
class EventSpool::Reader final : public EventList {
 public:
  explicit Reader(std::unique_ptr<EventSpool> spool) : spool_(std::move(spool)) {}

  absl::StatusOr<const tables::RowEvent*> Next() override {
    if (read_ == spool_->count_) return nullptr;
    TIDEMARK_RETURN_IF_ERROR(Fill(kMaxVarintBytes));
    state::ByteReader reader(rest());
    uint64_t size = 0;
    reader.ReadVarint(&size);
    place_ = buffer_.size() - reader.rest().size();
    TIDEMARK_RETURN_IF_ERROR(Fill(size));
    TIDEMARK_RETURN_IF_ERROR(DecodeEvent(rest().substr(0, size), spool_->schemas_, &event_));
    place_ += size;
    ++read_;
    return &event_;
  }
  size_t count() const override { return spool_->count_; }
  size_t total_bytes() const override { return spool_->total_bytes_; }
  size_t memory_bytes() const override { return kBufferBytes; }

 private:
  std::string_view rest() const { return std::string_view(buffer_).substr(place_); }

  // Makes `size` bytes of rest(), or all there are in the file.
  absl::Status Fill(size_t size) {
    if (rest().size() >= size) return absl::OkStatus();
    buffer_.erase(0, place_);
    place_ = 0;
    size_t have = buffer_.size();
    buffer_.resize(std::max(size, kBufferBytes));
    while (have < buffer_.size()) {
      const ssize_t n = pread(spool_->file_, buffer_.data() + have, buffer_.size() - have, offset_);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return FileError("reading", spool_->dir_, errno);
      if (n == 0) break;
      have += n;
      offset_ += n;
    }
    buffer_.resize(have);
    return absl::OkStatus();
  }

  std::unique_ptr<EventSpool> spool_;
  std::string buffer_;
  size_t place_ = 0;  // in buffer_
  off_t offset_ = 0;  // in the file, of the end of buffer_
  size_t read_ = 0;   // events
  tables::RowEvent event_;
};

absl::StatusOr<std::unique_ptr<EventList>> EventSpool::Finish(std::unique_ptr<EventSpool> spool) {
  TIDEMARK_RETURN_IF_ERROR(spool->Flush());
  spool->buffer_ = {};
  spool->record_ = {};
  return std::make_unique<Reader>(std::move(spool));
}

}  // namespace tidemark::ingest
