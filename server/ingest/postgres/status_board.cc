#include "server/ingest/postgres/status_board.h"

#include <algorithm>
#include <utility>

namespace tidemark::ingest {

StatusBoard::StatusBoard(std::string source, Listener listener) : listener_(std::move(listener)) {
  status_.name = std::move(source);
  status_.kind = "postgres";
  status_.atomicity = Atomicity::kTransaction;
}

void StatusBoard::Set(SourceState state, std::string detail) {
  {
    MutexLock lock(mutex_);
    if (status_.state == state && status_.detail == detail) return;
    status_.state = state;
    status_.detail = detail;
  }
  if (listener_) listener_(state, detail);
}

void StatusBoard::SetDegraded(bool degraded) {
  MutexLock lock(mutex_);
  status_.degraded = degraded;
}

void StatusBoard::SetRelations(std::vector<RelationProgress> relations) {
  MutexLock lock(mutex_);
  status_.relations = std::move(relations);
}

void StatusBoard::SetCopied(const std::string& relation, uint64_t rows, bool complete) {
  MutexLock lock(mutex_);
  for (RelationProgress& progress : status_.relations) {
    if (progress.relation != relation) continue;
    progress.rows_copied = rows;
    progress.copied = complete;
    return;
  }
}

void StatusBoard::SetRetainedBytes(uint64_t bytes) {
  MutexLock lock(mutex_);
  status_.retained_bytes = bytes;
}

void StatusBoard::CountTransaction(uint64_t events, absl::Time event_time, absl::Time now) {
  MutexLock lock(mutex_);
  status_.events += events;
  ++status_.transactions;
  status_.last_event_time = std::max(status_.last_event_time, event_time);
  status_.last_applied_time = now;
}

void StatusBoard::CountCopied(uint64_t rows, absl::Time now) {
  MutexLock lock(mutex_);
  status_.events += rows;
  status_.last_applied_time = now;
}

SourceStatus StatusBoard::Get() const {
  MutexLock lock(mutex_);
  return status_;
}

}  // namespace tidemark::ingest
