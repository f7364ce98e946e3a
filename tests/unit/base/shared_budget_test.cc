// Tests a memory budget that several databases share: the floors, the order in which databases free
// memory, and the membership.
#include "base/shared_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "base/memory_tracker.h"

namespace stele::internal {
namespace {

using Use = MemoryTracker::Use;
constexpr uint64_t kMiB = uint64_t{1} << 20;
// Of 96 MiB, 80 may be charged: of two databases each has a floor of 20 MiB and a share of 40.
constexpr uint64_t kBudgetBytes = 96 * kMiB;

// A database with a cache that frees everything it is asked for.
class FakeDatabase final : public Shrinkable {
 public:
  explicit FakeDatabase(const std::shared_ptr<SharedBudget>& shared,
                        uint64_t budget_bytes = kBudgetBytes)
      : tracker_(budget_bytes, 16 * kMiB, SharedBudget::Join(shared)) {
    tracker_.SetShrinkable(this);
  }
  ~FakeDatabase() override {
    tracker_.SetShrinkable(nullptr);
    tracker_.Discharge(Use::kBlocks, cached_);
    tracker_.Discharge(Use::kMemtables, tracker_.bytes(Use::kMemtables));
  }

  void Cache(uint64_t bytes) {
    cached_ += bytes;
    tracker_.Charge(Use::kBlocks, bytes);
  }
  void Write(uint64_t bytes) { tracker_.Charge(Use::kMemtables, bytes); }
  void Shrink(uint64_t over_bytes) override {
    const uint64_t freed = std::min(over_bytes, cached_);
    cached_ -= freed;
    tracker_.Discharge(Use::kBlocks, freed);
  }

  uint64_t cached() const { return cached_; }
  const MemoryTracker& tracker() const { return tracker_; }

