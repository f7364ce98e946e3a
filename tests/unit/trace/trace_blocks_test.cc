// Tests for failures of the reader of binary traces: it returns a record that was never recorded,
// it loses the blocks after a damaged one, or hostile bytes make it take memory or time without
// bound.
#include "trace/trace_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/checksum.h"
#include "base/coding.h"
#include "support/trace_testing.h"
#include "trace/trace_encoding.h"

namespace stele::internal {
namespace {

constexpr TraceCounts kCounts = {.operations = 9, .recorded = 7, .dropped = 2};

// Three blocks of records and a summary. `begins` gets the offsets of the blocks.
std::string SmallTrace(std::vector<size_t>* begins = nullptr) {
  const TraceHeader header = FixedTraceHeader();
  std::string file = EncodeTraceHeader(header);
  const auto note = [&] {
    if (begins != nullptr) begins->push_back(file.size());
  };
  note();
  AppendRecords(header, {FullTraceRecord(0), GetTraceRecord(1)}, &file);
  note();
  AppendRecords(header, {GetTraceRecord(2)}, &file);
  note();
  AppendRecords(header, {GetTraceRecord(3), GetTraceRecord(4), GetTraceRecord(5)}, &file);
  note();
  AppendSummary(header, kCounts, &file);
  note();
  return file;
}

std::vector<TraceRecord> SmallRecords() {
  std::vector<TraceRecord> records = {FullTraceRecord(0)};
  for (uint64_t i = 1; i <= 5; ++i) records.push_back(GetTraceRecord(i));
  return records;
}

// Fails if `read` has a record that the small trace does not have, or has one twice.
void ExpectOnlyKnown(const std::vector<TraceRecord>& read) {
  const std::vector<TraceRecord> known = SmallRecords();
  auto next = known.begin();
  for (const TraceRecord& record : read) {
    next = std::find(next, known.end(), record);
    ASSERT_NE(next, known.end()) << "an invented record";
    ++next;
  }
}

TEST(TraceBlocksTest, ReadsWhatWasWritten) {
  for (const size_t step : {1, 7, 100'000}) {
    const auto read = ReadTraceBytes(SmallTrace(), step);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->records, SmallRecords());
    EXPECT_EQ(read->damaged, 0u);
    EXPECT_TRUE(read->is_complete);
    EXPECT_EQ(read->counts.operations, 9u);
    EXPECT_EQ(read->counts.recorded, 7u);
    EXPECT_EQ(read->counts.dropped, 2u);
    EXPECT_FALSE(read->counts.stopped_at_limit);
  }
}

// Each member alone, so that no bit means another member.
TEST(TraceBlocksTest, EveryMemberIsKeptAlone) {
  const TraceRecord full = FullTraceRecord(7);
  TraceRecord empty;
  empty.micros = 0;
  std::vector<TraceRecord> records = {empty};
  const auto with = [&](auto member) {
    TraceRecord record = empty;
    record.*member = full.*member;
    records.push_back(record);
  };
  with(&TraceRecord::micros);
  with(&TraceRecord::table);
  with(&TraceRecord::row);
  with(&TraceRecord::keys);
  with(&TraceRecord::start);
  with(&TraceRecord::end);
  with(&TraceRecord::last);
  with(&TraceRecord::has_ranges);
  with(&TraceRecord::is_reverse);
  with(&TraceRecord::limit);
  with(&TraceRecord::filter);
  with(&TraceRecord::families);
  with(&TraceRecord::rows_seen);
  with(&TraceRecord::rows_returned);
  with(&TraceRecord::cells_seen);
  with(&TraceRecord::cells_returned);
  with(&TraceRecord::bytes);
  with(&TraceRecord::bytes_read);
  with(&TraceRecord::latency_micros);
  with(&TraceRecord::cells);
  with(&TraceRecord::increments);
  with(&TraceRecord::columns);
  with(&TraceRecord::batch);
  with(&TraceRecord::call);
  with(&TraceRecord::status);
  with(&TraceRecord::tag);
  records.back().ranges = full.ranges;
  records.back().has_ranges = true;
  for (uint8_t op = 0; op <= static_cast<uint8_t>(TraceOp::kDrop); ++op) {
    records.push_back(empty);
    records.back().op = static_cast<TraceOp>(op);
  }
  for (TraceRecord& record : records) record.sample = 16;
  const TraceHeader header = FixedTraceHeader("0123456789abcdef", 16);
  std::string file = EncodeTraceHeader(header);
  AppendRecords(header, records, &file);
  const auto read = ReadTraceBytes(file);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->records, records);
}

TEST(TraceBlocksTest, NoChangedByteInventsARecord) {
  std::vector<size_t> begins;
  const std::string file = SmallTrace(&begins);
  for (size_t at = 0; at < file.size(); ++at) {
    for (const int bit : {0, 4, 7}) {
      std::string changed = file;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      const auto read = ReadTraceBytes(changed);
      if (at < kTraceHeaderBytes) {
        EXPECT_FALSE(read.ok()) << at;
        continue;
      }
      ASSERT_TRUE(read.ok()) << read.status();
      SCOPED_TRACE(at);
      ExpectOnlyKnown(read->records);
      // Only the records of the changed block are missing.
      const size_t block =
          static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), at) - begins.begin());
      constexpr size_t kRecordsOf[] = {2, 1, 3, 0};
      EXPECT_EQ(read->records.size(), 6 - kRecordsOf[block - 1]);
      EXPECT_EQ(read->damaged, 1u);
      EXPECT_EQ(read->is_complete, block < 4);
    }
  }
}

