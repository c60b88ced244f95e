// Calls without a transport, to test handlers directly.
//
// Example:
//   FakeUnaryCall<v1::GetRowResponse> call("StateService", "GetRow");
//   service.GetRow(request, call.reply());
//   call.Wait();
//   EXPECT_THAT(call.status(), IsOk());
#ifndef TIDEMARK_TESTS_SUPPORT_FAKE_CALLS_H_
#define TIDEMARK_TESTS_SUPPORT_FAKE_CALLS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/check.h"
#include "common/mutex.h"
#include "google/protobuf/message.h"
#include "server/call.h"

namespace tidemark::testing {

inline PrincipalPtr ReaderOf(const std::string& tenant, const std::string& subject = "agent") {
  return std::make_shared<const Principal>(Principal{.tenant = tenant,
                                                     .subject = subject,
                                                     .kind = PrincipalKind::kAgent,
                                                     .roles = {Role::kReader}});
}

// What both shapes share: the end of a call, and word to stop. Thread-safe.
class CallEnd {
 public:
  void Arm(std::function<void(StopReason)> callback) {
    MutexLock lock(mutex_);
    if (!status_.has_value()) stopped_ = std::move(callback);
  }
  // The first end counts; drops the callback outside the lock.
  bool Close(const absl::Status& status) {
    std::function<void(StopReason)> dropped;
    MutexLock lock(mutex_);
    if (status_.has_value()) return false;
    status_ = status;
    dropped.swap(stopped_);
    changed_.NotifyAll();
    return true;
  }
  void Stop(StopReason reason) {
    std::function<void(StopReason)> callback;
    {
      MutexLock lock(mutex_);
      callback.swap(stopped_);
    }
    if (callback) callback(reason);
  }
  bool done() const {
    MutexLock lock(mutex_);
    return status_.has_value();
  }
  absl::Status Wait() {
    MutexLock lock(mutex_);
    while (!status_.has_value()) changed_.Wait(mutex_);
    return *status_;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  std::optional<absl::Status> status_ TIDEMARK_GUARDED_BY(mutex_);
  std::function<void(StopReason)> stopped_ TIDEMARK_GUARDED_BY(mutex_);
};

// The call stays valid until its last handle is gone: the destructor waits for that.
template <typename Response>
class FakeUnaryCall {
 public:
  FakeUnaryCall(std::string_view service, std::string_view method,
                PrincipalPtr principal = ReaderOf("default")) {
    CallContextForTest::Set(core_->context(), *FindMethod(service, method), std::move(principal));
  }
  ~FakeUnaryCall() {
    MutexLock lock(core_->mutex);
    while (core_->started && !core_->gone) core_->changed.Wait(core_->mutex);
  }

  Reply<Response> reply() {
    MutexLock lock(core_->mutex);
    core_->started = true;
    return Reply<Response>(CallHandle<UnaryCall>(core_.get()));
  }
  void Stop(StopReason reason) { core_->end.Stop(reason); }
  bool done() const { return core_->end.done(); }
  // Waits for the end.
  absl::Status status() { return core_->end.Wait(); }
  const Response& response() {
    (void)status();
    return core_->answer;
  }
  const std::string& wire() const { return core_->wire; }
  CallContext& context() { return core_->context(); }

 private:
  class Core final : public UnaryCall {
   public:
    google::protobuf::Message& response() override { return answer; }
    void FinishWithWire(std::span<const std::string_view> pieces) override {
      if (end.done()) return;
      for (std::string_view piece : pieces) wire.append(piece);
      TIDEMARK_CHECK(answer.ParseFromString(wire));
      end.Close(absl::OkStatus());
    }
    void WhenStopped(std::function<void(StopReason)> callback) override {
      end.Arm(std::move(callback));
    }
    void Finish(const absl::Status& status) override { end.Close(status); }
    void Abandoned() override {
      end.Close(absl::InternalError("abandoned"));
      MutexLock lock(mutex);
      gone = true;
      changed.NotifyAll();
    }

