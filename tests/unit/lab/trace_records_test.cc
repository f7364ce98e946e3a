// Tests that programs read and write the records of a trace with stele/lab/trace.h.
#include <gtest/gtest.h>

#include "stele/lab/trace.h"
#include "support/trace_testing.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

using PublicReader = stele::lab::TraceReader;
using PublicTraceRecord = stele::lab::TraceRecord;
using PublicWriter = stele::lab::TraceWriter;
using stele::lab::TraceForm;

std::vector<PublicTraceRecord> ReadAll(const std::string& path, uint64_t sample) {
  std::vector<PublicTraceRecord> records;
  auto reader = PublicReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status();
  while (reader.ok()) {
    PublicTraceRecord record;
    const absl::StatusOr<bool> any = reader->Next(&record);
    EXPECT_TRUE(any.ok()) << any.status();
    if (!any.ok() || !*any) break;
    records.push_back(std::move(record));
  }
  if (reader.ok()) {
    EXPECT_EQ(reader->sample(), sample);
    EXPECT_EQ(reader->skipped(), 0u);
    EXPECT_TRUE(reader->is_complete());
  }
  return records;
}

TEST(TraceRecordsTest, EveryMemberIsReadAndWrittenInEveryForm) {
  const TemporaryDirectory directory;
  const TraceHeader header = FixedTraceHeader("0123456789abcdef", 3);
  std::string file = EncodeTraceHeader(header);
  AppendRecords(header, {FullTraceRecord(1), GetTraceRecord(2)}, &file);
  AppendSummary(header, {.operations = 6, .recorded = 2}, &file);
  const std::vector<PublicTraceRecord> records = ReadAll(directory.Write("t", file), 3);
  ASSERT_EQ(records.size(), 2u);
  const TraceRecord full = FullTraceRecord(1);
  EXPECT_EQ(records[0].micros, full.micros);
  EXPECT_EQ(records[0].row, full.row);
  EXPECT_EQ(records[0].rows_seen, full.rows_seen);
  ASSERT_TRUE(records[0].ranges.has_value());
  EXPECT_EQ(records[0].ranges->size(), full.ranges.size());
  EXPECT_FALSE(records[1].ranges.has_value());
  for (const TraceForm form :
       {TraceForm::kJsonLines, TraceForm::kJsonLinesZstd, TraceForm::kBinary}) {
    std::string bytes;
    auto writer = PublicWriter::Start(
        form,
        [&](std::string_view part) {
          bytes += part;
          return absl::OkStatus();
        },
        3);
    ASSERT_TRUE(writer.ok()) << writer.status();
    PublicTraceRecord bad = records[1];
    bad.row.clear();
    EXPECT_EQ(writer->Add(bad).code(), absl::StatusCode::kInvalidArgument);
    for (const PublicTraceRecord& record : records) EXPECT_TRUE(writer->Add(record).ok());
    EXPECT_TRUE(writer->Finish().ok());
    EXPECT_EQ(ReadAll(directory.Write("t", bytes), 3), records);
  }
}

TEST(TraceRecordsTest, ErrorsAreReturned) {
  const TemporaryDirectory directory;
  EXPECT_FALSE(PublicReader::Open(directory.File("none")).ok());
  auto reader = PublicReader::Open(directory.Write("bad", "{}\n"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  PublicTraceRecord record;
  EXPECT_EQ(reader->Next(&record).status().code(), absl::StatusCode::kInvalidArgument);
  const auto fails = [](std::string_view) { return absl::AbortedError("full"); };
  EXPECT_EQ(PublicWriter::Start(TraceForm::kJsonLines, fails, 0).status().code(),
            absl::StatusCode::kInvalidArgument);
  auto writer = PublicWriter::Start(TraceForm::kJsonLines, fails);
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_EQ(writer->Finish().code(), absl::StatusCode::kAborted);
}

}  // namespace
}  // namespace stele::internal::lab
