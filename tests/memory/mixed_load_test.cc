// Tests that the process stays near the budget under a concurrent load of all kinds of operations
// (docs/decisions/0017-one-memory-budget.md).
#include <gtest/gtest.h>

#include <algorithm>

#include "support/crash_child.h"
#include "support/db_memory.h"
#include "support/db_mixed_load.h"

namespace stele::internal {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
// Memory that is not charged has a share of the budget, so the process grows by at most the budget
// and a tenth. That holds if readers and jobs need no more than that share. 8 scanners of up to 40
// files each and a compaction take 20 to 30 MiB, which are never refused. `beside_bytes` is the
// asserted bound for machines that are busy with other work, where peaks between two measurements
// are higher.
void HoldTheProcessNear(uint64_t budget_bytes, uint64_t beside_bytes, uint64_t rows_written) {
  const ScratchDirectory directory;
  const ResidentPeak peak;
  const auto database =
      Database::Open(directory.path() + "/db", {.memory_budget_bytes = budget_bytes});
  ASSERT_TRUE(database.ok()) << database.status();
  int looks = 0;
  uint64_t charged_max = 0;
  MixedLoad load(*database, {.rows_written = rows_written * MemoryTestTimes()});
  load.Run([&](const char* phase) {
    const uint64_t charged = database->Stats().memory.charged_bytes;
    if (charged > charged_max + 3 * kMiB) ReportMemory("most so far", *database, peak);
    charged_max = std::max(charged_max, charged);
    if (looks++ % 20 == 0 || phase[0] != 'm') ReportMemory(phase, *database, peak);
  });
  ReportMemory("at the end", *database, peak);
  ReportAllocator();
  ::testing::Test::RecordProperty("growth_mib", static_cast<int>(peak.growth_bytes() / kMiB));
  EXPECT_LE(charged_max, budget_bytes + beside_bytes / 4);
  EXPECT_LE(peak.growth_bytes(), budget_bytes + beside_bytes);
}

TEST(MixedLoadTest, TheProcessStaysNear32MiB) { HoldTheProcessNear(32 * kMiB, 20 * kMiB, 25'000); }
TEST(MixedLoadTest, TheProcessStaysNear64MiB) { HoldTheProcessNear(64 * kMiB, 24 * kMiB, 40'000); }
TEST(MixedLoadTest, TheProcessStaysNear256MiB) {
  HoldTheProcessNear(256 * kMiB, 25 * kMiB, 80'000);
}

}  // namespace
}  // namespace stele::internal
