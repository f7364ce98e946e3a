// Tests comparisons of designs through the public header: what is counted, reported and kept, and
// what ends them.
#include "stele/lab/compare.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "lab/compare_report/figure_table.h"
#include "stele/stele.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::CompareCaches;
using stele::lab::CompareDesigns;
using stele::lab::CompareOptions;
using stele::lab::CompareReport;
using stele::lab::Design;
using stele::lab::EstimateSettings;
using stele::lab::HeatMap;
using stele::lab::HeatMetric;
using stele::lab::HeatSeverity;
using stele::lab::RecordDistribution;
using stele::lab::ReplayRate;

// A design of orders; `key` and the rows of the query of-user differ.
std::string OrdersDesign(const std::string& table, const std::string& key,
                         const std::string& of_user) {
  return fmt::format(R"(stele: design/1
inputs: {{orders: {{file: orders.csv}}}}
tables:
  {}:
    families: {{o: {{gc: "maxversions=1"}}}}
    key: "{}"
    rows: [{{input: orders, timestamp: "1000", cells: {{"o:item": "{{item}}"}}}}]
    queries:
      of-user: {{weight: 6, read: {{{}}}, answer: ["o:item"]}}
      one: {{weight: 3, read: {{row: "{}"}}}}
      add: {{write: orders}}
)",
                     table, key, of_user, key);
}

