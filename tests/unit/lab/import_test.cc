// Tests imports into a database in memory: cells, times, indexes, bad items, changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
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

std::string ItemLine(const std::string& attributes) { return R"({"Item":{)" + attributes + "}}"; }

class ImportTest : public testing::Test {
 protected:
  ImportTest() : database_(*Database::Open("mem:")) {}

  static DynamoDbImportOptions Options(const std::string& path) {
    return {.paths = {path}, .table = "t", .partition_key = "PK", .sort_key = "SK"};
  }
  DynamoDbImportReport Import(const DynamoDbImportOptions& options) {
    const auto report = ImportDynamoDb(database_, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(DynamoDbImportReport());
  }
  void ExpectError(const DynamoDbImportOptions& options, std::string_view text) {
    const auto report = ImportDynamoDb(database_, options);
    EXPECT_FALSE(report.ok());
    EXPECT_NE(report.status().ToString().find(text), std::string::npos) << report.status();
  }
  // "ROW FAMILY:QUALIFIER=VALUE@MICROS" of each cell.
  std::vector<std::string> Cells(const std::string& table_name = "t",
                                 const ReadOptions& options = {}) {
    const auto table = database_.OpenTable(table_name);
    EXPECT_TRUE(table.ok()) << table.status();
    std::vector<std::string> cells;
    RowReader reader = table->ReadRows(RowSet::All(), Filter::PassAll(), options);
    for (const RowView& row : reader) {
      for (const CellView& cell : row.cells())
        cells.push_back(fmt::format("{} {}:{}={}@{}", row.row_key(), cell.family(),
                                    cell.qualifier(), cell.value(), cell.timestamp().micros()));
    }
    EXPECT_TRUE(reader.status().ok()) << reader.status();
    return cells;
  }
  // The id of the last note, or "".
  static std::string LastNote(const DynamoDbImportReport& report) {
    return report.notes.empty() ? "" : report.notes.back().id;
  }
  size_t TableCount() { return database_.ListTables()->size(); }

  Database database_;
};

TEST_F(ImportTest, StoresAnExport) {
  const ExportFixture fixture(
      DataLines{{ItemLine(R"("PK":{"S":"a#"},"SK":{"N":"2"},"n":{"N":"1"})")},
                {ItemLine(R"("PK":{"S":"b"},"SK":{"N":"10"},"n":{"S":"x"})"), "",
                 ItemLine(R"("PK":{"S":"c"},"SK":{"N":"1"})")}});
  // the blank line is no item
  ExpectError(Options(fixture.path()), "has 2 items, but the manifest states 3");
  ExportFixture good(DataLines{{ItemLine(R"("PK":{"S":"a#"},"SK":{"N":"2"},"n":{"N":"1"})")},
                               {ItemLine(R"("PK":{"S":"b"},"SK":{"N":"10"},"n":{"S":"x"})"),
                                ItemLine(R"("PK":{"S":"c"},"SK":{"N":"1"})")}});
  good.directory().Write(good.Below("data/stray.gz"), "x");
  const DynamoDbImportReport report = Import(Options(good.path()));
  EXPECT_EQ(report.items_read, 3u);
  EXPECT_EQ(report.items_written, 3u);
  EXPECT_EQ(report.delimiter, "|");
  EXPECT_EQ(report.tables.at("t").rows, 3u);
  EXPECT_EQ(Cells(),
            (std::vector<std::string>{"a#|0000000002 a:n=1@1732060800000000",
                                      "a#|0000000002 t:types={\"n\":\"N\"}@1732060800000000",
                                      "b|0000000010 a:n=x@1732060800000000",
                                      "c|0000000001 t:types={}@1732060800000000"}));
  std::string notes;
  for (const auto& note : report.notes) notes += note.id + " ";
  EXPECT_EQ(notes, "stray-file mixed-type ");
  EXPECT_NE(report.ToText().find("\"#\" occurs in 1 partition keys"), std::string::npos)
      << report.ToText();
  // once more: nothing changes
  ASSERT_TRUE(database_.OpenTable("t")->Apply(RowMutation("a#|0000000002").DeleteFromRow()).ok());
  const DynamoDbImportReport again = Import(Options(good.path()));
  EXPECT_EQ(again.items_written, 0u);
  EXPECT_EQ(LastNote(again), "already-imported");
  EXPECT_EQ(Cells().size(), 2u);
}

TEST_F(ImportTest, ATableHasOneSource) {
  const ExportFixture first(DataLines{{ItemOfAllTypes(1)}});
  Import(Options(first.path()));
  const std::vector<std::string> cells = Cells();
  const ExportFixture other(DataLines{{ItemOfAllTypes(2)}}, "FULL_EXPORT", "0174-def");
  DynamoDbImportOptions options = Options(other.path());
  for (const bool only_checks : {true, false}) {
    options.only_checks = only_checks;
    ExpectError(options, "was made of another source, 0173-abc ");
  }
  options = Options(first.path());
  options.indexes = {{.name = "late", .partition_key = "text"}};
  ExpectError(options, "an index cannot be added");
  EXPECT_EQ(Cells(), cells);
  EXPECT_EQ(TableCount(), 1u);
}

TEST_F(ImportTest, ADamagedFileOfAnExportIsToBeDownloadedAgain) {
  ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}});
  const std::string name = fixture.Below("data/part0.json.gz");
  std::string bytes = Gzip(ItemOfAllTypes(1) + "\n");
  const std::string truncated = bytes.substr(0, bytes.size() - 3);
  fixture.directory().Write(name, truncated);
  ExpectError(Options(fixture.path()), "data is truncated: download the export again");
  bytes[bytes.size() - 8] ^= 0x55;  // in the CRC
  fixture.directory().Write(name, bytes);
  ExpectError(Options(fixture.path()), "data check: download the export again");
  // Other files have no manifest, and may not have been downloaded.
  const std::string path = fixture.directory().Write("items.gz", truncated);
  const auto report = ImportDynamoDb(database_, Options(path));
  EXPECT_NE(report.status().ToString().find("data is truncated"), std::string::npos);
  EXPECT_EQ(report.status().ToString().find("download"), std::string::npos) << report.status();
}

TEST_F(ImportTest, TheReportCountsFiles) {
  const TemporaryDirectory directory;
  DynamoDbImportOptions options = Options(directory.Write("items", ItemOfAllTypes(1)));
  EXPECT_EQ(Import(options).source, "1 file");
  options.table = "u";
  options.paths.push_back(directory.Write("more", ItemOfAllTypes(2)));
  EXPECT_EQ(Import(options).source, "2 files");
}

TEST_F(ImportTest, AnOutputIsNoFileOfTheInput) {
  ExportFixture fixture(DataLines{{ItemOfAllTypes(1), "{}"}});
  const std::string data = fixture.path() + "/data/part0.json.gz";
  const std::string manifest = fixture.path() + "/manifest-files.json";
  const std::string link = fixture.directory().File("link");
  std::filesystem::create_hard_link(data, link);
  for (const std::string& output : {data, manifest, link}) {
    const char* const error = output == manifest ? "which this command uses"
                                                 : "is read by this command and would be replaced";
    DynamoDbImportOptions options = Options(fixture.path());
    options.bad_items_max = 1;
    options.only_checks = true;
    options.output_paths = {output};
    ExpectError(options, error);
    options.output_paths = {};
    options.bad_path = output;
    ExpectError(options, error);
  }
}

TEST_F(ImportTest, OutputsAreCheckedFirst) {
  ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}});
  for (const std::string& output : {fixture.path() + "/absent/x", fixture.path()}) {
    DynamoDbImportOptions options = Options(fixture.path());
    options.output_paths = {output};
    ExpectError(options, output.ends_with('x') ? "its directory does not exist" : "is a directory");
  }
  DynamoDbImportOptions options = Options(fixture.path());
  options.mapping_path = fixture.directory().Write("mapping", "{}");
  options.only_checks = true;
  ExpectError(options, "exists with another mapping");
  EXPECT_EQ(TableCount(), 0u);
}

