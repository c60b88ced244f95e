// A transaction too large for one batch: written in chunks under an open id, with the before-image
// of every LevelDB key a chunk changes, and taken back from them.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_UNDO_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_UNDO_H_

#include "absl/status/status.h"
#include "leveldb/write_batch.h"
#include "storage/state/engine/disk/database.h"
#include "storage/state/engine/layout/records.h"
#include "storage/state/engine/staging.h"

namespace tidemark::state::engine {

// Fills `batch` with the next chunk of the transaction with id `open`: the entries, their
// before-images, and M|state. `*state` is what it will be once the batch is written.
absl::Status MakeChunk(const Database& database, const Layer& entries, SnapshotId open,
                       StoreState* state, leveldb::WriteBatch* batch);

// Fills `batch` with the undoing of the newest chunk that is still there. A batch per chunk, so
// that undoing needs no more memory than a chunk did, and can be resumed after a crash. The
// transaction is gone when state->open is 0.
absl::Status MakeUndoOfLastChunk(const Database& database, StoreState* state,
                                 leveldb::WriteBatch* batch);

// Fills `batch` with the deletion of the oldest before-images nobody needs any more. There are some
// while state->undo_cleaned < state->undo_begin.
absl::Status MakeUndoCleaning(const Database& database, StoreState* state,
                              leveldb::WriteBatch* batch);

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_UNDO_H_
