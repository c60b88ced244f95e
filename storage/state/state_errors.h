// The errors both backends answer with, so that their texts and metadata are the same.
#ifndef TIDEMARK_STORAGE_STATE_STATE_ERRORS_H_
#define TIDEMARK_STORAGE_STATE_STATE_ERRORS_H_

#include <string_view>

#include "absl/status/status.h"
#include "storage/state/types.h"

namespace tidemark::state {

// SNAPSHOT_EXPIRED: `id` cannot be read any more; `oldest` can.
absl::Status SnapshotExpired(SnapshotId id, SnapshotId oldest);
// SNAPSHOT_EXPIRED: what was asked for (a time, a position) lies before the oldest snapshot.
absl::Status BeforeOldestSnapshot(std::string_view what, SnapshotId oldest);
// SNAPSHOT_EXPIRED: the table's first snapshot is `first`.
absl::Status TableYoungerThanSnapshot(TableId table, SnapshotId id, SnapshotId first);
// SNAPSHOT_IN_FUTURE: `latest` is the newest.
absl::Status SnapshotInFuture(SnapshotId id, SnapshotId latest);
absl::Status TableLoading(TableId table);
absl::Status NoSuchTable(TableId table);
absl::Status NoSuchSource(std::string_view source);
// STORE_MISMATCH: the token is of another store.
absl::Status TokenOfAnotherStore();
// VALUE_TOO_LARGE when a key or a row is larger than can be stored.
absl::Status CheckRowSize(std::string_view key, std::string_view row);

}  // namespace tidemark::state

#endif  // TIDEMARK_STORAGE_STATE_STATE_ERRORS_H_