uint64_t SumOf(const std::vector<uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

class CompareDesignsTest : public testing::Test {
 protected:
  CompareDesignsTest() {
    std::string csv = "user,number,item\n";
    for (int user = 0; user < 10; ++user)
      for (int number = 0; number < 4; ++number)
        csv += fmt::format("u{},{},hat{}{}\n", user, number, user, number);
    directory_.Write("orders.csv", csv);
    options_.designs = {
        DesignOf("by-user", OrdersDesign("orders", "{user}#{number}", "prefix: \"{user}#\"")),
        DesignOf("by-number", OrdersDesign("by_number", "{number}#{user}",
                                           "filter: 'row_regex(\".*#{user}\")'"))};
    options_.operations = 100;
    options_.rounds = 1;
    options_.makes_page = false;
    options_.time = Timestamp::FromMicros(5000);
    options_.work_directory = NewDirectory("work");
  }

  Design DesignOf(const std::string& name, const std::string& text) const {
    auto design = Design::Parse(text, directory_.File(name + ".yaml"));
    EXPECT_TRUE(design.ok()) << design.status();
    return *std::move(design);
  }
  std::string NewDirectory(const std::string& name) const {
    const std::string path = directory_.File(name);
    EXPECT_TRUE(std::filesystem::create_directory(path));
    return path;
  }
  CompareReport Compared() const {
    auto report = CompareDesigns(options_);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *std::move(report) : CompareReport();
  }
  void ExpectRefused(const CompareOptions& options, const std::string& message) const {
    const auto report = CompareDesigns(options);
    EXPECT_EQ(report.status().code(), absl::StatusCode::kInvalidArgument) << report.status();
    EXPECT_NE(std::string(report.status().message()).find(message), std::string::npos)
        << report.status();
    EXPECT_TRUE(std::filesystem::is_empty(options_.work_directory)) << message;
  }

  TemporaryDirectory directory_;
  CompareOptions options_;
};

TEST(FigureTableTest, AStarNeedsRoundsThatDoNotOverlap) {
  FigureTable table({"one", "other"});
  const auto best = [&](const CompareReport::Measured& one, const CompareReport::Measured& other) {
    table.AddMeasured("p50", "p50", FigureTable::Direction::kLowerIsBetter, {one, other},
                      [](double number) { return fmt::format("{}", number); });
    return table.groups().back().lines.back().best;
  };
  const auto one_round = [](double number) {
    return CompareReport::Measured{.median = number, .least = number, .largest = number};
  };
  EXPECT_EQ(best(one_round(100), one_round(111)), 0u);
  EXPECT_EQ(best(one_round(100), one_round(109)), std::nullopt);
  EXPECT_EQ(best({.median = 100, .least = 90, .largest = 110},
                 {.median = 130, .least = 120, .largest = 140}),
            0u);
  EXPECT_EQ(best({.median = 100, .least = 90, .largest = 125},
                 {.median = 130, .least = 120, .largest = 140}),
            std::nullopt);
}

TEST(FigureTableTest, GroupsAndRowsAreAText) {
  constexpr auto kLower = FigureTable::Direction::kLowerIsBetter;
  const auto whole = [](double number) { return fmt::format("{:.0f}", number); };
  FigureTable table({"one", "other"});
  table.AddExact("bytes", "bytes", kLower, {100, 200}, whole);
  table.AddGroup("newest-of-user");
  table.AddExact("p50 us", "p50", kLower, {9, 3}, whole);
  table.AddExact("p99 us", "p99", kLower, {50, 50}, whole);
  table.JoinLines(2, "p50 / p99 us");
  table.AddExact("share", "share", kLower, {1, 7}, whole);
  table.AddText("Gini", {"0", "1"});
  table.JoinLines(2, "share, Gini");
  table.AddRemark("2 answers differ");
  table.AddGroup("answers");
  table.AddRemark("equal in 1 of 3 operations");
  table.AddRemark("one has 4 values");
  EXPECT_EQ(table.name_width(), 16u);
  EXPECT_EQ(table.Text(),
            "                                     one               other\n"
            "bytes                                100 *             200\n"
            "newest-of-user  p50 / p99 us         9 / 50            3 * / 50\n"
            "                share, Gini          1 *, 0            7, 1\n"
            "                2 answers differ\n"
            "answers         equal in 1 of 3 operations\n"
            "                one has 4 values\n");
  EXPECT_EQ(table.Summary(), "one is better at bytes and share; other is better at p50.\n");
  table.AddExact("cells", "cells", kLower, {1, 2}, whole);
  EXPECT_EQ(table.Summary(), "one is better at bytes, share and cells; other is better at p50.\n");
}

TEST(FigureTableTest, NoStarIsASentence) {
  FigureTable table({"one", "other"});
  table.AddText("table", {"a", "b"});
  EXPECT_EQ(table.Summary(), "No design is clearly better at any figure.\n");
}

TEST_F(CompareDesignsTest, CountsAreExact) {
  const CompareReport report = Compared();
  ASSERT_EQ(report.designs.size(), 2u);
  ASSERT_EQ(report.queries.size(), 3u);
  EXPECT_EQ(report.queries[0].name, "of-user");
  EXPECT_EQ(report.queries[0].written_input, "");
  EXPECT_EQ(report.queries[2].written_input, "orders");
  EXPECT_EQ(report.operations, 100u);
  EXPECT_EQ(report.designs[0].name, "by-user");
  EXPECT_EQ(report.designs[1].table, "by_number");
  for (const CompareReport::DesignFigures& design : report.designs) {
    EXPECT_EQ(design.data.records, 40u);
    EXPECT_EQ(design.data.rows, 40u);
    EXPECT_EQ(design.data.cells_kept, 40u);
    EXPECT_EQ(design.data.logical_bytes(), 40u * (4 + 5 + 5));
    EXPECT_GT(design.data.logged_bytes, design.data.logical_bytes()) << "not compressed";
    EXPECT_GE(design.data.written_bytes, design.data.logged_bytes + design.data.disk_bytes);
    ASSERT_EQ(design.queries.size(), 3u);
    const CompareReport::QueryFigures& of_user = design.queries[0];
    EXPECT_GT(of_user.operations, design.queries[1].operations) << "the weights";
    EXPECT_EQ(of_user.requests, of_user.operations);
    EXPECT_EQ(of_user.stats.rows_returned, 4 * of_user.operations);
    EXPECT_EQ(of_user.bytes_returned, 4 * of_user.operations * (4 + 4 + 5));
    EXPECT_EQ(of_user.operations + design.queries[1].operations + design.queries[2].operations,
              100u);
    ASSERT_TRUE(design.warm.has_value());
    EXPECT_FALSE(design.cold.has_value());
    EXPECT_EQ(design.warm->queries[0].all_rounds.count(), of_user.operations);
    EXPECT_EQ(SumOf(design.warm->rates.operations), 100u);
    ASSERT_TRUE(design.heat_map.has_value());
    EXPECT_FALSE(design.page_heat_map.has_value());
    EXPECT_FALSE(design.estimate.has_value());
  }
  EXPECT_EQ(report.answers_compared, report.designs[0].queries[0].operations);
  EXPECT_EQ(report.answers_equal, report.answers_compared);
  EXPECT_EQ(report.answers_empty, 0u);
  EXPECT_TRUE(report.differences.empty());
}

TEST_F(CompareDesignsTest, TheBytesOfAllRecordsAreCounted) {
  std::string csv = "user,number,item\n";
  for (const std::string_view item : {"hat", "cap", "bow"}) csv += fmt::format("u1,1,{}\n", item);
  directory_.Write("orders.csv", csv);
  options_.allows_duplicates = true;
  const CompareReport report = Compared();
  ASSERT_EQ(report.designs.size(), 2u);
  EXPECT_EQ(report.designs[0].data.logical_bytes(), 4u + 5u + 3u);
  EXPECT_EQ(report.designs[0].data.loaded_logical_bytes, 3 * (4u + 5u + 3u));
}

// Changes a byte of each file with this ending below the directory, a quarter behind its begin.
void DamageFiles(const std::string& directory, const std::string& ending) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().extension() != ending) continue;
    std::fstream file(entry.path(), std::ios::binary | std::ios::in | std::ios::out);
    const auto place = static_cast<std::streamoff>(entry.file_size() / 4);
    file.seekg(place);
    const int byte = file.get();
    file.seekp(place);
    file.put(static_cast<char>(byte ^ 0xff));
    EXPECT_TRUE(file.flush()) << entry.path();
  }
}

