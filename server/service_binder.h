// How a service says which function serves which method. The adapter does everything around it:
// admission, authentication, the role check, the deadline, error mapping, log and metrics; a
// handler is called only for a call that may be served.
//
// Example:
//   void StateService::Bind(ServiceBinder& binder) {
//     binder.Unary("GetTable", this, &StateService::GetTable);
//     binder.Unary("ScanRows", this, &StateService::ScanRows, RunOn::kExecutor);
//     binder.Async("GetRow", this, &StateService::GetRow);
//     binder.Stream("WatchChanges", this, &StateService::WatchChanges);
//   }
//   absl::Status GetTable(const GetTableRequest& request, CallContext& context,
//                         GetTableResponse* response);
//   void GetRow(const GetRowRequest& request, Reply<GetRowResponse> reply);
//   void WatchChanges(const WatchChangesRequest& request,
//                     ResponseStream<WatchChangesResponse> stream);
#ifndef TIDEMARK_SERVER_SERVICE_BINDER_H_
#define TIDEMARK_SERVER_SERVICE_BINDER_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/call.h"
#include "server/method_table.h"

namespace tidemark {

// Where a plain handler runs.
enum class RunOn {
  kInline,    // on the transport's thread: must not block, point reads of the state table at most
  kExecutor,  // on the server's bounded executor; OVERLOADED when its queue is full
};

struct BoundMethod {
  const Method* method = nullptr;
  const google::protobuf::Message* request = nullptr;   // default instances
  const google::protobuf::Message* response = nullptr;  // null for streams
  RunOn run_on = RunOn::kInline;
  // One of the two is set. The request lives as long as a handle of the call.
  std::function<void(const google::protobuf::Message&, CallHandle<UnaryCall>)> unary;
  std::function<void(const google::protobuf::Message&, CallHandle<StreamCall>)> stream;
};

// Collects the methods of one service. Binding a method that is not available, of another shape, or
// twice is a programmer's error (checked), and so is starting a server with an available method
// unbound.
class ServiceBinder {
 public:
  explicit ServiceBinder(std::string_view service) : service_(service) {}

  // Answers before it returns. `instance` outlives the server.
  template <typename S, typename Request, typename Response>
  void Unary(std::string_view method, S* instance,
             absl::Status (S::*handler)(const Request&, CallContext&, Response*),
             RunOn run_on = RunOn::kInline) {
    Add(method, MethodShape::kUnary,
        {.request = &Request::default_instance(),
         .response = &Response::default_instance(),
         .run_on = run_on,
         .unary = [instance, handler](const google::protobuf::Message& request,
                                      CallHandle<UnaryCall> call) {
           auto& response = static_cast<Response&>(call->response());
           call->Finish((instance->*handler)(static_cast<const Request&>(request), call->context(),
                                             &response));
         }});
  }

  // Answers now or later; runs on the transport's thread and must not block it.
  template <typename S, typename Request, typename Response>
  void Async(std::string_view method, S* instance,
             void (S::*handler)(const Request&, Reply<Response>)) {
    Add(method, MethodShape::kUnary,
        {.request = &Request::default_instance(),
         .response = &Response::default_instance(),
         .unary = [instance, handler](const google::protobuf::Message& request,
                                      CallHandle<UnaryCall> call) {
           (instance->*handler)(static_cast<const Request&>(request),
                                Reply<Response>(std::move(call)));
         }});
  }

  // Writes messages until it finishes the stream; must not block.
  template <typename S, typename Request, typename Response>
  void Stream(std::string_view method, S* instance,
              void (S::*handler)(const Request&, ResponseStream<Response>)) {
    Add(method, MethodShape::kServerStream,
        {.request = &Request::default_instance(),
         .stream = [instance, handler](const google::protobuf::Message& request,
                                       CallHandle<StreamCall> call) {
           (instance->*handler)(static_cast<const Request&>(request),
                                ResponseStream<Response>(std::move(call)));
         }});
  }

  const std::string& service() const { return service_; }
  const std::vector<BoundMethod>& methods() const { return methods_; }

 private:
  void Add(std::string_view method, MethodShape shape, BoundMethod bound);

  std::string service_;
  std::vector<BoundMethod> methods_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_SERVICE_BINDER_H_