TEST_F(ImportTest, AnUnfinishedTableIsNotExported) {
  ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}, {ItemOfAllTypes(2)}});
  DynamoDbImportOptions options = Options(fixture.path());
  // The second file changes after the check.
  options.open_database = [&]() -> absl::StatusOr<Database> {
    fixture.directory().Write(fixture.Below("data/part1.json.gz"), Gzip(ItemOfAllTypes(3)));
    return database_;
  };
  ExpectError(options, "but the manifest states");
  const stele::lab::DynamoDbExportOptions exported = {
      .table = "t", .write = [](std::string_view) { return absl::OkStatus(); }};
  const auto refused = ExportDynamoDb(database_, exported);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.status().ToString().find("is not complete: repeat it first"), std::string::npos)
      << refused.status();
  fixture.Write(DataLines{{ItemOfAllTypes(1)}, {ItemOfAllTypes(2)}});
  EXPECT_EQ(Import(Options(fixture.path())).items_written, 2u);
  EXPECT_TRUE(ExportDynamoDb(database_, exported).ok());
}

TEST_F(ImportTest, CheckWritesNothingAndPredictsTheResult) {
  ExportFixture fixture(DataLines{{ItemOfAllTypes(1), ItemOfAllTypes(2)}});
  DynamoDbImportOptions options = Options(fixture.path());
  options.only_checks = true;
  const auto checked = ImportDynamoDb(Database(), options);
  ASSERT_TRUE(checked.ok()) << checked.status();
  options.only_checks = false;
  const DynamoDbImportReport imported = Import(options);
  EXPECT_EQ(checked->tables.at("t").cells, imported.tables.at("t").cells);
  EXPECT_EQ(checked->tables.at("t").cells, (std::map<std::string, uint64_t>{{"a", 14}, {"s", 14}}));
  EXPECT_EQ(Cells().size(), 28u);
}

