#include "tests/support/reflection_client.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/generic/generic_stub.h>

#include <map>
#include <utility>
#include <vector>

#include "grpc/reflection/v1/reflection.grpc.pb.h"

namespace tidemark::testing {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptorProto;
using google::protobuf::Message;
using grpc::reflection::v1::ServerReflection;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;

// Adds a file after its imports. False when an import is missing.
bool AddToPool(const std::string& name, const std::map<std::string, FileDescriptorProto>& files,
               DescriptorPool& pool) {
  if (pool.FindFileByName(name) != nullptr) return true;
  const auto file = files.find(name);
  if (file == files.end()) return false;
  for (const std::string& import : file->second.dependency()) {
    if (!AddToPool(import, files, pool)) return false;
  }
  return pool.BuildFile(file->second) != nullptr;
}

grpc::ByteBuffer ToBuffer(const Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

bool FromBuffer(const grpc::ByteBuffer& buffer, Message& message) {
  grpc::Slice slice;
  return buffer.DumpToSingleSlice(&slice).ok() &&
         message.ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
}

// One operation of the queue at a time: waits for it and says whether it went well.
bool Await(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.Next(&tag, &ok) && ok;
}

}  // namespace

ReflectionClient::ReflectionClient(std::shared_ptr<grpc::Channel> channel)
    : channel_(std::move(channel)) {}

grpc::Status ReflectionClient::Learn(const std::string& symbol,
                                     std::chrono::system_clock::time_point deadline) {
  if (pool_.FindServiceByName(symbol) != nullptr) return grpc::Status::OK;
  grpc::ClientContext context;
  context.set_deadline(deadline);
  const auto stub = ServerReflection::NewStub(channel_);
  const auto stream = stub->ServerReflectionInfo(&context);
  std::map<std::string, FileDescriptorProto> files;
  std::vector<ServerReflectionRequest> questions(1);
  questions[0].set_file_containing_symbol(symbol);
  std::string first;
  while (!questions.empty()) {
    ServerReflectionResponse answer;
    if (!stream->Write(questions.back()) || !stream->Read(&answer)) return stream->Finish();
    questions.pop_back();
    if (answer.has_error_response()) {
      return {grpc::StatusCode::NOT_FOUND, answer.error_response().error_message()};
    }
    for (const std::string& bytes : answer.file_descriptor_response().file_descriptor_proto()) {
      FileDescriptorProto file;
      if (!file.ParseFromString(bytes)) return {grpc::StatusCode::INTERNAL, "malformed descriptor"};
      if (first.empty()) first = file.name();
      const std::string name = file.name();
      files[name] = file;
      for (const std::string& import : files[name].dependency()) {
        if (files.contains(import)) continue;
        questions.emplace_back().set_file_by_filename(import);
      }
    }
  }
  stream->WritesDone();
  if (const grpc::Status status = stream->Finish(); !status.ok()) return status;
  if (!AddToPool(first, files, pool_)) {
    return {grpc::StatusCode::INTERNAL, "the server's descriptors do not fit together: " + first};
  }
  return grpc::Status::OK;
}

grpc::Status ReflectionClient::Call(const std::string& method, const std::string& request_json,
                                    std::chrono::system_clock::time_point deadline,
                                    const std::function<void(const std::string&)>& on_answer) {
  const size_t slash = method.find('/');
  if (slash == std::string::npos) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "not a method: " + method};
  }
  const std::string service = method.substr(0, slash);
  if (const grpc::Status status = Learn(service, deadline); !status.ok()) return status;
  const auto* descriptor = pool_.FindMethodByName(service + "." + method.substr(slash + 1));
  if (descriptor == nullptr || descriptor->client_streaming()) {
    return {grpc::StatusCode::NOT_FOUND, "no unary or server-streaming method " + method};
  }
  const std::unique_ptr<Message> request(factory_.GetPrototype(descriptor->input_type())->New());
  const auto parsed = google::protobuf::util::JsonStringToMessage(request_json, request.get());
  if (!parsed.ok()) return {grpc::StatusCode::INVALID_ARGUMENT, parsed.ToString()};
  return Send("/" + method, *request, *descriptor->output_type(), deadline, on_answer);
}

grpc::Status ReflectionClient::Send(const std::string& path, const Message& request,
                                    const google::protobuf::Descriptor& answer_type,
                                    std::chrono::system_clock::time_point deadline,
                                    const std::function<void(const std::string&)>& on_answer) {
  grpc::ClientContext context;
  context.set_deadline(deadline);
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(channel_);
  const auto call = stub.PrepareCall(&context, path, &queue);
  call->StartCall(nullptr);
  bool running = Await(queue);
  if (running) {
    call->WriteLast(ToBuffer(request), grpc::WriteOptions(), nullptr);
    running = Await(queue);
  }
  google::protobuf::util::JsonPrintOptions print;
  print.add_whitespace = true;
  bool readable = true;
  while (running) {
    grpc::ByteBuffer buffer;
    call->Read(&buffer, nullptr);
    if (!Await(queue)) break;
    const std::unique_ptr<Message> answer(factory_.GetPrototype(&answer_type)->New());
    std::string json;
    readable = FromBuffer(buffer, *answer) &&
               google::protobuf::util::MessageToJsonString(*answer, &json, print).ok() && readable;
    on_answer(json);
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  Await(queue);
  if (status.ok() && !readable) return {grpc::StatusCode::INTERNAL, "an answer was not readable"};
  return status;
}

}  // namespace tidemark::testing
