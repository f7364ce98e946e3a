// Tests operations: one that could not begin, lists, deletion and waiting.
#include "steled/rpc/operations.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <thread>

#include "absl/status/status.h"
#include "steled/fake_call.h"

namespace stele::server {
namespace {

// As long as it lives no thread can be created, since there is no room for its stack.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t{1} << 47);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

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

TEST(OperationsTest, ACallWaitsUntilTheWorkIsDoneOrItsTimeoutIsOver) {
  Operations operations;
  std::stop_source release;
  const google::protobuf::Empty nothing;
  const auto work = [token = release.get_token()](const std::stop_token& stop) {
    while (!token.stop_requested() && !stop.stop_requested()) std::this_thread::yield();
    return Operations::Outcome();
  };
  const auto started = operations.Start("r", nothing, work);
  ASSERT_TRUE(started.ok()) << started.status();
  google::longrunning::WaitOperationRequest request;
  request.set_name(started->name());
  request.mutable_timeout()->set_nanos(1'000'000);
  FakeCall call;
  google::longrunning::Operation operation;
  ASSERT_TRUE(operations.WaitOperation(request, &call, &operation).ok());
  EXPECT_FALSE(operation.done());
  request.clear_timeout();
  FakeCall cancelled;
  cancelled.Cancel();
  ASSERT_TRUE(operations.WaitOperation(request, &cancelled, &operation).ok());
  EXPECT_FALSE(operation.done());
  std::jthread later([&] { release.request_stop(); });
  ASSERT_TRUE(operations.WaitOperation(request, &call, &operation).ok());
  EXPECT_TRUE(operation.done());
  request.set_name("operations/none");
  EXPECT_TRUE(absl::IsNotFound(operations.WaitOperation(request, &call, &operation)));
  operations.Stop();
}

TEST(OperationsTest, WaitingCallsDoNotTakeAllThreads) {
  Operations operations;
  const google::protobuf::Empty nothing;
  const auto started = operations.Start("r", nothing, [](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
    return Operations::Outcome();
  });
  ASSERT_TRUE(started.ok()) << started.status();
  google::longrunning::WaitOperationRequest request;
  request.set_name(started->name());
  std::atomic<int> returned = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 20; ++i) {
      callers.emplace_back([&] {
        FakeCall call;
        google::longrunning::Operation operation;
        EXPECT_TRUE(operations.WaitOperation(request, &call, &operation).ok());
        if (!operation.done()) ++returned;
      });
    }
    // Four of them are too many. The others wait for the end of the work, for up to half a minute.
    while (returned < 4) std::this_thread::yield();
    operations.Stop();
  }
  EXPECT_GE(returned, 4);
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
