// Tests for failures of the lab's reader of traces: it reads one form differently from the other,
// or trusts what only JSON lines guarantee.
#include "lab/trace/trace_input.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "lab/trace/trace_reader.h"
#include "support/trace_testing.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

struct InputRead {
  std::vector<TraceRecord> records;
  uint64_t skipped_lines = 0;
};

class TraceInputTest : public testing::Test {
 protected:
  absl::StatusOr<InputRead> Read(const std::string& bytes, bool skips_bad = false) {
    auto input = TraceInput::Open(directory_.Write("t", bytes), {.skips_bad = skips_bad});
    if (!input.ok()) return input.status();
    InputRead read;
    TraceRecord record;
    while (true) {
      const auto any = (*input)->Next(&record);
      if (!any.ok()) return any.status();
      if (!*any) break;
      EXPECT_GE((*input)->record_bytes(), record.keys.size() * sizeof(std::string));
      read.records.push_back(record);
    }
    read.skipped_lines = (*input)->skipped_lines();
    return read;
  }

  TemporaryDirectory directory_;
};

TEST_F(TraceInputTest, BothFormsHaveTheSameMembers) {
  TraceRecord expected;
  expected.micros = 5;
  expected.op = TraceOp::kScan;
  expected.table = "t";
  expected.sample = 4;
  expected.bytes_read = 17;
  expected.call = 18;
  expected.status = "NOT_FOUND";
  const TraceHeader header = FixedTraceHeader("0123456789abcdef", 4);
  std::string binary = EncodeTraceHeader(header);
  AppendRecords(header, {expected}, &binary);
  const std::string lines =
      "{\"trace\":1,\"sample\":4}\n"
      R"({"t":5,"op":"scan","table":"t","bytes_read":17,"call":18,"status":"NOT_FOUND"})";
  for (const std::string& bytes : {binary, Gzip(binary), lines, Gzip(lines)}) {
    const auto read = Read(bytes);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->records, std::vector<TraceRecord>{expected});
    EXPECT_EQ(read->skipped_lines, 0u);
  }
}

TEST_F(TraceInputTest, AHeaderThatIsSkippedHasNoSample) {
  for (const char* const sample : {"0", "4294967296", "-1", "\"x\""}) {
    const auto read = Read(fmt::format("{{\"trace\":1,\"sample\":{}}}\n"
                                       "{{\"t\":5,\"op\":\"get\",\"table\":\"t\",\"row\":\"a\"}}\n",
                                       sample),
                           /*skips_bad=*/true);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->skipped_lines, 1u);
    ASSERT_EQ(read->records.size(), 1u);
    EXPECT_EQ(read->records[0].sample, 1u) << sample;
  }
}

TEST_F(TraceInputTest, ARecordHasNothingOfTheOneBeforeIt) {
  const TraceHeader header = FixedTraceHeader();
  std::string file = EncodeTraceHeader(header);
  const std::vector<TraceRecord> records = {FullTraceRecord(1), GetTraceRecord(2)};
  AppendRecords(header, records, &file);
  const auto read = Read(file);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->records, records);
  TraceRecord record = FullTraceRecord(1);
  record.sample = 3;
  record.Clear();
  EXPECT_EQ(record, TraceRecord());
}

TEST_F(TraceInputTest, DamagedBlocksAreSkippedAndCounted) {
  const TraceHeader header = FixedTraceHeader();
  std::string file = EncodeTraceHeader(header);
  AppendRecords(header, {GetTraceRecord(1)}, &file);
  const size_t second = file.size();
  AppendRecords(header, {GetTraceRecord(2)}, &file);
  AppendRecords(header, {GetTraceRecord(3)}, &file);
  file[second + kTraceBlockHeaderBytes] ^= 1;
  const auto read = Read(file);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->records, (std::vector<TraceRecord>{GetTraceRecord(1), GetTraceRecord(3)}));
  EXPECT_EQ(read->skipped_lines, 1u);
  file[8] = 2;
  const absl::Status status = Read(file).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("/t: the header of the trace is damaged"),
            std::string::npos)
      << status;
}

TEST_F(TraceInputTest, TextsThatAreNotUtf8AreWrong) {
  TraceRecord wrong_table = GetTraceRecord(2);
  wrong_table.table = "\xff";
  TraceRecord wrong_status = GetTraceRecord(3);
  wrong_status.status = "\x80";
  const TraceHeader header = FixedTraceHeader();
  std::string file = EncodeTraceHeader(header);
  AppendRecords(header, {GetTraceRecord(1), wrong_table, wrong_status}, &file);
  const absl::Status status = Read(file).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("/t: operation 2: "), std::string::npos) << status;
  const auto read = Read(file, true);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->records, std::vector<TraceRecord>{GetTraceRecord(1)});
  EXPECT_EQ(read->skipped_lines, 2u);
}

TEST_F(TraceInputTest, BinaryTracesAreSortedByTime) {
  const TraceHeader header = FixedTraceHeader();
  std::string file = EncodeTraceHeader(header);
  for (const uint64_t number : {3, 1, 2}) AppendRecords(header, {GetTraceRecord(number)}, &file);
  const auto reader = TraceReader::Open(directory_.Write("t", file));
  ASSERT_TRUE(reader.ok());
  TraceRecord record;
  for (const uint64_t expected : {1, 2, 3}) {
    ASSERT_TRUE(*(*reader)->Next(&record));
    EXPECT_EQ(record, GetTraceRecord(expected));
  }
  EXPECT_FALSE(*(*reader)->Next(&record));
}

}  // namespace
}  // namespace stele::internal::lab
