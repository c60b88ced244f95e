// Makes the records of prefix S for the snapshots of a batch.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_SNAPSHOT_RECORDER_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_SNAPSHOT_RECORDER_H_

#include <map>
#include <string>
#include <vector>

#include "storage/state/engine/layout/snapshot_record.h"
#include "storage/state/state_writer.h"

namespace tidemark::state::engine {

// `marks` moved by the transactions that made snapshots.
std::vector<SourceMark> MarksAfter(std::vector<SourceMark> marks,
                                   const std::vector<SnapshotOrigin>& origins);

// Remembers each source's newest transaction from batch to batch. Not thread-safe.
class SnapshotRecorder {
 public:
  // Continues after the newest record of the store.
  void Restore(const SnapshotRecord& newest);

  // Records of `first`, first + 1, ... made by `origins`, with `live` the marks published before
  // and `info` what the batch is committed with. The last transactions are those after the batch
  // from then on.
  std::vector<SnapshotRecord> Record(SnapshotId first, const std::vector<SnapshotOrigin>& origins,
                                     const std::vector<SourceMark>& live, const CommitInfo& info,
                                     absl::Time commit_time);

 private:
  std::map<std::string, std::string> last_transactions_;  // by source
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_SNAPSHOT_RECORDER_H_
