// Tests the heat map: bands, steps, counts and patterns of given traces.
#include "stele/lab/heat_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lab/heat_map/bands.h"
#include "lab/heat_map/key_store.h"
#include "stele/stele.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::HeatMap;
using stele::lab::HeatMapOptions;
using stele::lab::HeatMaps;
using stele::lab::HeatMetric;
using stele::lab::HeatPattern;
using stele::lab::HeatSeverity;

constexpr int64_t kStart = 1'700'000'000'000'000;

// A line of the table "t"; `members` without braces: "op":"get","row":"a".
std::string LineAt(int64_t micros, const std::string& members) {
  return fmt::format("{{\"t\":{},\"table\":\"t\",{}}}\n", micros, members);
}
std::string PointLine(int i, std::string_view op, const std::string& row) {
  return LineAt(kStart + i * 100'000, fmt::format(R"("op":"{}","row":"{}")", op, row));
}
// 1,000 operations, 100 ms apart.
std::string Thousand(std::string_view op, const std::function<std::string(int)>& key) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += PointLine(i, op, key(i));
  return text;
}
std::string SpreadKey(int i) { return fmt::format("{:03}", i * 37 % 200); }

class HeatMapTest : public testing::Test {
 protected:
  absl::StatusOr<HeatMaps> BuildMaps(const std::string& text,
                                     const HeatMapOptions& options = {}) const {
    return HeatMap::Build({.trace_paths = {directory_.Write("trace.jsonl", text)}}, options);
  }
  // The only map.
  HeatMap Build(const std::string& text, const HeatMapOptions& options = {}) const {
    const auto maps = BuildMaps(text, options);
    EXPECT_TRUE(maps.ok()) << maps.status();
    if (!maps.ok() || maps->maps.size() != 1) return HeatMap(EmptyParts());
    return maps->maps[0];
  }
  static HeatMap::Parts EmptyParts() {
    return {.bands = {{}}, .values = {{HeatMetric::kOps, {0}}}};
  }
  void ExpectError(const std::string& text, const HeatMapOptions& options,
                   std::string_view message) const {
    const auto maps = BuildMaps(text, options);
    ASSERT_FALSE(maps.ok());
    EXPECT_NE(maps.status().ToString().find(message), std::string::npos) << maps.status();
  }
  static std::vector<std::string> Names(const HeatMap& map) {
    std::vector<std::string> names;
    for (const HeatPattern& pattern : map.patterns()) names.push_back(pattern.name);
    return names;
  }
  static HeatPattern Pattern(const HeatMap& map, std::string_view name) {
    for (const HeatPattern& pattern : map.patterns())
      if (pattern.name == name) return pattern;
    ADD_FAILURE() << name << " in " << map.ToText(HeatMetric::kOps, HeatMap::TextStyle::kSummary);
    return {};
  }
  static std::vector<double> ByBand(const HeatMap& map, HeatMetric metric) {
    std::vector<double> sums(map.parts().bands.size());
    for (size_t band = 0; band < sums.size(); ++band)
      for (uint64_t step = 0; step < map.parts().steps; ++step)
        sums[band] += map.At(metric, band, step);
    return sums;
  }
  using Strings = std::vector<std::string>;
  using Doubles = std::vector<double>;
  const TemporaryDirectory directory_;
};

// The vectors of the specification.

TEST_F(HeatMapTest, AscendingKeysAreSequentialWrites) {
  const HeatMap map = Build(Thousand("set", [](int i) { return fmt::format("{:06}", i); }));
  EXPECT_EQ(map.parts().bands.size(), 256u);
  EXPECT_EQ(map.parts().steps, 100u);
  EXPECT_EQ(map.parts().step_micros, 1'000'000);
  EXPECT_EQ(map.parts().start_micros, kStart);
  EXPECT_EQ(Names(map), Strings{"sequential-writes"});
  const HeatPattern pattern = Pattern(map, "sequential-writes");
  EXPECT_EQ(pattern.direction, "ascending");
  EXPECT_EQ(pattern.severity, HeatSeverity::kWarning);
  EXPECT_EQ(pattern.rule, "KEY-MONOTONE");
  EXPECT_NEAR(pattern.measured, 1, 0.0001);
}

