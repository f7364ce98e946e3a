// Tests a crash at any call of any workload of the log. It must not lose synced records, leave a
// gap, bring recycled bytes back, or be reported as DataLoss (engine rules 3, 18 and 20). Also
// tests faults: a failed write or a full disk must stay contained, and a failed sync must poison
// the log.
#include <gtest/gtest.h>

#include <cerrno>

#include "base/buffer.h"
#include "support/base_sanitized.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/wal_fixture.h"
#include "support/wal_workload.h"

namespace stele::internal {
namespace {

constexpr int kSteps = 60;

std::unique_ptr<CrashFileSystem> NewDisk() {
  auto disk = std::make_unique<CrashFileSystem>();
  EXPECT_TRUE(disk->CreateDirectory("db").ok());
  EXPECT_TRUE(disk->SyncDirectory("").ok());
  return disk;
}

uint64_t CallsOf(uint64_t seed) {
  const auto disk = NewDisk();
  WalWorkload life(disk.get(), seed);
  EXPECT_TRUE(life.Run(kSteps));
  return disk->calls();
}

class WalCrash : public ::testing::TestWithParam<uint64_t> {};

TEST_P(WalCrash, AtEveryCallLeavesAPrefixWithAllThatWasSynced) {
  const uint64_t seed = GetParam();
  const uint64_t calls = CallsOf(seed);
  ASSERT_GT(calls, 50u);
  for (uint64_t call = 3; call <= calls; ++call) {
    const auto disk = NewDisk();
    disk->SetCrashAtCall(call);
    WalWorkload life(disk.get(), seed);
    life.Run(kSteps);
    const std::string killed = life.Check(disk->Crash(CrashPolicy::KilledProcess(), 1).get(), true);
    ASSERT_EQ(killed, "") << "seed " << seed << " killed at call " << call;
    for (uint64_t image_seed = 1; image_seed <= 7; ++image_seed) {
      CrashPolicy policy = CrashPolicy::Random(image_seed * 1000 + call);
      if (image_seed == 1) policy = CrashPolicy::DropUnsynced();
      if (image_seed == 2) policy = CrashPolicy::KeepAll();
      if (image_seed <= 5 && image_seed > 2) policy = CrashPolicy::PowerLoss();
      const auto image = disk->Crash(policy, image_seed);
      const std::string wrong = life.Check(image.get(), false);
      ASSERT_EQ(wrong, "") << "seed " << seed << " crash at call " << call << " image "
                           << image_seed;
    }
  }
}

// A crash, a recovery that crashes too at each of its calls, and the state after that.
TEST_P(WalCrash, DuringRecoveryLosesNothingMore) {
  const uint64_t seed = GetParam();
  const uint64_t calls = CallsOf(seed);
  for (uint64_t call = 3 + seed % 11; call <= calls; call += 11) {
    const auto disk = NewDisk();
    disk->SetCrashAtCall(call);
    WalWorkload first(disk.get(), seed);
    first.Run(kSteps);
    for (uint64_t second_call = 1; second_call <= 14; ++second_call) {
      const auto image = disk->Crash(CrashPolicy::PowerLoss(), second_call * 100 + call);
      image->SetCrashAtCall(second_call);
      WalWorkload second(image.get(), seed + second_call);
      second.Adopt(first);
      second.Run(12);
      for (uint64_t image_seed = 1; image_seed <= 3; ++image_seed) {
        const auto second_image = image->Crash(CrashPolicy::PowerLoss(), image_seed);
        const std::string wrong = second.Check(second_image.get(), false);
        ASSERT_EQ(wrong, "") << "seed " << seed << " calls " << call << ", " << second_call
                             << " image " << image_seed;
      }
    }
  }
}

TEST_P(WalCrash, FailedCallsAreContainedOrPoison) {
  const uint64_t seed = GetParam();
  const uint64_t calls = CallsOf(seed);
  uint64_t poisoned_count = 0;
  for (const int error_number : {EIO, ENOSPC}) {
    for (uint64_t call = 3; call <= calls; ++call) {
      const auto disk = NewDisk();
      disk->FailCall(call, Fault{.error_number = error_number, .partial = call % 2 == 0});
      WalWorkload life(disk.get(), seed);
      life.Run(kSteps, /*go_on_after_errors=*/true);
      poisoned_count += life.poisoned() ? 1 : 0;
      for (uint64_t image_seed = 1; image_seed <= 3; ++image_seed) {
        const auto image = disk->Crash(
            image_seed == 1 ? CrashPolicy::DropUnsynced() : CrashPolicy::PowerLoss(), image_seed);
        const std::string wrong = life.Check(image.get(), false);
        ASSERT_EQ(wrong, "") << "seed " << seed << " errno " << error_number << " at call " << call
                             << " image " << image_seed;
      }
      if (!life.poisoned()) {
        const std::string wrong = life.Check(disk.get(), true);
        ASSERT_EQ(wrong, "") << "seed " << seed << " errno " << error_number << " at call " << call;
      }
    }
  }
  EXPECT_GT(poisoned_count, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WalCrash, ::testing::Range<uint64_t>(1, 1 + (kReduced ? 2 : 4)));

class WalFault : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<CommitLog>> log =
        CommitLog::Start(WalOptions(disk_.get(), "db", numbers_.get()), LogTail{});
    ASSERT_TRUE(log.ok()) << log.status();
    log_ = *std::move(log);
  }
  // Makes the next `count` writes fail.
  void FailWrites(uint64_t count, const Fault& fault) {
    for (uint64_t nth = 1; nth <= count; ++nth) disk_->FailKind(CallKind::kWrite, nth, fault);
  }
  std::vector<WalRecord> AfterPowerLoss() {
    WalReplay replay = ReplayWal(disk_->Crash(CrashPolicy::DropUnsynced(), 1).get(), "db");
    EXPECT_TRUE(replay.status.ok()) << replay.status;
    return replay.records;
  }

