// The process stays near the budget under everything at once (docs/decisions/0017-one-memory-budget.md).
#include <gtest/gtest.h>

#include <algorithm>

#include "support/crash_child.h"
#include "support/db_memory.h"
#include "support/db_mixed_load.h"

namespace stele::internal {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kBudgetBytes = 64 * kMiB;

TEST(MixedLoadTest, TheProcessStaysNearTheBudget) {
  const ScratchDirectory directory;
  const ResidentPeak peak;
  const auto database = Database::Open(directory.path() + "/db", {.memory_budget_bytes = kBudgetBytes});
  ASSERT_TRUE(database.ok()) << database.status();
  int looks = 0;
  uint64_t charged_max = 0;
  MixedLoad load(*database, {.rows_written = 40'000 * MemoryTestTimes()});
  load.Run([&](const char* phase) {
    const uint64_t charged = database->Stats().memory_bytes;
    if (charged > charged_max + 3 * kMiB) ReportMemory("most so far", *database, peak);
    charged_max = std::max(charged_max, charged);
    if (looks++ % 20 == 0 || phase[0] != 'm') ReportMemory(phase, *database, peak);
  });
  ReportMemory("at the end", *database, peak);
  ReportAllocator();
  RecordProperty("growth_mib", static_cast<int>(peak.growth_bytes() / kMiB));
  // What readers stand on is charged and never refused.
  EXPECT_LE(charged_max, kBudgetBytes + kBudgetBytes / 4);
  // Beside it is what is idle, what the allocator leaves between small things, and for each of 16 threads a stack and a codec's context.
  // What is charged is looked at now and then only, so that its peak is a little higher.
  EXPECT_LE(peak.growth_bytes(), kBudgetBytes + 40 * kMiB);
}

}  // namespace
}  // namespace stele::internal
