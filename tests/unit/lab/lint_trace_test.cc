// Tests the rules of the advisor about recorded operations, and the reader of traces.
#include "lab/trace/trace_reader.h"
#include "unit/lab/export_fixture.h"
#include "unit/lab/lint_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::Lint;
using stele::lab::LintOptions;
using stele::lab::LintReport;

// A trace of the table "t": one operation per 100 ms.
class TraceText {
 public:
  // `members`: without braces, for example: "op":"get","row":"a".
  TraceText& Add(const std::string& members, int count = 1) {
    for (int i = 0; i < count; ++i) {
      text_ += fmt::format("{{\"t\":{},\"table\":\"t\",{}}}\n", micros_, members);
      micros_ += 100'000;
    }
    return *this;
  }
  TraceText& Pause(int64_t micros) {
    micros_ += micros;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int64_t micros_ = 1'700'000'000'000'000;
};

std::string Get(const std::string& row) { return fmt::format(R"("op":"get","row":"{}")", row); }
std::string Set(const std::string& row) { return fmt::format(R"("op":"set","row":"{}")", row); }
std::string Scan(const std::string& members) { return R"("op":"scan",)" + members; }

class LintTraceTest : public testing::Test {
 protected:
  LintReport LintTrace(const TraceText& trace, const LintOptions& options = {}) {
    const auto report =
        Lint({.trace_paths = {directory_.Write("trace.jsonl", trace.text())}}, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(LintReport());
  }
  LintReport LintTable(LintFixture& fixture, const TraceText& trace, const LintOptions& options) {
    const auto report = Lint({.database = fixture.database(),
                              .trace_paths = {directory_.Write("trace.jsonl", trace.text())}},
                             options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(LintReport());
  }
  void Expect(const std::string& rule, std::optional<double> measured, const TraceText& trace) {
    const LintReport report = LintTrace(trace, {.only = {rule}});
    ASSERT_EQ(report.findings.size(), measured.has_value() ? 1u : 0u) << report.ToText();
    if (!measured.has_value()) return;
    EXPECT_EQ(report.findings[0].id, rule);
    EXPECT_NEAR(report.findings[0].measured, *measured, 0.0001);
  }
  void ExpectWrong(const std::string& text, std::string_view message) {
    const auto report = Lint({.trace_paths = {directory_.Write("bad.jsonl", text)}});
    EXPECT_FALSE(report.ok());
    EXPECT_NE(report.status().ToString().find(message), std::string::npos) << report.status();
  }
  const TemporaryDirectory directory_;
};

TEST_F(LintTraceTest, LargeMutations) {
  Expect("SIZE-MUT-MAX", 100'001, TraceText().Add(Set("a") + R"(,"cells":100001)"));
  Expect("SIZE-MUT-MAX", std::nullopt, TraceText().Add(Set("a") + R"(,"cells":100000)"));
}

TEST_F(LintTraceTest, FamiliesThatAreReadTogether) {
  const TraceText gets = TraceText().Add(Get("r"), 100);
  const LintOptions options = {.only = {"FAM-COREAD"}};
  LintFixture same({{.name = "a"}, {.name = "b"}});
  EXPECT_EQ(LintTable(same, gets, options).findings.size(), 1u);
  LintFixture different({{.name = "a"}, {.name = "b", .gc = GcRule::MaxNumVersions(1)}});
  EXPECT_TRUE(LintTable(different, gets, options).findings.empty());
  LintFixture types({{.name = "a"}, {.name = "b", .value_type = ValueType::kInt64Sum}});
  EXPECT_TRUE(LintTable(types, gets, options).findings.empty());
  const TraceText one_family = TraceText().Add(Get("r") + R"(,"families":["a"])", 100);
  EXPECT_TRUE(LintTable(same, one_family, options).findings.empty());
  const TraceText both = TraceText().Add(Get("r") + R"(,"families":["b","a"])", 100);
  EXPECT_EQ(LintTable(same, both, options).findings.size(), 1u);
}

TEST_F(LintTraceTest, ManyFamiliesWithLongNamesAreReadTogether) {
  std::vector<FamilySchema> families;
  std::string all;
  for (int i = 0; i < 50; ++i) {
    families.push_back({.name = fmt::format("{:-<60}{}", "family", i)});
    all += fmt::format("{}\"{}\"", i == 0 ? "" : ",", families.back().name);
  }
  const LintOptions options = {.only = {"FAM-COREAD"}};
  const TraceText reads = TraceText().Add(Get("r") + ",\"families\":[" + all + "]", 100);
  LintFixture fixture(families);
  EXPECT_EQ(LintTable(fixture, reads, options).findings.size(), 1u);
  // Half of the reads read one family less: neither set has the larger share.
  const std::string less = all.substr(0, all.rfind(','));
  const TraceText two_sets = TraceText()
                                 .Add(Get("r") + ",\"families\":[" + all + "]", 50)
                                 .Add(Get("r") + ",\"families\":[" + less + "]", 50);
  EXPECT_TRUE(LintTable(fixture, two_sets, options).findings.empty());
}

TEST_F(LintTraceTest, FiltersThatExamineMuch) {
  const auto scans = [](int seen) {
    const std::string filter = R"x("filter":"family(\"a\")","cells_returned":10,)x";
    return TraceText().Add(Scan(filter + fmt::format("\"cells_seen\":{}", seen)), 100);
  };
  Expect("FAM-OVERREAD", 5, scans(50));
  Expect("FAM-OVERREAD", std::nullopt, scans(40));
  // Reads that do not know it, as those of a server, change nothing.
  const std::string unknown = Scan(R"x("filter":"family(\"a\")","cells_returned":1)x");
  Expect("FAM-OVERREAD", std::nullopt, TraceText().Add(unknown, 100));
  Expect("FAM-OVERREAD", 5, scans(50).Add(unknown, 1000));
}

TEST_F(LintTraceTest, ColumnsThatReadersDoNotKnow) {
  for (const bool is_same : {false, true}) {
    LintFixture fixture;
    for (int row = 0; row < 20; ++row)
      for (int i = 0; i < 21; ++i)
        fixture.Cell(fmt::format("r{:02}", row), "f", fmt::format("{}-{}", is_same ? 0 : row, i),
                     "x");
    const LintReport report =
        LintTable(fixture, TraceText().Add(Get("r00"), 100), {.only = {"COL-UNKNOWN-QUERY"}});
    EXPECT_EQ(report.findings.size(), is_same ? 0u : 1u) << report.ToText();
  }
}

TEST_F(LintTraceTest, ColumnsThatAreCounters) {
  const std::string increment = R"("op":"rmw","row":"a","increments":["f:n"])";
  const std::string set = Set("a") + R"(,"columns":["f:n"])";
  Expect("COL-AGG", 1, TraceText().Add(increment, 100));
  Expect("COL-AGG", std::nullopt, TraceText().Add(increment, 40).Add(set, 60));
  Expect("COL-AGG", std::nullopt, TraceText().Add(increment, 99));
  // A record counts each column once, also one that both lists have.
  const std::string both = increment + R"(,"columns":["f:n","f:n"])";
  Expect("COL-AGG", 1, TraceText().Add(both, 100));
  Expect("COL-AGG", std::nullopt, TraceText().Add(both, 99));
  LintFixture sums({{.name = "f", .value_type = ValueType::kInt64Sum}});
  EXPECT_TRUE(
      LintTable(sums, TraceText().Add(increment, 100), {.only = {"COL-AGG"}}).findings.empty());
  const LintReport report = LintTrace(TraceText().Add(increment, 100));
  EXPECT_NE(report.ToJson().find(R"("where":{"family":"f","column":"n"})"), std::string::npos);
}

TEST_F(LintTraceTest, PersonalDataIsMasked) {
  TraceText trace;
  trace.Add(R"("op":"rmw","row":"ann@example.com#1","increments":["f:ann@example.com"])", 100);
  trace.Add(Set("ann@example.com#2") + R"(,"batch":1)").Add(Set("b#1") + R"(,"batch":1)");
  const LintReport report = LintTrace(trace, {.only = {"COL-AGG", "ROW-MULTI-ATOMIC"}});
  ASSERT_EQ(report.findings.size(), 2u) << report.ToText();
  EXPECT_EQ(report.findings[0].samples, std::vector<std::string>{"a***#2"});
  EXPECT_EQ(report.findings[1].column, "a***");
  EXPECT_EQ(report.ToJson().find("example.com"), std::string::npos) << report.ToJson();
}

TEST_F(LintTraceTest, AColumnWithoutAFamilyIsMasked) {
  const std::string members = R"("op":"rmw","row":"a","increments":["ann@example.com"])";
  const LintReport report = LintTrace(TraceText().Add(members, 100), {.only = {"COL-AGG"}});
  ASSERT_EQ(report.findings.size(), 1u) << report.ToText();
  EXPECT_EQ(report.findings[0].family, "a***");
  for (const std::string& text : {report.ToText(), report.ToJson(), report.ToSarif("1")})
    EXPECT_EQ(text.find("example.com"), std::string::npos) << text;
}

TEST_F(LintTraceTest, FingerprintsOfMaskedColumnsDiffer) {
  const std::string members =
      R"("op":"rmw","row":"a","increments":["f:ann@example.com","f:abe@example.com"])";
  const LintReport report = LintTrace(TraceText().Add(members, 100), {.only = {"COL-AGG"}});
  ASSERT_EQ(report.findings.size(), 2u) << report.ToText();
  EXPECT_EQ(report.findings[0].column, report.findings[1].column);
  const std::string sarif = report.ToSarif("1");
  constexpr std::string_view kName = R"("stele/v1":")";
  const size_t first = sarif.find(kName);
  const size_t second = sarif.find(kName, first + 1);
  ASSERT_NE(second, std::string::npos) << sarif;
  EXPECT_NE(sarif.substr(first + kName.size(), 16), sarif.substr(second + kName.size(), 16));
  EXPECT_EQ(sarif, report.ToSarif("1"));
}

TEST_F(LintTraceTest, BatchesOfSeveralRows) {
  const auto batch = [](const std::string& row) { return Set(row) + R"(,"batch":1)"; };
  Expect("ROW-MULTI-ATOMIC", 1, TraceText().Add(batch("a")).Add(batch("b")).Add(batch("c")));
  Expect("ROW-MULTI-ATOMIC", std::nullopt, TraceText().Add(batch("a"), 2));
}

TEST_F(LintTraceTest, ScansOfOnePrefix) {
  const auto scans = [](int returned) {
    TraceText trace;
    for (int i = 0; i < 100; ++i)
      trace.Add(
          Scan(fmt::format(R"("start":"u{}#","end":"u{}$","rows_returned":{})", i, i, returned)));
    return trace;
  };
  Expect("ROW-ENTITY-SPLIT", 1, scans(5));
  Expect("ROW-ENTITY-SPLIT", std::nullopt, scans(1));
}

TEST_F(LintTraceTest, RowsThatArriveInOrder) {
  TraceText ordered;
  TraceText spread;
  for (int i = 0; i < 1000; ++i) {
    ordered.Add(Set(fmt::format("{:06}", i)));
    spread.Add(Set(fmt::format("{}#{:06}", i % 10, i)));
  }
  Expect("KEY-MONOTONE", 1, ordered);
  Expect("KEY-MONOTONE", std::nullopt, spread);
  TraceText nearly;  // pairs in the wrong order: half of the rows are above all others
  for (int i = 0; i < 200; ++i) nearly.Add(Set(fmt::format("{:06}", i ^ 1)));
  const LintReport report = LintTrace(nearly, {.only = {"KEY-MONOTONE"}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_GT(report.findings[0].measured, 0.99);  // the correlation
}

TEST_F(LintTraceTest, RowsWithManyWrites) {
  const auto writes = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += fmt::format("{{\"t\":{},\"table\":\"t\",{}}}\n", 1'699'999'980'000'000 + i * 10'000,
                          Set("a"));
    return text;
  };
  const auto lint = [&](const std::string& text) {
    return Lint({.trace_paths = {directory_.Write("w.jsonl", text)}}, {.only = {"KEY-HOT-ROW"}})
        ->findings.size();
  };
  EXPECT_EQ(lint(writes(101)), 1u);
  EXPECT_EQ(lint(writes(100)), 0u);
  EXPECT_EQ(lint("{\"trace\":1,\"sample\":2}\n" + writes(51)), 1u);
  const auto minutes = [](int count) {
    TraceText trace;
    trace.Pause(40'000'000);  // the beginning of a minute
    for (int i = 0; i < count; ++i) trace.Add(Set("a"), 61).Pause(60'000'000 - 6'100'000);
    return trace;
  };
  Expect("KEY-HOT-ROW", 61, minutes(3));
  Expect("KEY-HOT-ROW", std::nullopt, minutes(2));
}

TEST_F(LintTraceTest, ScansWithRegexes) {
  const auto scans = [](int seen, int count) {
    const std::string filter = R"x("filter":"row_regex(\"x\")","rows_returned":10,)x";
    return TraceText().Add(Scan(filter + fmt::format("\"rows_seen\":{}", seen)), count);
  };
  Expect("KEY-SUFFIX-QUERY", 100, scans(1000, 10));
  Expect("KEY-SUFFIX-QUERY", std::nullopt, scans(100, 10));
  Expect("KEY-SUFFIX-QUERY", std::nullopt, scans(1000, 9));
  // Scans that do not know it, as those of a server, change nothing.
  const std::string unknown = Scan(R"x("filter":"row_regex(\"x\")","rows_returned":1)x");
  Expect("KEY-SUFFIX-QUERY", std::nullopt, TraceText().Add(unknown, 100));
  Expect("KEY-SUFFIX-QUERY", std::nullopt, scans(1000, 9).Add(unknown, 100));
  Expect("KEY-SUFFIX-QUERY", 100, scans(1000, 10).Add(unknown, 1000));
}

TEST_F(LintTraceTest, ScansOfTheWholeTable) {
  const std::string scan = R"("op":"scan")";
  Expect("KEY-FULL-SCAN", 0.02, TraceText().Add(Get("a"), 98).Add(scan, 2));
  Expect("KEY-FULL-SCAN", std::nullopt, TraceText().Add(Get("a"), 99).Add(scan, 1));
  Expect("KEY-FULL-SCAN", std::nullopt, TraceText().Add(Get("a"), 98).Add(Scan(R"("limit":5)"), 2));
  // Empty bounds are no bounds. Several ranges may be the whole table together.
  for (const std::string bounds :
       {R"("start":"","end":"")", R"("start":"")", R"("end":"")", R"("ranges":[[null,""]])",
        R"("ranges":[["a",""],["","b"]])", R"("ranges":[["b","d"],["d",null],["a","c"],["","a"]])",
        R"("ranges":[["",""]],"keys":["a"])"})
    Expect("KEY-FULL-SCAN", 1, TraceText().Add(Scan(bounds), 100));
  for (const std::string bounds :
       {R"("start":"a","end":"")", R"("start":"","end":"b")", R"("ranges":[])",
        R"("ranges":[["b",""],["","a"]])", R"("ranges":[["","c"],["a","b"]])", R"("keys":["a"])"})
    Expect("KEY-FULL-SCAN", std::nullopt, TraceText().Add(Scan(bounds), 100));
  LintFixture fixture;
  fixture.Keys(0, 3, [](int i) { return std::to_string(i); });
  const auto half = [](int seen) {
    return TraceText().Add(Scan(fmt::format(R"("start":"0","rows_seen":{})", seen)), 100);
  };
  const LintOptions options = {.only = {"KEY-FULL-SCAN"}};
  EXPECT_EQ(LintTable(fixture, half(2), options).findings.size(), 1u);
  EXPECT_EQ(LintTable(fixture, half(1), options).findings.size(), 0u);
  const TraceText unknown = TraceText().Add(Scan(R"("start":"0","rows_returned":3)"), 100);
  EXPECT_EQ(LintTable(fixture, unknown, options).findings.size(), 0u);
}

TEST_F(LintTraceTest, OrderOfSegmentsIsExcusedByMonotoneWrites) {
  LintFixture fixture;
  fixture.Keys(0, 99, [](int i) { return fmt::format("u{:02}#{}", i, i % 2); });
  TraceText trace;
  for (int i = 0; i < 100; ++i) trace.Add(Set(fmt::format("u{:02}#{}", i, i % 2)));
  const LintReport report =
      LintTable(fixture, trace, {.only = {"KEY-CARDINALITY", "KEY-MONOTONE"}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].id, "KEY-MONOTONE");
}

TEST_F(LintTraceTest, TracesAreSortedByTime) {
  std::string text = R"({"trace":1,"sample":3})"
                     "\n";
  for (const int i : {3, 1, 2})
    text += fmt::format(R"({{"t":{},"op":"get","table":"t","row_base64":"/w==","new":{{}}}})"
                        "\n",
                        i);
  const auto reader = TraceReader::Open(directory_.Write("trace", text));
  ASSERT_TRUE(reader.ok());
  TraceRecord record;
  for (const int64_t expected : {1, 2, 3}) {
    ASSERT_TRUE(*(*reader)->Next(&record));
    EXPECT_EQ(record.micros, expected);
    EXPECT_EQ(record.row, "\xff");
    EXPECT_EQ(record.sample, 3u);
  }
  EXPECT_FALSE(*(*reader)->Next(&record));
}

TEST_F(LintTraceTest, AServersTraceHasFullNames) {
  LintFixture fixture;  // as a remote database, which has plain names
  fixture.Key("a");
  const auto lint = [&](const std::vector<std::string>& tables) {
    std::string text;
    for (const std::string& table : tables)
      text += fmt::format(R"({{"t":1,"op":"set","table":"{}","row":"a","cells":100001}})"
                          "\n",
                          table);
    return Lint({.database = fixture.database(), .trace_paths = {directory_.Write("s", text)}},
                {.only = {"SIZE-MUT-MAX"}});
  };
  for (const std::string table : {"t", "p/i/t"}) {
    const auto report = lint({table, "p/i/other"});
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_EQ(report->findings.size(), 1u) << table;
    EXPECT_EQ(report->findings[0].table, "t");
  }
  EXPECT_EQ(lint({"t", "p/i/t"})->findings.size(), 1u);
  const absl::Status several = lint({"p/i/t", "p/j/t"}).status();
  EXPECT_EQ(several.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(several.ToString().find("p/i/t or p/j/t"), std::string::npos) << several;
}

TEST_F(LintTraceTest, ATraceOfOtherTablesIsAnError) {
  LintFixture fixture;
  fixture.Key("a");
  const std::string own = directory_.Write("own", TraceText().Add(Get("a")).text());
  const std::string other =
      directory_.Write("other", R"({"t":1,"op":"get","table":"u","row":"a"})");
  const auto report = Lint({.database = fixture.database(), .trace_paths = {own, other}});
  EXPECT_EQ(report.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(report.status().ToString().find("/other: no operation is on a table that is checked; "
                                            "its tables are: u"),
            std::string::npos)
      << report.status();
  EXPECT_TRUE(Lint({.trace_paths = {own, other}}).ok());
}

TEST_F(LintTraceTest, WrongLinesAreErrors) {
  const std::string good = R"({"t":1,"op":"get","table":"t","row":"a"})"
                           "\n";
  for (const std::string text :
       {"1", "{", R"({"t":1,"op":"get","table":"t"})", R"({"t":1,"op":"get","table":"t","row":""})",
        R"({"op":"get","table":"t"})", R"({"t":1,"op":"put","table":"t"})", R"({"t":1,"op":"get"})",
        R"({"t":-1,"op":"get","table":"t"})", R"({"t":1,"op":"get","table":"t","row":1})",
        R"({"t":1,"op":"get","table":"t","keys":"a"})",
        R"({"t":1,"op":"get","table":"t","row_base64":"*"})",
        R"({"t":1,"op":"get","table":"t","bytes":-1})", R"({"trace":1})"})
    ExpectWrong(good + text + "\n", "bad.jsonl:2: ");
  ExpectWrong(R"({"trace":1,"sample":0})", "bad.jsonl:1: ");
  ExpectWrong(R"({"trace":"1"})", "bad.jsonl:1: \"trace\" must be 1");
  ExpectWrong(good + R"({"t":1,"op":"put","table":"t"})",
              "\"op\" must be get, mget, scan, set, del, rmw, cas or drop (--skip-bad leaves");
  EXPECT_TRUE(Lint({.trace_paths = {directory_.Write("blank", good + "\n \t\r\n" + good)}}).ok());
  const std::string failed = R"({"t":1,"op":"set","table":"t","status":"INVALID_ARGUMENT"})";
  EXPECT_TRUE(Lint({.trace_paths = {directory_.Write("failed", failed)}}).ok());
}

TEST_F(LintTraceTest, ANewerVersionOfJsonLinesIsNotRead) {
  const std::string path = directory_.Write("new", "{\"trace\":2}\n");
  for (const bool skips_bad : {false, true}) {
    const auto report = Lint({.trace_paths = {path}}, {.skips_bad_lines = skips_bad});
    EXPECT_EQ(report.status().code(), absl::StatusCode::kUnimplemented) << report.status();
  }
}

}  // namespace
}  // namespace stele::internal::lab
