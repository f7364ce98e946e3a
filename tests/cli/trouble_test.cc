// Tests what users of other stores stumbled over: hostile names on a terminal, spreadsheets' CSV,
// output files of failed commands, and a lock that is held for a moment.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/strings/escaping.h"
#include "cli/command_fixture.h"
#include "stele/stele.h"

namespace stele {
namespace {

class TroubleTest : public CommandTest {
 protected:
  static std::string Bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  CommandResult Import(std::string_view csv) const {
    return Run({"import", "t", WriteFile("data.csv", csv)});
  }
};

TEST_F(TroubleTest, HelpCanBeAskedAfterAVerb) {
  EXPECT_EQ(Output({"ls", "--help"}), Output({"help", "ls"}));
  EXPECT_EQ(Output({"read", "t", "--help"}), Output({"help", "read"}));
  EXPECT_EQ(Output({"import", "dynamodb", "--help"}), Output({"help", "import", "dynamodb"}));
  EXPECT_EQ(Output({"bench", "--help"}), Output({"help", "bench"}));
  Output({"createtable", "t", "families=f"});
  ExpectError({"read", "t", "--", "--help"}, 2, "--help");
}

TEST_F(TroubleTest, AMistypedServerIsNoDirectory) {
  for (const char* const location : {"bigtable:x", "bigtable:/p/i", "http://localhost:8086"}) {
    const CommandResult result = RunPlain({"--db", location, "createtable", "t"});
    EXPECT_EQ(result.exit_status, 1);
    EXPECT_NE(result.err.find("a server is bigtable://PROJECT/INSTANCE"), std::string::npos)
        << result.err;
    EXPECT_FALSE(std::filesystem::exists(location));
    ExpectError({"copy", database(), location}, 1, "a server is bigtable://PROJECT/INSTANCE");
    EXPECT_FALSE(std::filesystem::exists(location));
  }
}

TEST_F(TroubleTest, ADatabaseInMemoryWarnsThatNothingIsKept) {
  const CommandResult result = RunPlain({"--db", "mem:", "createtable", "t"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_NE(result.err.find("mem: keeps nothing after this command"), std::string::npos);
  EXPECT_EQ(RunPlain({"--db", "mem:", "ls"}).err,
            "stele: mem: has no table at the start of a command; --db DIRECTORY keeps tables\n");
}

TEST_F(TroubleTest, AnOrdinaryCsvFileIsImported) {
  Output({"createtable", "t", "families=info"});
  ExpectError({"import", "t", WriteFile("users.csv", "id,name,city\n7,Ann,\n")}, 1,
              "if the first line names all fields, add --header --key 'id'");
  EXPECT_EQ(Run({"import", "t", Path("users.csv"), "--header"}).err, "Done importing 1 rows.\n");
  EXPECT_EQ(Output({"export", "t", "format=csv"}).substr(0, 18), ",info\n,name\n7,Ann@");
}

TEST_F(TroubleTest, TheKeyOfAnOrdinaryCsvFileCanHaveSeveralFields) {
  Output({"createtable", "t", "families=a,b"});
  const std::string path = WriteFile("in.tsv", "name\tid\tcountry\r\n\"A\tn\"\t7\tDE\r\n");
  ExpectError({"import", "t", path, "--key=country,id", "--separator=tab"}, 2,
              "the table has the column families a, b: add column-family=FAMILY");
  EXPECT_EQ(
      Run({"import", "t", path, "--key=country,id", "--separator", "tab", "column-family=b"}).err,
      "Done importing 1 rows.\n");
  EXPECT_NE(Output({"read", "t"}).find("DE#7\n  b:name "), std::string::npos);
  const auto wrong = [&](std::string_view csv, const std::string& key, std::string_view text) {
    ExpectError({"import", "t", WriteFile("wrong.csv", csv), "--key", key, "column-family=a"}, 1,
                text);
  };
  wrong("id,a\n1,2\n", "Id", "--key: no field is named \"Id\"; the fields are \"id\", \"a\"");
  wrong("id,a\n1,2\n", "id,id", "--key names \"id\" twice");
  wrong("id,a,b\n1,2#,3\n", "id,a", "field 2 contains #, which separates the parts");
  wrong("id,a,b\n1,,3\n", "id,a", "field 2 is empty, and it is a part of the row key");
  wrong("id;a\n1;2\n", "id;a", "is the separator right (--separator)?");
  wrong("id,a\rn\n1,2\n", "id", "a carriage return in a name");
  wrong("{\"row\":\"r\",\"cells\":[]}\n", "id", "these are JSON lines: add format=jsonl");
  wrong("id,,b\n1,2,3\n", "id", "field 2 has no name");
  wrong("id,b,b\n1,2,3\n", "id", "fields 2 and 3 are both named \"b\"");
  wrong("id,id,b\n1,2,3\n", "id", "fields 1 and 2 are both named \"id\"");
  wrong("id,a\n,2\n", "id", "the row key is empty");
  wrong("", "id", "the file is empty");
  ExpectError({"import", "t", path, "--separator=ab"}, 2,
              "--separator must be one ASCII character, or tab, not \"ab\"");
  for (const char* const separator : {"\xff", "\x80", "\"", "\n"})
    ExpectError({"import", "t", path, "--separator", separator}, 2, "must be one ASCII character");
  ExpectError({"import", "t", WriteFile("a.jsonl", ""), "--header"}, 2, "are for CSV files");
  wrong(std::string(200'000, ','), "id", "more than 100000 fields");
}

TEST_F(TroubleTest, RecordsWithoutValuesAreCounted) {
  Output({"createtable", "t", "families=f"});
  const std::string path = WriteFile("in.csv", "id,a\n1,x\n2,\n");
  EXPECT_EQ(Run({"import", "t", path, "--header"}).err,
            "Done importing 1 rows.\n1 record has no values and made no row.\n");
  std::filesystem::create_symlink(path, Path("link"));
  EXPECT_EQ(Run({"import", "t", Path("link"), "--header"}).exit_status, 0);
  Output({"createtable", "bare"});
  ExpectError({"import", "bare", path, "--header"}, 1, "the table has no column family");
  ExpectError({"import", "t", path, "--db", "x"}, 2, "--db goes before the verb");
}

// Without standard output, the database's lock file would get its number.
TEST_F(TroubleTest, ClosedStandardDescriptorsHarmNoFile) {
  Output({"createtable", "t", "families=f"});
  const std::string path = WriteFile("in.csv", "id,a\n1,x\n");
  const std::string command = std::getenv("STELE_COMMAND") + (" --db " + database()) +
                              " import t " + path + " --header <&- >&- 2>&-";
  EXPECT_EQ(std::system(command.c_str()), 0);
  for (const auto& entry : std::filesystem::directory_iterator(database()))
    EXPECT_EQ(Bytes(entry.path()).find("Done importing"), std::string::npos) << entry.path();
  EXPECT_EQ(Output({"count", "t"}), "1\n");
}

TEST_F(TroubleTest, ATimestampThatIsTooLargeIsNoValue) {
  Output({"createtable", "t", "families=f"});
  ExpectError({"set", "t", "r", "f:q=x@99999999999999999999"}, 2, "is not a number of 64 bits");
  ExpectError({"import", "t", WriteFile("in.csv", ",f\n,q\nr,x@99999999999999999999\n"),
               "timestamp=value-encoded"},
              1, "in.csv:3: the timestamp after the last @ is not a number of 64 bits");
}

TEST_F(TroubleTest, CompressedFilesAreImported) {
  Output({"createtable", "t", "families=f"});
  ExpectError({"import", "t", WriteFile("in.csv.bz2", "BZh91AY&SY...")}, 1,
              "compressed with bzip2");
  // ",f\n,a\nr,1\n" in gzip and in zstd.
  const std::string gzip =
      absl::HexStringToBytes("1f8b0800000000000203d349e3d249e42ad231e4020047c1be5f0a000000");
  const std::string zstd = absl::HexStringToBytes("28b52ffd04585100002c660a2c610a722c310a6720a8b0");
  // The name does not matter.
  for (const std::string& bytes : {gzip, zstd}) {
    EXPECT_EQ(Run({"import", "t", WriteFile("compressed", bytes)}).err, "Done importing 1 rows.\n");
    ExpectError({"import", "t", WriteFile("cut", bytes.substr(0, bytes.size() - 3))}, 1,
                "the compressed data is truncated");
  }
  EXPECT_EQ(Output({"count", "t"}), "1\n");
  Output({"deleteallrows", "t"});
  // {"row":"s","cells":[{"family":"f","qualifier":"a","value":"2"}]}
  const std::string jsonl = absl::HexStringToBytes(
      "28b52ffd0058e5010012040e16a0352d06e4cf470475ebfc45eceaab46cc12a086b0114122d2c2369ebde4fab60b"
      "6aeade41ae733bb06a5c8e06dbec62716db60147190500");
  EXPECT_EQ(Run({"import", "t", WriteFile("rows.jsonl.zst", jsonl)}).err,
            "Done importing 1 rows.\n");
  EXPECT_NE(Output({"read", "t"}).find("s\n  f:a "), std::string::npos);
}

TEST_F(TroubleTest, VerifyReadsAndCountsTheLog) {
  Output({"createtable", "t", "families=f"});
  Output({"set", "t", "row", "f:q=" + std::string(5000, 'v')});
  const std::string text = Output({"verify"});
  int files = 0;
  int bytes = 0;
  ASSERT_EQ(std::sscanf(text.c_str(), "ok: %d files, %d bytes read", &files, &bytes), 2) << text;
  EXPECT_EQ(files, 2) << "the manifest, and the segment with the row";
  EXPECT_GT(bytes, 5000);
}

TEST_F(TroubleTest, TheLinesOfStatisticsAddUp) {
  Output({"createtable", "t", "families=f,g"});
  Output({"set", "t", "old", "f:q=1", "g:q=22"});
  Output({"flush"});
  Output({"set", "t", "new", "f:q=333"});
  Output({"deleterow", "t", "old"});
  nlohmann::json lines = nlohmann::json::parse(Output({"stats", "t", "--format", "json"}));
  const auto sum = [&](const char* column, std::initializer_list<std::string_view> kinds) {
    uint64_t total = 0;
    for (const nlohmann::json& line : lines) {
      const auto kind = line["what"].get<std::string>();
      if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end() && !line[column].is_null())
        total += line[column].get<uint64_t>();
    }
    return total;
  };
  EXPECT_EQ(sum("cells", {"table"}), 4u);
  EXPECT_EQ(sum("cells", {"family", "other"}), 4u);
  EXPECT_EQ(sum("cells", {"family"}), 3u);
  EXPECT_EQ(sum("cells", {"tablet", "memtables", "dropped"}), 4u);
  EXPECT_EQ(sum("cells", {"memtables"}), 2u);
  EXPECT_EQ(sum("bytes_logical", {"family", "other"}), sum("bytes_logical", {"table"}));
  const auto expect_files_add_up = [&] {
    EXPECT_EQ(sum("bytes_on_disk", {"tablet", "memtables", "dropped"}),
              sum("bytes_on_disk", {"table"}));
  };
  expect_files_add_up();
  Output({"droprowrange", "t", "prefix=old"});
  lines = nlohmann::json::parse(Output({"stats", "t", "--format", "json"}));
  EXPECT_EQ(sum("cells", {"tablet", "memtables", "dropped"}), sum("cells", {"table"}));
  expect_files_add_up();
}

TEST_F(TroubleTest, ACheckpointIsMadeBesideReaders) {
  Output({"createtable", "t", "families=f"});
  Output({"set", "t", "row", "f:q=v@1000"});
  const absl::StatusOr<Database> reader = Database::Open(database(), {.read_only = true});
  ASSERT_TRUE(reader.ok()) << reader.status();
  Output({"--wait", "0", "checkpoint", Path("copy")});
  EXPECT_EQ(RunPlain({"--db", Path("copy"), "count", "t"}).out, "1\n");
  ExpectError({"checkpoint", database() + "/inside"}, 1, "inside");
  ExpectError({"checkpoint", database()}, 1, "db");
}

// As "help set" and "help read" say.
TEST_F(TroubleTest, ValuesAndColumnsWithTheSyntaxOfArgumentsCanBeNamed) {
  Output({"createtable", "t", "families=f"});
  Output({"set", "t", "r", "f:a+b=ann@7@1000", "f:a,b=2@1000", "f:a:b=3@1000", "f:ab=4@1000"});
  const auto values = [&](const std::string& columns) {
    std::string all;
    const nlohmann::json row =
        nlohmann::json::parse(Output({"read", "t", "--format", "jsonl", "columns=" + columns}));
    for (const nlohmann::json& cell : row["cells"]) all += cell["value"].get<std::string>() + ";";
    return all;
  };
  EXPECT_EQ(values("f:a\\+b"), "ann@7;");
  EXPECT_EQ(values("f:a\\x2cb"), "2;");
  EXPECT_EQ(values("f:a\\x3ab"), "3;");
}

TEST_F(TroubleTest, NamesCannotSteerATerminal) {
  Output({"createtable", "t", "families=f"});
  Output({"set", "t", "key\x1b]0;title\a\x1b[2K\rharmless", "f:q\x1b[8m=value@1000"});
  Output({"set", "t", "caf\xc3\xa9", "f:\xe2\x80\xaeq=v@1000"});  // U+202E reverses text
  const std::string text = Output({"read", "t"});
  EXPECT_NE(text.find("key\\x1b]0;title\\x07\\x1b[2K\\x0dharmless\n"), text.npos) << text;
  EXPECT_NE(text.find("  f:q\\x1b[8m "), text.npos) << text;
  EXPECT_NE(text.find("caf\xc3\xa9\n"), text.npos) << "what is printable stays as it is";
  EXPECT_NE(text.find("  f:\\xe2\\x80\\xaeq "), text.npos) << text;
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

// Printed text can be typed again: every verb reads and writes the same escapes.
TEST_F(TroubleTest, AnyByteCanBeNamedInAKey) {
  Output({"createtable", "t", "families=f", "splits=\\x00\\x80,m"});
  const std::string line =
      R"({"row_base64":"AAAAKg==","cells":[{"family":"f","qualifier":"q","value":"forty-two"}]})";
  EXPECT_EQ(Run({"import", "t", WriteFile("data.jsonl", line + "\n")}).exit_status, 0);
  const std::string key = "\\x00\\x00\\x00*";
  EXPECT_NE(Output({"lookup", "t", key}).find("\n" + key + "\n"), std::string::npos);
  EXPECT_EQ(Output({"count", "t", "prefix=\\x00\\x00"}), "1\n");
  Output({"set", "t", key, "f:a\\x00b=new", "f:q=other"});
  EXPECT_NE(Output({"read", "t", "start=\\x00", "end=\\x01"}).find("f:a\\x00b "),
            std::string::npos);
  Output({"deletecolumn", "t", key, "f", "a\\x00b"});
  EXPECT_EQ(Output({"read", "t"}).find("a\\x00b"), std::string::npos);
  Output({"deleterow", "t", key});
  EXPECT_EQ(Output({"count", "t"}), "0\n");
}

TEST_F(TroubleTest, ABackslashIsWrittenTwice) {
  Output({"createtable", "t", "families=f"});
  Output({"set", "t", "C:\\\\new", "f:q=v"});
  EXPECT_NE(Output({"read", "t"}).find("\nC:\\\\new\n"), std::string::npos);
  EXPECT_NE(Output({"read", "t", "--format", "jsonl"}).find(R"("row":"C:\\new")"),
            std::string::npos);
  for (const std::string& wrong :
       {std::string("C:\\new"), std::string("a\\"), std::string("\\x0")}) {
    const CommandResult refused = Run({"deleterow", "t", wrong});
    EXPECT_EQ(refused.exit_status, 2) << wrong;
    EXPECT_NE(refused.err.find("write a byte as \\xNN and a backslash as \\\\"), std::string::npos)
        << refused.err;
  }
  EXPECT_EQ(Output({"count", "t"}), "1\n");
}

TEST_F(TroubleTest, AByteOrderMarkIsSkipped) {
  Output({"createtable", "t", "families=f"});
  EXPECT_EQ(Import("\xef\xbb\xbf,f\n,a\nr1,1\n").exit_status, 0);
  EXPECT_EQ(Import("\xef\xbb\xbf\"\",f\r\n,a\r\nr2,2\r\n").exit_status, 0);
  EXPECT_EQ(Output({"count", "t"}), "2\n");
  // Only at the start, and only a whole one.
  EXPECT_EQ(Import(",f\n,a\n\xef\xbb\xbfr3,3\n").exit_status, 0);
  EXPECT_EQ(Run({"lookup", "t", "\xef\xbb\xbfr3"}).exit_status, 0);
  EXPECT_EQ(Output({"count", "t", "prefix=\xef\xbb\xbf"}), "1\n");
  EXPECT_EQ(Import("\xef\xbb,f\n,a\nr4,4\n").exit_status, 1);
  EXPECT_EQ(Import("\xef\xbb").exit_status, 1);
}

TEST_F(TroubleTest, AnOrdinaryCsvFileGetsAnExample) {
  Output({"createtable", "t", "families=f"});
  const CommandResult refused = Import("id,name\n1,lamp\n");
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_NE(refused.err.find("for example \",info,info\""), std::string::npos) << refused.err;
}

TEST_F(TroubleTest, AColumnThatOccursTwiceIsAnError) {
  Output({"createtable", "t", "families=f"});
  const CommandResult refused = Import(",f,f,f\n,name,price,name\nr1,lamp,10,chair\n");
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_NE(refused.err.find("fields 2 and 4 are both f:\"name\""), std::string::npos)
      << refused.err;
  EXPECT_EQ(Output({"count", "t"}), "0\n");
}

TEST_F(TroubleTest, TwoValuesForOneCellAreAnError) {
  Output({"createtable", "t", "families=f"});
  const auto import = [&](const std::string& cells) {
    return Run({"import", "t", WriteFile("rows.jsonl", R"({"row":"r","cells":[)" + cells + "]}\n"),
                "format=jsonl"});
  };
  const std::string cell = R"({"family":"f","qualifier":"a","value":"10")";
  const std::string other = R"({"family":"f","qualifier":"a","value":"99")";
  for (const std::string& end : {std::string("}"), std::string(R"(,"timestamp":1000})")}) {
    const CommandResult refused = import(cell + end + "," + other + end);
    EXPECT_EQ(refused.exit_status, 1);
    EXPECT_NE(refused.err.find("the row has two values for f:"), std::string::npos) << refused.err;
  }
  EXPECT_EQ(Output({"count", "t"}), "0\n");
  EXPECT_EQ(import(cell + R"(,"timestamp":1000},)" + other + R"(,"timestamp":2000})").exit_status,
            0);
  EXPECT_EQ(import(cell + "}," + cell + "}").exit_status, 0);
}

// Regression: the value of the last line was kept, and the others were lost without a word.
TEST_F(TroubleTest, TwoLinesOfABatchWithOneCellAreAnError) {
  Output({"createtable", "t", "families=f"});
  const std::string path = WriteFile("in.csv", "id,name,city\n7,Ann,\n8,Bob,\n7,Eve,Bern\n");
  ExpectError({"import", "t", path, "--header"}, 1,
              "nothing was written: " + path +
                  ":4: line 2 has another value for f:\"name\" of the row \"7\"");
  EXPECT_EQ(Output({"count", "t"}), "0\n");
  // The same for a key of several fields, and for lines of JSON.
  ExpectError({"import", "t", path, "--key", "id"}, 1, ":4: line 2 has another value");
  ExpectError({"import", "t", WriteFile("k.csv", "a,b,v\nx,y,1\nx,y,2\n"), "--key=a,b"}, 1,
              ":3: line 2 has another value for f:\"v\" of the row \"x#y\"");
  const auto line = [](const std::string& value) {
    return R"({"row":"r","cells":[{"family":"f","qualifier":"q","timestamp":1000,"value":")" +
           value + "\"}]}\n";
  };
  ExpectError({"import", "t", WriteFile("in.jsonl", line("1") + "\n" + line("2"))}, 1,
              "in.jsonl:3: line 1 has another value for f:\"q\" of the row \"r\" at the same "
              "timestamp");
  EXPECT_EQ(Output({"count", "t"}), "0\n");
}

TEST_F(TroubleTest, LinesWithOneRowAreImportedIfNoValueIsLost) {
  Output({"createtable", "t", "families=f"});
  // Equal values, other columns, and empty values.
  EXPECT_EQ(Import(",f,f\n,a,b\nr,1,\nr,1,2\nr,,2\n").err, "Done importing 3 rows.\n");
  // Different timestamps.
  const std::string stamped = WriteFile("stamped.csv", ",f\n,a\ns,1@1000\ns,2@2000\ns,3@1000\n");
  ExpectError({"import", "t", stamped, "timestamp=value-encoded"}, 1,
              "stamped.csv:5: line 3 has another value for f:\"a\" of the row \"s\" at the same "
              "timestamp");
  // Lines of different batches are not compared: the later one wins.
  EXPECT_EQ(Run({"import", "t", stamped, "timestamp=value-encoded", "batch-size=2"}).err,
            "Done importing 3 rows.\n");
  EXPECT_EQ(Output({"export", "t", "format=csv", "prefix=s"}), ",f\n,a\ns,2@2000\ns,3@1000\n");
}

// Regression: only values and qualifiers were counted, so small cells filled the memory.
TEST_F(TroubleTest, ManySmallCellsFillABatch) {
  Output({"createtable", "t", "families=f"});
  // The cells have 400 KB of text, and about 20 MB with their structures. So the last line is in
  // another batch than the first one, and is not compared with it.
  std::string csv = "k,a,b,c,d,e,g,h,i\nr,1,1,1,1,1,1,1,1\n";
  for (int i = 0; i < 24'000; ++i) csv += std::to_string(i) + ",1,1,1,1,1,1,1,1\n";
  csv += "r,2,2,2,2,2,2,2,2\n";
  const CommandResult result =
      Run({"import", "t", WriteFile("in.csv", csv), "--header", "batch-size=100000"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(Output({"count", "t"}), "24001\n");
}

TEST_F(TroubleTest, AFailedCommandKeepsTheOlderOutputFile) {
  Output({"createtable", "t", "families=f"});
  Output({"set", "t", "r", "f:q=1@1000"});
  const std::string path = Path("nightly.jsonl");
  EXPECT_EQ(Run({"export", "t", "-o", path}).exit_status, 0) << "-o may follow the verb";
  const std::string before = Bytes(path);
  EXPECT_NE(before.find("\"row\":\"r\""), std::string::npos);
  EXPECT_EQ(Run({"export", "missing", "-o", path}).exit_status, 1);
  EXPECT_EQ(RunPlain({"-o", path, "--db", Path("none"), "export", "t"}).exit_status, 1);
  EXPECT_EQ(Bytes(path), before);
  Output({"set", "t", "s", "f:q=2@1000"});
  EXPECT_EQ(Run({"export", "t", "-o", path}).exit_status, 0);
  EXPECT_GT(Bytes(path).size(), before.size());
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Path(".")))
    files += entry.path().filename().string().starts_with("nightly") ? 1 : 0;
  EXPECT_EQ(files, 1u) << "no temporary file is left";
  EXPECT_EQ(Run({"export", "t", "-o", "/dev/null"}).exit_status, 0);
  EXPECT_EQ(Run({"export", "t", "-o", Path("no/such/directory")}).exit_status, 1);
}

// A new file would replace one of the database.
TEST_F(TroubleTest, NoOutputIsInTheDatabase) {
  Output({"createtable", "t", "families=f"});
  Output({"set", "t", "a", "f:q=1"});
  const std::string current = database() + "/CURRENT";
  const std::vector<std::vector<std::string>> commands = {
      {"-o", current, "ls"},
      {"-o", current, "read", "t"},
      {"-o", current, "createtable", "u", "families=f"},
      {"-o", current, "version"},
      {"-o", current, "doctor", database()},
      {"-o", current, "copy", database(), Path("copy")},
      {"-o", current, "salvage", database(), Path("salvaged")},
#ifdef STELE_HAS_LAB
      {"-o", current, "bench", "get", "--dry-run", "1"},
      {"bench", "get", "--rows", "1", "--operations", "1", "--hgrm", current},
      {"bench", "get", "--rows", "1", "--operations", "1", "--hlog", database() + "/new"},
      {"replay", WriteFile("trace.jsonl", R"({"t":1,"op":"get","table":"t","row":"a"})"), "--hgrm",
       current},
      {"lint", "-o", current},
      {"heatmap", Path("trace.jsonl"), "-o", database() + "/000001.json"},
      {"import", "dynamodb", Path("trace.jsonl"), "--table=u", "--partition-key=row",
       "--skip-bad=all", "--bad-file", current},
#endif
  };
  for (const std::vector<std::string>& command : commands)
    ExpectError(command, 1, "choose a place elsewhere");
  EXPECT_EQ(RunPlain({"--db", Path("new"), "-o", Path("new") + "/CURRENT", "createtable", "t"})
                .exit_status,
            1);
  EXPECT_FALSE(std::filesystem::exists(Path("new")));
  EXPECT_EQ(Output({"ls"}), "t\n");
}

// Regression: the new file was readable to all, and replaced a link.
TEST_F(TroubleTest, AnOutputKeepsThePermissionsAndTheLinkOfTheOldFile) {
  namespace fs = std::filesystem;
  Output({"createtable", "t", "families=f"});
  Output({"set", "t", "r", "f:q=v"});
  const std::string target = WriteFile("private", "old");
  fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("private", Path("link"));
  Output({"-o", Path("link"), "count", "t"});
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Bytes(target), "1\n");
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("missing", Path("dangling"));
  Output({"-o", Path("dangling"), "count", "t"});
  EXPECT_EQ(Bytes(Path("missing")), "1\n");
  ExpectError({"-o", target, "-o", target, "count", "t"}, 2, "-o is given twice");
}

TEST_F(TroubleTest, AFileInUtf16IsRecognized) {
  Output({"createtable", "t", "families=f"});
  for (const std::string& mark : {std::string("\xff\xfe"), std::string("\xfe\xff")}) {
    const std::string file = WriteFile("u16.csv", mark + std::string("i\0d\0", 4));
    ExpectError({"import", "t", file, "--header", "--key", "id"}, 1, "UTF-16");
  }
}

TEST_F(TroubleTest, ACommandWaitsForTheLock) {
  Output({"createtable", "t", "families=f"});
  auto held = Database::Open(database());
  ASSERT_TRUE(held.ok()) << held.status();
  const CommandResult refused = RunPlain({"--db", database(), "--wait", "0", "count", "t"});
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_NE(refused.err.find("is open elsewhere"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--wait"), std::string::npos) << refused.err;
  CommandResult waited;
  std::jthread command([&] {
    waited = RunPlain({"--db", database(), "--wait", "600", "count", "t"});
  });
  EXPECT_TRUE(held->Close().ok());
  command.join();
  EXPECT_EQ(waited.exit_status, 0) << waited.err;
  EXPECT_EQ(waited.out, "0\n");
  // Also for the locations of a copy.
  held = Database::Open(database());
  ASSERT_TRUE(held.ok()) << held.status();
  std::jthread copy([&] {
    waited = RunPlain({"--wait", "600", "copy", database(), Path("copy")});
  });
  EXPECT_EQ(RunPlain({"--wait", "0", "copy", database(), Path("none")}).exit_status, 1);
  EXPECT_TRUE(held->Close().ok());
  copy.join();
  EXPECT_EQ(waited.exit_status, 0) << waited.err;
  EXPECT_EQ(RunPlain({"--wait", "soon", "--db", database(), "ls"}).exit_status, 2);
  EXPECT_EQ(RunPlain({"--wait", "-1", "--db", database(), "ls"}).exit_status, 2);
}

}  // namespace
}  // namespace stele
