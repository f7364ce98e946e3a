// Tests replays through the public header: what runs, what is counted, and what ends them.
#include "stele/lab/replay.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/workload/replay_rate.h"
#include "stele/stele.h"
#include "support/trace_testing.h"
#include "trace/trace_format.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::Design;
using stele::lab::Replay;
using stele::lab::ReplayOptions;
using stele::lab::ReplayRate;
using stele::lab::ReplayReport;
using stele::lab::ReplayWrites;

constexpr int64_t kHourMicros = int64_t{3600} * 1'000'000;

uint64_t CountOf(const std::vector<uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

class ReplayTest : public testing::Test {
 protected:
  ReplayTest() : database_(*Database::Open("mem:")) {
    EXPECT_TRUE(database_.CreateTable("t", Schema().AddFamily("f")).ok());
  }

  // A line of a trace; `members` after t, op and table.
  static std::string Line(int64_t micros, const std::string& op, const std::string& members,
                          const std::string& table = "t") {
    return fmt::format(R"({{"t":{},"op":"{}","table":"{}",{}}})", micros, op, table, members) +
           "\n";
  }
  static ReplayOptions Fast() { return {.rate = ReplayRate::Max(), .threads = 2}; }

  absl::StatusOr<ReplayReport> Run(const std::string& trace, const ReplayOptions& options) {
    return Replay(database_, directory_.Write("trace", trace), options);
  }
  // The report of a replay that ran to its end.
  ReplayReport Ran(const std::string& trace, const ReplayOptions& options) {
    auto report = Run(trace, options);
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return {};
    EXPECT_TRUE(report->end.ok()) << report->end;
    return *std::move(report);
  }
  // The row keys of a table, each followed by a space.
  std::string RowsOf(const std::string& name) const {
    const auto table = database_.OpenTable(name);
    if (!table.ok()) return "no table";
    std::string keys;
    RowReader reader = table->ReadRows(RowSet::All());
    while (reader.Next()) keys += std::string(reader.row().row_key()) + " ";
    return keys;
  }

  TemporaryDirectory directory_;
  Database database_;
};

TEST_F(ReplayTest, CountsTheRowsCellsAndBytesOfEachKind) {
  const std::string trace =
      Line(1, "set", R"("row":"a","cells":3,"columns":["f:x","f:y"],"bytes":50)") +
      Line(2, "set", R"("row":"b","bytes":13)");
  ReplayOptions options = Fast();
  options.seed = 7;
  options.location = "mem:";
  const ReplayReport written = Ran(trace, options);
  ASSERT_EQ(written.operations.size(), 1u);
  const ReplayReport::Operations& sets = written.operations.at("set");
  EXPECT_EQ(sets.operations, 2u);
  EXPECT_EQ(sets.rows, 2u);
  EXPECT_EQ(sets.cells, 4u);
  // Without the row keys, and the qualifiers x, y and q2, and q0.
  EXPECT_EQ(sets.value_bytes, 50u - 1 - 4 + 13 - 1 - 2);
  EXPECT_EQ(sets.latencies.count(), 2u);
  EXPECT_EQ(sets.service_times.count(), 2u);
  EXPECT_EQ(written.location, "mem:");
  EXPECT_EQ(written.trace, directory_.File("trace"));
  EXPECT_EQ(written.threads, 2u);
  EXPECT_EQ(written.seed, 7u);
  EXPECT_EQ(written.sample, 1u);
  EXPECT_GT(written.time.count(), 0);
  EXPECT_EQ(written.error_count(), 0u);

  const ReplayReport read =
      Ran(Line(1, "get", R"("row":"a")") + Line(2, "get", R"("row":"missing")") +
              Line(3, "mget", R"("keys":["a","z"])") + Line(4, "scan", R"("start":"a")"),
          Fast());
  EXPECT_EQ(read.operations.at("get").operations, 2u);
  EXPECT_EQ(read.operations.at("get").rows, 1u);
  EXPECT_EQ(read.operations.at("get").cells, 3u);
  EXPECT_EQ(read.operations.at("get").value_bytes, 45u);
  EXPECT_EQ(read.operations.at("mget").rows, 1u);
  EXPECT_EQ(read.operations.at("scan").rows, 2u);
  EXPECT_EQ(read.Sum().operations, 4u);
  EXPECT_EQ(read.Sum().cells, 3u + 3 + 4);
  EXPECT_EQ(read.Sum().latencies.count(), 4u);
}

TEST_F(ReplayTest, AReportLeavesOutBytesReadThatAreUnknown) {
  ReplayReport report;
  report.operations["get"].operations = 1;
  report.operations["get"].bytes_read = 7;
  EXPECT_TRUE(report.Sum().is_work_known);
  const std::string known = report.ToJson("1");
  EXPECT_NE(known.find("\"bytes_read\":7"), std::string::npos) << known;
  report.operations["get"].is_work_known = false;
  report.operations["set"].operations = 1;
  EXPECT_FALSE(report.Sum().is_work_known);
  const std::string partly = report.ToJson("1");
  const size_t at = partly.find("\"bytes_read\"");
  ASSERT_NE(at, std::string::npos) << "that of set is known: " << partly;
  EXPECT_EQ(partly.find("\"bytes_read\"", at + 1), std::string::npos) << partly;
}

TEST_F(ReplayTest, TheSeedDecidesTheValues) {
  const auto value = [&](uint64_t seed) {
    ReplayOptions options = Fast();
    options.seed = seed;
    Ran(Line(1, "set", R"("row":"a","columns":["f:x"],"bytes":40)"), options);
    const auto cell = database_.OpenTable("t")->ReadCell("a", "f", "x");
    return cell.ok() && cell->has_value() ? std::string((*cell)->value()) : std::string("none");
  };
  const std::string first = value(1);
  EXPECT_EQ(first.size(), 40u - 2);
  EXPECT_NE(value(2), first);
  EXPECT_EQ(value(1), first);
}

TEST_F(ReplayTest, DamagedBlocksAreLeftOutAndCounted) {
  const TraceHeader header = FixedTraceHeader("0123456789abcdef", /*sample=*/4);
  std::string file = EncodeTraceHeader(header);
  size_t second = 0;
  for (uint64_t i = 0; i < 3; ++i) {
    TraceRecord record = GetTraceRecord(i);
    record.table = "t";
    record.sample = 4;
    if (i == 1) second = file.size();
    AppendRecords(header, {record}, &file);
  }
  file[second + kTraceBlockHeaderBytes] ^= 1;
  const ReplayReport report = Ran(file, Fast());
  EXPECT_EQ(report.skipped_lines, 1u);
  EXPECT_EQ(report.operations.at("get").operations, 2u);
  EXPECT_EQ(report.sample, 4u);
}

TEST_F(ReplayTest, ARecordingWithoutAnEndIsNotComplete) {
  const TraceHeader header = FixedTraceHeader();
  std::string file = EncodeTraceHeader(header);
  const auto none = Run(file, Fast());
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound) << none.status();
  TraceRecord record = GetTraceRecord(1);
  record.table = "t";
  AppendRecords(header, {record}, &file);
  const ReplayReport cut = Ran(file, Fast());
  EXPECT_FALSE(cut.is_trace_complete);
  EXPECT_EQ(cut.trace_operations, 1u);
  EXPECT_NE(cut.ToJson("1").find("\"trace_operations\":1,\"trace_is_complete\":false"),
            std::string::npos);
  AppendSummary(header, {.operations = 1, .recorded = 1}, &file);
  EXPECT_TRUE(Ran(file, Fast()).is_trace_complete);
  EXPECT_TRUE(Ran(Line(1, "get", R"("row":"a")"), Fast()).is_trace_complete);
}

