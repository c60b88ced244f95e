// LevelDB, opened the way this store needs it, with our statuses and owners instead of raw
// pointers.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_DISK_DATABASE_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_DISK_DATABASE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/iterator.h"
#include "leveldb/write_batch.h"

namespace tidemark::state::engine {

struct DatabaseOptions {
  std::string dir;
  size_t block_cache_bytes = 0;
  leveldb::Env* env = nullptr;  // nullptr: the real one
  bool create_if_missing = false;
};

inline leveldb::Slice ToSlice(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view ToView(const leveldb::Slice& s) { return {s.data(), s.size()}; }

// DATA_DAMAGED: stored bytes cannot be read or do not decode. `what` is for whoever repairs it.
absl::Status DataDamaged(std::string_view what);

// Thread-safe. Shared by the store and by every Handle, so that LevelDB closes after its last
// reader is gone.
class Database : public std::enable_shared_from_this<Database> {
 public:
  // The LevelDB error as it is: the caller knows what opening means (directory.h).
  static leveldb::Status Open(const DatabaseOptions& options, std::shared_ptr<Database>* database);

  // A consistent view of everything written before it was taken. Keeps what it shows from being
  // compacted away.
  class Handle {
   public:
    explicit Handle(std::shared_ptr<Database> database)
        : database_(std::move(database)), snapshot_(database_->db_->GetSnapshot()) {}
    ~Handle() { database_->db_->ReleaseSnapshot(snapshot_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    // Sets *found; *value is undefined when not. DATA_DAMAGED when it cannot be read.
    absl::Status Get(std::string_view key, std::string* value, bool* found) const {
      return database_->Read(snapshot_, key, value, found);
    }
    // `bulk`: a long scan, which must not push everything else out of the block cache. The handle
    // outlives the iterator.
    std::unique_ptr<leveldb::Iterator> NewIterator(bool bulk) const {
      return database_->Iterate(snapshot_, bulk);
    }

   private:
    const std::shared_ptr<Database> database_;
    const leveldb::Snapshot* const snapshot_;
  };

  // The newest state; for the writer.
  absl::Status Get(std::string_view key, std::string* value, bool* found) const {
    return Read(nullptr, key, value, found);
  }
  std::unique_ptr<leveldb::Iterator> NewIterator(bool bulk) const { return Iterate(nullptr, bulk); }

  // Atomic and durable when it returns OK. After a failure nothing more may be written: what the
  // log holds is only known once it has been opened again.
  leveldb::Status Write(leveldb::WriteBatch* batch);

  // Size of the table files, approximately.
  uint64_t DiskBytes() const;
  // Rewrites everything, as LevelDB does by and by. For tests and offline tools.
  void CompactAll() { db_->CompactRange(nullptr, nullptr); }

 private:
  Database() = default;
  absl::Status Read(const leveldb::Snapshot* snapshot, std::string_view key, std::string* value,
                    bool* found) const;
  std::unique_ptr<leveldb::Iterator> Iterate(const leveldb::Snapshot* snapshot, bool bulk) const;

  // LevelDB uses the first three until it is gone.
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::DB> db_;
};

// The status of an iterator that stopped.
absl::Status IteratorStatus(const leveldb::Iterator& iterator);

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_DISK_DATABASE_H_
