// Tests what an import says about an input that is not what its options state.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fmt/format.h"
#include "stele/lab/dynamodb.h"
#include "stele/stele.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::DynamoDbImportOptions;
using stele::lab::DynamoDbImportReport;

class ImportChecksTest : public testing::Test {
 protected:
  static DynamoDbImportOptions OptionsOf(const std::string& path) {
    return {.paths = {path}, .table = "t", .partition_key = "PK", .sort_key = "SK"};
  }
  static std::string Line(const std::string& attributes) {
    return R"({"Item":{"PK":{"S":"a"},"SK":{"S":"k"})" + attributes + "}}\n";
  }
  // A change of the item a, k.
  static std::string ChangeLine(int micros, const std::string& image) {
    return fmt::format(R"({{"Metadata":{{"WriteTimestampMicros":{}}},"Keys":{{"PK":{{"S":"a"}},)"
                       R"("SK":{{"S":"k"}}}}{}}})",
                       micros, image.empty() ? "" : R"(,"NewImage":)" + image);
  }
  DynamoDbImportReport Imported(const DynamoDbImportOptions& options) {
    const auto report = ImportDynamoDb(database_, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(DynamoDbImportReport());
  }
  void ExpectRefused(const DynamoDbImportOptions& options, const std::string& text) {
    const auto report = ImportDynamoDb(database_, options);
    EXPECT_FALSE(report.ok());
    EXPECT_NE(report.status().ToString().find(text), std::string::npos) << report.status();
  }
  static const DynamoDbImportReport::Note* NoteOf(const DynamoDbImportReport& report,
                                                  const std::string& id) {
    for (const auto& note : report.notes) {
      if (note.id == id) return &note;
    }
    return nullptr;
  }

  TemporaryDirectory directory_;
  Database database_ = *Database::Open("mem:");
};

TEST_F(ImportChecksTest, ChangesAreOfTheTableThatWasImported) {
  const ExportFixture full(DataLines{{Line("")}});
  Imported(OptionsOf(full.path()));
  ExportFixture changes(DataLines{{ChangeLine(1, "")}}, "INCREMENTAL_EXPORT");
  changes.SetTable("orders");
  changes.Write(DataLines{{ChangeLine(1, "")}});
  for (const bool only_checks : {true, false}) {
    DynamoDbImportOptions options = OptionsOf(changes.path());
    options.only_checks = only_checks;
    ExpectRefused(options,
                  "the export has changes of the DynamoDB table orders, but the table t was "
                  "imported from game: name the table of its full import with --table");
  }
  EXPECT_TRUE(database_.OpenTable("t")->ReadRow("a#k")->has_value());
}

TEST_F(ImportChecksTest, FilesDoNotTellTheirTable) {
  Imported(OptionsOf(directory_.Write("items", Line(""))));
  const ExportFixture changes(DataLines{{ChangeLine(1, "")}}, "INCREMENTAL_EXPORT");
  EXPECT_EQ(Imported(OptionsOf(changes.path())).items_written, 1u);
  // A file with the mapping does not say whether it is of files, so it can be corrected.
  DynamoDbImportOptions options = OptionsOf(directory_.File("items"));
  options.table = "u";
  options.mapping_path = directory_.File("mapping");
  Imported(options);
  options.paths = {changes.path()};
  ExpectRefused(options, "correct the member \"table\" of " + options.mapping_path);
}

TEST_F(ImportChecksTest, ChangesNoteTheIndexTables) {
  const ExportFixture full(DataLines{{Line("")}});
  DynamoDbImportOptions options = OptionsOf(full.path());
  options.indexes = {{.name = "x", .partition_key = "SK"}, {.name = "y", .partition_key = "SK"}};
  Imported(options);
  ASSERT_TRUE(database_.CreateTable("t.other", Schema()).ok());
  const ExportFixture changes(DataLines{{ChangeLine(1, "")}}, "INCREMENTAL_EXPORT");
  const DynamoDbImportReport report = Imported(OptionsOf(changes.path()));
  const auto* const note = NoteOf(report, "gsi-not-updated");
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->samples, (std::vector<std::string>{"t.x", "t.y"}));
}

