#include "db/side_thread.h"

#include <gtest/gtest.h>

#include <vector>

namespace stele::internal {
namespace {

TEST(SideThreadTest, DoesAllThatItIsGivenInOrder) {
  std::vector<int> done;
  std::vector<int> expected;
  {
    SideThread side;
    side.Await();  // nothing to wait for
    for (int i = 0; i < 100; ++i) {
      side.Begin([&done, i] { done.push_back(i); });
      expected.push_back(i);
      if (i % 10 != 9) continue;
      side.Await();
      EXPECT_EQ(done, expected);
    }
    side.Begin([&done] { done.push_back(-1); });
  }
  expected.push_back(-1);
  EXPECT_EQ(done, expected) << "its end waits";
}

}  // namespace
}  // namespace stele::internal
