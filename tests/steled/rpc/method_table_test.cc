// Tests the method table: parsing of requests, sending of responses, and the set of paths.
#include "steled/rpc/method_table.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "remote/wire/bigtable.pb.h"
#include "steled/base/errors.h"
#include "steled/fake_call.h"
#include "steled/routes.h"
#include "steled/rpc/message_writer.h"
#include "steled/rpc/status.h"

namespace stele::server {
namespace {

namespace data_wire = ::google::bigtable::v2;

using Paths = std::vector<std::string>;

// Returns its request, so that a test can compare what was received and sent.
class Echo {
 public:
  absl::Status One(const data_wire::PingAndWarmRequest& request,
                   data_wire::SampleRowKeysResponse* response) {
    if (request.name() == "wrong") return NotFound("No such {}", std::string("\xffthing"));
    response->set_row_key(request.name());
    return absl::OkStatus();
  }

  absl::Status Many(const data_wire::PingAndWarmRequest& request, Call* call) {
    MessageWriter<data_wire::SampleRowKeysResponse> writer(call);
    data_wire::SampleRowKeysResponse response;
    response.set_row_key(request.name());
    for (int i = 0; i < 2; ++i) {
      response.set_offset_bytes(i);
      if (!writer.Write(response)) return InvalidArgument("nobody listens to {}", call->path());
    }
    response.set_offset_bytes(2);
    writer.WriteLast(response);
    return absl::OkStatus();
  }

  absl::Status Whole(Call* call) {
    std::string message;
    while (call->Receive(&message))
      call->Send(std::string(kPrefixBytes, '\0') + message, /*is_last=*/false);
    return absl::OkStatus();
  }
};

class MethodTableTest : public testing::Test {
 protected:
  MethodTableTest() {
    table_.Add("p.S", "One", &echo_, &Echo::One);
    table_.Add("p.S", "Many", &echo_, &Echo::Many);
    table_.Add("p.Other", "Whole", &echo_, &Echo::Whole);
  }

  static data_wire::PingAndWarmRequest Request(const std::string& name) {
    data_wire::PingAndWarmRequest request;
    request.set_name(name);
    return request;
  }

  absl::Status Run(std::string_view path, FakeCall* call) {
    const Method* const method = table_.Find(path);
    return method == nullptr ? Unimplemented("no {}", path) : method->run(call);
  }

