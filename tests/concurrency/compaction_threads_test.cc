// Tests the compaction threads: they work on different tablets concurrently, with a lower priority
// than other threads.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "db/engine.h"
#include "io/mem_file_system.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

constexpr int kFlushCount = 6;  // the number that triggers a merge

// Returns false if the condition is not true after two minutes. The test then fails.
template <typename Condition>
bool Await(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

EngineOptions ThreadedOptions(FileSystem* file_system, int threads) {
  EngineOptions options = SmallEngineOptions(file_system);
  options.background_threads = threads;
  options.sizes.compaction.subcompaction_bytes = 0;  // each tablet alone
  return options;
}

// Two of three threads compact. One of them stops in the middle of a tablet's compaction. The other
// one continues.
TEST(CompactionThreadsTest, TabletsAreCompactedAtOnce) {
  std::atomic<int> created{0};
  std::atomic<bool> goes_on{false};
  MemFileSystem files;
  ObservedFileSystem observed(&files, [&](CallKind kind, const std::string& path) {
    if (kind != CallKind::kCreate || path.find(".sst") == std::string::npos) return;
    if (created.fetch_add(1) == kFlushCount) goes_on.wait(false);
  });
  WorkloadDatabase database(ThreadedOptions(&observed, 3), "/db");
  ASSERT_EQ(database.Open(), absl::OkStatus());
  Table table =
      database.database().CreateTable("t", Schema().AddFamily("f").AddSplit("m")).value_or(Table());
  for (int round = 0; round < kFlushCount; ++round) {
    for (const char* row_key : {"a", "x"}) {
      EXPECT_EQ(
          table.Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMillis(round), "v")),
          absl::OkStatus());
    }
    EXPECT_EQ(table.Flush(), absl::OkStatus());
  }
  const auto merged_count = [&] {
    const std::shared_ptr<const ReadView> view = database.engine().storage().state.view();
    int count = 0;
    for (const Tablet& tablet : view->version->FindTable("t")->tablets)
      count += tablet.stack.size() == 1 ? 1 : 0;
    return count;
  };
  EXPECT_TRUE(Await([&] { return merged_count() == 1; }))
      << "a compaction waits for that of another tablet";
  EXPECT_EQ(created.load(), kFlushCount + 2);
  goes_on.store(true);
  goes_on.notify_all();
  EXPECT_TRUE(Await([&] { return merged_count() == 2; }));
  EXPECT_EQ(database.database().Close(), absl::OkStatus());
}

// After a wait for idle, no thread pins old files, not even a thread that only looked for work.
TEST(CompactionThreadsTest, IdleThreadsHoldNothing) {
  MemFileSystem files;
  WorkloadDatabase database(ThreadedOptions(&files, 4), "/db");
  ASSERT_EQ(database.Open(), absl::OkStatus());
  Table table =
      database.database().CreateTable("t", Schema().AddFamily("f").AddSplit("m")).value_or(Table());
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    for (const char* row_key : {"a", "x"}) {
      EXPECT_EQ(table.Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMillis(1), "v")),
                absl::OkStatus());
    }
    EXPECT_EQ(table.Flush(), absl::OkStatus());
    EXPECT_EQ(table.Compact(), absl::OkStatus());
    EXPECT_EQ(database.database().WaitForIdle(), absl::OkStatus());
    EXPECT_EQ(database.database().Stats().memory.pinned_bytes, 0u) << "round " << round;
  }
}

#ifdef __linux__
int NicenessOf(int thread) { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(thread)); }

std::set<int> Threads() {
  std::set<int> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    threads.insert(std::stoi(entry.path().filename()));
  return threads;
}

// On Linux, niceness is an attribute of a thread.
TEST(CompactionThreadsTest, TheyYieldToOthers) {
  const int usual = NicenessOf(0);
  bool may_yield = false;
  std::thread([&] {
    const auto self = static_cast<id_t>(::syscall(SYS_gettid));
    may_yield = ::setpriority(PRIO_PROCESS, self, usual + 5) == 0 && NicenessOf(0) == usual + 5;
  }).join();
  if (!may_yield) GTEST_SKIP() << "the system does not let threads be nicer than " << usual;
  // A single thread that does all work has the usual priority. With more threads, a quarter of
  // them, but at least one, keeps the usual priority for work that callers wait for.
  for (const auto& [threads, nicer] : std::vector<std::pair<int, int>>{{1, 0}, {3, 2}, {8, 6}}) {
    const std::set<int> before = Threads();
    MemFileSystem files;
    WorkloadDatabase database(ThreadedOptions(&files, threads), "/db");
    ASSERT_EQ(database.Open(), absl::OkStatus());
    int others = 0;
    const auto count = [&] {
      int found = 0;
      others = 0;
      for (const int thread : Threads()) {
        if (before.contains(thread)) continue;
        found += NicenessOf(thread) == usual + 5 ? 1 : 0;
        others += NicenessOf(thread) == usual ? 1 : 0;
      }
      return found;
    };
    EXPECT_TRUE(Await([&, wanted = nicer] { return count() >= wanted; })) << threads;
    EXPECT_EQ(count(), nicer) << threads;
    EXPECT_GE(others, threads - nicer) << threads;
    EXPECT_EQ(NicenessOf(0), usual);
  }
}
#endif

}  // namespace
}  // namespace stele::internal
