// Tests loads: checks before writes, duplicates, records that are left out, and several tables.
#include "stele/lab/load.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "lab/load/cell_conflicts.h"
#include "lab/load/load_check.h"
#include "lab/values/base64.h"
#include "stele/stele.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::Design;
using stele::lab::LoadDesign;
using stele::lab::LoadOptions;
using stele::lab::LoadReport;

constexpr char kDesignText[] =
    "stele: design/1\n"
    "inputs: {in: {file: in.csv}, other: {format: jsonl}}\n"
    "tables:\n"
    "  t:\n"
    "    families: {f: {}, n: {type: intsum}}\n"
    "    key: \"{k}\"\n"
    "    rows:\n"
    "      - {input: in, cells: {\"f:v\": \"{v}\", \"n:x\": \"{n}\"}}\n";

class LoadTest : public testing::Test {
 protected:
  LoadTest() : database_(*Database::Open("mem:")) {}

  absl::StatusOr<LoadReport> Load(std::string_view csv, LoadOptions options = {},
                                  std::string_view design_text = kDesignText) {
    directory_.Write("in.csv", csv);
    auto design = Design::Load(directory_.Write("d.yaml", design_text));
    EXPECT_TRUE(design.ok()) << design.status();
    if (!options.time.has_value()) options.time = Timestamp::FromMicros(5000);
    return LoadDesign(database_, *design, options);
  }
  // The cells of a table, "ROW FAMILY:QUALIFIER@TIME=VALUE".
  std::vector<std::string> CellsOf(const std::string& name) const {
    std::vector<std::string> found;
    auto table = database_.OpenTable(name);
    if (!table.ok()) return {"no table"};
    RowReader reader = table->ReadRows(RowSet::All());
    while (reader.Next()) {
      for (const CellView& cell : reader.row().cells()) {
        // The numbers of these tests are below 10.
        const std::string value = cell.family() == "n"
                                      ? std::to_string(static_cast<int>(cell.value().back()))
                                      : std::string(cell.value());
        found.push_back(fmt::format("{} {}:{}@{}={}", reader.row().row_key(), cell.family(),
                                    cell.qualifier(), cell.timestamp().micros(), value));
      }
    }
    EXPECT_TRUE(reader.status().ok());
    return found;
  }
  std::string TextOfFile(const std::string& path) const {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }

  const TemporaryDirectory directory_;
  Database database_;
};

using Cells = std::vector<std::string>;

TEST_F(LoadTest, WritesTheRowsOfRecords) {
  const auto report = Load("k,v,n\na,1,5\nb,2,\nc,,\n");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(CellsOf("t"), (Cells{"a f:v@5000=1", "a n:x@5000=5", "b f:v@5000=2"}));
  EXPECT_EQ(report->ToJson(),
            "{\"load\":1,\"tables\":{\"t\":{\"records\":3,\"rows\":2,\"cells\":3,\"bad\":0,"
            "\"duplicates\":0,\"unfilled_cells\":[]}}}\n");
  EXPECT_EQ(report->ToText(), "t: 3 records, 2 rows, 3 cells, 0 bad, 0 duplicates\n");
}

TEST_F(LoadTest, CellsThatNoRecordFillsAreReported) {
  std::string text = kDesignText;
  text.replace(text.find("\"{v}\""), 5, "\"{vv}\"");
  const auto report = Load("k,v,n\na,x,1\nb,y,\n", {}, text);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->tables.at("t").unfilled_cells, std::vector<std::string>{"f:v = {vv}"});
  EXPECT_NE(report->ToText().find("\nt: no record fills the cell f:v = {vv}\n"), std::string::npos)
      << report->ToText();
  EXPECT_NE(report->ToJson().find("\"unfilled_cells\":[\"f:v = {vv}\"]"), std::string::npos)
      << report->ToJson();
  const auto filled = Load("k,v,n\nc,x,1\n");
  ASSERT_TRUE(filled.ok()) << filled.status();
  EXPECT_TRUE(filled->tables.at("t").unfilled_cells.empty());
  EXPECT_EQ(filled->ToText().find("no record fills"), std::string::npos);
}

