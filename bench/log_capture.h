// Records what a store writes to LevelDB: every batch, exactly as it went into LevelDB's log. And
// tells when LevelDB has caught up with compacting.
#ifndef TIDEMARK_BENCH_LOG_CAPTURE_H_
#define TIDEMARK_BENCH_LOG_CAPTURE_H_

#include <string>
#include <vector>

#include "common/mutex.h"
#include "leveldb/env.h"
#include "leveldb/slice.h"
#include "leveldb/status.h"
#include "leveldb/write_batch.h"

namespace tidemark::bench {

// Passes everything on to `real` and keeps a copy of the batches. One thread writes; Take between
// writes.
class LogCapture final : public leveldb::EnvWrapper {
 public:
  explicit LogCapture(leveldb::Env* real) : leveldb::EnvWrapper(real) {}

  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** file) override;

  void Schedule(void (*function)(void*), void* argument) override;

  // The batches written since the last call, as LevelDB serialises them.
  std::vector<std::string> Take();
  // Returns when no compaction runs or waits. Nobody writes meanwhile.
  void WaitUntilCompacted();

 private:
  class TeeFile;
  struct Background;
  static void Run(void* background);

  std::vector<std::string> batches_;
  Mutex mutex_;
  CondVar idle_;
  int scheduled_ TIDEMARK_GUARDED_BY(mutex_) = 0;
};

// A batch that does the same again.
leveldb::WriteBatch ParseBatch(const std::string& serialised);

}  // namespace tidemark::bench

#endif  // TIDEMARK_BENCH_LOG_CAPTURE_H_
