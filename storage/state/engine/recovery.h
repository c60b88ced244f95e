// Making a store whole when it is opened, or for the first time.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_RECOVERY_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_RECOVERY_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "storage/state/engine/disk/database.h"
#include "storage/state/engine/layout/records.h"
#include "storage/state/engine/writer.h"

namespace tidemark::state::engine {

// Whether LevelDB holds nothing at all.
absl::StatusOr<bool> IsEmpty(const Database& database);

// Writes what an empty store consists of: its identity, and snapshot 1.
absl::Status Initialize(Database& database, const Identity& identity, const Clock& clock);

// FAILED_PRECONDITION when the format version is unknown or this is no store of ours.
absl::Status CheckFormat(const Database& database, const std::string& dir);

// Undoes a transaction that was open, deletes before-images nobody needs, and reads what the writer
// starts from. Can be interrupted and repeated.
absl::StatusOr<Recovered> Recover(Database& database);

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_RECOVERY_H_
