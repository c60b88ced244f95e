// OpenLevelDbStore: puts the parts of the engine together.
#include <utility>

#include "common/check.h"
#include "common/error.h"
#include "storage/state/engine/disk/directory.h"
#include "storage/state/engine/disk/pread_env.h"
#include "storage/state/engine/incarnation.h"
#include "storage/state/engine/reader.h"
#include "storage/state/engine/recovery.h"
#include "storage/state/engine/writer.h"
#include "storage/state/state_store.h"

namespace tidemark::state {
namespace engine {
namespace {

class LevelDbStoreImpl final : public LevelDbStore {
 public:
  LevelDbStoreImpl(std::shared_ptr<Database> database, Recovered recovered,
                   const StateOptions& options)
      : engine_(std::move(database), options),
        reader_(engine_),
        writer_(engine_, std::move(recovered)) {}

  StateReader& reader() override { return reader_; }
  StateWriter& writer() override { return writer_; }
  StateCounters Counters() const override;
  void Compact() override { engine_.database->CompactAll(); }

 private:
  Engine engine_;
  LevelDbReader reader_;
  LevelDbWriter writer_;
};

StateCounters LevelDbStoreImpl::Counters() const {
  const EngineCounters& from = engine_.counters;
  StateCounters counters;
  counters.gets = from.gets.Total();
  counters.gets_from_row_cache = from.gets_from_row_cache.Total();
  counters.seeks = from.seeks.Total();
  counters.scans = from.scans.Total();
  counters.batches = from.batches.load(std::memory_order_relaxed);
  counters.batch_bytes = from.batch_bytes.load(std::memory_order_relaxed);
  counters.syncs = from.syncs.load(std::memory_order_relaxed);
  counters.chunks = from.chunks.load(std::memory_order_relaxed);
  counters.undone = from.undone.load(std::memory_order_relaxed);
  counters.row_cache_bytes = engine_.row_cache.bytes();
  counters.row_cache_rows = engine_.row_cache.rows();
  counters.disk_bytes = engine_.database->DiskBytes();
  return counters;
}

absl::StatusOr<std::unique_ptr<LevelDbStore>> Open(const StateOptions& options) {
  TIDEMARK_CHECK(options.stamp_encoder && !options.dir.empty());
  leveldb::Env& env = options.env != nullptr ? *options.env : *PreadEnv();
  const std::string host = options.host.empty() ? ThisHost() : options.host;
  TIDEMARK_ASSIGN_OR_RETURN(const DirectoryState directory,
                            InspectDirectory(env, options.dir, host));
  // From here to the last line nothing is acknowledged: the mark lets an interrupted creation be
  // told from a store that lost its files.
  const bool create = directory != DirectoryState::kExisting;
  if (directory == DirectoryState::kNew) {
    TIDEMARK_RETURN_IF_ERROR(WriteIdentityFile(env, options.dir, host, /*created=*/false));
  }
  std::shared_ptr<Database> database;
  const leveldb::Status opened = Database::Open({.dir = options.dir,
                                                 .block_cache_bytes = options.block_cache_bytes,
                                                 .env = &env,
                                                 .create_if_missing = create},
                                                &database);
  if (!opened.ok()) return OpenError(options.dir, opened);
  if (create) {
    TIDEMARK_ASSIGN_OR_RETURN(const bool empty, IsEmpty(*database));
    if (empty) {
      const Identity identity{.incarnation = NewIncarnation(options.random)};
      TIDEMARK_RETURN_IF_ERROR(Initialize(*database, identity, *options.clock));
    }
  }
  TIDEMARK_RETURN_IF_ERROR(CheckFormat(*database, options.dir));
  TIDEMARK_ASSIGN_OR_RETURN(Recovered recovered, Recover(*database));
  // Also when there was none: the directory was moved here, and is this host's from now on.
  TIDEMARK_RETURN_IF_ERROR(WriteIdentityFile(env, options.dir, host, /*created=*/true));
  return std::make_unique<LevelDbStoreImpl>(std::move(database), std::move(recovered), options);
}

}  // namespace
}  // namespace engine

absl::StatusOr<std::unique_ptr<LevelDbStore>> OpenLevelDbStore(StateOptions options) {
  return engine::Open(options);
}

}  // namespace tidemark::state
