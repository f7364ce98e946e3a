// Tests a log that finds no space for its first segment (CommitLogOptions::may_begin_later): it
// refuses records until there is space, goes on by itself, and no crash in between loses or revives
// a record (engine rules 18 and 20).
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "io/file_names.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/wal_fixture.h"

namespace stele::internal {
namespace {

constexpr uint64_t kRecords = 5;
constexpr size_t kRecordPayloadBytes = 100;

class BeginLaterTest : public ::testing::Test {
 protected:
  // Leaves a log with kRecords records that are not synced, on a disk without free space.
  void SetUp() override {
    ASSERT_TRUE(disk_->CreateDirectory("db").ok());
    ASSERT_TRUE(disk_->SyncDirectory("").ok());
    ASSERT_EQ(Start(/*may_begin_later=*/false), absl::OkStatus());
    ASSERT_EQ(AppendWal(log_.get(), 1, kRecords, kRecordPayloadBytes), absl::OkStatus());
    FillDisk();
  }

  // Opens the log as a new process does.
  absl::Status Start(bool may_begin_later = true) {
    const absl::Status recovered = Recover();
    return recovered.ok() ? Begin(may_begin_later) : recovered;
  }
  absl::Status Recover() {
    log_.reset();
    replay_ = ReplayWal(disk_.get(), "db");
    if (!replay_.status.ok()) return replay_.status;
    return SyncReplayedLog(
        {.file_system = disk_.get(), .directory = "db", .database_id = kWalDatabaseId},
        replay_.tail);
  }
  absl::Status Begin(bool may_begin_later) {
    numbers_ = std::make_unique<WalNumbers>();
    numbers_->SkipExisting(disk_.get(), "db");
    CommitLogOptions options = WalOptions(disk_.get(), "db", numbers_.get());
    options.may_begin_later = may_begin_later;
    options.space_is_scarce = [this] { return scarce_; };
    absl::StatusOr<std::unique_ptr<CommitLog>> log = CommitLog::Start(options, replay_.tail);
    if (log.ok()) log_ = *std::move(log);
    return log.status();
  }
  void FillDisk() { disk_->SetCapacity(disk_->used_bytes()); }
  void FreeDisk() { disk_->SetCapacity(UINT64_MAX); }
  // Continues with what a crash leaves.
  void Crash(const CrashPolicy& policy, uint64_t seed = 1) {
    std::unique_ptr<CrashFileSystem> image = disk_->Crash(policy, seed);
    log_.reset();
    disk_ = std::move(image);
  }
  absl::Status AppendOne(uint64_t sequence) {
    return AppendWal(log_.get(), sequence, 1, kRecordPayloadBytes);
  }
  std::vector<std::string> Names() {
    return disk_->List("db").value_or(std::vector<std::string>{});
  }

  // Returns the number of records if they are 1, 2, ... with their payloads.
  static uint64_t RecordCount(const WalReplay& replay) {
    EXPECT_EQ(replay.status, absl::OkStatus());
    for (size_t i = 0; i < replay.records.size(); ++i)
      EXPECT_EQ(replay.records[i], (WalRecord{i + 1, WalPayload(i + 1, kRecordPayloadBytes)}));
    return replay.records.size();
  }
  uint64_t CountAfter(const CrashPolicy& policy, uint64_t seed = 1) {
    return RecordCount(ReplayWal(disk_->Crash(policy, seed).get(), "db"));
  }

