// Tests for data races and lost wake-ups between the appending thread, syncing threads, and the
// background work that prepares and releases segments. ThreadSanitizer finds the races. Synced
// records must exist afterwards.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/crash_fs/crash_file_system.h"
#include "support/wal_fixture.h"

namespace stele::internal {
namespace {

TEST(WalConcurrency, AppendSyncPrepareAndReleaseBesideEachOther) {
  CrashFileSystem disk;
  ASSERT_TRUE(disk.CreateDirectory("db").ok());
  ASSERT_TRUE(disk.SyncDirectory("").ok());
  WalNumbers numbers;
  auto started = CommitLog::Start(WalOptions(&disk, "db", &numbers), LogTail{});
  ASSERT_TRUE(started.ok()) << started.status();
  CommitLog* const log = started->get();
  constexpr uint64_t kRecords = 1500;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> oldest{log->oldest_segment()};
  std::atomic<uint64_t> released{0};
  std::atomic<int> failures{0};

  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        const uint64_t before = log->last_sequence();
        if (!log->Sync().ok() || log->synced_sequence() < before) ++failures;
      }
    });
  }
  threads.emplace_back([&] {
    while (!done) {
      if (log->NeedsSpare() && !log->PrepareSpare().ok()) ++failures;
    }
  });
  threads.emplace_back([&] {
    while (!done) {
      const uint64_t through = log->synced_sequence();
      released = through;
      oldest = log->OldestSegmentAfter(through);
      if (!log->Release(through).ok() || log->oldest_segment() < oldest) ++failures;
      if (log->SegmentEnds().empty() || log->bytes() > (uint64_t{1} << 30)) ++failures;
    }
  });
  EXPECT_TRUE(AppendWal(log, 1, kRecords, 300).ok());
  done = true;
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(failures, 0);
  ASSERT_TRUE(log->Sync().ok());
  const WalReplay replay =
      ReplayWal(disk.Crash(CrashPolicy::DropUnsynced(), 1).get(), "db", oldest);
  ASSERT_TRUE(replay.status.ok()) << replay.status;
  EXPECT_EQ(replay.tail.last_sequence, kRecords);
  ASSERT_FALSE(replay.records.empty());
  EXPECT_LE(replay.records.front().sequence, released + 1);
  for (const WalRecord& record : replay.records)
    ASSERT_EQ(record.payload, WalPayload(record.sequence, 300));
}

}  // namespace
}  // namespace stele::internal
