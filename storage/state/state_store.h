// A store opened for reading and writing, and how to open one.
#ifndef TIDEMARK_STORAGE_STATE_STATE_STORE_H_
#define TIDEMARK_STORAGE_STATE_STATE_STORE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "storage/state/state_reader.h"
#include "storage/state/state_writer.h"

namespace leveldb {
class Env;
}

namespace tidemark::state {

// The stamp that answers carry, serialised once per publication (the server passes the encoder of
// SnapshotStamp; this room knows no protos).
using StampEncoder =
    std::function<std::string(const SnapshotInfo& info, std::string_view token, bool degraded)>;

// Two views with different rights on one store: readers get reader(), only the applier writer().
class StateStore {
 public:
  virtual ~StateStore() = default;
  virtual StateReader& reader() = 0;
  virtual StateWriter& writer() = 0;
};

struct StateOptions {
  std::string dir;                       // created when missing; belongs to one process (locked)
  size_t block_cache_bytes = 256 << 20;  // LevelDB blocks, shared by all tables
  size_t row_cache_bytes = 512 << 20;    // encoded rows in front of LevelDB; 0 = none
  size_t max_batch_bytes = 8 << 20;      // larger transactions are written in chunks
  const Clock* clock = &SystemClock();
  StampEncoder stamp_encoder;           // required
  std::function<std::string()> random;  // 16 random bytes; empty = the system's
  leveldb::Env* env = nullptr;          // file system; nullptr = the real one (tests inject)
  std::string host;                     // names this machine; empty = the system's name for it
};

// Numbers since the store was opened, and sizes now. For metrics; reading them takes no lock the
// hot paths take.
struct StateCounters {
  uint64_t gets = 0, gets_from_row_cache = 0, seeks = 0, batches = 0, batch_bytes = 0, syncs = 0;
  uint64_t chunks = 0, undone = 0, scans = 0;
  uint64_t row_cache_bytes = 0, row_cache_rows = 0, disk_bytes = 0;
};

class LevelDbStore : public StateStore {
 public:
  virtual StateCounters Counters() const = 0;
  // Merges all files on disk into the fewest, as happens by and by anyway. Takes long; reads and
  // writes go on meanwhile. For tests and tools.
  virtual void Compact() = 0;
};

// Opens or creates the store in options.dir and recovers it: an open transaction is undone, ids and
// positions come from disk. FAILED_PRECONDITION or DATA_DAMAGED, with the file and the cause, for a
// directory that is in use, of an unknown format version, of another host, or damaged (also when
// CURRENT is missing beside other files: no empty store is ever created beside old ones).
absl::StatusOr<std::unique_ptr<LevelDbStore>> OpenLevelDbStore(StateOptions options);

}  // namespace tidemark::state

#endif  // TIDEMARK_STORAGE_STATE_STATE_STORE_H_
