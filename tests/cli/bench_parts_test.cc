// Tests the parts of `stele bench` that need no database: random numbers, distributions, keys,
// values and operations. The expected numbers come from other implementations of the
// same definitions.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "bench/random.h"
#include "bench/rows.h"
#include "bench/workload.h"

namespace stele::cli {
namespace {

using Texts = std::vector<std::string>;

const Workload& WorkloadOf(std::string_view name) {
  for (const Workload& workload : Workloads()) {
    if (workload.name == name) return workload;
  }
  ADD_FAILURE() << name;
  return Workloads()[0];
}

Texts FirstOperations(std::string_view workload, const OperationOptions& options, int count,
                      const char* key_format = "user") {
  const KeyFormat keys = KeyFormat::Parse(key_format).value();
  InsertCounter inserts(options.rows);
  OperationStream stream(options, WorkloadOf(workload), 0, &inserts);
  Texts texts;
  for (int i = 0; i < count; ++i) texts.push_back(ToText(stream.Next(), keys));
  return texts;
}

TEST(BenchRandomTest, NumbersAreThoseOfTheDefinition) {
  EXPECT_EQ(Fnv1a(0), 0xa8c7f832281a39c5);
  EXPECT_EQ(Fnv1a(1), 0x89cd31291d2aefa4);
  EXPECT_EQ(Fnv1a(42), 0xff3add6b3789daef);
  BenchRandom random(1);
  EXPECT_EQ(random.Next(), 12966619160104079557u);
  EXPECT_EQ(random.Next(), 9600361134598540522u);
  EXPECT_EQ(random.Next(), 10590380919521690900u);
  BenchRandom below(1);
  for (const uint64_t expected : {702921, 520436, 574105, 391328})
    EXPECT_EQ(below.Below(1'000'000), expected);
}

// Rank r is chosen with a probability of 1 / (r + 1)^theta, divided by the sum of all.
TEST(BenchRandomTest, ZipfianRanksHaveTheirShares) {
  constexpr int kItems = 1000;
  constexpr int kDraws = 200'000;
  const Zipfian zipfian(kItems, 0.99);
  BenchRandom random(7);
  std::map<uint64_t, int> counts;
  for (int i = 0; i < kDraws; ++i) ++counts[zipfian.Next(&random)];
  double zeta = 0;
  for (int i = 1; i <= kItems; ++i) zeta += 1 / std::pow(i, 0.99);
  EXPECT_NEAR(counts[0], kDraws / zeta, kDraws * 0.01);
  EXPECT_NEAR(counts[1], kDraws / zeta / std::pow(2, 0.99), kDraws * 0.01);
  EXPECT_LT(counts.rbegin()->first, uint64_t{kItems});
  EXPECT_GT(counts.size(), 900u) << "rare ranks are chosen too";
}

TEST(BenchRandomTest, GrownZipfianIsAsOneMadeLarge) {
  Zipfian grown(10, 0.5);
  grown.Grow(990);
  const Zipfian large(1000, 0.5);
  BenchRandom one(3);
  BenchRandom other(3);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(grown.Next(&one), large.Next(&other)) << i;
}

TEST(BenchRandomTest, DistributionsChooseTheirRows) {
  BenchRandom random(1);
  RowChooser sequential(*ParseDistribution("sequential"), 5, 3);
  std::vector<uint64_t> rows;
  for (int i = 0; i < 4; ++i) rows.push_back(sequential.Next(&random, 5));
  EXPECT_EQ(rows, std::vector<uint64_t>({3, 4, 0, 1}));

  RowChooser hotspot(*ParseDistribution("hotspot:0.1:0.9"), 1000, 0);
  int hot = 0;
  for (int i = 0; i < 10'000; ++i) hot += hotspot.Next(&random, 1000) < 100 ? 1 : 0;
  EXPECT_NEAR(hot, 9000, 200);

  RowChooser latest(*ParseDistribution("latest"), 1000, 0);
  uint64_t newest = 0;
  for (int i = 0; i < 1000; ++i) newest += latest.Next(&random, 2000) >= 1990 ? 1 : 0;
  EXPECT_GT(newest, 250u) << "rows that were inserted since are the most frequent";
  for (const char* text : {"", "zipf", "hotspot", "hotspot:0:1", "hotspot:2:1", "uniform:1"})
    EXPECT_FALSE(ParseDistribution(text).ok()) << text;
}

TEST(BenchRowsTest, KeysFollowTheirFormat) {
  EXPECT_EQ(KeyFormat::Parse("user")->KeyOf(42), "user000000000042");
  EXPECT_EQ(KeyFormat::Parse("hash")->KeyOf(42), "ff3add6b3789daef");
  EXPECT_EQ(KeyFormat::Parse("a%03db")->KeyOf(7), "a007b");
  EXPECT_EQ(KeyFormat::Parse("a%d")->KeyOf(12345), "a12345");
  for (const char* text : {"", "a", "%", "%x", "%d%d", "%3d", "%0d", "%021d", "%00d", "%0-3d"})
    EXPECT_FALSE(KeyFormat::Parse(text).ok()) << text;
  EXPECT_TRUE(KeyFormat::Parse("%03d")->IsAscending(1000));
  EXPECT_FALSE(KeyFormat::Parse("%03d")->IsAscending(1001));
  EXPECT_FALSE(KeyFormat::Parse("hash")->IsAscending(10));
  EXPECT_FALSE(KeyFormat::Parse("%03db")->HasPrefixes(10));
}

TEST(BenchRowsTest, ValuesArePrintableRepeatableAndHalfCompressible) {
  ValueMaker values(1, 1000);
  ValueMaker again(1, 1000);
  ValueMaker other(2, 1000);
  const std::string value(values.Make(5, 1, 0));
  EXPECT_EQ(value.size(), 1000u);
  EXPECT_EQ(value, again.Make(5, 1, 0));
  EXPECT_NE(value, other.Make(5, 1, 0));
  EXPECT_NE(value, values.Make(5, 2, 0));
  EXPECT_NE(value, values.Make(5, 1, 1));
  for (const char c : value) EXPECT_TRUE(c > ' ' && c <= '~');
  std::string all;
  for (uint64_t row = 0; row < 200; ++row) all += values.Make(row, 1, 0);
  uLongf bytes = compressBound(all.size());
  std::string compressed(bytes, '\0');
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(compressed.data()), &bytes,
                     reinterpret_cast<const Bytef*>(all.data()), all.size()),
            Z_OK);
  EXPECT_GT(bytes, all.size() / 3);
  EXPECT_LT(bytes, all.size() * 6 / 10);
}

TEST(BenchRowsTest, OneRowInTenMatchesTheFilter) {
  ValueMaker values(1, 8);
  int matching = 0;
  for (uint64_t row = 0; row < 1000; ++row) {
    matching += values.Make(row, 0, 0)[0] == '#' ? 1 : 0;
    EXPECT_NE(values.Make(row, 1, 0)[0], '#');
  }
  EXPECT_EQ(matching, 100);
}

TEST(BenchOperationsTest, AreThoseOfTheSeed) {
  OperationOptions options{.rows = 1000};
  EXPECT_EQ(FirstOperations("ycsb-a", options, 6),
            Texts({"update user000000000964 field5", "read user000000000600",
                   "read user000000000405", "read user000000000906",
                   "update user000000000160 field9", "update user000000000556 field5"}));
  EXPECT_EQ(FirstOperations("scan", options, 3),
            Texts({"scan user000000000702 100", "scan user000000000520 100",
                   "scan user000000000574 100"}));
  options.seed = 2;
  EXPECT_EQ(
      FirstOperations("ycsb-e", options, 3),
      Texts({"scan user000000000568 19", "scan user000000000601 24", "scan user000000000223 61"}));
}

TEST(BenchOperationsTest, EachWorkloadNamesItsOperation) {
  const OperationOptions options{.rows = 1000, .selectivity = 0.05};
  const std::map<std::string, std::string> expected = {
      {"get", "read user000000000702"},
      {"get-missing", "read user000000000702+"},
      {"reverse", "rscan user000000000702 100"},
      {"prefix", "prefix user0000000007"},
      {"range", "scan user000000000702 50"},
      {"project", "project user000000000702 100"},
      {"latest", "latest user000000000702 100"},
      {"filter", "filter user000000000702 100"},
      {"put", "insert user000000001000"},
      {"update", "update user000000000702 field5"},
      {"delete", "delete user000000000702"},
      {"increment", "increment user000000000702"},
      {"check-and-mutate", "check-and-mutate user000000000702 field5"},
      {"bulk", "bulk user000000001000 100"}};
  for (const auto& [workload, text] : expected)
    EXPECT_EQ(FirstOperations(workload, options, 1), Texts({text})) << workload;
  const std::string many = FirstOperations("mget", options, 1)[0];
  EXPECT_EQ(std::count(many.begin(), many.end(), ' '), 10) << many;
}

TEST(BenchOperationsTest, TheNewestRowsAreThoseOfEarlierWorkloads) {
  const OperationOptions options{.rows = 1000};
  InsertCounter inserts(options.rows);
  inserts.Take(500);
  OperationStream late(options, WorkloadOf("ycsb-d"), 0, &inserts);
  const OperationOptions all{.rows = 1500};
  InsertCounter same(all.rows);
  OperationStream stream(all, WorkloadOf("ycsb-d"), 0, &same);
  const KeyFormat keys = KeyFormat::Parse("user").value();
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(ToText(late.Next(), keys), ToText(stream.Next(), keys)) << i;
}

TEST(BenchOperationsTest, SharesAreThoseOfTheWorkload) {
  const OperationOptions options{.rows = 1000};
  for (const auto& [workload, word, share] :
       {std::tuple("ycsb-b", "update", 0.05), std::tuple("ycsb-d", "insert", 0.05),
        std::tuple("ycsb-e", "insert", 0.05), std::tuple("ycsb-f", "read-modify-write", 0.5)}) {
    int count = 0;
    for (const std::string& text : FirstOperations(workload, options, 10'000))
      count += text.starts_with(std::string(word) + " ") ? 1 : 0;
    EXPECT_NEAR(count, share * 10'000, 150) << workload;
  }
}

}  // namespace
}  // namespace stele::cli
