// Server reflection v1 and v1alpha through a real client. The two protocols have the same messages
// field by field, so one client speaks both.
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/grpcpp.h>

#include <set>

#include "gmock/gmock.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "gtest/gtest.h"
#include "tests/support/fake_services.h"
#include "tests/support/rpc_matchers.h"
#include "tests/support/test_server.h"

namespace tidemark {
namespace {

using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;
using ::testing::Contains;
using testing::FakeServices;
using ::testing::IsSupersetOf;
using testing::RpcOk;
using testing::TestServer;

class ReflectionTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<ServerReflectionResponse> Ask(const std::vector<ServerReflectionRequest>& questions) {
    const std::string path =
        std::string("/grpc.reflection.") + GetParam() + ".ServerReflection/ServerReflectionInfo";
    const grpc::internal::RpcMethod rpc(path.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING);
    grpc::ClientContext context;
    const std::unique_ptr<
        grpc::ClientReaderWriter<ServerReflectionRequest, ServerReflectionResponse>>
        stream(grpc::internal::ClientReaderWriterFactory<
               ServerReflectionRequest, ServerReflectionResponse>::Create(server_.channel().get(),
                                                                          rpc, &context));
    std::vector<ServerReflectionResponse> answers;
    for (const ServerReflectionRequest& question : questions) {
      EXPECT_TRUE(stream->Write(question));
      ServerReflectionResponse answer;
      EXPECT_TRUE(stream->Read(&answer));
      answers.push_back(answer);
    }
    stream->WritesDone();
    EXPECT_THAT(stream->Finish(), RpcOk());
    return answers;
  }

  static ServerReflectionRequest Symbol(const std::string& name) {
    ServerReflectionRequest question;
    question.set_file_containing_symbol(name);
    return question;
  }

  static std::set<std::string> FileNames(const ServerReflectionResponse& answer) {
    std::set<std::string> names;
    for (const std::string& wire : answer.file_descriptor_response().file_descriptor_proto()) {
      google::protobuf::FileDescriptorProto file;
      EXPECT_TRUE(file.ParseFromString(wire));
      names.insert(file.name());
    }
    return names;
  }

  FakeServices services_;
  TestServer server_{services_.binders()};
};

TEST_P(ReflectionTest, ListsEveryServiceOfTheContractAndTheHelpersBesideThem) {
  ServerReflectionRequest list;
  list.set_list_services("*");
  const auto answers = Ask({list});
  ASSERT_EQ(answers.size(), 1u);
  std::set<std::string> names;
  for (const auto& service : answers[0].list_services_response().service()) {
    names.insert(service.name());
  }
  for (std::string_view service : AllServices()) {
    EXPECT_THAT(names, Contains("tidemark.v1." + std::string(service)));
  }
  // What is listed can be described, health too.
  for (const std::string& name : names) {
    EXPECT_FALSE(FileNames(Ask({Symbol(name)})[0]).empty()) << name;
  }
  EXPECT_THAT(names, IsSupersetOf({"grpc.reflection.v1.ServerReflection",
                                   "grpc.reflection.v1alpha.ServerReflection"}));
}

TEST_P(ReflectionTest, DescribesServicesMessagesAndTheirImports) {
  const auto answers =
      Ask({Symbol("tidemark.v1.BudgetService"), Symbol("tidemark.v1.Row"),
           Symbol("tidemark.v1.StateService.GetRow"), Symbol("google.rpc.ErrorInfo")});
  EXPECT_THAT(FileNames(answers[0]), Contains("tidemark/v1/budget_service.proto"));
  EXPECT_THAT(FileNames(answers[1]), Contains("tidemark/v1/value.proto"));
  EXPECT_THAT(FileNames(answers[2]), Contains("tidemark/v1/state_service.proto"));
  EXPECT_THAT(FileNames(answers[3]), Contains("google/rpc/error_details.proto"));
}

TEST_P(ReflectionTest, TheSameQuestionTwiceIsAnsweredTwice) {
  ServerReflectionRequest by_name;
  by_name.set_file_by_filename("tidemark/v1/value.proto");
  const auto answers = Ask({Symbol("tidemark.v1.Row"), by_name});
  EXPECT_THAT(FileNames(answers[0]), Contains("tidemark/v1/value.proto"));
  if (std::string_view(GetParam()) == "v1") {
    EXPECT_THAT(FileNames(answers[1]), Contains("tidemark/v1/value.proto"));
  }
}

TEST_P(ReflectionTest, WhatIsNotThereIsSaidInTheAnswerNotByEndingTheStream) {
  ServerReflectionRequest file;
  file.set_file_by_filename("no/such.proto");
  ServerReflectionRequest numbers;
  numbers.set_all_extension_numbers_of_type("no.such.Type");
  ServerReflectionRequest extension;
  extension.mutable_file_containing_extension()->set_containing_type("tidemark.v1.Row");
  extension.mutable_file_containing_extension()->set_extension_number(7);
  const auto answers = Ask({Symbol("no.such.Symbol"), file, numbers, extension});
  for (const auto& answer : answers) {
    EXPECT_EQ(answer.error_response().error_code(), grpc::NOT_FOUND) << answer.DebugString();
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, ReflectionTest, ::testing::Values("v1", "v1alpha"));

}  // namespace
}  // namespace tidemark
