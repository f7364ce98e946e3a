// Tests stele import dynamodb and export dynamodb: flags, exit statuses, reports, and interrupted
// imports.
#ifdef STELE_HAS_LAB
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/command_fixture.h"
#include "nlohmann/json.hpp"
#include "stele/stele.h"
#include "unit/lab/export_fixture.h"

namespace stele {
namespace {

using internal::lab::DataLines;
using internal::lab::ExportFixture;
using internal::lab::ItemOfAllTypes;

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

class ImportDynamoDbTest : public CommandTest {
 protected:
  static std::vector<std::string> Words(const std::string& path,
                                        const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"import",          "dynamodb", path,         "--table", "t",
                                      "--partition-key", "PK",       "--sort-key", "SK"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // Every file next to the database.
  std::vector<std::string> Neighbours() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Path("")))
      if (entry.path().filename().string().starts_with("db."))
        names.push_back(entry.path().filename());
    return names;
  }
};

TEST_F(ImportDynamoDbTest, ImportsAnExport) {
  const ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}, {ItemOfAllTypes(2)}});
  EXPECT_EQ(Output(Words(fixture.path())),
            "export      0173-abc: full, DYNAMODB_JSON, table game, 2024-11-20T00:00:00.000000Z\n"
            "items       2 read, 2 written, 0 bad, 0 expired\n"
            "table       t: 2 rows, 28 cells (a 14, s 14)\n"
            "row key     PK (S) \"#\" SK (S)\n"
            "attributes  10 non-key attributes, each of one type\n"
            "notes       0\n");
  EXPECT_NE(Output({"lookup", "t", "user1#a#b", "columns=a:number"}).find("-1.50E+3"),
            std::string::npos);
  EXPECT_TRUE(Neighbours().empty());
}

TEST_F(ImportDynamoDbTest, TheNumberOfWritingThreadsChangesNothing) {
  std::vector<std::string> lines;
  for (int i = 0; i < 2000; ++i) lines.push_back(ItemOfAllTypes(i));
  const ExportFixture fixture(DataLines{lines});
  Output(Words(fixture.path(), {"--workers", "1"}));
  const std::string rows = Output({"export", "t"});
  for (const std::string count : {"4", "64"}) {
    Output({"deletetable", "t"});
    Output(Words(fixture.path(), {"--workers", count}));
    EXPECT_EQ(Output({"export", "t"}), rows) << count;
  }
}

TEST_F(ImportDynamoDbTest, CheckCreatesNothing) {
  const ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}});
  const std::string text = Output(Words(fixture.path(), {"--check"}));
  EXPECT_NE(text.find("1 to write"), std::string::npos);
  EXPECT_NE(text.find("nothing was written (--check)"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(ImportDynamoDbTest, BadInputCreatesNothing) {
  const ExportFixture fixture(DataLines{{ItemOfAllTypes(1), "{\"Item\":{}}"}});
  ExpectError(Words(fixture.path()), 1, "1 of 2 items are bad");
  EXPECT_FALSE(std::filesystem::exists(database()));
  const std::string bad_path = Path("bad");
  const CommandResult result =
      Run(Words(fixture.path(), {"--skip-bad", "all", "--bad-file", bad_path}));
  EXPECT_EQ(result.exit_status, 3) << result.err;
  EXPECT_NE(result.out.find("1 written, 1 bad"), std::string::npos);
  EXPECT_NE(TextOf(bad_path).find("\"line\":2"), std::string::npos);
}

TEST_F(ImportDynamoDbTest, StandardInputIsReadOnce) {
  // The standard input of these tests is empty. The page journeys/dynamodb-rows.md uses a pipe.
  EXPECT_NE(Output(Words("-", {"--check"})).find("items       0 read"), std::string::npos);
  ExpectError(Words("-", {"-"}), 1, "- is given twice");
}

TEST_F(ImportDynamoDbTest, NeverReplacesItsInput) {
  const std::string text = ItemOfAllTypes(1) + "\n{}\n";
  const std::string path = WriteFile("items", text);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--skip-bad", "all", "--bad-file", path},
        std::vector<std::string>{"--skip-bad", "all", "--bad-file", path, "--check"},
        std::vector<std::string>{"--report", path}, std::vector<std::string>{"-o", path}}) {
    ExpectError(Words(path, more), 1, "is read by this command");
    EXPECT_EQ(TextOf(path), text);
  }
  ExpectError(Words(path, {"--skip-bad=all", "--bad-file", Path("x"), "--report", Path("x")}), 2,
              "is the file of two outputs");
}

