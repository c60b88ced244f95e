#include "server/ingest/assembler.h"

#include <utility>

#include "common/error.h"
#include "server/ingest/event_codec.h"

namespace tidemark::ingest {
namespace {

class MemoryEventList final : public EventList {
 public:
  MemoryEventList(std::vector<tables::RowEvent> events, size_t bytes)
      : events_(std::make_shared<const std::vector<tables::RowEvent>>(std::move(events))),
        bytes_(bytes) {}

  absl::StatusOr<const tables::RowEvent*> Next() override {
    return next_ < events_->size() ? &(*events_)[next_++] : nullptr;
  }
  size_t count() const override { return events_->size(); }
  size_t total_bytes() const override { return bytes_; }
  size_t memory_bytes() const override { return bytes_; }
  std::shared_ptr<const std::vector<tables::RowEvent>> InMemory() const override { return events_; }

 private:
  const std::shared_ptr<const std::vector<tables::RowEvent>> events_;
  const size_t bytes_;
  size_t next_ = 0;
};

}  // namespace

absl::Status Assembler::Add(tables::RowEvent event) {
  const size_t bytes = MemoryBytes(event);
  if (!spool_ && bytes_ + bytes > options_.max_transaction_bytes) {
    TIDEMARK_RETURN_IF_ERROR(StartSpooling());
  }
  if (spool_) {
    TIDEMARK_RETURN_IF_ERROR(spool_->Append(event));
  } else {
    events_.push_back(std::move(event));
    bytes_ += bytes;
  }
  ++count_;
  return absl::OkStatus();
}

absl::Status Assembler::StartSpooling() {
  TIDEMARK_ASSIGN_OR_RETURN(spool_, EventSpool::Create(options_.spool_dir));
  const std::vector<tables::RowEvent> events = std::exchange(events_, {});
  bytes_ = 0;
  for (const tables::RowEvent& event : events) {
    TIDEMARK_RETURN_IF_ERROR(spool_->Append(event));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<EventList>> Assembler::Finish() {
  std::vector<tables::RowEvent> events = std::exchange(events_, {});
  const size_t bytes = bytes_;
  std::unique_ptr<EventSpool> spool = std::move(spool_);
  Discard();
  if (spool) return EventSpool::Finish(std::move(spool));
  return std::make_unique<MemoryEventList>(std::move(events), bytes);
}

void Assembler::Discard() {
  events_.clear();
  bytes_ = 0;
  count_ = 0;
  spool_.reset();
}

std::unique_ptr<EventList> MakeEventList(std::vector<tables::RowEvent> events) {
  size_t bytes = 0;
  for (const tables::RowEvent& event : events) bytes += MemoryBytes(event);
  return std::make_unique<MemoryEventList>(std::move(events), bytes);
}

}  // namespace tidemark::ingest
