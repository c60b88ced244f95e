#include "server/ingest/read_ahead.h"

namespace tidemark::ingest {
namespace {

// What waits beyond it is not read ahead, nor are transactions that would push their own first rows
// out of the cache again.
constexpr size_t kMaxWaiting = 20000;
constexpr size_t kMaxEvents = 50000;

// Rows read through one publication. A row is cached only when nothing was published since it was
// read through, so a fresh one is taken now and then.
constexpr size_t kRowsPerPublication = 16;

}  // namespace

ReadAhead::ReadAhead(const tables::Catalog& catalog, state::StateReader& reader)
    : reader_(reader), keys_of_(catalog) {}

void ReadAhead::Add(const Events& events) {
  if (events->size() > kMaxEvents) return;
  {
    MutexLock lock(mutex_);
    if (waiting_.size() >= kMaxWaiting) return;
    waiting_.push_back(events);
    if (waiting_.size() > 1) return;  // the worker is on its way already
  }
  worker_.Trigger();
}

void ReadAhead::ReadWaiting() {
  while (!worker_.stopping()) {
    Events events;
    {
      MutexLock lock(mutex_);
      if (waiting_.empty()) return;
      events = waiting_.front().lock();
      waiting_.pop_front();
    }
    if (events) ReadRows(*events);
  }
}

void ReadAhead::ReadRows(const std::vector<tables::RowEvent>& events) {
  keys_.clear();
  for (const tables::RowEvent& event : events) keys_of_.Append(event, &keys_);
  state::PublicationPtr publication;
  state::StoredRow row;
  for (size_t i = 0; i < keys_.size() && !worker_.stopping(); ++i) {
    if (i % kRowsPerPublication == 0) publication = reader_.Latest();
    // Tables that are loading, and rows that cannot be read: the applier will see for itself.
    reader_.Get(state::LatestPoint(publication), keys_[i].table, keys_[i].key, &row).IgnoreError();
  }
  rows_read_.fetch_add(keys_.size(), std::memory_order_relaxed);
}

}  // namespace tidemark::ingest
