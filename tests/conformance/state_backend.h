// What the conformance suite of the state store needs of a backend.
#ifndef TIDEMARK_TESTS_CONFORMANCE_STATE_BACKEND_H_
#define TIDEMARK_TESTS_CONFORMANCE_STATE_BACKEND_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "common/clock.h"
#include "storage/state/state_store.h"

namespace tidemark::state {

// What a backend may lack. Every opt-out is named and explained where the backend is defined
// (state_backend.cc).
enum class Feature {
  kRestart,       // what was committed is there when the store is opened again
  kWriteFailure,  // a write can fail
  kWholeBatches,  // the snapshots of a batch are published by its Commit alone, all at once
};

// A store under test and its world. One per test.
class StateBackend {
 public:
  virtual ~StateBackend() = default;
  virtual bool Has(Feature feature) const = 0;
  virtual StateStore& store() = 0;
  // Closes and opens the store again; nothing of it may be held.
  virtual void Reopen() {}
  // Does to the bytes on disk what happens by and by anyway.
  virtual void Compact() {}
  // Makes the next write fail.
  virtual void FailWrites() {}

  ManualClock clock{absl::FromUnixSeconds(1764540000)};
};

struct BackendFactory {
  std::string name;
  std::function<std::unique_ptr<StateBackend>()> make;
};
inline void PrintTo(const BackendFactory& factory, std::ostream* os) { *os << factory.name; }

// The stamp tests recognise: "id/token" and "!" when degraded.
std::string TestStamp(const SnapshotInfo& info, std::string_view token, bool degraded);

// The reference model; LevelDB with its usual batches; LevelDB that writes every snapshot of more
// than a row in chunks and has no row cache; LevelDB compacted after every commit.
std::vector<BackendFactory> AllBackends();
// Those of them that have the feature.
std::vector<BackendFactory> BackendsWith(Feature feature);

}  // namespace tidemark::state

#endif  // TIDEMARK_TESTS_CONFORMANCE_STATE_BACKEND_H_