TEST_F(HeatMapTest, StepsWithTheSameMeanBandHaveTheSameRank) {
  // The mean band of the steps 3 and 4 is 10.
  const std::vector<std::vector<int>> steps = {
      {0, 1, 2}, {3, 4, 5}, {6, 7, 8},    {9, 10, 10, 10, 10, 11},
      {10},      {12, 13},  {14, 15, 16}, {17, 18, 19}};
  std::string text;
  for (size_t step = 0; step < steps.size(); ++step)
    for (const int band : steps[step])
      text += PointLine(static_cast<int>(step) * 10, "set", fmt::format("{:02}", band));
  const HeatMap map = Build(text);
  ASSERT_EQ(map.parts().bands.size(), 20u);
  EXPECT_NEAR(Pattern(map, "sequential-writes").measured, 0.9940, 0.0001);
}

TEST_F(HeatMapTest, DescendingReadsAreInfo) {
  const HeatMap map = Build(Thousand("get", [](int i) { return fmt::format("{:06}", 999 - i); }));
  EXPECT_EQ(Names(map), Strings{"sequential-reads"});
  EXPECT_EQ(map.patterns()[0].direction, "descending");
  EXPECT_EQ(map.patterns()[0].severity, HeatSeverity::kInfo);
}

TEST_F(HeatMapTest, HalfOfTheOperationsOnOneRow) {
  const HeatMap map =
      Build(Thousand("set", [](int i) { return i % 2 == 1 ? std::string("hot") : SpreadKey(i); }));
  EXPECT_EQ(Names(map), Strings{"hot-row"});
  const HeatPattern pattern = Pattern(map, "hot-row");
  EXPECT_EQ(pattern.row, "hot");
  EXPECT_DOUBLE_EQ(pattern.measured, 0.5);
  EXPECT_EQ(pattern.rule, "KEY-HOT-ROW");
  EXPECT_EQ(pattern.message, "\"hot\"  50 % of all operations");
}

TEST_F(HeatMapTest, EvenReads) {
  const HeatMap map = Build(Thousand("get", SpreadKey));
  EXPECT_EQ(map.parts().bands.size(), 200u);
  EXPECT_EQ(Names(map), Strings{"even"});
  EXPECT_EQ(map.parts().gini, 0);
  EXPECT_EQ(map.patterns()[0].measured, 0);
}

TEST_F(HeatMapTest, OneScanOfEverything) {
  const HeatMap map =
      Build(Thousand("get", SpreadKey) + LineAt(kStart + 100'000'000, R"("op":"scan")"));
  EXPECT_EQ(Names(map), Strings{"full-scan"});
  EXPECT_EQ(map.patterns()[0].measured, 1);
  EXPECT_EQ(ByBand(map, HeatMetric::kOps), Doubles(200, 6));
}

TEST_F(HeatMapTest, TenPrefixesAreEven) {
  const HeatMap map =
      Build(Thousand("set", [](int i) { return fmt::format("{}#{:06}", i % 10, i); }));
  EXPECT_EQ(Names(map), Strings{"even"});
}

// Bands, steps and counts.

TEST_F(HeatMapTest, BandsHaveTheSameNumberOfKeys) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += PointLine(i, "get", fmt::format("k{}", i));
  const HeatMap map = Build(text, {.bands = 4});
  // floor(i * 4 / 10) of 0..9 is 0 0 0 1 1 2 2 2 3 3.
  Strings starts;
  for (const HeatMap::Band& band : map.parts().bands) starts.push_back(band.start);
  EXPECT_EQ(starts, (Strings{"", "k3", "k5", "k8"}));
  EXPECT_EQ(ByBand(map, HeatMetric::kOps), (Doubles{3, 2, 3, 2}));
  EXPECT_EQ(map.parts().bands[0].end, "k3");
  EXPECT_EQ(map.parts().bands[3].end, "");
  EXPECT_EQ(map.parts().bands[2].keys, 3u);
}

