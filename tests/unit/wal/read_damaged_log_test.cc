// Tests AtDamage::kStop and kSkip: a damaged log is read up to the first damage, or around all of
// it. A record that was never appended is not read, no intact record is left out, and every record
// that is missing is in the range of a damage that the tail lists.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "io/file_names.h"
#include "io/mem_file_system.h"
#include "support/base_sanitized.h"
#include "support/wal_fixture.h"
#include "wal/log_format.h"

namespace stele::internal {
namespace {

constexpr uint64_t kRecordCount = 18;
constexpr uint64_t kSyncedCount = 14;
constexpr size_t kPayloadBytes = 400;

// Records 1 to 18 in three segments: 10, 20 and 30. Those up to 14 are known to be synced.
class ReadDamagedLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(files_.CreateDirectory("db"), absl::OkStatus());
    CommitLogOptions options = WalOptions(&files_, "db", nullptr);
    options.next_file_number = [number = uint64_t{0}]() mutable { return number += 10; };
    auto log = *CommitLog::Start(std::move(options), LogTail{});
    ASSERT_EQ(AppendWal(log.get(), 1, kSyncedCount, kPayloadBytes), absl::OkStatus());
    ASSERT_EQ(log->Sync(), absl::OkStatus());
    ASSERT_EQ(AppendWal(log.get(), kSyncedCount + 1, kRecordCount - kSyncedCount, kPayloadBytes),
              absl::OkStatus());
    for (const LogPosition& position : log->SegmentEnds())
      ends_[position.segment_number] = position.offset;
    ASSERT_EQ(ends_.size(), 3u);
  }

  static std::string PathOf(uint64_t number) { return JoinPath("db", SegmentName(number)); }
  std::string Bytes(uint64_t number) {
    auto file = *files_.Open(PathOf(number), OpenMode::kRead);
    std::string bytes(*file->Size(), '\0');
    EXPECT_EQ(*file->Read(0, bytes.size(), bytes.data()), bytes.size());
    return bytes;
  }
  void Put(uint64_t number, std::string_view bytes) {
    auto file = *files_.Open(PathOf(number), OpenMode::kCreate);
    ASSERT_EQ(file->Write(0, bytes), absl::OkStatus());
  }
  void Flip(uint64_t number, uint64_t offset, int bit) {
    auto file = *files_.Open(PathOf(number), OpenMode::kReadWrite);
    char byte = 0;
    ASSERT_EQ(*file->Read(offset, 1, &byte), 1u);
    byte = static_cast<char>(byte ^ (1 << bit));
    ASSERT_EQ(file->Write(offset, std::string_view(&byte, 1)), absl::OkStatus());
  }
  WalReplay Read(AtDamage at_damage, LogPosition end = {}) {
    return ReplayWal(&files_, "db", 10, at_damage, end);
  }
  // Returns "" or the first fault. `lost_max` is the number of synced records that may be missing.
  static std::string Judge(const WalReplay& replay, uint64_t lost_max);

  MemFileSystem files_;
  std::map<uint64_t, uint64_t> ends_;
};

std::string ReadDamagedLogTest::Judge(const WalReplay& replay, uint64_t lost_max) {
  if (!replay.status.ok()) return replay.status.ToString();
  std::set<uint64_t> read;
  for (const WalRecord& record : replay.records) {
    if (record.payload != WalPayload(record.sequence, kPayloadBytes))
      return fmt::format("record {} is not what was appended", record.sequence);
    if (!read.empty() && *read.rbegin() >= record.sequence)
      return fmt::format("record {} is out of order", record.sequence);
    read.insert(record.sequence);
  }
  uint64_t lost = 0;
  for (uint64_t sequence = 1; sequence <= kSyncedCount; ++sequence) {
    if (read.contains(sequence)) continue;
    ++lost;
    bool is_listed = false;
    for (const LogDamage& damage : replay.tail.damages)
      is_listed |= sequence > damage.last_sequence && sequence <= damage.lost_through;
    if (!is_listed) return fmt::format("the loss of record {} is not listed", sequence);
  }
  return lost <= lost_max ? "" : fmt::format("{} records are missing", lost);
}