TEST(TraceBlocksTest, ACutFileIsReadToItsLastCompleteBlock) {
  std::vector<size_t> begins;
  const std::string file = SmallTrace(&begins);
  for (size_t bytes = 0; bytes < file.size(); ++bytes) {
    const auto read = ReadTraceBytes(file.substr(0, bytes));
    if (bytes < kTraceHeaderBytes) {
      EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument) << bytes;
      continue;
    }
    ASSERT_TRUE(read.ok()) << read.status();
    std::vector<TraceRecord> expected = SmallRecords();
    expected.resize(bytes < begins[1] ? 0 : bytes < begins[2] ? 2 : bytes < begins[3] ? 3 : 6);
    EXPECT_EQ(read->records, expected) << bytes;
    EXPECT_EQ(read->damaged, 0u) << bytes;
    EXPECT_FALSE(read->is_complete) << bytes;
  }
}

TEST(TraceBlocksTest, ForeignAndMovedBlocksAreRejected) {
  std::vector<size_t> begins;
  const std::string file = SmallTrace(&begins);
  const TraceHeader other = FixedTraceHeader("another 16 bytes");
  std::string foreign = EncodeTraceHeader(other);
  AppendRecords(other, {GetTraceRecord(100)}, &foreign);
  // A block of another trace at its offset there.
  std::string mixed = file.substr(0, kTraceHeaderBytes) + foreign.substr(kTraceHeaderBytes);
  auto read = ReadTraceBytes(mixed);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->records.size(), 0u);
  EXPECT_EQ(read->damaged, 1u);
  // A block of this trace at another offset.
  const std::string second = file.substr(begins[1], begins[2] - begins[1]);
  read = ReadTraceBytes(file.substr(0, begins[3]) + second);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->records, SmallRecords());
  EXPECT_EQ(read->damaged, 1u);
  // Bytes between two blocks move the later ones.
  read = ReadTraceBytes(file.substr(0, begins[1]) + "x" + file.substr(begins[1]));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->records.size(), 2u);
  EXPECT_EQ(read->damaged, 1u);
}

// Bytes that look like the beginning of a block hide no block after them.
TEST(TraceBlocksTest, FindsTheNextBlockAfterBytesThatLookLikeOne) {
  const TraceHeader header = FixedTraceHeader();
  std::string file = EncodeTraceHeader(header);
  for (const std::string& damage :
       {std::string(kTraceBlockMagic), std::string("SteleSteleTrSteleTrBSteleTrB"),
        std::string(200'000, 'S'), std::string(100'001, '\0')}) {
    file += damage;
    AppendRecords(header, {GetTraceRecord(1)}, &file);
  }
  for (const size_t step : {3, 65'536}) {
    const auto read = ReadTraceBytes(file, step);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->records.size(), 4u);
    EXPECT_EQ(read->damaged, 4u);
  }
}

// A block with valid checksums, and any payload and numbers.
std::string HostileBlock(std::string payload, uint32_t plain_bytes, uint32_t records,
                         uint32_t stored_bytes, uint32_t kind = 0) {
  const uint64_t seed = TraceBlockSeed(FixedTraceHeader(), kTraceHeaderBytes);
  std::string covered;
  AppendFixed64(covered, Checksum64(payload, seed));
  for (const uint32_t number : {stored_bytes, plain_bytes, records, kind})
    AppendFixed32(covered, number);
  std::string file = EncodeTraceHeader(FixedTraceHeader()) + std::string(kTraceBlockMagic);
  AppendFixed64(file, Checksum64(covered, seed));
  return file + covered + payload;
}