TEST_F(ImportTest, BadItemsStopTheImport) {
  const ExportFixture fixture(DataLines{
      {ItemOfAllTypes(1), R"({"Item":{"PK":{"S":"a"},"SK":{"S":"b"},"x":{"N":"one"}}})", "{}",
       ItemLine(R"("PK":{"S":"a"})"), ItemLine(R"("PK":{"N":"1"},"SK":{"S":"b"})")}});
  ExpectError(
      Options(fixture.path()),
      "4 of 5 items are bad\n  data/part0.json.gz:2: Item: attribute \"x\": N: \"one\" is not");
  EXPECT_EQ(TableCount(), 0u);
  DynamoDbImportOptions options = Options(fixture.path());
  options.bad_items_max = 3;
  ExpectError(options, "4 of 5 items are bad");
  options.bad_items_max = 4;
  const TemporaryDirectory directory;
  options.bad_path = directory.Write("bad", "an older file");
  const DynamoDbImportReport report = Import(options);
  EXPECT_EQ(report.items_bad, 4u);
  EXPECT_EQ(report.items_written, 1u);
  EXPECT_EQ(report.tables.at("t").rows, 1u);
  std::ifstream file(options.bad_path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_NE(text.find(R"({"file":"data/part0.json.gz","line":3,"error":)"), std::string::npos);
  EXPECT_NE(text.find(R"("raw_base64":"e30=")"), std::string::npos) << text;
}

TEST_F(ImportTest, AFailedImportKeepsAnOlderBadFile) {
  ExportFixture fixture(DataLines{{"{}"}});
  DynamoDbImportOptions options = Options(fixture.path());
  options.bad_items_max = 1;
  options.bad_path = fixture.directory().Write("out/bad", "an older file");
  std::filesystem::create_directory(fixture.directory().File("out/mapping"));
  options.mapping_path = fixture.directory().File("out/mapping");
  ExpectError(options, "is a directory");
  options.mapping_path = "";
  const auto text = [&] {
    std::ifstream file(options.bad_path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(text(), "an older file");
  // Regression: the next two replaced it.
  options.bad_items_max = 0;
  ExpectError(options, "1 of 1 items are bad");
  EXPECT_EQ(text(), "an older file");
  options.bad_items_max = 1;
  Import(Options(fixture.directory().Write("other", ItemOfAllTypes(1))));
  ExpectError(options, "the table t ");
  EXPECT_EQ(text(), "an older file");
  EXPECT_EQ(database_.DeleteTable("t"), absl::OkStatus());
  Import(options);
  EXPECT_TRUE(text().starts_with(R"({"file":"data/part0.json.gz")")) << text();
  // Only the bad file and the directory.
  const std::filesystem::directory_iterator out(fixture.directory().File("out"));
  EXPECT_EQ(std::distance(begin(out), end(out)), 2);
}

TEST_F(ImportTest, CountsAtMostTenThousandAttributes) {
  const TemporaryDirectory directory;
  std::string item = R"("PK":{"S":"a"},"SK":{"S":"b"})";
  for (int i = 0; i < 10'000; ++i) item += fmt::format(R"(,"n{}":{{"NULL":true}})", i);
  DynamoDbImportOptions options = Options(directory.Write("items", ItemLine(item)));
  options.only_checks = true;
  DynamoDbImportReport report = Import(options);
  EXPECT_NE(report.ToText().find("attributes  10,000 non-key"), std::string::npos);
  EXPECT_NE(report.ToJson().find("\"more_attributes\":false"), std::string::npos);
  item += R"(,"one more":{"NULL":true})";
  directory.Write("items", ItemLine(item));
  report = Import(options);
  EXPECT_NE(report.ToText().find("attributes  at least 10,000 non-key"), std::string::npos);
  EXPECT_NE(report.ToJson().find("\"more_attributes\":true"), std::string::npos);
}

TEST_F(ImportTest, FollowsALinkToAFile) {
  const TemporaryDirectory directory;
  directory.Write("items", ItemOfAllTypes(1));
  std::filesystem::create_symlink("items", directory.File("link"));
  EXPECT_EQ(Import(Options(directory.File("link"))).items_written, 1u);
}

TEST_F(ImportTest, DuplicatesAreAnError) {
  const ExportFixture fixture(DataLines{{ItemLine(R"("PK":{"S":"a"},"SK":{"N":"1"})")},
                                        {ItemLine(R"("PK":{"S":"a"},"SK":{"N":"1.0"})")}});
  ExpectError(Options(fixture.path()),
              "data/part1.json.gz:1: the item of data/part0.json.gz:1 has the same key");
  EXPECT_EQ(TableCount(), 0u);
}

TEST_F(ImportTest, VerifiesSumsUnlessToldOtherwise) {
  ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}});
  fixture.directory().Write(fixture.Below("data/part0.json.gz"), Gzip(ItemOfAllTypes(1)));
  ExpectError(Options(fixture.path()), "but the manifest states");
  EXPECT_EQ(TableCount(), 0u);
  DynamoDbImportOptions options = Options(fixture.path());
  options.verifies_sums = false;
  EXPECT_EQ(Import(options).items_written, 1u);
}

TEST_F(ImportTest, TimesComeFromTheItemTheOptionOrTheStart) {
  const TemporaryDirectory directory;
  const std::string path = directory.Write(
      "items", ItemLine(R"("PK":{"S":"a"},"SK":{"S":"b"},"at":{"S":"2020-01-01"})"));
  DynamoDbImportOptions options = Options(path);
  options.timestamp_attribute = "at";
  Import(options);
  EXPECT_EQ(Cells(), std::vector<std::string>{"a#b a:at=2020-01-01@1577836800000000"});
  options.table = "u";
  options.timestamp_attribute = "";
  options.timestamp = Timestamp::FromMicros(1'234'567);
  Import(options);
  EXPECT_EQ(Cells("u"), std::vector<std::string>{"a#b a:at=2020-01-01@1234000"});
  options.table = "v";
  options.timestamp_attribute = "absent";
  ExpectError(options, "missing or no time; --timestamp-micros N is a time for all items");
}

TEST_F(ImportTest, ItemsExpireWithTheirAttribute) {
  const TemporaryDirectory directory;
  const std::string path = directory.Write(
      "items",
      ItemLine(R"("PK":{"S":"past"},"SK":{"S":"b"},"ttl":{"N":"1000000000"})") + "\n" +
          ItemLine(
              R"("PK":{"S":"future"},"SK":{"S":"b"},"ttl":{"N":"99999999999"},"s":{"SS":["x"]})") +
          "\n" + ItemLine(R"("PK":{"S":"never"},"SK":{"S":"b"},"ttl":{"S":"x"})"));
  DynamoDbImportOptions options = Options(path);
  options.ttl_attribute = "ttl";
  options.timestamp = Timestamp::FromMillis(5);
  const DynamoDbImportReport report = Import(options);
  EXPECT_EQ(report.items_expired, 1u);
  EXPECT_EQ(report.items_written, 2u);
  EXPECT_EQ(report.notes.at(0).id, "mixed-type");
  EXPECT_EQ(report.notes.at(1).id, "ttl-not-a-time");
  EXPECT_EQ(Cells(), (std::vector<std::string>{
                         "future#b x:ttl=99999999999@99999999999000000",
                         std::string("future#b xs:s#x=\0@99999999999000000", 35),
                         "never#b a:ttl=x@5000", "never#b t:types={\"ttl\":\"S\"}@5000"}));
  options.table = "kept";
  options.keeps_expired = true;
  EXPECT_EQ(Import(options).items_written, 3u);
  EXPECT_EQ(Cells("kept").back(), "past#b a:ttl=1000000000@5000");
}

// Regression: the type was that of the first item.
TEST_F(ImportTest, AnIndexHasTheTypeOfMostItems) {
  const auto item = [](const std::string& key, const std::string& value) {
    return ItemLine(R"("PK":{"S":")" + key + R"("},"SK":{"S":"x"},"g":)" + value) + "\n";
  };
  const TemporaryDirectory directory;
  const std::string text = item("a", R"({"S":"1"})") + item("b", R"({"N":"2"})") +
                           item("c", R"({"N":"3"})") + item("d", R"({"B":"AA=="})");
  DynamoDbImportOptions options = Options(directory.Write("items", text));
  options.timestamp = Timestamp::FromMillis(5);
  options.indexes = {{.name = "most", .partition_key = "g"},
                     {.name = "text", .partition_key = "g", .partition_type = "S"},
                     {.name = "two", .partition_key = "PK", .sort_key = "g"}};
  const DynamoDbImportReport report = Import(options);
  EXPECT_EQ(Cells("t.most"), (std::vector<std::string>{"0000000002#b#x i:key=b#x@5000",
                                                       "0000000003#c#x i:key=c#x@5000"}));
  EXPECT_EQ(Cells("t.text"), (std::vector<std::string>{"1#a#x i:key=a#x@5000"}));
  EXPECT_EQ(Cells("t.two").size(), 2u);
  std::vector<std::string> notes;
  for (const auto& note : report.notes) {
    if (note.id == "gsi-not-a-key")
      notes.push_back(fmt::format("{} {} {}", note.message, note.count, note.samples.at(0)));
  }
  const std::string why = " lacks, because their attributes have other types: ";
  EXPECT_EQ(notes, (std::vector<std::string>{"items that the index most" + why + "g S 1 a",
                                             "items that the index most" + why + "g B 1 d",
                                             "items that the index text" + why + "g N 2 b",
                                             "items that the index text" + why + "g B 1 d",
                                             "items that the index two" + why + "PK S, g S 1 a",
                                             "items that the index two" + why + "PK S, g B 1 d"}));
}

TEST_F(ImportTest, IndexesAreTables) {
  const TemporaryDirectory directory;
  const std::string path =
      directory.Write("items", ItemLine(R"("PK":{"S":"a#"},"SK":{"S":"b"},"g":{"N":"7"})") + "\n" +
                                   ItemLine(R"("PK":{"S":"c"},"SK":{"S":"d"})") + "\n" +
                                   ItemLine(R"("PK":{"S":"e"},"SK":{"S":"f"},"g":{"BOOL":true})"));
  DynamoDbImportOptions options = Options(path);
  options.timestamp = Timestamp::FromMillis(5);
  options.indexes = {
      {.name = "keys", .partition_key = "g"},
      {.name = "all", .partition_key = "g", .sort_key = "PK", .has_item_copies = true}};
  const DynamoDbImportReport report = Import(options);
  EXPECT_EQ(Cells("t.keys"), std::vector<std::string>{"0000000007|a#|b i:key=a#|b@5000"});
  EXPECT_EQ(Cells("t.all"), std::vector<std::string>{"0000000007|a#|b a:g=7@5000"});
  EXPECT_EQ(report.tables.at("t.keys").rows, 1u);
  const auto note = std::find_if(report.notes.begin(), report.notes.end(),
                                 [](const auto& n) { return n.id == "gsi-not-a-key"; });
  ASSERT_NE(note, report.notes.end());
  EXPECT_EQ(note->count, 1u);
  EXPECT_EQ(note->samples.at(0), "e");
  EXPECT_NE(note->message.find("the index keys lacks"), std::string::npos) << note->message;
  ASSERT_NE(note + 1, report.notes.end());
  EXPECT_NE((note + 1)->message.find("the index all lacks"), std::string::npos);
  EXPECT_EQ(report.index_keys.at("t.keys").delimiter, "|");
  EXPECT_EQ(report.index_keys.at("t.all").attributes.at(0).pad_width, 10);
  options.table = "u";
  options.indexes = {{.name = "none", .partition_key = "absent"}};
  std::set<std::string> ids;
  for (const auto& empty_note : Import(options).notes) ids.insert(empty_note.id);
  EXPECT_TRUE(ids.contains("gsi-empty"));
  EXPECT_TRUE(ids.contains("DDB-GSI"));
}

// Regression: the line was the number of an item. So the first item of a line was left out instead
// of the bad one.
TEST_F(ImportTest, ABadItemIsLeftOutAlthoughOthersShareItsLine) {
  const TemporaryDirectory directory;
  const std::string scan =
      R"({"Items":[{"PK":{"S":"a"},"n":{"N":"1"}},{"PK":{"S":"b"},"n":{"N":"1.5"}},)"
      R"({"PK":{"S":"c"},"n":{"N":"3"}},{"PK":{"S":"d"},"n":{"N":"x"}}],"Count":4})";
  DynamoDbImportOptions options = Options(directory.Write("scan", scan));
  options.sort_key = "";
  options.counters = {"n"};
  options.bad_items_max = 2;
  options.bad_path = directory.File("bad");
  const DynamoDbImportReport report = Import(options);
  EXPECT_EQ(report.items_bad, 2u);
  EXPECT_EQ(report.items_written, 2u);
  std::set<std::string> rows;
  for (const std::string& cell : Cells()) rows.insert(cell.substr(0, 1));
  EXPECT_EQ(rows, (std::set<std::string>{"a", "c"}));
}

TEST_F(ImportTest, ItemsOfALineWithOneKeyAreNamedByTheirNumbers) {
  const TemporaryDirectory directory;
  const std::string item = R"({"PK":{"S":"a"},"SK":{"S":"b"}})";
  ExpectError(Options(directory.Write("scan", R"({"Items":[)" + item + "," + item + "]}")),
              "scan, item 2");
}

// The last page of a scan names no next one.
TEST_F(ImportTest, AScanThatWasCutOffIsNoted) {
  const TemporaryDirectory directory;
  const auto notes = [&](const std::vector<std::string>& ends) {
    DynamoDbImportOptions options = Options("");
    options.paths.clear();
    for (const std::string& end : ends) {
      const std::string name = "page" + std::to_string(options.paths.size());
      const std::string text = R"({"Items":[{"PK":{"S":")" + name + R"("},"SK":{"S":"1"}}])" + end;
      options.paths.push_back(directory.Write(name, text + "}"));
    }
    options.only_checks = true;
    std::set<std::string> ids;
    for (const auto& note : Import(options).notes) ids.insert(note.id);
    return ids.contains("scan-not-complete");
  };
  const std::string token = R"(,"NextToken":"eyJF")";
  const std::string key = R"(,"LastEvaluatedKey":{"PK":{"S":"x"}})";
  EXPECT_TRUE(notes({token}));
  EXPECT_TRUE(notes({key, token}));
  EXPECT_FALSE(notes({R"(,"NextToken":null)"}));
  EXPECT_FALSE(notes({key, R"(,"Count":1)"}));
  EXPECT_FALSE(notes({""}));
}

TEST_F(ImportTest, ReadsOutputOfScansAndBatches) {
  const TemporaryDirectory directory;
  const std::string first = R"({"PK":{"S":"a]}\\\""},"SK":{"S":"1"},"n":{"L":[{"N":"1"}]}})";
  const std::string second = R"({"PK":{"S":"b"},"SK":{"S":"2"}})";
  const std::string scan = "{\n  \"Items\": [\n" + first + ",\n" + second +
                           "\n ],\n \"Count\": 2, \"Next\": null, \"Last\": {\"x\": [\"}\"]}\n}\n";
  const std::string page = R"({"Count":1,"Items":[{"PK":{"S":"c"},"SK":{"S":"3"}}]})";
  const std::string batch = R"({"game":[{"PutRequest":{"Item":)" + first +
                            R"(}},{"PutRequest":{"Item":)" + second + R"(}}],"other":[]})";
  EXPECT_EQ(Import(Options(directory.Write("scan", scan + page))).items_written, 3u);
  DynamoDbImportOptions options = Options(directory.Write("batch", Gzip(batch)));
  options.table = "u";
  EXPECT_EQ(Import(options).items_written, 2u);
  options = Options(directory.Write("empty", R"({"Items":[],"Count":0})"));
  options.table = "v";
  EXPECT_EQ(LastNote(Import(options)), "empty-export");
  options = Options(directory.Write("nothing", ""));
  options.table = "y";
  EXPECT_EQ(LastNote(Import(options)), "empty-export");
  ExpectError(Options(directory.Write("delete", R"({"t":[{"DeleteRequest":{"Key":{}}}]})")),
              "delete:1: not a request");
  ExpectError(Options(directory.Write("bad", "{\"Items\":[\n\n{\"a\":1}]}")), "bad:3: attribute");
  for (const std::string wrong :
       {R"({"Items":[1]})", R"({"Items":[{}}])", R"({"Items":[{} {}]})", R"({"Items":[{},]})",
        R"({"Items":[{})", R"({"Items":[{}] "x":1})", R"({"Count":1})", R"({"Items":[]}x)",
        R"({"Items":[{"a)", R"({"Count":,"Items":[]})"}) {
    ExpectError(Options(directory.Write("wrong", wrong)), "wrong:1: ");
  }
  options = Options(directory.Write("marked", "\xef\xbb\xbf" + page));
  options.table = "w";
  EXPECT_EQ(Import(options).items_read, 1u);
  options = Options(directory.Write("marked_line", "\xef\xbb\xbf" + ItemOfAllTypes(1)));
  options.table = "x";
  EXPECT_EQ(Import(options).items_read, 1u);
  for (const std::string plain :
       {R"({"Name":"x"})", R"({"Item":{"Name":"x"}})", R"({"Items":[{"Name":"x"}]})", "[{}]", "{}",
        R"({"names":["x"]})"})
    ExpectError(Options(directory.Write("plain", plain)), "for plain JSON, use stele load");
}