// The manifests of an export are read, as are its data files. A load and a query read them too.
TEST_F(ImportDynamoDbTest, NoFileOfAnExportIsReplaced) {
  const ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}});
  const std::string manifest = fixture.path() + "/manifest-summary.json";
  const std::string text = TextOf(manifest);
  ASSERT_FALSE(text.empty());
  const std::string design = WriteFile(
      "d.yaml",
      "stele: design/1\ninputs: {i: {}}\ntables:\n  t:\n    families: {f: {}}\n    key: \"{PK}\"\n"
      "    rows: [{input: i, cells: {\"f:k\": \"{PK}\"}}]\n"
      "    queries: {q: {read: {row: \"{PK}\"}}}\n");
  const std::string input = "i=" + fixture.path();
  for (const std::string& output : {manifest, fixture.path() + "/new"}) {
    for (const std::vector<std::string>& words :
         {Words(fixture.path(), {"--report", output}),
          {"load", design, "--input", input, "-o", output},
          {"bench", "--design", design, "--query", "q", "--input", input, "--hlog", output}})
      ExpectError(words, 1,
                  output == manifest ? "manifest-summary.json" : "choose a place elsewhere");
  }
  EXPECT_EQ(TextOf(manifest), text);
}

TEST_F(ImportDynamoDbTest, ReportIsJson) {
  const ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}});
  const std::string report_path = Path("report");
  const std::string out = Output(Words(fixture.path(), {"--format=json", "--report", report_path}));
  const auto report = nlohmann::json::parse(out, nullptr, false);
  ASSERT_TRUE(report.is_object()) << out;
  EXPECT_EQ(report["import"], 1);
  EXPECT_EQ(report["mode"], "native");
  EXPECT_EQ(report["tables"]["t"]["cells"]["s"], 7);
  EXPECT_EQ(report["key"]["sort"]["name"], "SK");
  EXPECT_EQ(report["attributes"]["ns"]["types"]["NS"], 1);
  EXPECT_EQ(TextOf(report_path), out);
}

TEST_F(ImportDynamoDbTest, GoogleModeMergesItems) {
  const ExportFixture fixture(
      DataLines{{R"({"Item":{"PK":{"S":"a"},"SK":{"S":"1"}}})",
                 R"({"Item":{"PK":{"S":"a"},"SK":{"S":"2"},"n":{"N":"1E3"}}})"}});
  const CommandResult result = Run({"import", "dynamodb", fixture.path(), "--mode=google",
                                    "--table=t", "--partition-key=PK", "--family", "f"});
  EXPECT_EQ(result.exit_status, 3) << result.err;
  EXPECT_NE(result.out.find("google-job-fails"), std::string::npos) << result.out;
  EXPECT_NE(Output({"read", "t"}).find("f:SK"), std::string::npos);
}

TEST_F(ImportDynamoDbTest, GoogleModeRejectsAnotherTable) {
  const ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}});
  Output(Words(fixture.path()));
  const std::string rows = Output({"export", "t"});
  ExpectError(Words(fixture.path(), {"--mode", "google"}), 1,
              "the table t exists and was not made by an import of the same items");
  EXPECT_EQ(Output({"export", "t"}), rows);
  Output({"createtable", "u", "families=cf1"});
  ExpectError(
      {"import", "dynamodb", fixture.path(), "--mode=google", "--table=u", "--partition-key=PK"}, 1,
      "the table u exists");
  EXPECT_EQ(Output({"count", "u"}), "0\n");
}

