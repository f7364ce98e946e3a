// Tests for three failures of a reader: it takes damage for the end of the log, so that synced
// records vanish without an error; it takes a torn tail for damage, so that a database does not
// open after a crash; or it returns a payload that was never appended.
// How: a small log of three segments is changed in every byte, cut at every length, and zeroed in
// every sector.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/coding.h"
#include "io/file_names.h"
#include "io/mem_file_system.h"
#include "support/base_sanitized.h"
#include "support/io_observed_file_system.h"
#include "support/wal_fixture.h"
#include "support/wal_guessed_headers.h"
#include "wal/log_format.h"

namespace stele::internal {
namespace {

using Files = std::map<uint64_t, std::string>;  // bytes by segment number

Files ReadFiles(FileSystem* file_system) {
  Files files;
  const std::vector<std::string> names = *file_system->List("db");
  for (const std::string& name : names) {
    auto file = *file_system->Open(JoinPath("db", name), OpenMode::kRead);
    std::string bytes(*file->Size(), '\0');
    EXPECT_EQ(*file->Read(0, bytes.size(), bytes.data()), bytes.size());
    files[ParseFileName(name)->number] = std::move(bytes);
  }
  return files;
}

WalReplay ReplayFiles(const Files& files, uint64_t oldest_segment = 0) {
  MemFileSystem file_system;
  EXPECT_TRUE(file_system.CreateDirectory("db").ok());
  for (const auto& [number, bytes] : files) {
    auto file = *file_system.Open(JoinPath("db", SegmentName(number)), OpenMode::kCreate);
    EXPECT_TRUE(file->Write(0, bytes).ok());
  }
  return ReplayWal(&file_system, "db", oldest_segment);
}

// Records 1..18 in three segments. Records up to `synced` are before an offset that a later record
// or header declares durable.
class LogDamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    MemFileSystem file_system;
    ASSERT_TRUE(file_system.CreateDirectory("db").ok());
    WalNumbers numbers;
    auto log = *CommitLog::Start(WalOptions(&file_system, "db", &numbers), LogTail{});
    ASSERT_TRUE(log->PrepareSpare().ok());
    ASSERT_TRUE(log->PrepareSpare().ok());
    ASSERT_TRUE(AppendWal(log.get(), 1, known_synced_, 400).ok());
    ASSERT_TRUE(log->Sync().ok());
    ASSERT_TRUE(AppendWal(log.get(), known_synced_ + 1, last_ - known_synced_, 400).ok());
    for (const LogPosition& position : log->SegmentEnds())
      ends_[position.segment_number] = position.offset;
    ASSERT_EQ(ends_.size(), 3u);
    log.reset();
    files_ = ReadFiles(&file_system);
    ASSERT_EQ(files_.size(), 3u);
  }
  uint64_t LastNumber() const { return ends_.rbegin()->first; }
  // The offset, in the last segment, of the first record that is not known durable.
  uint64_t UnsyncedOffset() const {
    return ends_.at(LastNumber()) - (last_ - known_synced_) * RecordBytes(400);
  }

  // Checks the result of a replay after damage at `offset` of segment `number`. Returns "" or the
  // fault.
  std::string Judge(const WalReplay& replay, uint64_t number, uint64_t offset) const {
    for (size_t i = 0; i < replay.records.size(); ++i) {
      if (replay.records[i] != WalRecord{i + 1, WalPayload(i + 1, 400)})
        return fmt::format("record {} is not what was appended", i + 1);
    }
    if (replay.status.code() == absl::StatusCode::kDataLoss) return "";
    if (!replay.status.ok())
      return fmt::format("neither OK nor DataLoss but code {}",
                         static_cast<int>(replay.status.code()));
    if (replay.records.size() == last_) {
      return offset < ends_.at(number) && offset >= kFirstRecordOffset
                 ? "a changed record byte was not noticed"
                 : "";
    }
    if (replay.records.size() < known_synced_)
      return fmt::format("{} of {} known-synced records, and no DataLoss", replay.records.size(),
                         known_synced_);
    return number == LastNumber() && offset >= UnsyncedOffset()
               ? ""
               : "the log ends early though what is missing is known to be synced";
  }