TEST_F(ReplayTest, AWrongLineEndsTheReplayAfterTheOperationsBeforeIt) {
  const std::string right = Line(1, "get", R"("row":"a")");
  const auto report = Run(right + "{}\n" + right, Fast());
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->end.code(), absl::StatusCode::kInvalidArgument) << report->end;
  EXPECT_EQ(report->operations.at("get").operations, 1u);

  ReplayOptions options = Fast();
  options.skips_bad = true;
  const ReplayReport skipped = Ran(right + "{}\n" + right, options);
  EXPECT_EQ(skipped.skipped_lines, 1u);
  EXPECT_EQ(skipped.operations.at("get").operations, 2u);

  EXPECT_EQ(Run("{}\n" + right, Fast()).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Replay(database_, directory_.File("missing")).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(ReplayTest, AMissingTableIsAnErrorForTheFirstOperationOnly) {
  const std::string other = Line(1, "get", R"("row":"a")", "other");
  const absl::Status missing = Run(other, Fast()).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.message().find("with ReplayOptions::tables"), std::string::npos) << missing;
  const ReplayReport report = Ran(Line(0, "get", R"("row":"a")") + other + other, Fast());
  EXPECT_EQ(report.operations.at("get").operations, 1u);
  EXPECT_EQ(report.skipped_operations.at("operations on tables that the database does not have"),
            2u);

  ReplayOptions mapped = Fast();
  mapped.tables = {{"other", "t"}};
  EXPECT_EQ(Ran(other, mapped).operations.at("get").operations, 1u);
}