TEST_F(LoadTest, AFieldThatTheInputLacksIsReportedWithThoseThatItHas) {
  std::string text = kDesignText;
  text.replace(text.find("\"{v}\", \"n:x\": \"{n}\""), 19, "\"{valeu}\", \"n:x\": \"{z|or:}{zz}\"");
  const auto report = Load("k,value,n,c,d,e,f,g,h,i,j,l\na,1,5,,,,,,,,,\n", {}, text);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(
      report->ToText(),
      "t: 1 records, 0 rows, 0 cells, 0 bad, 0 duplicates\n"
      "t: no record fills the cell f:v = {valeu}\n"
      "t: no record fills the cell n:x = {z|or:}{zz}\n"
      "t: the header of the input \"in\" has no field \"valeu\"; it has k, value, n, c, d, e, f, "
      "g, h, i and 2 more. Did you mean \"value\"?\n"
      "t: the header of the input \"in\" has no field \"zz\"; it has k, value, n, c, d, e, f, g, "
      "h, i and 2 more\n");
  EXPECT_NE(report->ToJson().find("\"hints\":[\"the header of"), std::string::npos);
  // The header of an input without records shows its fields, too.
  const auto empty = Load("k\n", {}, text);
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ(empty->ToText(),
            "t: 0 records, 0 rows, 0 cells, 0 bad, 0 duplicates\n"
            "t: the header of the input \"in\" has no field \"valeu\"; it has k\n"
            "t: the header of the input \"in\" has no field \"zz\"; it has k\n");
  EXPECT_TRUE(Load("k,v,n\n")->tables.at("t").hints.empty());
}

TEST_F(LoadTest, AConditionThatSelectsNoRecordIsReported) {
  std::string text = kDesignText;
  text.replace(text.find("cells:"), 6, "when: {s: \"on\", v: \"1\"}, cells:");
  const auto report = Load("k,v,n\na,1,5\n", {}, text);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->tables.at("t").hints,
            (std::vector<std::string>{
                "no record of the input \"in\" has when: {s: \"on\", v: \"1\"}",
                "the header of the input \"in\" has no field \"s\"; it has k, v, n"}));
}

TEST_F(LoadTest, TheFirstRecordShowsTheFieldsOfJson) {
  std::string text = kDesignText;
  text.replace(text.find("input: in, cells"), 9, "input: other");
  text.replace(text.find("\"{v}\""), 5, "\"{a.b}\"");
  text.replace(text.find("\"{n}\""), 5, "\"{m}\"");
  const std::string path = directory_.Write("x.jsonl", "{\"k\":\"1\",\"a\":{\"c\":2}}\n");
  const auto report = Load("", {.inputs = {{"other", path}}}, text);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->tables.at("t").unfilled_cells.size(), 2U);
  EXPECT_EQ(report->tables.at("t").hints,
            std::vector<std::string>{
                "the first record of the input \"other\" has no field \"m\"; it has k, a"});
}

TEST_F(LoadTest, AFileWithoutRecordsMustHaveTheFieldsOfTheKey) {
  EXPECT_EQ(std::string(Load("key,v,n\n").status().message()),
            "nothing was written\n  " + directory_.File("in.csv") +
                ": no records. The header has no field \"k\"; it has key, v, n");
  // Bad records are accepted, so the load goes on.
  const auto report = Load("key,v,n\n", {.bad_records_max = 1});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->tables.at("t").hints,
            std::vector<std::string>{
                "the header of the input \"in\" has no field \"k\"; it has key, v, n"});
  // A record may not be selected, so a key without the field may be right.
  std::string text = kDesignText;
  text.replace(text.find("cells:"), 6, "when: {v: \"1\"}, cells:");
  EXPECT_TRUE(Load("key,v,n\n", {}, text).ok());
}

TEST_F(LoadTest, ErrorsOfHeadersAreListedOnceAndAtMostTwenty) {
  // 22 fields, each of the keys of two tables.
  std::string text = "stele: design/1\ninputs: {in: {file: in.csv}}\ntables:\n";
  for (int i = 0; i < 44; ++i)
    text += fmt::format(
        "  t{:02}: {{families: {{f: {{}}}}, key: \"{{k{:02}}}\","
        " rows: [{{input: in, cells: {{\"f:v\": \"{{v}}\"}}}}]}}\n",
        i, i / 2);
  std::string expected = "nothing was written";
  for (int i = 0; i < 20; ++i)
    expected += fmt::format("\n  {}: no records. The header has no field \"k{:02}\"; it has key, v",
                            directory_.File("in.csv"), i);
  EXPECT_EQ(std::string(Load("key,v\n", {}, text).status().message()), expected + "\n  and 2 more");
}