  const uint64_t known_synced_ = 14;
  const uint64_t last_ = 18;
  Files files_;
  std::map<uint64_t, uint64_t> ends_;
};

TEST_F(LogDamageTest, UndamagedIsWhole) {
  const WalReplay replay = ReplayFiles(files_);
  ASSERT_TRUE(replay.status.ok()) << replay.status;
  EXPECT_EQ(replay.records.size(), last_);
  EXPECT_EQ(replay.tail.discarded_bytes, 0u);
  EXPECT_EQ(replay.tail.synced_end, (LogPosition{LastNumber(), UnsyncedOffset()}));
}

TEST_F(LogDamageTest, EveryFlippedBitIsDetectedOrHarmless) {
  uint64_t detected = 0;
  uint64_t shortened = 0;
  constexpr uint64_t kStride = kReduced ? 5 : 1;
  for (auto& [number, bytes] : files_) {
    for (uint64_t offset = 0; offset < bytes.size(); offset += kStride) {
      const char bit = static_cast<char>(1 << (offset * 7 + number) % 8);
      bytes[offset] ^= bit;
      const WalReplay replay = ReplayFiles(files_, 1);
      ASSERT_EQ(Judge(replay, number, offset), "") << number << " @" << offset;
      detected += replay.status.ok() ? 0 : 1;
      shortened += replay.status.ok() && replay.records.size() < last_ ? 1 : 0;
      bytes[offset] ^= bit;
    }
  }
  // Damage is detected in every byte of the known durable records and in no other. With a stride,
  // each of the three ranges may be off by one.
  const uint64_t slack = kReduced ? 3 : 0;
  EXPECT_NEAR(static_cast<double>(detected),
              static_cast<double>(known_synced_ * RecordBytes(400) / kStride),
              static_cast<double>(slack));
  EXPECT_NEAR(static_cast<double>(shortened),
              static_cast<double>((last_ - known_synced_) * RecordBytes(400) / kStride),
              static_cast<double>(slack));
}

TEST_F(LogDamageTest, EveryBitOfAnAttestedRecordAndOfTheHeaders) {
  std::string& bytes = files_[LastNumber()];
  for (uint64_t offset = 0; offset < kFirstRecordOffset + RecordBytes(400); ++offset) {
    for (int bit = kReduced ? static_cast<int>(offset % 4) : 0; bit < 8; bit += kReduced ? 4 : 1) {
      bytes[offset] ^= static_cast<char>(1 << bit);
      const WalReplay replay = ReplayFiles(files_, 1);
      ASSERT_EQ(replay.status.ok(), offset < kFirstRecordOffset) << offset << " bit " << bit;
      ASSERT_EQ(Judge(replay, LastNumber(), offset), "") << offset << " bit " << bit;
      bytes[offset] ^= static_cast<char>(1 << bit);
    }
  }
}

TEST_F(LogDamageTest, EverySectorZeroedOrFilled) {
  for (const char fill : {'\0', '\xff'}) {
    for (auto& [number, bytes] : files_) {
      const std::string original = bytes;
      for (uint64_t offset = 0; offset < bytes.size(); offset += 512) {
        bytes.replace(offset, 512, 512, fill);
        const WalReplay replay = ReplayFiles(files_, 1);
        // A sector of the last segment may extend beyond the last known durable record. Its first
        // byte counts.
        ASSERT_EQ(Judge(replay, number, offset), "") << number << " @" << offset;
        bytes = original;
      }
    }
  }
}