TEST_F(ReadDamagedLogTest, AFlippedBitLosesAtMostItsRecord) {
  for (const auto& [number, end] : ends_) {
    for (uint64_t offset = number % 3; offset < end; offset += kReduced ? 7 : 1) {
      const int bit = static_cast<int>((offset + number) % 8);
      Flip(number, offset, bit);
      ASSERT_EQ(Judge(Read(AtDamage::kSkip), 1), "") << number << " @" << offset;
      const WalReplay before = Read(AtDamage::kStop);
      ASSERT_EQ(Judge(before, kSyncedCount), "") << number << " @" << offset;
      for (size_t i = 0; i < before.records.size(); ++i)
        ASSERT_EQ(before.records[i].sequence, i + 1) << number << " @" << offset;
      Flip(number, offset, bit);
    }
  }
}

TEST_F(ReadDamagedLogTest, TwoDamagedRecordsOfASegmentAreTwoDamages) {
  Flip(10, kFirstRecordOffset + 100, 1);
  Flip(10, kFirstRecordOffset + 3 * RecordBytes(kPayloadBytes) + 8, 2);
  const WalReplay replay = Read(AtDamage::kSkip);
  EXPECT_EQ(Judge(replay, 2), "");
  EXPECT_EQ(replay.records.size(), kRecordCount - 2);
  ASSERT_EQ(replay.tail.damages.size(), 2u);
  EXPECT_EQ(replay.tail.damages[0].file, SegmentName(10));
  EXPECT_EQ(replay.tail.damages[0].offset, kFirstRecordOffset);
}

// The first record of the last segment is damaged. Later ones prove that it was synced.
TEST_F(ReadDamagedLogTest, NothingFromTheGivenEndOnIsRead) {
  constexpr uint64_t kRecordBytes = RecordBytes(kPayloadBytes);
  const uint64_t before = (ends_[10] - kFirstRecordOffset) / kRecordBytes +
                          (ends_[20] - kFirstRecordOffset) / kRecordBytes;
  const uint64_t second = kFirstRecordOffset + kRecordBytes;
  Flip(30, kFirstRecordOffset + 100, 1);
  for (const uint64_t end :
       {second, second + 1, second + kRecordBytes, second + 2 * kRecordBytes}) {
    const WalReplay replay = Read(AtDamage::kSkip, {.segment_number = 30, .offset = end});
    ASSERT_EQ(replay.status, absl::OkStatus());
    EXPECT_EQ(replay.records.size(), before + (end - second) / kRecordBytes) << end;
  }
}

// The writer abandoned segment 15, whose first write failed, and went on in segment 20. Nothing
// proves that the records of segment 20 were synced.
TEST_F(ReadDamagedLogTest, AnAbandonedSegmentIsNotTheFirst) {
  std::string abandoned = Bytes(20);
  SegmentHeader header =
      *DecodeSegmentHeader(std::string_view(abandoned).substr(0, kSegmentHeaderBytes));
  ++header.nonce;
  header.segment_number = 15;
  EncodeSegmentHeader(header, abandoned.data());
  Put(15, abandoned);
  ASSERT_EQ(files_.Remove(PathOf(30)), absl::OkStatus());
  ASSERT_EQ(files_.Remove(PathOf(10)), absl::OkStatus());
  const uint64_t in_first = (ends_[10] - kFirstRecordOffset) / RecordBytes(kPayloadBytes);
  const uint64_t in_second = (ends_[20] - kFirstRecordOffset) / RecordBytes(kPayloadBytes);
  const WalReplay replay = Read(AtDamage::kSkip);
  ASSERT_EQ(replay.status, absl::OkStatus());
  ASSERT_EQ(replay.records.size(), in_second);
  EXPECT_EQ(replay.records.front().sequence, in_first + 1);
  ASSERT_GE(replay.tail.damages.size(), 1u);
  EXPECT_EQ(replay.tail.damages[0].file, SegmentName(10));
  EXPECT_EQ(replay.tail.damages[0].lost_through, in_first);
}

TEST_F(ReadDamagedLogTest, AnyMissingSegmentIsListed) {
  for (const uint64_t number : {uint64_t{10}, uint64_t{20}}) {
    const std::string bytes = Bytes(number);
    ASSERT_EQ(files_.Remove(PathOf(number)), absl::OkStatus());
    EXPECT_EQ(Judge(Read(AtDamage::kSkip), ends_[number] / RecordBytes(kPayloadBytes)), "");
    Put(number, bytes);
  }
}

}  // namespace
}  // namespace stele::internal