 private:
  MemoryTracker tracker_;
  uint64_t cached_ = 0;
};

TEST(SharedBudget, OneDatabaseMayUseAllOfIt) {
  const auto shared = std::make_shared<SharedBudget>(kBudgetBytes);
  FakeDatabase only(shared);
  only.Cache(100 * kMiB);
  EXPECT_EQ(only.cached(), 80 * kMiB);
  EXPECT_EQ(shared->charged_bytes(), 80 * kMiB);
}

TEST(SharedBudget, TheFloorOfAnotherDatabaseStaysFree) {
  const auto shared = std::make_shared<SharedBudget>(kBudgetBytes);
  FakeDatabase busy(shared);
  FakeDatabase idle(shared);
  busy.Cache(100 * kMiB);
  EXPECT_EQ(busy.cached(), 60 * kMiB);
  idle.Write(20 * kMiB);
  EXPECT_FALSE(idle.tracker().is_over());
  EXPECT_EQ(busy.cached(), 60 * kMiB);
  EXPECT_EQ(shared->charged_bytes(), 80 * kMiB);
}

TEST(SharedBudget, ADatabaseBelowItsShareTakesFromTheCacheOfOneAbove) {
  const auto shared = std::make_shared<SharedBudget>(kBudgetBytes);
  FakeDatabase busy(shared);
  FakeDatabase second(shared);
  busy.Cache(60 * kMiB);
  for (int i = 0; i < 60; ++i) second.Cache(kMiB);
  EXPECT_EQ(busy.cached(), 40 * kMiB);
  EXPECT_EQ(second.cached(), 40 * kMiB) << "above its share it frees its own";
  EXPECT_LE(shared->charged_bytes(), 80 * kMiB);
}

TEST(SharedBudget, MemoryThatCannotBeFreedMakesOnlyItsDatabaseExceed) {
  const auto shared = std::make_shared<SharedBudget>(kBudgetBytes);
  FakeDatabase writer(shared);
  FakeDatabase other(shared);
  writer.Write(70 * kMiB);
  EXPECT_EQ(writer.tracker().bytes_over(), 10 * kMiB);
  other.Cache(15 * kMiB);
  EXPECT_EQ(other.cached(), 15 * kMiB);
  EXPECT_FALSE(other.tracker().is_over()) << "it is below its floor";
  other.Cache(15 * kMiB);
  EXPECT_EQ(other.cached(), 20 * kMiB) << "the cache keeps the floor";
}

TEST(SharedBudget, ADatabasesOwnBudgetAlsoBoundsIt) {
  const auto shared = std::make_shared<SharedBudget>(kBudgetBytes);
  MemoryTracker small(8 * kMiB, 2 * kMiB, SharedBudget::Join(shared));
  small.Charge(Use::kMemtables, 7 * kMiB);
  EXPECT_EQ(small.bytes_over(), kMiB);
  EXPECT_EQ(small.PortionOf(100), 100u);
  small.Discharge(Use::kMemtables, 7 * kMiB);
}

TEST(SharedBudget, OtherDatabasesDoNotPayForADatabasesOwnLimit) {
  const auto shared = std::make_shared<SharedBudget>(kBudgetBytes);
  FakeDatabase large(shared);
  FakeDatabase small(shared, 26 * kMiB);
  large.Cache(60 * kMiB);
  small.Cache(11 * kMiB);  // one more than its limit
  EXPECT_EQ(small.cached(), 10 * kMiB);
  EXPECT_EQ(large.cached(), 60 * kMiB);
}

TEST(SharedBudget, ANewDatabaseFindsItsFloorFree) {
  const auto shared = std::make_shared<SharedBudget>(kBudgetBytes);
  FakeDatabase idle(shared);
  idle.Cache(80 * kMiB);
  FakeDatabase joined(shared);
  EXPECT_EQ(idle.cached(), 60 * kMiB);
}

TEST(SharedBudget, SizesFollowTheNumberOfDatabases) {
  const auto shared = std::make_shared<SharedBudget>(kBudgetBytes);
  FakeDatabase first(shared);
  EXPECT_EQ(first.tracker().PortionOf(60), 60u);
  {
    FakeDatabase second(shared);
    FakeDatabase third(shared);
    EXPECT_EQ(shared->database_count(), 3u);
    EXPECT_EQ(first.tracker().PortionOf(60), 20u);
  }
  EXPECT_EQ(first.tracker().PortionOf(60), 60u);
  EXPECT_EQ(MemoryTracker(100).PortionOf(60), 60u);
}

TEST(SharedBudget, PlacesAreLimitedByTheFloor) {
  const auto shared = std::make_shared<SharedBudget>(8 * kMiB);
  std::vector<std::shared_ptr<SharedBudget::Member>> members;
  for (int i = 0; i < 4; ++i) members.push_back(SharedBudget::Join(shared));
  EXPECT_NE(members.back(), nullptr);
  EXPECT_EQ(SharedBudget::Join(shared), nullptr) << "a floor would be less than 1 MiB";
  members.erase(members.begin());
  members.push_back(SharedBudget::Join(shared));
  EXPECT_NE(members.back(), nullptr);
  const auto large = std::make_shared<SharedBudget>(uint64_t{1} << 40);
  members.clear();
  for (size_t i = 0; i < SharedBudget::kDatabasesMax; ++i)
    members.push_back(SharedBudget::Join(large));
  EXPECT_NE(members.back(), nullptr);
  EXPECT_EQ(SharedBudget::Join(large), nullptr);
}

TEST(SharedBudget, DatabasesChargeCloseAndOpenConcurrently) {
  const auto shared = std::make_shared<SharedBudget>(kBudgetBytes);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&shared] {
      for (int round = 0; round < 200; ++round) {
        MemoryTracker tracker(kBudgetBytes, 16 * kMiB, SharedBudget::Join(shared));
        MemoryCharge charge(&tracker, Use::kBlocks);
        for (uint64_t step = 0; step < 50; ++step) charge.Set(step % 7 * 5 * kMiB);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared->charged_bytes(), 0u);
  EXPECT_EQ(shared->database_count(), 0u);
}

}  // namespace
}  // namespace stele::internal
