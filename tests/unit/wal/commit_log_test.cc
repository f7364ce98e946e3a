// Tests for these failures: records lost, changed or reordered between Append and ReadLog; a
// released or recycled segment read again; wrong values that the engine relies on (oldest_segment,
// bytes, Parts).
#include "wal/commit_log.h"

#include <gtest/gtest.h>

#include "io/file_names.h"
#include "io/mem_file_system.h"
#include "support/wal_fixture.h"
#include "wal/log_format.h"

namespace stele::internal {
namespace {

class CommitLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(file_system_.CreateDirectory("db").ok());
    Open();
  }
  // Opens the log as a new process does: memory is lost, and written bytes are not.
  void Open(uint64_t oldest_segment = 0) {
    log_.reset();
    replay_ = ReplayWal(&file_system_, "db", oldest_segment);
    ASSERT_TRUE(replay_.status.ok()) << replay_.status;
    absl::StatusOr<std::unique_ptr<CommitLog>> log =
        CommitLog::Start(WalOptions(&file_system_, "db", &numbers_), replay_.tail);
    ASSERT_TRUE(log.ok()) << log.status();
    log_ = *std::move(log);
  }
  void ExpectReplayed(uint64_t first, uint64_t last, size_t payload_bytes) {
    ASSERT_EQ(replay_.records.size(), last - first + 1);
    for (uint64_t sequence = first; sequence <= last; ++sequence) {
      EXPECT_EQ(replay_.records[sequence - first],
                (WalRecord{sequence, WalPayload(sequence, payload_bytes)}));
    }
  }
  size_t FileCount() { return file_system_.List("db")->size(); }

  MemFileSystem file_system_;
  WalNumbers numbers_;
  std::unique_ptr<CommitLog> log_;
  WalReplay replay_;
};

TEST_F(CommitLogTest, NewLogIsEmpty) {
  EXPECT_EQ(log_->last_sequence(), 0u);
  EXPECT_EQ(log_->bytes(), 0u);
  Open();
  EXPECT_TRUE(replay_.records.empty());
  EXPECT_FALSE(replay_.tail.clean);
  EXPECT_EQ(replay_.tail.discarded_bytes, 0u);
}

TEST_F(CommitLogTest, RecordsOfEverySizeComeBackInOrder) {
  std::vector<std::string> payloads;
  for (size_t bytes = 0; bytes < 40; ++bytes)
    payloads.push_back(std::string(bytes, static_cast<char>('a' + bytes % 26)));
  payloads.push_back(std::string(100'000, 'x'));  // larger than a segment
  payloads.push_back("after");
  std::vector<LogRecord> group;
  for (size_t i = 0; i < payloads.size(); ++i) group.push_back({10 * (i + 1), payloads[i]});
  ASSERT_TRUE(log_->Append(group).ok());
  EXPECT_EQ(log_->last_sequence(), 10 * payloads.size());
  Open();
  ASSERT_EQ(replay_.records.size(), payloads.size());
  for (size_t i = 0; i < payloads.size(); ++i)
    EXPECT_EQ(replay_.records[i], (WalRecord{10 * (i + 1), payloads[i]}));
}

TEST_F(CommitLogTest, RotatesWithAndWithoutSpares) {
  ASSERT_TRUE(log_->PrepareSpare().ok());
  ASSERT_TRUE(log_->PrepareSpare().ok());
  EXPECT_FALSE(log_->NeedsSpare());
  ASSERT_TRUE(AppendWal(log_.get(), 1, 100, 600).ok());
  EXPECT_TRUE(log_->NeedsSpare());
  EXPECT_GT(log_->SegmentEnds().size(), 10u);
  Open();
  ExpectReplayed(1, 100, 600);
}

// If a log is synced only for flushes, writing zeros in advance would be wasted.
TEST_F(CommitLogTest, SparesAreMadeForThoseWhoSyncOften) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 30, 600).ok());
  EXPECT_FALSE(log_->SpareIsDue());
  ASSERT_TRUE(log_->Sync().ok());
  EXPECT_FALSE(log_->SpareIsDue());
  uint64_t next = 31;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(AppendWal(log_.get(), next++, 1, 10).ok());
    ASSERT_TRUE(log_->Sync().ok());
  }
  ASSERT_TRUE(log_->SpareIsDue());
  ASSERT_TRUE(log_->PrepareSpare().ok());
  // The active segment was only reserved. The next record goes to the recycled segment, and later
  // ones stay there.
  const LogPosition before = log_->SegmentEnds().back();
  ASSERT_TRUE(AppendWal(log_.get(), next++, 1, 10).ok());
  const LogPosition after = log_->SegmentEnds().back();
  EXPECT_GT(after.segment_number, before.segment_number);
  ASSERT_TRUE(AppendWal(log_.get(), next++, 1, 10).ok());
  EXPECT_EQ(log_->SegmentEnds().back().segment_number, after.segment_number);
  // A large sync does not mean that more will follow soon.
  ASSERT_TRUE(AppendWal(log_.get(), next, 30, 600).ok());
  ASSERT_TRUE(log_->Sync().ok());
  EXPECT_FALSE(log_->SpareIsDue());
  Open();
  EXPECT_EQ(replay_.records.size(), next + 29);
}

