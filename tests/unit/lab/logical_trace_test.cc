// Tests the calls that make logical traces: what they write, what they refuse, and what ends them.
#include "stele/lab/logical_trace.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/logical/time_order.h"
#include "lab/workload/logical_trace.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::CompareOptions;
using stele::lab::Design;
using stele::lab::RecordsToLogicalOptions;
using stele::lab::RecordsToLogicalReport;
using stele::lab::RecordsToLogicalTrace;
using stele::lab::SynthesizeLogicalTrace;
using stele::lab::TraceToLogicalOptions;
using stele::lab::TraceToLogicalReport;
using stele::lab::TraceToLogicalTrace;

// Visits of pages, by user.
constexpr char kVisitsByUser[] = R"(stele: design/1
inputs: {visits: {file: visits.csv}}
tables:
  visits:
    families: {v: {gc: "maxversions=1"}}
    key: "{user}#{page}"
    rows: [{input: visits, when: {kind: page}, timestamp: "1000", cells: {"v:n": "{pieces}"}}]
    queries:
      of-user: {read: {prefix: "{user}#"}, answer: ["v:n"]}
      add: {write: visits}
)";

class LogicalTraceTest : public testing::Test {
 protected:
  LogicalTraceTest()
      : csv_(directory_.Write("visits.csv",
                              "time,user,page,kind,pieces\n"
                              "1700000001,u2,/b,page,3\n"
                              "1700000000500,u3,/c,image,2\n"
                              "1700000000,u1,/a,page,1\n")),
        design_(DesignOf("visits", kVisitsByUser)) {}

  Design DesignOf(const std::string& name, const std::string& text) const {
    auto design = Design::Parse(text, directory_.File(name + ".yaml"));
    EXPECT_TRUE(design.ok()) << design.status();
    return *std::move(design);
  }
  // Collects the lines.
  std::function<absl::Status(std::string_view)> Into(std::vector<std::string>* lines) const {
    return [lines](std::string_view text) {
      EXPECT_TRUE(text.ends_with('\n')) << text;
      for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at) + 1;
        lines->emplace_back(text.substr(at, end - at));
        at = end;
      }
      return absl::OkStatus();
    };
  }
  // Collects the lines, and requests a stop after so many.
  std::function<absl::Status(std::string_view)> StopsAfter(size_t count,
                                                           std::vector<std::string>* lines,
                                                           std::stop_source* stop) const {
    return [=, write = Into(lines)](std::string_view text) {
      const absl::Status written = write(text);
      if (lines->size() == count) stop->request_stop();
      return written;
    };
  }
  // The workload that a replay reads.
  LogicalWorkload ReadBack(const std::vector<std::string>& lines) const {
    std::string text;
    for (const std::string& line : lines) text += line;
    auto workload = ReadLogicalTrace(directory_.Write("workload.jsonl", text),
                                     {{.design = design_, .name = "visits", .table = "visits"}});
    EXPECT_TRUE(workload.ok()) << workload.status();
    return workload.ok() ? *std::move(workload) : LogicalWorkload();
  }
  static void ExpectError(const absl::Status& status, absl::StatusCode code,
                          const std::string& message) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_NE(std::string(status.message()).find(message), std::string::npos) << status;
  }

  TemporaryDirectory directory_;
  const std::string csv_;
  const Design design_;
};

TEST_F(LogicalTraceTest, LinesAreSortedIfAllHaveTimes) {
  const auto line = [](const std::string& time, const std::string& user) {
    return "{" + time + "\"query\":\"of-user\",\"params\":{\"user\":\"" + user + "\"}}\n";
  };
  const auto users_of = [](const LogicalWorkload& workload) {
    std::string users;
    for (const LogicalOperation& operation : workload.operations)
      users += workload.queries[operation.query].records[operation.record].at("user") + " ";
    return users;
  };
  const std::vector<std::string> timed = {line("\"t\":7000000,", "c"), line("\"t\":2000000,", "a"),
                                          line("\"t\":5000000,", "b"), line("\"t\":2000000,", "A")};
  const LogicalWorkload sorted = ReadBack(timed);
  EXPECT_EQ(users_of(sorted), "a A b c ");
  ASSERT_EQ(sorted.operations.size(), 4u);
  EXPECT_EQ(sorted.operations[0].micros, 0);
  EXPECT_EQ(sorted.operations[2].micros, 3'000'000);
  EXPECT_EQ(sorted.operations[3].micros, 5'000'000);
  EXPECT_EQ(sorted.recorded_rate, 3.0 / 5);
  const LogicalWorkload untimed = ReadBack({timed[0], line("", "z"), timed[1]});
  EXPECT_FALSE(untimed.has_times);
  EXPECT_EQ(users_of(untimed), "c z a ");
}