  Echo echo_;
  MethodTable table_;
};

TEST_F(MethodTableTest, AUnaryMethodIsAnsweredWithOneMessageThatIsTheLast) {
  FakeCall call(Request("name"));
  ASSERT_TRUE(Run("/p.S/One", &call).ok());
  EXPECT_EQ(call.Answer<data_wire::SampleRowKeysResponse>(0).row_key(), "name");
  EXPECT_EQ(call.last_index(), 0U);
}

TEST_F(MethodTableTest, ALargeRequestOfManyPartsComesWhole) {
  FakeCall call(Request(std::string(1'000'000, 'n')));
  ASSERT_TRUE(Run("/p.S/One", &call).ok());
  EXPECT_EQ(call.Answer<data_wire::SampleRowKeysResponse>(0).row_key(),
            std::string(1'000'000, 'n'));
}

TEST_F(MethodTableTest, AnErrorIsAnsweredWithoutAMessageInReadableText) {
  FakeCall call(Request("wrong"));
  const absl::Status status = Run("/p.S/One", &call);
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_EQ(TextOf(status), "No such \\xffthing");
  EXPECT_EQ(call.answer_count(), 0U);
}

TEST_F(MethodTableTest, BytesThatAreNoRequestAreAnInternalErrorThatNamesTheMessage) {
  for (const char* const path : {"/p.S/One", "/p.S/Many"}) {
    FakeCall call;
    call.Give("\x0a\xff");
    const absl::Status status = Run(path, &call);
    EXPECT_TRUE(absl::IsInternal(status)) << path;
    EXPECT_EQ(TextOf(status),
              "The request, of 2 bytes, is no message google.bigtable.v2.PingAndWarmRequest");
    EXPECT_EQ(call.answer_count(), 0U);
  }
}

TEST_F(MethodTableTest, ACallWithoutARequestIsAnInternalErrorUnlessItWasGivenUp) {
  for (const char* const path : {"/p.S/One", "/p.S/Many"}) {
    FakeCall call;
    const absl::Status status = Run(path, &call);
    EXPECT_TRUE(absl::IsInternal(status)) << path;
    EXPECT_EQ(TextOf(status), "The call ended without a request; this method takes one");
    FakeCall given_up;
    given_up.Cancel();
    EXPECT_TRUE(absl::IsCancelled(Run(path, &given_up))) << path;
  }
}

TEST_F(MethodTableTest, AStreamSendsEachMessageAndMarksTheLast) {
  FakeCall call(Request("name"));
  ASSERT_TRUE(Run("/p.S/Many", &call).ok());
  ASSERT_EQ(call.answer_count(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    const auto answer = call.Answer<data_wire::SampleRowKeysResponse>(i);
    EXPECT_EQ(answer.row_key(), "name");
    EXPECT_EQ(answer.offset_bytes(), static_cast<int64_t>(i));
  }
  EXPECT_EQ(call.last_index(), 2U);
}

TEST_F(MethodTableTest, AClientThatDoesNotListenIsToldToTheMethod) {
  FakeCall one(Request("name"));
  one.Hang();
  EXPECT_TRUE(absl::IsCancelled(Run("/p.S/One", &one)));
  FakeCall many(Request("name"));
  many.Hang();
  EXPECT_EQ(TextOf(Run("/p.S/Many", &many)), "nobody listens to /package.Service/Method");
}

TEST_F(MethodTableTest, AMethodMayHaveTheWholeCall) {
  FakeCall call;
  for (const char* const name : {"a", "b"}) call.Give(Request(name).SerializeAsString());
  ASSERT_TRUE(Run("/p.Other/Whole", &call).ok());
  EXPECT_EQ(call.Answer<data_wire::PingAndWarmRequest>(1).name(), "b");
  EXPECT_EQ(call.last_index(), std::nullopt);
}

TEST_F(MethodTableTest, FindsWhatWasAddedAndNothingElse) {
  for (const char* const path : {"/p.S/One", "/p.S/Many", "/p.Other/Whole"})
    EXPECT_NE(table_.Find(path), nullptr) << path;
  for (const char* const path :
       {"", "/", "p.S/One", "/p.S", "/p.S/", "/p.S/one", "/p.S/One/", "/p.Other/One"}) {
    EXPECT_EQ(table_.Find(path), nullptr) << path;
  }
  EXPECT_EQ(table_.Paths(), Paths({"/p.Other/Whole", "/p.S/Many", "/p.S/One"}));
  EXPECT_EQ(table_.ServiceNames(), Paths({"p.Other", "p.S"}));
}

// The services in the descriptors are those that are served, with all of their methods.
TEST(Routes, AreThoseOfTheDescriptors) {
  MethodTable table;
  AddServices({}, &table);  // not called here
  Paths described;
  const auto add = [&described](const google::protobuf::ServiceDescriptor& service) {
    for (int i = 0; i < service.method_count(); ++i)
      described.push_back("/" + service.full_name() + "/" + service.method(i)->name());
  };
  for (const char* const file : {"remote/wire/bigtable.proto", "remote/wire/table_admin.proto",
                                 "remote/wire/instance_admin.proto", "remote/wire/operations.proto",
                                 "remote/wire/health.proto", "steled/services/reflection.proto",
                                 "steled/services/reflection_v1alpha.proto"}) {
    const auto* const found =
        google::protobuf::DescriptorPool::generated_pool()->FindFileByName(file);
    ASSERT_NE(found, nullptr) << file;
    for (int i = 0; i < found->service_count(); ++i) add(*found->service(i));
  }
  std::sort(described.begin(), described.end());
  EXPECT_EQ(table.Paths(), described);
}

TEST(Routes, OnlyHealthChecksNeedNoPlaceAndCanUseAllMemory) {
  MethodTable table;
  AddServices({}, &table);
  for (const std::string& path : table.Paths()) {
    const Method& method = *table.Find(path);
    CallKind kind = CallKind::kOther;
    if (path.starts_with("/google.bigtable.v2.Bigtable/")) kind = CallKind::kData;
    if (path.starts_with("/grpc.health.v1.Health/")) kind = CallKind::kHealth;
    EXPECT_EQ(method.kind, kind) << path;
    EXPECT_EQ(method.uses_all_memory, path == "/grpc.health.v1.Health/Check") << path;
    EXPECT_EQ(method.takes_stream, path.ends_with("/ServerReflectionInfo")) << path;
    EXPECT_FALSE(method.syncs) << path;
  }
}

TEST(Routes, OnlyWritesSync) {
  MethodTable table;
  AddServices({.do_writes_sync = true}, &table);
  const std::string service = "/google.bigtable.v2.Bigtable/";
  const std::set<std::string> writes = {service + "MutateRow", service + "MutateRows",
                                        service + "CheckAndMutateRow",
                                        service + "ReadModifyWriteRow"};
  for (const std::string& path : table.Paths())
    EXPECT_EQ(table.Find(path)->syncs, writes.contains(path)) << path;
}

// A limit that is not set lets a client hold the largest request at a method that needs none.
TEST(Routes, OnlyDataCallsHaveNoLimitOfTheirOwn) {
  MethodTable table;
  AddServices({}, &table);
  for (const std::string& path : table.Paths()) {
    const bool is_data = path.starts_with("/google.bigtable.v2.Bigtable/");
    EXPECT_EQ(table.Find(path)->bytes_max > (size_t{8} << 20), is_data) << path;
  }
  EXPECT_EQ(table.Find("/grpc.health.v1.Health/Check")->bytes_max, size_t{64} << 10);
  // A Watch holds the memory of its request until it ends.
  EXPECT_EQ(table.Find("/grpc.health.v1.Health/Watch")->bytes_max, size_t{1} << 10);
}

TEST(ReadableText, IsShortPrintableAsciiWhateverTheErrorQuotes) {
  EXPECT_EQ(ReadableText(NotFound("row '{}'", std::string("a\n\xff\0z", 5))),
            "row 'a\\x0a\\xff\\x00z'");
  EXPECT_EQ(ReadableText(NotFound("{}", std::string(2000, '%'))), std::string(2000, '%'));
  // Bytes that are escaped as four characters count as four.
  for (const char c : {'%', '\xff'}) {
    const std::string text = ReadableText(NotFound("{}", std::string(5000, c)));
    EXPECT_LE(text.size(), 2048U);
    EXPECT_GE(text.size(), 2040U);
  }
  EXPECT_TRUE(Readable(absl::OkStatus()).ok());
}

}  // namespace
}  // namespace stele::server
