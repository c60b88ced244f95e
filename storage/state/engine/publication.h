// What the writer publishes and readers read through, and the place they take it from.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_PUBLICATION_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_PUBLICATION_H_

#include <array>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/mutex.h"
#include "storage/state/engine/disk/database.h"
#include "storage/state/engine/layout/records.h"
#include "storage/state/engine/layout/table_set.h"
#include "storage/state/state_reader.h"

namespace tidemark::state::engine {

// The pinned snapshots, as of a publication.
class PinSet {
 public:
  PinSet() = default;
  explicit PinSet(std::vector<SnapshotId> sorted) : snapshots_(std::move(sorted)) {}
  // Whether a live pin keeps the snapshot readable.
  bool Covers(SnapshotId id) const;

 private:
  std::vector<SnapshotId> snapshots_;
};

// Everything a read needs, immutable.
class LevelDbPublication final : public Publication {
 public:
  struct Parts {
    SnapshotInfo info;
    SnapshotId floor = kFirstSnapshot;
    std::string stamp;
    std::string degraded_stamp;
    std::shared_ptr<const TableSet> tables;
    std::shared_ptr<const PinSet> pins;
    std::shared_ptr<const Identity> identity;
    // Rises with every publication, also when the snapshot stays the same: rows may have been
    // written in place.
    uint64_t sequence = 0;
  };
  LevelDbPublication(Parts parts, std::shared_ptr<Database> database)
      : parts_(std::move(parts)), handle_(std::move(database)) {}

  const SnapshotInfo& info() const override { return parts_.info; }
  SnapshotId floor() const override { return parts_.floor; }
  const std::string& stamp(bool degraded) const override {
    return degraded ? parts_.degraded_stamp : parts_.stamp;
  }
  const TableSet& tables() const { return *parts_.tables; }
  const PinSet& pins() const { return *parts_.pins; }
  const Identity& identity() const { return *parts_.identity; }
  uint64_t sequence() const { return parts_.sequence; }
  const Database::Handle& handle() const { return handle_; }

 private:
  const Parts parts_;
  const Database::Handle handle_;
};
using LevelDbPublicationPtr = std::shared_ptr<const LevelDbPublication>;

// Holds the newest publication. A lock guards nothing but the copy of a pointer: no reader ever
// waits for the writer's work. There are several copies, so that readers on many cores do not fight
// over one lock and one reference count; all of them change at once, so that no reader sees an
// older snapshot than another reader before it. Thread-safe.
class PublicationBoard {
 public:
  PublicationBoard() : listeners_(std::make_shared<Listeners>()) {}

  // Called by the writer's thread only. Listeners have returned when it does.
  void Publish(const LevelDbPublicationPtr& publication);
  PublicationPtr Latest() const;
  std::shared_ptr<void> AddListener(StateReader::Listener listener);

 private:
  struct alignas(64) Slot {
    mutable Mutex mutex;
    PublicationPtr newest TIDEMARK_GUARDED_BY(mutex);
  };
  struct Listeners {
    Mutex mutex;
    std::list<StateReader::Listener> list TIDEMARK_GUARDED_BY(mutex);
  };
  static constexpr size_t kSlots = 8;

  void Replace(const LevelDbPublicationPtr& publication);

  std::array<Slot, kSlots> slots_;
  const std::shared_ptr<Listeners> listeners_;  // outlived by handles
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_PUBLICATION_H_