TEST_F(LoadTest, AHeaderWithoutAFieldOfTheKeyIsListedOnce) {
  const auto report = Load("key,v,n\na,1,5\nb,2,6\nc,3,7,8\n");
  EXPECT_EQ(
      std::string(report.status().message()),
      "nothing was written\n3 bad records\n  " + directory_.File("in.csv") +
          ":2: key: field \"k\": absent; {field|or:TEXT} gives a text then. The header has no "
          "field \"k\"; it has key, v, n\n  " +
          directory_.File("in.csv") + ":4: 4 fields, but the header has 3\n  and 1 more");
}

TEST_F(LoadTest, TheEndingOfAReplacingFileIsItsFormat) {
  const std::string tsv = directory_.Write("x.tsv", "k\tv\tn\na\t1,2\t\n");
  ASSERT_TRUE(Load("", {.inputs = {{"in", tsv}}}).ok());
  EXPECT_EQ(CellsOf("t"), (Cells{"a f:v@5000=1,2"}));
  // A path without an ending has the format of the file that it replaces.
  const std::string none = directory_.Write("none", "k,v,n\nc,3,\n");
  ASSERT_TRUE(Load("", {.inputs = {{"in", none}}}).ok());
  EXPECT_EQ(CellsOf("t"), (Cells{"a f:v@5000=1,2", "c f:v@5000=3"}));
  // The design's format counts for every file.
  std::string text = kDesignText;
  text.replace(text.find("file: in.csv"), 12, "file: in.csv, format: csv");
  const std::string csv = directory_.Write("y.tsv", "k,v,n\nb,2,\n");
  ASSERT_TRUE(Load("", {.inputs = {{"in", csv}}}, text).ok());
  EXPECT_EQ(CellsOf("t"), (Cells{"a f:v@5000=1,2", "b f:v@5000=2", "c f:v@5000=3"}));
}

TEST_F(LoadTest, ARefusedLoadHasCounts) {
  LoadReport refused;
  EXPECT_FALSE(Load("k,v,n\na,1,5\na,2,5\nb,3,x\n", {.refused = &refused}).ok());
  const LoadReport::TableCounts& counts = refused.tables.at("t");
  EXPECT_EQ(counts.records, 3U);
  EXPECT_EQ(counts.duplicates, 1U);
  EXPECT_EQ(counts.bad, 1U);
}

TEST_F(LoadTest, ABadRecordPreventsAllWrites) {
  const auto report = Load("k,v,n\na,1,5\nb,2,x\n,3,\n");
  EXPECT_EQ(report.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string text(report.status().message());
  EXPECT_TRUE(text.starts_with("nothing was written\n2 bad records\n")) << text;
  EXPECT_NE(text.find("in.csv:3: cell n:x: \"x\" is not a whole number"), std::string::npos)
      << text;
  EXPECT_NE(text.find("in.csv:4: key: field \"k\": absent"), std::string::npos) << text;
  EXPECT_EQ(CellsOf("t"), (Cells{"no table"}));
}

TEST_F(LoadTest, BadRecordsMayBeLeftOut) {
  const std::string bad = directory_.File("bad");
  LoadOptions options{.bad_records_max = 1, .bad_path = bad};
  EXPECT_FALSE(Load("k,v,n\na,1,y\nb,2,x\n", options).ok());
  options.bad_records_max = 2;
  const auto report = Load("k,v,n\na,1,5\nb,2,x\na,9,\n", options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->left_out, 2U);
  EXPECT_EQ(report->tables.at("t").bad, 1U);
  EXPECT_EQ(report->tables.at("t").duplicates, 1U);
  EXPECT_EQ(CellsOf("t"), (Cells{"a f:v@5000=1", "a n:x@5000=5"}));
  const std::string text = TextOfFile(bad);
  EXPECT_NE(text.find("\"line\":3,\"error\":\"cell n:x"), std::string::npos) << text;
  EXPECT_NE(text.find("\"line\":4,\"error\":\"a cell of an earlier record"), std::string::npos)
      << text;
}

// Regression: a load with more bad records than --skip-bad allows replaced the file.
TEST_F(LoadTest, AFailedLoadKeepsAnOlderBadFile) {
  std::filesystem::create_directory(directory_.File("out"));
  const std::string target = directory_.Write("out/target", "older");
  const std::string bad = directory_.File("out/bad");
  std::filesystem::create_symlink("target", bad);
  const LoadOptions options{.bad_records_max = 1, .bad_path = bad};
  EXPECT_FALSE(Load("k,v,n\na,1,y\nb,2,x\n", options).ok());
  EXPECT_EQ(TextOfFile(target), "older");
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(directory_.File("out")), {});
  };
  EXPECT_EQ(files(), 2) << "the new file is left";
  ASSERT_TRUE(Load("k,v,n\na,1,y\nb,2,3\n", options).ok());
  // A link stays a link.
  EXPECT_TRUE(std::filesystem::is_symlink(bad));
  EXPECT_NE(TextOfFile(target).find("\"line\":2,"), std::string::npos) << TextOfFile(target);
  EXPECT_EQ(files(), 2);
}

