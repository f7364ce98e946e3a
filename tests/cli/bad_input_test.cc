// Tests invalid input: every kind causes an error that names the place, and nothing is written.
#include "cli/command_fixture.h"
#include "stele/stele.h"

namespace stele {
namespace {

class BadInputTest : public CommandTest {
 protected:
  void SetUp() override { EXPECT_EQ(Output({"createtable", "t", "families=f"}), ""); }
  void TearDown() override { EXPECT_EQ(Output({"count", "t"}), "0\n"); }
};

TEST_F(BadInputTest, Writes) {
  ExpectError({"set", "t", "", "f:q=v"}, 1, "Row keys must be non-empty");
  ExpectError({"set", "t", std::string(4097, 'k'), "f:q=v"}, 1, "4096");
  ExpectError({"set", "t", "r", "f:" + std::string(16385, 'q') + "=v"}, 1, "16384");
  ExpectError({"set", "t", "r", "f:q=v", "nope:q=v"}, 1, "\"nope\"");
  ExpectError({"set", "t", "r", "f:q=v@1001"}, 1, "multiple of 1000");
  ExpectError({"set", "t", "r", "f:q=v@-1000"}, 1, "negative");
  ExpectError({"set", "t", "r", "f:q"}, 2, "FAMILY:COLUMN=VALUE");
  ExpectError({"set", "nope", "r", "f:q=v"}, 1, "\"nope\"");
}

TEST_F(BadInputTest, Ranges) {
  ExpectError({"read", "t", "start=b", "end=a"}, 1, "\"b\" is greater than");
  ExpectError({"read", "t", "start=a", "prefix=a"}, 2, "may not be mixed");
  ExpectError({"read", "t", "count=-1"}, 2, "negative");
  ExpectError({"read", "t", "count=x"}, 2, "whole number");
  ExpectError({"read", "t", "junk"}, 2, "bad arg \"junk\"");
  ExpectError({"read", "t", "bogus=1"}, 2, "unknown arg key \"bogus\"");
  ExpectError({"read", "t", "cells-per-column=0"}, 2, "at least 1");
}

TEST_F(BadInputTest, CsvWithABrokenLine) {
  const std::string head = ",f,\n,a,b\ngood,1,2\n";
  ExpectError({"import", "t", WriteFile("fields.csv", head + "r,1\n")}, 1,
              "fields.csv:4: wrong number of fields");
  ExpectError({"import", "t", WriteFile("quote.csv", head + "r,\"1,2\n")}, 1,
              "quote.csv:4: a quoted field is not closed");
  ExpectError({"import", "t", WriteFile("after.csv", head + "r,\"1\"x,2\n")}, 1,
              "after.csv:4: text after the closing quote");
  ExpectError({"import", "t", WriteFile("key.csv", head + ",1,2\n")}, 1,
              "key.csv:4: the row key is empty");
  ExpectError(
      {"import", "t", WriteFile("long.csv", head + "\"" + std::string(4097, '\n') + "\",1,2\n")}, 1,
      "long.csv:4: the row key has 4097");
  ExpectError(
      {"import", "t", WriteFile("time.csv", head + "r,1@1001,2\n"), "timestamp=value-encoded"}, 1,
      "time.csv:4: the timestamp 1001");
  ExpectError({"import", "t", WriteFile("family.csv", ",f,nope\n,a,b\nr,1,2\n")}, 1,
              "family.csv:3: no column family \"nope\"");
  ExpectError({"import", "t", WriteFile("head.csv", ",a,b\nr,1,2\n")}, 1,
              "head.csv:2: error parsing headers");
  ExpectError({"import", "t", WriteFile("empty.csv", "")}, 1, "empty.csv:1: error parsing headers");
  ExpectError({"import", "t", WriteFile("line.jsonl", "{\"row\":\"r\",\"cells\":[]}\n{\"row\":\n")},
              1, "line.jsonl:2: not a JSON object");
  ExpectError(
      {"import", "t", WriteFile("cell.jsonl", "{\"row\":\"r\",\"cells\":[{\"family\":\"f\"}]}\n")},
      1, "cell.jsonl:1: \"qualifier\"");
  ExpectError({"import", "t", Path("missing.csv")}, 1, "missing.csv");
}

TEST_F(BadInputTest, RowsThatAreWrongJson) {
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"[]", "not a JSON object"},
      {"1", "not a JSON object"},
      {R"({"row":"r","cells":[]}{)", "not a JSON object"},
      {R"({"cells":[]})", R"("row" or "row_base64" is required)"},
      {R"({"row":{},"cells":[]})", R"("row" is not a string)"},
      {R"({"row":"r","row_base64":"cg==","cells":[]})",
       R"("row" or "row_base64" is required, but not both)"},
      {R"({"row":"r"})", R"("cells" is not an array)"},
      {R"({"row":"r","cells":{}})", R"("cells" is not an array)"},
      {R"({"row":"r","cells":[[]]})", "a cell is not an object"},
      {R"({"row":"r","cells":[{"value":1,"family":"f","qualifier":"q"}]})",
       R"("value" is not a string)"},
      {R"({"row":"r","cells":[{"timestamp":1.5}]})", R"("timestamp" is not a whole number)"},
      {R"({"row":"r","cells":[{"timestamp":9223372036854775808}]})",
       R"("timestamp" is not a whole number)"}};
  for (const auto& [line, error] : lines)
    ExpectError({"import", "t", WriteFile("row.jsonl", line + "\n")}, 1, "row.jsonl:1: " + error);
  // Members that are no part of a row are ignored, whatever they have.
  const std::string row =
      R"({"a":[{"cells":1},[]],"row_base64":"cg==","b":{"row":2},"cells":[{"c":[{}],"family":"f",)"
      R"("qualifier":"a","value_base64":"dg==","timestamp":1000}]})";
  EXPECT_EQ(Run({"import", "t", WriteFile("row.jsonl", row + "\n")}).exit_status, 0);
  EXPECT_NE(Output({"lookup", "t", "r"}).find("\"v\""), std::string::npos);
  EXPECT_EQ(Run({"deleterow", "t", "r"}).exit_status, 0);
}

