// Tests that a trace is read in the order of time, also with operations that are written late.
#include "lab/trace/trace_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>
#include <vector>

#include "lab/trace_sort/record_sorter.h"
#include "support/trace_testing.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

constexpr int64_t kOperations = 60'000;  // more than the reader's window has

TraceRecord RecordAt(int64_t micros) {
  TraceRecord record;
  record.micros = micros;
  record.table = "t";
  record.row = fmt::format("r{}", micros);
  return record;
}

class TraceReaderTest : public testing::Test {
 protected:
  // Both forms of a trace.
  std::vector<std::string> Files(const std::vector<TraceRecord>& records) const {
    const TraceHeader header = FixedTraceHeader();
    std::string binary = EncodeTraceHeader(header);
    constexpr size_t kRecordsOfBlock = 1'000;
    for (size_t i = 0; i < records.size(); i += kRecordsOfBlock) {
      const auto begin = records.begin() + static_cast<ptrdiff_t>(i);
      const size_t count = std::min(kRecordsOfBlock, records.size() - i);
      AppendRecords(header, {begin, begin + static_cast<ptrdiff_t>(count)}, &binary);
    }
    std::string lines;
    for (const TraceRecord& record : records)
      lines += fmt::format("{{\"t\":{},\"op\":\"get\",\"table\":\"t\",\"row\":\"{}\"}}\n",
                           record.micros, record.row);
    return {directory_.Write("binary", binary), directory_.Write("lines", lines)};
  }
  // Expects the operations of the times 1 to `count`.
  static void ExpectOrder(const std::string& path, int64_t count) {
    const auto reader = TraceReader::Open(path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    TraceRecord record;
    for (int64_t micros = 1; micros <= count; ++micros) {
      const auto any = (*reader)->Next(&record);
      ASSERT_TRUE(any.ok()) << any.status();
      ASSERT_TRUE(*any);
      ASSERT_EQ(record, RecordAt(micros));
    }
    EXPECT_FALSE(*(*reader)->Next(&record));
    EXPECT_EQ((*reader)->skipped_lines(), 0u);
  }
  const TemporaryDirectory directory_;
};

TEST_F(TraceReaderTest, AStopEndsTheFirstPass) {
  std::stop_source stop;
  for (const std::string& path : Files({RecordAt(1), RecordAt(2)})) {
    EXPECT_TRUE(TraceReader::Open(path, false, stop.get_token()).ok()) << path;
  }
  stop.request_stop();
  for (const std::string& path : Files({RecordAt(1), RecordAt(2)})) {
    EXPECT_EQ(TraceReader::Open(path, false, stop.get_token()).status().code(),
              absl::StatusCode::kCancelled)
        << path;
  }
}

TEST_F(TraceReaderTest, ALongCallIsWrittenLate) {
  std::vector<TraceRecord> records;
  for (int64_t micros = 2; micros <= kOperations; ++micros) records.push_back(RecordAt(micros));
  records.push_back(RecordAt(1));
  for (const std::string& path : Files(records)) ExpectOrder(path, kOperations);
}

TEST_F(TraceReaderTest, TheReverseOrderIsSorted) {
  std::vector<TraceRecord> records;
  for (int64_t micros = 2 * kOperations; micros >= 1; --micros) records.push_back(RecordAt(micros));
  for (const std::string& path : Files(records)) ExpectOrder(path, 2 * kOperations);
}

TEST_F(TraceReaderTest, OperationsOfOneTimeKeepTheirOrder) {
  std::vector<TraceRecord> records = {RecordAt(5)};
  for (int64_t i = 0; i < kOperations; ++i) records.push_back(RecordAt(10));
  for (const char* const row : {"b", "a"}) {
    records.push_back(RecordAt(5));
    records.back().row = row;
  }
  for (const std::string& path : Files(records)) {
    const auto reader = TraceReader::Open(path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    TraceRecord record;
    for (const std::string row : {"r5", "b", "a", "r10"}) {
      ASSERT_TRUE(*(*reader)->Next(&record));
      EXPECT_EQ(record.row, row);
    }
  }
}

TEST_F(TraceReaderTest, AWrongLineComesAfterTheOperationsBeforeIt) {
  std::string lines;
  for (int64_t micros = 2; micros <= kOperations; ++micros)
    lines += fmt::format("{{\"t\":{},\"op\":\"get\",\"table\":\"t\",\"row\":\"a\"}}\n", micros);
  lines += "{\"t\":1,\"op\":\"get\",\"table\":\"t\",\"row\":\"a\"}\nwrong\n";
  const auto reader = TraceReader::Open(directory_.Write("lines", lines));
  ASSERT_TRUE(reader.ok()) << reader.status();
  TraceRecord record;
  for (int64_t micros = 1; micros <= kOperations; ++micros) {
    ASSERT_TRUE(*(*reader)->Next(&record));
    ASSERT_EQ(record.micros, micros);
  }
  const absl::Status end = (*reader)->Next(&record).status();
  EXPECT_NE(end.ToString().find("lines:60001: "), std::string::npos) << end;
}

TEST_F(TraceReaderTest, ASorterMergesTheRunsOfItsFile) {
  constexpr uint64_t kRecords = 5'000;
  for (const size_t run_bytes : {size_t{4} << 10, size_t{1} << 30}) {
    RecordSorter sorter(run_bytes);
    for (uint64_t i = 0; i < kRecords; ++i) {
      TraceRecord record = RecordAt(static_cast<int64_t>(i * 7'919 % kRecords / 2));
      record.sample = 3;
      if (i == 17) record.filter = std::string(100'000, 'x');  // longer than a buffer
      ASSERT_TRUE(sorter.Add(record, i).ok());
    }
    ASSERT_TRUE(sorter.Finish().ok());
    EXPECT_EQ(sorter.runs() > 10, run_bytes < size_t{1} << 20);
    RecordSorter::Place before{.micros = -1};
    uint64_t count = 0;
    for (; !sorter.empty(); ++count) {
      const RecordSorter::Place place = sorter.first();
      ASSERT_TRUE(before < place);
      before = place;
      TraceRecord record;
      ASSERT_TRUE(sorter.Pop(&record).ok());
      ASSERT_EQ(record.row, fmt::format("r{}", place.micros));
      ASSERT_EQ(record.sample, 3u);
      ASSERT_EQ(record.filter.size(), place.number == 17 ? 100'000u : 0u);
    }
    EXPECT_EQ(count, kRecords);
  }
}

}  // namespace
}  // namespace stele::internal::lab