TEST_F(ReplayTest, FailedOperationsAreCountedByCode) {
  const ReplayReport report = Ran(Line(1, "set", R"("row":"a","columns":["none:x"],"bytes":9)") +
                                      Line(2, "get", R"("row":"a","filter":"nonsense")") +
                                      Line(3, "set", R"("row":"a","columns":["f:x"],"bytes":9)"),
                                  Fast());
  EXPECT_EQ(report.error_count(), 2u);
  EXPECT_GE(report.errors.count("INVALID_ARGUMENT"), 1u) << report.ToText();
  EXPECT_FALSE(report.first_error.empty());
  EXPECT_EQ(report.operations.at("set").operations, 2u);
  EXPECT_EQ(report.operations.at("set").cells, 1u) << "only of the one that succeeded";
  EXPECT_EQ(report.operations.at("set").latencies.count(), 2u);
  EXPECT_EQ(RowsOf("t"), "a ");
}

TEST_F(ReplayTest, TheTextKeepsTheQuotesOfAnError) {
  const ReplayReport report =
      Ran(Line(1, "set", R"("row":"z","columns":["none:x"],"bytes":9)"), Fast());
  EXPECT_NE(report.first_error.find("row \"z\""), std::string::npos) << report.first_error;
  EXPECT_NE(report.ToText().find("the first error: " + report.first_error + "\n"),
            std::string::npos)
      << report.ToText();
}

TEST_F(ReplayTest, WritesAndDropsRunOnlyIfTheyAreWanted) {
  const std::string trace = Line(1, "set", R"("row":"a")") + Line(2, "set", R"("row":"b")") +
                            Line(3, "drop", R"("start":"a","end":"b")") +
                            Line(4, "rmw", R"("row":"c")") + Line(5, "get", R"("row":"b")");
  ReplayOptions options = Fast();
  options.writes = ReplayWrites::kSkip;
  const ReplayReport reads = Ran(trace, options);
  EXPECT_EQ(reads.Sum().operations, 1u);
  EXPECT_EQ(reads.skipped_operations.at("writes, which are skipped"), 4u);
  EXPECT_EQ(RowsOf("t"), "");

  const ReplayReport writes = Ran(trace, Fast());
  EXPECT_EQ(writes.Sum().operations, 3u);
  EXPECT_EQ(writes.skipped_operations.size(), 2u) << "drop, and rmw without increments";
  EXPECT_EQ(RowsOf("t"), "a b ");

  options.writes = ReplayWrites::kApplyDrops;
  const ReplayReport drops = Ran(trace, options);
  EXPECT_EQ(drops.operations.at("drop").operations, 1u);
  EXPECT_EQ(RowsOf("t"), "b ");
}