TEST_F(ImportTest, RefusesAnotherTable) {
  ASSERT_TRUE(database_.CreateTable("t", Schema().AddFamily("a")).ok());
  ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}});
  ExpectError(Options(fixture.path()), "was not made by an import of the same items");
  DynamoDbImportOptions check = Options(fixture.path());
  check.only_checks = true;
  ExpectError(check, "was not made by an import of the same items");
}

TEST_F(ImportTest, RejectsWrongOptionsAndInputs) {
  ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}});
  DynamoDbImportOptions options = Options(fixture.path());
  options.sort_key = "PK";
  ExpectError(options, "the same attribute");
  options = Options(fixture.path());
  options.counters = {"PK"};
  ExpectError(options, "cannot be a counter");
  ExpectError(Options(fixture.path() + "/data"), "without manifest-summary.json");
  ExpectError(Options(fixture.path() + "/absent"), "absent");
  const std::string file = fixture.directory().Write("items", ItemOfAllTypes(1));
  for (const std::vector<std::string>& paths :
       {std::vector{fixture.path(), fixture.path()}, std::vector{file, fixture.path()}}) {
    options = Options(file);
    options.paths = paths;
    ExpectError(options, "0173-abc is the directory of an export: give it alone");
  }
  options.paths = {file, fixture.directory().File("./items")};
  ExpectError(options, "items is given twice: name each file once");
  EXPECT_EQ(TableCount(), 0u);
}