// The record is larger than the parts in which it is encoded.
TEST_F(LoadTest, ALargeBadRecordIsWrittenWhole) {
  const std::string bad = directory_.File("bad");
  const std::string record = "a," + std::string(1'000'001, 'v') + ",x";
  ASSERT_TRUE(Load("k,v,n\n" + record + "\n", {.bad_records_max = 1, .bad_path = bad}).ok());
  std::string encoded;
  AppendBase64(record, &encoded);
  EXPECT_NE(TextOfFile(bad).find("\"raw_base64\":\"" + encoded + "\"}"), std::string::npos);
}

TEST_F(LoadTest, DuplicatesAreFoundAndAllowed) {
  const std::string csv = "k,v,n\na,1,1\nb,2,\na,1,1\na,3,\n";
  const auto rejected = Load(csv);
  const std::string text(rejected.status().message());
  EXPECT_TRUE(text.starts_with("nothing was written\n1 duplicate; --allow-duplicates")) << text;
  EXPECT_NE(text.find("in.csv:5: a cell of "), std::string::npos) << text;
  EXPECT_NE(text.find("in.csv:2 with another value"), std::string::npos) << text;
  const auto report = Load(csv, {.allows_duplicates = true});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->tables.at("t").duplicates, 1U);
  EXPECT_EQ(report->tables.at("t").cells, 3U);
  EXPECT_EQ(report->listed.size(), 1U);
  // The later record wins; numbers of an aggregate family are added.
  EXPECT_EQ(CellsOf("t"), (Cells{"a f:v@5000=3", "a n:x@5000=2", "b f:v@5000=2"}));
}

TEST_F(LoadTest, CountsExcludeRecordsThatAreLeftOut) {
  constexpr char kTwoRows[] =
      "stele: design/1\n"
      "inputs: {in: {file: in.csv}}\n"
      "tables:\n"
      "  t:\n"
      "    families: {f: {}}\n"
      "    key: \"{k}\"\n"
      "    rows: [{input: in, cells: {\"f:v\": \"{v}\", \"f:{q}\": \"1\"}}]\n";
  // The third record is a duplicate; its second cell is in no other record. The last one repeats a
  // cell of a duplicate.
  const std::string csv = "k,v,q\na,1,p\nb,1,p\na,2,x\nb,2,y\nb,1,y\n";
  const auto report =
      Load(csv, {.bad_records_max = 9, .bad_path = directory_.File("bad")}, kTwoRows);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(CellsOf("t"), (Cells{"a f:p@5000=1", "a f:v@5000=1", "b f:p@5000=1", "b f:v@5000=1",
                                 "b f:y@5000=1"}));
  EXPECT_EQ(report->tables.at("t").duplicates, 2U);
  EXPECT_EQ(report->tables.at("t").rows, 2U);
  EXPECT_EQ(report->tables.at("t").cells, 5U);
}

