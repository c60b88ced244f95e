// A small world for tests of reads and watches: tables over a store, written directly, and sources
// that say what the test tells them. No merging, no system of record.
//
// Example:
//   StateWorld world;
//   world.Load();                                   // the tables become readable
//   const state::SnapshotId s = world.Commit([&](StateWorld::Txn& t) {
//     t.Put("customers", {Datum::String("C-1"), Datum::String("Ann"), Datum::Int(100)});
//   });
#ifndef TIDEMARK_TESTS_SUPPORT_STATE_WORLD_H_
#define TIDEMARK_TESTS_SUPPORT_STATE_WORLD_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/mutex.h"
#include "server/ingest/progress.h"
#include "server/ingest/source.h"
#include "storage/state/state_store.h"
#include "storage/tables/catalog.h"
#include "storage/tables/datum.h"

namespace tidemark::testing {

// Thread-safe. Positions are numbers of ten digits; "7" is how users write one.
class ToldSource final : public ingest::Source {
 public:
  ToldSource(std::string name, const Clock& clock);

  // Everything before the position is applied.
  void PassTo(int position) { progress_->AppliedUpTo(Position(position)); }
  // Answers the next probe: everything up to now is before `head`.
  void Probe(int head);
  void FailProbe();
  void SetStatus(const std::function<void(ingest::SourceStatus&)>& change);
  static std::string Position(int position);

  const std::string& name() const override { return name_; }
  void Start() override {}
  void Stop() override { progress_->Stop(); }
  absl::Status Pause() override;
  absl::Status Resume() override;
  ingest::SourceStatus Status() const override;
  absl::StatusOr<std::string> ParsePosition(std::string_view text) const override;
  std::string FormatPosition(std::string_view position) const override;
  std::shared_ptr<void> WhenPast(std::string_view position, Callback callback) override;
  std::shared_ptr<void> WhenRecent(Callback callback) override;
  absl::Time FreshAsOf() const override { return progress_->fresh_as_of(); }

 private:
  const std::string name_;
  const std::shared_ptr<ingest::Progress> progress_;
  mutable Mutex mutex_;
  ingest::SourceStatus status_ TIDEMARK_GUARDED_BY(mutex_);
};

struct StateWorldOptions {
  // For tests that need the real engine; nullptr = the reference model.
  std::function<std::unique_ptr<state::StateStore>(state::StampEncoder, const Clock&)> make_store;
};

class StateWorld {
 public:
  // Tables customers (erp: id string, name string, limit int), orders (erp: customer_id string,
  // order_no int, total decimal, note string; key of two), rates (erp and shop: day date, desk
  // string, rate double) and secrets (erp, readable by tenant "other" only: id string).
  explicit StateWorld(const StateWorldOptions& options = {});
  ~StateWorld();

  // Makes tables readable; all of them when none is named.
  void Load(const std::vector<std::string>& tables = {});

  class Txn {
   public:
    // All columns in definition order.
    void Put(std::string_view table, const std::vector<tables::Datum>& row);
    void Delete(std::string_view table, const std::vector<tables::Datum>& key);
    void Truncate(std::string_view table);

   private:
    friend class StateWorld;
    explicit Txn(StateWorld& world) : world_(world) {}
    StateWorld& world_;
  };
  using Body = std::function<void(Txn&)>;
  // One snapshot of source erp, at the next position, published. Returns its id. By one thread at a
  // time.
  state::SnapshotId Commit(const Body& body) { return CommitBatch({body}); }
  // Several snapshots, published together. Returns the last one's id.
  state::SnapshotId CommitBatch(const std::vector<Body>& bodies);
  // From the next commit on.
  void SetDegraded(const std::vector<std::string>& tables);

  const tables::Table& table(std::string_view name) const { return *catalog_->Find(name); }
  const tables::Catalog& catalog() const { return *catalog_; }
  state::StateStore& store() { return *store_; }
  state::StateReader& reader() { return store_->reader(); }
  const ingest::SourceSet& sources() const { return *sources_; }
  ToldSource& erp() { return *erp_; }
  ToldSource& shop() { return *shop_; }
  ManualClock& clock() { return clock_; }
  std::string Token(state::SnapshotId id) { return reader().TokenOf(id); }

 private:
  void Publish();

  ManualClock clock_{absl::FromUnixSeconds(1700000000)};
  std::unique_ptr<state::StateStore> store_;
  std::unique_ptr<tables::Catalog> catalog_;
  std::unique_ptr<ingest::SourceSet> sources_;
  ToldSource* erp_ = nullptr;
  ToldSource* shop_ = nullptr;
  int position_ = 0;
  std::vector<state::TableId> degraded_;
};

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_STATE_WORLD_H_
