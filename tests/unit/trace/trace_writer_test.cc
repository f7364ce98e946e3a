// Tests for failures of the writer of binary traces: a record is lost between two blocks, a trace
// cannot be continued after a kill, or a file that is no trace is changed.
#include "trace/trace_writer.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "io/mem_file_system.h"
#include "support/trace_testing.h"

namespace stele::internal {
namespace {

class TraceWriterTest : public testing::Test {
 protected:
  std::unique_ptr<TraceWriter> Open(OpenMode mode, uint32_t sample = 1) {
    auto writer = TraceWriter::Open(*file_system_.Open("/t", mode), sample);
    EXPECT_TRUE(writer.ok()) << writer.status();
    return *std::move(writer);
  }
  std::string Bytes() {
    const auto file = *file_system_.Open("/t", OpenMode::kRead);
    std::string bytes(*file->Size(), '\0');
    EXPECT_EQ(*file->Read(0, bytes.size(), bytes.data()), bytes.size());
    return bytes;
  }
  void SetBytes(std::string_view bytes) {
    const auto file = *file_system_.Open("/t", OpenMode::kReadWrite);
    EXPECT_TRUE(file->Truncate(0).ok() && file->Write(0, bytes).ok());
  }

  MemFileSystem file_system_;
};

TEST_F(TraceWriterTest, WritesBlocksOfTheRightSize) {
  std::vector<TraceRecord> records;
  {
    const auto writer = Open(OpenMode::kCreate, 3);
    for (uint64_t i = 0; i < 10'000; ++i) {
      records.push_back(GetTraceRecord(i));
      records.back().sample = 3;
      // One record is larger than a block.
      if (i == 5'000) records.back().row.assign(100'000, 'r');
      EXPECT_TRUE(writer->Add(records.back()).ok());
    }
    EXPECT_TRUE(writer->Finish({.operations = 30'000, .stopped_at_limit = true}).ok());
    EXPECT_EQ(writer->bytes(), Bytes().size());
  }
  const auto read = ReadTraceBytes(Bytes());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->records, records);
  EXPECT_TRUE(read->is_complete && read->counts.stopped_at_limit);
  EXPECT_EQ(read->counts.operations, 30'000u);
  // The blocks have at most 64 KiB, and most have nearly as much.
  const std::string bytes = Bytes();
  size_t blocks = 0;
  for (size_t at = 0; (at = bytes.find(kTraceBlockMagic, at)) != std::string::npos; ++at) ++blocks;
  size_t plain = 0;
  for (const TraceRecord& record : records) plain += record.row.size() + record.table.size() + 14;
  EXPECT_GE(blocks, plain / kTraceBlockBytes);
  EXPECT_LE(blocks, plain / kTraceBlockBytes + 5);
}

TEST_F(TraceWriterTest, ATraceIsContinuedAfterItsLastCompleteBlock) {
  // The last block is longer than the bytes that replace it.
  TraceRecord large = GetTraceRecord(2);
  Random random(1);
  for (int i = 0; i < 500; ++i) large.row.push_back(static_cast<char>(random.Next()));
  {
    const auto writer = Open(OpenMode::kCreate);
    EXPECT_TRUE(writer->Add(GetTraceRecord(1)).ok() && writer->Finish({.operations = 1}).ok());
    EXPECT_TRUE(writer->Add(large).ok() && writer->Finish({.operations = 2}).ok());
  }
  const std::string whole = Bytes();
  for (size_t cut = 0; whole.size() - cut >= kTraceHeaderBytes; ++cut) {
    SetBytes(whole.substr(0, whole.size() - cut));
    {
      const auto writer = Open(OpenMode::kReadWrite);
      EXPECT_TRUE(writer->Add(GetTraceRecord(3)).ok() && writer->Finish({.operations = 4}).ok());
    }
    const auto read = ReadTraceBytes(Bytes());
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->damaged, 0u) << cut;
    EXPECT_TRUE(read->is_complete);
    EXPECT_EQ(read->records.back(), GetTraceRecord(3));
    if (cut > 0) continue;
    EXPECT_EQ(read->records.size(), 3u);
    EXPECT_EQ(read->counts.operations, 7u);
  }
}

TEST_F(TraceWriterTest, ATraceWithADamagedBlockIsContinuedAtItsEnd) {
  {
    const auto writer = Open(OpenMode::kCreate);
    EXPECT_TRUE(writer->Add(GetTraceRecord(1)).ok() && writer->Finish({}).ok());
  }
  std::string bytes = Bytes();
  bytes[kTraceHeaderBytes + 9] ^= 1;  // the header of the first block
  SetBytes(bytes);
  {
    const auto writer = Open(OpenMode::kReadWrite);
    EXPECT_TRUE(writer->Add(GetTraceRecord(2)).ok() && writer->Finish({}).ok());
  }
  EXPECT_EQ(Bytes().substr(0, bytes.size()), bytes);
  const auto read = ReadTraceBytes(Bytes());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->damaged, 1u);
  EXPECT_EQ(read->summaries, 2u);
  ASSERT_EQ(read->records.size(), 1u);
}

TEST_F(TraceWriterTest, AnotherFileIsNotChanged) {
  (void)*file_system_.Open("/t", OpenMode::kCreate);
  for (const std::string& bytes : {std::string("{\"t\":1}\n"), std::string(100, 'x'),
                                   EncodeTraceHeader(FixedTraceHeader("0123456789abcdef", 2))}) {
    SetBytes(bytes);
    const auto writer = TraceWriter::Open(*file_system_.Open("/t", OpenMode::kReadWrite), 1);
    EXPECT_EQ(writer.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(Bytes(), bytes);
  }
}

TEST_F(TraceWriterTest, ALargeRecordIsAnError) {
  const auto writer = Open(OpenMode::kCreate);
  TraceRecord record = GetTraceRecord(1);
  record.row.assign(kTraceBlockBytesMax, 'r');
  EXPECT_TRUE(writer->Add(GetTraceRecord(0)).ok());
  EXPECT_EQ(writer->Add(record).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(writer->Add(GetTraceRecord(2)).ok() && writer->Finish({}).ok());
  const auto read = ReadTraceBytes(Bytes());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->records, (std::vector<TraceRecord>{GetTraceRecord(0), GetTraceRecord(2)}));
}

}  // namespace
}  // namespace stele::internal