TEST(CompareReportTest, AReportWithoutDesignsHasThreeForms) {
  CompareReport report;
  report.notes = {"a remark"};
  EXPECT_NE(report.ToText().find("0 operations"), std::string::npos) << report.ToText();
  EXPECT_NE(report.ToJson("1.2.3").find("\"designs\":[]"), std::string::npos);
  EXPECT_NE(report.ToJson("1.2.3").find("\"notes\":[\"a remark\"]"), std::string::npos);
  EXPECT_NE(report.ToHtml().find("Comparison of designs"), std::string::npos);
}

TEST_F(CompareDesignsTest, AFailedOperationEndsItsRound) {
  // The other operations, also those of other threads, are due after hours.
  options_.rate = ReplayRate::PerSecond(0.0001);
  options_.operations = 20;
  options_.threads = 4;
  options_.caches = CompareCaches::kCold;
  options_.progress = [&](std::string_view phase, uint64_t done, uint64_t) {
    if (phase == "measuring, cold" && done == 0)
      DamageFiles(options_.work_directory + "/by-user", ".sst");
  };
  const auto report = CompareDesigns(options_);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kDataLoss) << report.status();
  EXPECT_NE(report.status().message().find("by-user, query "), absl::string_view::npos)
      << report.status();
}

TEST_F(CompareDesignsTest, TheReportHasThreeForms) {
  options_.makes_page = true;
  options_.seed = 7;
  options_.distribution.kind = RecordDistribution::Kind::kZipfian;
  const CompareReport report = Compared();
  ASSERT_EQ(report.designs.size(), 2u);
  EXPECT_TRUE(report.designs[1].page_heat_map.has_value());
  EXPECT_TRUE(report.ToText().starts_with("loading     by-user  40 records, ")) << report.ToText();
  EXPECT_NE(report.ToText().find("\nreplaying   100 operations, closed loop, 1 thread, rounds 1, "
                                 "zipfian, theta 0.99 distribution, seed 7\n"),
            std::string::npos)
      << report.ToText();
  const auto json = nlohmann::json::parse(report.ToJson("1.2.3"), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["version"], "1.2.3");
  EXPECT_EQ(json["designs"][1]["table"], "by_number");
  EXPECT_EQ(json["designs"][0]["data"]["disk_bytes"], report.designs[0].data.disk_bytes);
  EXPECT_NE(report.ToHtml().find("compare-map-1"), std::string::npos);
}

