// Tests what is counted of a trace, and that its forms have the same records.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lab/trace/trace_input.h"
#include "lab/trace_info/convert_trace.h"
#include "lab/trace_info/top_rows.h"
#include "stele/lab/trace.h"
#include "support/trace_testing.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::TraceForm;
using stele::lab::TraceInfo;

class TraceInfoTest : public testing::Test {
 protected:
  std::string Binary(const std::vector<TraceRecord>& records, uint32_t sample = 1) {
    const TraceHeader header = FixedTraceHeader("0123456789abcdef", sample);
    std::string file = EncodeTraceHeader(header);
    AppendRecords(header, records, &file);
    return file;
  }
  TraceInfo Read(const std::string& bytes) {
    const auto info = TraceInfo::Read(directory_.Write("t", bytes));
    EXPECT_TRUE(info.ok()) << info.status();
    return info.value_or(TraceInfo());
  }
  absl::StatusOr<std::string> Convert(const std::string& bytes, TraceForm form,
                                      bool skips_bad = false, uint64_t skipped = 0) {
    std::string out;
    const auto converted = ConvertTrace(
        directory_.Write("t", bytes), form,
        [&](std::string_view part) {
          out += part;
          return absl::OkStatus();
        },
        skips_bad);
    if (!converted.ok()) return converted.status();
    EXPECT_EQ(*converted, skipped);
    return out;
  }

  TemporaryDirectory directory_;
};

TEST_F(TraceInfoTest, EveryFormHasTheSameRecords) {
  std::vector<TraceRecord> records = {GetTraceRecord(1), FullTraceRecord(2), GetTraceRecord(3)};
  records[0].keys = {"\x80", "a"};
  records[0].families.emplace();
  // Characters that a terminal interprets, or that change the direction of text.
  records[2].table = "t\"\\\x1b[31m\u202e\u009b\U000e0041\u00e9";
  records[2].row = records[2].table;
  for (TraceRecord& record : records) record.sample = 5;
  const std::string binary = Binary(records, 5);
  std::vector<std::string> files = {binary};
  for (const TraceForm form :
       {TraceForm::kJsonLines, TraceForm::kBinary, TraceForm::kJsonLines, TraceForm::kJsonLinesZstd,
        TraceForm::kBinary, TraceForm::kJsonLinesZstd}) {
    const auto converted = Convert(files.back(), form);
    ASSERT_TRUE(converted.ok()) << converted.status();
    files.push_back(*converted);
  }
  EXPECT_EQ(files[1], files[3]);
  EXPECT_EQ(std::count_if(files[1].begin(), files[1].end(),
                          [](char c) { return c != '\n' && (c < ' ' || c == '\x7f'); }),
            4)
      << "only the bytes of U+00E9, twice, are not ASCII: " << files[1];
  for (const std::string& file : files) {
    const auto input = TraceInput::Open(directory_.Write("t", file), {});
    ASSERT_TRUE(input.ok()) << input.status();
    for (const TraceRecord& expected : records) {
      TraceRecord record;
      ASSERT_TRUE(*(*input)->Next(&record));
      EXPECT_EQ(record, expected);
    }
    TraceRecord record;
    EXPECT_FALSE(*(*input)->Next(&record));
  }
}

TEST_F(TraceInfoTest, AnEmptyTraceKeepsItsSample) {
  const auto lines = Convert("{\"trace\":1,\"sample\":7}\n", TraceForm::kJsonLines);
  EXPECT_EQ(*lines, "{\"trace\":1,\"sample\":7}\n");
  const auto binary = Convert(*lines, TraceForm::kBinary);
  ASSERT_TRUE(binary.ok());
  const TraceInfo info = Read(*binary);
  EXPECT_EQ(info.sample, 7u);
  EXPECT_EQ(info.records, 0u);
  EXPECT_TRUE(info.is_complete && info.rows.empty() && info.operations.empty());
  EXPECT_EQ(Read("").sample, 1u);
}

TEST_F(TraceInfoTest, TheSummaryIsKept) {
  const TraceHeader header = FixedTraceHeader();
  std::string file = EncodeTraceHeader(header);
  AppendRecords(header, {GetTraceRecord(1)}, &file);
  // A recording that was cut off stays one.
  for (const bool ended : {false, true}) {
    std::string bytes = file;
    if (ended) AppendSummary(header, {.operations = 1, .recorded = 1}, &bytes);
    bool is_complete = !ended;
    const auto write = [](std::string_view) { return absl::OkStatus(); };
    ASSERT_TRUE(ConvertTrace(directory_.Write("t", bytes), TraceForm::kJsonLines, write, false,
                             &is_complete)
                    .ok());
    EXPECT_EQ(is_complete, ended);
  }
  const TraceInfo cut_off = Read(*Convert(file, TraceForm::kBinary));
  EXPECT_FALSE(cut_off.is_complete);
  EXPECT_EQ(cut_off.records, 1u);
  AppendSummary(header, {.operations = 100, .recorded = 1, .dropped = 3, .stopped_at_limit = true},
                &file);
  for (const std::string& bytes : {file, *Convert(file, TraceForm::kBinary)}) {
    const TraceInfo info = Read(bytes);
    EXPECT_TRUE(info.is_binary && info.is_complete && info.stopped_at_limit);
    EXPECT_EQ(info.seen, 100u);
    EXPECT_EQ(info.dropped, 3u);
    EXPECT_EQ(info.file_bytes, bytes.size());
  }
  // Of JSON lines, all are in the file.
  const std::string lines =
      "{\"trace\":1,\"sample\":4}\n" + std::string(R"({"t":1,"op":"drop","table":"t"})");
  EXPECT_EQ(Read(*Convert(lines, TraceForm::kBinary)).seen, 4u);
}

