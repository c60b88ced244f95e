// The real file system, read with pread.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_DISK_PREAD_ENV_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_DISK_PREAD_ENV_H_

#include "leveldb/env.h"

namespace tidemark::state::engine {

// LevelDB's own environment maps table files into memory, past the block cache: the resident size
// of the process would grow to that of the data, whatever cache is configured. This one reads with
// pread, so that the block cache is the bound it promises to be. Lives as long as the process.
leveldb::Env* PreadEnv();

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_DISK_PREAD_ENV_H_