TEST_F(ImportDynamoDbTest, RejectsWrongCommandLines) {
  const std::vector<std::vector<std::string>> kWrong = {
      {"--check=yes"},     {"--unknown"},
      {"--table", "u"},    {"--key", "x"},
      {"--skip-bad", "1"}, {"--bad-file", "x"},
      {"--keep-expired"},  {"--timestamp", "a", "--timestamp-micros", "1"},
      {"--gsi", "x"},      {"--gsi", "x=a,b,c"},
      {"--mode", "other"}, {"--mode", "google", "--ttl", "x"},
      {"--family", "f"},   {"--key", "ordered", "--delimiter", "#"},
      {"--format", "csv"}, {"--timestamp-micros", "-1"},
      {"--delimiter", ""}, {"--counters", "a,,b"},
      {"--workers", "0"},  {"--workers", "65"}};
  for (const auto& more : kWrong) ExpectError(Words("export", more), 2, "");
  ExpectError(Words("export", {"--gsi", "a/b=PK"}), 2, "t.a/b");
  ExpectError({"import", "dynamodb", "x", "--table", "a b", "--partition-key", "P"}, 2, "a b");
  ExpectError({"import", "dynamodb", "x", "--table", "t", "--partition-key", "P", "--mode",
               "google", "--family", "a:b"},
              2, "a:b");
  // A message does not change the terminal.
  ExpectError(Words(Path("\x1b[31m\xe2\x80\xae")), 1, "\\x1b[31m\\xe2\\x80\\xae");
  ExpectError({"import", "dynamodb"}, 2, "usage: stele import dynamodb");
  ExpectError({"import", "dynamodb", "x", "--table", "t"}, 2, "--partition-key is missing");
  ExpectError({"import", "dynamodb", "x", "--partition-key", "P"}, 2, "--table is missing");
  ExpectError(Words("export", {"--gsi", "g=SK,PK:foo"}), 2, "\":foo\" is neither :keys nor :all");
}

TEST_F(ImportDynamoDbTest, ATableMayBeNamedDynamodb) {
  Output({"createtable", "dynamodb", "families=f"});
  const std::string path = WriteFile("rows.csv", ",f\n,q\nrow,value\n");
  EXPECT_EQ(Run({"import", "table=dynamodb", path}).exit_status, 0);
  EXPECT_NE(Output({"read", "dynamodb"}).find("value"), std::string::npos);
}

TEST_F(ImportDynamoDbTest, AnExportReturnsTheItems) {
  const ExportFixture fixture(DataLines{{ItemOfAllTypes(1), ItemOfAllTypes(2)}});
  Output(Words(fixture.path()));
  const std::string items = Output({"export", "dynamodb", "t"});
  EXPECT_EQ(std::count(items.begin(), items.end(), '\n'), 2);
  // A file, a directory in the layout of an export to S3, and both read back.
  EXPECT_EQ(Output({"export", "dynamodb", "t", "-o", Path("items")}), "");
  EXPECT_EQ(TextOf(Path("items")), items);
  Output({"export", "dynamodb", "t", "-o", Path("made/")});
  for (const std::string& source : {Path("items"), Path("made")}) {
    const std::string copy = Path("copy");
    std::filesystem::remove_all(copy);
    std::vector<std::string> words = {"--db", copy};
    for (const std::string& word : Words(source)) words.push_back(word);
    EXPECT_EQ(RunPlain(words).exit_status, 0);
    EXPECT_EQ(RunPlain({"--db", copy, "export", "dynamodb", "t"}).out, items);
  }
  EXPECT_EQ(Output({"export", "dynamodb", "t", "prefix=user2"}),
            items.substr(items.find('\n') + 1));
  Output({"set", "t", "other", "a:text=x"});
  const CommandResult result = Run({"export", "dynamodb", "t"});
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.out, items);
  EXPECT_NE(result.err.find("1 rows are no items"), std::string::npos) << result.err;
  ExpectError({"export", "dynamodb"}, 2, "usage: stele export dynamodb");
  ExpectError({"export", "dynamodb", "t", "--format", "json"}, 2, "has no --format");
  ExpectError({"export", "dynamodb", "absent"}, 1,
              "no table absent: import the items with stele import dynamodb first");
}

// Regression: the directory that held the name of the export's root was not synced.
TEST_F(ImportDynamoDbTest, EveryDirectoryThatAnExportMakesIsDurable) {
  const ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}});
  Output(Words(fixture.path()));
  const std::string root = std::filesystem::canonical(Path(".")).string();
  for (const bool is_new : {true, false}) {
    const std::vector<std::string> synced =
        PathsSynced({"--db", database(), "export", "dynamodb", "t", "-o", Path("outer/made/")});
    const auto is_synced = [&](const std::string& path) {
      return std::find(synced.begin(), synced.end(), path) != synced.end();
    };
    EXPECT_EQ(is_synced(root), is_new);
    EXPECT_EQ(is_synced(root + "/outer"), is_new);
    EXPECT_TRUE(is_synced(root + "/outer/made"));
    EXPECT_TRUE(is_synced(root + "/outer/made/AWSDynamoDB"));
    std::filesystem::remove(Path("sync-trace"));
  }
}

