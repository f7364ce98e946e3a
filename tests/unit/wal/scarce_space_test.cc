// Tests a log on a disk with little space, or under a limit of file sizes: it uses small segments,
// keeps no unused ones, and returns to normal when there is space.
#include <gtest/gtest.h>

#include <memory>

#include "support/crash_fs/crash_file_system.h"
#include "support/wal_fixture.h"

namespace stele::internal {
namespace {

constexpr uint64_t kSegmentBytes = uint64_t{1} << 20;
constexpr uint64_t kSmall = uint64_t{80} << 10;

class ScarceSpaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(disk_.CreateDirectory("db").ok());
    ASSERT_TRUE(disk_.SyncDirectory("").ok());
  }
  absl::Status Start(const LogTail& tail = {}) {
    CommitLogOptions options = WalOptions(&disk_, "db", &numbers_, kSegmentBytes);
    options.first_segment_bytes = kSegmentBytes;
    options.space_is_scarce = [this] { return is_scarce_; };
    absl::StatusOr<std::unique_ptr<CommitLog>> log = CommitLog::Start(options, tail);
    if (log.ok()) log_ = *std::move(log);
    return log.status();
  }

  bool is_scarce_ = true;
  CrashFileSystem disk_;
  WalNumbers numbers_;
  std::unique_ptr<CommitLog> log_;
};

