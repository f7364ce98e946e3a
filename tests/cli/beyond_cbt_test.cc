// Tests the verbs and formats that cbt does not have.
#include <sys/wait.h>

#include <filesystem>

#include "cli/command_fixture.h"
#include "stele/stele.h"

namespace stele {
namespace {

class BeyondCbtTest : public CommandTest {
 protected:
  void SetUp() override {
    EXPECT_EQ(Output({"createtable", "t", "families=f:maxversions=2,g"}), "");
    EXPECT_EQ(Output({"set", "t", "a", "f:q=1@1000", "f:q=2@2000", "f:q=3@3000", "g:x=plain@1000"}),
              "");
    EXPECT_EQ(Output({"set", "t", "b\xff", "g:\xfe=\xfd@1000"}), "");
    EXPECT_EQ(Output({"set", "t", "c", "g:=@1000", "g:y=say \"a, b\"\n@5000"}), "");
  }
};

constexpr char kJsonl[] =
    R"({"row":"a","cells":[{"family":"f","qualifier":"q","timestamp":3000,"value":"3"},)"
    R"({"family":"f","qualifier":"q","timestamp":2000,"value":"2"},)"
    R"({"family":"g","qualifier":"x","timestamp":1000,"value":"plain"}]})"
    "\n"
    R"({"row_base64":"Yv8=","cells":[)"
    R"({"family":"g","qualifier_base64":"/g==","timestamp":1000,"value_base64":"/Q=="}]})"
    "\n"
    R"({"row":"c","cells":[{"family":"g","qualifier":"","timestamp":1000,"value":""},)"
    R"({"family":"g","qualifier":"y","timestamp":5000,"value":"say \"a, b\"\n"}]})"
    "\n";

TEST_F(BeyondCbtTest, ExportJsonlComesBack) {
  EXPECT_EQ(Output({"export", "t"}), kJsonl);
  const std::string path = WriteFile("t.jsonl", kJsonl);
  EXPECT_EQ(Output({"createtable", "copy", "families=f:maxversions=2,g"}), "");
  EXPECT_EQ(Run({"import", "copy", path}).err, "Done importing 3 rows.\n");
  EXPECT_EQ(Output({"export", "copy"}), kJsonl);
  EXPECT_EQ(Output({"read", "t", "--format", "jsonl"}), kJsonl);
}

TEST_F(BeyondCbtTest, JsonEscapesHiddenCharacters) {
  // A change of the direction of text, a space without a width, and a surrogate pair in JSON.
  const std::string text = "a\u202eb\u200bc\U000e0001\x7f\u00e9";
  const std::string escaped = R"(a\u202eb\u200bc\udb40\udc01\u007f)"
                              "\u00e9";
  EXPECT_EQ(Output({"createtable", "u", "families=f"}), "");
  EXPECT_EQ(Output({"set", "u", text, "f:" + text + "=" + text + "@1000"}), "");
  const std::string row = R"({"row":")" + escaped + R"(","cells":[{"family":"f","qualifier":")" +
                          escaped + R"(","timestamp":1000,"value":")" + escaped + R"("}]})";
  EXPECT_EQ(Output({"export", "u"}), row + "\n");
  EXPECT_EQ(Output({"read", "u", "--format", "jsonl"}), row + "\n");
  EXPECT_EQ(Output({"lookup", "u", text, "--format", "json"}), "[\n  " + row + "\n]\n");
  EXPECT_EQ(Output({"createtable", "copy", "families=f"}), "");
  const CommandResult imported = Run({"import", "copy", WriteFile("u.jsonl", row + "\n")});
  EXPECT_EQ(imported.err, "Done importing 1 rows.\n");
  // CSV has the bytes of the cells.
  EXPECT_EQ(Output({"read", "copy", "--format", "csv"}), Output({"read", "u", "--format", "csv"}));
  EXPECT_NE(Output({"read", "copy", "--format", "csv"}).find(text), std::string::npos);
}

TEST_F(BeyondCbtTest, ExportCsvComesBack) {
  const std::string path = Path("t.csv");
  EXPECT_EQ(RunPlain({"--db", database(), "-o", path, "export", "t", "format=csv"}).out, "");
  EXPECT_EQ(Output({"createtable", "copy", "families=f:maxversions=2,g"}), "");
  const CommandResult imported = Run({"import", "copy", path, "timestamp=value-encoded"});
  EXPECT_EQ(imported.exit_status, 0) << imported.err;
  EXPECT_EQ(Output({"export", "copy"}), kJsonl);
}

