// Makes batches durable and visible, on a thread of its own.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_COMMITTER_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_COMMITTER_H_

#include <atomic>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "common/background_worker.h"
#include "common/mutex.h"
#include "leveldb/write_batch.h"
#include "storage/state/engine/disk/layer.h"
#include "storage/state/engine/engine.h"
#include "storage/state/engine/publication.h"

namespace tidemark::state::engine {

// A batch that nobody changes any more, and the publication it becomes.
struct SealedBatch {
  bool has_writes = false;              // false: only the publication is new
  leveldb::WriteBatch records;          // what the store says about the batch
  std::shared_ptr<const Layer> staged;  // the rest of what is written
  // The row cache cannot be kept exact entry by entry.
  bool clear_row_cache = false;
  LevelDbPublication::Parts publication;  // without its stamps
};

// The writer's thread calls it; one batch is in hand at a time.
class Committer {
 public:
  // `engine` outlives it.
  explicit Committer(Engine& engine) : engine_(engine) {}
  // Ends the batch in hand.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // Nothing is in hand.
  void Start(SealedBatch batch);
  // Whether the batch is still being written. Costs one look at memory.
  bool busy() const { return busy_.load(std::memory_order_acquire); }
  // Waits for the batch in hand, of which there is one: durable and visible, or STORE_READ_ONLY.
  absl::Status Finish() TIDEMARK_EXCLUDES(mutex_);

  // Shows readers `parts`, which need no stamps yet.
  void Publish(LevelDbPublication::Parts parts);
  // Writes at once, on the caller's thread; nothing is in hand. STORE_READ_ONLY when it fails: what
  // LevelDB's log holds then is known to nobody until it is opened again.
  absl::Status Write(leveldb::WriteBatch* batch);

 private:
  void Run() TIDEMARK_EXCLUDES(mutex_);
  absl::Status Commit(SealedBatch& batch);
  void UpdateRowCache(const SealedBatch& batch);

  Engine& engine_;
  std::atomic<bool> busy_{false};

  // The worker's thread only. The last one, kept until the next comes: by then the writer has let
  // go of what was staged, which takes long to free.
  std::unique_ptr<SealedBatch> written_;

  Mutex mutex_;
  CondVar done_;
  std::unique_ptr<SealedBatch> next_ TIDEMARK_GUARDED_BY(mutex_);
  std::optional<absl::Status> outcome_ TIDEMARK_GUARDED_BY(mutex_);

  BackgroundWorker worker_{{.name = "committer"}, [this] { Run(); }};
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_COMMITTER_H_
