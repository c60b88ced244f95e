// WatchChanges over a StateWorld.
#ifndef TIDEMARK_TESTS_UNIT_SERVER_SERVICES_WATCH_FIXTURE_H_
#define TIDEMARK_TESTS_UNIT_SERVER_SERVICES_WATCH_FIXTURE_H_

#include <string>
#include <vector>

#include "tests/unit/server/services/service_fixture.h"

namespace tidemark::services {

inline v1::WatchChangesRequest Watching(const std::vector<std::string>& tables) {
  v1::WatchChangesRequest request;
  for (const std::string& table : tables) request.add_tables()->set_table(table);
  return request;
}

class WatchTest : public ServiceTest {
 protected:
  explicit WatchTest(WatchOptions options = OnlyTold()) : ServiceTest(options) { world_.Load(); }

  void Open(Watch& watch, const v1::WatchChangesRequest& request) {
    service_.WatchChanges(request, watch.stream());
  }
  absl::Status Refused(const v1::WatchChangesRequest& request,
                       const PrincipalPtr& principal = testing::ReaderOf("default")) {
    Watch watch("StateService", "WatchChanges", principal);
    Open(watch, request);
    EXPECT_TRUE(watch.done());
    return watch.status();
  }
  // Reads the checkpoint a stream begins with.
  static state::SnapshotId Greeting(Watch& watch) {
    const auto message = watch.Next();
    EXPECT_TRUE(message->checkpoint());
    EXPECT_EQ(message->changes_size(), 0);
    return message->at().snapshot_id();
  }
  state::SnapshotId Head() { return world_.reader().Latest()->id(); }
};

}  // namespace tidemark::services

#endif  // TIDEMARK_TESTS_UNIT_SERVER_SERVICES_WATCH_FIXTURE_H_