TEST(TraceBlocksTest, LengthsAreCheckedBeforeMemoryIsTaken) {
  std::string valid;
  AppendRecords(FixedTraceHeader(), {GetTraceRecord(1)}, &valid);
  const std::string stored = valid.substr(kTraceBlockHeaderBytes);
  const auto bytes = static_cast<uint32_t>(stored.size());
  // More plain bytes than a block may have, or than the payload has.
  for (const uint32_t plain : {0u, 1u, 1000u, uint32_t{kTraceBlockBytesMax}, UINT32_MAX}) {
    const auto read = ReadTraceBytes(HostileBlock(stored, plain, 1, bytes));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->records.size(), 0u);
    EXPECT_EQ(read->damaged, 1u) << plain;
  }
  // More stored bytes than a block may have: the block is damaged. Than the file has: it is cut
  // off.
  EXPECT_EQ(ReadTraceBytes(HostileBlock(stored, 10, 1, UINT32_MAX))->damaged, 1u);
  EXPECT_EQ(ReadTraceBytes(HostileBlock(stored, 10, 1, bytes + 1))->damaged, 0u);
  EXPECT_EQ(ReadTraceBytes(HostileBlock(stored, 10, 1, bytes, 2))->damaged, 1u);
}

TEST(TraceBlocksTest, BlocksThatGrowWithoutBoundAreAnError) {
  TraceRecord record = GetTraceRecord(1);
  record.row.assign(kTraceBlockBytesMax - 1'000, 'r');
  const TraceHeader header = FixedTraceHeader();
  std::string file = EncodeTraceHeader(header);
  for (int i = 0; i < 70; ++i) AppendRecords(header, {record}, &file);
  size_t offset = 0;
  const auto blocks = TraceBlocks::Open([&](char* out, size_t bytes) -> absl::StatusOr<size_t> {
    const size_t count = std::min(bytes, file.size() - offset);
    file.copy(out, count, offset);
    offset += count;
    return count;
  });
  ASSERT_TRUE(blocks.ok());
  int read = 0;
  absl::StatusOr<bool> any = true;
  while (any.ok() && *any) {
    any = (*blocks)->Next(&record);
    ++read;
  }
  EXPECT_EQ(any.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_GE(read, 64);
}

TEST(TraceBlocksTest, AnUnknownVersionIsNotRead) {
  for (const size_t at : {8, 12}) {
    std::string file = SmallTrace();
    file[at] = 2;
    StoreFixed64(file.data() + kTraceHeaderBytes - 8,
                 Checksum64(std::string_view(file).substr(0, kTraceHeaderBytes - 8)));
    EXPECT_EQ(ReadTraceBytes(file).status().code(), absl::StatusCode::kUnimplemented);
  }
  std::string file = EncodeTraceHeader(FixedTraceHeader());
  file[20] = 0;  // the sample
  StoreFixed64(file.data() + kTraceHeaderBytes - 8,
               Checksum64(std::string_view(file).substr(0, kTraceHeaderBytes - 8)));
  EXPECT_EQ(ReadTraceBytes(file).status().code(), absl::StatusCode::kInvalidArgument);
}

// The records of a block whose writer was wrong: the checksum fits.
TEST(TraceBlocksTest, WrongRecordsEndTheirBlock) {
  const auto read_payload = [](const std::string& payload, uint32_t records) {
    const TraceHeader header = FixedTraceHeader();
    std::string file = EncodeTraceHeader(header);
    AppendTraceBlock(TraceBlockKind::kRecords, payload, records,
                     TraceBlockSeed(header, file.size()), &file);
    AppendRecords(header, {GetTraceRecord(1)}, &file);
    auto read = ReadTraceBytes(file);
    EXPECT_TRUE(read.ok() && !read->records.empty() && read->records.back() == GetTraceRecord(1));
    read->records.pop_back();
    return *std::move(read);
  };
  std::string record;
  AppendTraceRecord(FullTraceRecord(1), &record);
  EXPECT_EQ(read_payload(record, 1).damaged, 0u);
  EXPECT_EQ(read_payload(record, 0).damaged, 1u);
  EXPECT_EQ(read_payload(record, 2).damaged, 1u);
  EXPECT_EQ(read_payload(record + "x", 1).damaged, 1u);
  EXPECT_EQ(read_payload(record + record, UINT32_MAX).damaged, 1u);
  for (size_t bytes = 1; bytes < record.size(); ++bytes) {
    const ReadTrace read = read_payload(record.substr(0, bytes), 1);
    EXPECT_EQ(read.records.size(), 0u) << bytes;
    EXPECT_EQ(read.damaged, 1u) << bytes;
  }
  // An unknown operation, an unknown member, a time out of range, and long lists.
  std::string members;
  AppendVarint(members, uint64_t{1} << 24);
  EXPECT_EQ(read_payload(std::string("\x08\0\0\0", 4), 1).damaged, 1u);
  EXPECT_EQ(read_payload(std::string("\0\0", 2) + members + '\0', 1).damaged, 1u);
  EXPECT_EQ(read_payload("\0" + std::string(9, '\xff') + std::string("\1\0\0", 3), 1).damaged, 1u);
  EXPECT_EQ(read_payload(std::string("\0\0\2\0\xff\xff\xff\xff\x0f", 9), 1).damaged, 1u);
  EXPECT_EQ(read_payload(std::string("\0\0\x20\0\xff\xff\xff\xff\x0f", 9), 1).damaged, 1u);
}

}  // namespace
}  // namespace stele::internal