// The JSON of a heat map has the same patterns.
TEST_F(CompareDesignsTest, TheJsonHasThePatternsOfTheHeatMap) {
  CompareReport report = Compared();
  HeatMap::Parts parts = report.designs[0].heat_map->parts();
  parts.patterns = {{.name = "hot-row",
                     .severity = HeatSeverity::kWarning,
                     .rule = "KEY-HOT-ROW",
                     .message = "a \"row\"",
                     .measured = 0.34567,
                     .row = "u1\xff"},
                    {.name = "hot-range", .measured = 1.0 / 3, .bands = {{3, 4}}},
                    {.name = "hot-tablet",
                     .measured = 0.5,
                     .tablet = std::pair<std::string, std::string>("u1", "")},
                    {.name = "sequential-reads", .measured = 0.99, .direction = "ascending"},
                    {.name = "full-scan", .measured = 12, .is_count = true},
                    {.name = "periodic", .measured = 1, .period_seconds = 2.5, .from_step = 6}};
  report.designs[0].heat_map = HeatMap(parts);
  const auto json = nlohmann::json::parse(report.ToJson("1.2.3"), nullptr, false);
  for (size_t i = 0; i < report.designs.size(); ++i) {
    const auto map =
        nlohmann::json::parse(report.designs[i].heat_map->ToJson(HeatMetric::kOps), nullptr, false);
    EXPECT_FALSE(map["patterns"].empty()) << i;
    EXPECT_EQ(json["designs"][i]["patterns"], map["patterns"]);
  }
}

TEST_F(CompareDesignsTest, TheJsonHasTheHeatMapOfThePage) {
  options_.makes_page = true;
  CompareReport report = Compared();
  ASSERT_EQ(report.designs.size(), 2u);
  const auto json = nlohmann::json::parse(report.ToJson("1.2.3"), nullptr, false);
  for (size_t i = 0; i < report.designs.size(); ++i) {
    const auto map = nlohmann::json::parse(
        report.designs[i].page_heat_map->ToJson(HeatMetric::kOps), nullptr, false);
    EXPECT_EQ(json["designs"][i]["heat_map"], map);
    EXPECT_EQ(map["metrics"]["ops"].size(), map["bands"].size());
    EXPECT_EQ(map["metrics"]["ops"][0].size(), 100u) << "a step per operation";
    report.designs[i].page_heat_map.reset();
  }
  const auto other = nlohmann::json::parse(report.ToJson("1.2.3"), nullptr, false);
  EXPECT_EQ(other["designs"][0]["heat_map"]["steps"], 1) << "the other map";
}

TEST_F(CompareDesignsTest, TheJsonHasTheLeastAndTheLargestOfTheRounds) {
  CompareReport report = Compared();
  report.rate = ReplayRate::PerSecond(5);
  CompareReport::TimedFigures& timed = *report.designs[1].warm;
  timed.operations_per_second = {.median = 20.26, .least = 10.04, .largest = 30.06};
  timed.cpu_seconds = {.median = 0.25, .least = 0.125, .largest = 0.5};
  timed.late = {.median = 1.5, .least = 1, .largest = 7};
  timed.queries[0].p50 = {.median = 2000, .least = 1000, .largest = 9040};
  timed.queries[0].p99 = {.median = 5000, .least = 4000, .largest = 6000};
  report.designs[1].cold = timed;
  const auto json = nlohmann::json::parse(report.ToJson("1.2.3"), nullptr, false)["designs"][1];
  const auto expect = [](const nlohmann::json& of, const std::string& name, double median,
                         double least, double largest) {
    EXPECT_EQ(of[name], median) << name;
    EXPECT_EQ(of[name + "_least"], least) << name;
    EXPECT_EQ(of[name + "_largest"], largest) << name;
  };
  for (const auto& of : {json, json["cold"]}) {
    expect(of, "operations_per_second", 20.3, 10, 30.1);
    expect(of, "cpu_seconds", 0.25, 0.125, 0.5);
    expect(of, "late", 1.5, 1, 7);
  }
  for (const char* const latency : {"latency_us", "cold_latency_us"}) {
    expect(json["queries"][0][latency], "p50", 2, 1, 9);
    expect(json["queries"][0][latency], "p99", 5, 4, 6);
  }
}

