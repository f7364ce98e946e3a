// Tests the advisor on design files: their tables, the rows of their records, and settings.
#include <algorithm>

#include "stele/lab/design.h"
#include "unit/lab/export_fixture.h"
#include "unit/lab/lint_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::Lint;
using stele::lab::LintFinding;
using stele::lab::LintInput;
using stele::lab::LintOptions;
using stele::lab::LintReport;

// A design of one table with the key "{a}#{b}". Line 4 has the table, line 5 the families, and line
// 6 the key.
std::string TextOfDesign(const std::string& key = "\"{a}#{b}\"", const std::string& more = "",
                         const std::string& families = "{f: {}}") {
  return fmt::format(
      "stele: design/1\n"
      "inputs: {{in: {{file: in.csv}}, late: {{format: csv}}}}\n"
      "tables:\n"
      "  t:\n"
      "    families: {}\n"
      "    key: {}\n"
      "    rows: [{{input: in, cells: {{\"f:v\": \"{{v}}\"}}}}]\n{}",
      families, key, more);
}

class LintDesignTest : public testing::Test {
 protected:
  absl::StatusOr<LintReport> Check(const std::string& design, const std::string& csv,
                                   const LintOptions& options = {}, LintInput input = {}) {
    directory_.Write("in.csv", csv);
    input.design_path = directory_.Write("d.yaml", design);
    return Lint(input, options);
  }
  LintReport Report(const std::string& design, const std::string& csv,
                    const LintOptions& options = {}) {
    const auto report = Check(design, csv, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(LintReport());
  }
  void ExpectWrong(const absl::StatusOr<LintReport>& report, std::string_view message) {
    EXPECT_FALSE(report.ok());
    EXPECT_NE(report.status().ToString().find(message), std::string::npos) << report.status();
  }
  // Records "a0,b0,0" and so on.
  static std::string Records(int count) {
    std::string csv = "a,b,v\n";
    for (int i = 0; i < count; ++i) csv += fmt::format("a{},b{},{}\n", i, i, i);
    return csv;
  }

  const TemporaryDirectory directory_;
};

bool HasId(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

TEST_F(LintDesignTest, RecordsBecomeRows) {
  const LintReport report = Report(TextOfDesign(), "a,b,v\nx,20,1\ny,3,2\n");
  EXPECT_EQ(report.tables.at("t").rows, 2u);
  ASSERT_EQ(report.findings.size(), 1u) << report.ToText();
  EXPECT_EQ(report.findings[0].id, "KEY-UNPADDED");
  EXPECT_EQ(report.findings[0].segment, 2u);
  EXPECT_EQ(report.findings[0].line, 6u);
  EXPECT_EQ(report.source_path, directory_.File("d.yaml"));
  EXPECT_TRUE(HasId(report.run, "KEY-DUP-IMPORT"));
  EXPECT_TRUE(HasId(report.run, "SIZE-FAM-NAME"));
}

TEST_F(LintDesignTest, FindingsHaveTheLineOfTheFamilyOrTheKey) {
  const std::string families = "\n      f: {}\n      temperature: {}";
  std::string csv = "a,b,v\n";
  for (int i = 0; i < 20; ++i) csv += fmt::format("{},x,1\n", 1700000000 + i);
  const LintReport report = Report(TextOfDesign("\"{a}#{b}\"", "", families), csv,
                                   {.only = {"KEY-TS-FIRST", "SIZE-FAM-NAME"}});
  ASSERT_EQ(report.findings.size(), 2U) << report.ToText();
  EXPECT_EQ(report.findings[0].id, "KEY-TS-FIRST");
  EXPECT_EQ(report.findings[0].line, 8u) << "the key";
  EXPECT_EQ(report.findings[1].line, 7u) << "the family";
}

TEST_F(LintDesignTest, TablesWithoutInputsHaveOnlyASchema) {
  const std::string text =
      "stele: design/1\n"
      "inputs: {late: {format: csv}}\n"
      "tables:\n"
      "  t: {families: {temperature: {}}, key: \"{a}\"}\n"
      "  u: {families: {f: {}}, key: \"{a}\","
      " rows: [{input: late, cells: {\"f:v\": \"{b}\"}}]}\n";
  const LintReport report = Report(text, "");
  ASSERT_EQ(report.findings.size(), 1u) << report.ToText();
  EXPECT_EQ(report.findings[0].id, "SIZE-FAM-NAME");
  EXPECT_EQ(report.findings[0].line, 4u);
  EXPECT_TRUE(HasId(report.not_run, "KEY-UNPADDED"));
  EXPECT_TRUE(HasId(report.not_run, "KEY-DUP-IMPORT"));
  // An input that is given replaces one that the design lacks.
  const auto given =
      Check(text, "", {}, {.inputs = {{"late", directory_.Write("x.csv", "a,b\n3,1\n20,1\n")}}});
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(given->tables.at("u").rows, 2u);
  EXPECT_EQ(given->tables.at("t").rows, 0u);
  EXPECT_EQ(given->findings[0].id, "KEY-UNPADDED");
}

TEST_F(LintDesignTest, OnlyTheChosenTablesAreChecked) {
  const std::string two = TextOfDesign() + "  u: {families: {temperature: {}}, key: \"{a}\"}\n";
  const auto report = Check(two, "a,b,v\nx,20,1\ny,3,2\n", {}, {.tables = {"u"}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->tables.count("t"), 0u);
  EXPECT_EQ(report->findings.at(0).id, "SIZE-FAM-NAME");
  ExpectWrong(Check(two, Records(1), {}, {.tables = {"none"}}), "none");
}

TEST_F(LintDesignTest, RecordsThatOverwriteEachOtherAreDuplicates) {
  const std::string twice = "a,b,v\nx,1,1\nw,1,1\nx,1,2\nw,1,3\nx,1,1\n";
  const LintReport report = Report(TextOfDesign(), twice, {.only = {"KEY-DUP-IMPORT"}});
  ASSERT_EQ(report.findings.size(), 1u) << report.ToText();
  EXPECT_EQ(report.findings[0].measured, 2);
  EXPECT_EQ(report.findings[0].count, 2u);
  EXPECT_EQ(report.findings[0].samples, (std::vector<std::string>{"w#1", "x#1"}));
  EXPECT_EQ(report.findings[0].severity, stele::lab::LintSeverity::kError);
  const std::string same = "a,b,v\nx,1,1\nx,1,1\n";
  EXPECT_TRUE(Report(TextOfDesign(), same, {.only = {"KEY-DUP-IMPORT"}}).findings.empty());
}

TEST_F(LintDesignTest, ValuesThatContainTheDelimiterAreFound) {
  const LintOptions options = {.only = {"KEY-DELIM"}};
  const LintReport report = Report(TextOfDesign(), "a,b,v\nx#y,1,1\nz#y,2,1\nw,1,1\n", options);
  ASSERT_EQ(report.findings.size(), 1u) << report.ToText();
  EXPECT_EQ(report.findings[0].measured, 2);
  EXPECT_EQ(report.findings[0].samples, (std::vector<std::string>{"x#y#1", "z#y#2"}));
  // All keys have two segments more than the key of the design.
  EXPECT_EQ(Report(TextOfDesign("\"x#{a}#{b}\""), "a,b,v\nx#y,1,1\n", options).findings.size(), 1u);
  EXPECT_TRUE(
      Report(TextOfDesign("\"{a|escape}#{b}\""), "a,b,v\nx#y,1,1\n", options).findings.empty());
}

TEST_F(LintDesignTest, NumbersThatAreSpreadAreNotSequential) {
  std::string csv = "a,b,v\n";
  for (int i = 1; i <= 100; ++i) csv += fmt::format("{},x,1\n", i);
  const LintOptions options = {.only = {"KEY-SEQ-ID"}};
  EXPECT_EQ(Report(TextOfDesign("\"{a}\""), csv, options).findings.size(), 1u);
  EXPECT_EQ(Report(TextOfDesign("\"{a|rev_digits:3}\""), csv, options).findings.size(), 0u);
  EXPECT_EQ(Report(TextOfDesign("\"{a|salt:64}#{a}\""), csv, options).findings.size(), 0u);
}

// Their findings would otherwise change from day to day.
TEST_F(LintDesignTest, OldRecordsAreChecked) {
  for (const std::string rule : {"maxage=1d", "maxage=1d||maxversions=5"}) {
    std::string text = TextOfDesign("\"{a}\"", "", "{f: {gc: \"" + rule + "\"}}");
    const std::string_view input = "{input: in, ";
    text.insert(text.find(input) + input.size(), "timestamp: \"1000\", ");
    EXPECT_EQ(Report(text, "a,v\n20,1\n3,1\n").tables.at("t").rows, 2u) << rule;
  }
}

TEST_F(LintDesignTest, TheDesignIsKnownFromItsTables) {
  const auto design = stele::lab::Design::Parse(
      TextOfDesign("\"{a|rev_digits:3}/{b}\"", "    delimiter: /\n"), "d");
  ASSERT_TRUE(design.ok()) << design.status();
  LintFixture fixture(std::vector<FamilySchema>{});
  ASSERT_TRUE(fixture.database().CreateTable("t", *design->TableSchema("t")).ok());
  fixture.Keys(1, 50, [](int i) { return fmt::format("{}", i); });
  const LintReport report = fixture.Lint({.only = {"KEY-SEQ-ID", "KEY-DELIM"}});
  ASSERT_EQ(report.findings.size(), 1u) << report.ToText();
  EXPECT_EQ(report.findings[0].id, "KEY-DELIM");
  EXPECT_EQ(report.findings[0].measured, 50);
}

TEST_F(LintDesignTest, TheLimitCountsRecords) {
  EXPECT_EQ(Report(TextOfDesign(), Records(9), {.records_max = 4}).tables.at("t").rows, 4u);
}

TEST_F(LintDesignTest, CellsThatNoRecordFillsAreNoted) {
  const std::string design =
      "stele: design/1\n"
      "inputs: {in: {file: in.csv}}\n"
      "tables: {t: {families: {f: {}}, key: \"{a}\", rows: [{input: in,\n"
      "  cells: {\"f:v\": \"{v}\", \"f:b\": \"{b}\"}}]}}\n";
  const std::string csv = "a,b,vv\nx,1,2\ny,1,2\n";
  const std::string cell = "t: no record fills the cell f:v = {v}";
  const std::string hint = "t: the header of the input \"in\" has no field \"v\"; it has a, b, vv";
  const LintReport report = Report(design, csv);
  EXPECT_TRUE(report.findings.empty()) << report.ToText();
  EXPECT_EQ(report.notes, (std::vector<std::string>{cell, hint}));
  EXPECT_EQ(report.ToText(), cell + "\n" + hint + "\n0 errors, 0 warnings, 0 notes\n");
  EXPECT_NE(report.ToJson().find("],\"notes\":[\"" + cell + "\",\"t: the header"),
            std::string::npos)
      << report.ToJson();
  const std::string limit = " (of the first 1 record of each input)";
  EXPECT_EQ(Report(design, csv, {.records_max = 1}).notes,
            (std::vector<std::string>{cell + limit, hint + limit}));
  EXPECT_TRUE(Report(design, "a,b,v\nx,1,2\n").notes.empty());
  EXPECT_EQ(Report(design, "a,b,v\nx,1,2\n").ToJson().find("\"notes\""), std::string::npos);
}

TEST_F(LintDesignTest, AcceptedFindingsHaveAReason) {
  const std::string lint =
      "lint:\n"
      "  ignore:\n"
      "    - {id: KEY-UNPADDED, table: t, reason: \"two digits\"}\n"
      "    - {id: KEY-TENANT, reason: x}\n"
      "  set: {KEY-TENANT.share: 0.6, lint.min_rows: 2}\n";
  const LintReport report =
      Report(TextOfDesign("\"{a}#{b}\"", lint), "a,b,v\nx,20,1\nx,3,2\ny,4,3\n");
  ASSERT_EQ(report.findings.size(), 2u) << report.ToText();
  EXPECT_EQ(report.findings[0].suppression_reason, "two digits");
  EXPECT_EQ(report.findings[1].id, "KEY-TENANT");
  EXPECT_EQ(report.findings[1].threshold, 0.6);
  EXPECT_TRUE(report.findings[0].is_suppressed && report.findings[1].is_suppressed);
  EXPECT_NE(report.ToJson().find(R"("suppressed":true,"reason":"two digits"})"), std::string::npos);
  EXPECT_NE(report.ToSarif("1").find(
                R"("suppressions":[{"kind":"external","justification":"two digits"}])"),
            std::string::npos);
  EXPECT_NE(report.ToSarif("1").find(R"("region":{"startLine":6})"), std::string::npos);
  EXPECT_EQ(report.ToText(), "0 errors, 0 warnings, 0 notes\n");
}

TEST_F(LintDesignTest, ConfigFilesHaveTheSameSettings) {
  const std::string path = directory_.Write(
      "lint.yaml", "ignore: [{id: KEY-UNPADDED, reason: old}]\nset: {KEY-TENANT.share: 0.95}\n");
  const std::string csv = "a,b,v\nx,20,1\nx,3,2\ny,3,2\n";
  LintOptions options = {.parameters = {{"lint.min_rows", 2}}, .config_path = path};
  const LintReport report = Report(TextOfDesign(), csv, options);
  ASSERT_EQ(report.findings.size(), 1u) << report.ToText();
  EXPECT_TRUE(report.findings[0].is_suppressed);
  // The design replaces the file, and the caller replaces the design.
  const std::string set = "lint: {set: {KEY-TENANT.share: 0.5}}\n";
  EXPECT_EQ(Report(TextOfDesign("\"{a}#{b}\"", set), csv, options).findings.size(), 2u);
  options.parameters["KEY-TENANT.share"] = 0.99;
  EXPECT_EQ(Report(TextOfDesign("\"{a}#{b}\"", set), csv, options).findings.size(), 1u);
}

TEST_F(LintDesignTest, WrongSettingsHaveAPosition) {
  const auto with = [&](const std::string& lint) {
    return Check(TextOfDesign("\"{a}#{b}\"", "lint: " + lint + "\n"), Records(1));
  };
  ExpectWrong(with("{ignore: [{id: KEY-NONE, reason: x}]}"), "d.yaml:8:17: \"KEY-NONE\" is not");
  ExpectWrong(with("{ignore: [{id: KEY-PII, table: none, reason: x}]}"), "d.yaml:8:17: ");
  ExpectWrong(with("{ignore: [{id: KEY-PII, reason: \"\"}]}"), "the reason is empty");
  ExpectWrong(with("{ignore: [{id: KEY-PII}]}"), "has no \"reason\"");
  ExpectWrong(with("{set: {KEY-PII.x: 1}}"), "d.yaml:8:14: \"KEY-PII.x\" is not a parameter");
  ExpectWrong(with("{set: {KEY-TENANT.share: much}}"), "d.yaml:8:14: \"much\" is not a number");
  ExpectWrong(with("{set: {KEY-TENANT.share: -1}}"), "d.yaml:8:14: ");
  for (const std::string text : {"", "lint: {}", "ignore: {id: x}", "[1]", "set: {KEY-X.a: 1}"}) {
    const auto report =
        Check(TextOfDesign(), Records(1), {.config_path = directory_.Write("lint.yaml", text)});
    ExpectWrong(report, "lint.yaml:1:");
  }
  ExpectWrong(Check(TextOfDesign(), Records(1), {.config_path = directory_.File("none")}), "none");
}

TEST_F(LintDesignTest, WrongSourcesAreErrors) {
  ExpectWrong(Check("stele: design/2\n", Records(1)), "d.yaml:1:");
  ExpectWrong(Check(TextOfDesign(), "a,b,v\n,1,1\n"), "in.csv:2: key: field \"a\": absent");
  ExpectWrong(Check(TextOfDesign(), Records(1), {}, {.inputs = {{"none", "x"}}}), "no input");
  ExpectWrong(Check(TextOfDesign(), Records(1), {}, {.inputs = {{"in", "none.csv"}}}), "none.csv");
  ExpectWrong(Check(TextOfDesign(), Records(1), {}, {.keys_path = "x"}), "exclude each other");
  ExpectWrong(Lint({.inputs = {{"in", "x"}}}), "need a design");
  ExpectWrong(Lint({.design_path = directory_.File("none")}), "none");
}

TEST_F(LintDesignTest, OutputsReplaceNoInput) {
  const std::string csv = "a,b,v\nx,20,1\n";
  for (const char* const file : {"in.csv", "d.yaml", "lint.yaml", "late.csv"}) {
    directory_.Write(file, "");
    ExpectWrong(Check(TextOfDesign(), csv,
                      {.config_path = directory_.File("lint.yaml"),
                       .output_paths = {"", directory_.File(file)}},
                      {.inputs = {{"late", directory_.File("late.csv")}}}),
                "would be replaced");
  }
  EXPECT_TRUE(Check(TextOfDesign(), csv, {.output_paths = {directory_.File("new")}}).ok());
}

TEST_F(LintDesignTest, TemporaryFilesAreRemoved) {
  const std::string temporary = directory_.File("temporary");
  std::filesystem::create_directory(temporary);
  EXPECT_EQ(
      Report(TextOfDesign(), Records(3), {.temporary_directory = temporary}).tables.at("t").rows,
      3u);
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

}  // namespace
}  // namespace stele::internal::lab
