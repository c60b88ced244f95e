// CallStop without a transport: who is told what, once, whatever happens at the same time.
#include "server/transport/call_stop.h"

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

using std::chrono::hours;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A call that notes what it is told, and that lives until its last handle is gone.
class FakeCall final : public Call {
 public:
  FakeCall(WaitingCalls& waiting, TimerQueue& timers, std::atomic<int>& alive)
      : stop_(waiting, timers), alive_(alive) {
    ++alive_;
  }
  ~FakeCall() override { --alive_; }

  void WhenStopped(std::function<void(StopReason)> callback) override {
    stop_.Arm(CallHandle<Call>(this), std::move(callback));
  }
  void Finish(const absl::Status&) override {
    if (stop_.Close()) ++finished_;
  }
  CallStop& stop() { return stop_; }
  int finished() const { return finished_; }

 private:
  void Abandoned() override { delete this; }

  CallStop stop_;
  std::atomic<int>& alive_;
  std::atomic<int> finished_{0};
};

class CallStopTest : public ::testing::Test {
 protected:
  ~CallStopTest() override {
    timers_.reset();  // its thread may still be on the way back from a call
    EXPECT_EQ(alive_, 0) << "a call was never let go";
  }

  CallHandle<FakeCall> NewCall(SteadyTime answer_by = SteadyTime::max()) {
    CallHandle<FakeCall> call(new FakeCall(waiting_, *timers_, alive_));
    CallContextForTest::Set(call->context(), AllMethods()[0], LocalPrincipal(), answer_by);
    return call;
  }
  // Arms the call so that it notes the reason and ends.
  void Await(const CallHandle<FakeCall>& call) {
    call->WhenStopped([this, call](StopReason reason) {
      {
        MutexLock lock(mutex_);
        told_.push_back(reason);
        changed_.NotifyAll();
      }
      call->Finish(absl::OkStatus());
    });
  }
  std::vector<StopReason> Told() {
    MutexLock lock(mutex_);
    return told_;
  }
  void AwaitTold(size_t count) {
    MutexLock lock(mutex_);
    while (told_.size() < count) changed_.Wait(mutex_);
  }

  std::atomic<int> alive_{0};
  std::atomic<const CallContext*> withdrawn_{nullptr};
  WaitingCalls waiting_{[this](const CallContext& context) { return &context != withdrawn_; }};
  std::optional<TimerQueue> timers_{std::in_place};
  Mutex mutex_;
  CondVar changed_;
  std::vector<StopReason> told_ TIDEMARK_GUARDED_BY(mutex_);
};

TEST_F(CallStopTest, TheFirstReasonIsToldAndTheRestIsNot) {
  const auto call = NewCall();
  Await(call);
  call->stop().Signal(StopReason::kCancelled);
  call->stop().Signal(StopReason::kDraining);
  waiting_.Drain();
  EXPECT_THAT(Told(), ElementsAre(StopReason::kCancelled));
  EXPECT_EQ(call->finished(), 1);
}

TEST_F(CallStopTest, AReasonFromBeforeIsToldAtOnce) {
  const auto call = NewCall();
  call->stop().Signal(StopReason::kCancelled);
  Await(call);
  EXPECT_THAT(Told(), ElementsAre(StopReason::kCancelled));
}

TEST_F(CallStopTest, ADrainReachesThoseThatWaitAndThoseThatBeginTo) {
  const auto first = NewCall();
  Await(first);
  EXPECT_THAT(Told(), IsEmpty());
  waiting_.Drain();
  EXPECT_THAT(Told(), ElementsAre(StopReason::kDraining));
  const auto second = NewCall();
  Await(second);
  EXPECT_THAT(Told(), ElementsAre(StopReason::kDraining, StopReason::kDraining));
}

TEST_F(CallStopTest, OnlyCallsThatAreNotAdmittedAnyMoreAreWithdrawn) {
  const auto other = NewCall();
  const auto first = NewCall();
  Await(other);
  Await(first);
  waiting_.StopWithdrawn();
  EXPECT_THAT(Told(), IsEmpty());
  withdrawn_ = &first->context();
  waiting_.StopWithdrawn();
  EXPECT_THAT(Told(), ElementsAre(StopReason::kWithdrawn));
  EXPECT_EQ(first->finished(), 1);
  EXPECT_EQ(other->finished(), 0);
  // One that begins to wait after the change was told.
  const auto second = NewCall();
  withdrawn_ = &second->context();
  Await(second);
  EXPECT_THAT(Told(), ElementsAre(StopReason::kWithdrawn, StopReason::kWithdrawn));
  other->Finish(absl::OkStatus());
}

TEST_F(CallStopTest, TheTimeToAnswerIsTold) {
  const auto call = NewCall(steady_clock::now());
  Await(call);
  AwaitTold(1);
  EXPECT_THAT(Told(), ElementsAre(StopReason::kDeadline));
}

TEST_F(CallStopTest, AFinishedCallIsToldNothingAndLeavesNothingBehind) {
  {
    const auto call = NewCall(steady_clock::now() + hours(1));
    Await(call);
    EXPECT_EQ(timers_->size(), 1u);
    call->Finish(absl::OkStatus());
    call->Finish(absl::OkStatus());
    EXPECT_EQ(call->finished(), 1);
  }
  EXPECT_EQ(timers_->size(), 0u);
  EXPECT_EQ(alive_, 0);
  waiting_.Drain();
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(CallStopTest, OneThatIsFinishedBeforeItWaitsIsToldNothing) {
  const auto call = NewCall(steady_clock::now());
  call->Finish(absl::OkStatus());
  Await(call);
  EXPECT_EQ(timers_->size(), 0u);
  EXPECT_THAT(Told(), IsEmpty());
}

// Arm, cancel, deadline, drain and finish from five sides: every call ends once, is told at most
// one reason, and is let go.
TEST_F(CallStopTest, WhateverComesTogetherEveryCallEndsOnceAndIsLetGo) {
  constexpr int kCalls = 2000;
  std::vector<CallHandle<FakeCall>> calls;
  for (int i = 0; i < kCalls; ++i) {
    calls.push_back(NewCall(steady_clock::now() + std::chrono::microseconds(i % 7 * 500)));
  }
  std::atomic<bool> go{false};
  const auto each = [&](const std::function<void(const CallHandle<FakeCall>&)>& act) {
    return std::thread([&calls, &go, act] {
      while (!go) std::this_thread::yield();
      for (const auto& call : calls) act(call);
    });
  };
  std::vector<std::thread> threads;
  threads.push_back(each([this](const auto& call) { Await(call); }));
  threads.push_back(each([](const auto& call) { call->stop().Signal(StopReason::kCancelled); }));
  threads.push_back(each([&calls](const auto& call) {
    if ((&call - calls.data()) % 3 == 0) call->Finish(absl::OkStatus());
  }));
  threads.emplace_back([this, &go] {
    while (!go) std::this_thread::yield();
    waiting_.Drain();
  });
  go = true;
  for (std::thread& thread : threads) thread.join();
  for (const auto& call : calls) EXPECT_EQ(call->finished(), 1);
  EXPECT_LE(Told().size(), static_cast<size_t>(kCalls));
  calls.clear();
  timers_->Stop();
}

}  // namespace
}  // namespace tidemark