class SynthesizeTest : public LogicalTraceTest {
 protected:
  SynthesizeTest() {
    options_.designs = {design_};
    options_.operations = 100;
  }
  std::vector<std::string> Drawn() const {
    std::vector<std::string> lines;
    const absl::Status drawn = SynthesizeLogicalTrace(options_, rate_, Into(&lines));
    EXPECT_TRUE(drawn.ok()) << drawn;
    return lines;
  }
  void ExpectRefused(const CompareOptions& options, absl::StatusCode code,
                     const std::string& message) const {
    std::vector<std::string> lines;
    ExpectError(SynthesizeLogicalTrace(options, rate_, Into(&lines)), code, message);
    EXPECT_TRUE(lines.empty()) << message;
  }

  CompareOptions options_;
  double rate_ = 1000;
};

TEST_F(SynthesizeTest, TheSeedDecidesTheTrace) {
  const std::vector<std::string> first = Drawn();
  EXPECT_EQ(first.size(), 100u);
  EXPECT_EQ(Drawn(), first);
  options_.seed = 2;
  EXPECT_NE(Drawn(), first);
}

TEST_F(SynthesizeTest, ATraceIsReadBackAsAWorkload) {
  rate_ = 500;
  const LogicalWorkload workload = ReadBack(Drawn());
  ASSERT_EQ(workload.operations.size(), 100u);
  EXPECT_TRUE(workload.has_times);
  size_t reads = 0;
  for (size_t i = 0; i < workload.operations.size(); ++i) {
    const LogicalOperation& operation = workload.operations[i];
    EXPECT_EQ(operation.micros, static_cast<int64_t>(2000 * i));
    const LogicalQuery& query = workload.queries[operation.query];
    const Design::Record& record = query.records[operation.record];
    // No row has the image.
    EXPECT_TRUE(record.at("user") == "u1" || record.at("user") == "u2") << record.at("user");
    if (query.name != "of-user") continue;
    ++reads;
    EXPECT_EQ(record.size(), 1u);
  }
  EXPECT_GT(reads, 20u);
  EXPECT_LT(reads, 80u);
}

TEST_F(SynthesizeTest, ProgressNamesThePhases) {
  std::vector<std::string> phases;
  options_.progress = [&](std::string_view phase, uint64_t, uint64_t total) {
    phases.emplace_back(phase);
    EXPECT_EQ(total, 100u);
  };
  Drawn();
  // Reading is reported after each 256 records.
  EXPECT_EQ(phases, std::vector<std::string>{"writing"});
}

TEST_F(SynthesizeTest, WrongOptionsAreRefused) {
  const auto refused = [&](absl::StatusCode code, const std::string& message, auto change) {
    CompareOptions options = options_;
    change(options);
    ExpectRefused(options, code, message);
  };
  constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
  refused(kInvalid, "CompareOptions::designs", [](auto& options) { options.designs.clear(); });
  refused(kInvalid, "CompareOptions::operations is 0",
          [](auto& options) { options.operations = 0; });
  refused(kInvalid, "CompareOptions::operations is 10000001",
          [](auto& options) { options.operations = 10'000'001; });
  for (const double rate : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    rate_ = rate;
    refused(kInvalid, "operations_per_second is", [](auto&) {});
  }
  rate_ = 1000;
  refused(kInvalid, "RecordDistribution::theta",
          [](auto& options) { options.distribution.theta = 0; });
  refused(absl::StatusCode::kNotFound, "has no table none",
          [](auto& options) { options.table = "none"; });
  refused(kInvalid, "no input \"none\"", [](auto& options) { options.inputs = {{"none", "x"}}; });
  refused(kInvalid, "would be replaced", [&](auto& options) { options.output_paths = {"", csv_}; });
}