TEST_F(CompareDesignsTest, TheRatesOfARoundFollowThoseBefore) {
  // The last operation of a round is due 19 ms after the first one.
  options_.rate = ReplayRate::PerSecond(1000);
  options_.operations = 20;
  options_.rounds = 2;
  options_.threads = 2;
  options_.caches = CompareCaches::kBoth;
  const CompareReport report = Compared();
  ASSERT_EQ(report.designs.size(), 2u);
  for (const CompareReport::DesignFigures& design : report.designs) {
    for (const auto& timed : {design.warm, design.cold}) {
      ASSERT_TRUE(timed.has_value());
      const stele::lab::OperationRates& rates = timed->rates;
      EXPECT_EQ(SumOf(rates.operations), 2 * 20u);
      EXPECT_GE(rates.time, 2 * std::chrono::milliseconds(19));
      const auto intervals = static_cast<int64_t>(rates.operations.size());
      EXPECT_GT(rates.interval * intervals, 2 * std::chrono::milliseconds(19));
      EXPECT_LE(rates.interval * (intervals - 1), rates.time);
    }
  }
}

TEST_F(CompareDesignsTest, TheJsonAndThePageHaveRates) {
  using std::chrono::microseconds;
  CompareReport report = Compared();
  ASSERT_EQ(report.designs.size(), 2u);
  report.designs[0].warm->rates = {
      .interval = microseconds(2000), .time = microseconds(5500), .operations = {3, 4, 1}};
  report.designs[1].warm->rates = {
      .interval = microseconds(2000), .time = microseconds(4500), .operations = {3, 4, 1}};
  report.designs[0].cold = report.designs[1].warm;
  report.designs[1].cold = report.designs[0].warm;
  const auto json = nlohmann::json::parse(report.ToJson("1.2.3"), nullptr, false)["designs"];
  const auto rates = [](int64_t time_us) {
    return nlohmann::json({{"interval_us", 2000}, {"time_us", time_us}, {"operations", {3, 4, 1}}});
  };
  EXPECT_EQ(json[0]["rates"], rates(5500));
  EXPECT_EQ(json[1]["rates"], rates(4500));
  EXPECT_EQ(json[0]["cold"]["rates"], rates(4500));
  // The last interval of 0.5 ms is a part of the one before.
  const std::string one = "[[0.002,1500.0],[0.004,2000.0],[0.0055,666.7]]";
  const std::string other = "[[0.002,1500.0],[0.0045,2000.0]]";
  const std::string page = report.ToHtml();
  EXPECT_NE(page.find("\"rates\":[{\"title\":\"all queries\",\"curves\":[" + one + "," + other +
                      "]},{\"title\":\"all queries (cold cache)\",\"curves\":[" + other + "," +
                      one + "]}]"),
            std::string::npos);
}

// The last line of the text names the same figures.
TEST_F(CompareDesignsTest, TheJsonHasTheStarsOfTheTable) {
  const CompareReport report = Compared();
  const auto json = nlohmann::json::parse(report.ToJson("1.2.3"), nullptr, false);
  ASSERT_TRUE(json["better"].is_array());
  const std::string text = report.ToText();
  size_t stars = 0;
  for (size_t at = text.find(" *"); at != std::string::npos; at = text.find(" *", at + 1)) ++stars;
  EXPECT_EQ(json["better"].size(), stars) << text;
  bool has_rows_seen = false;
  for (const auto& each : json["better"]) {
    const auto figure = each["figure"].get<std::string>();
    EXPECT_NE(text.rfind(figure), std::string::npos) << figure;
    has_rows_seen = has_rows_seen || (figure == "of-user rows seen / returned" &&
                                      each["design"] == report.designs[0].name);
  }
  EXPECT_TRUE(has_rows_seen) << json["better"];
}