TEST_F(BeyondCbtTest, Formats) {
  EXPECT_EQ(Output({"ls", "--format", "json"}), "[\n  {\n    \"table\": \"t\"\n  }\n]\n");
  EXPECT_EQ(Output({"ls", "t", "--format=csv"}),
            "family,gc_policy,value_type\nf,versions() > 2,{}\ng,,{}\n");
  EXPECT_EQ(Output({"count", "t", "--format", "jsonl"}), "{\"count\":3}\n");
  EXPECT_EQ(
      Output({"read", "t", "prefix=a", "columns=f:q", "cells-per-column=1", "--format", "csv"}),
      "row,family,qualifier,timestamp,value\na,f,q,3000,3\n");
  EXPECT_EQ(Output({"read", "t",
                    "filter=chain(row_regex(\"a\"), column(\"f\", \"q\"), row_limit(1), strip)",
                    "--format", "csv"}),
            "row,family,qualifier,timestamp,value\na,f,q,3000,\n");
  EXPECT_NE(Output({"lookup", "t", "a", "filter=label(\"x\")", "--format", "jsonl"})
                .find("\"labels\":[\"x\"]"),
            std::string::npos);
  EXPECT_EQ(Output({"lookup", "t", "a", "filter=none", "--format", "json"}), "[]\n");
  EXPECT_EQ(Output({"read", "t", "prefix=none", "--format", "json"}), "[]\n");
  EXPECT_EQ(Output({"ls", "--format", "text"}), "t\n");
  ExpectError({"ls", "--format", "xml"}, 2, "text, table, json, jsonl or csv");
}

TEST_F(BeyondCbtTest, AddToCellFolds) {
  EXPECT_EQ(Output({"createfamily", "t", "sum:never:intsum"}), "");
  EXPECT_EQ(Output({"createfamily", "t", "visitors:never:inthll"}), "");
  EXPECT_EQ(Output({"addtocell", "t", "s", "sum:q=65@1000", "sum:q=-1@1000", "visitors:q=ann",
                    "visitors:q=ben"}),
            "");
  EXPECT_EQ(Output({"flush", "t"}), "");
  EXPECT_EQ(Output({"addtocell", "t", "s", "sum:q=2@1000", "visitors:q=ann"}), "");
  EXPECT_EQ(
      Output({"read", "t", "prefix=s", "columns=sum:q", "--format", "csv"}),
      std::string("row,family,qualifier,timestamp,value\ns,sum,q,1000,\0\0\0\0\0\0\0B\n", 59));
  EXPECT_NE(Output({"ls", "t", "--format=csv"}).find("hllppUniqueCount"), std::string::npos);
  ExpectError({"set", "t", "s", "sum:q=65"}, 1, "Column family type mismatch");
}

class AggregatesComeBackTest : public BeyondCbtTest {
 protected:
  static constexpr char kFamilies[] =
      "families=sum:never:intsum,min:never:intmin,max:never:intmax,hll:never:inthll,plain";

  void SetUp() override {
    EXPECT_EQ(Output({"createtable", "a", kFamilies}), "");
    EXPECT_EQ(Output({"createtable", "copy", kFamilies}), "");
    // -6148914691236517206 is eight times the byte 0xaa. 168626701 ends in two newlines, and 44 in
    // a comma.
    EXPECT_EQ(Output({"addtocell", "a", "r", "sum:a=5@1000", "sum:a=6@1000",
                      "sum:b=-6148914691236517206@2000", "sum:c=168626701", "min:a=-3", "max:a=44",
                      "hll:a=ann", "hll:a=ben@3000"}),
              "");
    EXPECT_EQ(Output({"addtocell", "a", "r\n,\"", "sum:,=34"}), "");
    EXPECT_EQ(Output({"set", "a", "r", "plain:q=x@1000"}), "");
  }
};

TEST_F(AggregatesComeBackTest, FromJsonl) {
  const std::string exported = Output({"export", "a"});
  const CommandResult imported = Run({"import", "copy", WriteFile("a.jsonl", exported)});
  EXPECT_EQ(imported.exit_status, 0) << imported.err;
  EXPECT_EQ(Output({"export", "copy"}), exported);
}

TEST_F(AggregatesComeBackTest, FromCsv) {
  const std::string path = Path("a.csv");
  EXPECT_EQ(RunPlain({"--db", database(), "-o", path, "export", "a", "format=csv"}).err, "");
  const CommandResult imported = Run({"import", "copy", path, "timestamp=value-encoded"});
  EXPECT_EQ(imported.exit_status, 0) << imported.err;
  EXPECT_EQ(Output({"export", "copy"}), Output({"export", "a"}));
}

