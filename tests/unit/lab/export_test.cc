// Tests exports: the items that were imported, with every way of storing them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "lab/dynamodb/export_directory.h"
#include "lab/dynamodb/record_parser.h"
#include "lab/export/export_writer.h"
#include "lab/mapping/dynamodb_json.h"
#include "stele/lab/dynamodb.h"
#include "stele/stele.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::DynamoDbExportReport;
using stele::lab::DynamoDbImportOptions;

// The text that is equal for equal items.
std::string NormalForm(std::string line) {
  const size_t bytes = line.size();
  line.append(kRecordPaddingBytes, '\0');
  RecordParser parser;
  Record record;
  const absl::Status parsed = parser.ParseLine(std::string_view(line).substr(0, bytes), &record);
  EXPECT_TRUE(parsed.ok()) << parsed << line;
  std::string text;
  AppendItemJson(record.item, &text);
  return text;
}

class ExportTest : public testing::Test {
 protected:
  void Import(const DynamoDbImportOptions& options) {
    const auto report = stele::lab::ImportDynamoDb(database_, options);
    ASSERT_TRUE(report.ok()) << report.status();
  }
  DynamoDbExportReport Export(std::vector<std::string>* lines,
                              const RowRange& rows = RowRange::All()) {
    const auto report = stele::lab::ExportDynamoDb(
        database_, {.table = "t", .rows = rows, .write = [&](std::string_view line) {
                      lines->emplace_back(line);
                      return absl::OkStatus();
                    }});
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(DynamoDbExportReport());
  }
  // Imports the items into a new database, and expects an export to return them.
  void ExpectReturned(const std::vector<std::string>& items,
                      DynamoDbImportOptions options = DynamoDbImportOptions()) {
    database_ = *Database::Open("mem:");
    const ExportFixture fixture(DataLines{items});
    options.paths = {fixture.path()};
    options.table = "t";
    options.partition_key = "PK";
    options.sort_key = "SK";
    Import(options);
    std::vector<std::string> lines;
    EXPECT_EQ(Export(&lines).rows_left_out, 0u);
    std::vector<std::string> expected;
    for (const std::string& item : items) expected.push_back(NormalForm(item));
    std::sort(expected.begin(), expected.end());
    std::sort(lines.begin(), lines.end());
    EXPECT_EQ(lines, expected);
  }

  Database database_ = *Database::Open("mem:");
};