TEST_F(ReplayTest, TheWarmupRunsAndIsNotCounted) {
  std::string trace;
  for (int i = 0; i < 5; ++i) trace += Line(i, "set", fmt::format(R"("row":"r{}")", i));
  ReplayOptions options = Fast();
  options.operations_max = 4;
  options.warmup_operations = 3;
  uint64_t last = 0;
  options.progress = [&](uint64_t operations) { last = operations; };
  const ReplayReport report = Ran(trace, options);
  EXPECT_EQ(report.operations.at("set").operations, 1u);
  EXPECT_EQ(report.warmup_operations, 3u);
  EXPECT_EQ(RowsOf("t"), "r0 r1 r2 r3 ");
  EXPECT_EQ(last, 4u);
}

TEST_F(ReplayTest, TheRatesBeginAfterTheWarmup) {
  using std::chrono::milliseconds;
  std::string trace;
  for (int i = 0; i < 30; ++i) trace += Line(i, "get", fmt::format(R"("row":"r{}")", i));
  const ReplayOptions open = {.rate = ReplayRate::PerSecond(1000), .threads = 3};
  ReplayOptions by_number = open;
  by_number.warmup_operations = 10;
  ReplayOptions by_time = open;
  by_time.warmup = milliseconds(10);
  for (const ReplayOptions& options : {by_number, by_time}) {
    const ReplayReport report = Ran(trace, options);
    EXPECT_EQ(report.due_rates.operations, std::vector<uint64_t>(20, 1));
    EXPECT_EQ(report.due_rates.interval, milliseconds(1));
    EXPECT_EQ(report.due_rates.time, milliseconds(20));
    const auto intervals = static_cast<int64_t>(report.rates.operations.size());
    EXPECT_EQ(CountOf(report.rates.operations), 20u);
    EXPECT_EQ(report.rates.time, report.time);
    EXPECT_GT(report.rates.interval * intervals, milliseconds(19));
    EXPECT_LE(report.rates.interval * (intervals - 1), report.rates.time);
  }

  ReplayOptions closed = Fast();
  closed.warmup_operations = 10;
  const ReplayReport report = Ran(trace, closed);
  EXPECT_EQ(CountOf(report.rates.operations), 20u);
  EXPECT_EQ(report.rates.time, report.time);
  EXPECT_TRUE(report.due_rates.operations.empty());

  closed.warmup_operations = 30;
  EXPECT_TRUE(Ran(trace, closed).rates.operations.empty());
}

TEST_F(ReplayTest, RatesHaveAtMost256Intervals) {
  std::string trace;
  for (const int millis : {0, 1, 2, 300})
    trace += Line(millis * 1000, "get", fmt::format(R"("row":"r{}")", millis));
  const ReplayReport report = Ran(trace, {.threads = 4});
  std::vector<uint64_t> due(151);
  due[0] = 2;
  due[1] = 1;
  due[150] = 1;
  EXPECT_EQ(report.due_rates.operations, due);
  EXPECT_EQ(report.due_rates.interval, std::chrono::milliseconds(2));
  EXPECT_LE(report.rates.operations.size(), 256u);
  EXPECT_EQ(CountOf(report.rates.operations), 4u);
}

