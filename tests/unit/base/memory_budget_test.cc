#include "base/memory_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace stele::internal {
namespace {

using Use = MemoryBudget::Use;

TEST(MemoryBudget, CountsByUseAndInAll) {
  MemoryBudget budget(100);
  budget.Charge(Use::kMemtables, 60);
  {
    MemoryCharge pages(&budget, Use::kPages, 30);
    EXPECT_FALSE(budget.is_over());
    MemoryCharge moved = std::move(pages);
    pages = MemoryCharge(&budget, Use::kJobs, 11);
    EXPECT_EQ(budget.bytes(Use::kPages), 30u);
    EXPECT_EQ(budget.bytes_in_all(), 101u);
    EXPECT_TRUE(budget.is_over());
    moved.Set(7);
    EXPECT_EQ(moved.bytes(), 7u);
    EXPECT_EQ(budget.bytes(Use::kPages), 7u);
  }
  EXPECT_EQ(budget.bytes_in_all(), 60u);
  MemoryCharge nobody(nullptr, Use::kPages, 5);
  EXPECT_EQ(nobody.bytes(), 0u);
}

class Giver : public MemoryBudget::Yielding {
 public:
  void GiveWay(uint64_t over_bytes) override { asked_bytes.push_back(over_bytes); }
  std::vector<uint64_t> asked_bytes;
};

TEST(MemoryBudget, AsksForWhatIsOver) {
  MemoryBudget budget(100);
  Giver giver;
  budget.SetYielding(&giver);
  budget.Charge(Use::kMemtables, 100);
  EXPECT_TRUE(giver.asked_bytes.empty());
  budget.Charge(Use::kFiles, 5);
  budget.Discharge(Use::kMemtables, 50);
  budget.Charge(Use::kWrites, 45);
  EXPECT_EQ(giver.asked_bytes, std::vector<uint64_t>{5});
}

TEST(MemoryBudget, LeavesRoomForWhatNobodyCharges) {
  MemoryBudget budget(100, 25);
  Giver giver;
  budget.SetYielding(&giver);
  EXPECT_EQ(budget.budget_bytes(), 100u);
  EXPECT_EQ(budget.charged_bytes_max(), 75u);
  budget.Charge(Use::kMemtables, 75);
  EXPECT_FALSE(budget.is_over());
  EXPECT_EQ(budget.bytes_over(), 0u);
  budget.Charge(Use::kPages, 5);
  EXPECT_TRUE(budget.is_over());
  EXPECT_EQ(budget.bytes_over(), 5u);
  EXPECT_EQ(giver.asked_bytes, std::vector<uint64_t>{5});
}

TEST(MemoryBudget, ManyThreadsLeaveNothingBehind) {
  MemoryBudget budget(1000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&budget] {
      MemoryCharge charge(&budget, Use::kPages);
      for (uint64_t bytes = 0; bytes < 5000; ++bytes) charge.Set(bytes % 7 * 100);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.bytes_in_all(), 0u);
}

}  // namespace
}  // namespace stele::internal
