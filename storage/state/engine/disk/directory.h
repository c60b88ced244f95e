// The directory of a store: whose it is, and whether it may be opened or created there.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_DISK_DIRECTORY_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_DISK_DIRECTORY_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "leveldb/env.h"
#include "leveldb/status.h"

namespace tidemark::state::engine {

// File beside LevelDB's that names the host a directory belongs to.
inline constexpr std::string_view kIdentityFile = "HOST";

// The host this process runs on: the machine's id, or its name where there is none.
std::string ThisHost();

enum class DirectoryState {
  kNew,       // holds no store: one may be created
  kCreating,  // creating one was interrupted; nothing was ever acknowledged
  kExisting,  // holds a store
};

// Looks at `dir` (which is created when missing) without changing what is in it.
// FAILED_PRECONDITION when the store belongs to another host or its format is unknown;
// DATA_DAMAGED when CURRENT or the MANIFEST it names is missing or damaged. Each message names the
// file and the cause.
absl::StatusOr<DirectoryState> InspectDirectory(leveldb::Env& env, const std::string& dir,
                                                const std::string& host);

// Writes the identity file, durably. `created` says whether the store is complete.
absl::Status WriteIdentityFile(leveldb::Env& env, const std::string& dir, const std::string& host,
                               bool created);

// What LevelDB's failure to open `dir` means: FAILED_PRECONDITION when another process has it,
// DATA_DAMAGED when its files are damaged, UNAVAILABLE when they cannot be read or written.
absl::Status OpenError(const std::string& dir, const leveldb::Status& status);

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_DISK_DIRECTORY_H_