TEST_F(ReplayTest, ALogicalTraceMayHaveAnyOrderOfTime) {
  const auto design = Design::Parse(
      "stele: design/1\n"
      "inputs: {in: {file: in.csv}}\n"
      "tables:\n"
      "  t:\n"
      "    families: {f: {}}\n"
      "    key: \"{user}\"\n"
      "    rows: [{input: in, cells: {\"f:item\": \"{item}\"}}]\n"
      "    queries: {one: {read: {row: \"{user}\"}}}\n",
      "d.yaml");
  ASSERT_TRUE(design.ok()) << design.status();
  std::string trace;
  for (const int millis : {0, 200, 100, 300}) {
    trace += fmt::format(R"({{"t":{},"query":"one","params":{{"user":"u{}"}}}})", millis * 1000,
                         millis) +
             "\n";
  }
  ReplayOptions options = {.design = *design, .threads = 4};
  options.warmup_operations = 1;
  const ReplayReport report = Ran(trace, options);
  EXPECT_EQ(CountOf(report.rates.operations), 3u);
  EXPECT_GE(report.time, std::chrono::milliseconds(200));
  // In the order of time, so the operation of 100 ms is the first one that is measured.
  std::vector<uint64_t> due(201);
  due[0] = due[100] = due[200] = 1;
  EXPECT_EQ(report.due_rates.operations, due);
}

TEST_F(ReplayTest, AnOpenLoopBeginsNoOperationBeforeItsTime) {
  std::string trace;
  for (int i = 0; i < 5; ++i) trace += Line(1000 + i * 4000, "get", R"("row":"a")");
  const auto scheduled = [&](const ReplayRate& rate) {
    const ReplayReport report = Ran(trace, {.rate = rate, .threads = 3});
    EXPECT_EQ(report.operations.at("get").operations, 5u);
    EXPECT_GE(report.time, report.scheduled);
    EXPECT_GE(report.operations.at("get").latencies.Max(),
              report.operations.at("get").service_times.Max() * 99 / 100);
    return report.scheduled.count();
  };
  EXPECT_EQ(scheduled(ReplayRate::Recorded()), 16'000'000);
  EXPECT_EQ(scheduled(ReplayRate::Recorded(2)), 8'000'000);
  EXPECT_EQ(scheduled(ReplayRate::PerSecond(1000)), 4'000'000);
  EXPECT_EQ(Ran(trace, Fast()).scheduled.count(), 0);
}

TEST_F(ReplayTest, AStopEndsTheWaitForALaterOperation) {
  std::stop_source stop;
  ReplayOptions options = {.threads = 2};
  options.stop = stop.get_token();
  // The second operation is due after an hour. It waits in its thread when the stop comes.
  options.progress = [&](uint64_t operations) {
    if (operations == 2) stop.request_stop();
  };
  const std::string trace = Line(0, "get", R"("row":"a")") +
                            Line(kHourMicros, "get", R"("row":"a")") +
                            Line(2 * kHourMicros, "get", R"("row":"a")");
  const auto report = Run(trace, options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->end.code(), absl::StatusCode::kCancelled) << report->end;
  EXPECT_LE(report->Sum().operations, 1u);
  EXPECT_EQ(report->error_count(), 0u);
}

