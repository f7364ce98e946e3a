// Tests the advisor's frame: sources, segments, parameters, suppression, reports.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "lab/staging/row_line.h"
#include "lab/staging/staged_table.h"
#include "support/base_test_data.h"
#include "unit/lab/export_fixture.h"
#include "unit/lab/lint_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::ExplainRule;
using stele::lab::Lint;
using stele::lab::LintInput;
using stele::lab::LintOptions;
using stele::lab::LintReport;
using stele::lab::LintRule;
using stele::lab::LintSeverity;
using stele::lab::Rules;

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
std::vector<std::string> Ids(const LintReport& report) {
  std::vector<std::string> ids;
  for (const auto& finding : report.findings) ids.push_back(finding.id);
  return ids;
}

class LintTest : public testing::Test {
 protected:
  LintReport LintKeys(const std::string& text, const LintOptions& options = {}) {
    const auto report = Lint({.keys_path = directory_.Write("keys", text)}, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(LintReport());
  }
  LintReport LintRows(const std::string& text, const LintOptions& options = {}) {
    const auto report = Lint({.rows_path = directory_.Write("rows", text)}, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(LintReport());
  }
  void ExpectError(const LintInput& input, const LintOptions& options, std::string_view text) {
    const auto report = Lint(input, options);
    EXPECT_FALSE(report.ok());
    EXPECT_TRUE(Contains(report.status().ToString(), text)) << report.status();
  }
  const TemporaryDirectory directory_;
};

TEST_F(LintTest, RulesAreSortedAndExplained) {
  const auto rules = Rules();
  EXPECT_TRUE(std::is_sorted(rules.begin(), rules.end(),
                             [](const LintRule& a, const LintRule& b) { return a.id < b.id; }));
  for (const LintRule& rule : rules) {
    SCOPED_TRACE(rule.id);
    EXPECT_TRUE(rule.needs_schema || rule.needs_rows || rule.needs_trace || rule.needs_records);
    for (const std::string_view text :
         {rule.summary, rule.explanation, rule.before, rule.after, rule.on_bigtable})
      EXPECT_FALSE(text.empty());
    const std::string text = *ExplainRule(rule.id);
    for (const auto& parameter : rule.parameters)
      EXPECT_TRUE(Contains(text, fmt::format("{}.{}` =", rule.id, parameter.name)));
    EXPECT_TRUE(Contains(*ExplainRule("all"), text));
  }
  EXPECT_FALSE(ExplainRule("KEY-NONE").ok());
}

// To write the page again: stele lint --explain all > docs/lab/rules.md
TEST_F(LintTest, ThePageOfRulesIsTheExplanation) {
  std::ifstream file(TestDataPath("../docs/lab/rules.md"), std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(page, *ExplainRule("all"));
}

TEST_F(LintTest, KeysHaveEscapesAndAnyOrder) {
  const LintReport report = LintKeys("b\\x00\n\na\\\\x\nb\\x00\n", {.only = {"KEY-BINARY"}});
  EXPECT_EQ(report.tables.at("t").rows, 2u);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].samples, std::vector<std::string>{std::string("b\0", 2)});
  ExpectError({.keys_path = directory_.Write("bad", "a\nb\\y\n")}, {}, "bad:2: byte 1");
  ExpectError({.keys_path = directory_.File("none")}, {}, "none");
  ExpectError({.keys_path = directory_.Write("long", std::string(70'000, 'a'))}, {}, "row \"aaa");
}

TEST_F(LintTest, FilesMayBeCompressed) {
  const std::string path = directory_.Write("keys.gz", Gzip("3\n20\n"));
  EXPECT_EQ(Ids(*Lint({.keys_path = path})), std::vector<std::string>{"KEY-UNPADDED"});
}

TEST_F(LintTest, RowsAreThoseOfAnExport) {
  const std::string cell = R"({"family":"f","qualifier":"q","timestamp":1000,"value":"xyz"})";
  const std::string bytes = R"({"family":"f","qualifier_base64":"/w==","value":""})";
  const LintReport report =
      LintRows(R"({"row":"b","cells":[)" + cell + "]}\n" + R"({"row_base64":"/w==","cells":[)" +
               cell + "," + bytes + "]}\n");
  EXPECT_EQ(report.tables.at("t").rows, 2u);
  EXPECT_EQ(report.tables.at("t").cells, 3u);
  EXPECT_EQ(report.tables.at("t").bytes, 2u + 3 + 6);
  EXPECT_EQ(Ids(report), std::vector<std::string>{"KEY-BINARY"});
  for (const std::string text :
       {"[]", "{}", R"({"row":"a","cells":[]})", R"({"row":"a","cells":[1]})",
        R"({"row":"a","cells":[{"family":"f","qualifier":"q"}]})",
        R"({"row":"a","cells":[{"family":"f","qualifier":"q","value":"","timestamp":-1}]})"})
    ExpectError({.rows_path = directory_.Write("bad", text)}, {}, "bad:1: ");
  ExpectError({.rows_path = directory_.Write("bad", "a,b\n")}, {}, "as \"stele export\" writes it");
  const std::string wrong_family = R"({"row":"a","cells":[{"family":"/","qualifier":"q",)"
                                   R"("value":""}]})";
  ExpectError({.rows_path = directory_.Write("bad", wrong_family)}, {}, "family");
}

TEST_F(LintTest, TheMembersOfARowHaveAnyOrder) {
  StagedRow row;
  const std::string line =
      R"({"x":[{"row":1}],"cells":[{"value_base64":"YWI=","qualifier":"q","family":"g"},)"
      R"({"family":"f","qualifier":"","value":"c","timestamp":7},)"
      R"({"family":"g","qualifier":"p","value":""}],"row":"k"})";
  ASSERT_TRUE(ParseRowLine(line, &row).ok());
  EXPECT_EQ(row.families, (std::vector<std::string>{"f", "g"}));
  EXPECT_EQ(row.row.row_key(), "k");
  EXPECT_EQ(row.row.count(), 3U);
  LintFixture fixture({{.name = "f"}, {.name = "g"}});
  Table table = *fixture.database().OpenTable("t");
  ASSERT_TRUE(table.Apply(row.row).ok());
  std::vector<std::string> found;
  const auto read = table.ReadRow("k");
  ASSERT_TRUE(read.ok() && read->has_value());
  for (const CellView& cell : (*read)->cells())
    found.push_back(fmt::format("{}:{}@{}={}", cell.family(), cell.qualifier(),
                                cell.timestamp().micros(), cell.value()));
  EXPECT_EQ(found, (std::vector<std::string>{"f:@7=c", "g:p@0=", "g:q@0=ab"}));
}

// Regression: a line of small values needed up to 12 bytes for each of its bytes.
TEST_F(LintTest, ARowOfAFileHasAMillionCells) {
  constexpr size_t kCellsMax = 1'000'000;
  const std::string cell = R"({"family":"f","qualifier":"","value":""})";
  std::string line = R"({"row":"a","cells":[)" + cell;
  for (size_t i = 1; i < kCellsMax; ++i) line.append(",").append(cell);
  StagedRow row;
  ASSERT_TRUE(ParseRowLine(line + "]}", &row).ok());
  EXPECT_EQ(row.row.count(), kCellsMax);
  row = StagedRow();
  const std::string first = R"({"row":"b","cells":[)" + cell + "]}\n";
  ExpectError({.rows_path = directory_.Write("bad", first + line + "," + cell + "]}\n")}, {},
              "bad:2: more than 1000000 cells in one row");
}

TEST_F(LintTest, ARowOfAFileHasAThousandFamilies) {
  std::string line = R"({"row":"a","cells":[)";
  for (size_t i = 0; i <= kStagedFamiliesMax; ++i)
    line.append(
        fmt::format(R"({}{{"family":"f{}","qualifier":"","value":""}})", i > 0 ? "," : "", i));
  ExpectError({.rows_path = directory_.Write("bad", line + "]}\n")}, {},
              "bad:1: more than 1000 column families");
}

// More than fits into the buffer, so that the rows are sorted on disk.
TEST_F(LintTest, LargeFilesAreSortedOnDisk) {
  const std::string path = directory_.File("keys");
  std::ofstream file(path);
  for (int i = 0; i < 150'000; ++i) file << i << '\n';
  file.close();
  const std::string temporary = directory_.File("temporary");
  std::filesystem::create_directory(temporary);
  const auto report = Lint({.keys_path = path}, {.temporary_directory = temporary});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->tables.at("t").rows, 150'000u);
  EXPECT_EQ(Ids(*report), (std::vector<std::string>{"KEY-UNPADDED", "KEY-SEQ-ID"}));
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
  ExpectError({.keys_path = path}, {.temporary_directory = directory_.File("none")}, "mkdtemp");
}

TEST_F(LintTest, SegmentsComeFromTheMostFrequentDelimiter) {
  std::string text;
  for (int i = 0; i < 19; ++i) text += fmt::format("a:{}#x\n", i);
  const LintOptions options = {.only = {"KEY-DELIM"}};
  // Both are in all keys, and '#' comes first.
  EXPECT_TRUE(LintKeys(text + "b:c:d#x", options).findings.empty());
  // '#' is in 0.95 of the keys, ':' in all of them.
  EXPECT_EQ(LintKeys(text + "b:c:d", options).findings.at(0).samples,
            std::vector<std::string>{"b:c:d"});
  // Below 0.95 there is no delimiter.
  EXPECT_TRUE(LintKeys("a:1\nb:2\nc\n", options).findings.empty());
  LintOptions given = options;
  given.delimiter = "::";
  EXPECT_EQ(LintKeys("a::1\nb::2\nc\n", given).findings.size(), 1u);
}

TEST_F(LintTest, RulesWithoutTheirSourceDoNotRun) {
  const LintReport report = LintKeys("a\n");
  for (const LintRule& rule : Rules()) {
    const bool is_left_out = rule.needs_schema || rule.needs_trace || rule.needs_records;
    const auto& list = is_left_out ? report.not_run : report.run;
    EXPECT_EQ(std::count(list.begin(), list.end(), rule.id), 1) << rule.id;
  }
  EXPECT_EQ(report.run.size() + report.not_run.size(), Rules().size());
  LintFixture fixture;
  for (const std::string& id : fixture.Lint().not_run) {
    const auto rule = std::find_if(Rules().begin(), Rules().end(),
                                   [&](const LintRule& other) { return other.id == id; });
    EXPECT_TRUE(rule->needs_trace || rule->needs_records) << id;
  }
  EXPECT_EQ(fixture.Lint({.only = {"KEY-PII"}}).not_run.size(), Rules().size() - 1);
}

TEST_F(LintTest, SkippedAndIgnoredFindingsAreSuppressed) {
  const LintReport skipped = LintKeys("3\n20\n", {.skip = {"KEY-UNPADDED"}});
  ASSERT_EQ(skipped.findings.size(), 1u);
  EXPECT_TRUE(skipped.findings[0].is_suppressed);
  EXPECT_EQ(skipped.ToText(), "0 errors, 0 warnings, 0 notes\n");
  EXPECT_EQ(skipped.Count(LintSeverity::kError), 0u);
  EXPECT_TRUE(Contains(skipped.ToJson(), R"("suppressed":true)"));
  EXPECT_TRUE(Contains(skipped.ToSarif("1"), R"("suppressions":[{"kind":"external"}])"));
  LintFixture fixture(std::vector<FamilySchema>{});
  fixture.AddTable("t", {{.name = "f"}}, "lint.ignore", "KEY-PII, KEY-UNPADDED");
  EXPECT_TRUE(fixture.Key("3").Key("20").Lint().findings.at(0).is_suppressed);
}

TEST_F(LintTest, WrongOptionsAreErrors) {
  LintFixture fixture;
  const LintInput input = {.database = fixture.database()};
  ExpectError(input, {.only = {"KEY-NONE"}}, "\"KEY-NONE\" is not a rule");
  ExpectError(input, {.skip = {"KEY-NONE"}}, "\"KEY-NONE\" is not a rule");
  ExpectError(input, {.parameters = {{"KEY-PII.x", 1}}}, "is not a parameter");
  for (const double wrong : {-1.0, 1e19, std::nan("")})
    ExpectError(input, {.parameters = {{"lint.min_rows", wrong}}},
                "must be a number from 0 to 1e18");
  ExpectError({.database = fixture.database(), .tables = {"none"}}, {}, "none");
  ExpectError({}, {}, "FAILED_PRECONDITION");
  ExpectError({.keys_path = "a"}, {.config_path = directory_.File("none")}, "none");
  ExpectError({.keys_path = "a", .rows_path = "b"}, {}, "exclude each other");
}

TEST_F(LintTest, ReportsHaveEachFinding) {
  const LintReport report = LintKeys("a#3\nb#20\nann@b.com#7\n");
  EXPECT_EQ(report.ToText(),
            "t  error    KEY-UNPADDED  segment 2: numbers with 1 to 2 digits sort as text\n"
            "     \"20\" sorts before \"3\". Pad to 2 digits: stele key pad 2 N, or {field|pad:2} "
            "in a design\n"
            "t  warning  KEY-PII       an e-mail address in the key or a column name of 1 row\n"
            "     first: \"a***\". Keys and column names are in logs, traces and metrics. Use an "
            "id, and store the data in a value\n"
            "1 error, 1 warning, 0 notes\n");
  const std::string json = report.ToJson();
  EXPECT_TRUE(Contains(json, R"({"lint":1,"tables":{"t":{"rows":3,"cells":3,"bytes":24}},)"));
  EXPECT_TRUE(Contains(json, R"({"id":"KEY-UNPADDED","severity":"error","table":"t","measured":2,)"
                             R"("threshold":1,"count":3,"message":")"));
  EXPECT_TRUE(Contains(json, R"("samples":["20","3"],"where":{"segment":2},"suppressed":false})"));
  EXPECT_TRUE(Contains(json, R"("summary":{"error":1,"warning":1,"info":0,"suppressed":0}})"));
}

TEST_F(LintTest, HostileKeysAreEscaped) {
  const std::string keys = "</script>\\x1b[31m\n\xe2\x80\xae#1\n\\xff\\xfe\n";
  const LintReport report = LintKeys(keys);
  for (const char c : {'\x1b', '\xff', '\xe2'})
    EXPECT_EQ(report.ToText().find(c), std::string::npos) << report.ToText();
  for (const std::string& text : {report.ToJson(), report.ToSarif("1")}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
  }
  EXPECT_TRUE(Contains(report.ToJson(), "\"samples_base64\":["));
}

TEST_F(LintTest, PrintableKeysAreShownAsTheyAre) {
  const LintReport report = LintKeys("S\xc3\xa3o#\xe4\xba\xac\n");
  EXPECT_TRUE(Contains(report.ToText(), "first: \"S\xc3\xa3o#\xe4\xba\xac\". ")) << report.ToText();
}

TEST_F(LintTest, SamplesReadAPartOfTheTable) {
  LintFixture fixture;
  fixture.Keys(1, 500, [](int i) { return fmt::format("{:04}", i); });
  const LintReport report = fixture.Lint({.sample_rows = 100});
  EXPECT_LE(report.tables.at("t").rows, 164u);
  EXPECT_GE(report.tables.at("t").rows, 100u);
  EXPECT_TRUE(report.tables.at("t").is_sampled);
  EXPECT_TRUE(Contains(report.ToJson(), R"("sampled":true)"));
  EXPECT_FALSE(fixture.Lint({.sample_rows = 1000}).tables.at("t").is_sampled);
}

// Versions that are garbage count in sizes, and not in anything else.
TEST_F(LintTest, GarbageCountsInSizesOnly) {
  LintFixture fixture({{.name = "f", .gc = GcRule::MaxNumVersions(1)}});
  fixture.Cell("a", "f", "q", "xx", 12);
  const LintReport report = fixture.Lint(
      {.only = {"SIZE-CELLS-ROW", "FAM-NO-GC"}, .parameters = {{"SIZE-CELLS-ROW.max", 5}}});
  EXPECT_EQ(Ids(report), std::vector<std::string>{"SIZE-CELLS-ROW"});
  EXPECT_EQ(report.tables.at("t").cells, 12u);
  EXPECT_EQ(report.tables.at("t").rows, 1u);
}

TEST_F(LintTest, NothingIsWritten) {
  const std::string path = directory_.File("db");
  {
    Database database = *Database::Open(path);
    ASSERT_TRUE(database.CreateTable("t", Schema().AddFamily("f")).ok());
    ASSERT_TRUE(database.Close().ok());
  }
  const auto database = Database::Open(path, {.read_only = true});
  ASSERT_TRUE(database.ok());
  EXPECT_TRUE(Lint({.database = *database}).ok());
}

}  // namespace
}  // namespace stele::internal::lab
