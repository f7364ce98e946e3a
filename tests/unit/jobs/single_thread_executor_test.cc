#include "jobs/single_thread_executor.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "support/base_sanitized.h"

namespace stele::internal {
namespace {

TEST(SingleThreadExecutorTest, DoesAllThatItIsGivenInOrder) {
  std::vector<int> done;
  std::vector<int> expected;
  {
    SingleThreadExecutor executor;
    executor.Await();  // nothing to wait for
    for (int i = 0; i < 100; ++i) {
      executor.Submit([&done, i] { done.push_back(i); });
      expected.push_back(i);
      if (i % 10 != 9) continue;
      executor.Await();
      EXPECT_EQ(done, expected);
    }
    executor.Submit([&done] { done.push_back(-1); });
  }
  expected.push_back(-1);
  EXPECT_EQ(done, expected) << "its end waits";
}

// A process without further memory cannot allocate a stack for a thread.
TEST(SingleThreadExecutorTest, DoesTheWorkItselfWhereNoThreadIsToBeHad) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs memory of its own to begin a thread";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    pthread_attr_t larger;  // larger than the stacks that earlier threads left
    ::pthread_attr_init(&larger);
    ::pthread_attr_setstacksize(&larger, size_t{1} << 30);
    ::pthread_setattr_default_np(&larger);
    const rlimit none{1, 1};
    ::setrlimit(RLIMIT_AS, &none);
    int done = 0;
    {
      SingleThreadExecutor executor;
      for (int i = 0; i < 3; ++i) executor.Submit([&done, i] { done = 10 * done + i + 1; });
      executor.Await();
    }
    ::_exit(done == 123 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace stele::internal