class ChangesTest : public ImportTest {
 protected:
  static std::string Change(const std::string& key, const std::string& micros,
                            const std::string& image) {
    return R"({"Metadata":{"WriteTimestampMicros":{"N":")" + micros + R"("}},"Keys":{"PK":{"S":")" +
           key + R"("},"SK":{"S":"k"}})" + (image.empty() ? "" : R"(,"NewImage":{)" + image + "}") +
           "}";
  }
  void ImportFull() {
    ExportFixture full(
        DataLines{{ItemLine(R"("PK":{"S":"a"},"SK":{"S":"k"},"n":{"N":"1"},"m":{"N":"1"})"),
                   ItemLine(R"("PK":{"S":"b"},"SK":{"S":"k"},"n":{"N":"2"})")}});
    Import(Options(full.path()));
  }
};

TEST_F(ChangesTest, ReplaceAndDeleteRowsInOrder) {
  ImportFull();
  ExportFixture changes(DataLines{{Change("a", "1732100000000123",
                                          R"("PK":{"S":"a"},"SK":{"S":"k"},"n":{"SS":["x"]})"),
                                   Change("b", "1732100000000456", "")}},
                        "INCREMENTAL_EXPORT");
  const DynamoDbImportReport report = Import(Options(changes.path()));
  EXPECT_EQ(report.mode, "incremental");
  EXPECT_EQ(report.items_written, 2u);
  const std::vector<std::string> kExpected = {"a#k t:types={\"n\":\"SS\"}@1732100000000000",
                                              std::string("a#k s:n#x=\0@1732100000000000", 28)};
  std::vector<std::string> cells = Cells();
  EXPECT_TRUE(std::is_permutation(cells.begin(), cells.end(), kExpected.begin(), kExpected.end()))
      << testing::PrintToString(cells);
  // again: nothing changes, not even the cells that an application wrote since
  auto table = database_.OpenTable("t");
  ASSERT_TRUE(
      table->Apply(RowMutation("b#k").SetCell("a", "n", Timestamp::FromMillis(1), "9")).ok());
  cells = Cells();
  const DynamoDbImportReport again = Import(Options(changes.path()));
  EXPECT_EQ(LastNote(again), "already-imported");
  EXPECT_EQ(Cells(), cells);
  // Another export of the same time, and the full export.
  const ExportFixture twin(DataLines{{Change("b", "1", "")}}, "INCREMENTAL_EXPORT", "0174-def");
  ExpectError(Options(twin.path()), "apply incremental exports in their order");
  ExportFixture full(DataLines{{ItemOfAllTypes(1)}});
  ExpectError(Options(full.path()), "the same items with the same options");
  ExportFixture older(DataLines{{Change("a", "1", "")}}, "INCREMENTAL_EXPORT");
  older.SetTimes("2024-11-19T00:00:00Z", "2024-11-20T12:00:00Z");
  older.Write(DataLines{{Change("a", "1", "")}});
  ExpectError(Options(older.path()), "apply incremental exports in their order");
  EXPECT_EQ(Cells(), cells);
}

