// One suite over every backend of the state store: its fixture, with words for what tests do.
#ifndef TIDEMARK_TESTS_CONFORMANCE_STATE_STORE_CONFORMANCE_H_
#define TIDEMARK_TESTS_CONFORMANCE_STATE_STORE_CONFORMANCE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "storage/state/state_reader.h"
#include "storage/state/state_writer.h"
#include "tests/conformance/state_backend.h"
#include "tests/support/status_matchers.h"

namespace tidemark::state {

class StateStoreConformance : public ::testing::TestWithParam<BackendFactory> {
 protected:
  StateWriter& writer() { return backend_->store().writer(); }
  const StateReader& reader() { return backend_->store().reader(); }
  ManualClock& clock() { return backend_->clock; }
  StateBackend& backend() { return *backend_; }

  // --- Writing. Every call expects OK.

  TableId NewTable(std::string_view definition = "a table");  // loaded and committed, empty
  TableId NewLoadingTable();                                  // committed
  // One snapshot; its id, or nullopt when it had no effect. Not committed.
  std::optional<SnapshotId> Write(const std::function<void()>& changes,
                                  const SnapshotOrigin& origin = {});
  // The same, and committed.
  std::optional<SnapshotId> WriteAndCommit(const std::function<void()>& changes,
                                           const SnapshotOrigin& origin = {});
  void Commit(const CommitInfo& info = {});
  void Present(TableId table, std::string_view key, std::string_view row,
               std::string_view meta = "m");
  void Hidden(TableId table, std::string_view key, std::string_view row,
              std::string_view meta = "m");
  void Tombstone(TableId table, std::string_view key, std::string_view meta = "m",
                 bool remember = false);
  void Truncate(TableId table, std::string_view sequence = "s");
  void Reopen();

  // --- Looking.

  ReadPoint At(SnapshotId id);  // through the newest publication
  ReadPoint Latest() { return LatestPoint(reader().Latest()); }
  // "row@version", or "-" when absent.
  std::string Read(const ReadPoint& point, TableId table, std::string_view key);
  std::string Read(SnapshotId id, TableId table, std::string_view key) {
    return Read(At(id), table, key);
  }
  // "key=row@version" of every row in key order.
  std::vector<std::string> Scan(const ReadPoint& point, TableId table, KeyRange range = {});
  // "id table OP key prev" of every change after `after`.
  std::vector<std::string> ChangesAfter(SnapshotId after);
  // "KIND meta row" of the writer's newest version, or "-".
  std::string Current(TableId table, std::string_view key);

  std::unique_ptr<StateBackend> backend_ = GetParam().make();
};

}  // namespace tidemark::state

#endif  // TIDEMARK_TESTS_CONFORMANCE_STATE_STORE_CONFORMANCE_H_