  std::unique_ptr<CrashFileSystem> disk_ = NewDisk();
  std::unique_ptr<WalNumbers> numbers_ = std::make_unique<WalNumbers>();
  std::unique_ptr<CommitLog> log_;
};

TEST_F(WalFault, AFailedWriteSealsTheSegmentAndTheRecordGoesToTheNext) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 2, 100).ok());
  disk_->FailKind(CallKind::kWrite, 1, Fault{.error_number = EIO, .partial = true});
  ASSERT_TRUE(AppendWal(log_.get(), 3, 2, 100).ok());
  EXPECT_EQ(log_->SegmentEnds().size(), 2u);
  ASSERT_TRUE(log_->Sync().ok());
  EXPECT_EQ(AfterPowerLoss().size(), 4u);
}

TEST_F(WalFault, TwoFailedWritesAreAnErrorAndTheLogGoesOn) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 1, 100).ok());
  FailWrites(2, Fault{.error_number = EIO});
  EXPECT_EQ(AppendWal(log_.get(), 2, 1, 100).code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(log_->poisoned());
  ASSERT_TRUE(AppendWal(log_.get(), 2, 1, 100).ok());
  ASSERT_TRUE(log_->Sync().ok());
  EXPECT_EQ(AfterPowerLoss().size(), 2u);
}

// Regression: the call failed although the whole record was on disk, and recovery replayed it.
TEST_F(WalFault, ARefusedWriteThatArrivedWholeIsNeverReplayed) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 1, 100).ok());
  ASSERT_TRUE(log_->Sync().ok());
  FailWrites(2, Fault{.error_number = EIO, .whole = true});
  EXPECT_EQ(AppendWal(log_.get(), 2, 1, 100).code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(log_->poisoned());
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const CrashPolicy policy = seed == 1   ? CrashPolicy::KilledProcess()
                               : seed == 2 ? CrashPolicy::KeepAll()
                                           : CrashPolicy::Random(seed);
    const WalReplay replay = ReplayWal(disk_->Crash(policy, seed).get(), "db");
    ASSERT_TRUE(replay.status.ok()) << replay.status;
    EXPECT_EQ(replay.records.size(), 1u) << "seed " << seed;
  }
  // Another record with the same sequence replaces the rejected one, also if nothing of it was
  // synced.
  const std::string other = "another";
  const LogRecord record{2, other};
  ASSERT_TRUE(log_->Append({&record, 1}).ok());
  const WalReplay replay = ReplayWal(disk_->Crash(CrashPolicy::KilledProcess(), 1).get(), "db");
  ASSERT_EQ(replay.records.size(), 2u);
  EXPECT_EQ(replay.records.back().payload, other);
}

// If only the first record of a write group was written, none of them is replayed.
TEST_F(WalFault, ARefusedGroupIsRefusedWhole) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 1, 100).ok());
  const std::string payload(200, 'p');
  const LogRecord records[] = {{2, payload}, {3, payload}, {4, payload}};
  FailWrites(2, Fault{.error_number = EIO, .partial = true});
  EXPECT_FALSE(log_->Append(records).ok());
  EXPECT_EQ(ReplayWal(disk_->Crash(CrashPolicy::KilledProcess(), 1).get(), "db").records.size(),
            1u);
}