TEST_F(AggregatesComeBackTest, ValuesAreAddedWhereThatIsAsked) {
  const std::string path = WriteFile(
      "add.csv", ",sum,min,max,hll,plain\n,a,a,a,a,q\nr,42,-1,7,ann,x\nr,-2,3,20231114,ben,\n");
  EXPECT_EQ(Run({"import", "copy", path, "aggregates=add"}).err, "Done importing 2 rows.\n");
  EXPECT_EQ(Output({"addtocell", "a", "check", "sum:a=40", "min:a=-1", "max:a=20231114",
                    "hll:a=ben", "hll:a=ann"}),
            "");
  const std::string expected =
      Output({"read", "a", "prefix=check", "columns=sum:,min:,max:,hll:", "--format", "csv"});
  std::string read = Output({"read", "copy", "columns=sum:,min:,max:,hll:", "--format", "csv"});
  for (size_t at = 0; (at = read.find("\nr,", at)) != std::string::npos; ++at)
    read.replace(at, 3, "\ncheck,");
  EXPECT_EQ(read, expected);
  // A second import is added again.
  EXPECT_EQ(Run({"import", "copy", path, "aggregates=add"}).exit_status, 0);
  EXPECT_NE(
      Output({"read", "copy", "columns=sum:"}).find("\"\\x00\\x00\\x00\\x00\\x00\\x00\\x00P\""),
      std::string::npos);
}

TEST_F(AggregatesComeBackTest, WhatIsNeitherStateNorNumberIsRefused) {
  const auto refused = [&](const std::string& line, const std::vector<std::string>& more,
                           std::string_view text) {
    std::vector<std::string> args = {"import", "copy",
                                     WriteFile("bad.csv", ",sum,hll\n,a,a\n" + line + "\n")};
    args.insert(args.end(), more.begin(), more.end());
    ExpectError(args, 1, text);
  };
  refused("r,42,", {}, "bad.csv:3: sum:\"a\" is an aggregate, and \"42\" is not a state of it");
  refused("r,,ann", {}, "bad.csv:3: hll:\"a\" is an aggregate");
  refused("r,20231114,", {}, "use aggregates=add or aggregates=state");
  refused("r,4x,", {"aggregates=add"}, "\"4x\" is not a whole number");
  ExpectError({"import", "copy", WriteFile("bad.csv", ",sum\n,a\nr,1\n"), "aggregates=perhaps"}, 2,
              "'state' or 'add'");
  EXPECT_EQ(Output({"count", "copy"}), "0\n");
  EXPECT_EQ(
      Run({"import", "copy", WriteFile("eight.csv", ",sum\n,a\nr,20231114\n"), "aggregates=state"})
          .exit_status,
      0);
  EXPECT_NE(Output({"read", "copy"}).find("\"20231114\""), std::string::npos);
}

TEST_F(BeyondCbtTest, DropRowRange) {
  EXPECT_EQ(Output({"droprowrange", "t", "prefix=b"}), "");
  EXPECT_EQ(Output({"count", "t"}), "2\n");
  EXPECT_EQ(Output({"droprowrange", "t", "start=b", "end=d"}), "");
  EXPECT_EQ(Output({"read", "t", "keys-only=true", "--format", "csv"}),
            "row,family,qualifier,timestamp,value\na,f,q,3000,\na,f,q,2000,\na,g,x,1000,\n");
  // A variable of a shell may be unset.
  ExpectError({"droprowrange", "t", "prefix="}, 2, "deleteallrows");
  ExpectError({"droprowrange", "t", "start=", "end="}, 2, "deleteallrows");
  ExpectError({"droprowrange", "t", "start=a", "end="}, 2, "end= is empty");
  ExpectError({"droprowrange", "t", "start="}, 2, "start= is empty");
  ExpectError({"droprowrange", "t", "prefix=x", "prefix=a"}, 2, "\"prefix\" is given twice");
  EXPECT_EQ(Output({"count", "t"}), "1\n");
}

TEST_F(BeyondCbtTest, CompactDropsWhatThePolicyCollects) {
  EXPECT_EQ(Output({"flush", "t"}), "");
  EXPECT_EQ(Output({"compact"}), "");
  EXPECT_EQ(Output({"stats", "t", "--format", "jsonl"})
                .rfind(R"({"what":"table","name":"t","rows":3,"cells":6,)", 0),
            0u);
  EXPECT_EQ(Output({"export", "t"}), kJsonl);
  EXPECT_EQ(Output({"stats", "--format", "jsonl"})
                .rfind("{\"name\":\"tables\",\"value\":1}\n{\"name\":\"files\",\"value\":1}\n", 0),
            0u);
}

