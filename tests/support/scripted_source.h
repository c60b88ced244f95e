// A source that does what a test tells it: events come from the test, positions are numbers. What
// it hands to the applier and says to waiters goes the way of every source (Applier, Progress), so
// tests of reads, waits and watches need no system of record.
//
// Example:
//   ScriptedSource erp("erp", *applier, SystemClock());
//   const auto customers = erp.Relation("public.customers", {{"id", Kind::kString, true}, ...});
//   erp.Start();
//   erp.FinishCopy({"public.customers"});                       // the tables are readable
//   erp.Commit({erp.Insert(customers, {Datum::String("C-1"), ...})});   // applied and published
#ifndef TIDEMARK_TESTS_SUPPORT_SCRIPTED_SOURCE_H_
#define TIDEMARK_TESTS_SUPPORT_SCRIPTED_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/background_worker.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "server/ingest/applier.h"
#include "server/ingest/progress.h"
#include "server/ingest/source.h"
#include "storage/tables/datum.h"
#include "storage/tables/row_event.h"

namespace tidemark::testing {

struct ScriptedSourceOptions {
  // True: every wait for recency is answered by a probe at once. False: the test calls Probe.
  bool answer_probes = true;
};

// Thread-safe as a Source; the script itself is played by one thread, after Start.
class ScriptedSource final : public ingest::Source {
 public:
  using Schema = std::shared_ptr<const tables::RelationSchema>;
  using Row = std::vector<tables::Datum>;
  using Events = std::vector<tables::RowEvent>;

  // `applier` and `clock` outlive it. The applier must be running at Start and in the script.
  ScriptedSource(std::string name, ingest::Applier& applier, const Clock& clock,
                 ScriptedSourceOptions options = {});
  ~ScriptedSource() override;

  // --- Relations and events. Their sequences are given when they are committed, unless set.
  Schema Relation(std::string relation, std::vector<tables::RelationColumn> columns) const;
  static tables::RowEvent Insert(const Schema& schema, Row after);
  // `before` only when the key changes.
  static tables::RowEvent Update(const Schema& schema, Row after, Row before = {});
  static tables::RowEvent Delete(const Schema& schema, Row before);
  static tables::RowEvent Truncate(const Schema& schema);

  // --- What the applier gets. Each returns when everything queued so far is durable and published,
  // or with the first error among it; then the source has restarted, and stands where it is
  // durable. One source transaction, at the next position.
  absl::Status Commit(Events events);
  // Rows of a copy, and the end of the copy of these relations. Events that follow are of the
  // newest generation whose copy is complete.
  absl::Status CopyRows(Events rows, uint64_t generation = 1);
  absl::Status FinishCopy(const std::vector<std::string>& relations, uint64_t generation = 1);
  absl::Status SetDegraded(bool degraded);
  // Queues a transaction without waiting; Wait waits for everything queued.
  absl::Status CommitLater(Events events);
  absl::Status Wait();

  // --- What others see.
  // Number of the newest transaction queued, 0 before the first; its position is Position(number).
  // When it is applied, everything before Position(number + 1) is.
  uint64_t number() const;
  static std::string Position(uint64_t number);
  void SetState(ingest::SourceState state, std::string detail = {});
  // The system of record has committed transactions up to this number, though they did not arrive.
  void SetHead(uint64_t number);
  // Sends a probe and answers it with the head, or fails it with SOURCE_UNAVAILABLE.
  void Probe();
  void FailProbe();

  // --- Source.
  const std::string& name() const override { return name_; }
  void Start() override;  // goes on from the durable position
  void Stop() override;
  absl::Status Pause() override;  // Commit is then refused with FAILED_PRECONDITION
  absl::Status Resume() override;
  ingest::SourceStatus Status() const override;
  // Positions as users see them are the numbers.
  absl::StatusOr<std::string> ParsePosition(std::string_view text) const override;
  std::string FormatPosition(std::string_view position) const override;
  std::shared_ptr<void> WhenPast(std::string_view position, Callback callback) override;
  std::shared_ptr<void> WhenRecent(Callback callback) override;
  absl::Time FreshAsOf() const override { return shared_->progress.fresh_as_of(); }

 private:
  // What the `done` calls of works touch: they may come after the source is gone.
  struct Shared {
    Shared(std::string name, const Clock& c) : clock(c), progress(std::move(name), c) {}
    void Done(uint64_t number, uint64_t events, bool transaction, const absl::Status& status);

    const Clock& clock;
    ingest::Progress progress;
    Mutex mutex;
    CondVar changed;
    uint64_t pending TIDEMARK_GUARDED_BY(mutex) = 0;  // works whose `done` was not called
    absl::Status error TIDEMARK_GUARDED_BY(mutex);    // the first since the last Wait
    uint64_t queued TIDEMARK_GUARDED_BY(mutex) = 0;   // number of the newest transaction
    uint64_t applied TIDEMARK_GUARDED_BY(mutex) = 0;
    uint64_t head TIDEMARK_GUARDED_BY(mutex) = 0;
    uint64_t generation TIDEMARK_GUARDED_BY(mutex) = 1;
    ingest::SourceStatus status TIDEMARK_GUARDED_BY(mutex);
  };

  ingest::Work MakeWork(ingest::WorkKind kind, uint64_t number, uint64_t generation) const;
  // Fills in sequences and times, and makes the list.
  std::unique_ptr<ingest::EventList> Stamp(Events events, uint64_t number) const;
  absl::Status Queue(ingest::Work work, uint64_t number);
  absl::Status ReadBack();

  const std::string name_;
  ingest::Applier& applier_;
  const Clock& clock_;
  const ScriptedSourceOptions options_;
  const std::shared_ptr<Shared> shared_;
  Mutex probe_mutex_;  // one probe at a time
  std::unique_ptr<BackgroundWorker> prober_;
};

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_SCRIPTED_SOURCE_H_
