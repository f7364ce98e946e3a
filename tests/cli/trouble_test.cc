// Tests what users of other stores stumbled over: hostile names on a terminal, spreadsheets' CSV,
// output files of failed commands, and a lock that is held for a moment.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

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
  }
}

TEST_F(TroubleTest, ADatabaseInMemoryWarnsThatNothingIsKept) {
  const CommandResult result = RunPlain({"--db", "mem:", "createtable", "t"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_NE(result.err.find("mem: keeps nothing after this command"), std::string::npos);
  EXPECT_EQ(RunPlain({"--db", "mem:", "ls"}).err, "");
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

// What is printed can be typed: every verb reads and writes the same escapes.
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
      {"-o", current, "bench", "get", "--dry-run", "1"},
      {"-o", current, "version"},
      {"-o", current, "doctor", database()},
      {"-o", current, "copy", database(), Path("copy")},
      {"-o", current, "salvage", database(), Path("salvaged")},
      {"bench", "get", "--rows", "1", "--operations", "1", "--hgrm", current},
      {"bench", "get", "--rows", "1", "--operations", "1", "--hlog", database() + "/new"},
#ifdef STELE_HAS_LAB
      {"replay", WriteFile("trace.jsonl", R"({"t":1,"op":"get","table":"t","row":"a"})"), "--hgrm",
       current},
      {"lint", "-o", current},
      {"heatmap", Path("trace.jsonl"), "-o", database() + "/000001.json"},
      {"import", "dynamodb", Path("trace.jsonl"), "--table=u", "--partition-key=row",
       "--skip-bad=all", "--bad-file", current},
#endif
  };
  for (const std::vector<std::string>& command : commands)
    ExpectError(command, 1, "name a file elsewhere");
  EXPECT_EQ(RunPlain({"--db", Path("new"), "-o", Path("new") + "/CURRENT", "createtable", "t"})
                .exit_status,
            1);
  EXPECT_FALSE(std::filesystem::exists(Path("new")));
  EXPECT_EQ(Output({"ls"}), "t\n");
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
  EXPECT_EQ(RunPlain({"--wait", "soon", "--db", database(), "ls"}).exit_status, 2);
  EXPECT_EQ(RunPlain({"--wait", "-1", "--db", database(), "ls"}).exit_status, 2);
}

}  // namespace
}  // namespace stele
