#include "steled/transport/calls/request_memory.h"

#include <gtest/gtest.h>

namespace stele::server {
namespace {

TEST(RequestMemory, RefusesWhatDoesNotFit) {
  RequestMemory memory(100);
  EXPECT_TRUE(memory.Reserve(60));
  EXPECT_FALSE(memory.Reserve(41));
  EXPECT_TRUE(memory.Reserve(40));
  memory.Release(60);
  EXPECT_TRUE(memory.Reserve(60));
}

TEST(RequestMemory, IsTrimmedOnceTheUseHasBeenLowForAWhile) {
  constexpr size_t kPeak = RequestMemory::kTrimmedBytes;
  RequestMemory memory(2 * kPeak);
  const auto trims = [&memory](int calls) {
    int count = 0;
    for (int i = 0; i < calls; ++i) count += memory.TrimWhenQuiet() ? 1 : 0;
    return count;
  };
  EXPECT_EQ(trims(2 * RequestMemory::kQuietCalls), 0) << "nothing was used";
  ASSERT_TRUE(memory.Reserve(kPeak));
  EXPECT_EQ(trims(2 * RequestMemory::kQuietCalls), 0) << "it is in use";
  memory.Release(kPeak);
  EXPECT_EQ(trims(RequestMemory::kQuietCalls - 1), 0);
  // A short peak between two calls counts as use.
  ASSERT_TRUE(memory.Reserve(kPeak));
  memory.Release(kPeak);
  EXPECT_EQ(trims(RequestMemory::kQuietCalls), 0);
  EXPECT_EQ(trims(1), 1);
  EXPECT_EQ(trims(2 * RequestMemory::kQuietCalls), 0) << "once";
}

}  // namespace
}  // namespace stele::server
