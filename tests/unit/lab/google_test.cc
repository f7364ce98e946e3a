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

// An import in Google mode writes only to a table that it made.
class GoogleTableTest : public testing::Test {
 protected:
  using Options = stele::lab::DynamoDbImportOptions;

  Options GoogleOptions() const {
    return {.paths = {fixture_.path()},
            .table = "t",
            .partition_key = "PK",
            .mode = Options::Mode::kGoogle};
  }
  Options NativeOptions() const {
    return {.paths = {fixture_.path()}, .table = "t", .partition_key = "PK", .sort_key = "SK"};
  }
  void Import(const Options& options) {
    const auto report = stele::lab::ImportDynamoDb(database_, options);
    EXPECT_TRUE(report.ok()) << report.status();
  }
  // Expects that neither the check nor the import accepts the table.
  void ExpectRejected(Options options, std::string_view text) {
    for (const bool only_checks : {true, false}) {
      options.only_checks = only_checks;
      const auto report = stele::lab::ImportDynamoDb(database_, options);
      EXPECT_EQ(report.status().code(), absl::StatusCode::kFailedPrecondition) << report.status();
      EXPECT_NE(report.status().ToString().find(text), std::string::npos) << report.status();
    }
  }
  bool HasFamily(const std::string& family) {
    return database_.OpenTable("t")->schema()->family(family) != nullptr;
  }
  int RowCount() {
    RowReader reader = database_.OpenTable("t")->ReadRows();
    int count = 0;
    while (reader.Next()) ++count;
    EXPECT_EQ(reader.status(), absl::OkStatus());
    return count;
  }

  static constexpr char kNotOfTheSame[] =
      "the table t exists and was not made by an import of the same items with the same options";

  ExportFixture fixture_{DataLines{{ItemOfAllTypes(1)}, {ItemOfAllTypes(2)}}};
  Database database_ = *Database::Open("mem:");
};

TEST_F(GoogleTableTest, ATableOfANativeImportIsRejected) {
  Import(NativeOptions());
  ExpectRejected(GoogleOptions(), kNotOfTheSame);
  EXPECT_FALSE(HasFamily("cf1"));
}

TEST_F(GoogleTableTest, ATableOfAUserIsRejected) {
  ASSERT_TRUE(database_.CreateTable("t", Schema().AddFamily("cf1")).ok());
  ExpectRejected(GoogleOptions(), kNotOfTheSame);
  EXPECT_EQ(RowCount(), 0);
}

TEST_F(GoogleTableTest, ANativeImportRejectsItsTable) {
  Import(GoogleOptions());
  ExpectRejected(NativeOptions(), kNotOfTheSame);
}

TEST_F(GoogleTableTest, ATableHasOneSourceKeyAndFamily) {
  Import(GoogleOptions());
  Options options = GoogleOptions();
  options.google_family = "cf2";
  ExpectRejected(options, kNotOfTheSame);
  options = GoogleOptions();
  options.partition_key = "SK";
  ExpectRejected(options, kNotOfTheSame);
  const ExportFixture other(DataLines{{ItemOfAllTypes(3)}}, "FULL_EXPORT", "0174-def");
  options = GoogleOptions();
  options.paths = {other.path()};
  ExpectRejected(options, "was made of another source, 0173-abc ");
  EXPECT_FALSE(HasFamily("cf2"));
  EXPECT_EQ(RowCount(), 2);
}

TEST_F(GoogleTableTest, ARepeatedImportWritesNothing) {
  Import(GoogleOptions());
  ASSERT_EQ(database_.OpenTable("t")->Apply(RowMutation("user1").DeleteFromRow()),
            absl::OkStatus());
  const auto report = stele::lab::ImportDynamoDb(database_, GoogleOptions());
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->items_written, 0u);
  EXPECT_EQ(report->notes.back().id, "already-imported");
  EXPECT_EQ(RowCount(), 1);
}

TEST_F(GoogleTableTest, WithoutPropertiesATableWithRowsIsRejected) {
  Options options = GoogleOptions();
  options.stores_properties = false;
  ASSERT_TRUE(database_.CreateTable("t", Schema().AddFamily("mine")).ok());
  Import(options);
  EXPECT_EQ(RowCount(), 2);
  EXPECT_TRUE(database_.OpenTable("t")->schema()->properties().empty());
  ExpectRejected(options, "the table t exists and has rows");
  // The table of a version that set no property.
  ExpectRejected(GoogleOptions(), kNotOfTheSame);
  options.state_path = fixture_.directory().File("state");
  ExpectRejected(options, "the table t exists and has rows");
}

TEST_F(GoogleTableTest, AMappingFileShowsThatATableIsOfItsImport) {
  ASSERT_TRUE(database_.CreateTable("t", Schema().AddFamily("a")).ok());
  ASSERT_EQ(database_.OpenTable("t")->Apply(RowMutation("row").SetCell("a", "q", "value")),
            absl::OkStatus());
  Options options = NativeOptions();
  options.stores_properties = false;
  const auto report = stele::lab::ImportDynamoDb(database_, options);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kInvalidArgument) << report.status();
  options.mapping_path = fixture_.directory().File("mapping");
  ExpectRejected(options, "the table t exists and has rows");
  EXPECT_EQ(RowCount(), 1);
  ASSERT_EQ(database_.DeleteTable("t"), absl::OkStatus());
  Import(options);
  Import(options);
  EXPECT_EQ(RowCount(), 2);
}

}  // namespace
}  // namespace stele::internal::lab