TEST_F(LogDamageTest, EveryTruncationOfAPreparedSegmentIsDetected) {
  for (auto& [number, bytes] : files_) {
    const std::string original = bytes;
    for (uint64_t length = 0; length < original.size(); ++length) {
      bytes = original.substr(0, length);
      const WalReplay replay = ReplayFiles(files_, 1);
      // Without a whole header the last segment was never started, so nothing after it declares
      // data durable.
      const bool unnoticed = number == LastNumber() && length < kSegmentHeaderBytes;
      ASSERT_EQ(replay.status.code(),
                unnoticed ? absl::StatusCode::kOk : absl::StatusCode::kDataLoss)
          << number << " cut to " << length;
    }
    bytes = original;
  }
}

TEST_F(LogDamageTest, EveryTornTailEndsTheLogAndIsCounted) {
  std::string& bytes = files_[LastNumber()];
  const uint64_t end = ends_[LastNumber()];
  for (uint64_t offset = UnsyncedOffset(); offset < end; ++offset) {
    const std::string original = bytes;
    std::fill(bytes.begin() + static_cast<ptrdiff_t>(offset),
              bytes.begin() + static_cast<ptrdiff_t>(end), '\0');
    const WalReplay replay = ReplayFiles(files_, 1);
    ASSERT_TRUE(replay.status.ok()) << offset << replay.status;
    const uint64_t whole = (offset - UnsyncedOffset()) / RecordBytes(400);
    ASSERT_GE(replay.records.size(), known_synced_ + whole);
    ASSERT_LE(replay.records.size(), known_synced_ + whole + 1)
        << "one more when only zeros were cut";
    ASSERT_EQ(replay.tail.end_offset,
              UnsyncedOffset() + (replay.records.size() - known_synced_) * RecordBytes(400));
    ASSERT_LE(replay.tail.discarded_bytes, RecordBytes(400));
    bytes = original;
  }
}

TEST_F(LogDamageTest, UnattestedRecordsBehindABadOneAreDiscardedAndCounted) {
  files_[LastNumber()][UnsyncedOffset() + 100] ^= 1;
  const WalReplay replay = ReplayFiles(files_, 1);
  ASSERT_TRUE(replay.status.ok()) << replay.status;
  EXPECT_EQ(replay.records.size(), known_synced_);
  EXPECT_EQ(replay.tail.discarded_bytes, (last_ - known_synced_) * RecordBytes(400));
}

// For a person who inspects a damaged log: every valid record, and the places of the others.
TEST_F(LogDamageTest, TheDumpGoesOnPastDamage) {
  MemFileSystem file_system;
  std::string bytes = files_[1];
  const std::string path = SegmentName(1);
  auto file = *file_system.Open(path, OpenMode::kCreate);
  for (uint64_t offset = kFirstRecordOffset; offset < kFirstRecordOffset + RecordBytes(400);
       offset += 3) {
    bytes[offset] ^= 1;
    ASSERT_TRUE(file->Write(0, bytes).ok());
    const absl::StatusOr<std::string> text = DumpSegment(&file_system, path);
    ASSERT_TRUE(text.ok()) << text.status();
    ASSERT_EQ(text->find("sequence=1 length"), std::string::npos) << *text;
    ASSERT_NE(text->find("@1024 no good record for 456 bytes"), std::string::npos) << *text;
    ASSERT_NE(text->find("sequence=2 length=400"), std::string::npos) << *text;
    bytes[offset] ^= 1;
  }
}

TEST_F(LogDamageTest, AMissingSegmentIsDetected) {
  for (const auto& [number, end] : ends_) {
    if (number == LastNumber()) continue;
    Files files = files_;
    files.erase(number);
    EXPECT_EQ(ReplayFiles(files, 1).status.code(), absl::StatusCode::kDataLoss) << number;
  }
  EXPECT_EQ(ReplayFiles({}, 1).status.code(), absl::StatusCode::kDataLoss)
      << "an empty directory is not an empty log";
}

TEST_F(LogDamageTest, ExchangedFilesAreDetected) {
  Files files = files_;
  std::swap(files[1], files[2]);
  EXPECT_EQ(ReplayFiles(files, 1).status.code(), absl::StatusCode::kDataLoss);
}