// A released segment is written already, so it is recycled at no cost.
TEST_F(CommitLogTest, ReleasedSegmentsBecomeSparesWhoeverSyncs) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 30, 600).ok());
  ASSERT_TRUE(log_->Sync().ok());
  ASSERT_FALSE(log_->SpareIsDue());
  ASSERT_TRUE(log_->Release(29).ok());
  EXPECT_TRUE(log_->SpareIsDue());
  ASSERT_TRUE(log_->PrepareSpare().ok());
}

TEST_F(CommitLogTest, AppendedBytesAreCountedAlsoAfterARelease) {
  EXPECT_EQ(log_->appended_bytes(), 0u);
  ASSERT_TRUE(AppendWal(log_.get(), 1, 30, 600).ok());
  EXPECT_EQ(log_->appended_bytes(), 30 * RecordBytes(600));
  ASSERT_TRUE(log_->Sync().ok());
  ASSERT_TRUE(log_->Release(30).ok());
  EXPECT_EQ(log_->bytes(), 0u);
  EXPECT_EQ(AppendWal(log_.get(), 30, 1, 600).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(log_->appended_bytes(), 30 * RecordBytes(600));
  Open();
  EXPECT_EQ(log_->appended_bytes(), 0u);
}

TEST_F(CommitLogTest, SequencesMustAscend) {
  ASSERT_TRUE(AppendWal(log_.get(), 5, 1, 10).ok());
  EXPECT_EQ(AppendWal(log_.get(), 5, 1, 10).code(), absl::StatusCode::kInvalidArgument);
  const LogRecord descending[] = {{7, "a"}, {6, "b"}};
  EXPECT_EQ(log_->Append(descending).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(log_->last_sequence(), 5u);
  Open();
  EXPECT_EQ(replay_.records.size(), 1u);
  EXPECT_EQ(AppendWal(log_.get(), 5, 1, 10).code(), absl::StatusCode::kInvalidArgument)
      << "also after a reopen";
}

TEST_F(CommitLogTest, SyncedSequenceFollowsSync) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 30, 600).ok());
  EXPECT_EQ(log_->synced_sequence(), 0u);
  ASSERT_TRUE(log_->Sync().ok());
  EXPECT_EQ(log_->synced_sequence(), 30u);
}

TEST_F(CommitLogTest, CloseMakesACleanEndAndTheNextStartGoesOn) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 3, 100).ok());
  ASSERT_TRUE(log_->Close().ok());
  Open();
  EXPECT_TRUE(replay_.tail.clean);
  ExpectReplayed(1, 3, 100);
  ASSERT_TRUE(AppendWal(log_.get(), 4, 2, 100).ok());
  Open();
  EXPECT_FALSE(replay_.tail.clean);
  ExpectReplayed(1, 5, 100);
}