TEST_F(ChangesTest, AFullExportDoesNotFollowChanges) {
  const ExportFixture full(DataLines{{ItemLine(R"("PK":{"S":"a"},"SK":{"S":"k"},"n":{"N":"1"})")}});
  Import(Options(full.path()));
  const ExportFixture changes(DataLines{{Change("a", "1732100000000123", "")}},
                              "INCREMENTAL_EXPORT");
  Import(Options(changes.path()));
  ExpectError(Options(full.path()), "would bring back deleted items");
  EXPECT_TRUE(Cells().empty());
}

TEST_F(ChangesTest, FollowTheFullExportInTime) {
  ImportFull();  // the state of 2024-11-20T00:00:00
  ExportFixture changes(DataLines{{Change("a", "1", "")}}, "INCREMENTAL_EXPORT");
  changes.SetTimes("2024-11-19T00:00:00Z", "2024-11-20T00:00:00Z");
  changes.Write(DataLines{{Change("a", "1", "")}});
  ExpectError(Options(changes.path()), "but the table has all changes until 2024-11-20");
  EXPECT_EQ(Cells().size(), 3u);
  changes.SetTimes("2024-11-20T06:00:00Z", "2024-11-20T12:00:00Z");
  changes.Write(DataLines{{Change("a", "1", "")}});
  const DynamoDbImportReport report = Import(Options(changes.path()));
  EXPECT_EQ(LastNote(report), "gap-before-export");
  EXPECT_EQ(Cells().size(), 1u);
}

