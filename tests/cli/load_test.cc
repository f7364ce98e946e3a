// Tests stele load: output, exit statuses, flags, and kills.
#ifdef STELE_HAS_LAB
#include <filesystem>

#include "cli/command_fixture.h"

namespace stele {
namespace {

constexpr char kLoadedDesign[] =
    "stele: design/1\n"
    "inputs: {in: {format: csv}}\n"
    "tables:\n"
    "  t:\n"
    "    families: {f: {}}\n"
    "    key: \"{k}\"\n"
    "    rows: [{input: in, cells: {\"f:v\": \"{v}\"}}]\n";

class LoadCommandTest : public CommandTest {
 protected:
  std::vector<std::string> Words(std::string_view csv, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"load", WriteFile("d.yaml", kLoadedDesign), "--input",
                                      "in=" + WriteFile("in", csv), "--time=5000"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(LoadCommandTest, LoadsRecords) {
  EXPECT_EQ(Output(Words("k,v\na,1\n")), "t: 1 records, 1 rows, 1 cells, 0 bad, 0 duplicates\n");
  EXPECT_NE(Output({"read", "t"}).find("f:v"), std::string::npos);
  EXPECT_EQ(Output(Words("k,v\na,1\n", {"--format", "json"})),
            "{\"load\":1,\"tables\":{\"t\":{\"records\":1,\"rows\":1,\"cells\":1,\"bad\":0,"
            "\"duplicates\":0,\"unfilled_cells\":[]}}}\n");
}

TEST_F(LoadCommandTest, AFieldThatNoRecordHasIsReported) {
  EXPECT_EQ(Output(Words("k,z\na,1\n")),
            "t: 1 records, 0 rows, 0 cells, 0 bad, 0 duplicates\n"
            "t: no record fills the cell f:v = {v}\n"
            "t: the header of the input \"in\" has no field \"v\"; it has k, z\n");
}

TEST_F(LoadCommandTest, ARefusedLoadPrintsItsCountsAsJson) {
  const CommandResult result = Run(Words("k,v\na,1\na,2\n", {"--format", "json"}));
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_EQ(result.out,
            "{\"load\":1,\"tables\":{\"t\":{\"records\":2,\"rows\":1,\"cells\":1,\"bad\":0,"
            "\"duplicates\":1,\"unfilled_cells\":[]}}}\n");
  EXPECT_NE(result.err.find("1 duplicate; --allow-duplicates"), std::string::npos) << result.err;
  EXPECT_EQ(Run(Words("k,v\na,1\na,2\n")).out, "");
  EXPECT_NE(Run({"ls"}).exit_status, 0) << "the database exists";
}

TEST_F(LoadCommandTest, BadRecordsCreateNothing) {
  const CommandResult result = Run(Words("k,v\n,1\n"));
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.err.find("in:2: key: field \"k\": absent"), std::string::npos) << result.err;
  EXPECT_NE(Run({"ls"}).exit_status, 0) << "the database exists";
  const CommandResult some =
      Run(Words("k,v\n,1\na,2\n", {"--skip-bad", "all", "--bad-file", Path("bad")}));
  EXPECT_EQ(some.exit_status, 3) << some.err;
  EXPECT_NE(some.out.find("1 record was left out"), std::string::npos) << some.out;
}

TEST_F(LoadCommandTest, AMisspeltFieldIsReportedWithTheFieldThatIsMeant) {
  const std::vector<std::pair<std::string, std::string>> inputs = {
      {"csv", "user,v\nann,1\n"}, {"jsonl", "{\"user\":\"ann\",\"v\":\"1\"}\n"}};
  for (const auto& [format, text] : inputs) {
    const std::string file = WriteFile("users." + format, text);
    const std::string design =
        WriteFile(format + ".yaml",
                  "stele: design/1\n"
                  "inputs: {in: {file: users." +
                      format +
                      "}}\n"
                      "tables:\n"
                      "  t:\n"
                      "    families: {f: {}}\n"
                      "    key: \"{usr}\"\n"
                      "    rows: [{input: in, cells: {\"f:v\": \"{v}\"}}]\n");
    const std::string error = "key: field \"usr\": absent; did you mean \"user\"?";
    ExpectError({"load", design}, 1, error);
    ExpectError({"lint", "--design", design}, 1, error);
  }
  // The column is there, and the field is empty.
  ExpectError(Words("k,ka\n,1\n"), 1, "field \"k\": absent; {field|or:TEXT} gives a text then");
}

TEST_F(LoadCommandTest, NoInputIsReplaced) {
  const std::string csv = "k,v\na,1\n";
  const std::vector<std::string> words = Words(csv);
  for (const std::string file : {"in", "d.yaml"}) {
    const std::string path = Path(file);
    ExpectError(Words(csv, {"--skip-bad", "all", "--bad-file", path}), 1, "would be replaced");
    ExpectError(Words(csv, {"-o", path}), 1, "would be replaced");
    EXPECT_EQ(std::filesystem::file_size(path),
              file == "in" ? csv.size() : std::string_view(kLoadedDesign).size());
  }
  ExpectError({"design", "show", words[1], "-o", words[1]}, 1, "would be replaced");
  ExpectError(Words(csv, {"--skip-bad=all", "--bad-file", Path("x"), "-o", Path("x")}), 2,
              "is the file of two outputs");
  const std::string current = database() + "/CURRENT";
  ExpectError(Words(csv, {"--skip-bad=all", "--bad-file", current}), 1, "choose a place elsewhere");
  ExpectError(Words(csv, {"-o", current}), 1, "choose a place elsewhere");
  EXPECT_FALSE(std::filesystem::exists(database()));
}

// Two inputs, so that the load can be stopped between them.
class KilledLoadTest : public CommandTest {
 protected:
  std::vector<std::string> Words(const std::string& location) const {
    std::string rows = "k,v\n";
    for (int i = 0; i < 700; ++i) rows += std::to_string(1000 + i) + ",first\n";
    WriteFile("a.csv", rows);
    WriteFile("b.csv", "k,v\n2000,second\n");
    const std::string design = WriteFile("two.yaml",
                                         "stele: design/1\n"
                                         "inputs: {a: {file: a.csv}, b: {file: b.csv}}\n"
                                         "tables:\n"
                                         "  t:\n"
                                         "    families: {f: {}}\n"
                                         "    key: \"{k}\"\n"
                                         "    rows:\n"
                                         "      - {input: a, cells: {\"f:v\": \"{v}\"}}\n"
                                         "      - {input: b, cells: {\"f:v\": \"{v}\"}}\n");
    return {"--db", location, "load", design, "--time", "5000"};
  }
  void KillAtOpen(int count, const std::vector<std::string>& words) const {
    const auto load = StartAndStopAtOpen(".csv", count, words);
    ASSERT_TRUE(load->AwaitStop());
    load->Kill();
  }
};

TEST_F(KilledLoadTest, WroteNothingBeforeTheEndOfTheCheck) {
  KillAtOpen(2, Words(database()));
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(KilledLoadTest, IsCompletedByASecondLoad) {
  const std::vector<std::string> words = Words(database());
  KillAtOpen(4, words);
  EXPECT_EQ(Output({"count", "t"}), "500\n") << "the first batch of the second pass";
  EXPECT_EQ(RunPlain(words).out, "t: 701 records, 701 rows, 701 cells, 0 bad, 0 duplicates\n");
  const std::string rows = Output({"export", "t"});
  EXPECT_EQ(RunPlain(Words(Path("other"))).exit_status, 0);
  EXPECT_EQ(RunPlain({"--db", Path("other"), "export", "t"}).out, rows);
}

TEST_F(LoadCommandTest, ReadShowsTheFieldsOfKeys) {
  const std::string design = WriteFile("typed.yaml",
                                       "stele: design/1\n"
                                       "inputs: {in: {file: in.csv}}\n"
                                       "tables:\n"
                                       "  typed:\n"
                                       "    families: {f: {}}\n"
                                       "    row_key_schema:\n"
                                       "      fields:\n"
                                       "        - {name: id, type: string, from: \"{k}\"}\n"
                                       "        - {name: n, type: int64, from: \"{n}\"}\n"
                                       "    rows: [{input: in, cells: {\"f:v\": \"{v}\"}}]\n");
  WriteFile("in.csv", "k,n,v\na,5,x\n");
  Output({"load", design, "--time", "5000"});
  EXPECT_NE(Output({"read", "typed", "--decode-keys"}).find("\na\\x00\\x01\\x85\n  id=a n=5\n"),
            std::string::npos);
  EXPECT_NE(Output({"lookup", "typed", "a\\x00\\x01\\x85", "--decode-keys", "--format=jsonl"})
                .find("\"fields\":{\"id\":\"a\",\"n\":5}"),
            std::string::npos);
  Output({"set", "typed", "z", "f:v=1"});
  EXPECT_NE(Output({"read", "typed", "--decode-keys", "prefix=z"}).find("\nz\n  not a key of the"),
            std::string::npos);
  Output({"createtable", "plain", "families=f"});
  ExpectError({"read", "plain", "--decode-keys"}, 1, "the table has no row key schema");
}

TEST_F(LoadCommandTest, RejectsWrongCommandLines) {
  const std::vector<std::vector<std::string>> kWrong = {
      {"--input", "in"}, {"--input", "in=x"}, {"--limit", "0"},
      {"--time", "-1"},  {"--skip-bad", "1"}, {"--bad-file", "x"},
      {"--check=yes"},   {"--unknown"},       {"--format", "table"}};
  for (const auto& more : kWrong) ExpectError(Words("k,v\n", more), 2, "");
  ExpectError({"load"}, 2, "usage: stele load");
}

}  // namespace
}  // namespace stele
#endif
