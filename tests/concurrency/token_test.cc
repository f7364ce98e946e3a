// Tests writers that share tokens: each token is applied once, whichever writer is first, with
// concurrent flushes and other writers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "stele/stele.h"

namespace stele {
namespace {

constexpr int kTokenWriters = 4;
constexpr int kTokens = 400;

TEST(TokenConcurrencyTest, TwoWritersWithOneTokenApplyItOnce) {
  Database database = Database::Open("mem:", {.memory_budget_bytes = 8 << 20}).value();
  Table table =
      database
          .CreateTable("t", Schema().AddFamily({.name = "sum", .value_type = ValueType::kInt64Sum}))
          .value();
  std::atomic<int> failures{0};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kTokenWriters; ++writer) {
    writers.emplace_back([&, writer] {
      Table mine = table;
      for (int i = 0; i < kTokens; ++i) {
        const WriteOptions options{.idempotency_token = fmt::format("token-{:05}", i)};
        const auto add = [](std::string row_key) {
          return RowMutation(std::move(row_key)).AddToCell("sum", "q", Timestamp(), 1);
        };
        if (i % 4 == 3) {
          const std::vector<RowMutation> mutations = {add("bulk0"), add("bulk1"), add("bulk2")};
          if (!mine.BulkApply(mutations, options).empty()) ++failures;
        } else if (!mine.Apply(add("single"), options).ok()) {
          ++failures;
        }
        // An acknowledged write is readable, also for a writer that only repeated it.
        if (i % 50 == 0) {
          const auto row = mine.ReadRow("single");
          if (!row.ok() || !row->has_value() ||
              (*row)->cell("sum", "q")->AsInt64().value() < i * 3 / 4)
            ++failures;
        }
        if (writer == 0 && i % 100 == 0 && !mine.Flush().ok()) ++failures;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  const auto sum = [&](const char* row_key) {
    return table.ReadRow(row_key).value()->cell("sum", "q")->AsInt64().value();
  };
  EXPECT_EQ(sum("single"), kTokens * 3 / 4);
  for (const char* row_key : {"bulk0", "bulk1", "bulk2"}) EXPECT_EQ(sum(row_key), kTokens / 4);
}

// The calls take turns: each commits entries that another one has not committed yet.
TEST(TokenConcurrencyTest, CallsWithOneTokenApplyEachEntryOnce) {
  constexpr int kEntries = 500;
  Database database = Database::Open("mem:", {.memory_budget_bytes = 8 << 20}).value();
  Table table =
      database
          .CreateTable("t", Schema()
                                .AddFamily({.name = "sum", .value_type = ValueType::kInt64Sum})
                                .AddFamily({.name = "counted", .gc = GcRule::MaxNumVersions(2)}))
          .value();
  std::vector<RowMutation> mutations;
  for (int i = 0; i < kEntries; ++i) {
    mutations.push_back(
        RowMutation(fmt::format("row{:03}", i))
            .AddToCell("sum", "q", Timestamp(), 1)
            // Gets a GC fence, and so a separate batch.
            .DeleteFromColumn("counted", "q", TimestampRange{.start = Timestamp::FromMillis(1)}));
  }
  for (const char* token : {"token-01", "token-02", "token-03"}) {
    std::atomic<size_t> failures{0};
    std::latch start(kTokenWriters);
    std::vector<std::thread> writers;
    for (int writer = 0; writer < kTokenWriters; ++writer) {
      writers.emplace_back([&, mine = table]() mutable {
        start.arrive_and_wait();
        failures += mine.BulkApply(mutations, {.idempotency_token = token}).size();
      });
    }
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(failures, 0u);
  }
  for (const RowMutation& mutation : mutations) {
    EXPECT_EQ(table.ReadRow(mutation.row_key()).value()->cell("sum", "q")->AsInt64().value(), 3)
        << mutation.row_key();
  }
}

}  // namespace
}  // namespace stele