TEST_F(CommitLogTest, ReleaseRecyclesAndOldBytesNeverComeBack) {
  uint64_t next = 1;
  uint64_t oldest = 0;
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(AppendWal(log_.get(), next, 10, 600).ok());
    next += 10;
    ASSERT_TRUE(log_->Sync().ok());
    oldest = log_->OldestSegmentAfter(next - 3);
    ASSERT_TRUE(log_->Release(next - 3).ok());
    EXPECT_EQ(log_->oldest_segment(), oldest);
    while (log_->NeedsSpare()) ASSERT_TRUE(log_->PrepareSpare().ok());
  }
  // Recycled files are full of valid records of earlier uses. The log must still end before them.
  EXPECT_LE(FileCount(), 6u);
  Open(oldest);
  ASSERT_FALSE(replay_.records.empty());
  EXPECT_EQ(replay_.records.back().sequence, next - 1);
  EXPECT_LE(replay_.records.front().sequence, next - 2);
  for (size_t i = 1; i < replay_.records.size(); ++i)
    EXPECT_EQ(replay_.records[i].sequence, replay_.records[i - 1].sequence + 1);
  EXPECT_EQ(replay_.tail.discarded_bytes, 0u);
}

TEST_F(CommitLogTest, ReleaseKeepsTheSegmentOfTheLastReleasedRecord) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 40, 600).ok());
  ASSERT_TRUE(log_->Sync().ok());
  const uint64_t oldest = log_->OldestSegmentAfter(40);
  ASSERT_TRUE(AppendWal(log_.get(), 41, 40, 600).ok());
  ASSERT_TRUE(log_->Sync().ok());
  ASSERT_TRUE(log_->Release(40).ok());
  EXPECT_EQ(log_->oldest_segment(), oldest) << "what was appended in between must not release more";
  Open(oldest);
  EXPECT_EQ(replay_.records.back().sequence, 80u);
  EXPECT_LE(replay_.records.front().sequence, 41u);
}

TEST_F(CommitLogTest, BytesCountWhatIsNotReleased) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 2, 24).ok());
  EXPECT_EQ(log_->bytes(), 2 * RecordBytes(24));
  ASSERT_TRUE(log_->Sync().ok());
  ASSERT_TRUE(log_->Release(2).ok());
  EXPECT_EQ(log_->bytes(), 0u);
}

TEST_F(CommitLogTest, SegmentEndsNameEveryRecordByte) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 20, 600).ok());
  ASSERT_TRUE(file_system_.CreateDirectory("copy").ok());
  for (const LogPosition& end : log_->SegmentEnds()) {
    std::string bytes(end.offset, '\0');
    auto from = file_system_.Open(JoinPath("db", SegmentName(end.segment_number)), OpenMode::kRead);
    ASSERT_EQ(*(*from)->Read(0, bytes.size(), bytes.data()), bytes.size());
    bytes.resize(4096);  // the first one was prepared with this size
    auto to =
        file_system_.Open(JoinPath("copy", SegmentName(end.segment_number)), OpenMode::kCreate);
    ASSERT_TRUE((*to)->Write(0, bytes).ok());
  }
  replay_ = ReplayWal(&file_system_, "copy");
  ASSERT_TRUE(replay_.status.ok()) << replay_.status;
  ExpectReplayed(1, 20, 600);
}

TEST_F(CommitLogTest, DumpNamesEveryRecord) {
  ASSERT_TRUE(AppendWal(log_.get(), 1, 2, 24).ok());
  ASSERT_TRUE(log_->Close().ok());
  const auto text = DumpSegment(&file_system_, JoinPath("db", SegmentName(log_->oldest_segment())));
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("@1024 record sequence=1 length=24"), std::string::npos) << *text;
  EXPECT_NE(text->find("@1104 record sequence=2 length=24"), std::string::npos) << *text;
  EXPECT_NE(text->find("@1184 end mark sequence=2"), std::string::npos) << *text;
}

}  // namespace
}  // namespace stele::internal