// A record of these tests has two cells: "k,a,x,b,y" is the row k with f:a=x and f:b=y.
constexpr char kTwoCells[] =
    "stele: design/1\n"
    "inputs: {in: {file: in.csv}}\n"
    "tables:\n"
    "  t:\n"
    "    families: {f: {}}\n"
    "    key: \"{k}\"\n"
    "    rows: [{input: in, cells: {\"f:{a}\": \"{x}\", \"f:{b}\": \"{y}\"}}]\n";

// Regression: it was left out, too, although nothing else had its cell.
TEST_F(LoadTest, ARecordThatConflictsOnlyWithOneThatIsLeftOutIsKept) {
  // The second record conflicts with the first one, the fourth one with the third one.
  const std::string csv = "k,a,x,b,y\nr,p,1,q,1\nr,p,2,s,1\nr,s,2,t,1\nr,s,3,u,1\nr,s,2,u,2\n";
  const auto report =
      Load(csv, {.bad_records_max = 2, .bad_path = directory_.File("bad")}, kTwoCells);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(CellsOf("t"), (Cells{"r f:p@5000=1", "r f:q@5000=1", "r f:s@5000=2", "r f:t@5000=1",
                                 "r f:u@5000=2"}));
  EXPECT_EQ(report->left_out, 2U);
  EXPECT_EQ(report->tables.at("t").duplicates, 2U);
  EXPECT_EQ(report->tables.at("t").cells, 5U);
  ASSERT_EQ(report->listed.size(), 2U);
  EXPECT_NE(report->listed[1].find("in.csv:5: a cell of "), std::string::npos) << report->listed[1];
  EXPECT_NE(report->listed[1].find("in.csv:4 with another value"), std::string::npos)
      << report->listed[1];
  const std::string bad = TextOfFile(directory_.File("bad"));
  EXPECT_NE(bad.find("\"line\":3,"), std::string::npos) << bad;
  EXPECT_NE(bad.find("\"line\":5,"), std::string::npos) << bad;
}

TEST_F(LoadTest, ARecordIsKeptIfItsCellBelongsToARecordThatIsLeftOutLater) {
  // The second record is left out, so the third one is kept, so the fourth one, whose value of s is
  // that of the second one, is left out, and the fifth one is kept.
  const std::string csv = "k,a,x,b,y\nr,p,1,q,1\nr,p,2,s,1\nr,s,5,v,1\nr,s,1,t,1\nr,t,2,w,1\n";
  const auto report =
      Load(csv, {.bad_records_max = 2, .bad_path = directory_.File("bad")}, kTwoCells);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(CellsOf("t"), (Cells{"r f:p@5000=1", "r f:q@5000=1", "r f:s@5000=5", "r f:t@5000=2",
                                 "r f:v@5000=1", "r f:w@5000=1"}));
  EXPECT_EQ(report->left_out, 2U);
  EXPECT_EQ(report->tables.at("t").cells, 6U);
}

// Returns the positions that conflict. A position is ten times a record, and the number of a cell.
std::vector<uint64_t> PositionsOfConflicts(const ConflictLimits& limits) {
  KeyHashes cells(size_t{1} << 20);
  // Record 2 conflicts with record 1 and is left out. So record 3 gives s its value, and record 4,
  // which has the value of record 2, conflicts with it.
  EXPECT_TRUE(cells.Add("p", 10, "1").ok());
  EXPECT_TRUE(cells.Add("p", 20, "2").ok());
  EXPECT_TRUE(cells.Add("s", 21, "1").ok());
  EXPECT_TRUE(cells.Add("s", 30, "5").ok());
  EXPECT_TRUE(cells.Add("s", 40, "1").ok());
  const auto conflicts = FindConflicts(
      &cells, [](uint64_t position) { return position / 10; }, limits);
  EXPECT_TRUE(conflicts.ok()) << conflicts.status();
  std::vector<uint64_t> positions;
  if (!conflicts.ok()) return positions;
  for (const KeyHashes::Repeated& conflict : *conflicts) positions.push_back(conflict.position);
  std::sort(positions.begin(), positions.end());
  return positions;
}