TEST_F(SynthesizeTest, AnErrorOfTheFunctionEndsIt) {
  int calls = 0;
  const absl::Status status = SynthesizeLogicalTrace(options_, rate_, [&](std::string_view) {
    return ++calls == 3 ? absl::DataLossError("the disk is lost") : absl::OkStatus();
  });
  ExpectError(status, absl::StatusCode::kDataLoss, "the disk is lost");
  EXPECT_EQ(calls, 3);
}

TEST_F(SynthesizeTest, AStopEndsIt) {
  std::stop_source stop;
  options_.stop = stop.get_token();
  std::vector<std::string> lines;
  EXPECT_EQ(SynthesizeLogicalTrace(options_, rate_, StopsAfter(3, &lines, &stop)).code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(lines.size(), 3u);
  // It was requested before the records are read.
  lines.clear();
  EXPECT_EQ(SynthesizeLogicalTrace(options_, rate_, Into(&lines)).code(),
            absl::StatusCode::kCancelled);
  EXPECT_TRUE(lines.empty());
}

class RecordsToLogicalTest : public LogicalTraceTest {
 protected:
  RecordsToLogicalTest() {
    options_.query = "of-user";
    options_.time_field = "time";
  }

  RecordsToLogicalOptions options_;
};

TEST_F(RecordsToLogicalTest, EachRecordIsAnOperationAtItsTime) {
  std::vector<std::string> lines;
  const auto report = RecordsToLogicalTrace(csv_, options_, Into(&lines));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->written_operations, 3u);
  EXPECT_EQ(report->left_out, 0u);
  EXPECT_EQ(report->first_error, "");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            R"({"t":1700000000000000,"query":"of-user","params":{"kind":"page","page":"/a",)"
            R"("pieces":"1","time":"1700000000","user":"u1"}})"
            "\n");
  EXPECT_TRUE(lines[1].starts_with("{\"t\":1700000000500000,")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("{\"t\":1700000001000000,")) << lines[2];
}

TEST_F(RecordsToLogicalTest, ADesignSelectsFieldsAndWrittenRecords) {
  options_.designs = {design_};
  options_.query = "add";
  std::vector<std::string> lines;
  const auto report = RecordsToLogicalTrace(csv_, options_, Into(&lines));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->written_operations, 2u);
  EXPECT_EQ(report->left_out, 0u);
  const LogicalWorkload workload = ReadBack(lines);
  ASSERT_EQ(workload.operations.size(), 2u);
  EXPECT_TRUE(workload.has_times);
  EXPECT_EQ(workload.operations[0].micros, 0);
  EXPECT_EQ(workload.operations[1].micros, 1'000'000);
  const LogicalQuery& query = workload.queries[workload.operations[0].query];
  EXPECT_EQ(query.name, "add");
  EXPECT_EQ(query.records[workload.operations[0].record].at("user"), "u1");
  EXPECT_FALSE(query.records[workload.operations[0].record].contains("time"));
}

TEST_F(RecordsToLogicalTest, BadRecordsAreErrorsOrLeftOut) {
  const std::string path = directory_.Write("bad.csv", "time,user\nlater,u1\n1700000000,u2\n");
  std::vector<std::string> lines;
  ExpectError(RecordsToLogicalTrace(path, options_, Into(&lines)).status(),
              absl::StatusCode::kInvalidArgument, "bad.csv:2: the field \"time\" is \"later\"");
  EXPECT_TRUE(lines.empty());
  options_.skips_bad = true;
  const auto report = RecordsToLogicalTrace(path, options_, Into(&lines));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->written_operations, 1u);
  EXPECT_EQ(report->left_out, 1u);
  EXPECT_NE(report->first_error.find("bad.csv:2: "), std::string::npos) << report->first_error;
  EXPECT_EQ(lines.size(), 1u);
  const std::string all_bad = directory_.Write("all_bad.csv", "time,user\nlater,u1\n");
  ExpectError(RecordsToLogicalTrace(all_bad, options_, Into(&lines)).status(),
              absl::StatusCode::kInvalidArgument, "none of 1 record can be used; the first: ");
}