TEST(BandsTest, ABandHasTheKeysFromItsStartOn) {
  using namespace std::string_literals;
  for (const std::string& prefix : {""s, "p"s, "orders/2023-11-14/"s}) {
    std::set<std::string> keys;
    for (const std::string& tail :
         {""s, "\0"s, "\0\0"s, "12345678"s, "12345678\0"s, "123456789"s, "12345678a"s, "2"s,
          "\xff\xff\xff\xff\xff\xff\xff\xff"s, "\xff\xff\xff\xff\xff\xff\xff\xff\xff"s})
      keys.insert(prefix + tail);
    for (; !keys.empty(); keys.erase(keys.begin())) {
      Bands bands(keys.size(), 1'000);
      for (const std::string& key : keys) bands.AddKnownKey(key);
      ASSERT_EQ(bands.size(), keys.size());
      std::set<std::string> probes = {"", "o", "orders/2023-11-15", "p1", "q", "\xff"};
      for (const std::string& key : keys) {
        probes.insert({key, key + '\0', key + "1", key.substr(0, key.size() / 2)});
        if (!key.empty()) probes.insert(key.substr(0, key.size() - 1));
      }
      for (const std::string& probe : probes) {
        // The first band begins at "".
        const auto expected = std::count_if(std::next(keys.begin()), keys.end(),
                                            [&](const auto& start) { return start <= probe; });
        EXPECT_EQ(bands.BandOf(probe), static_cast<size_t>(expected)) << probe;
      }
    }
  }
}

TEST(KeyStoreTest, KeysOfSeveralRunsAreInOrderWithTheSumOfTheirCounts) {
  // Four buffers of 40 MiB.
  const std::string tail(60'000, 'x');
  KeyStore store(KeyStore::kDefaultBytesMax);
  std::map<std::string, uint64_t> expected;
  for (uint64_t i = 0; i < 2'400; ++i) {
    const std::string key = fmt::format("{:04}", i * 37 % 1'009);
    store.Add(0, key + tail, i);
    expected[key] += i;
  }
  store.Finish();
  EXPECT_EQ(store.KeysOf(0), expected.size());
  auto next = expected.begin();
  store.ForEach([&](uint16_t /*table*/, std::string_view key, uint64_t count) {
    ASSERT_NE(next, expected.end());
    EXPECT_EQ(key.substr(0, 4), next->first);
    EXPECT_EQ(count, next->second);
    ++next;
  });
  EXPECT_EQ(next, expected.end());
}

TEST_F(HeatMapTest, KeysThatEndWithZeroBytesAreInOrder) {
  constexpr std::string_view kEnds[] = {R"(\u0000\u0000)", "", R"(\u0000)"};
  std::string text;
  for (int i = 0; i < 30; ++i) text += PointLine(i, "get", fmt::format("a{}", kEnds[i % 3]));
  const HeatMap map = Build(text);
  ASSERT_EQ(map.parts().bands.size(), 3u);
  EXPECT_EQ(map.parts().bands[1].start, std::string("a\0", 2));
  EXPECT_EQ(map.parts().bands[2].start, std::string("a\0\0", 3));
  EXPECT_EQ(ByBand(map, HeatMetric::kOps), std::vector<double>({10, 10, 10}));
}

TEST_F(HeatMapTest, StepsAreTheSmallestThatFit) {
  const auto text = [](int64_t seconds) {
    return LineAt(kStart + 3'000'000, R"("op":"get","row":"a")") +
           LineAt(kStart + 3'000'000 + seconds * 1'000'000, R"("op":"get","row":"a")");
  };
  for (const auto& [seconds, step] : {std::pair(0, 1),
                                      {239, 1},
                                      {240, 2},
                                      {500, 5},
                                      {1300, 10},
                                      {3'000, 15},
                                      {86'400, 600},
                                      {86'400 * 300, 86'400 * 2}})
    EXPECT_EQ(Build(text(seconds)).parts().step_micros, int64_t{step} * 1'000'000) << seconds;
  const HeatMap map = Build(text(7), {.step = std::chrono::seconds(5)});
  EXPECT_EQ(map.parts().start_micros, kStart);
  EXPECT_EQ(map.parts().steps, 3u);  // from 0, 5 and 10
  EXPECT_EQ(map.At(HeatMetric::kOps, 0, 0), 1);
  EXPECT_EQ(map.At(HeatMetric::kOps, 0, 2), 1);
}

TEST_F(HeatMapTest, CountsOfEveryOperation) {
  std::string text = "{\"trace\":1,\"sample\":3}\n";
  for (const char* const row : {"a", "b", "c", "d"})
    text += LineAt(kStart, fmt::format(R"("op":"get","row":"{}")", row));
  text += LineAt(kStart, R"("op":"mget","keys":["a","d"],"rows_returned":2,"bytes":10,"lat_us":7)");
  text += LineAt(kStart, R"("op":"rmw","row":"a","lat_us":5)");
  text += LineAt(kStart, R"("op":"cas","row":"a","bytes":1)");
  text += LineAt(kStart, R"("op":"drop","start":"c")");
  const HeatMap map = Build(text);
  EXPECT_EQ(ByBand(map, HeatMetric::kOps), (Doubles{12, 3, 6, 9}));
  EXPECT_EQ(ByBand(map, HeatMetric::kReads), (Doubles{6, 3, 3, 6}));
  EXPECT_EQ(ByBand(map, HeatMetric::kWrites), (Doubles{6, 0, 3, 3}));
  EXPECT_EQ(ByBand(map, HeatMetric::kRows), (Doubles{3, 0, 0, 3}));
  EXPECT_EQ(ByBand(map, HeatMetric::kBytes), (Doubles{18, 0, 0, 15}));
  EXPECT_EQ(ByBand(map, HeatMetric::kLatency), (Doubles{7, 0, 0, 7}));
  EXPECT_FALSE(map.has(HeatMetric::kSeenRatio));
}

// Of a trace with point operations on a to e, and one scan.
TEST_F(HeatMapTest, BandsOfAScan) {
  const auto counts = [&](const std::string& members) {
    std::string text;
    for (const char* const row : {"a", "b", "c", "d", "e"})
      text += LineAt(kStart, fmt::format(R"("op":"set","row":"{}")", row));
    return ByBand(Build(text + LineAt(kStart, "\"op\":\"scan\"" + members)), HeatMetric::kReads);
  };
  EXPECT_EQ(counts(""), (Doubles{1, 1, 1, 1, 1}));
  EXPECT_EQ(counts(R"(,"end":"c")"), (Doubles{1, 1, 0, 0, 0}));
  EXPECT_EQ(counts(R"(,"end":"c0")"), (Doubles{1, 1, 1, 0, 0}));
  EXPECT_EQ(counts(R"(,"end":"0")"), (Doubles{1, 0, 0, 0, 0}));
  EXPECT_EQ(counts(R"(,"start":"b","end":"e")"), (Doubles{0, 1, 1, 1, 0}));
  EXPECT_EQ(counts(R"(,"start":"b","end":"e","last":"c")"), (Doubles{0, 1, 1, 0, 0}));
  EXPECT_EQ(counts(R"(,"start_base64":"ZA==")"), (Doubles{0, 0, 0, 1, 1}));
  EXPECT_EQ(counts(R"(,"start":"b","end":"e","last":"c","reverse":true)"),
            (Doubles{0, 0, 1, 1, 0}));
  EXPECT_EQ(counts(R"(,"ranges":[["a","b"],["d",null]])"), (Doubles{1, 0, 0, 1, 1}));
  EXPECT_EQ(counts(R"(,"ranges":[["a","c"],["d","f"]],"last":"b")"), (Doubles{1, 1, 0, 0, 0}));
  EXPECT_EQ(counts(R"(,"ranges":[["a","c"],["d","f"]],"last":"d")"), (Doubles{1, 1, 0, 1, 0}));
  EXPECT_EQ(counts(R"(,"ranges":[])"), Doubles(5, 0));  // a scan of no rows
}

TEST_F(HeatMapTest, StartAndLastOfAScanAreKnownKeys) {
  const HeatMap map =
      Build(LineAt(kStart, R"("op":"scan","start":"b","end":"z","last":"f","rows_seen":8,)"
                           R"("rows_returned":2,"bytes":20,"lat_us":9)"));
  ASSERT_EQ(map.parts().bands.size(), 2u);
  EXPECT_EQ(map.parts().bands[1].start, "f");
  EXPECT_EQ(ByBand(map, HeatMetric::kOps), (Doubles{1, 1}));
  EXPECT_EQ(ByBand(map, HeatMetric::kRows), (Doubles{1, 1}));
  EXPECT_EQ(ByBand(map, HeatMetric::kBytes), (Doubles{10, 10}));
  EXPECT_EQ(ByBand(map, HeatMetric::kLatency), (Doubles{9, 9}));
  EXPECT_EQ(ByBand(map, HeatMetric::kSeenRatio), (Doubles{4, 4}));
  EXPECT_EQ(map.parts().hottest_operations, 0u);
}

TEST_F(HeatMapTest, ReadsThatDoNotKnowWhatTheyExaminedHaveNoSeenRatio) {
  const std::string members = R"("op":"scan","start":"b","end":"z","rows_returned":2)";
  const HeatMap unknown = Build(LineAt(kStart, members));
  EXPECT_EQ(ByBand(unknown, HeatMetric::kRows), Doubles{2});
  EXPECT_FALSE(unknown.has(HeatMetric::kSeenRatio));
  const HeatMap both =
      Build(LineAt(kStart, members) + LineAt(kStart, members + R"(,"rows_seen":8)"));
  EXPECT_EQ(ByBand(both, HeatMetric::kRows), Doubles{4});
  EXPECT_EQ(ByBand(both, HeatMetric::kSeenRatio), Doubles{4}) << "of the second scan alone";
}

TEST_F(HeatMapTest, WithoutAKeyThereIsOneBand) {
  const HeatMap map = Build(LineAt(kStart, R"("op":"scan")"));
  EXPECT_EQ(map.parts().bands.size(), 1u);
  EXPECT_EQ(ByBand(map, HeatMetric::kOps), Doubles{1});
}

TEST_F(HeatMapTest, SelectsByTimeTagAndTable) {
  std::string text;
  for (int i = 0; i < 10; ++i)
    text += LineAt(kStart + i,
                   fmt::format(R"("op":"get","row":"{}","tag":"{}")", i, i < 4 ? "web" : "job"));
  text += R"({"t":1700000000000000,"table":"u","op":"get","row":"x"})";
  const auto both = BuildMaps(text);
  ASSERT_TRUE(both.ok()) << both.status();
  ASSERT_EQ(both->maps.size(), 2u);
  EXPECT_EQ(both->maps[0].parts().table, "t");
  EXPECT_EQ(both->maps[1].parts().table, "u");
  EXPECT_EQ(Build(text, {.table = "u"}).Sum(HeatMetric::kOps), 1);
  EXPECT_EQ(Build(text, {.table = "t", .tag = "web"}).Sum(HeatMetric::kOps), 4);
  EXPECT_EQ(Build(text, {.table = "t",
                         .from = Timestamp::FromMicros(kStart + 3),
                         .to = Timestamp::FromMicros(kStart + 7)})
                .Sum(HeatMetric::kOps),
            4);
  const HeatMap none = Build(text, {.table = "t", .tag = "none"});
  EXPECT_EQ(Names(none), Strings{"idle"});
  ExpectError(text, {.table = "v"}, "no operation on table v; their tables are: t, u");
  ExpectError(text, {.tag = "none"}, "this tag");
  ExpectError("", {}, "no operation");
  ExpectError("{\n{\n", {.skips_bad = true}, "wrong lines and damaged blocks: 2");
}

TEST_F(HeatMapTest, SeveralTracesAndAnyOrderOfTimes) {
  const std::string a =
      directory_.Write("a.jsonl", LineAt(kStart + 9'000'000, R"("op":"get","row":"a")") +
                                      LineAt(kStart, R"("op":"get","row":"a")"));
  const std::string b =
      directory_.Write("b.jsonl.gz", Gzip(LineAt(kStart + 5'000'000, R"("op":"get","row":"b")")));
  const auto maps = HeatMap::Build({.trace_paths = {a, b}});
  ASSERT_TRUE(maps.ok()) << maps.status();
  const HeatMap& map = maps->maps.at(0);
  EXPECT_EQ(map.parts().start_micros, kStart);
  EXPECT_EQ(map.parts().steps, 10u);
  EXPECT_EQ(ByBand(map, HeatMetric::kOps), (Doubles{2, 1}));
}

// Patterns that the vectors do not have.

TEST_F(HeatMapTest, HotRowNeedsAHundredOperationsAndAFifth) {
  const auto names = [&](int hot, int others) {
    std::string text;
    for (int i = 0; i < hot; ++i) text += LineAt(kStart, R"("op":"get","row":"hot")");
    for (int i = 0; i < others; ++i) text += PointLine(0, "get", fmt::format("{:05}", i));
    return Names(Build(text, {.bands = 9}));
  };
  EXPECT_EQ(names(100, 400), Strings{"hot-row"});
  EXPECT_EQ(names(100, 401), Strings{"even"});
  EXPECT_EQ(names(99, 100), Strings{"even"});
  const HeatMap tie = Build(Thousand("get", [](int i) { return i % 2 == 0 ? "a" : "b"; }));
  EXPECT_EQ(Pattern(tie, "hot-row").row, "b");
}

TEST_F(HeatMapTest, HotRangeOfNeighbouringBands) {
  // 20 keys, so the window is two bands; keys 06 and 07 have 60 of 100 operations.
  std::string text;
  for (int i = 0; i < 100; ++i) {
    const int key = i < 60 ? 6 + i % 2 : (i - 60) % 20;
    text += LineAt(kStart, fmt::format(R"("op":"get","row":"{:02}")", key));
  }
  const HeatMap map = Build(text);
  EXPECT_EQ(Names(map), Strings{"hot-range"});
  const HeatPattern pattern = map.patterns()[0];
  EXPECT_EQ(pattern.bands, (std::pair<uint64_t, uint64_t>(6, 7)));
  EXPECT_DOUBLE_EQ(pattern.measured, 0.64);
  EXPECT_EQ(pattern.rule, "LOAD-SKEW");
  // One operation less is not enough.
  EXPECT_EQ(Names(Build(text.substr(text.find('\n') + 1))), Strings{});
}

TEST_F(HeatMapTest, IdleBands) {
  Database database = *Database::Open("mem:");
  ASSERT_TRUE(database.CreateTable("t", Schema().AddFamily("f")).ok());
  Table table = *database.OpenTable("t");
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(table.Apply(RowMutation(fmt::format("k{}", i)).SetCell("f", "q", "v")).ok());
  const auto build = [&](int used) {
    std::string text;
    for (int i = 0; i < used; ++i) text += PointLine(0, "get", fmt::format("k{}", i));
    return *HeatMap::Build(
        {.trace_paths = {directory_.Write("i.jsonl", text)}, .database = database});
  };
  const HeatMap idle = build(5).maps.at(0);
  EXPECT_EQ(Pattern(idle, "idle").measured, 5);
  EXPECT_EQ(Names(build(6).maps.at(0)), Strings{"even"});
}

TEST_F(HeatMapTest, TabletsOfTheDatabase) {
  Database database = *Database::Open("mem:");
  ASSERT_TRUE(database.CreateTable("t", Schema().AddFamily("f").AddSplit("k2")).ok());
  Table table = *database.OpenTable("t");
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(table.Apply(RowMutation(fmt::format("k{}", i)).SetCell("f", "q", "v")).ok());
  const auto build = [&](int hot, int others) {
    std::string text;
    for (int i = 0; i < hot; ++i) text += PointLine(0, "get", fmt::format("k{}", i % 2));
    for (int i = 0; i < others; ++i) text += PointLine(0, "get", fmt::format("k{}", 2 + i % 8));
    return HeatMap::Build(
               {.trace_paths = {directory_.Write("i.jsonl", text)}, .database = database})
        ->maps.at(0);
  };
  const HeatMap hot = build(24, 24);
  const HeatPattern pattern = Pattern(hot, "hot-tablet");
  EXPECT_DOUBLE_EQ(pattern.measured, 0.5);
  EXPECT_EQ(pattern.tablet, (std::pair<std::string, std::string>("", "k2")));
  EXPECT_EQ(pattern.rule, "LOAD-SKEW");
  EXPECT_EQ(hot.parts().bands.size(), 10u);
  EXPECT_EQ(Names(build(24, 25)), Strings{"even"});
  // The other tablet has 0.8 of the keys.
  EXPECT_EQ(Names(build(4, 36)), Strings{"even"});
}

TEST_F(HeatMapTest, PeriodsAndSurges) {
  const auto build = [&](const std::vector<int>& counts) {
    std::string text;
    for (size_t step = 0; step < counts.size(); ++step)
      for (int i = 0; i < counts[step]; ++i)
        text += LineAt(kStart + static_cast<int64_t>(step) * 1'000'000,
                       fmt::format(R"("op":"get","row":"k{}")", i % 3));
    return Build(text);
  };
  std::vector<int> waves;
  for (int i = 0; i < 18; ++i) waves.push_back(i % 3 == 0 ? 9 : 0);
  waves.push_back(9);
  const HeatPattern periodic = Pattern(build(waves), "periodic");
  EXPECT_EQ(periodic.period_seconds, 3);
  EXPECT_NEAR(periodic.measured, 1, 0.0001);
  EXPECT_EQ(periodic.message, "every 3s");
  const HeatMap surge = build({3, 3, 3, 3, 3, 18, 15, 15, 18});
  EXPECT_EQ(Names(surge), Strings{"surge"});
  EXPECT_EQ(surge.patterns()[0].from_step, 5u);
  EXPECT_DOUBLE_EQ(surge.patterns()[0].measured, 5.5);
  EXPECT_EQ(Names(build({3, 3, 3, 3, 3, 18, 15, 15, 5})), Strings{"even"});
  EXPECT_EQ(Names(build({3, 3, 3, 18, 18, 18, 18})), Strings{"even"});
}

// Bad input and limits.

TEST_F(HeatMapTest, WrongLinesHaveTheirNumber) {
  const std::string good = PointLine(0, "get", "a");
  ExpectError(good + "{\"t\":1}\n", {}, "trace.jsonl:2: the line has no \"op\"");
  ExpectError(good + "{\"t\":1", {}, "trace.jsonl:2: not one JSON document");
  ExpectError(good + LineAt(1, R"("op":"get")"), {},
              "trace.jsonl:2: a get needs the member \"row\"");
  ExpectError(LineAt(1, R"("op":"scan","last_base64":"!")"), {}, "\"last\" must be a text");
  ExpectError(LineAt(1, R"("op":"scan","ranges":[["a"]])"), {},
              "\"ranges\" must be a list of [start, end]");
  ExpectError(LineAt(1, "\"op\":\"get\",\"row\":\"" + std::string(65'536, 'x') + "\""), {},
              "65535 bytes");
  const auto maps =
      BuildMaps(good + "[]\n" + LineAt(1, R"("op":"get")") + PointLine(1, "get", "b") + "{}\n",
                {.skips_bad = true});
  ASSERT_TRUE(maps.ok()) << maps.status();
  EXPECT_EQ(maps->skipped_lines, 3u);
  EXPECT_EQ(maps->maps.at(0).Sum(HeatMetric::kOps), 2);
}

TEST_F(HeatMapTest, AGrowingTraceMayEndWithinALine) {
  const std::string text = PointLine(0, "get", "a") + "{\"t\":17";
  ExpectError(text, {}, "trace.jsonl:2");
  EXPECT_EQ(Build(text, {.is_growing = true}).Sum(HeatMetric::kOps), 1);
  EXPECT_EQ(Build(PointLine(0, "get", "a"), {.is_growing = true}).Sum(HeatMetric::kOps), 1);
}

TEST_F(HeatMapTest, LimitsOfOptions) {
  const std::string text = PointLine(0, "get", "a") + LineAt(kStart * 2, R"("op":"get","row":"b")");
  ExpectError(text, {.bands = 0}, "1 to 1,000");
  ExpectError(text, {.bands = 1'001}, "1 to 1,000");
  ExpectError(text, {.columns = 0}, "1 to 2,000");
  ExpectError(text, {.columns = 2'001}, "1 to 2,000");
  ExpectError(text, {.step = std::chrono::seconds(1)}, "steps, at most 20,000");
  EXPECT_LE(Build(text).parts().steps, 240u);
  std::string tables;
  for (int i = 0; i <= 1'000; ++i)
    tables += fmt::format(R"({{"t":1,"op":"get","row":"a","table":"{}"}})", i) + "\n";
  ExpectError(tables, {}, "more than 1000 tables");
}

TEST_F(HeatMapTest, KeysThatDoNotFitAreKnownByHash) {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += PointLine(0, "set", fmt::format("{:08x}", i * 2'654'435u));
  const HeatMap map = Build(text, {.key_bytes_max = 20'000});
  uint64_t keys = 0;
  for (const HeatMap::Band& band : map.parts().bands) keys += band.keys;
  EXPECT_GT(map.parts().keys_per_known_key, 1u);
  EXPECT_EQ(map.Sum(HeatMetric::kOps), 20'000);
  const double expected = 20'000.0 / static_cast<double>(map.parts().keys_per_known_key);
  EXPECT_NEAR(static_cast<double>(keys), expected, expected / 4);
}

}  // namespace
}  // namespace stele::internal::lab
