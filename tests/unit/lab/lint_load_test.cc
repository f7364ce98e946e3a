// Tests the rules of the advisor about where operations take place, and the facts they use.
#include <algorithm>

#include "lab/trace/hot_rows.h"
#include "lab/trace/known_keys.h"
#include "lab/trace/load_spread.h"
#include "lab/trace/prefix_scans.h"
#include "lab/trace/space_saving.h"
#include "lab/trace/trace_tables.h"
#include "unit/lab/export_fixture.h"
#include "unit/lab/lint_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::Lint;
using stele::lab::LintOptions;
using stele::lab::LintReport;

// Operations on the table "t", one per 100 ms.
class OperationText {
 public:
  OperationText& Add(const std::string& members, int count = 1) {
    for (int i = 0; i < count; ++i) {
      text_ += fmt::format("{{\"t\":{},\"table\":\"t\",{}}}\n", micros_, members);
      micros_ += 100'000;
    }
    return *this;
  }
  OperationText& Get(const std::string& row, int count = 1) {
    return Add(fmt::format(R"("op":"get","row":"{}")", row), count);
  }
  OperationText& PrefixScan(const std::string& start, const std::string& end) {
    return Add(fmt::format(R"("op":"scan","start":"{}","end":"{}")", start, end));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int64_t micros_ = 1'700'000'000'000'000;
};

class LintLoadTest : public testing::Test {
 protected:
  // `keys`: a file of row keys; "": the rows of the table are not known.
  LintReport Check(const std::string& rule, const std::string& keys, const OperationText& trace,
                   LintOptions options = {}) {
    if (!rule.empty()) options.only = {rule};
    const auto report = Lint({.keys_path = keys.empty() ? "" : directory_.Write("keys", keys),
                              .trace_paths = {directory_.Write("trace.jsonl", trace.text())}},
                             options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(LintReport());
  }
  void Expect(const std::string& rule, std::optional<double> measured, const std::string& keys,
              const OperationText& trace, const LintOptions& options = {}) {
    const LintReport report = Check(rule, keys, trace, options);
    ASSERT_EQ(report.findings.size(), measured.has_value() ? 1u : 0u) << report.ToText();
    if (!measured.has_value()) return;
    EXPECT_EQ(report.findings[0].id, rule);
    EXPECT_NEAR(report.findings[0].measured, *measured, 0.0001);
  }
  // The keys 0000 to 0999, or fewer.
  static std::string Numbers(int count = 1000) {
    std::string keys;
    for (int i = 0; i < count; ++i) keys += fmt::format("{:04}\n", i);
    return keys;
  }

  const TemporaryDirectory directory_;
};

TEST_F(LintLoadTest, LoadOfFewKeys) {
  OperationText skewed;
  OperationText even;
  for (int i = 0; i < 1000; ++i) {
    skewed.Get(fmt::format("k{:03}", i % 2 == 0 ? 0 : i / 2 % 100));
    even.Get(fmt::format("k{:03}", i % 100));
  }
  Expect("LOAD-SKEW", 50.5, "", skewed);
  Expect("LOAD-SKEW", std::nullopt, "", even);
  const LintReport report = Check("LOAD-SKEW", "", skewed);
  EXPECT_EQ(report.findings[0].samples, std::vector<std::string>{"k000"});
  EXPECT_EQ(report.findings[0].count, 1000u);
}

TEST_F(LintLoadTest, LoadNeedsKeysAndOperations) {
  const auto gets = [](int keys, int count) {
    OperationText trace;
    for (int i = 0; i < keys; ++i) trace.Get(fmt::format("{:04}", i));
    return trace.Get("0000", count - keys);
  };
  // 20 keys: the largest ratio is 20, and the Gini coefficient decides.
  Expect("LOAD-SKEW", 0.9310, "", gets(20, 1000));
  Expect("LOAD-SKEW", std::nullopt, "", gets(19, 1000));
  Expect("LOAD-SKEW", std::nullopt, "", gets(20, 99), {.parameters = {{"LOAD-SKEW.gini", 0.5}}});
  Expect("LOAD-SKEW", 0.76, "", gets(20, 100), {.parameters = {{"LOAD-SKEW.gini", 0.5}}});
}

TEST_F(LintLoadTest, KeysOfTheTableReplaceThoseOfTheTrace) {
  OperationText trace;
  for (int i = 0; i < 1000; ++i) trace.Get(fmt::format("{:04}", i % 100));
  Expect("LOAD-SKEW", std::nullopt, "", trace);
  Expect("LOAD-SKEW", 0.9, Numbers(), trace);
}

TEST_F(LintLoadTest, RowsThatAreReadTogether) {
  OperationText far;
  OperationText near;
  OperationText few;
  for (int i = 0; i < 10; ++i) {
    far.Add(fmt::format(R"("op":"mget","keys":["{:04}","{:04}","{:04}","{:04}"])", i, 250 + i,
                        500 + i, 750 + i));
    near.Add(fmt::format(R"("op":"mget","keys":["{:04}","{:04}","{:04}","{:04}"])", 64 * i,
                         64 * i + 1, 64 * i + 2, 64 * i + 3));
    few.Add(fmt::format(R"("op":"mget","keys":["{:04}","{:04}","{:04}"])", i, 300 + i, 600 + i));
  }
  Expect("ROW-FAR", 1, Numbers(), far);
  Expect("ROW-FAR", std::nullopt, Numbers(), near);
  Expect("ROW-FAR", std::nullopt, Numbers(), few);
  Expect("ROW-FAR", std::nullopt, Numbers(639), far);
  Expect("ROW-FAR", 1, Numbers(640), far, {.parameters = {{"ROW-FAR.ratio", 0.7}}});
  OperationText nine;
  for (int i = 0; i < 9; ++i) nine.Add(R"("op":"mget","keys":["0000","0250","0500","0750"])");
  Expect("ROW-FAR", std::nullopt, Numbers(), nine);
  nine.Add(R"("op":"mget","keys":["0000","0000","0000","0000"])");
  Expect("ROW-FAR", 0.925, Numbers(), nine);
}

TEST_F(LintLoadTest, PrefixesThatBeginLongerValues) {
  const std::string keys = "user1#a\nuser10#a\n";
  Expect("KEY-PREFIX-CLASH", 1, keys, OperationText().PrefixScan("user1", "user2"));
  Expect("KEY-PREFIX-CLASH", std::nullopt, keys, OperationText().PrefixScan("user1#", "user1$"));
  Expect("KEY-PREFIX-CLASH", std::nullopt, keys, OperationText().PrefixScan("user", "uses"));
  Expect("KEY-PREFIX-CLASH", std::nullopt, keys, OperationText().PrefixScan("user1", "user3"));
  Expect("KEY-PREFIX-CLASH", std::nullopt, "user1#a\nuser1#b\n",
         OperationText().PrefixScan("user1", "user2"));
  // Without a delimiter there are no segments.
  Expect("KEY-PREFIX-CLASH", std::nullopt, keys, OperationText().PrefixScan("user1", "user2"),
         {.delimiter = ""});
  const LintReport report = Check("KEY-PREFIX-CLASH", keys + "a#1\nab#1\n",
                                  OperationText()
                                      .PrefixScan("user1", "user2")
                                      .PrefixScan("a", "b")
                                      .PrefixScan("user1", "user2"));
  EXPECT_EQ(report.findings.at(0).measured, 3);
  EXPECT_EQ(report.findings.at(0).samples, (std::vector<std::string>{"user1", "a"}));
}

TEST_F(LintLoadTest, PrefixesAreComparedWithTheKeysOfTheTrace) {
  OperationText trace;
  trace.Get("user1#a").Get("user10#a").PrefixScan("user1", "user2");
  Expect("KEY-PREFIX-CLASH", 1, "", trace);
  // The start of a scan is no row.
  Expect("KEY-PREFIX-CLASH", std::nullopt, "",
         OperationText().Get("user2#a").Get("user3#a").PrefixScan("user", "uses"));
}

TEST_F(LintLoadTest, KeysOfTheTraceReplaceThoseOfAnEmptyTable) {
  OperationText trace;
  trace.Add(R"("op":"set","row":"ann@example.com#1")", 200);
  for (int i = 0; i < 50; ++i) trace.Get(fmt::format("u{}#1", i));
  trace.PrefixScan("u1", "u2");
  const std::string path = directory_.Write("trace.jsonl", trace.text());
  const std::string empty = directory_.Write("empty", "");
  LintFixture fixture;
  const LintOptions options = {.only = {"KEY-HOT-ROW", "KEY-PREFIX-CLASH", "LOAD-SKEW"}};
  for (const stele::lab::LintInput& input :
       {stele::lab::LintInput{.trace_paths = {path}},
        {.keys_path = empty, .trace_paths = {path}},
        {.rows_path = empty, .trace_paths = {path}},
        {.database = fixture.database(), .trace_paths = {path}}}) {
    const auto report = Lint(input, options);
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_EQ(report->findings.size(), 3u) << report->ToText();
    EXPECT_EQ(report->findings[0].id, "KEY-HOT-ROW");
    EXPECT_EQ(report->findings[0].samples, std::vector<std::string>{"a***#1"});
    EXPECT_EQ(report->findings[1].id, "KEY-PREFIX-CLASH");
    EXPECT_EQ(report->findings[2].id, "LOAD-SKEW");
  }
}

TEST_F(LintLoadTest, OrderOfSegmentsIsExcusedByTheLoad) {
  std::string keys;
  OperationText skewed;
  OperationText even;
  for (int i = 0; i < 100; ++i) {
    const std::string key = fmt::format("u{:02}#{}", i, i % 2);
    keys += key + "\n";
    skewed.Get("u00#0", 10);
    even.Get(key, 10);
  }
  Expect("KEY-CARDINALITY", std::nullopt, keys, skewed);
  Expect("KEY-CARDINALITY", 50, keys, even);
}

TEST_F(LintLoadTest, HotRowsAfterManyOthersAreFound) {
  std::string text;
  const auto add = [&](const std::string& row, int count) {
    for (int i = 0; i < count; ++i)
      text += fmt::format(R"({{"t":1700000040000000,"op":"set","table":"t","row":"{}"}})"
                          "\n",
                          row);
  };
  for (int i = 0; i < 70'000; ++i) add(std::to_string(i), 1);
  add("hot", 101);
  add("warm", 100);
  const auto report =
      Lint({.trace_paths = {directory_.Write("hot.jsonl", text)}}, {.only = {"KEY-HOT-ROW"}});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].samples, std::vector<std::string>{"hot"});
  EXPECT_EQ(report->findings[0].measured, 101);
}

TEST_F(LintLoadTest, LongColumnNamesAreDifferent) {
  const std::string name(5000, 'n');
  OperationText trace;
  for (const char last : {'a', 'b'})
    trace.Add(fmt::format(R"("op":"rmw","row":"r","increments":["f:{}{}"])", name, last), 60);
  Expect("COL-AGG", std::nullopt, "", trace);
}

TEST_F(LintLoadTest, WrongLinesAreSkippedAndCounted) {
  const std::string path = directory_.Write(
      "bad.jsonl",
      "{\"t\":1,\"op\":\"set\",\"table\":\"t\",\"row\":\"a\",\"cells\":100001}\n[]\n\n{}\n");
  EXPECT_FALSE(Lint({.trace_paths = {path}}).ok());
  const auto report = Lint({.trace_paths = {path}}, {.skips_bad_lines = true});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->skipped_lines, 2u) << "a blank line is not wrong";
  EXPECT_EQ(report->findings.at(0).id, "SIZE-MUT-MAX");
  EXPECT_NE(report->ToText().find("2 wrong lines or damaged blocks of the trace skipped\n1 error"),
            std::string::npos);
  EXPECT_NE(report->ToJson().find(R"("skipped_lines":2)"), std::string::npos);
  EXPECT_FALSE(Lint({.trace_paths = {directory_.File("none")}}, {.skips_bad_lines = true}).ok());
}

TEST(SpaceSavingTest, CountsAreNeverTooSmall) {
  SpaceSaving counts(3);
  EXPECT_EQ(counts.Add(1, 5).count, 5u);
  EXPECT_EQ(counts.Add(2, 2).count, 2u);
  EXPECT_EQ(counts.Add(3, 9).count, 9u);
  EXPECT_EQ(counts.Add(2, 1).count, 3u);
  const SpaceSaving::Estimate taken = counts.Add(4, 1);  // the place of 2
  EXPECT_EQ(taken.count, 4u);
  EXPECT_EQ(taken.error, 3u);
  EXPECT_EQ(counts.Add(3, 1).count, 10u);
  EXPECT_EQ(counts.Add(4, 7).count, 11u);
  const SpaceSaving::Estimate again = counts.Add(2, 1);  // the place of 1
  EXPECT_EQ(again.count, 6u);
  EXPECT_EQ(again.error, 5u);
  counts.Clear();
  EXPECT_EQ(counts.Add(3, 1).count, 1u);
}

TEST(HotRowsTest, EstimatesAreCountedAgain) {
  HotRows rows(10, 5);
  const auto add = [&] {
    for (int minute = 0; minute < 3; ++minute) {
      const int64_t micros = minute * int64_t{60'000'000};
      for (int i = 0; i < 200'000; ++i) rows.Add(micros, std::to_string(i), 1);
      rows.Add(micros, "sustained", 6);
      rows.Add(micros, "below", 5);
    }
    rows.Add(0, "above", 10);
    rows.Add(0, "above", 1);
  };
  add();
  EXPECT_TRUE(rows.needs_recount());
  rows.Recount();
  add();
  EXPECT_FALSE(rows.needs_recount());
  EXPECT_EQ(rows.rows().samples, (std::vector<std::string>{"sustained", "above"}));
  EXPECT_EQ(rows.rows().count, 2u);
  EXPECT_EQ(rows.largest(), 11u);
  EXPECT_FALSE(rows.is_only_sustained());
}

TEST(KnownKeysTest, KeysThatDoNotFitAreLeftOutEvenly) {
  KnownKeys table(10'000);
  for (int i = 0; i < 1000; ++i) table.AddInOrder(fmt::format("{:04}", i));
  table.Finish();
  EXPECT_EQ(table.count(), 1000u);
  ASSERT_EQ(table.keys().size(), 125u);
  for (size_t i = 0; i < table.keys().size(); ++i)
    ASSERT_EQ(table.keys()[i], fmt::format("{:04}", 8 * i));
  KnownKeys trace(100'000);
  for (int repeated = 0; repeated < 2; ++repeated)
    for (int i = 9999; i >= 0; --i) trace.Add(fmt::format("{:04}", i), i % 2 == repeated);
  trace.Finish();
  EXPECT_LT(trace.keys().size(), 1000u);
  EXPECT_GT(trace.keys().size(), 300u);
  EXPECT_NEAR(static_cast<double>(trace.count()), 10'000, 2000);
  EXPECT_TRUE(std::is_sorted(trace.keys().begin(), trace.keys().end()));
  EXPECT_TRUE(trace.is_row(0));
}

TEST(KnownKeysTest, IndexOfFindsTheGreatestKeyThatIsNotAbove) {
  KnownKeys keys;
  for (const char* const key : {"d", "b", "b"}) keys.Add(key, key[0] == 'd');
  keys.Finish();
  EXPECT_EQ(keys.keys(), (std::vector<std::string>{"b", "d"}));
  EXPECT_FALSE(keys.is_row(0));
  EXPECT_TRUE(keys.is_row(1));
  for (const auto& [key, index] : {std::pair("a", 0u), {"b", 0u}, {"c", 0u}, {"d", 1u}, {"e", 1u}})
    EXPECT_EQ(keys.IndexOf(key), index) << key;
}

// Ten bands of one key each.
TEST(LoadSpreadTest, ScansCountInEachOfTheirBands) {
  KnownKeys keys;
  for (int i = 0; i < 10; ++i) keys.AddInOrder(std::to_string(i));
  using Bands = std::vector<uint64_t>;
  const auto bands_of = [&](const TraceRecord& record) {
    LoadSpread spread(keys);
    spread.Add(record);
    spread.Finish();
    return spread.bands();
  };
  TraceRecord scan{.op = TraceOp::kScan};
  EXPECT_EQ(bands_of(scan), Bands(10, 1));
  scan.start = "2";
  scan.end = "5";
  EXPECT_EQ(bands_of(scan), (Bands{0, 0, 1, 1, 1, 0, 0, 0, 0, 0}));
  scan.last = "3";
  EXPECT_EQ(bands_of(scan), (Bands{0, 0, 1, 1, 0, 0, 0, 0, 0, 0}));
  scan.is_reverse = true;
  EXPECT_EQ(bands_of(scan), (Bands{0, 0, 0, 1, 1, 0, 0, 0, 0, 0}));
  TraceRecord ranges{.op = TraceOp::kScan, .sample = 3};
  ranges.has_ranges = true;
  EXPECT_EQ(bands_of(ranges), Bands(10, 0));  // a scan of no rows
  ranges.ranges = {{.start = "", .end = "11"}, {.start = "1", .end = "3"}, {.start = "8"}};
  EXPECT_EQ(bands_of(ranges), (Bands{3, 3, 3, 0, 0, 0, 0, 0, 3, 3}));
  ranges.last = "85";
  EXPECT_EQ(bands_of(ranges), (Bands{3, 3, 3, 0, 0, 0, 0, 0, 3, 0}));
  ranges.last.reset();
  ranges.ranges = {{.start = "7", .end = ""}};  // an empty end is none
  EXPECT_EQ(bands_of(ranges), (Bands{0, 0, 0, 0, 0, 0, 0, 3, 3, 3}));
  const TraceRecord gets{.op = TraceOp::kMget, .keys = {"1", "1x", "zz", ""}};
  EXPECT_EQ(bands_of(gets), (Bands{1, 2, 0, 0, 0, 0, 0, 0, 0, 1}));
  const TraceRecord drop{.op = TraceOp::kDrop, .row = "1"};
  EXPECT_EQ(bands_of(drop), Bands(10, 0));
}

TEST(PrefixScansTest, OnlyKnownPrefixesAreCountedIfThereIsNoRoom) {
  PrefixScans scans;
  TraceRecord scan{.op = TraceOp::kScan, .start = "a", .end = "b"};
  EXPECT_GT(scans.Add(scan, true), 0u);
  EXPECT_EQ(scans.Add(scan, false), 0u);
  scan.start = "c";
  scan.end = "d";
  EXPECT_EQ(scans.Add(scan, false), 0u);
  scans.Start("#");
  for (const char* const key : {"a", "ab", "c#", "cd"}) scans.Match(key);
  EXPECT_EQ(scans.Clashes().count, 2u);
}

TEST(TraceTablesTest, AllTablesShareTheirMemory) {
  TraceTables tables;
  for (int i = 0; i < 120'000; ++i) {
    const TraceRecord record{.table = fmt::format("t{}", i % 3), .row = fmt::format("{}", i)};
    ASSERT_TRUE(tables.Add(record).ok());
  }
  size_t bytes = 0;
  for (const auto& [name, table] : tables.tables()) bytes += table.keys.bytes();
  EXPECT_LE(bytes, KnownKeys::kBytesMax);
  EXPECT_GT(bytes, KnownKeys::kBytesMax / 4);
}

}  // namespace
}  // namespace stele::internal::lab
