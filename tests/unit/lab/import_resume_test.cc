// Tests imports that were interrupted and are repeated: nothing is left out, whatever happened to
// the database in between.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
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

// Progress is reported after each 256 items of a file. So the first report of an import is in its
// first file, the second one in its second file, and the fourth one in its third file.
constexpr int kFirstItems = 300;
constexpr int kSecondItems = 600;  // and as many in the third file
constexpr int kItems = kFirstItems + 2 * kSecondItems;

int ReportIn(int file) { return file == 3 ? 4 : file; }
size_t FileOf(int item) {
  return item < kFirstItems ? 0 : item < kFirstItems + kSecondItems ? 1 : 2;
}

std::string Item(int n) {
  return fmt::format(
      R"({{"Item":{{"PK":{{"S":"user{}"}},"SK":{{"S":"k"}},"by":{{"S":"{}"}},"n":{{"N":"1"}}}}}})",
      n, n % 7);
}

DataLines FullItems() {
  DataLines files(3);
  for (int n = 0; n < kItems; ++n) files[FileOf(n)].push_back(Item(n));
  return files;
}

// Each change replaces the attribute n of an item by 2.
DataLines Changes() {
  DataLines files(3);
  for (int n = 0; n < kItems; ++n) {
    files[FileOf(n)].push_back(
        fmt::format(R"({{"Metadata":{{"WriteTimestampMicros":{{"N":"17321000000{:05}"}}}},)"
                    R"("Keys":{{"PK":{{"S":"user{}"}},"SK":{{"S":"k"}}}},)"
                    R"("NewImage":{{"PK":{{"S":"user{}"}},"SK":{{"S":"k"}},"n":{{"N":"2"}}}}}})",
                    n, n, n));
  }
  return files;
}

class ImportResumeTest : public testing::TestWithParam<size_t> {
 protected:
  ImportResumeTest() { OpenDatabase(); }