TEST_F(ReplayTest, NoOperationRunsAfterAStop) {
  std::stop_source stop;
  stop.request_stop();
  ReplayOptions options = Fast();
  options.stop = stop.get_token();
  const auto report = Run(Line(1, "set", R"("row":"a")"), options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->end.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(RowsOf("t"), "");
}

// Regression: a stop was noticed only at the next operation that is replayed.
TEST_F(ReplayTest, AStopEndsTheSearchForTheNextOperation) {
  std::string writes;
  for (int i = 0; i < 1000; ++i) writes += Line(2 + i, "set", R"("row":"a")");
  std::stop_source stop;
  ReplayOptions options = Fast();
  options.writes = ReplayWrites::kSkip;
  options.stop = stop.get_token();
  options.progress = [&](uint64_t /*operations*/) { stop.request_stop(); };
  const auto later = Run(Line(1, "get", R"("row":"a")") + writes, options);
  ASSERT_TRUE(later.ok()) << later.status();
  EXPECT_EQ(later->end.code(), absl::StatusCode::kCancelled) << later->end;
  EXPECT_TRUE(later->skipped_operations.empty()) << later->ToText();

  // The stop is requested before the replay, which reads no operation then.
  const auto before = Run(writes, options);
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_EQ(before->end.code(), absl::StatusCode::kCancelled) << before->end;
  EXPECT_TRUE(before->skipped_operations.empty()) << before->ToText();
}

TEST_F(ReplayTest, AStopAfterTheLastOperationChangesNothing) {
  std::stop_source stop;
  ReplayOptions options = {.rate = ReplayRate::Max(), .threads = 1};
  options.stop = stop.get_token();
  // A drop has ended when the progress is reported, since no operation may run beside it.
  options.writes = ReplayWrites::kApplyDrops;
  options.progress = [&](uint64_t /*operations*/) { stop.request_stop(); };
  const ReplayReport report = Ran(Line(1, "drop", R"("start":"a","end":"b")"), options);
  EXPECT_EQ(report.operations.at("drop").operations, 1u);
}

TEST_F(ReplayTest, ALogicalTraceRunsTheQueriesOfADesign) {
  const auto design = Design::Parse(
      "stele: design/1\n"
      "inputs: {in: {file: in.csv}}\n"
      "tables:\n"
      "  d:\n"
      "    families: {f: {}}\n"
      "    key: \"{user}#{number}\"\n"
      "    rows: [{input: in, cells: {\"f:item\": \"{item}\"}}]\n"
      "    queries:\n"
      "      of-user: {read: {prefix: \"{user}#\"}}\n"
      "      add: {write: in}\n",
      "d.yaml");
  ASSERT_TRUE(design.ok()) << design.status();
  const std::string add = R"({"t":1,"query":"add","record":{"user":"u","number":"1","item":"hat"}})"
                          "\n";
  const std::string read = R"({"t":2,"query":"of-user","params":{"user":"u"}})"
                           "\n";
  ReplayOptions options = {.design = *design, .rate = ReplayRate::Max(), .threads = 1};
  EXPECT_EQ(Run(add + read, options).status().code(), absl::StatusCode::kNotFound)
      << "the database has no table d";
  options.tables = {{"d", "t"}};
  const ReplayReport report = Ran(add + read, options);
  EXPECT_EQ(report.operations.at("add").cells, 1u);
  EXPECT_EQ(report.operations.at("of-user").operations, 1u);
  EXPECT_EQ(RowsOf("t"), "u#1 ");
  EXPECT_EQ(Ran(read, options).operations.at("of-user").value_bytes, 3u);

  // A stop ends the search for the next operation.
  std::stop_source stop;
  ReplayOptions stopped = options;
  stopped.writes = ReplayWrites::kSkip;
  stopped.stop = stop.get_token();
  stopped.progress = [&](uint64_t /*operations*/) { stop.request_stop(); };
  const std::string first_read = R"({"t":0,"query":"of-user","params":{"user":"u"}})"
                                 "\n";
  const auto later = Run(first_read + add + add, stopped);
  ASSERT_TRUE(later.ok()) << later.status();
  EXPECT_EQ(later->end.code(), absl::StatusCode::kCancelled) << later->end;
  EXPECT_TRUE(later->skipped_operations.empty()) << later->ToText();
  // The stop is requested already, so the wrong line is not read.
  const auto before = Run(add + "{}\n", stopped);
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_EQ(before->end.code(), absl::StatusCode::kCancelled) << before->end;

  options.design_table = "other";
  EXPECT_EQ(Run(read, options).status().code(), absl::StatusCode::kNotFound);
  options.design_table = "d";
  options.rate = ReplayRate::Recorded();
  EXPECT_EQ(Run("{\"query\":\"of-user\",\"params\":{\"user\":\"u\"}}\n", options).status().code(),
            absl::StatusCode::kInvalidArgument)
      << "the line has no time";
}

TEST_F(ReplayTest, WrongOptionsAreErrors) {
  const std::string trace = Line(1, "set", R"("row":"a")");
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<ReplayOptions> wrong = {{.threads = 0}, {.threads = 257}};
  wrong.push_back({.design_table = "t"});
  for (const double number : {0.0, -1.0, infinite, std::nan("")}) {
    wrong.push_back({.rate = ReplayRate::PerSecond(number)});
    wrong.push_back({.rate = ReplayRate::Recorded(number)});
  }
  for (const ReplayOptions& options : wrong)
    EXPECT_EQ(Run(trace, options).status().code(), absl::StatusCode::kInvalidArgument)
        << options.threads << " " << ReplayRateText(options.rate);
  EXPECT_EQ(RowsOf("t"), "");
}

TEST_F(ReplayTest, TheFormsOfTheReportHaveTheFigures) {
  ReplayOptions options = {.rate = ReplayRate::PerSecond(100'000), .threads = 1};
  options.keeps_intervals = true;
  options.location = "</script>\x1b[31m";
  const ReplayReport report = Ran(Line(1, "get", R"("row":"a")"), options);
  const std::string text = report.ToText();
  EXPECT_NE(text.find("database  </script>\\x1b[31m\n"), std::string::npos) << text;
  EXPECT_NE(text.find("run       open loop, 100000 operations/s, 1 thread, seed 1\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nget             1 "), std::string::npos) << text;
  EXPECT_NE(text.find("\nall             1 "), std::string::npos) << text;
  const std::string json = report.ToJson("1.2.3");
  EXPECT_NE(json.find("\"version\":\"1.2.3\""), std::string::npos) << json;
  EXPECT_NE(json.find("\n{\"op\":\"get\",\"operations\":1,"), std::string::npos) << json;
  EXPECT_NE(json.find("\n{\"op\":\"all\",\"operations\":1,"), std::string::npos) << json;
  const std::string page = report.ToHtml();
  EXPECT_NE(page.find("\\u003c/script>"), std::string::npos);
  EXPECT_NE(page.find("Latency by percentile"), std::string::npos);
  EXPECT_NE(report.interval_log.find("\nTag=get,"), std::string::npos) << report.interval_log;
  EXPECT_EQ(Ran(Line(1, "get", R"("row":"a")"), Fast()).interval_log, "");
}

TEST_F(ReplayTest, TheJsonAndThePageHaveRates) {
  using std::chrono::microseconds;
  ReplayReport report;
  report.operations["get"].operations = 8;
  report.rates = {
      .interval = microseconds(2000), .time = microseconds(5500), .operations = {3, 4, 1}};
  report.due_rates = {
      .interval = microseconds(2000), .time = microseconds(4500), .operations = {3, 4, 1}};
  // The last interval of 0.5 ms is a part of the one before.
  const std::string reached = "[[0.002,1500.0],[0.004,2000.0],[0.0055,666.7]]";
  const std::string due = "[[0.002,1500.0],[0.0045,2000.0]]";
  const auto rates = [](int64_t time_us) {
    return nlohmann::json({{"interval_us", 2000}, {"time_us", time_us}, {"operations", {3, 4, 1}}});
  };
  const auto expect = [&](const std::string& curves, bool has_due) {
    const std::string text = report.ToJson("1.2.3");
    const size_t last = text.rfind("{\"op\":\"all\"");
    ASSERT_NE(last, std::string::npos) << text;
    auto all = nlohmann::json::parse(text.substr(last), nullptr, false);
    EXPECT_EQ(all["rates"], rates(5500));
    EXPECT_EQ(all.contains("due_rates"), has_due);
    if (has_due) {
      EXPECT_EQ(all["due_rates"], rates(4500));
    }
    EXPECT_EQ(text.substr(0, last).find("\"rates\""), std::string::npos) << text;
    const std::string page = report.ToHtml();
    EXPECT_NE(page.find("\"rates\":[{\"title\":\"all operations\",\"curves\":[" + curves + "]}]"),
              std::string::npos)
        << page;
  };
  report.rate = ReplayRate::PerSecond(1000);
  expect(reached + "," + due, true);
  report.rate = ReplayRate::Max();
  expect(reached, false);
}

}  // namespace
}  // namespace stele::internal::lab
