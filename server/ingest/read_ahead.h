// Reads the rows that queued events are going to change, so that the applier finds them in the row
// cache: half of its time is otherwise spent waiting for them one by one (measured:
// bench/README.md).
#ifndef TIDEMARK_SERVER_INGEST_READ_AHEAD_H_
#define TIDEMARK_SERVER_INGEST_READ_AHEAD_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "common/background_worker.h"
#include "common/mutex.h"
#include "storage/state/state_reader.h"
#include "storage/tables/catalog.h"
#include "storage/tables/merging/row_keys.h"
#include "storage/tables/row_event.h"

namespace tidemark::ingest {

// Thread-safe; has a thread of its own. Changes nothing but what is cached: it reads through
// publications like every reader, and whether the applier uses what it read is the store's
// affair. Works that are applied before their turn are passed over.
class ReadAhead {
 public:
  using Events = std::shared_ptr<const std::vector<tables::RowEvent>>;

  // Both outlive it.
  ReadAhead(const tables::Catalog& catalog, state::StateReader& reader);
  ~ReadAhead() { Stop(); }

  // Events that wait to be applied. They are not kept alive: the applier drops them when it is done
  // with them.
  void Add(const Events& events) TIDEMARK_EXCLUDES(mutex_);
  // Idempotent.
  void Stop() { worker_.Stop(); }

  uint64_t rows_read() const { return rows_read_.load(std::memory_order_relaxed); }
  // Returns when everything added so far was read or passed over. For tests.
  void Finish() { worker_.Step(); }

 private:
  void ReadWaiting();
  void ReadRows(const std::vector<tables::RowEvent>& events);

  state::StateReader& reader_;
  std::atomic<uint64_t> rows_read_{0};

  // The worker's thread only.
  tables::RowKeys keys_of_;
  std::vector<tables::RowKey> keys_;

  Mutex mutex_;
  std::deque<std::weak_ptr<const std::vector<tables::RowEvent>>> waiting_
      TIDEMARK_GUARDED_BY(mutex_);

  BackgroundWorker worker_{{.name = "read-ahead"}, [this] { ReadWaiting(); }};
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_READ_AHEAD_H_
