// Tests that the prefetch pool runs its work, declines work that it has no room for, and ends with
// the database even while readers exist.
#include "jobs/prefetch_pool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/engine.h"
#include "io/mem_file_system.h"
#include "model/access.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

class Task : public PrefetchTask {
 public:
  explicit Task(std::function<void()> run) : run_(std::move(run)) {}
  void Run() override { run_(); }

 private:
  const std::function<void()> run_;
};

TEST(PrefetchPoolTest, EverythingTakenIsRun) {
  std::atomic<int> run_count{0};
  PrefetchPool pool(2);
  for (int i = 0; i < 1000; ++i) {
    const int before = run_count.load();
    if (pool.Run(std::make_shared<Task>([&] { ++run_count; }))) {
      while (run_count.load() == before) {
      }
    }
  }
  EXPECT_EQ(run_count.load(), 1000);
}

TEST(PrefetchPoolTest, ItDeclinesWhatItCannotTake) {
  std::atomic<bool> is_held{false};
  std::atomic<bool> may_end{false};
  std::atomic<int> run_count{0};
  PrefetchPool pool(1);
  ASSERT_TRUE(pool.Run(std::make_shared<Task>([&] {
    is_held = true;
    while (!may_end) {
    }
  })));
  while (!is_held) {
  }
  int taken_count = 0;
  while (pool.Run(std::make_shared<Task>([&] { ++run_count; }))) ++taken_count;
  EXPECT_GT(taken_count, 0);
  may_end = true;
  pool.Stop();
  EXPECT_FALSE(pool.Run(std::make_shared<Task>([&] { ++run_count; }))) << "stopped";
  EXPECT_LE(run_count.load(), taken_count);
  PrefetchPool none(0);
  EXPECT_FALSE(none.Run(std::make_shared<Task>([] { FAIL(); })));
}

TEST(PrefetchPoolTest, AForkHasNoPool) {
  std::atomic<bool> was_run{false};
  PrefetchPool pool(1);
  ASSERT_TRUE(pool.Run(std::make_shared<Task>([&] { was_run = true; })));
  while (!was_run) {
  }
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(pool.IsOfThisProcess() || pool.Run(std::make_shared<Task>([] {})) ? 1 : 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(pool.IsOfThisProcess());
}

class LongScanTest : public testing::Test {
 protected:
  static constexpr int kRows = 3000;

  void SetUp() override {
    EngineOptions options = SmallEngineOptions(&file_system_);
    options.database.clock = nullptr;
    options.background_threads = 2;
    absl::StatusOr<std::shared_ptr<LocalDatabase>> opened = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    database_ = Access::Make<Database>(*opened);
    table_ = *database_->CreateTable("t", Schema().AddFamily("f"));
    for (int i = 0; i < kRows; ++i) {
      RowMutation mutation(KeyOf(i));
      mutation.SetCell("f", "q", Timestamp::FromMicros(1000),
                       std::string(200, static_cast<char>('a' + i % 7)));
      ASSERT_TRUE(table_.Apply(mutation).ok());
    }
    ASSERT_TRUE(table_.Flush().ok());
    ASSERT_TRUE(table_.Compact().ok());
  }
  static std::string KeyOf(int i) { return fmt::format("row{:05}", i); }
  RowReader Scan(bool reverse) {
    return table_.ReadRows(RowRange::All(), {}, {.reverse = reverse, .fill_cache = false});
  }

  MemFileSystem file_system_;
  std::optional<Database> database_;
  Table table_;
};

TEST_F(LongScanTest, GivesEveryRowInOrder) {
  for (const bool reverse : {false, true}) {
    RowReader reader = Scan(reverse);
    int count = 0;
    for (; reader.Next(); ++count) {
      const int i = reverse ? kRows - 1 - count : count;
      ASSERT_EQ(reader.row().row_key(), KeyOf(i));
      ASSERT_EQ(reader.row().cells()[0].value(), std::string(200, static_cast<char>('a' + i % 7)));
    }
    EXPECT_TRUE(reader.status().ok()) << reader.status();
    EXPECT_EQ(count, kRows);
  }
}

TEST_F(LongScanTest, CloseEndsItInTheMiddle) {
  RowReader forward = Scan(false);
  RowReader reverse = Scan(true);
  for (int i = 0; i < kRows / 2; ++i) ASSERT_TRUE(forward.Next() && reverse.Next());
  ASSERT_TRUE(database_->Close().ok());
  for (RowReader* reader : {&forward, &reverse}) {
    EXPECT_FALSE(reader->Next());
    EXPECT_EQ(reader->status().code(), absl::StatusCode::kFailedPrecondition);
  }
}

TEST_F(LongScanTest, ReadersMayBeTheLastHandle) {
  RowReader left = Scan(false);
  RowReader reader = Scan(false);
  for (int i = 0; i < kRows / 2; ++i) ASSERT_TRUE(reader.Next() && left.Next());
  left = RowReader();
  table_ = Table();
  database_.reset();
  int count = kRows / 2;
  while (reader.Next()) ++count;
  EXPECT_EQ(count, kRows);
  EXPECT_TRUE(reader.status().ok()) << reader.status();
}

}  // namespace
}  // namespace stele::internal