TEST_F(LogDamageTest, ARecordCopiedElsewhereIsNotTaken) {
  // Copies the bytes of record 15 after the last record: same segment and nonce, but another
  // offset.
  std::string& bytes = files_[LastNumber()];
  bytes.replace(ends_[LastNumber()], RecordBytes(400),
                bytes.substr(UnsyncedOffset(), RecordBytes(400)));
  const WalReplay replay = ReplayFiles(files_, 1);
  ASSERT_TRUE(replay.status.ok());
  EXPECT_EQ(replay.records.size(), last_);
}

TEST_F(LogDamageTest, AnotherDatabasesSegmentsAreNotRead) {
  for (auto& [number, bytes] : files_) {
    SegmentHeader header =
        *DecodeSegmentHeader(std::string_view(bytes).substr(0, kSegmentHeaderBytes));
    header.database_id ^= 1;
    EncodeSegmentHeader(header, bytes.data());
  }
  const WalReplay replay = ReplayFiles(files_);
  ASSERT_TRUE(replay.status.ok());
  EXPECT_TRUE(replay.records.empty());
  EXPECT_EQ(replay.tail.spare_numbers.size(), 3u);
}

// Also of a log of version 1, whose records had another layout: its records are not damaged.
TEST_F(LogDamageTest, AnotherFormatVersionIsRefusedWithBothVersions) {
  std::string& bytes = files_[LastNumber()];
  for (const uint32_t version : {1u, 7u}) {
    SegmentHeader header =
        *DecodeSegmentHeader(std::string_view(bytes).substr(0, kSegmentHeaderBytes));
    header.format_version = version;
    EncodeSegmentHeader(header, bytes.data());
    const WalReplay replay = ReplayFiles(files_, 1);
    EXPECT_EQ(replay.status.code(), absl::StatusCode::kUnimplemented);
    const std::string text = replay.status.ToString();
    EXPECT_NE(text.find(fmt::format("log format version {}", version)), std::string::npos) << text;
    EXPECT_NE(text.find("version 2"), std::string::npos) << text;
    EXPECT_EQ(text.find("older") != std::string::npos, version == 1) << text;
  }
}

TEST(LogEndMark, DamageBelowAnEndMarkIsDataLoss) {
  MemFileSystem file_system;
  ASSERT_TRUE(file_system.CreateDirectory("db").ok());
  WalNumbers numbers;
  auto log = *CommitLog::Start(WalOptions(&file_system, "db", &numbers), LogTail{});
  ASSERT_TRUE(AppendWal(log.get(), 1, 3, 50).ok());
  ASSERT_TRUE(log->Close().ok());
  const uint64_t end = log->SegmentEnds().back().offset - RecordBytes(0);
  Files files = ReadFiles(&file_system);
  for (uint64_t offset = kFirstRecordOffset; offset < end; ++offset) {
    files.begin()->second[offset] ^= 4;
    ASSERT_EQ(ReplayFiles(files).status.code(), absl::StatusCode::kDataLoss) << offset;
    files.begin()->second[offset] ^= 4;
  }
}