TEST_F(TraceInfoTest, CountsByTableOpRowAndTag) {
  std::vector<TraceRecord> records;
  for (uint64_t i = 0; i < 30; ++i) {
    records.push_back(GetTraceRecord(1'000'000 - i * 1'000));
    records.back().row = "r" + std::to_string(i % 12);
    records.back().tag = i % 3 == 0 ? "" : i % 3 == 1 ? "b" : "a";
    records.back().rows_returned = 2;
    records.back().bytes = UINT64_MAX / 16;
    if (i % 10 == 0) records.back().status = "NOT_FOUND";
  }
  records.push_back(records[0]);
  records.back().op = TraceOp::kMget;
  records.back().row.clear();
  records.back().keys = {"r11", "r11", "x"};
  records.push_back(records[0]);
  records.back().table = "other";
  records.back().op = TraceOp::kScan;
  records.back().row.clear();
  const TraceInfo info = Read(Binary(records, 2));
  EXPECT_EQ(info.records, 32u);
  EXPECT_EQ(info.sample, 2u);
  EXPECT_EQ(info.to_micros - info.from_micros, 29'000);
  ASSERT_EQ(info.operations.size(), 3u);
  EXPECT_EQ(info.operations[0].table, "orders");
  EXPECT_EQ(info.operations[0].op, "get");
  EXPECT_EQ(info.operations[0].records, 30u);
  EXPECT_EQ(info.operations[0].rows, 60u);
  EXPECT_EQ(info.operations[0].bytes, UINT64_MAX);
  EXPECT_EQ(info.operations[0].errors, 3u);
  EXPECT_EQ(info.operations[1].op, "mget");
  EXPECT_EQ(info.operations[2].table, "other");
  ASSERT_EQ(info.rows.size(), 10u);
  EXPECT_EQ(info.rows[0].row, "r11");
  EXPECT_EQ(info.rows[0].records, 4u);
  EXPECT_EQ(info.rows[1].row, "r0");
  EXPECT_EQ(info.rows[1].records, 3u);
  EXPECT_EQ(info.rows[9].records, 2u);
  ASSERT_EQ(info.tags.size(), 2u);
  EXPECT_EQ(info.tags.begin()->first, "a");
  EXPECT_EQ(info.tags.begin()->second, 10u);
  EXPECT_NE(info.ToText().find("rate       2,207 operations/s\n"), std::string::npos)
      << info.ToText();
  EXPECT_NE(info.ToJson().find("\"rate\":2206.9,"), std::string::npos) << info.ToJson();
}

TEST(TopRowsTest, OfManyRowsNoCountIsTooLarge) {
  TopRows top;
  for (int round = 0; round < 3; ++round)
    for (int row = 0; row < 100'000; ++row) {
      top.Add("t", "row" + std::to_string(row));
      if (row % 10 == 0) top.Add("t", "hot");
    }
  const auto rows = top.Take();
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_EQ(rows[0].row, "hot");
  EXPECT_EQ(rows[0].records, 30'000u);
  EXPECT_TRUE(rows[0].is_exact);
  for (const auto& row : rows) EXPECT_LE(row.records, row.row == "hot" ? 30'000u : 3u);
}

TEST_F(TraceInfoTest, HostileTextsAreEscaped) {
  TraceRecord record = GetTraceRecord(1);
  record.table = "t\x1b[31m\u202e";
  record.row = std::string("</script>\0\xff\n", 12);
  record.tag = std::string(1'000, '\x07');
  const TraceInfo info = Read(Binary({record}));
  for (const std::string& text : {info.ToText(), info.ToJson()}) {
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
      return c == '\n' || (c >= ' ' && c < '\x7f');
    })) << text;
    EXPECT_LT(text.size(), 10'000u);
  }
  EXPECT_NE(info.ToText().find("</script>\\x00\\xff\\x0a"), std::string::npos) << info.ToText();
}

TEST_F(TraceInfoTest, TooManyTablesAreAnError) {
  std::string lines;
  for (int i = 0; i < 10'001; ++i)
    lines += fmt::format(R"({{"t":1,"op":"drop","table":"t{}"}})"
                         "\n",
                         i);
  const absl::Status status = TraceInfo::Read(directory_.Write("t", lines)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("/t:10001: the trace has more than 10000 tables"),
            std::string::npos)
      << status;
}

TEST_F(TraceInfoTest, ARecordWithoutBinaryFormIsAnError) {
  const std::string lines = R"({"t":1,"op":"get","table":"t","row":"a","filter":")" +
                            std::string(5'000'000, 'f') + "\"}\n" +
                            R"({"t":2,"op":"get","table":"t","row":"a"})" + "\n";
  const absl::Status status = Convert(lines, TraceForm::kBinary).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("/t:1: an operation of "), std::string::npos)
      << status;
  const auto converted = Convert(lines, TraceForm::kBinary, true, 1);
  ASSERT_TRUE(converted.ok()) << converted.status();
  EXPECT_EQ(Read(*converted).records, 1u);
}

TEST_F(TraceInfoTest, AnErrorOfTheOutputEndsTheConversion) {
  for (const TraceForm form :
       {TraceForm::kJsonLines, TraceForm::kJsonLinesZstd, TraceForm::kBinary}) {
    const auto converted =
        ConvertTrace(directory_.Write("t", Binary({GetTraceRecord(1)})), form,
                     [](std::string_view) { return absl::AbortedError("full"); });
    EXPECT_EQ(converted.status().code(), absl::StatusCode::kAborted);
  }
}

}  // namespace
}  // namespace stele::internal::lab