TEST(CellConflictsTest, BeyondItsLimitsEachOtherValueConflicts) {
  const std::vector<uint64_t> exact = {20, 40};
  EXPECT_EQ(PositionsOfConflicts({}), exact);
  EXPECT_EQ(PositionsOfConflicts({.passes = 2, .open_cells = 3}), exact);
  // The second pass finds that record 4 may be left out. The three records have the cell s.
  const std::vector<uint64_t> differs_from_first = {20, 30};
  EXPECT_EQ(PositionsOfConflicts({.passes = 1}), differs_from_first);
  EXPECT_EQ(PositionsOfConflicts({.open_cells = 2}), differs_from_first);
}

// Regression: the line was the number of a record, and these share one.
TEST_F(LoadTest, RecordsOfALineAreLeftOutOneByOne) {
  constexpr char kItems[] =
      "stele: design/1\n"
      "inputs: {in: {file: in.csv, format: dynamodb}}\n"
      "tables:\n"
      "  t:\n"
      "    families: {f: {}, n: {type: intsum}}\n"
      "    key: \"{k}\"\n"
      "    rows: [{input: in, cells: {\"f:v\": \"{v}\", \"n:x\": \"{n}\"}}]\n";
  const std::string bad = directory_.File("bad");
  const auto report =
      Load(R"({"Items":[{"k":{"S":"a"},"v":{"S":"1"}},{"k":{"S":"b"},"v":{"S":"2"},"n":{"S":"x"}},)"
           R"({"k":{"S":"a"},"v":{"S":"3"}},{"k":{"S":"c"},"v":{"S":"4"}}]})",
           {.bad_records_max = 2, .bad_path = bad}, kItems);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->left_out, 2U);
  EXPECT_EQ(report->tables.at("t").bad, 1U);
  EXPECT_EQ(report->tables.at("t").duplicates, 1U);
  EXPECT_EQ(report->tables.at("t").rows, 2U);
  EXPECT_EQ(CellsOf("t"), (Cells{"a f:v@5000=1", "c f:v@5000=4"}));
  ASSERT_EQ(report->listed.size(), 1U);
  EXPECT_NE(report->listed[0].find("in.csv, item 3: a cell of "), std::string::npos)
      << report->listed[0];
  EXPECT_NE(report->listed[0].find("in.csv, item 1 with another value"), std::string::npos);
}

TEST_F(LoadTest, AFileThatChangesIsAnError) {
  const std::string first = "k,v,n\na,1,\nb,2,\n";
  const std::string second = "k,v,n\na,1,\nc,2,\n";
  // The bytes change and the time does not; the records are still right.
  LoadOptions options{.open_database = [&]() -> absl::StatusOr<Database> {
    const auto time = std::filesystem::last_write_time(directory_.File("in.csv"));
    directory_.Write("in.csv", second);
    std::filesystem::last_write_time(directory_.File("in.csv"), time);
    return database_;
  }};
  const absl::Status late = Load(first, options).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kFailedPrecondition) << late;
  EXPECT_NE(late.message().find("in.csv changed while it was loaded"), std::string::npos) << late;
  EXPECT_NE(late.message().find("(tables: t)"), std::string::npos) << late;
  EXPECT_TRUE(database_.DeleteTable("t").ok());
  // It changes before the first write.
  LoadOptions early{.progress = [&](std::string_view phase, uint64_t, uint64_t) {
    if (phase == "checking") directory_.Write("in.csv", second);
  }};
  std::string many = "k,v,n\n";
  for (int i = 0; i < 1000; ++i) many += fmt::format("{},1,\n", i);
  const absl::Status status = Load(many, early).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_EQ(status.message().find("nothing was written: "), 0U) << status;
  EXPECT_EQ(CellsOf("t"), (Cells{"no table"}));
}

TEST_F(LoadTest, ACheckWritesNothing) {
  const auto report = Load("k,v,n\na,1,5\n", {.only_checks = true});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->ToText().ends_with("nothing was written (--check)\n"));
  EXPECT_EQ(CellsOf("t"), (Cells{"no table"}));
}