TEST_F(WalFault, ALogThatCannotBeEndedBeforeARefusedWriteIsPoisoned) {
  struct Case {
    CallKind kind;
    uint64_t nth;
    int error_number;
  };
  for (const Case& failing :
       {Case{CallKind::kWrite, 3, EIO}, Case{CallKind::kSync, 1, EIO},
        Case{CallKind::kSyncDirectory, 1, EIO}, Case{CallKind::kAllocate, 2, ENOSPC}}) {
    log_.reset();
    disk_ = NewDisk();
    numbers_ = std::make_unique<WalNumbers>();
    SetUp();
    ASSERT_TRUE(AppendWal(log_.get(), 1, 1, 100).ok());
    FailWrites(2, Fault{.error_number = EIO, .whole = true});
    // If there is no room for a whole segment, a smaller one is enough.
    disk_->FailKind(
        failing.kind, failing.nth,
        Fault{.error_number = failing.error_number, .sticky = failing.error_number == ENOSPC});
    const absl::Status refused = AppendWal(log_.get(), 2, 1, 100);
    disk_->ClearFaults();
    EXPECT_NE(refused.message().find("may be found again"), absl::string_view::npos) << refused;
    EXPECT_TRUE(log_->poisoned());
    EXPECT_EQ(AppendWal(log_.get(), 2, 1, 100), refused);
    EXPECT_EQ(log_->Sync(), refused);
    EXPECT_TRUE(ReplayWal(disk_->Crash(CrashPolicy::KilledProcess(), 1).get(), "db").status.ok());
  }
}

TEST_F(WalFault, AFullDiskRefusesTheWriteUntilThereIsSpaceAgain) {
  disk_->SetCapacity(disk_->used_bytes());
  uint64_t next = 1;
  absl::Status status;
  while ((status = AppendWal(log_.get(), next, 1, 500)).ok()) ++next;
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_GT(next, 3u) << "the first segment has its space already";
  EXPECT_EQ(log_->last_sequence(), next - 1);
  EXPECT_EQ(AppendWal(log_.get(), next, 1, 500).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(log_->PrepareSpare().code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(log_->Sync().ok());
  disk_->SetCapacity(UINT64_MAX);
  ASSERT_TRUE(log_->PrepareSpare().ok());
  ASSERT_TRUE(AppendWal(log_.get(), next, 5, 500).ok());
  ASSERT_TRUE(log_->Sync().ok());
  EXPECT_EQ(AfterPowerLoss().size(), next + 4);
}

TEST_F(WalFault, AFailedSyncIsFinal) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 1, 100).ok());
  ASSERT_TRUE(log_->Sync().ok());
  ASSERT_TRUE(AppendWal(log_.get(), 2, 1, 100).ok());
  disk_->FailKind(CallKind::kSync, 1, Fault{.error_number = EIO});
  const absl::Status first = log_->Sync();
  EXPECT_FALSE(first.ok());
  EXPECT_TRUE(log_->poisoned());
  EXPECT_EQ(log_->Sync(), first);
  EXPECT_EQ(AppendWal(log_.get(), 3, 1, 100), first);
  EXPECT_EQ(log_->Close(), first);
  EXPECT_EQ(log_->synced_sequence(), 1u);
  EXPECT_FALSE(log_->NeedsSpare());
  EXPECT_EQ(AfterPowerLoss().size(), 1u);
}

// Regression: a newer segment was synced before an older one, and a power loss left a gap.
TEST_F(WalFault, SyncGoesThroughLowerSegmentsFirst) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 20, 600).ok());  // several segments, nothing synced
  ASSERT_GT(log_->SegmentEnds().size(), 2u);
  disk_->FailKind(CallKind::kSync, 2, Fault{.error_number = EIO, .sticky = true});
  EXPECT_FALSE(log_->Sync().ok());
  const std::vector<WalRecord> records = AfterPowerLoss();
  ASSERT_FALSE(records.empty()) << "the first segment was synced";
  EXPECT_LT(records.size(), 20u);
  EXPECT_EQ(log_->synced_sequence(), records.size());
}

TEST_F(WalFault, RefusedMemoryIsRefusedBeforeAnythingIsWritten) {
  const uint64_t calls = disk_->calls();
  FailBufferAllocation(1);
  EXPECT_EQ(AppendWal(log_.get(), 1, 1, 1 << 20).code(), absl::StatusCode::kResourceExhausted);
  FailBufferAllocation(0);
  EXPECT_EQ(disk_->calls(), calls);
  ASSERT_TRUE(AppendWal(log_.get(), 1, 1, 1 << 20).ok());
}

}  // namespace
}  // namespace stele::internal