TEST_F(CompareDesignsTest, ALogicalTraceIsTheWorkload) {
  options_.trace_path =
      directory_.Write("workload.jsonl",
                       "{\"t\":5,\"query\":\"one\",\"params\":{\"user\":\"u1\",\"number\":\"2\"}}\n"
                       "{\"t\":6,\"query\":\"of-user\",\"params\":{\"user\":\"u3\"}}\n");
  options_.rate = ReplayRate::Recorded();
  options_.caches = CompareCaches::kBoth;
  options_.threads = 2;
  const CompareReport report = Compared();
  ASSERT_EQ(report.designs.size(), 2u);
  EXPECT_EQ(report.operations, 2u);
  EXPECT_TRUE(report.has_times);
  EXPECT_EQ(report.trace, options_.trace_path);
  for (const CompareReport::DesignFigures& design : report.designs) {
    EXPECT_EQ(design.queries[0].stats.rows_returned, 4u);
    EXPECT_EQ(design.queries[1].stats.rows_returned, 1u);
    EXPECT_EQ(design.queries[2].operations, 0u);
    ASSERT_TRUE(design.warm.has_value());
    ASSERT_TRUE(design.cold.has_value());
    EXPECT_EQ(design.cold->queries[1].all_rounds.count(), 1u);
  }
  EXPECT_NE(report.ToText().find("warm and cold cache"), std::string::npos);

  options_.trace_path =
      directory_.Write("no-times.jsonl", "{\"query\":\"of-user\",\"params\":{\"user\":\"u3\"}}\n");
  options_.work_directory = NewDirectory("other");
  ExpectRefused(options_, "has no times: use another CompareOptions::rate");
}

TEST_F(CompareDesignsTest, DifferentAnswersAreCounted) {
  options_.designs[1] =
      DesignOf("all", OrdersDesign("orders", "{number}#{user}", "start: \"0\", limit: 7"));
  const CompareReport report = Compared();
  EXPECT_EQ(report.answers_equal, 0u);
  EXPECT_EQ(report.queries[0].differing_operations, report.answers_compared);
  ASSERT_EQ(report.differences.size(), 3u);
  EXPECT_EQ(report.differences[0].query, 0u);
  EXPECT_EQ(report.differences[0].record.size(), 1u);
  EXPECT_EQ(report.differences[0].values, (std::vector<uint64_t>{4, 7}));
  const auto json = nlohmann::json::parse(report.ToJson("1.2.3"), nullptr, false);
  EXPECT_EQ(json["designs"][0]["queries"][0]["differing_operations"], report.answers_compared);
}

TEST_F(CompareDesignsTest, NoDesignHasBetterSizesIfAnswersDiffer) {
  CompareReport report = Compared();
  ASSERT_EQ(report.designs.size(), 2u);
  report.designs[1].data.value_bytes += report.designs[0].data.logical_bytes();
  report.designs[1].data.disk_bytes = 2 * report.designs[0].data.disk_bytes;
  const auto better = [&] {
    std::set<std::string> figures;
    const auto json = nlohmann::json::parse(report.ToJson("1.2.3"), nullptr, false);
    for (const auto& each : json["better"]) figures.insert(each["figure"].get<std::string>());
    return figures;
  };
  EXPECT_TRUE(better().contains("logical bytes"));
  EXPECT_TRUE(better().contains("disk bytes"));
  --report.answers_equal;
  EXPECT_FALSE(better().contains("logical bytes"));
  EXPECT_FALSE(better().contains("disk bytes"));
}

TEST_F(CompareDesignsTest, ASingleThingIsNoPlural) {
  CompareReport report = Compared();
  ASSERT_EQ(report.designs.size(), 2u);
  const auto expect = [&](const std::string& part) {
    const std::string text = report.ToText();
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  };
  report.queries[0].differing_operations = 1;
  report.queries[0].unusable_records = 1;
  report.queries[0].first_unusable_record = "a.csv:2: no user";
  report.answers_empty = 1;
  report.differences = {{.query = 0, .record = {{"user", "u1"}}, .values = {1, 2}}};
  expect(" 1 answer differs, so no design is better\n");
  expect(" 1 record is left out: a.csv:2: no user\n");
  expect(" 1 of them has no value in any design: check the columns of answer\n");
  expect(" of-user, user=u1: by-user 1 value, by-number 2 values\n");
  report.queries[0].differing_operations = 1200;
  report.queries[0].unusable_records = 2;
  report.answers_empty = 2;
  expect(" 1,200 answers differ, so no design is better\n");
  expect(" 2 records are left out, the first one: a.csv:2: no user\n");
  expect(" 2 of them have no value in any design: check the columns of answer\n");
}

