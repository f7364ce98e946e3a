// Tests reflection over a call without a connection, as a client such as grpcurl uses it.
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "steled/fake_call.h"
#include "steled/routes.h"
#include "steled/services/reflection.pb.h"
#include "steled/services/reflection_service.h"

namespace stele::server {
namespace {

using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;
using Names = std::vector<std::string>;

// Returns the responses of one stream to `questions`, in protobuf's text form.
std::vector<ServerReflectionResponse> Ask(const Names& questions) {
  MethodTable table;
  ReflectionService reflection(&table);
  AddServices({.reflection = &reflection}, &table);
  FakeCall call;
  for (const std::string& question : questions) {
    ServerReflectionRequest request;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(question, &request)) << question;
    call.Give(request.SerializeAsString());
  }
  EXPECT_TRUE(table.Find("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
                  ->run(&call)
                  .ok());
  EXPECT_EQ(call.answer_count(), questions.size());
  std::vector<ServerReflectionResponse> answers;
  for (size_t i = 0; i < questions.size(); ++i)
    answers.push_back(call.Answer<ServerReflectionResponse>(i));
  return answers;
}

// Returns the names of the files in a response, in its order.
Names FilesOf(const ServerReflectionResponse& answer) {
  Names names;
  for (const std::string& bytes : answer.file_descriptor_response().file_descriptor_proto()) {
    google::protobuf::FileDescriptorProto file;
    EXPECT_TRUE(file.ParseFromString(bytes));
    names.push_back(file.name());
  }
  return names;
}

TEST(Reflection, ListsTheServicesUnderBothOfItsNames) {
  const auto answers = Ask({"host: 'h' list_services: '*'"});
  Names names;
  for (const auto& service : answers[0].list_services_response().service())
    names.push_back(service.name());
  EXPECT_EQ(names, Names({"google.bigtable.admin.v2.BigtableInstanceAdmin",
                          "google.bigtable.admin.v2.BigtableTableAdmin",
                          "google.bigtable.v2.Bigtable", "google.longrunning.Operations",
                          "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                          "grpc.reflection.v1alpha.ServerReflection"}));
  EXPECT_EQ(answers[0].valid_host(), "h");
  EXPECT_EQ(answers[0].original_request().list_services(), "*");
}

TEST(Reflection, AFileComesWithWhatItImports) {
  const Names operations = {"remote/wire/operations.proto", "google/protobuf/any.proto",
                            "google/protobuf/duration.proto", "google/protobuf/empty.proto",
                            "remote/wire/status.proto"};
  for (const char* const question :
       {"file_by_filename: 'remote/wire/operations.proto'",
        "file_containing_symbol: 'google.longrunning.Operations'",
        "file_containing_symbol: 'google.longrunning.Operations.GetOperation'",
        "file_containing_symbol: 'google.longrunning.Operation'",
        "file_containing_symbol: 'google.longrunning.Operation.done'"}) {
    EXPECT_EQ(FilesOf(Ask({question})[0]), operations) << question;
  }
  EXPECT_EQ(
      FilesOf(Ask({"file_containing_symbol: 'grpc.reflection.v1alpha.ServerReflection'"})[0]),
      Names({"steled/services/reflection_v1alpha.proto", "steled/services/reflection.proto"}));
}

TEST(Reflection, WhatAStreamHasSeenIsImportedWithoutComingAgain) {
  const auto answers = Ask({"file_by_filename: 'remote/wire/status.proto'",
                            "file_by_filename: 'remote/wire/operations.proto'",
                            "file_by_filename: 'remote/wire/operations.proto'"});
  EXPECT_EQ(FilesOf(answers[0]), Names({"remote/wire/status.proto"}));
  EXPECT_EQ(FilesOf(answers[1]),
            Names({"remote/wire/operations.proto", "google/protobuf/any.proto",
                   "google/protobuf/duration.proto", "google/protobuf/empty.proto"}));
  EXPECT_EQ(FilesOf(answers[2]), Names({"remote/wire/operations.proto"}))
      << "what is asked for comes";
}

TEST(Reflection, WhatIsNotThereIsNotFoundAndTheStreamGoesOn) {
  const Names unknown = {
      "file_by_filename: 'none.proto'", "file_containing_symbol: 'no.such.Symbol'",
      "file_containing_extension { containing_type: 'no.such.Type' extension_number: 1 }",
      "file_containing_extension { containing_type: 'google.longrunning.Operation' "
      "extension_number: 1 }",
      "all_extension_numbers_of_type: 'no.such.Type'"};
  Names questions = unknown;
  questions.push_back("all_extension_numbers_of_type: 'google.longrunning.Operation'");
  questions.push_back("host: 'no question'");
  const auto answers = Ask(questions);
  for (size_t i = 0; i < unknown.size(); ++i) {
    EXPECT_EQ(answers[i].error_response().error_code(),
              static_cast<int>(absl::StatusCode::kNotFound))
        << unknown[i];
    EXPECT_FALSE(answers[i].error_response().error_message().empty()) << unknown[i];
  }
  const auto& none = answers[unknown.size()];
  EXPECT_EQ(none.all_extension_numbers_response().base_type_name(), "google.longrunning.Operation");
  EXPECT_TRUE(none.all_extension_numbers_response().extension_number().empty());
  EXPECT_EQ(answers.back().error_response().error_code(),
            static_cast<int>(absl::StatusCode::kUnimplemented));
}

TEST(Reflection, BytesThatAreNoQuestionEndTheStream) {
  const MethodTable table;
  ReflectionService reflection(&table);
  FakeCall call;
  call.Give("\x0a\xff");
  EXPECT_TRUE(absl::IsInternal(reflection.ServerReflectionInfo(&call)));
  FakeCall deaf;
  deaf.Give("");
  deaf.Hang();
  EXPECT_TRUE(absl::IsCancelled(reflection.ServerReflectionInfo(&deaf)));
}

// A call on a stream whose request stays open.
class OpenReflection : public testing::Test {
 protected:
  OpenReflection() : reflection_(&table_) {
    AddServices({.reflection = &reflection_}, &table_);
    call_.KeepRequestOpen();
  }

  static std::string Question() {
    ServerReflectionRequest request;
    request.set_list_services("*");
    return request.SerializeAsString();
  }

  MethodTable table_;
  ReflectionService reflection_;
  FakeCall call_;
};

TEST_F(OpenReflection, AStreamWaitsForRequestsWithoutAThread) {
  call_.Give(Question());
  EXPECT_TRUE(reflection_.ServerReflectionInfo(&call_).ok());
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(call_.pause_kind(), PauseKind::kForMessage);
    EXPECT_EQ(call_.answer_count(), i);
    call_.Give(Question());
    const std::shared_ptr<PausedCall> continuation = call_.TakeContinuation();
    ASSERT_NE(continuation, nullptr);
    EXPECT_TRUE(continuation->Resume(&call_).ok());
  }
  EXPECT_EQ(call_.answer_count(), 4u);
  const std::shared_ptr<PausedCall> continuation = call_.TakeContinuation();
  ASSERT_NE(continuation, nullptr);
  EXPECT_EQ(continuation->Resume(&call_).code(), absl::StatusCode::kUnavailable)
      << "it is resumed without a request after a long time";
}

TEST_F(OpenReflection, AStreamThatIsNotReadWaitsWithoutAThread) {
  call_.SetRoom(1);
  for (int i = 0; i < 3; ++i) call_.Give(Question());
  EXPECT_TRUE(reflection_.ServerReflectionInfo(&call_).ok());
  EXPECT_EQ(call_.pause_kind(), PauseKind::kForRoom);
  EXPECT_EQ(call_.answer_count(), 1u);
  call_.SetRoom(3);
  const std::shared_ptr<PausedCall> continuation = call_.TakeContinuation();
  ASSERT_NE(continuation, nullptr);
  EXPECT_TRUE(continuation->Resume(&call_).ok());
  EXPECT_EQ(call_.answer_count(), 3u);
}

}  // namespace
}  // namespace stele::server