TEST_F(ChangesTest, TheNewestOfOneRowWins) {
  ImportFull();
  const auto image = [](const std::string& n) {
    return R"("PK":{"S":"a"},"SK":{"S":"k"},"n":{"N":")" + n + R"("})";
  };
  const ExportFixture tied(DataLines{{Change("a", "5000", image("1"))}, {Change("a", "5000", "")}},
                           "INCREMENTAL_EXPORT");
  ExpectError(Options(tied.path()), "data/part0.json.gz:1 and data/part1.json.gz:1");
  EXPECT_EQ(Cells().size(), 3u);
  const ExportFixture changes(
      DataLines{{Change("b", "3000", ""), Change("a", "3000", ""), Change("a", "5000", image("5"))},
                {Change("a", "4000", image("4"))}},
      "INCREMENTAL_EXPORT");
  const DynamoDbImportReport report = Import(Options(changes.path()));
  EXPECT_EQ(Cells(), std::vector<std::string>{"a#k a:n=5@5000"});
  ASSERT_EQ(LastNote(report), "repeated-key");
  EXPECT_EQ(report.notes.back().count, 2u);
}

TEST_F(ChangesTest, HaveTheOptionsOfTheFullImport) {
  ImportFull();
  const ExportFixture changes(DataLines{{Change("a", "1", "")}}, "INCREMENTAL_EXPORT");
  for (int option = 0; option < 8; ++option) {
    DynamoDbImportOptions options = Options(changes.path());
    if (option == 0) options.has_ordered_keys = true;
    if (option == 1) options.delimiter = "/";
    if (option == 2) options.has_sets_as_json = true;
    if (option == 3) options.has_maps_as_columns = true;
    if (option == 4) options.counters = {"n"};
    if (option == 5) options.ttl_attribute = "n";
    if (option == 6) options.timestamp = Timestamp::FromMillis(1);
    if (option == 7) options.timestamp_attribute = "n";
    ExpectError(options, option >= 6 ? "have the write times" : "of the full import of table t");
  }
  DynamoDbImportOptions options = Options(changes.path());
  options.delimiter = "#";
  EXPECT_EQ(Import(options).items_written, 1u);
}