TEST_F(RecordsToLogicalTest, WrongOptionsAreRefused) {
  const auto refused = [&](absl::StatusCode code, const std::string& message, auto change) {
    RecordsToLogicalOptions options = options_;
    change(options);
    std::vector<std::string> lines;
    ExpectError(RecordsToLogicalTrace(csv_, options, Into(&lines)).status(), code, message);
    EXPECT_TRUE(lines.empty()) << message;
  };
  constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
  refused(kInvalid, "::query is empty", [](auto& options) { options.query.clear(); });
  refused(kInvalid, "must be UTF-8", [](auto& options) { options.query = "\xff"; });
  refused(kInvalid, "::time_field is empty", [](auto& options) { options.time_field.clear(); });
  refused(kInvalid, "needs designs", [](auto& options) { options.table = "visits"; });
  refused(absl::StatusCode::kNotFound, "none", [&](auto& options) {
    options.designs = {design_};
    options.query = "none";
  });
  refused(kInvalid, "would be replaced", [&](auto& options) { options.output_paths = {csv_}; });
  ExpectError(
      RecordsToLogicalTrace("visits.xyz", options_, [](auto) { return absl::OkStatus(); }).status(),
      kInvalid, "the ending states no format");
}

// Errors of the function are no bad records.
TEST_F(RecordsToLogicalTest, AnErrorOfTheFunctionEndsIt) {
  options_.skips_bad = true;
  int calls = 0;
  const auto report = RecordsToLogicalTrace(csv_, options_, [&](std::string_view) {
    return ++calls == 2 ? absl::DataLossError("the disk is lost") : absl::OkStatus();
  });
  ExpectError(report.status(), absl::StatusCode::kDataLoss, "the disk is lost");
  EXPECT_EQ(calls, 2);
}

TEST_F(RecordsToLogicalTest, AStopEndsIt) {
  std::stop_source stop;
  options_.stop = stop.get_token();
  std::vector<std::string> lines;
  EXPECT_EQ(RecordsToLogicalTrace(csv_, options_, StopsAfter(2, &lines, &stop)).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(lines.size(), 2u);
  // It was requested before the records are read.
  lines.clear();
  EXPECT_EQ(RecordsToLogicalTrace(csv_, options_, Into(&lines)).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_TRUE(lines.empty());
}

class TraceToLogicalTest : public LogicalTraceTest {
 protected:
  TraceToLogicalTest()
      : trace_(directory_.Write(
            "recorded.jsonl",
            R"({"t":1700000000200000,"op":"set","table":"visits","row":"u2#/b"})"
            "\n"
            R"({"t":1700000000000000,"op":"scan","table":"visits","start":"u1#","end":"u1$"})"
            "\n"
            R"({"t":1700000000300000,"op":"del","table":"visits","row":"u2#/b"})"
            "\n"
            R"({"t":1700000000100000,"op":"get","table":"other","row":"u2#/b"})"
            "\n")) {}

  const std::string trace_;
};

TEST_F(TraceToLogicalTest, EachOperationBecomesItsQuery) {
  std::vector<std::string> lines;
  const auto report = TraceToLogicalTrace(trace_, design_, {}, Into(&lines));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->recorded_operations, 4u);
  EXPECT_EQ(report->written_operations, 2u);
  const std::map<std::string, uint64_t> left_out = {{"del: a design has no query that deletes", 1},
                                                    {"the operation is on another table", 1}};
  EXPECT_EQ(report->left_out, left_out);
  EXPECT_EQ(report->skipped_lines, 0u);
  EXPECT_TRUE(report->notes.empty());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0],
            "{\"t\":1700000000000000,\"query\":\"of-user\",\"params\":{\"user\":\"u1\"}}\n");
  const LogicalWorkload workload = ReadBack(lines);
  ASSERT_EQ(workload.operations.size(), 2u);
  EXPECT_EQ(workload.operations[1].micros, 200'000);
  const LogicalQuery& add = workload.queries[workload.operations[1].query];
  EXPECT_EQ(add.name, "add");
  // The record of the input has more than the row key.
  EXPECT_EQ(add.records[workload.operations[1].record].at("pieces"), "3");
}

TEST_F(TraceToLogicalTest, WrongLinesAreErrorsOrSkipped) {
  const std::string path = directory_.Write(
      "wrong.jsonl", R"({"t":1,"op":"scan","table":"visits","start":"u1#","end":"u1$"})"
                     "\n{}\n");
  std::vector<std::string> lines;
  ExpectError(TraceToLogicalTrace(path, design_, {}, Into(&lines)).status(),
              absl::StatusCode::kInvalidArgument, "wrong.jsonl");
  EXPECT_TRUE(lines.empty());
  const auto report = TraceToLogicalTrace(path, design_, {.skips_bad = true}, Into(&lines));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->skipped_lines, 1u);
  EXPECT_EQ(report->recorded_operations, 1u);
  EXPECT_EQ(lines.size(), 1u);
}

