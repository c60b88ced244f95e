// ReadPointResolver over a StateWorld.
#ifndef TIDEMARK_TESTS_UNIT_SERVER_READ_POINT_FIXTURE_H_
#define TIDEMARK_TESTS_UNIT_SERVER_READ_POINT_FIXTURE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/mutex.h"
#include "gtest/gtest.h"
#include "server/read_point.h"
#include "tests/support/state_world.h"
#include "tidemark/v1/consistency.pb.h"

namespace tidemark {

using tables::Datum;
using testing::StateWorld;

// What a Resolve answers. Thread-safe.
class Answer {
 public:
  ReadPointResolver::Done Done() {
    return [this](absl::StatusOr<ReadView> view) {
      MutexLock lock(mutex_);
      ++count_;
      view_ = std::move(view);
      changed_.NotifyAll();
    };
  }
  const absl::StatusOr<ReadView>& Wait() {
    MutexLock lock(mutex_);
    while (count_ == 0) changed_.Wait(mutex_);
    return *view_;
  }
  int count() const {
    MutexLock lock(mutex_);
    return count_;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  int count_ TIDEMARK_GUARDED_BY(mutex_) = 0;
  std::optional<absl::StatusOr<ReadView>> view_ TIDEMARK_GUARDED_BY(mutex_);
};

class ReadPointTest : public ::testing::Test {
 protected:
  ReadPointTest() { world_.Load(); }

  state::SnapshotId CommitOne() {
    return world_.Commit([&](StateWorld::Txn& txn) {
      txn.Put("customers", {Datum::String("C-1"), Datum::String("Ann"), Datum::Int(++limit_)});
    });
  }

  std::shared_ptr<ReadWait> Resolve(const v1::Consistency& consistency, Answer& answer,
                                    std::vector<std::string> tables = {"customers"},
                                    bool with_sources = false) {
    std::vector<const tables::Table*> found;
    for (const std::string& name : tables) found.push_back(&world_.table(name));
    return resolver_->Resolve(
        {.consistency = &consistency, .tables = found, .with_sources = with_sources},
        answer.Done());
  }
  // Of a requirement that needs no wait.
  absl::StatusOr<ReadView> Now(const v1::Consistency& consistency,
                               std::vector<std::string> tables = {"customers"}) {
    Answer answer;
    EXPECT_EQ(Resolve(consistency, answer, std::move(tables)), nullptr);
    EXPECT_EQ(answer.count(), 1);
    return answer.Wait();
  }
  // Of one that waits until the deadline.
  absl::Status AtDeadline(const v1::Consistency& consistency,
                          std::vector<std::string> tables = {"customers"}) {
    Answer answer;
    const std::shared_ptr<ReadWait> wait = Resolve(consistency, answer, std::move(tables));
    EXPECT_NE(wait, nullptr);
    EXPECT_EQ(answer.count(), 0);
    if (wait != nullptr) wait->Stop(StopReason::kDeadline);
    EXPECT_EQ(answer.count(), 1);
    EXPECT_EQ(resolver_->waits(), 0u);
    return answer.Wait().status();
  }

  static v1::Consistency AtLeast(const std::string& token) {
    v1::Consistency c;
    c.set_at_least(token);
    return c;
  }
  static v1::Consistency Exact(const std::string& token) {
    v1::Consistency c;
    c.set_exact(token);
    return c;
  }
  static v1::Consistency MaxStaleness(absl::Duration span) {
    v1::Consistency c;
    c.mutable_max_staleness()->set_seconds(absl::ToInt64Seconds(span));
    c.mutable_max_staleness()->set_nanos(
        static_cast<int>(absl::ToInt64Nanoseconds(span % absl::Seconds(1))));
    return c;
  }
  static v1::Consistency Recency(std::vector<std::string> sources = {}) {
    v1::Consistency c;
    c.mutable_source_recency();
    for (std::string& s : sources) c.mutable_source_recency()->add_sources(std::move(s));
    return c;
  }
  static v1::Consistency AtPosition(const std::string& source, const std::string& position) {
    v1::Consistency c;
    c.mutable_at_position()->set_source(source);
    c.mutable_at_position()->set_position(position);
    return c;
  }

  StateWorld world_;
  std::unique_ptr<ReadPointResolver> resolver_ = MakeReadPointResolver(
      world_.reader(), world_.catalog(), world_.sources(), world_.clock(), {.max_waits = 3});
  int64_t limit_ = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_UNIT_SERVER_READ_POINT_FIXTURE_H_