  std::unique_ptr<CrashFileSystem> disk_ = std::make_unique<CrashFileSystem>();
  std::unique_ptr<WalNumbers> numbers_;
  std::unique_ptr<CommitLog> log_;
  WalReplay replay_;
  bool scarce_ = true;
};

TEST_F(BeginLaterTest, WithoutSpaceRecordsAreRefusedAndNothingElseFails) {
  const std::vector<std::string> names = Names();
  for (int session = 0; session < 3; ++session) {
    ASSERT_EQ(Start(), absl::OkStatus());
    EXPECT_EQ(RecordCount(replay_), kRecords);
    EXPECT_TRUE(absl::IsResourceExhausted(AppendOne(kRecords + 1)));
    EXPECT_FALSE(log_->poisoned());
    EXPECT_EQ(log_->Sync(), absl::OkStatus());
    EXPECT_EQ(log_->last_sequence(), kRecords);
    EXPECT_EQ(log_->synced_sequence(), kRecords);
    EXPECT_EQ(log_->SegmentEnds().size(), 1u);
    EXPECT_EQ(log_->OldestSegmentAfter(kRecords), log_->oldest_segment());
    EXPECT_EQ(log_->Release(kRecords), absl::OkStatus());
    EXPECT_EQ(log_->PrepareSpare(), absl::OkStatus()) << "space is scarce";
    EXPECT_TRUE(absl::IsResourceExhausted(log_->Close()));
    EXPECT_EQ(Names(), names) << "no part of a segment stays";
    Crash(session == 0 ? CrashPolicy::KilledProcess() : CrashPolicy::DropUnsynced());
    FillDisk();
  }
}

TEST_F(BeginLaterTest, OnceThereIsSpaceTheLogGoesOn) {
  ASSERT_EQ(Start(), absl::OkStatus());
  ASSERT_TRUE(absl::IsResourceExhausted(AppendOne(kRecords + 1)));
  FreeDisk();
  ASSERT_EQ(AppendWal(log_.get(), kRecords + 1, 30, kRecordPayloadBytes), absl::OkStatus());
  EXPECT_EQ(CountAfter(CrashPolicy::KilledProcess()), kRecords + 30);
  EXPECT_EQ(CountAfter(CrashPolicy::DropUnsynced()), kRecords);
  for (uint64_t seed = 1; seed <= 40; ++seed)
    EXPECT_GE(CountAfter(CrashPolicy::Random(seed), seed), kRecords) << seed;
  ASSERT_EQ(log_->Sync(), absl::OkStatus());
  EXPECT_EQ(CountAfter(CrashPolicy::DropUnsynced()), kRecords + 30);
  EXPECT_EQ(log_->Close(), absl::OkStatus());
  ASSERT_EQ(Start(/*may_begin_later=*/false), absl::OkStatus());
  EXPECT_TRUE(replay_.tail.clean);
  EXPECT_EQ(RecordCount(replay_), kRecords + 30);
}

TEST_F(BeginLaterTest, AfterAProperCloseTheLogGoesOnToo) {
  FreeDisk();
  ASSERT_EQ(log_->Close(), absl::OkStatus());
  FillDisk();
  ASSERT_EQ(Start(), absl::OkStatus());
  EXPECT_TRUE(absl::IsResourceExhausted(log_->Close()));
  ASSERT_EQ(Start(), absl::OkStatus());
  EXPECT_TRUE(replay_.tail.clean) << "nothing was appended";
  FreeDisk();
  ASSERT_EQ(AppendOne(kRecords + 1), absl::OkStatus());
  ASSERT_EQ(Start(), absl::OkStatus());
  EXPECT_FALSE(replay_.tail.clean);
  EXPECT_EQ(RecordCount(replay_), kRecords + 1);
}

// Regression: the record was written to the new segment before anything of it was synced. A sync
// that found no space then poisoned the log.
TEST_F(BeginLaterTest, ASyncThatFindsNoSpaceRefusesTheRecord) {
  ASSERT_EQ(Start(), absl::OkStatus());
  const std::vector<std::string> names = Names();
  FreeDisk();
  for (const CallKind kind : {CallKind::kWrite, CallKind::kSync, CallKind::kSyncDirectory}) {
    disk_->FailKind(kind, 1, {.error_number = EDQUOT});
    EXPECT_TRUE(absl::IsResourceExhausted(AppendOne(kRecords + 1)));
    EXPECT_FALSE(log_->poisoned());
    EXPECT_EQ(log_->last_sequence(), kRecords);
    EXPECT_EQ(log_->SegmentEnds().size(), 1u);
    EXPECT_EQ(log_->Sync(), absl::OkStatus());
    EXPECT_EQ(Names(), names);
    EXPECT_EQ(CountAfter(CrashPolicy::KilledProcess()), kRecords);
    for (uint64_t seed = 1; seed <= 20; ++seed)
      EXPECT_EQ(CountAfter(CrashPolicy::Random(seed), seed), kRecords) << seed;
  }
  ASSERT_EQ(AppendOne(kRecords + 1), absl::OkStatus());
  ASSERT_EQ(log_->Sync(), absl::OkStatus());
  EXPECT_EQ(CountAfter(CrashPolicy::DropUnsynced()), kRecords + 1);
}

// A segment that could not be made durable stays if its removal fails, too.
TEST_F(BeginLaterTest, ASegmentThatFoundNoSpaceHoldsNoRecord) {
  ASSERT_EQ(Start(), absl::OkStatus());
  FreeDisk();
  disk_->FailKind(CallKind::kSync, 1, {.error_number = ENOSPC});
  disk_->FailKind(CallKind::kRemove, 1, {.error_number = EIO});
  EXPECT_TRUE(absl::IsResourceExhausted(AppendOne(kRecords + 1)));
  EXPECT_EQ(CountAfter(CrashPolicy::KilledProcess()), kRecords);
  ASSERT_EQ(AppendWal(log_.get(), kRecords + 1, 3, kRecordPayloadBytes), absl::OkStatus());
  ASSERT_EQ(log_->Sync(), absl::OkStatus());
  EXPECT_EQ(CountAfter(CrashPolicy::KilledProcess()), kRecords + 3);
  EXPECT_EQ(CountAfter(CrashPolicy::DropUnsynced()), kRecords + 3);
}

// The last record was torn. The segment that is made later names the end before it.
TEST_F(BeginLaterTest, ATornEndStaysBehindTheRecordsThatFollow) {
  const uint64_t torn = kFirstRecordOffset + (kRecords - 1) * RecordBytes(kRecordPayloadBytes);
  const std::string path = JoinPath("db", SegmentName(log_->oldest_segment()));
  ASSERT_EQ(disk_->FlipBit(path, torn + kRecordHeaderBytes, 1), absl::OkStatus());
  for (int session = 0; session < 2; ++session) {
    ASSERT_EQ(Start(), absl::OkStatus());
    EXPECT_EQ(RecordCount(replay_), kRecords - 1);
    EXPECT_GT(replay_.tail.discarded_bytes, 0u);
  }
  FreeDisk();
  ASSERT_EQ(AppendOne(kRecords), absl::OkStatus());
  ASSERT_EQ(log_->Sync(), absl::OkStatus());
  // The torn record is good again. It must not be read twice, or instead of the new one.
  ASSERT_EQ(disk_->FlipBit(path, torn + kRecordHeaderBytes, 1), absl::OkStatus());
  const WalReplay replay = ReplayWal(disk_.get(), "db");
  EXPECT_EQ(RecordCount(replay), kRecords);
  EXPECT_GT(replay.tail.segment_number, replay.tail.live_numbers.front());
}

TEST_F(BeginLaterTest, OnlyALackOfSpaceIsAccepted) {
  EXPECT_TRUE(absl::IsResourceExhausted(Start(/*may_begin_later=*/false)));
  for (const int error_number : {EIO, EACCES, EMFILE}) {
    disk_->FailKind(CallKind::kCreate, 1,
                    {.error_number = error_number, .sticky = true, .path_part = ".log"});
    EXPECT_FALSE(Start().ok()) << error_number;
    disk_->ClearFaults();
  }
  FreeDisk();
  disk_->FailKind(CallKind::kSyncDirectory, 2, {.error_number = ENOSPC});
  EXPECT_FALSE(Start().ok()) << "an error of a sync is final";
  disk_->ClearFaults();
  EXPECT_EQ(Start(), absl::OkStatus());
}

// Without any segment it would be unknown where the log begins.
TEST_F(BeginLaterTest, ANewLogNeedsASegment) {
  log_.reset();
  disk_ = std::make_unique<CrashFileSystem>();
  ASSERT_TRUE(disk_->CreateDirectory("db").ok());
  FillDisk();
  EXPECT_TRUE(absl::IsResourceExhausted(Start()));
  FreeDisk();
  EXPECT_EQ(Start(), absl::OkStatus());
}

// Some file systems find out only when the header is written. All of it may be on disk.
// Regression: if space was not known to be scarce, as under a quota, the file stayed.
TEST_F(BeginLaterTest, ASegmentWhoseHeaderFoundNoSpaceIsNotUsed) {
  for (const int round : {0, 1, 2, 3}) {
    const bool stays = round % 2 == 1;
    scarce_ = round < 2;
    const uint64_t header_write = scarce_ ? 1 : 2;  // else after that of the zeros
    const size_t name_count = Names().size();
    FreeDisk();
    ASSERT_EQ(Recover(), absl::OkStatus());
    const uint64_t count = RecordCount(replay_);
    disk_->FailKind(CallKind::kWrite, header_write, {.error_number = ENOSPC, .whole = true});
    if (stays) disk_->FailKind(CallKind::kRemove, 1, {.error_number = EIO});
    ASSERT_EQ(Begin(/*may_begin_later=*/true), absl::OkStatus());
    disk_->ClearFaults();
    EXPECT_EQ(log_->SegmentEnds().size(), replay_.tail.live_numbers.size());
    EXPECT_EQ(Names().size(), name_count + (stays ? 1 : 0));
    EXPECT_EQ(CountAfter(CrashPolicy::KilledProcess()), count);
    ASSERT_EQ(AppendOne(count + 1), absl::OkStatus());
    ASSERT_EQ(log_->Sync(), absl::OkStatus());
    EXPECT_EQ(CountAfter(CrashPolicy::KilledProcess()), count + 1);
    for (uint64_t seed = 1; seed <= 20; ++seed)
      EXPECT_EQ(CountAfter(CrashPolicy::Random(seed), seed), count + 1) << seed;
  }
}

// A session that finds no space, then space, then a crash at any of its calls. The next session
// finds no space either.
TEST_F(BeginLaterTest, ACrashAtAnyCallLosesNothingSynced) {
  const std::unique_ptr<CrashFileSystem> base = disk_->Crash(CrashPolicy::KilledProcess(), 1);
  bool completed = false;
  for (uint64_t call = 1; !completed; ++call) {
    ASSERT_LT(call, 200u);
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      log_.reset();
      disk_ = base->Crash(CrashPolicy::KilledProcess(), 1);
      FillDisk();
      disk_->SetCrashAtCall(call);
      uint64_t synced = kRecords;
      if (Start().ok()) {
        AppendOne(kRecords + 1).IgnoreError();
        FreeDisk();
        const absl::Status appended = AppendWal(log_.get(), kRecords + 1, 3, kRecordPayloadBytes);
        if (appended.ok() && log_->Sync().ok()) synced = kRecords + 3;
      }
      completed = !disk_->crashed();
      Crash(seed == 1   ? CrashPolicy::KilledProcess()
            : seed == 2 ? CrashPolicy::DropUnsynced()
                        : CrashPolicy::Random(seed * 1000 + call),
            seed);
      FillDisk();
      ASSERT_EQ(Start(), absl::OkStatus()) << "call " << call << " image " << seed;
      const uint64_t count = RecordCount(replay_);
      ASSERT_GE(count, synced) << "call " << call << " image " << seed;
      FreeDisk();
      ASSERT_EQ(AppendOne(count + 1), absl::OkStatus());
      ASSERT_EQ(log_->Sync(), absl::OkStatus());
      ASSERT_EQ(CountAfter(CrashPolicy::DropUnsynced()), count + 1)
          << "call " << call << " image " << seed;
    }
  }
}

}  // namespace
}  // namespace stele::internal