// Items with all types, attributes of several types, and one that is only a key.
std::vector<std::string> Items() {
  return {ItemOfAllTypes(1),
          ItemOfAllTypes(2),
          ItemOfAllTypes(3),
          R"({"Item":{"PK":{"S":"a#"},"SK":{"S":"|"},"list":{"N":"1.00"},"map":{"SS":["x"]},)"
          R"("ss":{"M":{"":{"S":""},"$":{"L":[{"NULL":true}]}}},"text":{"B":""},"$t":{"S":""}}})",
          R"({"Item":{"PK":{"S":"only"},"SK":{"S":"a key"}}})",
          R"({"Item":{"PK":{"S":"#"},"SK":{"S":"#"},"map":{"M":{}},"list":{"L":[]},)"
          R"("x#%y":{"BS":["","AA=="]},"n":{"NS":["1","1E-130","-0.5"]}}})"};
}

TEST_F(ExportTest, ReturnsTheItemsThatWereImported) { ExpectReturned(Items()); }

TEST_F(ExportTest, ReturnsThemWithEveryWayOfStoring) {
  ExpectReturned(Items(), {.has_ordered_keys = true});
  ExpectReturned(Items(), {.has_sets_as_json = true});
  ExpectReturned({ItemOfAllTypes(1), ItemOfAllTypes(2)}, {.has_maps_as_columns = true});
  ExpectReturned(Items(), {.delimiter = "::", .has_sets_as_json = true});
  ExpectReturned({R"({"Item":{"PK":{"S":"a"},"SK":{"S":"b"},"c":{"N":"-9223372036854775808"}}})"},
                 {.counters = {"c"}});
  ExpectReturned(
      {R"({"Item":{"PK":{"S":"a"},"SK":{"S":"b"},"e":{"N":"99999999999"},"s":{"SS":["x"]}}})",
       R"({"Item":{"PK":{"S":"b"},"SK":{"S":"b"},"e":{"S":"x"}}})"},
      {.ttl_attribute = "e"});
}

TEST_F(ExportTest, ReturnsKeysOfAllTypes) {
  ExpectReturned({R"({"Item":{"PK":{"N":"7"},"SK":{"B":"AP8="}}})",
                  R"({"Item":{"PK":{"N":"0"},"SK":{"B":"AA=="}}})"});
  ExpectReturned({R"({"Item":{"PK":{"N":"-1.52"},"SK":{"N":"1234567890123"}}})",
                  R"({"Item":{"PK":{"N":"1500"},"SK":{"N":"0"}}})"});
  ExpectReturned({R"({"Item":{"PK":{"B":"AP8="},"SK":{"N":"0.5"}}})"}, {.has_ordered_keys = true});
}

TEST_F(ExportTest, LeavesOutRowsOfAnApplication) {
  const ExportFixture fixture(DataLines{{ItemOfAllTypes(1), ItemOfAllTypes(2)}});
  Import({.paths = {fixture.path()}, .table = "t", .partition_key = "PK", .sort_key = "SK"});
  auto table = database_.OpenTable("t");
  ASSERT_TRUE(table->Apply(RowMutation("nodelimiter").SetCell("a", "text", "x")).ok());
  ASSERT_TRUE(table->Apply(RowMutation("user2#a#b").SetCell("a", "list", "not lab JSON")).ok());
  ASSERT_TRUE(table->Apply(RowMutation("z#new").SetCell("a", "text", "an item")).ok());
  std::vector<std::string> lines;
  const DynamoDbExportReport report = Export(&lines);
  EXPECT_EQ(report.items_written, 2u);
  EXPECT_EQ(report.rows_left_out, 2u);
  EXPECT_NE(report.listed.at(0).find("row nodelimiter: the row key has no delimiter"),
            std::string::npos)
      << report.listed[0];
  EXPECT_NE(report.listed.at(1).find("attribute \"list\""), std::string::npos) << report.listed[1];
  EXPECT_EQ(lines.back(), R"({"Item":{"PK":{"S":"z"},"SK":{"S":"new"},"text":{"S":"an item"}}})");
  lines.clear();
  Export(&lines, RowRange::Prefix("user1"));
  EXPECT_EQ(lines, std::vector<std::string>{NormalForm(ItemOfAllTypes(1))});
}

TEST_F(ExportTest, NeedsATableOfAnImport) {
  ASSERT_TRUE(database_.CreateTable("t", Schema().AddFamily("a")).ok());
  const auto code = [&](const std::string& table, const std::string& directory) {
    return stele::lab::ExportDynamoDb(database_, {.table = table, .directory = directory})
        .status()
        .code();
  };
  EXPECT_EQ(code("t", "unused"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(code("absent", "unused"), absl::StatusCode::kNotFound);
  EXPECT_EQ(code("t", ""), absl::StatusCode::kInvalidArgument);
}

TEST_F(ExportTest, AFailedWriteEndsTheExport) {
  const ExportFixture fixture(DataLines{{ItemOfAllTypes(1), ItemOfAllTypes(2)}});
  Import({.paths = {fixture.path()}, .table = "t", .partition_key = "PK", .sort_key = "SK"});
  int calls = 0;
  const auto report =
      stele::lab::ExportDynamoDb(database_, {.table = "t", .write = [&](std::string_view) {
                                               ++calls;
                                               return absl::CancelledError("enough");
                                             }});
  EXPECT_EQ(report.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(calls, 1);
}

TEST_F(ExportTest, WritesADirectoryThatAnImportReads) {
  const ExportFixture fixture(DataLines{Items()});
  Import({.paths = {fixture.path()}, .table = "t", .partition_key = "PK", .sort_key = "SK"});
  const TemporaryDirectory directory;
  const auto written =
      stele::lab::ExportDynamoDb(database_, {.table = "t", .directory = directory.File("new")});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->items_written, Items().size());
  std::vector<std::string> before;
  Export(&before);
  database_ = *Database::Open("mem:");
  Import({.paths = {directory.File("new")}, .table = "t", .partition_key = "PK", .sort_key = "SK"});
  std::vector<std::string> after;
  Export(&after);
  EXPECT_EQ(after, before);
  EXPECT_EQ(ReadExportDirectory(directory.File("new"), true)->table_name, "game");
}

TEST_F(ExportTest, AnExportThatIsNotFinishedLeavesNoDirectory) {
  const TemporaryDirectory directory;
  {
    auto writer = ExportWriter::Create(directory.File("x"), "t", Timestamp());
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE((*writer)->Add("{}").ok());
    EXPECT_FALSE(std::filesystem::is_empty(directory.File("x/AWSDynamoDB")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.File("x/AWSDynamoDB")));
}

TEST_F(ExportTest, SplitsDataFilesAtTheirSize) {
  const TemporaryDirectory directory;
  constexpr uint64_t kBytesMax = 1 << 20;
  auto writer = ExportWriter::Create(directory.File("x"), "t", Timestamp(), kBytesMax);
  ASSERT_TRUE(writer.ok()) << writer.status();
  uint32_t random = 1;
  for (int i = 0; i < 300; ++i) {
    std::string line = "{\"Item\":{\"a\":{\"S\":\"";
    for (int k = 0; k < 20'000; ++k)
      line += static_cast<char>('a' + ((random = random * 1664525 + 1013904223) >> 24) % 26);
    ASSERT_TRUE((*writer)->Add(line + "\"}}}").ok());
  }
  ASSERT_TRUE((*writer)->Finish().ok());
  const auto exported = ReadExportDirectory(directory.File("x"), true);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(exported->item_count, 300u);
  EXPECT_GT(exported->files.size(), 2u);
  for (const DataFile& file : exported->files)
    EXPECT_LE(std::filesystem::file_size(file.path), kBytesMax);
}

}  // namespace
}  // namespace stele::internal::lab
