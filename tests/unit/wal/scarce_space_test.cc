// Tests a log on a disk with little space: it uses small segments, keeps no unused ones, and
// returns to normal when there is space.
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