TEST_F(BeyondCbtTest, AClockIsShownAndConfirmed) {
  const std::string trusted = R"({"name":"trusted","value":"yes"})";
  const std::string not_trusted = R"({"name":"trusted","value":"no"})";
  EXPECT_NE(Output({"clock", "--format", "jsonl"}).find(trusted), std::string::npos);
  {
    const auto future = std::make_shared<ManualClock>(Timestamp::FromMillis(4'070'908'800'000));
    Database database = *Database::Open(this->database(), {.clock = future});
    ASSERT_TRUE(database.CreateTable("u", Schema()).ok());
    ASSERT_TRUE(database.Close().ok());
  }
  const CommandResult shown = Run({"clock", "--format", "jsonl"});
  EXPECT_NE(shown.out.find(not_trusted), std::string::npos) << shown.out;
  EXPECT_NE(shown.err.find("run: stele clock confirm"), std::string::npos) << shown.err;
  EXPECT_NE(Output({"stats"}).find("clock_trusted\t\t0"), std::string::npos);
  const CommandResult compacted = Run({"compact"});
  EXPECT_EQ(compacted.exit_status, 0);
  EXPECT_NE(compacted.err.find("run: stele clock confirm"), std::string::npos) << compacted.err;
  EXPECT_NE(Output({"clock", "confirm", "--format", "jsonl"}).find(trusted), std::string::npos);
  EXPECT_NE(Output({"clock", "--format", "jsonl"}).find(trusted), std::string::npos);
  EXPECT_EQ(Run({"clock", "set"}).exit_status, 2);
}

TEST_F(BeyondCbtTest, CheckpointIsADatabase) {
  EXPECT_EQ(Output({"checkpoint", Path("copy")}), "");
  EXPECT_EQ(Output({"deleteallrows", "t"}), "");
  const CommandResult result = RunPlain({"--db", Path("copy"), "export", "t"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out, kJsonl);
}

TEST_F(BeyondCbtTest, VerifyFindsDamage) {
  EXPECT_EQ(Output({"flush"}), "");
  EXPECT_EQ(Output({"verify"}).rfind("ok: ", 0), 0u);
  std::string sstable;
  for (const auto& entry : std::filesystem::directory_iterator(database())) {
    if (entry.path().extension() == ".sst") sstable = entry.path();
  }
  ASSERT_NE(sstable, "");
  std::FILE* const file = std::fopen(sstable.c_str(), "r+b");
  ASSERT_NE(file, nullptr);
  std::fseek(file, 20, SEEK_SET);
  const int byte = std::fgetc(file);
  std::fseek(file, 20, SEEK_SET);
  std::fputc(byte ^ 0xff, file);
  std::fclose(file);
  const CommandResult result = Run({"verify"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find(std::filesystem::path(sstable).filename().string()), std::string::npos)
      << result.out;
  EXPECT_NE(result.err.find("1 damaged place found"), std::string::npos) << result.err;
}

TEST_F(BeyondCbtTest, DumpShowsEveryKindOfFile) {
  EXPECT_EQ(Output({"flush"}), "");
  int shown = 0;
  for (const auto& entry : std::filesystem::directory_iterator(database())) {
    const CommandResult result = RunPlain({"dump", entry.path()});
    EXPECT_EQ(result.exit_status, 0) << entry.path() << result.err;
    EXPECT_FALSE(result.out.empty()) << entry.path();
    ++shown;
    if (entry.path().extension() != ".sst") continue;
    const CommandResult cells = RunPlain({"dump", entry.path(), "cells=true"});
    EXPECT_NE(cells.out.find("plain"), std::string::npos) << cells.out;
  }
  EXPECT_GE(shown, 5);  // CURRENT, LOCK, manifest, segment, SSTable
  ExpectError({"dump", WriteFile("notes.txt", "nothing of Stele's in here")}, 1,
              "neither its bytes nor its name");
  ExpectError({"dump", WriteFile("000007.sst", "not an SSTable at all, in spite of its name")}, 1,
              "000007.sst");
  ExpectError({"dump", Path("missing")}, 1, "missing");
}

TEST_F(BeyondCbtTest, HelpAndVersion) {
  EXPECT_EQ(Output({"version"}).rfind("stele ", 0), 0u);
  const std::string help = Output({"help"});
  for (const char* verb :
       {"createtable",   "ls",           "deletetable", "createfamily", "deletefamily",
        "setgcpolicy",   "setvaluetype", "set",         "addtocell",    "read",
        "lookup",        "count",        "import",      "deleterow",    "deletecolumn",
        "deleteallrows", "help",         "version",     "droprowrange", "export",
        "compact",       "flush",        "stats",       "verify",       "salvage",
        "checkpoint",    "dump",         "bench",       "copy",         "clock",
        "doctor"}) {
    EXPECT_NE(help.find(std::string("stele ") + verb + " "), std::string::npos) << verb;
    EXPECT_EQ(Output({"help", verb}).rfind(std::string("stele ") + verb, 0), 0u) << verb;
  }
}

}  // namespace
}  // namespace stele
