// Tests databases that share one memory budget (stele/memory_budget.h).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "stele/stele.h"

namespace stele {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr size_t kValueBytes = 4096;

std::string RowKey(int number) { return fmt::format("row{:06}", number); }

Database OpenIn(const MemoryBudget& budget) {
  absl::StatusOr<Database> database = Database::Open("mem:", {.shared_memory_budget = budget});
  EXPECT_TRUE(database.ok()) << database.status();
  return database.value_or(Database());
}

Table MakeTable(Database& database) {
  return database.CreateTable("t", Schema().SetCompression(Compression::kNone).AddFamily("f"))
      .value_or(Table());
}

// Writes rows [0, count) with different values.
void Write(Table& table, int count) {
  std::vector<RowMutation> mutations;
  for (int i = 0; i < count; ++i) {
    std::string value(kValueBytes, static_cast<char>('a' + i % 26));
    mutations.push_back(RowMutation(RowKey(i)).SetCell("f", "q", value));
    if (mutations.size() < 50 && i + 1 < count) continue;
    ASSERT_TRUE(table.BulkApply(mutations).empty());
    mutations.clear();
  }
}

int CountRows(const Table& table) {
  RowReader reader = table.ReadRows();
  int count = 0;
  while (reader.Next()) ++count;
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  return count;
}

// Another thread of the parent may hold the lock of the budget.
TEST(SharedMemoryBudgetTest, AForkedChildCannotJoinTheBudgetOfItsParent) {
  const MemoryBudget budget(64 * kMiB);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const absl::Status refused = Database::Open("mem:", {.shared_memory_budget = budget}).status();
    ::_exit(absl::IsFailedPrecondition(refused) && budget.database_count() == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(Database::Open("mem:", {.shared_memory_budget = budget}).ok());
}

TEST(SharedMemoryBudgetTest, ThreeDatabasesUnderLoadStayWithinIt) {
  static constexpr int kRowCount = 8000;  // about 32 MiB for each database
  const MemoryBudget budget(64 * kMiB);
  std::vector<Database> databases;
  for (int i = 0; i < 3; ++i) databases.push_back(OpenIn(budget));
  EXPECT_EQ(budget.database_count(), 3u);
  std::atomic<int> running{3};
  std::vector<std::thread> threads;
  for (Database& database : databases) {
    threads.emplace_back([&database, &running] {
      Table table = MakeTable(database);
      Write(table, kRowCount);
      for (int round = 0; round < 2; ++round) EXPECT_EQ(CountRows(table), kRowCount);
      --running;
    });
  }
  uint64_t charged_most = 0;
  while (running > 0) {
    charged_most = std::max(charged_most, budget.charged_bytes());
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  charged_most = std::max(charged_most, budget.charged_bytes());  // the caches are still full
  EXPECT_GT(charged_most, 32 * kMiB) << "the test must exhaust the budget";
  EXPECT_LE(charged_most, 64 * kMiB);
  // When nothing is in progress, the caches fit into the limit of the charges.
  for (Database& database : databases) EXPECT_TRUE(database.WaitForIdle().ok());
  for (Database& database : databases) {
    EXPECT_EQ(CountRows(*database.OpenTable("t")), kRowCount);
    EXPECT_GT(database.Stats().memory.block_cache_bytes, 0u);
  }
  EXPECT_LE(budget.charged_bytes(), 48 * kMiB);
}

TEST(SharedMemoryBudgetTest, ABusyDatabaseDoesNotStarveAnother) {
  const MemoryBudget budget(16 * kMiB);  // 12 may be charged: floors of 3, shares of 6
  Database busy = OpenIn(budget);
  Table busy_table = MakeTable(busy);
  Write(busy_table, 5000);
  ASSERT_TRUE(busy_table.Compact().ok());
  EXPECT_EQ(CountRows(busy_table), 5000);
  const uint64_t alone_bytes = busy.Stats().memory.block_cache_bytes;
  EXPECT_GT(alone_bytes, 7 * kMiB) << "a single database may use all of it";

  Database other = OpenIn(budget);
  Table other_table = MakeTable(other);
  std::atomic<bool> done{false};
  std::thread scanner([&] {
    while (!done) EXPECT_EQ(CountRows(busy_table), 5000);
  });
  Write(other_table, 1500);
  EXPECT_TRUE(other_table.Flush().ok());
  for (int round = 0; round < 3; ++round) EXPECT_EQ(CountRows(other_table), 1500);
  EXPECT_GT(other.Stats().memory.block_cache_bytes, kMiB);
  done = true;
  scanner.join();
  EXPECT_LT(busy.Stats().memory.block_cache_bytes, alone_bytes);
}

// The memtable of `first` is below its limit while the database is alone, and above the whole share
// of its writers afterwards. It must be flushed although no commit can freeze it.
TEST(SharedMemoryBudgetTest, WritesGoOnAfterTheShareBecameSmaller) {
  const MemoryBudget budget(64 * kMiB);
  Database first = OpenIn(budget);
  Table table = MakeTable(first);
  Write(table, 1150);  // about 5.3 MiB; memtables of a single database have up to 6
  ASSERT_EQ(first.Stats().since_open.flushes, 0u);
  std::vector<Database> others;
  for (int i = 0; i < 4; ++i) others.push_back(OpenIn(budget));  // writers of each have 4.8 MiB
  const WriteOptions options{.deadline =
                                 std::chrono::steady_clock::now() + std::chrono::minutes(5)};
  const absl::Status written = table.Apply(RowMutation("z").SetCell("f", "q", "v"), options);
  EXPECT_TRUE(written.ok()) << written;
}

TEST(SharedMemoryBudgetTest, DatabasesCloseInAnyOrder) {
  for (int first = 0; first < 3; ++first) {
    MemoryBudget budget(64 * kMiB);
    std::vector<Database> databases;
    std::vector<Table> tables;
    for (int i = 0; i < 3; ++i) {
      databases.push_back(OpenIn(budget));
      tables.push_back(MakeTable(databases.back()));
      Write(tables.back(), 100);
    }
    const MemoryBudget copy = budget;
    budget = MemoryBudget();  // the databases and the copy keep it
    EXPECT_GT(copy.charged_bytes(), 100 * kValueBytes);
    for (int i = 0; i < 3; ++i) {
      const int next = (first + i) % 3;
      if (i == 1) {
        EXPECT_TRUE(databases[next].Close().ok());
      }
      databases[next] = Database();
      if (i < 2) {
        EXPECT_EQ(CountRows(tables[(next + 1) % 3]), 100);
      }
      tables[next] = Table();
      EXPECT_EQ(copy.database_count(), 2u - static_cast<size_t>(i));
    }
    EXPECT_EQ(copy.charged_bytes(), 0u);
  }
}

TEST(SharedMemoryBudgetTest, OpenRefusesADatabaseWithoutAFloor) {
  const MemoryBudget budget(4 * kMiB);
  Database first = OpenIn(budget);
  Database second = OpenIn(budget);
  EXPECT_EQ(first.Stats().memory.budget_bytes, 4 * kMiB);
  const absl::Status refused = Database::Open("mem:", {.shared_memory_budget = budget}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_TRUE(first.Close().ok());
  first = Database();
  EXPECT_TRUE(Database::Open("mem:", {.shared_memory_budget = budget}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(
      Database::Open("mem:", {.shared_memory_budget = MemoryBudget(kMiB)}).status()));
}

TEST(SharedMemoryBudgetTest, AnEmptyHandleSharesNothing) {
  const MemoryBudget none;
  EXPECT_TRUE(none.is_empty());
  EXPECT_EQ(none.bytes() + none.charged_bytes() + none.database_count(), 0u);
  EXPECT_EQ(OpenIn(none).Stats().memory.budget_bytes, 256 * kMiB);
}

}  // namespace
}  // namespace stele
