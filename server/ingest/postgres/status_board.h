// What a postgres source tells of itself: written by its threads and the applier's, read by anyone.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_STATUS_BOARD_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_STATUS_BOARD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/mutex.h"
#include "server/ingest/source.h"

namespace tidemark::ingest {

// Thread-safe.
class StatusBoard {
 public:
  using Listener = std::function<void(SourceState state, const std::string& detail)>;
  StatusBoard(std::string source, Listener listener);

  void Set(SourceState state, std::string detail = "");
  void SetDegraded(bool degraded);
  void SetRelations(std::vector<RelationProgress> relations);
  void SetCopied(const std::string& relation, uint64_t rows, bool complete);
  void SetRetainedBytes(uint64_t bytes);
  // A transaction is applied and published.
  void CountTransaction(uint64_t events, absl::Time event_time, absl::Time now);
  void CountCopied(uint64_t rows, absl::Time now);

  // Without position and fresh_as_of, which Progress knows.
  SourceStatus Get() const;

 private:
  const Listener listener_;
  mutable Mutex mutex_;
  SourceStatus status_ TIDEMARK_GUARDED_BY(mutex_);
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_STATUS_BOARD_H_
