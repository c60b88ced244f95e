// What the reader and the writer of one open store share.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_ENGINE_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_ENGINE_H_

#include <memory>

#include "common/clock.h"
#include "storage/state/engine/disk/database.h"
#include "storage/state/engine/incarnation.h"
#include "storage/state/engine/publication.h"
#include "storage/state/engine/row_cache.h"
#include "storage/state/engine/striped.h"
#include "storage/state/state_store.h"

namespace tidemark::state::engine {

struct EngineCounters {
  StripedCounter gets;
  StripedCounter gets_from_row_cache;
  StripedCounter seeks;
  StripedCounter scans;
  // Only the writer adds to these.
  std::atomic<uint64_t> batches{0};
  std::atomic<uint64_t> batch_bytes{0};
  std::atomic<uint64_t> syncs{0};
  std::atomic<uint64_t> chunks{0};
  std::atomic<uint64_t> undone{0};
};

// Constant after construction but for the members with their own synchronization.
struct Engine {
  Engine(std::shared_ptr<Database> db, const StateOptions& options)
      : database(std::move(db)),
        clock(*options.clock),
        random(options.random),
        stamp_encoder(options.stamp_encoder),
        max_batch_bytes(options.max_batch_bytes),
        row_cache(options.row_cache_bytes, 0) {}

  const std::shared_ptr<Database> database;
  const Clock& clock;
  const RandomBytes random;
  const StampEncoder stamp_encoder;
  const size_t max_batch_bytes;

  RowCache row_cache;
  PublicationBoard board;
  EngineCounters counters;
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_ENGINE_H_