TEST_F(CompareDesignsTest, BytesThatAreNotUtf8AreBase64InTheJson) {
  CompareReport report = Compared();
  ASSERT_EQ(report.designs.size(), 2u);
  report.trace = "t\xff.jsonl";
  report.designs[0].data.largest_row = "/\xff\x01";
  report.designs[1].data.largest_row = "a\\b\u202e";
  report.differences = {
      {.query = 1, .record = {{"number", "\xff\x01"}, {"user", "\u00fc"}}, .values = {1, 0}}};
  const std::string text = report.ToJson("1.2.3");
  EXPECT_EQ(text.find("\u202e"), std::string::npos) << "a terminal would turn the text around";
  const auto json = nlohmann::json::parse(text, nullptr, false);
  EXPECT_FALSE(json.contains("trace"));
  EXPECT_EQ(json["trace_base64"], "dP8uanNvbmw=");
  const auto& designs = json["designs"];
  EXPECT_FALSE(designs[0]["data"].contains("largest_row"));
  EXPECT_EQ(designs[0]["data"]["largest_row_base64"], "L/8B");
  EXPECT_EQ(designs[1]["data"]["largest_row"], "a\\b\u202e");
  EXPECT_FALSE(designs[1]["data"].contains("largest_row_base64"));
  const auto expected = nlohmann::json::parse(
      R"({"query":"one","record":{"user":"\u00fc"},"record_base64":{"number":"/wE="},)"
      R"("values":[1,0]})");
  EXPECT_EQ(json["differences"], nlohmann::json::array({expected}));
}

TEST_F(CompareDesignsTest, AnEstimateCountsNodes) {
  const auto settings =
      EstimateSettings::Load(directory_.Write("node.yaml", "{reads: 10, rate: 1000, target: 1}\n"));
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->node_reads_per_second, 10);
  EXPECT_EQ(settings->node_writes_per_second, 14'000);
  options_.estimate = *settings;
  const CompareReport report = Compared();
  EXPECT_EQ(report.estimate_rate, 1000);
  for (const CompareReport::DesignFigures& design : report.designs) {
    ASSERT_TRUE(design.estimate.has_value());
    const auto reads =
        static_cast<double>(design.queries[0].operations + design.queries[1].operations);
    EXPECT_DOUBLE_EQ(design.estimate->reads_per_second, reads * 10);
    EXPECT_GE(design.estimate->nodes, static_cast<uint64_t>(reads));
    EXPECT_FALSE(design.estimate->month_price.has_value());
  }
  EXPECT_NE(report.ToText().find("\n            for Cloud Bigtable: 1,000 operations/s\n"),
            std::string::npos)
      << report.ToText();
  const auto wrong = EstimateSettings::Load(directory_.Write("wrong.yaml", "{reads: -1}\n"));
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument) << wrong.status();
}

TEST_F(CompareDesignsTest, AnEstimateOfWritesHasTheSizeOfALoadedRecord) {
  std::string csv = "user,number,item\n";
  for (const char byte : {'a', 'b', 'c'}) csv += fmt::format("u1,1,{}\n", std::string(1500, byte));
  directory_.Write("orders.csv", csv);
  options_.allows_duplicates = true;
  options_.estimate = EstimateSettings{.operations_per_second = 1000};
  const CompareReport report = Compared();
  ASSERT_EQ(report.designs.size(), 2u);
  for (const CompareReport::DesignFigures& design : report.designs) {
    ASSERT_EQ(design.data.logical_bytes(), 4u + 5u + 1500u) << "readers see one of three records";
    ASSERT_TRUE(design.estimate.has_value());
    ASSERT_GT(design.queries[2].requests, 0u);
    // 10 operations/s for each of the 100. A record is two rows of 1,000 bytes.
    EXPECT_DOUBLE_EQ(design.estimate->writes_per_second,
                     10 * 2 * static_cast<double>(design.queries[2].requests));
  }
}

