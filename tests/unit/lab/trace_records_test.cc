// Tests that programs read and write the records of a trace with stele/lab/trace.h.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lab/trace_info/convert_trace.h"
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
    EXPECT_EQ(reader->skipped_lines(), 0u);
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

// Operations that differ in one member, which has its least or its greatest value, or a wrong one.
std::vector<PublicTraceRecord> EdgeRecords() {
  std::vector<PublicTraceRecord> records;
  const auto add = [&](const auto& change) {
    PublicTraceRecord record;
    record.micros = 1;
    record.table = "t";
    record.row = "r";
    change(&record);
    records.push_back(record);
  };
  for (const int64_t micros : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX})
    add([&](PublicTraceRecord* record) { record->micros = micros; });
  for (const int op : {0, 1, 2, 3, 4, 5, 6, 7, 8, 255})
    add([&](PublicTraceRecord* record) { record->op = static_cast<stele::lab::TraceOp>(op); });
  for (const size_t bytes : {size_t{65'535}, size_t{65'536}}) {
    const std::string key(bytes, 'k');
    add([&](PublicTraceRecord* record) { record->row = key; });
    add([&](PublicTraceRecord* record) { record->keys = {"", key}; });
    add([&](PublicTraceRecord* record) { record->start = key; });
    add([&](PublicTraceRecord* record) { record->end = key; });
    add([&](PublicTraceRecord* record) { record->last = key; });
    add([&](PublicTraceRecord* record) {
      record->ranges = std::vector<PublicTraceRecord::Range>{{}, {key, {}}, {{}, key}};
    });
  }
  add([](PublicTraceRecord* record) { record->row = "\xff"; });
  add([](PublicTraceRecord* record) { record->row.clear(); });
  add([](PublicTraceRecord* record) {
    record->row.clear();
    record->status = "INVALID_ARGUMENT";
  });
  add([](PublicTraceRecord* record) { record->table.clear(); });
  add([](PublicTraceRecord* record) { record->table = "\xff"; });
  add([](PublicTraceRecord* record) { record->status = "\xff"; });
  add([](PublicTraceRecord* record) { record->tag = "\xff"; });
  add([](PublicTraceRecord* record) { record->start = record->end = ""; });
  add([](PublicTraceRecord* record) { record->ranges.emplace(); });
  add([](PublicTraceRecord* record) { record->families.emplace(); });
  add([](PublicTraceRecord* record) { record->limit = record->latency_micros = UINT64_MAX; });
  add([](PublicTraceRecord* record) { record->filter.assign(size_t{5} << 20, 'f'); });
  return records;
}

TEST(TraceRecordsTest, WhatAWriterAcceptsAReaderReturns) {
  const TemporaryDirectory directory;
  const std::vector<PublicTraceRecord> records = EdgeRecords();
  // Two times, two operations, six row keys, one missing row, a table and a status.
  constexpr size_t kWrong = 13;
  for (const TraceForm form :
       {TraceForm::kJsonLines, TraceForm::kJsonLinesZstd, TraceForm::kBinary}) {
    std::string bytes;
    auto writer = PublicWriter::Start(form, [&](std::string_view part) {
      bytes += part;
      return absl::OkStatus();
    });
    ASSERT_TRUE(writer.ok()) << writer.status();
    std::vector<PublicTraceRecord> accepted;
    for (const PublicTraceRecord& record : records) {
      const absl::Status added = writer->Add(record);
      if (added.ok()) {
        accepted.push_back(record);
      } else {
        EXPECT_EQ(added.code(), absl::StatusCode::kInvalidArgument);
      }
    }
    EXPECT_TRUE(writer->Finish().ok());
    // The last one is too large for the binary form.
    EXPECT_EQ(accepted.size(), records.size() - kWrong - (form == TraceForm::kBinary ? 1 : 0));
    EXPECT_TRUE(ReadAll(directory.Write("t", bytes), 1) == accepted);
  }
}

TEST(TraceRecordsTest, ALineThatIsTooLongIsNotWritten) {
  const TemporaryDirectory directory;
  PublicTraceRecord record;
  record.table = "t";
  record.row = "r";
  std::string bytes;
  auto writer = PublicWriter::Start(TraceForm::kJsonLines, [&](std::string_view part) {
    bytes += part;
    return absl::OkStatus();
  });
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE(writer->Add(record).ok());
  PublicTraceRecord large = record;
  large.filter.assign(size_t{48} << 20, '\xff');  // 64 MiB of base64
  EXPECT_EQ(writer->Add(large).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(writer->Add(record).ok());
  EXPECT_TRUE(writer->Finish().ok());
  EXPECT_EQ(ReadAll(directory.Write("t", bytes), 1), std::vector<PublicTraceRecord>(2, record));
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

TEST(TraceRecordsTest, AnErrorOfTheOutputLasts) {
  for (const TraceForm form :
       {TraceForm::kJsonLines, TraceForm::kJsonLinesZstd, TraceForm::kBinary}) {
    int parts = 0;
    auto writer = PublicWriter::Start(form, [&](std::string_view) {
      return ++parts == 2 ? absl::AbortedError("full") : absl::OkStatus();
    });
    ASSERT_TRUE(writer.ok()) << writer.status();
    PublicTraceRecord record;
    record.table = "t";
    absl::Status added;
    constexpr int kRecordsMax = 100'000;
    for (int i = 0; i < kRecordsMax && added.ok(); ++i) {
      record.row = std::to_string(i) + std::string(1'000, 'r');
      added = writer->Add(record);
    }
    EXPECT_EQ(added.code(), absl::StatusCode::kAborted) << added;
    EXPECT_EQ(writer->Add(record).code(), absl::StatusCode::kAborted);
    record.micros = -1;
    EXPECT_EQ(writer->Add(record).code(), absl::StatusCode::kAborted);
    EXPECT_EQ(writer->Finish().code(), absl::StatusCode::kAborted);
    EXPECT_EQ(writer->Finish().code(), absl::StatusCode::kAborted);
    EXPECT_EQ(parts, 2);
  }
}

TEST(TraceRecordsTest, AnErrorOfTheOutputEndsAConversion) {
  const TemporaryDirectory directory;
  const std::string row(1'000, 'r');
  std::string lines;
  for (int i = 0; i < 300; ++i)  // more than three parts
    lines += R"({"t":1,"op":"get","table":"t","row":")" + row + "\"}\n";
  int parts = 0;
  const auto converted = internal::lab::ConvertTrace(
      directory.Write("t", lines), TraceForm::kJsonLines,
      [&](std::string_view) {
        return ++parts == 2 ? absl::InvalidArgumentError("full") : absl::OkStatus();
      },
      /*skips_bad=*/true);
  EXPECT_EQ(converted.status(), absl::InvalidArgumentError("full"));
  EXPECT_EQ(parts, 2);
}

}  // namespace
}  // namespace stele::internal::lab
