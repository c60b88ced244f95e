// Records what a store writes to LevelDB: every batch, exactly as it went into LevelDB's log.
#ifndef TIDEMARK_BENCH_LOG_CAPTURE_H_
#define TIDEMARK_BENCH_LOG_CAPTURE_H_

#include <string>
#include <vector>

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

  // The batches written since the last call, as LevelDB serialises them.
  std::vector<std::string> Take();

 private:
  class TeeFile;
  std::vector<std::string> batches_;
};

// A batch that does the same again.
leveldb::WriteBatch ParseBatch(const std::string& serialised);

}  // namespace tidemark::bench

#endif  // TIDEMARK_BENCH_LOG_CAPTURE_H_
