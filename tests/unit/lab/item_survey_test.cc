// Tests the DDB rules: for each one, items for which it reports a finding, and items for which it
// does not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "lab/survey/key_patterns.h"
#include "stele/lab/dynamodb.h"
#include "stele/stele.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::DynamoDbImportOptions;
using stele::lab::DynamoDbImportReport;
using SourceItems = std::vector<std::string>;

std::string Text(std::string_view value) { return fmt::format(R"({{"S":"{}"}})", value); }
std::string Number(int64_t value) { return fmt::format(R"({{"N":"{}"}})", value); }

// An item with text keys. `more` is its other attributes.
std::string ItemWith(std::string_view pk, std::string_view sk, std::string_view more = "") {
  return fmt::format(R"({{"Item":{{"PK":{},"SK":{}{}{}}}}})", Text(pk), Text(sk),
                     more.empty() ? "" : ",", more);
}

// `count` items, made of their numbers from 0.
SourceItems Each(int count, const std::function<std::string(int)>& make) {
  SourceItems items;
  for (int i = 0; i < count; ++i) items.push_back(make(i));
  return items;
}

class ItemSurveyTest : public testing::Test {
 protected:
  ItemSurveyTest() : database_(*Database::Open("mem:")) {}

  DynamoDbImportReport Check(const SourceItems& items, DynamoDbImportOptions options = {}) {
    std::string text;
    for (const std::string& item : items) text += item + "\n";
    options.paths = {directory_.Write("items.json", text)};
    options.table = options.table.empty() ? "t" : options.table;
    options.partition_key = "PK";
    options.sort_key = "SK";
    const auto report = ImportDynamoDb(database_, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(DynamoDbImportReport());
  }
  // "SEVERITY COUNT" of the finding, or "".
  std::string Finding(std::string_view id, const SourceItems& items,
                      DynamoDbImportOptions options = {}) {
    options.only_checks = true;
    for (const auto& note : Check(items, options).notes) {
      if (note.id == id) return fmt::format("{} {}", note.severity, note.count);
    }
    return "";
  }
  const TemporaryDirectory directory_;
  Database database_;
};

TEST_F(ItemSurveyTest, VersionCopies) {
  const std::string id = "DDB-VERSION-COPIES";
  EXPECT_EQ(Finding(id, {ItemWith("p", "v0_a"), ItemWith("p", "v1_a")}), "warning 1");
  EXPECT_EQ(Finding(id, {ItemWith("p", "v1_a"), ItemWith("p", "v2_b")}), "");
  EXPECT_EQ(Finding(id, {ItemWith("p", "v0_a"), ItemWith("q", "v1_a")}), "");
  EXPECT_EQ(Finding(id, {ItemWith("p", "v0_a"), ItemWith("p", "v01_a")}), "");
}

TEST_F(ItemSurveyTest, ReversedTimes) {
  const auto reversed = [](int i) {
    return ItemWith("p", fmt::format("C#{}", 9223370611524018122 + i));
  };
  EXPECT_EQ(Finding("DDB-REVERSE-TS-SK", Each(20, reversed)), "info 20");
  EXPECT_EQ(Finding("DDB-REVERSE-TS-SK", Each(19, reversed)), "");
  EXPECT_EQ(Finding("DDB-REVERSE-TS-SK",
                    Each(20, [](int i) { return ItemWith("p", fmt::format("C#{}", i)); })),
            "");
}

TEST_F(ItemSurveyTest, SplitCounters) {
  const std::string video = ItemWith("0123", "Video", R"("a":{"S":"x"},"b":{"S":"y"})");
  EXPECT_EQ(
      Finding("DDB-SPLIT-COUNTER", {ItemWith("0123", "Likes", R"("Count":{"N":"3"})"), video}),
      "info 1");
  EXPECT_EQ(
      Finding("DDB-SPLIT-COUNTER", {ItemWith("0123", "Likes", R"("Count":{"S":"3"})"), video}), "");
  EXPECT_EQ(Finding("DDB-SPLIT-COUNTER", {ItemWith("9", "Likes", R"("Count":{"N":"3"})"), video}),
            "");
}

TEST_F(ItemSurveyTest, DateAttributes) {
  const auto with = [](std::string name) {
    return [name](int i) {
      return ItemWith("p", std::to_string(i),
                      fmt::format(R"("{}":{})", name, Text("2026-05-01T10:00:00Z")));
    };
  };
  for (const char* const name : {"CreatedAt", "last_updated", "date-modified", "UPDATE_TIME"})
    EXPECT_EQ(Finding("DDB-DATE-ATTR", Each(20, with(name))), "info 1") << name;
  for (const char* const name : {"birthdate", "createdby", "datecreate"})
    EXPECT_EQ(Finding("DDB-DATE-ATTR", Each(20, with(name))), "") << name;
  EXPECT_EQ(Finding("DDB-DATE-ATTR", Each(19, with("CreatedAt"))), "");
}

TEST_F(ItemSurveyTest, AdjacencyLists) {
  EXPECT_EQ(Finding("DDB-ADJACENCY", {ItemWith("G#1", "U#2"), ItemWith("U#2", "M")}), "info 1");
  EXPECT_EQ(Finding("DDB-ADJACENCY", {ItemWith("U#2", "M")}), "");
  EXPECT_EQ(Finding("DDB-ADJACENCY", {ItemWith("I#1", "I#1"), ItemWith("I#1", "P#7")}), "info 1");
  EXPECT_EQ(Finding("DDB-ADJACENCY", {ItemWith("I#1", "I#1"), ItemWith("I#2", "P#7")}), "");
  const std::string text = Check({ItemWith("U#2", "M"), ItemWith("G#1", "U#2")}).ToText();
  EXPECT_NE(
      text.find("notes       1\n  info DDB-ADJACENCY  the sort key of 1 item is the partition "
                "key of another item: "),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("items.json:2\"\n"), std::string::npos) << text;
}

TEST_F(ItemSurveyTest, ShardNumbers) {
  const auto days = [](int i) {
    return ItemWith(fmt::format("{}.{}", i < 10 ? "day" : "eve", i % 10 + 1), "x");
  };
  EXPECT_EQ(Finding("DDB-SHARD-SUFFIX", Each(20, days)), "info 20");
  EXPECT_EQ(Finding("DDB-SHARD-SUFFIX", Each(19, days)), "");
  EXPECT_EQ(Finding("DDB-SHARD-SUFFIX",
                    Each(20, [](int i) { return ItemWith(fmt::format("u{0}.{0}", i), "x"); })),
            "");
  EXPECT_EQ(
      Finding(
          "DDB-SHARD-SUFFIX",
          Each(20, [](int i) { return ItemWith(fmt::format("{:02}#a{}", i % 5, i / 5), "x"); })),
      "info 20");
  // Many items of one partition are one partition key.
  EXPECT_EQ(Finding("DDB-SHARD-SUFFIX", Each(40,
                                             [](int i) {
                                               return ItemWith(fmt::format("day.{}", i % 2),
                                                               std::to_string(i));
                                             })),
            "");
}

TEST_F(ItemSurveyTest, SplitValues) {
  const std::string id = "DDB-SPLIT-VALUE";
  EXPECT_EQ(Finding(id, {ItemWith("p", "part#3"), ItemWith("p", "x.CHUNK-12")}), "info 2");
  EXPECT_EQ(Finding(id, {ItemWith("p", "party"), ItemWith("p", "part"), ItemWith("p", "3")}), "");
  EXPECT_EQ(Finding(id, {ItemWith("p", "x", R"("a":{"M":{"u":{"S":"s3://b/k"}}})")}), "info 1");
  EXPECT_EQ(Finding(id, {ItemWith("p", "x", R"("a":{"S":"see s3://b/k"})")}), "");
}

TEST_F(ItemSurveyTest, IndexesAndExpiry) {
  EXPECT_EQ(Finding("DDB-GSI", {ItemWith("p", "x", R"("A":{"S":"a"})")},
                    {.indexes = {{.name = "g", .partition_key = "A"}}}),
            "info 1");
  EXPECT_EQ(Finding("DDB-GSI", {ItemWith("p", "x")}), "");
  const SourceItems expiring = {ItemWith("p", "x", R"("Ttl":{"N":"1700000000"})")};
  EXPECT_EQ(Finding("DDB-TTL", expiring), "info 1");
  EXPECT_EQ(Finding("DDB-TTL", expiring, {.ttl_attribute = "Ttl"}), "");
  EXPECT_EQ(Finding("DDB-TTL", {ItemWith("p", "x", R"("ttl":{"N":"17"})")}), "");
  EXPECT_EQ(Finding("DDB-TTL", {ItemWith("p", "x", R"("ttl":{"S":"1700000000"})")}), "");
}

TEST_F(ItemSurveyTest, TablesPerPeriod) {
  const SourceItems items = {ItemWith("p", "x", R"("A":{"S":"a"})")};
  for (const char* const name : {"orders_2026_01", "orders_2026_02"})
    EXPECT_TRUE(Check(items, {.table = name}).notes.empty());
  const DynamoDbImportReport third = Check(items, {.table = "orders_2026_03"});
  ASSERT_EQ(third.notes.size(), 1U);
  EXPECT_EQ(third.notes[0].id, "DDB-TABLE-PER-PERIOD");
  EXPECT_EQ(third.notes[0].severity, "warning");
  EXPECT_EQ(third.notes[0].count, 3U);
  EXPECT_TRUE(Check(items, {.table = "carts"}).notes.empty());
}

TEST_F(ItemSurveyTest, TablesPerPeriodInGoogleMode) {
  const auto count_findings = [&](const char* table) {
    const DynamoDbImportReport report =
        Check({ItemWith("p", "x", R"("A":{"S":"a"})")},
              {.table = table, .mode = DynamoDbImportOptions::Mode::kGoogle});
    return std::count_if(report.notes.begin(), report.notes.end(),
                         [](const auto& note) { return note.id == "DDB-TABLE-PER-PERIOD"; });
  };
  EXPECT_EQ(count_findings("orders_2026_01"), 0);
  EXPECT_EQ(count_findings("orders_2026_02"), 0);
  EXPECT_EQ(count_findings("orders_2026_03"), 1);
}

TEST_F(ItemSurveyTest, DaysAsTimes) {
  const auto every = [](int64_t seconds) {
    return [seconds](int i) {
      return fmt::format(R"({{"Item":{{"PK":{{"S":"p"}},"SK":{}}}}})",
                         Number(1700006400 + seconds * i));
    };
  };
  EXPECT_EQ(Finding("DDB-DATE-STRING", Each(20, every(86400))), "info 20");
  EXPECT_EQ(Finding("DDB-DATE-STRING", Each(19, every(86400))), "");
  EXPECT_EQ(Finding("DDB-DATE-STRING", Each(40, every(43200))), "");
}

TEST_F(ItemSurveyTest, GoogleModeReportsFindings) {
  EXPECT_EQ(
      Finding("DDB-ADJACENCY", {ItemWith("G#1", "U#2", R"("a":{"S":"x"})"), ItemWith("U#2", "M")},
              {.mode = DynamoDbImportOptions::Mode::kGoogle}),
      "info 1");
}

TEST(KeyPatternsTest, NumbersOfShards) {
  const auto text = [](std::string_view key) {
    const auto shard = ParseShardedKey(key);
    return shard.has_value() ? fmt::format("{} {}", shard->rest, shard->number) : "";
  };
  EXPECT_EQ(text("day.12"), "day. 12");
  EXPECT_EQ(text("7#day"), "#day 7");
  EXPECT_EQ(text("day.1234"), "");
  EXPECT_EQ(text("day12"), "");
  EXPECT_EQ(text("12"), "");
  EXPECT_EQ(text(""), "");
}

}  // namespace
}  // namespace stele::internal::lab