    CallEnd end;
    Response answer;
    std::string wire;
    Mutex mutex;
    CondVar changed;
    bool started = false, gone = false;
  };
  std::unique_ptr<Core> core_ = std::make_unique<Core>();
};

// Collects messages. Each is taken at once (`WhenWritten` is called before Write returns), or,
// after Hold, only when the test takes it.
template <typename Response>
class FakeStream {
 public:
  FakeStream(std::string_view service, std::string_view method,
             PrincipalPtr principal = ReaderOf("default")) {
    CallContextForTest::Set(core_->context(), *FindMethod(service, method), std::move(principal));
  }
  ~FakeStream() {
    core_->end.Stop(StopReason::kCancelled);
    MutexLock lock(core_->mutex);
    while (core_->started && !core_->gone) core_->changed.Wait(core_->mutex);
  }

  ResponseStream<Response> stream() {
    MutexLock lock(core_->mutex);
    core_->started = true;
    return ResponseStream<Response>(CallHandle<StreamCall>(core_.get()));
  }
  void Hold() {
    MutexLock lock(core_->mutex);
    core_->hold = true;
  }
  // Takes the message that is held back; waits for one. The next one is held back, too.
  void Take() {
    {
      MutexLock lock(core_->mutex);
      while (!core_->in_flight) core_->changed.Wait(core_->mutex);
      core_->in_flight = false;
    }
    core_->Taken();
  }
  // The next message, waiting for it; nullopt when the stream ended before.
  std::optional<Response> Next() {
    MutexLock lock(core_->mutex);
    while (read_ == core_->messages.size()) {
      if (core_->finished) return std::nullopt;
      core_->changed.Wait(core_->mutex);
    }
    return core_->messages[read_++];
  }
  // Waits until this many messages were written.
  void AwaitWritten(size_t count) {
    MutexLock lock(core_->mutex);
    while (core_->messages.size() < count) core_->changed.Wait(core_->mutex);
  }
  size_t written() const {
    MutexLock lock(core_->mutex);
    return core_->messages.size();
  }
  void Stop(StopReason reason) { core_->end.Stop(reason); }
  bool done() const { return core_->end.done(); }
  absl::Status status() { return core_->end.Wait(); }

 private:
  class Core final : public StreamCall {
   public:
    void WhenWritten(std::function<void()> callback) override {
      MutexLock lock(mutex);
      written = std::move(callback);
    }
    void Write(std::span<const std::string_view> pieces) override {
      std::string wire;
      for (std::string_view piece : pieces) wire.append(piece);
      Response message;
      TIDEMARK_CHECK(message.ParseFromString(wire));
      bool taken;
      {
        MutexLock lock(mutex);
        if (finished) return;
        TIDEMARK_CHECK(!in_flight);
        messages.push_back(std::move(message));
        in_flight = hold;
        taken = !hold;
        changed.NotifyAll();
      }
      if (taken) Taken();
    }
    void Taken() {
      std::function<void()> callback;
      {
        MutexLock lock(mutex);
        callback = written;
      }
      if (callback) callback();
    }
    void WhenStopped(std::function<void(StopReason)> callback) override {
      end.Arm(std::move(callback));
    }
    void Finish(const absl::Status& status) override {
      std::function<void()> dropped;
      {
        MutexLock lock(mutex);
        finished = true;
        dropped.swap(written);
        changed.NotifyAll();
      }
      end.Close(status);
    }
    void Abandoned() override {
      Finish(absl::InternalError("abandoned"));
      MutexLock lock(mutex);
      gone = true;
      changed.NotifyAll();
    }

    CallEnd end;
    Mutex mutex;
    CondVar changed;
    std::vector<Response> messages;
    std::function<void()> written;
    bool hold = false, in_flight = false, finished = false, started = false, gone = false;
  };
  std::unique_ptr<Core> core_ = std::make_unique<Core>();
  size_t read_ = 0;
};

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_FAKE_CALLS_H_