TEST_F(ChangesTest, NeedTheTableAndItsKeys) {
  ExportFixture changes(DataLines{{Change("a", "1", "")}}, "INCREMENTAL_EXPORT");
  ExpectError(Options(changes.path()), "import the full export first, with the same --table");
  ImportFull();
  DynamoDbImportOptions options = Options(changes.path());
  options.sort_key = "";
  ExpectError(options, "consists of other attributes: PK, SK");
  for (const std::string& line :
       {ItemLine(R"("PK":{"S":"a"},"SK":{"S":"k"})"),
        std::string(R"({"Metadata":{"WriteTimestampMicros":1},"Keys":{"PK":{"S":"a"}}})"),
        Change("a", "1", R"("PK":{"S":"other"},"SK":{"S":"k"})")}) {
    const ExportFixture wrong(DataLines{{line}}, "INCREMENTAL_EXPORT");
    ExpectError(Options(wrong.path()), "1 of 1 items are bad");
  }
  EXPECT_EQ(Cells().size(), 3u);
}

TEST_F(ImportTest, StateOfAnotherImportIsRefused) {
  ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}});
  DynamoDbImportOptions options = Options(fixture.path());
  options.state_path = fixture.directory().Write("state", "{}");
  ExpectError(options, "is not the state of an import");
  fixture.directory().Write(
      "state", R"({"what":"state of stele import dynamodb, 2","job":"other","run":"r","start":1,)"
               R"("files":[]})");
  ExpectError(options, "is the state of another import, other");
  EXPECT_EQ(TableCount(), 0u);
}

}  // namespace
}  // namespace stele::internal::lab
