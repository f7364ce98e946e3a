#include <gtest/gtest.h>

#include "steled/transport/calls/call_limits.h"

namespace stele::server {
namespace {

TEST(RequestMemory, RefusesWhatDoesNotFit) {
  RequestMemory memory(100);
  EXPECT_TRUE(memory.Reserve(60, MemoryUse::kHealth));
  EXPECT_FALSE(memory.Reserve(41, MemoryUse::kHealth));
  EXPECT_TRUE(memory.Reserve(40, MemoryUse::kHealth));
  memory.Release(60, MemoryUse::kHealth);
  EXPECT_TRUE(memory.Reserve(60, MemoryUse::kHealth));
}

TEST(RequestMemory, LeavesRoomForSmallerUses) {
  RequestMemory memory(6400);
  EXPECT_EQ(memory.answer_bytes_left(), 3200u);
  EXPECT_FALSE(memory.Reserve(3201, MemoryUse::kAnswer));
  EXPECT_TRUE(memory.Reserve(3200, MemoryUse::kAnswer));
  EXPECT_EQ(memory.answer_bytes_left(), 0u);
  EXPECT_FALSE(memory.Reserve(2401, MemoryUse::kRequest));
  EXPECT_TRUE(memory.Reserve(2400, MemoryUse::kRequest));
  EXPECT_FALSE(memory.Reserve(701, MemoryUse::kSmall));
  EXPECT_TRUE(memory.Reserve(700, MemoryUse::kSmall));
  EXPECT_FALSE(memory.Reserve(101, MemoryUse::kHealth));
  EXPECT_TRUE(memory.Reserve(100, MemoryUse::kHealth));
  EXPECT_EQ(memory.bytes(), 6400u);
  memory.Release(3200, MemoryUse::kAnswer);
  EXPECT_EQ(memory.answer_bytes_left(), 3200u);
  EXPECT_FALSE(memory.Reserve(2401, MemoryUse::kAnswer)) << "beside the requests";
  EXPECT_EQ(memory.answer_bytes_left(), 3200u);
  EXPECT_EQ(memory.bytes(), 3200u);
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
  ASSERT_TRUE(memory.Reserve(kPeak, MemoryUse::kAnswer));
  EXPECT_EQ(trims(2 * RequestMemory::kQuietCalls), 0) << "it is in use";
  memory.Release(kPeak, MemoryUse::kAnswer);
  EXPECT_EQ(trims(RequestMemory::kQuietCalls - 1), 0);
  // A short peak between two calls counts as use.
  ASSERT_TRUE(memory.Reserve(kPeak, MemoryUse::kAnswer));
  memory.Release(kPeak, MemoryUse::kAnswer);
  EXPECT_EQ(trims(RequestMemory::kQuietCalls), 0);
  EXPECT_EQ(trims(1), 1);
  EXPECT_EQ(trims(2 * RequestMemory::kQuietCalls), 0) << "once";
}

}  // namespace
}  // namespace stele::server
