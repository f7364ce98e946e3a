#include "base/process_id.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stele::internal {
namespace {

// Runs `body` in a forked child, and returns true if it returned true.
template <typename Body>
bool IsTrueInChild(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

TEST(ProcessIdTest, ForkedChildrenHaveIdsOfTheirOwn) {
  const pid_t own = ProcessId();
  EXPECT_EQ(own, ::getpid());
  EXPECT_TRUE(IsTrueInChild([own] {
    const pid_t child = ProcessId();
    return child == ::getpid() && child != own && ProcessId() == child &&
           IsTrueInChild([child] { return ProcessId() == ::getpid() && ProcessId() != child; });
  }));
  EXPECT_EQ(ProcessId(), own);
}

}  // namespace
}  // namespace stele::internal
