// Tests operations: one that could not begin, lists, deletion and waiting.
#include "steled/rpc/operations.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "remote/wire/operations.grpc.pb.h"
#include "steled/fake_call.h"
#include "steled/no_threads.h"
#include "steled/rpc/method_table.h"
#include "steled/transport/transport.h"

namespace stele::server {
namespace {

TEST(OperationsTest, WithoutAThreadOneIsRefusedAndTakesNoPlace) {
  Operations operations;
  const google::protobuf::Empty metadata;
  const auto work = [](const std::stop_token&) { return Operations::Outcome(); };
  {
    const NoThreads none;
    for (int i = 0; i < 20; ++i)
      EXPECT_TRUE(absl::IsResourceExhausted(operations.Start("r", metadata, work).status()));
  }
  const auto operation = operations.Start("r", metadata, work);
  EXPECT_TRUE(operation.ok()) << operation.status();
  operations.Stop();
}

// Returns the operation once it is done.
google::longrunning::Operation AwaitEnd(Operations* operations, const std::string& name) {
  google::longrunning::GetOperationRequest request;
  request.set_name(name);
  google::longrunning::Operation operation;
  while (operations->GetOperation(request, &operation).ok() && !operation.done())
    std::this_thread::yield();
  return operation;
}

TEST(OperationsTest, WorkThatThrowsEndsWithAnErrorAndTakesNoPlace) {
  Operations operations;
  google::protobuf::Duration metadata;
  metadata.set_seconds(7);
  // More than may run at the same time.
  for (int i = 0; i < 20; ++i) {
    const auto started =
        operations.Start("r", metadata, [i](const std::stop_token&) -> Operations::Outcome {
          if (i % 2 == 0) throw std::bad_alloc();
          throw std::length_error("too long");
        });
    ASSERT_TRUE(started.ok()) << started.status();
    const google::longrunning::Operation operation = AwaitEnd(&operations, started->name());
    EXPECT_TRUE(operation.has_error());
    EXPECT_EQ(operation.error().code(), static_cast<int>(absl::StatusCode::kResourceExhausted));
    EXPECT_NE(operation.error().message().find("no memory"), std::string::npos);
    google::protobuf::Duration kept;
    EXPECT_TRUE(operation.metadata().UnpackTo(&kept));
    EXPECT_EQ(kept.seconds(), 7);
  }
  const auto next = operations.Start("r", metadata, [](const std::stop_token&) {
    Operations::Outcome outcome;
    outcome.response.PackFrom(google::protobuf::Empty());
    return outcome;
  });
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_TRUE(AwaitEnd(&operations, next->name()).has_response());
  operations.Stop();  // returns, since nothing counts as running
}

// Returns the names of a collection's operations, in pages of two.
std::vector<std::string> NamesOf(Operations* operations, const std::string& collection) {
  std::vector<std::string> names;
  google::longrunning::ListOperationsRequest request;
  request.set_name(collection);
  request.set_page_size(2);
  do {
    google::longrunning::ListOperationsResponse response;
    EXPECT_TRUE(operations->ListOperations(request, &response).ok());
    EXPECT_LE(response.operations_size(), 2);
    for (const auto& operation : response.operations()) names.push_back(operation.name());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return names;
}

TEST(OperationsTest, AreListedByTheirCollectionAndDeleted) {
  Operations operations;
  const google::protobuf::Empty nothing;
  std::vector<std::string> names;
  for (const char* const resource :
       {"projects/p/a", "projects/p/b", "projects/p/c", "projects/q/d"}) {
    names.push_back(operations.AddDone(resource, nothing, nothing).name());
  }
  EXPECT_EQ(NamesOf(&operations, "operations"), names);
  EXPECT_EQ(NamesOf(&operations, "operations/projects/q"), std::vector<std::string>({names[3]}));
  EXPECT_EQ(NamesOf(&operations, "projects/p"),
            std::vector<std::string>(names.begin(), names.begin() + 3));
  EXPECT_EQ(NamesOf(&operations, "operations/projects/p/b/operations"),
            std::vector<std::string>({names[1]}));
  google::longrunning::DeleteOperationRequest deletion;
  deletion.set_name(names[1]);
  google::protobuf::Empty response;
  EXPECT_TRUE(operations.DeleteOperation(deletion, &response).ok());
  EXPECT_TRUE(absl::IsNotFound(operations.DeleteOperation(deletion, &response)));
  EXPECT_EQ(NamesOf(&operations, "operations/projects/p"),
            std::vector<std::string>({names[0], names[2]}));
  google::longrunning::ListOperationsRequest wrong;
  google::longrunning::ListOperationsResponse listed;
  wrong.set_page_token("x");
  EXPECT_TRUE(absl::IsInvalidArgument(operations.ListOperations(wrong, &listed)));
  wrong.clear_page_token();
  wrong.set_filter("done=true");
  EXPECT_TRUE(absl::IsUnimplemented(operations.ListOperations(wrong, &listed)));
}

TEST(OperationsTest, LargeOnesAreForgottenEarlier) {
  constexpr size_t kBytes = 1'000'000;
  Operations operations;
  const google::protobuf::Empty nothing;
  google::longrunning::GetOperationRequest large;
  large.set_name(std::string(kBytes, 'n'));
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back(operations.AddDone("r", large, nothing).name());
  // As many as fit in 16 MiB.
  EXPECT_EQ(NamesOf(&operations, "operations"),
            std::vector<std::string>(names.end() - 16, names.end()));
  large.set_name(std::string(20 * kBytes, 'n'));
  names.push_back(operations.AddDone("r", large, nothing).name());
  EXPECT_EQ(NamesOf(&operations, "operations"), std::vector<std::string>({names.back()}))
      << "the newest is remembered in any case";
}

// An operation whose work runs until Stop or End.
class WaitTest : public testing::Test {
 protected:
  WaitTest() : WaitTest(Operations::WaitLimits()) {}
  explicit WaitTest(const Operations::WaitLimits& limits) : operations_(limits) {
    request_.set_name(StartWork());
  }
  ~WaitTest() override { End(); }

  // Starts an operation and returns its name.
  std::string StartWork() {
    const auto work = [token = release_.get_token()](const std::stop_token& stop) {
      while (!token.stop_requested() && !stop.stop_requested()) std::this_thread::yield();
      return Operations::Outcome();
    };
    const auto started = operations_.Start("r", google::protobuf::Empty(), work);
    EXPECT_TRUE(started.ok()) << started.status();
    return started->name();
  }

  void End() { release_.request_stop(); }
  // Returns the state that a call got.
  static bool IsDone(FakeCall* call) {
    return call->Answer<google::longrunning::Operation>(0).done();
  }

  std::stop_source release_;
  Operations operations_;
  google::longrunning::WaitOperationRequest request_;
};

TEST_F(WaitTest, ACallIsPausedUntilTheWorkIsDone) {
  FakeCall call;
  ASSERT_TRUE(operations_.WaitOperation(request_, &call).ok());
  EXPECT_EQ(call.pause_kind(), PauseKind::kForEvent);
  EXPECT_EQ(call.answer_count(), 0U);
  std::shared_ptr<PausedCall> continuation = call.TakeContinuation();
  ASSERT_NE(continuation, nullptr);
  EXPECT_LE(continuation->until(), std::chrono::steady_clock::now() + std::chrono::seconds(30));
  End();
  call.AwaitWake();
  ASSERT_TRUE(continuation->Resume(&call).ok());
  EXPECT_TRUE(IsDone(&call));
  EXPECT_EQ(call.TakeContinuation(), nullptr);
  FakeCall late;
  ASSERT_TRUE(operations_.WaitOperation(request_, &late).ok());
  EXPECT_TRUE(IsDone(&late));
  request_.set_name("operations/none");
  EXPECT_TRUE(absl::IsNotFound(operations_.WaitOperation(request_, &late)));
}

TEST_F(WaitTest, ACallEndsWhenItsTimeoutIsOver) {
  request_.mutable_timeout();
  FakeCall impatient;
  ASSERT_TRUE(operations_.WaitOperation(request_, &impatient).ok());
  EXPECT_EQ(impatient.TakeContinuation(), nullptr);
  EXPECT_FALSE(IsDone(&impatient));
  request_.mutable_timeout()->set_nanos(1'000'000);
  FakeCall call;
  ASSERT_TRUE(operations_.WaitOperation(request_, &call).ok());
  // A slow machine may find the timeout over at once.
  if (const std::shared_ptr<PausedCall> continuation = call.TakeContinuation();
      continuation != nullptr) {
    while (std::chrono::steady_clock::now() < continuation->until()) std::this_thread::yield();
    ASSERT_TRUE(continuation->Resume(&call).ok());
  }
  EXPECT_FALSE(IsDone(&call));
}

TEST_F(WaitTest, ACallEndsWhenTheOperationIsDeleted) {
  FakeCall call;
  ASSERT_TRUE(operations_.WaitOperation(request_, &call).ok());
  google::longrunning::DeleteOperationRequest deletion;
  deletion.set_name(request_.name());
  google::protobuf::Empty response;
  ASSERT_TRUE(operations_.DeleteOperation(deletion, &response).ok());
  call.AwaitWake();
  EXPECT_TRUE(absl::IsNotFound(call.TakeContinuation()->Resume(&call)));
}

TEST_F(WaitTest, OnlyCallsOfTheOperationThatChangesAreWoken) {
  google::longrunning::WaitOperationRequest other_request;
  other_request.set_name(StartWork());
  FakeCall call;
  FakeCall other;
  ASSERT_TRUE(operations_.WaitOperation(request_, &call).ok());
  ASSERT_TRUE(operations_.WaitOperation(other_request, &other).ok());
  google::longrunning::DeleteOperationRequest deletion;
  deletion.set_name(other_request.name());
  google::protobuf::Empty response;
  ASSERT_TRUE(operations_.DeleteOperation(deletion, &response).ok());
  EXPECT_TRUE(other.is_woken());
  EXPECT_FALSE(call.is_woken());
  End();
  call.AwaitWake();
  ASSERT_TRUE(call.TakeContinuation()->Resume(&call).ok());
  EXPECT_TRUE(IsDone(&call));
}

// As before the transport stops: the work continues.
TEST_F(WaitTest, TheEndOfWaitsSendsThePresentState) {
  FakeCall call;
  ASSERT_TRUE(operations_.WaitOperation(request_, &call).ok());
  operations_.EndWaits();
  call.AwaitWake();
  ASSERT_TRUE(call.TakeContinuation()->Resume(&call).ok());
  EXPECT_FALSE(IsDone(&call));
  EXPECT_EQ(call.TakeContinuation(), nullptr);
  FakeCall late;
  ASSERT_TRUE(operations_.WaitOperation(request_, &late).ok());
  EXPECT_EQ(late.TakeContinuation(), nullptr);
  EXPECT_FALSE(IsDone(&late));
}

TEST_F(WaitTest, ManyCallsMayWaitAndTheEndWakesAll) {
  std::list<FakeCall> calls;
  for (int i = 0; i < 100; ++i) {
    calls.emplace_back();
    ASSERT_TRUE(operations_.WaitOperation(request_, &calls.back()).ok());
  }
  operations_.Stop();
  for (FakeCall& call : calls) {
    call.AwaitWake();
    ASSERT_TRUE(call.TakeContinuation()->Resume(&call).ok());
    EXPECT_TRUE(IsDone(&call));
  }
}

class FewWaitsTest : public WaitTest {
 protected:
  FewWaitsTest() : WaitTest({.calls = 2, .time = std::chrono::minutes(30)}) {}
};

TEST_F(FewWaitsTest, ACallAboveTheLimitGetsTheStateAtOnceUntilAnotherEnds) {
  FakeCall first;
  FakeCall second;
  for (FakeCall* const call : {&first, &second}) {
    ASSERT_TRUE(operations_.WaitOperation(request_, call).ok());
    EXPECT_EQ(call->answer_count(), 0U);
  }
  for (int i = 0; i < 3; ++i) {
    FakeCall above;
    ASSERT_TRUE(operations_.WaitOperation(request_, &above).ok());
    EXPECT_EQ(above.TakeContinuation(), nullptr);
    EXPECT_FALSE(IsDone(&above));
  }
  // A call that waits keeps its place when it is woken for nothing.
  ASSERT_TRUE(second.TakeContinuation()->Resume(&second).ok());
  EXPECT_EQ(second.answer_count(), 0U);
  ASSERT_NE(first.TakeContinuation(), nullptr);  // and is destroyed, as at the end of a call
  FakeCall next;
  ASSERT_TRUE(operations_.WaitOperation(request_, &next).ok());
  EXPECT_EQ(next.answer_count(), 0U);
  EXPECT_NE(next.TakeContinuation(), nullptr);
}

// Calls through a transport. No wait is over before the end, however slow the machine is.
class ServedWaitTest : public WaitTest {
 protected:
  ServedWaitTest() : WaitTest({.time = std::chrono::hours(1)}) {
    constexpr char kService[] = "google.longrunning.Operations";
    methods_.Add(kService, "WaitOperation", &operations_, &Operations::WaitOperation);
    methods_.Add(kService, "GetOperation", &operations_, &Operations::GetOperation);
    TransportOptions options;
    options.listen = "127.0.0.1:0";
    options.calls_max = 4;
    absl::StatusOr<std::unique_ptr<Transport>> transport =
        Transport::Start(options, &methods_, nullptr);
    EXPECT_TRUE(transport.ok()) << transport.status();
    transport_ = *std::move(transport);
    stub_ = google::longrunning::Operations::NewStub(
        grpc::CreateChannel(transport_->address(), grpc::InsecureChannelCredentials()));
  }

  // Returns threads that wait for the operation, after their calls were paused.
  std::vector<std::jthread> BeginToWait(std::vector<google::longrunning::Operation>* results) {
    std::vector<std::jthread> callers;
    for (google::longrunning::Operation& result : *results) {
      callers.emplace_back([this, &result] {
        grpc::ClientContext context;
        const grpc::Status status = stub_->WaitOperation(&context, request_, &result);
        EXPECT_TRUE(status.ok()) << status.error_message();
      });
      while (transport_->Figures().paused_calls < callers.size()) std::this_thread::yield();
    }
    return callers;
  }

  MethodTable methods_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<google::longrunning::Operations::Stub> stub_;
};

// As in a server that stops: the calls return, and the grace period is not used up.
TEST_F(ServedWaitTest, WaitsThatWereEndedDoNotHoldUpTheTransport) {
  std::vector<google::longrunning::Operation> results(3);
  std::vector<std::jthread> callers = BeginToWait(&results);
  operations_.EndWaits();
  transport_->Stop(std::chrono::hours(1));
  callers.clear();  // joined
  for (const google::longrunning::Operation& result : results) {
    EXPECT_EQ(result.name(), request_.name());
    EXPECT_FALSE(result.done());
  }
}

TEST_F(ServedWaitTest, WaitingCallsTakeNoPlace) {
  std::vector<google::longrunning::Operation> results(8);
  std::vector<std::jthread> callers = BeginToWait(&results);
  google::longrunning::GetOperationRequest get;
  get.set_name(request_.name());
  google::longrunning::Operation operation;
  grpc::ClientContext context;
  EXPECT_TRUE(stub_->GetOperation(&context, get, &operation).ok());
  EXPECT_FALSE(operation.done());
  End();
  callers.clear();  // joined
  for (const google::longrunning::Operation& result : results) EXPECT_TRUE(result.done());
}

// A deletion while the work runs: the work continues and ends normally.
TEST(OperationsTest, OneThatRunsCanBeDeleted) {
  Operations operations;
  const google::protobuf::Empty nothing;
  const auto started = operations.Start("r", nothing, [](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
    return Operations::Outcome();
  });
  ASSERT_TRUE(started.ok()) << started.status();
  google::longrunning::DeleteOperationRequest deletion;
  deletion.set_name(started->name());
  google::protobuf::Empty response;
  EXPECT_TRUE(operations.DeleteOperation(deletion, &response).ok());
  EXPECT_TRUE(NamesOf(&operations, "operations").empty());
  operations.Stop();
  operations.AddDone("s", nothing, nothing);
  EXPECT_EQ(NamesOf(&operations, "operations").size(), 1u);
}

}  // namespace
}  // namespace stele::server