TEST_F(TraceToLogicalTest, AnInputWithoutAFileIsNoted) {
  const Design elsewhere = DesignOf("elsewhere/visits", kVisitsByUser);
  std::vector<std::string> lines;
  const auto report = TraceToLogicalTrace(trace_, elsewhere, {}, Into(&lines));
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->notes.size(), 1u);
  EXPECT_NE(report->notes[0].find("the input visits has no file"), std::string::npos);
  // The row key alone makes no cell.
  EXPECT_EQ(lines.size(), 1u);
  EXPECT_EQ(report->written_operations, 1u);
  const auto given =
      TraceToLogicalTrace(trace_, elsewhere, {.inputs = {{"visits", csv_}}}, Into(&lines));
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_TRUE(given->notes.empty());
  EXPECT_EQ(given->written_operations, 2u);
}

TEST_F(TraceToLogicalTest, WrongOptionsAreRefused) {
  const auto refused = [&](const TraceToLogicalOptions& options, absl::StatusCode code,
                           const std::string& message) {
    std::vector<std::string> lines;
    ExpectError(TraceToLogicalTrace(trace_, design_, options, Into(&lines)).status(), code,
                message);
    EXPECT_TRUE(lines.empty()) << message;
  };
  refused({.table = "none"}, absl::StatusCode::kNotFound, "has no table none");
  refused({.inputs = {{"none", "x"}}}, absl::StatusCode::kInvalidArgument, "no input \"none\"");
  for (const std::string& output : {trace_, csv_})
    refused({.output_paths = {output}}, absl::StatusCode::kInvalidArgument, "would be replaced");
  ExpectError(TraceToLogicalTrace(directory_.Write("empty.jsonl", ""), design_, {},
                                  [](std::string_view) { return absl::OkStatus(); })
                  .status(),
              absl::StatusCode::kInvalidArgument, "has no operation");
}

TEST_F(TraceToLogicalTest, AnErrorOfTheFunctionEndsIt) {
  int calls = 0;
  const auto report = TraceToLogicalTrace(trace_, design_, {}, [&](std::string_view) {
    ++calls;
    return absl::DataLossError("the disk is lost");
  });
  ExpectError(report.status(), absl::StatusCode::kDataLoss, "the disk is lost");
  EXPECT_EQ(calls, 1);
}

TEST_F(TraceToLogicalTest, AStopEndsIt) {
  std::stop_source stop;
  const TraceToLogicalOptions options{.stop = stop.get_token()};
  std::vector<std::string> lines;
  EXPECT_EQ(
      TraceToLogicalTrace(trace_, design_, options, StopsAfter(1, &lines, &stop)).status().code(),
      absl::StatusCode::kCancelled);
  EXPECT_EQ(lines.size(), 1u);
  // It was requested before the trace is read.
  lines.clear();
  EXPECT_EQ(TraceToLogicalTrace(trace_, design_, options, Into(&lines)).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_TRUE(lines.empty());
}

TEST(TimeOrderTest, PassesLinesOnByTime) {
  std::string out;
  TimeOrder order([&](std::string_view line) { out += line; });
  for (const auto& [micros, line] : {std::pair(5, "a"), {3, "b"}, {5, "c"}, {3, "d"}, {4, "e"}})
    EXPECT_TRUE(order.Add(micros, line).ok());
  EXPECT_EQ(out, "");
  order.Finish();
  EXPECT_EQ(out, "bdeac");
}

TEST(TimeOrderTest, ALineThatIsTooLateIsAnError) {
  uint64_t lines = 0;
  TimeOrder order([&](std::string_view) { ++lines; }, size_t{1} << 20);
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_TRUE(order.Add(10 + i, std::string(size_t{400} << 10, 'x')).ok());
  EXPECT_EQ(lines, 2u);
  EXPECT_TRUE(order.Add(11, "x").ok());
  const absl::Status late = order.Add(10, "x");
  EXPECT_EQ(late.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(late.message().find("more than 1 MiB further up"), absl::string_view::npos) << late;
  EXPECT_EQ(order.count(), 5u);
  order.Finish();
  EXPECT_EQ(lines, 5u);
}

}  // namespace
}  // namespace stele::internal::lab
