#include "server/transport/reflection_v1.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/support/server_callback.h>

#include <set>
#include <utility>

#include "grpc/reflection/v1/reflection.grpc.pb.h"

namespace tidemark {
namespace {

namespace reflection = grpc::reflection::v1;
using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using reflection::ServerReflectionRequest;
using reflection::ServerReflectionResponse;

void SetNotFound(const std::string& what, ServerReflectionResponse* response) {
  response->mutable_error_response()->set_error_code(grpc::StatusCode::NOT_FOUND);
  response->mutable_error_response()->set_error_message("not found: " + what);
}

// One stream of questions and answers.
class ReflectionReactor final
    : public grpc::ServerBidiReactor<ServerReflectionRequest, ServerReflectionResponse> {
 public:
  explicit ReflectionReactor(const std::vector<std::string>& services) : services_(services) {
    StartRead(&request_);
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    response_.Clear();
    response_.set_valid_host(request_.host());
    *response_.mutable_original_request() = request_;
    Answer();
    StartWrite(&response_);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    StartRead(&request_);
  }

  void OnDone() override { delete this; }

  void Answer() {
    switch (request_.message_request_case()) {
      case ServerReflectionRequest::kFileByFilename:
        return AnswerFile(pool_.FindFileByName(request_.file_by_filename()),
                          request_.file_by_filename());
      case ServerReflectionRequest::kFileContainingSymbol:
        return AnswerFile(pool_.FindFileContainingSymbol(request_.file_containing_symbol()),
                          request_.file_containing_symbol());
      case ServerReflectionRequest::kFileContainingExtension:
        return AnswerExtension();
      case ServerReflectionRequest::kAllExtensionNumbersOfType:
        return AnswerExtensionNumbers();
      case ServerReflectionRequest::kListServices:
        for (const std::string& service : services_) {
          response_.mutable_list_services_response()->add_service()->set_name(service);
        }
        return;
      case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
        response_.mutable_error_response()->set_error_code(grpc::StatusCode::INVALID_ARGUMENT);
        response_.mutable_error_response()->set_error_message("no question is set");
    }
  }

  void AnswerFile(const FileDescriptor* file, const std::string& name) {
    if (file == nullptr) return SetNotFound(name, &response_);
    AddFile(*file);
    // Sent before on this stream: the file asked for is sent again, its imports are not.
    if (response_.file_descriptor_response().file_descriptor_proto_size() == 0) {
      sent_.erase(file);
      AddFile(*file);
    }
  }

  void AddFile(const FileDescriptor& file) {
    if (!sent_.insert(&file).second) return;
    google::protobuf::FileDescriptorProto proto;
    file.CopyTo(&proto);
    response_.mutable_file_descriptor_response()->add_file_descriptor_proto(
        proto.SerializeAsString());
    for (int i = 0; i < file.dependency_count(); ++i) AddFile(*file.dependency(i));
  }

  void AnswerExtension() {
    const auto& asked = request_.file_containing_extension();
    const auto* type = pool_.FindMessageTypeByName(asked.containing_type());
    const auto* extension =
        type == nullptr ? nullptr : pool_.FindExtensionByNumber(type, asked.extension_number());
    AnswerFile(extension == nullptr ? nullptr : extension->file(), asked.containing_type());
  }

  void AnswerExtensionNumbers() {
    const std::string& name = request_.all_extension_numbers_of_type();
    const auto* type = pool_.FindMessageTypeByName(name);
    if (type == nullptr) return SetNotFound(name, &response_);
    std::vector<const google::protobuf::FieldDescriptor*> extensions;
    pool_.FindAllExtensions(type, &extensions);
    auto* answer = response_.mutable_all_extension_numbers_response();
    answer->set_base_type_name(name);
    for (const auto* extension : extensions) answer->add_extension_number(extension->number());
  }

  const std::vector<std::string>& services_;
  const DescriptorPool& pool_ = *DescriptorPool::generated_pool();
  std::set<const FileDescriptor*> sent_;
  ServerReflectionRequest request_;
  ServerReflectionResponse response_;
};

class ReflectionV1 final : public reflection::ServerReflection::CallbackService {
 public:
  explicit ReflectionV1(std::vector<std::string> services) : services_(std::move(services)) {
    services_.push_back(reflection::ServerReflection::service_full_name());
  }

  grpc::ServerBidiReactor<ServerReflectionRequest, ServerReflectionResponse>* ServerReflectionInfo(
      grpc::CallbackServerContext*) override {
    return new ReflectionReactor(services_);
  }

 private:
  std::vector<std::string> services_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeReflectionV1(std::vector<std::string> services) {
  return std::make_unique<ReflectionV1>(std::move(services));
}

}  // namespace tidemark