TEST_F(BadInputTest, ValueOverTheLimit) {
  const std::string value((100 << 20) + 1, 'v');
  ExpectError({"import", "t", WriteFile("value.csv", ",f\n,a\ngood,1\nr," + value + "\n")}, 1,
              "value.csv:4: the value of f:\"a\" has 104857601");
}

TEST_F(BadInputTest, Filters) {
  ExpectError({"read", "t", "regex=("}, 1, "row key regex");
  ExpectError({"read", "t", "columns=f:["}, 1, "column regex");
  ExpectError({"read", "t", "filter=latest(0)"}, 1, "must be at least 1");
  ExpectError({"lookup", "t", "r", "filter=newest(1)"}, 1, "newest");
}

TEST_F(BadInputTest, NotOfferedYet) {
  ExpectError({"read", "t", "format-file=x"}, 1, "not implemented");
}

TEST_F(BadInputTest, SchemasAndCalls) {
  ExpectError({"createtable", "t"}, 1, "\"t\" exists");
  ExpectError({"createtable", "bad name!"}, 1, "bad name!");
  ExpectError({"createtable", "u", "families=a,a"}, 1, "occurs twice");
  ExpectError({"createtable", "u", "families=a:bogus"}, 2, "invalid GC policy");
  ExpectError({"createtable", "u", "families=a:maxversions=0"}, 2, "maxversions must be 1");
  ExpectError({"createfamily", "t", "f"}, 1, "\"f\" exists");
  ExpectError({"deletefamily", "t", "nope"}, 1, "\"nope\" does not exist");
  ExpectError({"setgcpolicy", "t", "nope", "maxversions=1"}, 1, "\"nope\" does not exist");
  ExpectError({"deletetable", "nope"}, 1, "\"nope\" does not exist");
  ExpectError({"setvaluetype", "t", "f", "stringutf8bytes"}, 1,
              "the value type of family \"f\" was fixed");
  ExpectError({"createfamily", "t", "s:never:intmean"}, 2, "unknown type intmean");
  ExpectError({"addtocell", "t", "r", "f:q=1"}, 1, "Column family type mismatch");
  ExpectError({"addtocell", "t", "r", "f:q=x"}, 2, "Only int values");
  ExpectError({"frob"}, 2, "Unknown command \"frob\"");
  for (const char* verb :
       {"createtable", "deletetable", "createfamily", "deletefamily", "setgcpolicy", "setvaluetype",
        "set", "addtocell", "read", "lookup", "count", "import", "deleterow", "deletecolumn",
        "deleteallrows", "droprowrange", "export", "checkpoint", "dump"}) {
    ExpectError({verb}, 2, std::string("usage: stele ") + verb + " ");
  }
}

TEST_F(BadInputTest, DatabasePaths) {
  CommandResult result = RunPlain({"ls"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find("--db DIR"), std::string::npos) << result.err;
  const std::string file = WriteFile("plain", "a file");
  result = RunPlain({"--db", file, "createtable", "t"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.err.find(file), std::string::npos) << result.err;
  result = RunPlain({"--db", Path("none"), "ls"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.err.find("contains no database"), std::string::npos) << result.err;
}

TEST_F(BadInputTest, SecondOpenerIsToldWhoHoldsIt) {
  {
    const auto held = Database::Open(database());
    ASSERT_TRUE(held.ok());
    for (const char* verb : {"ls", "flush"})
      ExpectError({"--wait", "0", verb}, 1, std::to_string(getpid()));
  }
  EXPECT_EQ(Output({"ls"}), "t\n");
}

}  // namespace
}  // namespace stele
