// Tests Google mode: Java's numbers and order, and the cells of the migration job.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "lab/google/java_text.h"
#include "stele/lab/dynamodb.h"
#include "stele/stele.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

TEST(JavaTextTest, NumbersAreLongsOrBigDecimals) {
  const std::pair<std::string, std::string> kTexts[] = {
      {"12", "12"},
      {"-0", "0"},
      {"1.50", "1.50"},
      {"-3.25", "-3.25"},
      {"0.000001", "0.000001"},
      {"0.0000001", "1E-7"},
      {"1.0E+3", "1.0E+3"},
      {"1.25E+2", "125"},
      {"1.5E-10", "1.5E-10"},
      {"0.0", "0.0"},
      {"0.00000000", "0E-8"},
      {"-0.0", "0.0"},
      {"12.50E+1", "125.0"},
      {"0.0E-2147483646", "0E-2147483647"},
      {"9223372036854775807", "9223372036854775807"}};
  for (const auto& [text, java] : kTexts) {
    const auto number = ToJavaNumber(text);
    ASSERT_TRUE(number.has_value()) << text;
    EXPECT_EQ(number->text, java) << text;
  }
  for (const char* const failing :
       {"1E3", "9223372036854775808", "-9223372036854775809", "1e-2", "0.0E-9223372036854775807",
        "0.0E-9223372036854775808", "0.0E99999999999", "0.0E99999999999999999999",
        "0.0E-2147483647"})
    EXPECT_FALSE(ToJavaNumber(failing).has_value()) << failing;
}

// The values are those of Java's hashCode().
TEST(JavaTextTest, HashesAreThoseOfJava) {
  EXPECT_EQ(JavaStringHash(""), 0u);
  EXPECT_EQ(JavaStringHash("hello"), 99162322u);
  EXPECT_EQ(JavaStringHash("\u00e9\U0001F600"), 233u * 31 * 31 + 0xd83du * 31 + 0xde00u);
  EXPECT_EQ(ToJavaNumber("1.5")->hash, 31u * 15 + 1);
  EXPECT_EQ(ToJavaNumber("-3.25")->hash, 31u * static_cast<uint32_t>(-325) + 2);
  EXPECT_EQ(ToJavaNumber("-1")->hash, 0u);
  EXPECT_EQ(ToJavaNumber("4294967296.0")->hash, 31u * (10u * 31 + 0) + 1);
  EXPECT_EQ(ToJavaNumber("36893488147419103232.0")->hash, 31u * (20u * 31 * 31) + 1);
}

std::vector<std::string> Ordered(const std::vector<std::string>& keys, bool are_numbers) {
  std::vector<uint32_t> hashes;
  for (const std::string& key : keys)
    hashes.push_back(are_numbers ? ToJavaNumber(key)->hash : JavaStringHash(key));
  std::vector<std::string> ordered;
  for (const size_t i : HashMapOrder(hashes)) ordered.push_back(keys[i]);
  return ordered;
}

TEST(JavaTextTest, OrderIsThatOfAHashMap) {
  using Keys = std::vector<std::string>;
  EXPECT_EQ(Ordered({"Street", "Country", "YearsAtAddress", "City", "State"}, false),
            (Keys{"YearsAtAddress", "State", "Street", "Country", "City"}));
  EXPECT_EQ(Ordered({"SMS", "Email", "Phone", "Push"}, false),
            (Keys{"Email", "Phone", "SMS", "Push"}));
  EXPECT_EQ(Ordered({"1730928816", "1730651401", "1731040265"}, true),
            (Keys{"1731040265", "1730928816", "1730651401"}));
  EXPECT_EQ(Ordered({"1.5", "2", "-3.25"}, true), (Keys{"1.5", "2", "-3.25"}));
  // 13 entries: the capacity is 32
  std::vector<uint32_t> hashes(13, 0);
  hashes[0] = 16;
  EXPECT_EQ(HashMapOrder(hashes).back(), 0u);
  hashes.pop_back();
  EXPECT_EQ(HashMapOrder(hashes).front(), 0u);
}