TEST_F(CompareDesignsTest, WrongOptionsAreErrors) {
  const auto refused = [&](const std::string& message, const auto& change) {
    CompareOptions options = options_;
    change(options);
    ExpectRefused(options, message);
  };
  refused("needs at least two", [](auto& options) { options.designs.pop_back(); });
  refused("two designs are named by-user",
          [](auto& options) { options.designs[1] = options.designs[0]; });
  refused("must not begin with a point", [&](auto& options) {
    options.designs[1] = DesignOf(".hidden", OrdersDesign("t", "{user}#{number}", "row: \"a\""));
  });
  refused("work_directory", [](auto& options) { options.work_directory.clear(); });
  refused("CompareOptions::threads is 0", [](auto& options) { options.threads = 0; });
  refused("CompareOptions::threads is 257", [](auto& options) { options.threads = 257; });
  refused("CompareOptions::rounds is 0", [](auto& options) { options.rounds = 0; });
  refused("CompareOptions::operations is 0", [](auto& options) { options.operations = 0; });
  refused("finite number", [](auto& options) { options.rate = ReplayRate::PerSecond(0); });
  refused("needs a trace", [](auto& options) { options.rate = ReplayRate::Recorded(); });
  refused("RecordDistribution::theta", [](auto& options) { options.distribution.theta = 1; });
  refused("RecordDistribution::hot_rows", [](auto& options) {
    options.distribution.hot_rows = std::numeric_limits<double>::quiet_NaN();
  });
  refused("numbers of EstimateSettings",
          [](auto& options) { options.estimate = EstimateSettings{.node_reads_per_second = 0}; });
  refused("needed together",
          [](auto& options) { options.estimate = EstimateSettings{.node_hour = 1}; });
  refused("would be replaced",
          [&](auto& options) { options.output_paths = {directory_.File("orders.csv")}; });
  options_.table = "orders";
  EXPECT_EQ(CompareDesigns(options_).status().code(), absl::StatusCode::kNotFound);
  options_.table.clear();
  options_.work_directory = directory_.File("missing");
  EXPECT_EQ(CompareDesigns(options_).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CompareDesignsTest, FilesInTheWorkDirectoryStay) {
  const std::string path = directory_.Write("work/by-user.trace.jsonl", "of another comparison");
  const auto report = CompareDesigns(options_);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kAlreadyExists) << report.status();
  EXPECT_EQ(std::filesystem::file_size(path), std::string_view("of another comparison").size());
}

TEST_F(CompareDesignsTest, DatabasesStayInTheWorkDirectory) {
  std::set<std::string, std::less<>> phases;
  options_.progress = [&](std::string_view phase, uint64_t, uint64_t) { phases.emplace(phase); };
  Compared();
  EXPECT_TRUE(phases.contains("counting by-number"));
  EXPECT_TRUE(phases.contains("measuring"));
  EXPECT_TRUE(std::filesystem::exists(options_.work_directory + "/by-user.trace.jsonl"));
  {
    const auto database = Database::Open(options_.work_directory + "/by-number");
    ASSERT_TRUE(database.ok()) << database.status();
    const auto table = database->OpenTable("by_number");
    ASSERT_TRUE(table.ok()) << table.status();
    const auto row = table->ReadRow("2#u3");
    ASSERT_TRUE(row.ok()) << row.status();
    EXPECT_TRUE(row->has_value());
  }
  const auto again = CompareDesigns(options_);
  EXPECT_EQ(again.status().code(), absl::StatusCode::kAlreadyExists) << again.status();
}

TEST_F(CompareDesignsTest, AStopEndsIt) {
  std::stop_source counting;
  options_.stop = counting.get_token();
  options_.progress = [&](std::string_view phase, uint64_t, uint64_t) {
    if (phase == "counting by-number") counting.request_stop();
  };
  EXPECT_EQ(CompareDesigns(options_).status().code(), absl::StatusCode::kCancelled);

  // The second operation is due after hours.
  std::stop_source waiting;
  std::promise<void> measures;
  bool is_measuring = false;
  options_.stop = waiting.get_token();
  options_.operations = 2;
  options_.rate = ReplayRate::PerSecond(0.0001);
  options_.work_directory = NewDirectory("waiting");
  options_.progress = [&](std::string_view phase, uint64_t, uint64_t) {
    if (phase == "measuring" && !std::exchange(is_measuring, true)) measures.set_value();
  };
  // Without the phase it stops the wait, too, and the test fails.
  const std::jthread stops([&] {
    measures.get_future().wait_for(std::chrono::minutes(5));
    waiting.request_stop();
  });
  EXPECT_EQ(CompareDesigns(options_).status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(is_measuring);
}

}  // namespace
}  // namespace stele::internal::lab
