#include "base/process_id.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

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

// Without its part of the id, the mark still tells a child from its parent.
TEST(ProcessIdTest, AMarkDiffersBesidesTheId) {
  const auto generation = [] { return ProcessMark() >> 32; };
  const uint64_t own = generation();
  EXPECT_TRUE(IsTrueInChild([&] {
    const uint64_t child = generation();
    return child != own && generation() == child &&
           IsTrueInChild([&] { return generation() != child && generation() != own; });
  }));
  EXPECT_EQ(generation(), own);
}

TEST(OwnerProcessTest, AForkedChildIsNotTheOwner) {
  const OwnerProcess owner;
  EXPECT_TRUE(IsTrueInChild([&owner] {
    return !owner.IsThis() && absl::IsFailedPrecondition(owner.Check()) &&
           owner.pid() != ::getpid() && OwnerProcess().Check().ok();
  }));
  EXPECT_TRUE(owner.IsThis());
  EXPECT_EQ(owner.Check(), absl::OkStatus());
  EXPECT_EQ(owner.pid(), ::getpid());
}

TEST(OwnerProcessTest, OnlyTheOwnerDestroysAnObject) {
  struct Counted {
    explicit Counted(int* destroyed_count) : count(*destroyed_count) {}
    ~Counted() { ++count; }
    int& count;
  };
  int destroyed_count = 0;
  std::shared_ptr<Counted> object = MakeForThisProcess<Counted>(&destroyed_count);
  EXPECT_TRUE(IsTrueInChild([&] {
    object.reset();
    return destroyed_count == 0;
  }));
  object.reset();
  EXPECT_EQ(destroyed_count, 1);
}

}  // namespace
}  // namespace stele::internal