// The records of a full segment are synced. Only the next segment's header says so.
TEST(LogHeaderAttests, WhatWasSyncedBeforeTheNextSegmentBegan) {
  MemFileSystem file_system;
  ASSERT_TRUE(file_system.CreateDirectory("db").ok());
  WalNumbers numbers;
  auto log = *CommitLog::Start(WalOptions(&file_system, "db", &numbers), LogTail{});
  ASSERT_TRUE(AppendWal(log.get(), 1, 3, 400).ok());
  ASSERT_TRUE(log->Sync().ok());
  ASSERT_TRUE(AppendWal(log.get(), 4, 1, 3000).ok());
  ASSERT_EQ(log->SegmentEnds().size(), 2u);
  Files files = ReadFiles(&file_system);
  files.begin()->second[kFirstRecordOffset + 2 * RecordBytes(400) + 50] ^= 1;
  const WalReplay replay = ReplayFiles(files);
  EXPECT_EQ(replay.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(replay.status.ToString().find("000001.log @1936"), std::string::npos) << replay.status;
}

TEST(LogRecordChecksum, IsBoundToSegmentLifeAndPlace) {
  std::string bytes(RecordBytes(5), '\0');
  const RecordPlace place{3, 77, 2048};
  EncodeRecord(RecordHeader{}, "hello", place, bytes.data());
  EXPECT_TRUE(DecodeRecordHeader(bytes, place, 1 << 20).has_value());
  EXPECT_TRUE(PayloadChecksumMatches(bytes, place));
  for (const RecordPlace& other : {RecordPlace{3, 77, 2056}, RecordPlace{3, 78, 2048}}) {
    EXPECT_FALSE(DecodeRecordHeader(bytes, other, 1 << 20).has_value());
    EXPECT_FALSE(PayloadChecksumMatches(bytes, other));
  }
  EXPECT_FALSE(DecodeRecordHeader(bytes, {4, 77, 2048}, 1 << 20).has_value());
}

// Recovery compares the manifest with the position that records state. The greatest position
// counts.
TEST(LogManifestReach, IsInEveryRecordAndFoundAgain) {
  MemFileSystem file_system;
  ASSERT_TRUE(file_system.CreateDirectory("db").ok());
  WalNumbers numbers;
  CommitLogOptions options = WalOptions(&file_system, "db", &numbers);
  SyncedManifestEnd manifest_end;
  options.synced_manifest_end = [&manifest_end] { return manifest_end; };
  auto log = *CommitLog::Start(options, LogTail{});
  const auto found = [&] { return ReplayWal(&file_system, "db").tail.synced_manifest_end; };
  uint64_t sequence = 0;
  for (const SyncedManifestEnd& next :
       {SyncedManifestEnd{}, {7, 100}, {7, 101}, {9, 5}, {UINT32_MAX, UINT32_MAX}}) {
    manifest_end = next;
    ASSERT_TRUE(AppendWal(log.get(), ++sequence, 1, 10).ok());
    EXPECT_EQ(found(), next);
  }
  for (const SyncedManifestEnd& unknown :
       {SyncedManifestEnd{uint64_t{1} << 32, 5}, {5, uint64_t{1} << 32}}) {
    manifest_end = unknown;
    ASSERT_TRUE(AppendWal(log.get(), ++sequence, 1, 10).ok());
    EXPECT_EQ(found(), (SyncedManifestEnd{UINT32_MAX, UINT32_MAX})) << "neither stored nor cut";
  }
}

// A record that is valid alone must also continue the record before it, not another one at its
// place.
TEST(LogRecordChecksum, OfTheRecordBeforeIsInTheNext) {
  MemFileSystem file_system;
  ASSERT_TRUE(file_system.CreateDirectory("db").ok());
  WalNumbers numbers;
  auto log = *CommitLog::Start(WalOptions(&file_system, "db", &numbers), LogTail{});
  ASSERT_TRUE(AppendWal(log.get(), 1, 3, 100).ok());
  log.reset();
  Files files = ReadFiles(&file_system);
  ASSERT_EQ(ReplayFiles(files).records.size(), 3u);
  std::string& bytes = files.begin()->second;
  const auto segment = DecodeSegmentHeader(std::string_view(bytes).substr(0, kSegmentHeaderBytes));
  ASSERT_TRUE(segment.has_value());
  const RecordPlace place{segment->segment_number, segment->nonce,
                          kFirstRecordOffset + RecordBytes(100)};
  const auto second = DecodeRecordHeader(
      std::string_view(bytes).substr(place.offset, kRecordHeaderBytes), place, bytes.size());
  ASSERT_TRUE(second.has_value());
  EncodeRecord(*second, std::string(100, 'x'), place, bytes.data() + place.offset);
  const WalReplay replay = ReplayFiles(files);
  EXPECT_EQ(replay.status, absl::OkStatus());
  ASSERT_EQ(replay.records.size(), 2u) << "the third does not follow this one";
  EXPECT_EQ(replay.records[1].payload, std::string(100, 'x'));
}

// A segment follows exactly the record that its header names, not another one of the same size.
TEST(LogRecordChecksum, OfASegmentsLastRecordIsInTheNextHeader) {
  MemFileSystem file_system;
  ASSERT_TRUE(file_system.CreateDirectory("db").ok());
  WalNumbers numbers;
  auto log = *CommitLog::Start(WalOptions(&file_system, "db", &numbers), LogTail{});
  uint64_t sequence = 0;
  while (log->SegmentEnds().size() < 2) ASSERT_TRUE(AppendWal(log.get(), ++sequence, 1, 400).ok());
  log.reset();
  Files files = ReadFiles(&file_system);
  ASSERT_EQ(ReplayFiles(files).tail.live_numbers.size(), 2u);
  std::string& bytes = files.begin()->second;
  const auto segment = DecodeSegmentHeader(std::string_view(bytes).substr(0, kSegmentHeaderBytes));
  ASSERT_TRUE(segment.has_value());
  const RecordPlace place{segment->segment_number, segment->nonce,
                          kFirstRecordOffset + (sequence - 2) * RecordBytes(400)};
  const auto last = DecodeRecordHeader(
      std::string_view(bytes).substr(place.offset, kRecordHeaderBytes), place, bytes.size());
  ASSERT_TRUE(last.has_value() && last->sequence == sequence - 1);
  EncodeRecord(*last, std::string(400, 'x'), place, bytes.data() + place.offset);
  const WalReplay replay = ReplayFiles(files);
  ASSERT_EQ(replay.records.size(), sequence - 1);
  EXPECT_EQ(replay.tail.segment_number, segment->segment_number)
      << "the next segment does not follow this record";
}

// Returns the bytes of a segment that was started and has no record.
std::string BegunSegment(uint64_t* number) {
  MemFileSystem file_system;
  EXPECT_TRUE(file_system.CreateDirectory("db").ok());
  WalNumbers numbers;
  auto log = *CommitLog::Start(WalOptions(&file_system, "db", &numbers), LogTail{});
  log.reset();
  const Files files = ReadFiles(&file_system);
  *number = files.begin()->first;
  return files.begin()->second.substr(0, kFirstRecordOffset);
}

// A client can write anything except the nonce. Its bytes are after the end of a recycled segment's
// data.
TEST(LogSearch, GuessedRecordHeadersAreNeitherDamageNorDiscardedRecords) {
  uint64_t number = 0;
  const std::string begun = BegunSegment(&number);
  for (const size_t shift_bytes : {0, 1, 4, 7}) {
    const std::string guessed = GuessedRecordHeaders({.first_segment = number,
                                                      .segment_count = 1,
                                                      .payload_bytes = 4 << 20,
                                                      .value_bytes = 8 << 20,
                                                      .shift_bytes = shift_bytes});
    const WalReplay replay = ReplayFiles({{number, begun + guessed}});
    EXPECT_EQ(replay.status, absl::OkStatus());
    EXPECT_EQ(replay.tail.discarded_bytes, 0u);
    EXPECT_EQ(replay.tail.end_offset, kFirstRecordOffset);
  }
}

// A user stores the log of another database, or an earlier log of this one, as a value.
TEST(LogSearch, CopiesOfAnotherSegmentAreNoRecords) {
  uint64_t number = 0;
  uint64_t other_number = 0;
  const std::string begun = BegunSegment(&number);
  std::string other = BegunSegment(&other_number);
  ASSERT_EQ(number, other_number);
  const auto other_header =
      DecodeSegmentHeader(std::string_view(other).substr(0, kSegmentHeaderBytes));
  const auto header = DecodeSegmentHeader(std::string_view(begun).substr(0, kSegmentHeaderBytes));
  ASSERT_TRUE(header.has_value() && other_header.has_value());
  ASSERT_NE(header->nonce, other_header->nonce);
  std::string record(RecordBytes(400), '\0');
  for (uint64_t sequence = 1; sequence <= 20; ++sequence) {
    const RecordHeader later{.sequence = sequence, .synced_offset = other.size()};
    EncodeRecord(later, WalPayload(sequence, 400), {number, other_header->nonce, other.size()},
                 record.data());
    other += record;
  }
  const WalReplay replay = ReplayFiles({{number, begun + other.substr(kFirstRecordOffset)}});
  EXPECT_EQ(replay.status, absl::OkStatus());
  EXPECT_EQ(replay.records.size(), 0u);
  EXPECT_EQ(replay.tail.discarded_bytes, 0u);
}

// Headers as only a damaged disk or a forger makes them: each is valid alone, with a long and wrong
// payload.
TEST(LogSearch, RecordsWithWrongPayloadsCostTheirLengthOnce) {
  uint64_t number = 0;
  std::string bytes = BegunSegment(&number);
  const auto segment = DecodeSegmentHeader(std::string_view(bytes).substr(0, kSegmentHeaderBytes));
  ASSERT_TRUE(segment.has_value());
  constexpr uint64_t kFileBytes = 8 << 20;
  constexpr uint64_t kStrideBytes = 64 << 10;
  bytes.resize(kFileBytes);
  const std::string payload(kFileBytes / 2, 'p');
  std::string record(RecordBytes(payload.size()), '\0');
  for (uint64_t offset = kFirstRecordOffset; offset + record.size() <= kFileBytes;
       offset += kStrideBytes) {
    EncodeRecord({.sequence = 9}, payload, {number, segment->nonce, offset}, record.data());
    bytes.replace(offset, kRecordHeaderBytes, record, 0, kRecordHeaderBytes);
  }
  MemFileSystem memory;
  ASSERT_TRUE(memory.CreateDirectory("db").ok());
  ASSERT_TRUE(
      (*memory.Open(JoinPath("db", SegmentName(number)), OpenMode::kCreate))->Write(0, bytes).ok());
  ObservedFileSystem observed(&memory, [](CallKind, const std::string&) {});
  const WalReplay replay = ReplayWal(&observed, "db");
  EXPECT_EQ(replay.status, absl::OkStatus());
  EXPECT_EQ(replay.records.size(), 0u);
  EXPECT_LT(observed.bytes_read(), 4 * kFileBytes);
}

// A record after a torn one is found, and so is the offset that it declares durable.
TEST(LogSearch, FindsTheRecordBehindATornOne) {
  uint64_t number = 0;
  const std::string begun = BegunSegment(&number);
  const auto segment = DecodeSegmentHeader(std::string_view(begun).substr(0, kSegmentHeaderBytes));
  ASSERT_TRUE(segment.has_value());
  std::string first(RecordBytes(3000), '\0');
  std::string second(RecordBytes(400), '\0');
  const uint64_t second_offset = kFirstRecordOffset + first.size();
  EncodeRecord({.sequence = 1}, WalPayload(1, 3000), {number, segment->nonce, kFirstRecordOffset},
               first.data());
  const RecordHeader later{.sequence = 2, .synced_offset = second_offset};
  EncodeRecord(later, WalPayload(2, 400), {number, segment->nonce, second_offset}, second.data());
  for (size_t torn = 0; torn < first.size(); torn += 100) {
    std::string bytes = begun + first + second;
    const size_t torn_bytes = std::min<size_t>(100, first.size() - torn);
    bytes.replace(kFirstRecordOffset + torn, torn_bytes, torn_bytes, 'x');
    EXPECT_EQ(ReplayFiles({{number, bytes}}).status.code(), absl::StatusCode::kDataLoss) << torn;
  }
}

}  // namespace
}  // namespace stele::internal