TEST_F(ImportDynamoDbTest, AnIndexTableIsExportedOnRequest) {
  const std::string path = WriteFile(
      "items", R"({"Item":{"PK":{"S":"a#"},"SK":{"S":"b"},"g":{"N":"7"},"n":{"S":"x"}}})");
  const std::string report = Output(Words(path, {"--gsi", "k=g", "--gsi", "all=g,PK:all"}));
  EXPECT_NE(report.find("index key   t.k: g (N, 10 digits) \"|\" PK (S) \"|\" SK (S)\n"),
            std::string::npos)
      << report;
  const std::string item =
      R"({"Item":{"PK":{"S":"a#"},"SK":{"S":"b"},"g":{"N":"7"},"n":{"S":"x"}}})"
      "\n";
  const std::string keys = R"({"Item":{"PK":{"S":"a#"},"SK":{"S":"b"},"g":{"N":"7"}}})"
                           "\n";
  EXPECT_EQ(Output({"export", "dynamodb", "t"}), item);
  EXPECT_EQ(Output({"export", "dynamodb", "t", "--keep-index"}), item + item + keys);
  EXPECT_EQ(Output({"export", "dynamodb", "t.k", "--keep-index"}), keys);
  ExpectError({"export", "dynamodb", "t.k"}, 1, "t.k is an index table of t: export t");
}

constexpr std::string_view kModel =
    R"({"ModelName":"m","DataModel":[
{"TableName":"users","KeyAttributes":{"PartitionKey":{"AttributeName":"PK","AttributeType":"S"},
  "SortKey":{"AttributeName":"SK","AttributeType":"N"}},
 "GlobalSecondaryIndexes":[{"IndexName":"g","KeyAttributes":{"PartitionKey":
   {"AttributeName":"g","AttributeType":"S"}},"Projection":{"ProjectionType":"ALL"}}],
 "TableData":[{"PK":{"S":"a"},"SK":{"N":"1"},"g":{"S":"x"}},{"PK":{"S":"b"},"SK":{"N":"2"}}]},
{"TableName":"orders","KeyAttributes":{"PartitionKey":{"AttributeName":"id","AttributeType":"S"}},
 "TableData":[{"id":{"S":"o"},"n":{"N":"1"}}]}]})";

TEST_F(ImportDynamoDbTest, AModelHasTablesKeysAndIndexes) {
  const std::string path = WriteFile("model.json", kModel);
  Output({"import", "dynamodb", path, "--check"});
  EXPECT_FALSE(std::filesystem::exists(database()));
  const std::string report = Output({"import", "dynamodb", path});
  EXPECT_NE(report.find("model.json#users"), std::string::npos) << report;
  EXPECT_NE(report.find("table       orders: 1 rows"), std::string::npos) << report;
  EXPECT_EQ(Output({"count", "users"}), "2\n");
  EXPECT_EQ(Output({"count", "users.g"}), "1\n");
  EXPECT_EQ(Output({"export", "dynamodb", "orders"}),
            "{\"Item\":{\"id\":{\"S\":\"o\"},\"n\":{\"N\":\"1\"}}}\n");
  EXPECT_NE(Output({"import", "dynamodb", path, "--table", "orders"}).find("already-imported"),
            std::string::npos);
  ExpectError({"import", "dynamodb", path, "--table", "absent"}, 1, "it has: users, orders");
  ExpectError({"import", "dynamodb", path, "--partition-key", "PK"}, 2, "the model has the keys");
  ExpectError({"import", "dynamodb", path, "--resume", Path("r")}, 2, "is for one table");
  ExpectError({"import", "dynamodb", path, "--report", path}, 1, "is read by this command");
}

TEST_F(ImportDynamoDbTest, TheReportsOfAModelAreOneDocument) {
  const std::string path = WriteFile("model.json", kModel);
  const std::string report_path = Path("report.json");
  const std::string text =
      Output({"import", "dynamodb", path, "--check", "--format", "json", "--report", report_path});
  EXPECT_EQ(TextOf(report_path), text);
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(json.is_object()) << text;
  EXPECT_EQ(json["imports"].size(), 2u);
  EXPECT_TRUE(json["imports"][1]["tables"].contains("orders")) << text;
}

TEST_F(ImportDynamoDbTest, AModelHasTheKeysOfOtherItems) {
  const std::string path = WriteFile("model.json", kModel);
  const std::string items = WriteFile("items", R"({"Item":{"id":{"S":"z"}}})");
  Output({"import", "dynamodb", items, "--table", "orders", "--model", path});
  EXPECT_NE(Output({"read", "orders"}).find("z"), std::string::npos);
  ExpectError({"import", "dynamodb", items, "--model", path}, 2, "has 2 tables: --table names");
  ExpectError({"import", "dynamodb", items, "--table", "orders", "--model", path, "--report", path},
              1, "is read by this command");
}

