// Random histories, applied to tables over every store, against tables computed anew from the
// relations' rows: equal byte for byte at every snapshot.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/merging_model.h"
#include "tests/conformance/merging_workload.h"
#include "tests/conformance/state_backend.h"
#include "tests/support/merge_world.h"
#include "tests/support/status_matchers.h"

namespace tidemark::tables {
namespace {

using ::tidemark::testing::IsOk;
using ::tidemark::testing::ReasonIs;

class MergingRun {
 public:
  MergingRun(state::StateBackend& backend, uint64_t seed)
      : workload_(seed),
        world_(backend.store(), kBusinessTables),
        model_(ParseTableDefinitions(kBusinessTables, {"erp"}).value()) {
    expected_[world_.latest()] = model_.Compute();
  }

  // Source transactions one after the other, copies of whole relations in between.
  void Ordered(int transactions) {
    EventOrigin origin = MergeWorld::Origin();
    for (int i = 0; i < transactions && !::testing::Test::HasFailure(); ++i) {
      if (workload_.Chance(10)) FailAndTakeBack(origin);
      if (workload_.Chance(10)) world_.Restart();
      if (workload_.Chance(5)) {
        CopyAgain();
      } else {
        Apply(workload_.Transaction());
      }
    }
    CompareAll();
  }

  // Events come again, and single ones come late.
  void Disordered(int transactions) {
    std::vector<RowEvent> sent, late;
    for (int i = 0; i < transactions && !::testing::Test::HasFailure(); ++i) {
      std::vector<RowEvent> events;
      for (RowEvent& event : workload_.Transaction()) {
        // An event whose unsent columns are those of a row nobody knows yet cannot come first.
        const bool whole = std::none_of(event.after.begin(), event.after.end(),
                                        [](const Datum& datum) { return datum.is_unchanged(); });
        const bool may_wait = whole && event.op != EventOp::kInsert;
        (may_wait && !NeededLater(event) && workload_.Chance(25) ? late : events)
            .push_back(std::move(event));
      }
      if (workload_.Chance(40) && !late.empty()) {
        events.push_back(late.back());
        late.pop_back();
      }
      for (size_t k = workload_.Pick(4); k > 0 && !sent.empty(); --k) {
        events.push_back(sent[workload_.Pick(sent.size())]);
      }
      sent.insert(sent.end(), events.begin(), events.end());
      Apply(events, /*ordered=*/false);
    }
    CompareAll();
  }

 private:
  // Whether later events of the row lean on this one: relations whose columns may go unsent.
  static bool NeededLater(const RowEvent& event) {
    const std::string& name = event.schema->name;
    return name != "payments" && name != "profiles";
  }

  uint64_t generation(const RowEvent& event) {
    return generations_.emplace(event.schema->name, 1).first->second;
  }

  void Apply(const std::vector<RowEvent>& events, bool ordered = true, bool copy = false) {
    // The generation belongs to the relation: the events of one call may be of several.
    ASSERT_THAT(world_.writer().BeginSnapshot(), IsOk());
    for (const RowEvent& event : events) {
      EventOrigin origin = MergeWorld::Origin();
      origin.ordered = ordered;
      origin.copy = copy;
      origin.generation = generation(event);
      ASSERT_THAT(world_.merger().Apply(event, origin), IsOk());
      model_.Apply(event, origin.generation);
    }
    const auto id = world_.writer().EndSnapshot({"erp", "p", {}});
    ASSERT_THAT(id, IsOk());
    ASSERT_THAT(world_.writer().Commit({}), IsOk());
    // A truncate is a change even of an empty table.
    const bool truncates = std::any_of(events.begin(), events.end(), [](const RowEvent& event) {
      return event.op == EventOp::kTruncate;
    });
    CompareNewest(id->has_value(), truncates);
  }

  void CompareNewest(bool made_snapshot, bool may_make_one) {
    const MergingModel::Tables tables = model_.Compute();
    const bool changed = tables != expected_.rbegin()->second;
    if (!may_make_one || changed) {
      EXPECT_EQ(made_snapshot, changed);
    }
    expected_[world_.latest()] = tables;
    Compare(world_.latest());
  }

  void Compare(state::SnapshotId id) {
    for (const auto& [name, rows] : expected_[id]) {
      if (world_.Bytes(name, id) == rows) continue;
      const TableDefinition& table = world_.catalog().Find(name)->definition;
      ADD_FAILURE() << "table " << name << " at snapshot " << id << "\n"
                    << RowTexts(table, world_.Bytes(name, id)) << "should be\n"
                    << RowTexts(table, rows);
    }
  }

  void CompareAll() {
    for (const auto& entry : expected_) Compare(entry.first);
  }

  void FailAndTakeBack(const EventOrigin& origin) {
    // Of another workload, so that this one goes on as if nothing had been.
    std::vector<RowEvent> events = MergingWorkload(workload_.Pick(1000)).Transaction();
    const RowEvent broken = Insert(events[0].schema, 1, {});
    EXPECT_THAT(world_.Apply({Insert(events[0].schema, 1u << 30, events[0].after), broken}, origin),
                ReasonIs(Reason::kEventMalformed));
    Compare(world_.latest());
  }

  // The source lost track: changes were missed, and the relation is copied under a new generation.
  void CopyAgain() {
    const std::vector<std::string>& names = workload_.relations();
    const std::string name = names[workload_.Pick(names.size())];
    std::vector<RowEvent> others;
    for (RowEvent& event : workload_.Transaction()) {
      if (event.schema->name != name) others.push_back(std::move(event));
    }
    Apply(others);
    generations_[name] = std::max<uint64_t>(generations_[name], 1) + 1;
    const std::vector<RowEvent> rows = workload_.Copy(name);
    for (size_t i = 0; i < rows.size(); i += 3) {
      Apply({rows.begin() + static_cast<int64_t>(i),
             rows.begin() + static_cast<int64_t>(std::min(rows.size(), i + 3))},
            /*ordered=*/true, /*copy=*/true);
    }
    const state::SnapshotId before = world_.latest();
    ASSERT_THAT(world_.Sweep({"erp", name}, generations_[name], 1 + workload_.Pick(4)), IsOk());
    model_.Sweep(name, generations_[name]);
    const MergingModel::Tables tables = model_.Compute();
    if (world_.latest() == before) {
      EXPECT_EQ(tables, expected_[before]);
    }
    expected_[world_.latest()] = tables;
    Compare(world_.latest());
  }

  MergingWorkload workload_;
  MergeWorld world_;
  MergingModel model_;
  std::map<std::string, uint64_t> generations_;
  std::map<state::SnapshotId, MergingModel::Tables> expected_;
};

class MergingDifferentialTest : public ::testing::TestWithParam<state::BackendFactory> {
 protected:
  // The memory model keeps every snapshot whole, LevelDB has to open a directory.
  static constexpr int kSeeds = 60;
};

TEST_P(MergingDifferentialTest, TablesAreWhatTheirRelationsSayAtEverySnapshot) {
  for (uint64_t seed = 1; seed <= kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto backend = GetParam().make();
    MergingRun(*backend, seed).Ordered(60);
  }
}

TEST_P(MergingDifferentialTest, EventsThatComeAgainOrLateChangeNothingTheyShouldNot) {
  for (uint64_t seed = 1001; seed <= 1000 + kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto backend = GetParam().make();
    MergingRun(*backend, seed).Disordered(60);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, MergingDifferentialTest,
                         ::testing::ValuesIn(state::AllBackends()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tidemark::tables
