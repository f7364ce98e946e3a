// What the table of tokens holds, and for how long.
#include "db/token_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/status.h"

namespace stele::internal {
namespace {

constexpr uint64_t kBudgetBytes = uint64_t{1} << 20;

TokenUse UseOf(std::string token, uint64_t entry = 0) { return {.token = std::move(token), .entries = {{entry, entry + 1}}}; }

std::string TokenAt(int64_t now) { return fmt::format("token at {:020}", now); }

// Regression: what waited for the manifest was kept until the log forgot its batch, hours later perhaps, and charged for 15 minutes.
TEST(TokenTableTest, NothingIsKeptThatIsTooOld) {
  MemoryBudget budget(kBudgetBytes);
  TokenTable tokens(&budget);
  uint64_t sequence = 0;
  for (int64_t now = 0; now < 4 * kTokenMemoryMicros; now += kTokenMemoryMicros / 10) {
    const TokenUse use = UseOf(TokenAt(now));
    ASSERT_EQ(tokens.Admit(use, now, 0), absl::OkStatus());
    tokens.Add(use, ++sequence, now);
    ASSERT_LE(tokens.pending_count(), 10u);
    ASSERT_EQ(tokens.NotInManifest(sequence, now).size(), tokens.pending_count());
    ASSERT_LE(tokens.bytes(), 10 * TokenTable::BytesOf(use));
  }
  EXPECT_EQ(tokens.pending_count(), 10u);
  EXPECT_TRUE(tokens.Find(TokenAt(0), sequence, 4 * kTokenMemoryMicros).empty());
  EXPECT_EQ(tokens.bytes(), 9 * TokenTable::BytesOf(UseOf(TokenAt(0))))
      << "asking forgets, too: at that time the oldest of the ten is just too old";
}

// Regression: of a BulkApply that is many batches only the first was charged.
TEST(TokenTableTest, EachCommitUnderATokenIsCharged) {
  MemoryBudget budget(kBudgetBytes);
  TokenTable tokens(&budget);
  absl::Status admitted;
  uint64_t commits = 0;
  while (admitted.ok() && commits < 1000) {
    const TokenUse use = UseOf("one of many entries", 2 * commits);
    admitted = tokens.Admit(use, 0, 0);
    if (admitted.ok()) tokens.Add(use, ++commits, 0);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(admitted)) << admitted;
  EXPECT_GT(commits, 10u);
  EXPECT_EQ(tokens.bytes(), commits * TokenTable::BytesOf(UseOf("one of many entries")));
  EXPECT_EQ(budget.bytes(MemoryBudget::Use::kWrites), tokens.bytes());
  EXPECT_TRUE(tokens.Find("one of many entries", commits, kTokenMemoryMicros).empty());
  EXPECT_EQ(tokens.bytes(), 0u);
}

}  // namespace
}  // namespace stele::internal