// If one table is wrong, nothing is written.
TEST_F(ImportDynamoDbTest, AWrongModelCreatesNothing) {
  struct Wrong {
    std::string_view part;
    std::string_view by;
    std::string_view error;
  };
  const Wrong kWrong[] = {
      {R"("n":{"N":"1"})", R"("n":{"N":"x"})", "model.json#orders:1: Item: attribute \"n\""},
      {R"("SK":{"N":"2"})", R"("SK":{"S":"2"})", "item 2 of TableData: the key attribute \"SK\""},
      {R"("AttributeType":"N")", R"("AttributeType":"BOOL")", "\"SortKey\" is missing or not"},
      {R"("TableName":"orders")", R"("Name":"orders")", "\"TableName\" is missing or not a name"},
      {R"("TableName":"orders")", R"("TableName":"users")", "the table users occurs twice"},
      {R"("TableName":"orders")", R"("TableName":"a b")", "a b"},
      {R"("DataModel")", R"("Data")", "no array \"DataModel\""},
      {R"([{"id")", R"({"id")", "not one JSON document"}};
  for (const Wrong& wrong : kWrong) {
    std::string text(kModel);
    text.replace(text.find(wrong.part), wrong.part.size(), wrong.by);
    const CommandResult result = Run({"import", "dynamodb", WriteFile("model.json", text)});
    EXPECT_TRUE(result.exit_status == 1 || wrong.by.ends_with("\"a b\"")) << result.err;
    EXPECT_NE(result.err.find(wrong.error), std::string::npos) << wrong.by << result.err;
    EXPECT_FALSE(std::filesystem::exists(database())) << wrong.by;
  }
}

// An export is applied to a table only if it is of the same table of DynamoDB.
TEST_F(ImportDynamoDbTest, AnIncrementalExportNeedsItsTable) {
  const ExportFixture changes(
      DataLines{{R"({"Metadata":{"WriteTimestampMicros":1},"Keys":{"PK":{"S":"a"},)"
                 R"("SK":{"S":"b"}}})"}},
      "INCREMENTAL_EXPORT");
  ExpectError(Words(changes.path()), 1, "import the full export first, with the same --table");
  ExpectError(Words(changes.path(), {"--check"}), 1, "import the full export first");
  Output({"createtable", "other", "families=f"});
  ExpectError(Words(changes.path()), 1, "import the full export first, with the same --table");
}

TEST_F(ImportDynamoDbTest, AKilledImportContinues) {
  DataLines files;
  for (int file = 0; file < 4; ++file) {
    files.emplace_back();
    for (int i = 0; i < 50; ++i) files.back().push_back(ItemOfAllTypes(file * 50 + i));
  }
  ExportFixture fixture(files);
  std::vector<std::string> words = {"--db", database()};
  for (const std::string& word : Words(fixture.path())) words.push_back(word);
  {
    // The state was written at the start and after two files.
    const auto import = StartAndStop(3, words);
    ASSERT_TRUE(import->AwaitStop());
    import->Kill();
  }
  const std::vector<std::string> neighbours = Neighbours();
  ASSERT_EQ(neighbours.size(), 1u);
  EXPECT_EQ(neighbours[0].find("db.import-"), 0u);
  EXPECT_EQ(neighbours[0].size(), std::string("db.import-").size() + 16);
  const std::string partial = Output({"count", "t"});
  EXPECT_EQ(partial, "100\n");
  ExpectError({"export", "dynamodb", "t"}, 1, "is not complete: repeat it first");
  // Another import must not take over the state.
  ExpectError(Words(fixture.path(), {"--sets", "json"}), 1, "is the state of another import");
  const std::string report = Output(Words(fixture.path()));
  EXPECT_NE(report.find("t: 200 rows, 2,800 cells (a 1,400, s 1,400)"), std::string::npos)
      << report;
  EXPECT_EQ(report.find("began-again"), std::string::npos) << report;
  EXPECT_TRUE(Neighbours().empty());
  const std::string resumed = Output({"export", "t"});
  // The same import without an interruption.
  words[1] = Path("other");
  EXPECT_EQ(RunPlain(words).exit_status, 0);
  EXPECT_EQ(RunPlain({"--db", Path("other"), "export", "t"}).out, resumed);
}

}  // namespace
}  // namespace stele
#endif
