// The adapter between gRPC and the handlers of server streams. Life: as in unary_call.h.
#ifndef TIDEMARK_SERVER_TRANSPORT_STREAM_CALL_H_
#define TIDEMARK_SERVER_TRANSPORT_STREAM_CALL_H_

#include "server/transport/unary_call.h"

namespace tidemark {

class StreamReactor final : public grpc::ServerWriteReactor<grpc::ByteBuffer>, public StreamCall {
 public:
  static StreamReactor* Start(const CallEnvironment& environment, const BoundMethod& bound,
                              grpc::CallbackServerContext* transport,
                              const grpc::ByteBuffer* request);

  void WhenWritten(std::function<void()> callback) override TIDEMARK_EXCLUDES(mutex_);
  void Write(std::span<const std::string_view> pieces) override TIDEMARK_EXCLUDES(mutex_);
  void WhenStopped(std::function<void(StopReason)> callback) override;
  void Finish(const absl::Status& status) override TIDEMARK_EXCLUDES(mutex_);

 private:
  using Written = std::shared_ptr<const std::function<void()>>;

  StreamReactor(const CallEnvironment& environment, const BoundMethod& bound,
                grpc::CallbackServerContext* transport);
  ~StreamReactor() override = default;

  void Serve(const grpc::ByteBuffer& request, CallHandle<StreamCall> self);

  void OnWriteDone(bool ok) override TIDEMARK_EXCLUDES(mutex_);
  void OnCancel() override;
  void OnDone() override;
  void Abandoned() override;
  void Release();

  const CallEnvironment& environment_;
  const BoundMethod& bound_;
  grpc::CallbackServerContext* const transport_;

  Passage passage_;
  CallStop stop_;
  std::atomic<int> owners_{2};  // gRPC and the handles
  google::protobuf::Arena arena_;
  google::protobuf::Message* request_ = nullptr;

  Mutex mutex_;
  Written written_ TIDEMARK_GUARDED_BY(mutex_);
  bool writing_ TIDEMARK_GUARDED_BY(mutex_) = false;
  bool finished_ TIDEMARK_GUARDED_BY(mutex_) = false;
  grpc::ByteBuffer message_;  // gRPC's while writing_
  PublicError outcome_;       // set before finished_, sent when nothing is being written
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TRANSPORT_STREAM_CALL_H_