TEST_F(ScarceSpaceTest, SegmentsAreSmall) {
  ASSERT_EQ(Start(), absl::OkStatus());
  EXPECT_LE(disk_.used_bytes(), kSmall);
  EXPECT_TRUE(log_->space_is_scarce());
  ASSERT_EQ(AppendWal(log_.get(), 1, 10, 20'000), absl::OkStatus());
  EXPECT_LE(disk_.used_bytes(), 200'000 + 2 * kSmall);
  EXPECT_EQ(log_->PrepareSpare(), absl::OkStatus());
  EXPECT_FALSE(log_->NeedsSpare());
  ASSERT_EQ(log_->Sync(), absl::OkStatus());
  ASSERT_EQ(log_->Release(10), absl::OkStatus());
  EXPECT_LE(disk_.used_bytes(), 2 * kSmall) << "what is released is not kept for later";
  EXPECT_EQ(
      ReplayWal(disk_.Crash(CrashPolicy::DropUnsynced(), 1).get(), "db", log_->oldest_segment())
          .status,
      absl::OkStatus());
}

TEST_F(ScarceSpaceTest, ARecordThatIsLargerGetsItsOwnSegment) {
  ASSERT_EQ(Start(), absl::OkStatus());
  ASSERT_EQ(AppendWal(log_.get(), 1, 1, 300'000), absl::OkStatus());
  EXPECT_LE(disk_.used_bytes(), 300'000 + 2 * kSmall);
}

TEST_F(ScarceSpaceTest, TheLastOfTheSpaceIsUsed) {
  disk_.SetCapacity(uint64_t{24} << 10);
  ASSERT_EQ(Start(), absl::OkStatus());
  EXPECT_EQ(AppendWal(log_.get(), 1, 2, 1000), absl::OkStatus());
  EXPECT_EQ(AppendWal(log_.get(), 3, 5, 2000), absl::OkStatus());
}

TEST_F(ScarceSpaceTest, WithRoomAgainSegmentsAreAsUsual) {
  ASSERT_EQ(Start(), absl::OkStatus());
  is_scarce_ = false;
  ASSERT_EQ(AppendWal(log_.get(), 1, 10, 20'000), absl::OkStatus());
  EXPECT_GE(disk_.used_bytes(), kSegmentBytes);
  EXPECT_FALSE(log_->space_is_scarce());
  EXPECT_TRUE(log_->NeedsSpare());
  EXPECT_EQ(log_->PrepareSpare(), absl::OkStatus());
  EXPECT_GE(disk_.used_bytes(), 2 * kSegmentBytes);
}

// Regression: if the usual size was refused, each record got its own segment, and so each took a
// file descriptor.
TEST_F(ScarceSpaceTest, UnderALimitOfFileSizesSegmentsAreAsLargeAsHalvingFinds) {
  is_scarce_ = false;
  disk_.SetFileBytesMax(uint64_t{300} << 10);
  ASSERT_EQ(Start(), absl::OkStatus());
  ASSERT_EQ(AppendWal(log_.get(), 1, 300, 1000), absl::OkStatus());
  EXPECT_LE(log_->SegmentEnds().size(), 3u) << "64 KiB, and two of 256 KiB";
  EXPECT_FALSE(log_->NeedsSpare()) << "none of the usual size can be made";
  EXPECT_EQ(log_->PrepareSpare(), absl::OkStatus());
  disk_.SetFileBytesMax(UINT64_MAX);
  ASSERT_EQ(AppendWal(log_.get(), 301, 1200, 1000), absl::OkStatus());
  EXPECT_LE(log_->SegmentEnds().size(), 5u) << "the next ones have 512 KiB and 1 MiB";
  EXPECT_TRUE(log_->NeedsSpare());
  ASSERT_EQ(log_->Close(), absl::OkStatus());
  const WalReplay replay = ReplayWal(&disk_, "db");
  EXPECT_EQ(replay.status, absl::OkStatus());
  EXPECT_EQ(replay.records.size(), 1500u);
}

TEST_F(ScarceSpaceTest, AfterALimitWasFoundASegmentCostsOneFailedAttempt) {
  is_scarce_ = false;
  disk_.SetFileBytesMax(uint64_t{128} << 10);
  ASSERT_EQ(Start(), absl::OkStatus());
  uint64_t sequence = 0;
  const auto calls_for_a_segment = [&] {
    const uint64_t before = disk_.calls();
    EXPECT_EQ(AppendWal(log_.get(), ++sequence, 1, 100'000), absl::OkStatus());
    return disk_.calls() - before;
  };
  // An attempt that fails creates a file, reserves its space and removes it. One that succeeds
  // creates the file and reserves its space, and the record is written.
  EXPECT_EQ(calls_for_a_segment(), 3u * 3 + 3) << "of 1 MiB, 512 KiB and 256 KiB";
  EXPECT_EQ(calls_for_a_segment(), 3u + 3);
  EXPECT_EQ(calls_for_a_segment(), 3u + 3);
}

TEST_F(ScarceSpaceTest, ManySmallSegmentsMakeTheLogTooLong) {
  ASSERT_EQ(Start(), absl::OkStatus());
  const uint64_t bytes_max = uint64_t{64} << 20;
  ASSERT_EQ(AppendWal(log_.get(), 1, 64, 60'000), absl::OkStatus());
  ASSERT_EQ(log_->SegmentEnds().size(), 64u);
  EXPECT_FALSE(log_->IsLongerThan(bytes_max));
  EXPECT_TRUE(log_->IsLongerThan(log_->bytes() - 1));
  ASSERT_EQ(AppendWal(log_.get(), 65, 1, 60'000), absl::OkStatus());
  EXPECT_TRUE(log_->IsLongerThan(bytes_max));
  ASSERT_EQ(log_->Sync(), absl::OkStatus());
  ASSERT_EQ(log_->Release(1), absl::OkStatus());
  EXPECT_FALSE(log_->IsLongerThan(bytes_max)) << "records that are released do not count";
  is_scarce_ = false;
  ASSERT_EQ(AppendWal(log_.get(), 66, 80, 600'000), absl::OkStatus());
  EXPECT_FALSE(log_->IsLongerThan(bytes_max)) << "these segments have the usual size";
}

TEST_F(ScarceSpaceTest, SparesOfAnEarlierSessionGoBeforeTheLogBegins) {
  is_scarce_ = false;
  ASSERT_EQ(Start(), absl::OkStatus());
  ASSERT_EQ(AppendWal(log_.get(), 1, 1, 1000), absl::OkStatus());
  ASSERT_EQ(log_->PrepareSpare(), absl::OkStatus());
  ASSERT_EQ(log_->Sync(), absl::OkStatus());
  log_.reset();
  const WalReplay replay = ReplayWal(&disk_, "db");
  ASSERT_EQ(replay.status, absl::OkStatus());
  ASSERT_EQ(replay.tail.spare_numbers.size(), 1u);
  const uint64_t used = disk_.used_bytes();
  disk_.SetCapacity(used);
  is_scarce_ = true;
  ASSERT_EQ(Start(replay.tail), absl::OkStatus());
  EXPECT_LE(disk_.used_bytes(), used - kSegmentBytes + kSmall);
}

}  // namespace
}  // namespace stele::internal
