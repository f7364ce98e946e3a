#include "base/memory_tracker.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace stele::internal {
namespace {

using Use = MemoryTracker::Use;

TEST(MemoryTracker, CountsByUseAndInAll) {
  MemoryTracker tracker(100);
  tracker.Charge(Use::kMemtables, 60);
  {
    MemoryCharge pages(&tracker, Use::kBlocks, 30);
    EXPECT_FALSE(tracker.is_over());
    MemoryCharge moved = std::move(pages);
    pages = MemoryCharge(&tracker, Use::kJobs, 11);
    EXPECT_EQ(tracker.bytes(Use::kBlocks), 30u);
    EXPECT_EQ(tracker.bytes_in_all(), 101u);
    EXPECT_TRUE(tracker.is_over());
    moved.Set(7);
    EXPECT_EQ(moved.bytes(), 7u);
    EXPECT_EQ(tracker.bytes(Use::kBlocks), 7u);
  }
  EXPECT_EQ(tracker.bytes_in_all(), 60u);
  MemoryCharge nobody(nullptr, Use::kBlocks, 5);
  EXPECT_EQ(nobody.bytes(), 0u);
}

class Giver : public Shrinkable {
 public:
  void Shrink(uint64_t over_bytes) override { asked_bytes.push_back(over_bytes); }
  std::vector<uint64_t> asked_bytes;
};

TEST(MemoryTracker, AsksForWhatIsOver) {
  MemoryTracker tracker(100);
  Giver giver;
  tracker.SetShrinkable(&giver);
  tracker.Charge(Use::kMemtables, 100);
  EXPECT_TRUE(giver.asked_bytes.empty());
  tracker.Charge(Use::kFiles, 5);
  tracker.Discharge(Use::kMemtables, 50);
  tracker.Charge(Use::kWrites, 45);
  EXPECT_EQ(giver.asked_bytes, std::vector<uint64_t>{5});
}

TEST(MemoryTracker, LeavesRoomForWhatNobodyCharges) {
  MemoryTracker tracker(100, 25);
  Giver giver;
  tracker.SetShrinkable(&giver);
  EXPECT_EQ(tracker.budget_bytes(), 100u);
  EXPECT_EQ(tracker.charged_bytes_max(), 75u);
  tracker.Charge(Use::kMemtables, 75);
  EXPECT_FALSE(tracker.is_over());
  EXPECT_EQ(tracker.bytes_over(), 0u);
  tracker.Charge(Use::kBlocks, 5);
  EXPECT_TRUE(tracker.is_over());
  EXPECT_EQ(tracker.bytes_over(), 5u);
  EXPECT_EQ(giver.asked_bytes, std::vector<uint64_t>{5});
}

TEST(MemoryTracker, ManyThreadsLeaveNothingBehind) {
  MemoryTracker tracker(1000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&tracker] {
      MemoryCharge charge(&tracker, Use::kBlocks);
      for (uint64_t bytes = 0; bytes < 5000; ++bytes) charge.Set(bytes % 7 * 100);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tracker.bytes_in_all(), 0u);
}

}  // namespace
}  // namespace stele::internal
