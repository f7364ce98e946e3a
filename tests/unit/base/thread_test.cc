#include "base/thread.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace stele::internal {
namespace {

struct Counter {
  void Run() { ++runs; }
  int runs = 0;
};

TEST(ThreadTest, RunsTheFunctionOnce) {
  Counter counter;
  Thread thread;
  thread.Join();  // nothing to wait for
  ASSERT_EQ(thread.Start<&Counter::Run>(&counter), 0);
  EXPECT_TRUE(thread.is_started());
  Thread moved = std::move(thread);
  moved.Join();
  EXPECT_EQ(counter.runs, 1);
  EXPECT_FALSE(moved.is_started());
  ASSERT_EQ(moved.Start<&Counter::Run>(&counter), 0) << "again";
  moved.Join();
  EXPECT_EQ(counter.runs, 2);
}

TEST(ThreadTest, ARefusedThreadIsAnError) {
  EXPECT_TRUE(StartStatus(0, "a").ok());
  const absl::Status status = StartStatus(EAGAIN, "thread 1 of 2");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("thread 1 of 2: the system refused a thread"),
            absl::string_view::npos)
      << status;
}

}  // namespace
}  // namespace stele::internal