// The counts are those of the newest change of each row, in each order of the changes.
TEST_F(ImportChecksTest, CountsOfChangesDoNotDependOnTheirOrder) {
  const std::string two = R"({"PK":{"S":"a"},"SK":{"S":"k"},"n":{"N":"1"},"m":{"N":"1"}})";
  const std::string one = R"({"PK":{"S":"a"},"SK":{"S":"k"},"s":{"SS":["x"]}})";
  const std::vector<std::string> kLines = {ChangeLine(1, two), ChangeLine(2, ""),
                                           ChangeLine(3, two), ChangeLine(4, one)};
  for (const std::vector<size_t>& order :
       {std::vector<size_t>{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}, {1, 3, 0, 2}}) {
    database_ = *Database::Open("mem:");
    Imported(OptionsOf(directory_.Write("items", Line(R"(,"n":{"N":"1"})"))));
    std::vector<std::string> lines;
    for (const size_t i : order) lines.push_back(kLines[i]);
    const ExportFixture changes(DataLines{lines}, "INCREMENTAL_EXPORT");
    const DynamoDbImportReport report = Imported(OptionsOf(changes.path()));
    EXPECT_EQ(report.items_read, 4u);
    EXPECT_EQ(report.items_written, 1u);
    EXPECT_EQ(report.tables.at("t").rows, 1u);
    EXPECT_EQ(report.tables.at("t").cells, (std::map<std::string, uint64_t>{{"s", 1}, {"t", 1}}));
  }
}

TEST_F(ImportChecksTest, RequestsAreOfOneTable) {
  const auto request = [](const std::string& key) {
    return R"({"PutRequest":{"Item":{"PK":{"S":")" + key + R"("},"SK":{"S":"k"}}}})";
  };
  const std::string both = directory_.Write(
      "both", R"({"orders":[)" + request("a") + "],\n\"users\":[" + request("b") + "]}");
  ExpectRefused(OptionsOf(both),
                "both:2: a request for the table users, after requests for orders");
  DynamoDbImportOptions options =
      OptionsOf(directory_.Write("orders", R"({"orders":[)" + request("a") + "]}"));
  options.paths.push_back(directory_.Write("users", R"({"users":[)" + request("b") + "]}"));
  ExpectRefused(options, "users:1: a request for the table users, after requests for orders");
  options.paths[1] = directory_.Write("more", R"({"orders":[)" + request("b") + "]}");
  EXPECT_EQ(Imported(options).items_written, 2u);
}

TEST_F(ImportChecksTest, AWrongKeyIsExplainedOnce) {
  std::string lines;
  for (int i = 0; i < 30; ++i) lines += Line(fmt::format(R"(,"n{}":{{"N":"1"}})", i));
  DynamoDbImportOptions options = OptionsOf(directory_.Write("items", lines));
  options.partition_key = "Nope";
  ExpectRefused(options,
                "30 of 30 items are bad: no item has the attribute \"Nope\" of --partition-key: "
                "the items have \"PK\", \"SK\", \"n0\", \"n1\", \"n2\", \"n3\", \"n4\", \"n5\", "
                "\"n6\", \"n7\" and others");
  options.mode = DynamoDbImportOptions::Mode::kGoogle;
  ExpectRefused(options, "no item has the attribute \"Nope\" of --partition-key");
  options = OptionsOf(directory_.File("items"));
  options.sort_key = "sk";
  ExpectRefused(options, "no item has the attribute \"sk\" of --sort-key");
  // Some items have it: each bad one is listed.
  options.sort_key = "n7";
  ExpectRefused(options, "29 of 30 items are bad\n");
}

TEST_F(ImportChecksTest, ACounterThatNoItemHasIsNoted) {
  DynamoDbImportOptions options =
      OptionsOf(directory_.Write("items", Line(R"(,"n":{"N":"1"},"text":{"S":"1"})")));
  options.counters = {"n", "text", "absent"};
  const DynamoDbImportReport report = Imported(options);
  const auto* const note = NoteOf(report, "counter-empty");
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->samples, (std::vector<std::string>{"absent", "text"}));
}

}  // namespace
}  // namespace stele::internal::lab