TEST(JavaTextTest, JsonHasTheEscapesOfTheJob) {
  std::string text;
  AppendJavaJsonString("a\"\\\t\n\r\b\f\x01\u2028\u2029/\u00e9", &text);
  EXPECT_EQ(text, "\"a\\\"\\\\\\t\\n\\r\\b\\f\\u0001\\u2028\\u2029/\u00e9\"");
}

class GoogleModeTest : public testing::Test {
 protected:
  stele::lab::DynamoDbImportReport Import(const DataLines& files) {
    const ExportFixture fixture(files);
    const auto report = stele::lab::ImportDynamoDb(
        database_, {.paths = {fixture.path()},
                    .table = "t",
                    .partition_key = "PK",
                    .mode = stele::lab::DynamoDbImportOptions::Mode::kGoogle});
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(stele::lab::DynamoDbImportReport());
  }
  std::vector<std::string> Cells() {
    std::vector<std::string> cells;
    RowReader reader = database_.OpenTable("t")->ReadRows();
    for (const RowView& row : reader) {
      for (const CellView& cell : row.cells())
        cells.push_back(fmt::format("{} {}:{}={}@{}", row.row_key(), cell.family(),
                                    cell.qualifier(), cell.value(), cell.timestamp().micros()));
    }
    EXPECT_TRUE(reader.status().ok()) << reader.status();
    return cells;
  }
  static uint64_t NoteCount(const stele::lab::DynamoDbImportReport& report, std::string_view id) {
    for (const auto& note : report.notes) {
      if (note.id == id) return note.count;
    }
    return 0;
  }

  Database database_ = *Database::Open("mem:");
};

TEST_F(GoogleModeTest, WritesTheCellsOfTheJob) {
  const auto report = Import(DataLines{{ItemOfAllTypes(7)}});
  EXPECT_EQ(Cells(), (std::vector<std::string>{
                         "user7 cf1:SK=a#b@0", "user7 cf1:bs=[\"QUE9PQ==\",\"QVE9PQ==\"]@0",
                         "user7 cf1:bytes=QVA4PQ==@0", "user7 cf1:list=[\"a\",7,[],{}]@0",
                         "user7 cf1:map.$x=QUE9PQ==@0", "user7 cf1:map.a=[\"x\",\"y\"]@0",
                         "user7 cf1:map.n=@0", "user7 cf1:none=@0", "user7 cf1:ns=[-1,9,10]@0",
                         "user7 cf1:number=-1.50E+3@0", "user7 cf1:ss=[\"b\",\"a#%\"]@0",
                         "user7 cf1:text=caf\u00e9 \"x\"\n\x01@0", "user7 cf1:yes=true@0"}));
  EXPECT_EQ(report.tables.at("t").cells.at("cf1"), 13u);
  EXPECT_EQ(NoteCount(report, "google-double-base64"), 1u);
  EXPECT_EQ(NoteCount(report, "google-1970"), 13u);
}

TEST_F(GoogleModeTest, MergesItemsAndNotesLosses) {
  const auto report = Import(DataLines{
      {R"({"Item":{"PK":{"S":"a"},"SK":{"S":"1"},"x":{"N":"1"}}})", R"({"Item":{"PK":{"S":"b"}}})",
       R"({"Item":{"PK":{"S":"c"},"n":{"N":"1E+5"}}})"},
      {R"({"Item":{"PK":{"S":"a"},"SK":{"S":"2"},"m.y":{"S":"p"},"m":{"M":{"y":{"S":"q"}}}}})"}});
  EXPECT_EQ(Cells(), (std::vector<std::string>{"a cf1:SK=2@0", "a cf1:m.y=q@0", "a cf1:x=1@0"}));
  EXPECT_EQ(report.tables.at("t").rows, 1u);
  EXPECT_EQ(report.tables.at("t").cells.at("cf1"), 3u);
  EXPECT_EQ(NoteCount(report, "google-merge"), 1u);
  EXPECT_EQ(NoteCount(report, "google-item-lost"), 1u);
  EXPECT_EQ(NoteCount(report, "google-job-fails"), 1u);
  EXPECT_EQ(NoteCount(report, "google-column-clash"), 1u);
  EXPECT_TRUE(report.left_out_items());
}

}  // namespace
}  // namespace stele::internal::lab