TEST_F(LoadTest, OptionsAreChecked) {
  EXPECT_FALSE(Load("k\n", {.inputs = {{"none", "x"}}}).ok());
  EXPECT_EQ(Load("k\n", {.table = "none"}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Load("k\n", {.inputs = {{"in", directory_.File("none.csv")}}}).status().code(),
            absl::StatusCode::kNotFound);
  const auto limited = Load("k,v\na,1\nb,2\n", {.records_max = 1});
  ASSERT_TRUE(limited.ok()) << limited.status();
  EXPECT_EQ(CellsOf("t"), (Cells{"a f:v@5000=1"}));
}

TEST_F(LoadTest, TheSameLoadMakesTheSameTable) {
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Load("k,v\na,1\nb,2\n").ok());
  EXPECT_EQ(CellsOf("t"), (Cells{"a f:v@5000=1", "b f:v@5000=2"}));
  // A table with another schema is not changed.
  const std::string other =
      "stele: design/1\ninputs: {in: {file: in.csv}}\n"
      "tables: {t: {families: {g: {}}, key: \"{k}\", rows: [{input: in, cells: {\"g:v\": x}}]}}\n";
  EXPECT_EQ(Load("k\nz\n", {}, other).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(CellsOf("t").size(), 2U);
}

TEST_F(LoadTest, OneInputFillsSeveralTables) {
  const std::string design =
      "stele: design/1\ninputs: {in: {file: in.csv}}\n"
      "tables:\n"
      "  a: {families: {f: {}}, key: \"{k}\", rows: [{input: in, cells: {\"f:v\": \"{v}\"}}]}\n"
      "  b: {families: {f: {}}, key: \"{v|pad:3}\",\n"
      "      rows: [{input: in, when: {k: x}, cells: {\"f:k\": \"{k}\"}}]}\n";
  const auto report = Load("k,v\nx,1\ny,z\nx,22\n", {.allows_duplicates = true}, design);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->tables.at("a").duplicates, 1U);
  EXPECT_EQ(report->tables.at("b").rows, 2U);
  EXPECT_EQ(CellsOf("a"), (Cells{"x f:v@5000=22", "y f:v@5000=z"}));
  EXPECT_EQ(CellsOf("b"), (Cells{"001 f:k@5000=x", "022 f:k@5000=x"}));
  // A record that is wrong for one table is left out of all.
  const auto partial =
      Load("k,v\nx,w\nz,5\n", {.bad_records_max = 1, .bad_path = directory_.File("bad")}, design);
  ASSERT_TRUE(partial.ok()) << partial.status();
  EXPECT_EQ(CellsOf("a"), (Cells{"x f:v@5000=22", "y f:v@5000=z", "z f:v@5000=5"}));
}

// A load may be killed anywhere. Whatever it has written, the same load completes it. A copy of the
// files is what a process that is killed leaves.
TEST_F(LoadTest, AKilledLoadIsRepeated) {
  constexpr int kRecords = 20'000;
  std::string csv = "k,v\n";
  for (int i = 0; i < kRecords; ++i) csv += fmt::format("{0},{0}\n", i);
  LoadOptions options;
  database_ = *Database::Open(directory_.File("db"));
  int steps = 0;
  std::vector<std::string> copies;
  options.progress = [&](std::string_view phase, uint64_t, uint64_t) {
    if (phase != "loading" || ++steps % 25 != 0) return;
    copies.push_back(directory_.File("copy" + std::to_string(steps)));
    std::filesystem::copy(directory_.File("db"), copies.back(),
                          std::filesystem::copy_options::recursive);
  };
  ASSERT_TRUE(Load(csv, options).ok());
  const size_t cell_count = CellsOf("t").size();
  EXPECT_EQ(cell_count, static_cast<size_t>(kRecords));
  EXPECT_GE(copies.size(), 3U);
  for (const std::string& copy : copies) {
    database_ = *Database::Open(copy);
    EXPECT_LT(CellsOf("t").size(), cell_count);
    ASSERT_TRUE(Load(csv).ok());
    EXPECT_EQ(CellsOf("t").size(), cell_count);
  }
}

TEST(LoadPositionTest, IsANumber) {
  const LoadPosition position{.table = 999, .file = 16'383, .number = (uint64_t{1} << 40) - 1};
  const LoadPosition again = LoadPosition::Of(position.Packed());
  EXPECT_EQ(again.table, 999U);
  EXPECT_EQ(again.file, 16'383U);
  EXPECT_EQ(again.number, position.number);
  EXPECT_EQ(LoadPosition::Of(position.PackedRecord()).table, 0U);
}

}  // namespace
}  // namespace stele::internal::lab
