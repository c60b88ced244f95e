// Changes as the wire bytes of WatchChangesResponse.
#ifndef TIDEMARK_SERVER_SERVICES_CHANGE_ENCODING_H_
#define TIDEMARK_SERVER_SERVICES_CHANGE_ENCODING_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/state/state_reader.h"
#include "storage/tables/catalog.h"

namespace tidemark::services {

// Appends the fields of one Change but `before`: table, key, op, and the row after it, read at the
// change's snapshot. DATA_DAMAGED when the row is not there.
absl::Status AppendChange(const state::StateReader& reader,
                          const state::PublicationPtr& publication, const tables::Table& table,
                          const state::Change& change, std::string* out);

// Appends the field `before` of the same Change: the row at the snapshot before. Nothing for an
// insert or a truncate.
absl::Status AppendBefore(const state::StateReader& reader,
                          const state::PublicationPtr& publication, state::TableId table,
                          state::ChangeOp op, std::string_view key, state::SnapshotId snapshot,
                          std::string* out);

// The fields after the changes. `stamp`: wire bytes of `at`.
struct MessageEnd {
  std::string_view stamp;
  bool fragment = false;
  bool checkpoint = false;
};
void AppendEnd(const MessageEnd& end, std::string* out);

// Wire bytes of the stamp of snapshot `id`, about these tables.
absl::StatusOr<std::string> StampAt(const state::StateReader& reader,
                                    const state::PublicationPtr& publication, state::SnapshotId id,
                                    std::span<const tables::Table* const> tables);

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_CHANGE_ENCODING_H_
