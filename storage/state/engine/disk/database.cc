#include "storage/state/engine/disk/database.h"

#include "common/error.h"
#include "common/strings.h"
#include "storage/state/engine/disk/pread_env.h"

namespace tidemark::state::engine {
namespace {

// 10 bits a key: one look-up in a hundred of an absent key reads a block in vain.
constexpr int kFilterBitsPerKey = 10;
// Keys decoded one after the other in a point read: a block holds some twenty rows.
constexpr int kRestartInterval = 4;
constexpr size_t kWriteBufferBytes = 32 << 20;
constexpr size_t kMaxFileBytes = 32 << 20;
// Each open file keeps its index and filter in memory (about half a megabyte of 32): enough for
// 16 GB of data, after which files are opened again as they are needed.
constexpr int kMaxOpenFiles = 500;

}  // namespace

absl::Status DataDamaged(std::string_view what) {
  return MakeError(Reason::kDataDamaged,
                   std::string("Stored data cannot be read: ") + std::string(what), {});
}

leveldb::Status Database::Open(const DatabaseOptions& options,
                               std::shared_ptr<Database>* database) {
  std::shared_ptr<Database> opened(new Database());
  opened->cache_.reset(leveldb::NewLRUCache(options.block_cache_bytes));
  opened->filter_.reset(leveldb::NewBloomFilterPolicy(kFilterBitsPerKey));
  leveldb::Options leveldb_options;
  leveldb_options.create_if_missing = options.create_if_missing;
  leveldb_options.paranoid_checks = true;
  leveldb_options.env = options.env != nullptr ? options.env : PreadEnv();
  leveldb_options.write_buffer_size = kWriteBufferBytes;
  leveldb_options.max_file_size = kMaxFileBytes;
  leveldb_options.max_open_files = kMaxOpenFiles;
  leveldb_options.block_cache = opened->cache_.get();
  leveldb_options.block_restart_interval = kRestartInterval;
  leveldb_options.filter_policy = opened->filter_.get();
  leveldb_options.compression = leveldb::kNoCompression;
  leveldb::DB* db = nullptr;
  const leveldb::Status status = leveldb::DB::Open(leveldb_options, options.dir, &db);
  opened->db_.reset(db);
  if (status.ok()) *database = std::move(opened);
  return status;
}

absl::Status Database::Read(const leveldb::Snapshot* snapshot, std::string_view key,
                            std::string* value, bool* found) const {
  leveldb::ReadOptions options;
  options.snapshot = snapshot;
  options.verify_checksums = true;
  const leveldb::Status status = db_->Get(options, ToSlice(key), value);
  *found = status.ok();
  if (status.ok() || status.IsNotFound()) return absl::OkStatus();
  return DataDamaged(status.ToString());
}

std::unique_ptr<leveldb::Iterator> Database::Iterate(const leveldb::Snapshot* snapshot,
                                                     bool bulk) const {
  leveldb::ReadOptions options;
  options.snapshot = snapshot;
  options.verify_checksums = true;
  options.fill_cache = !bulk;
  return std::unique_ptr<leveldb::Iterator>(db_->NewIterator(options));
}

leveldb::Status Database::Write(leveldb::WriteBatch* batch) {
  // Always synced: LevelDB does not sync a log it has finished with, so an unsynced write could be
  // lost in a power failure that a later synced one survives.
  leveldb::WriteOptions options;
  options.sync = true;
  return db_->Write(options, batch);
}

uint64_t Database::DiskBytes() const {
  const leveldb::Range everything(leveldb::Slice("\x00", 1), leveldb::Slice("\xff", 1));
  uint64_t bytes = 0;
  db_->GetApproximateSizes(&everything, 1, &bytes);
  return bytes;
}

absl::Status IteratorStatus(const leveldb::Iterator& iterator) {
  const leveldb::Status status = iterator.status();
  return status.ok() ? absl::OkStatus() : DataDamaged(status.ToString());
}

}  // namespace tidemark::state::engine