  void OpenDatabase() {
    auto database = Database::Open(directory_.File("db"));
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
  }
  void RemoveDatabase() {
    ASSERT_EQ(database_.Close(), absl::OkStatus());
    std::filesystem::remove_all(directory_.File("db"));
    OpenDatabase();
  }
  // The database must be closed.
  void ReplaceDatabaseBy(const std::string& name) {
    std::filesystem::remove_all(directory_.File("db"));
    std::filesystem::rename(directory_.File(name), directory_.File("db"));
    OpenDatabase();
  }
  DynamoDbImportOptions OptionsOf(const ExportFixture& input) const {
    return {.paths = {input.path()},
            .table = "t",
            .partition_key = "PK",
            .sort_key = "SK",
            .writer_threads = GetParam(),
            .state_path = directory_.File("state")};
  }
  DynamoDbImportReport Import(const DynamoDbImportOptions& options) {
    const auto report = ImportDynamoDb(database_, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(DynamoDbImportReport());
  }
  // Runs an import in which `interrupt` is called in the middle of this data file, counted from 1.
  absl::Status InterruptIn(int file, DynamoDbImportOptions options,
                           const std::function<void()>& interrupt) {
    int reports = 0;
    options.progress = [&](std::string_view phase, uint64_t, uint64_t) {
      if (phase == "importing" && ++reports == ReportIn(file)) interrupt();
    };
    return ImportDynamoDb(database_, options).status();
  }
  absl::Status CloseIn(const DynamoDbImportOptions& options, int file = 2) {
    return InterruptIn(file, options, [&] { EXPECT_EQ(database_.Close(), absl::OkStatus()); });
  }
  int CompletedFiles() const {
    std::ifstream file(directory_.File("state"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    int count = 0;
    for (size_t at = text.find("\"md5\""); at != std::string::npos;
         at = text.find("\"md5\"", at + 1))
      ++count;
    return count;
  }
  static bool BeganAgain(const DynamoDbImportReport& report) {
    for (const auto& note : report.notes) {
      if (note.id == "began-again") return true;
    }
    return false;
  }
  // The number of rows of a table that pass.
  int CountRows(const std::string& table_name = "t", const Filter& filter = {}) {
    const auto table = database_.OpenTable(table_name);
    EXPECT_TRUE(table.ok()) << table.status();
    RowReader reader = table->ReadRows(RowSet::All(), filter);
    int count = 0;
    while (reader.Next()) ++count;
    EXPECT_EQ(reader.status(), absl::OkStatus());
    return count;
  }

  void TestChanges(const std::string& mapping_path) {
    const ExportFixture full(FullItems());
    const ExportFixture changes(Changes(), "INCREMENTAL_EXPORT", "0174-abc");
    DynamoDbImportOptions full_options = OptionsOf(full);
    full_options.state_path.clear();
    full_options.mapping_path = mapping_path;
    DynamoDbImportOptions options = OptionsOf(changes);
    options.mapping_path = mapping_path;
    Import(full_options);
    EXPECT_FALSE(CloseIn(options).ok());
    EXPECT_EQ(CompletedFiles(), 1);
    RemoveDatabase();
    Import(full_options);
    EXPECT_TRUE(BeganAgain(Import(options)));
    EXPECT_EQ(CountRows("t", Filter::ValueRegex("2")), kItems);
  }

  TemporaryDirectory directory_;
  Database database_;
};

TEST_P(ImportResumeTest, ContinuesWithTheFirstIncompleteFile) {
  const ExportFixture input(FullItems());
  EXPECT_FALSE(CloseIn(OptionsOf(input)).ok());
  EXPECT_EQ(CompletedFiles(), 1);
  OpenDatabase();
  EXPECT_FALSE(BeganAgain(Import(OptionsOf(input))));
  EXPECT_EQ(CountRows(), kItems);
  EXPECT_FALSE(std::filesystem::exists(directory_.File("state")));
}

TEST_P(ImportResumeTest, BeginsAgainInAnotherDatabase) {
  const ExportFixture input(FullItems());
  EXPECT_FALSE(CloseIn(OptionsOf(input)).ok());
  RemoveDatabase();
  EXPECT_TRUE(BeganAgain(Import(OptionsOf(input))));
  EXPECT_EQ(CountRows(), kItems);
}

// The threads get the error, and the file that they write does not count as completed.
TEST_P(ImportResumeTest, BeginsAgainInATableThatWasDeleted) {
  const ExportFixture input(FullItems());
  const absl::Status status = InterruptIn(
      2, OptionsOf(input), [&] { EXPECT_EQ(database_.DeleteTable("t"), absl::OkStatus()); });
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_EQ(CompletedFiles(), 1);
  EXPECT_TRUE(BeganAgain(Import(OptionsOf(input))));
  EXPECT_EQ(CountRows(), kItems);
}

TEST_P(ImportResumeTest, BeginsAgainIfRowsWereDeleted) {
  const ExportFixture input(FullItems());
  EXPECT_FALSE(CloseIn(OptionsOf(input)).ok());
  OpenDatabase();
  ASSERT_EQ(database_.OpenTable("t")->DropRowRange(RowRange::All()), absl::OkStatus());
  EXPECT_TRUE(BeganAgain(Import(OptionsOf(input))));
  EXPECT_EQ(CountRows(), kItems);
}

TEST_P(ImportResumeTest, ContinuesIfOneKnownRowWasDeleted) {
  const ExportFixture input(FullItems());
  EXPECT_FALSE(CloseIn(OptionsOf(input), /*file=*/3).ok());
  OpenDatabase();
  Table table = *database_.OpenTable("t");
  const std::string row_key = fmt::format("user{}#k", kFirstItems - 1);
  ASSERT_TRUE(*table.Exists(row_key)) << "the last row of the first file";
  ASSERT_EQ(table.Apply(RowMutation(row_key).DeleteFromRow()), absl::OkStatus());
  EXPECT_FALSE(BeganAgain(Import(OptionsOf(input))));
  EXPECT_EQ(CountRows(), kItems - 1);
}

TEST_P(ImportResumeTest, OneStateOfTwoDatabasesIsThatOfTheLast) {
  const ExportFixture input(FullItems());
  EXPECT_FALSE(CloseIn(OptionsOf(input)).ok());
  std::filesystem::rename(directory_.File("db"), directory_.File("first"));
  OpenDatabase();
  EXPECT_FALSE(CloseIn(OptionsOf(input), /*file=*/3).ok());
  EXPECT_EQ(CompletedFiles(), 2);
  ReplaceDatabaseBy("first");
  EXPECT_TRUE(BeganAgain(Import(OptionsOf(input))));
  EXPECT_EQ(CountRows(), kItems);
}

TEST_P(ImportResumeTest, ContinuesFromAnOlderCopyOfTheDatabase) {
  const ExportFixture input(FullItems());
  EXPECT_FALSE(CloseIn(OptionsOf(input), /*file=*/2).ok());
  std::filesystem::copy(directory_.File("db"), directory_.File("copy"));
  OpenDatabase();
  EXPECT_FALSE(CloseIn(OptionsOf(input), /*file=*/3).ok());
  EXPECT_EQ(CompletedFiles(), 2);
  ReplaceDatabaseBy("copy");
  EXPECT_FALSE(BeganAgain(Import(OptionsOf(input))));
  EXPECT_EQ(CountRows(), kItems);
}

TEST_P(ImportResumeTest, BeginsAgainIfAnIndexTableWasDeleted) {
  const ExportFixture input(FullItems());
  DynamoDbImportOptions options = OptionsOf(input);
  options.indexes = {{.name = "by", .partition_key = "by"}};
  EXPECT_FALSE(CloseIn(options).ok());
  OpenDatabase();
  ASSERT_EQ(database_.DeleteTable("t.by"), absl::OkStatus());
  EXPECT_TRUE(BeganAgain(Import(options)));
  EXPECT_EQ(CountRows(), kItems);
  EXPECT_EQ(CountRows("t.by"), kItems);
}

TEST_P(ImportResumeTest, ChangesBeginAgainInATableThatWasImportedAgain) {
  TestChanges("");
  // A table whose mapping is a file has no record.
  RemoveDatabase();
  TestChanges(directory_.File("mapping"));
}

TEST_P(ImportResumeTest, ChangesContinue) {
  const ExportFixture full(FullItems());
  const ExportFixture changes(Changes(), "INCREMENTAL_EXPORT", "0174-abc");
  Import(OptionsOf(full));
  EXPECT_FALSE(CloseIn(OptionsOf(changes)).ok());
  OpenDatabase();
  EXPECT_FALSE(BeganAgain(Import(OptionsOf(changes))));
  EXPECT_EQ(CountRows("t", Filter::ValueRegex("2")), kItems);
}

TEST_P(ImportResumeTest, GoogleModeContinues) {
  const ExportFixture input(FullItems());
  DynamoDbImportOptions options = OptionsOf(input);
  options.mode = DynamoDbImportOptions::Mode::kGoogle;
  // A server stores no properties.
  for (const bool stores_properties : {true, false}) {
    options.stores_properties = stores_properties;
    EXPECT_FALSE(CloseIn(options).ok());
    EXPECT_EQ(CompletedFiles(), 1);
    OpenDatabase();
    EXPECT_FALSE(BeganAgain(Import(options)));
    EXPECT_EQ(CountRows(), kItems);
    EXPECT_FALSE(std::filesystem::exists(directory_.File("state")));
    RemoveDatabase();
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ImportResumeTest, testing::Values(1, 4));

}  // namespace
}  // namespace stele::internal::lab
