// Tests that cbt's verbs print the same text as cbt 1.23.2 did for the same calls to Google's
// emulator.
#include "cli/command_fixture.h"

namespace stele {
namespace {

constexpr char kLine[] = "----------------------------------------\n";
constexpr char kB4[] =
    "b4\n"
    "  g:z                                      @ 1970/01/01-00:00:00.001000\n    \"\"\n\n";
constexpr char kR1[] =
    "r1\n"
    "  f:                                       @ 1970/01/01-00:00:00.005000\n    \"emptyq\"\n"
    "  f:a                                      @ 1970/01/01-00:00:00.002000\n    \"v2\"\n"
    "  f:a                                      @ 1970/01/01-00:00:00.001000\n    \"v1\"\n"
    "  f:b                                      @ 1970/01/01-00:00:00.003000\n    \"x@y\"\n"
    "  g:q w                                    @ 1970/01/01-00:00:00.004000\n    \"va lue\"\n\n";
constexpr char kR2[] =
    "r2\n"
    "  f:a                                      @ 1970/01/01-00:02:03.456000\n    "
    "\"bin\\x01\\xff\"\n\n";
constexpr char kR3[] =
    "r3\n"
    "  f:a                                      @ 2020/01/01-07:00:00.000000\n    \"1\"\n\n";
constexpr char kNoRow[] = "\n\n";

std::string Rows(std::initializer_list<std::string_view> rows) {
  std::string text;
  for (const std::string_view row : rows) text += kLine + std::string(row);
  return text;
}

class CbtOutputTest : public CommandTest {
 protected:
  void SetUp() override {
    EXPECT_EQ(
        Output({"createtable", "t",
                "families=f:maxversions=2,g,h:maxage=10d||maxversions=1,n:never", "splits=b,m"}),
        "");
    EXPECT_EQ(Output({"set", "t", "r1", "f:a=v1@1000", "f:a=v2@2000", "f:b=x@y@3000",
                      "g:q w=va lue@4000", "f:=emptyq@5000"}),
              "");
    EXPECT_EQ(Output({"set", "t", "r2", "f:a=bin\x01\xff@123456000"}), "");
    EXPECT_EQ(Output({"set", "t", "r3", "f:a=1@1577862000000000"}), "");
    EXPECT_EQ(Output({"set", "t", "b4", "g:z=@1000"}), "");
  }
};

TEST_F(CbtOutputTest, Ls) {
  EXPECT_EQ(Output({"createtable", "t2"}), "");
  EXPECT_EQ(Output({"ls"}), "t\nt2\n");
  EXPECT_EQ(Output({"ls", "t"}),
            "Family Name\tGC Policy\t\t\t\tValue Type\n"
            "-----------\t---------\t\t\t\t----------\n"
            "f\t\tversions() > 2\t\t\t\t{}\n"
            "g\t\t\t\t\t\t\t{}\n"
            "h\t\t(age() > 10d || versions() > 1)\t\t{}\n"
            "n\t\t\t\t\t\t\t{}\n");
  EXPECT_EQ(Output({"ls", "t2"}),
            "Family Name\tGC Policy\tValue Type\n-----------\t---------\t----------\n");
}

TEST_F(CbtOutputTest, FamiliesAndPolicies) {
  EXPECT_EQ(Output({"createtable", "t2"}), "");
  EXPECT_EQ(Output({"createfamily", "t2", "x"}), "");
  EXPECT_EQ(Output({"createfamily", "t2", "y:maxversions=3"}), "");
  EXPECT_EQ(Output({"setgcpolicy", "t2", "x", "maxage=5h", "and", "maxversions=3"}), "");
  EXPECT_EQ(
      Output({"setgcpolicy", "t2", "x", "(maxage=5s and maxversions=3) or maxversions=7", "force"}),
      "");
  EXPECT_EQ(Output({"ls", "t2"}),
            "Family Name\tGC Policy\t\t\t\t\t\t\tValue Type\n"
            "-----------\t---------\t\t\t\t\t\t\t----------\n"
            "x\t\t((age() > 5000000 && versions() > 3) || versions() > 7)\t\t{}\n"
            "y\t\tversions() > 3\t\t\t\t\t\t\t{}\n");
  EXPECT_EQ(Output({"deletefamily", "t2", "x"}), "");
  EXPECT_EQ(Output({"setgcpolicy", "t2", "y", "never"}), "");
  EXPECT_EQ(
      Output({"ls", "t2"}),
      "Family Name\tGC Policy\tValue Type\n-----------\t---------\t----------\ny\t\t\t\t{}\n");
}

TEST_F(CbtOutputTest, ReadRanges) {
  EXPECT_EQ(Output({"read", "t"}), Rows({kB4, kR1, kR2, kR3}));
  EXPECT_EQ(Output({"read", "t", "prefix=r", "count=1"}), Rows({kR1}));
  EXPECT_EQ(Output({"read", "t", "start=r2"}), Rows({kR2, kR3}));
  EXPECT_EQ(Output({"read", "t", "end=r2"}), Rows({kB4, kR1}));
  EXPECT_EQ(Output({"read", "t", "start=r1", "end=r2"}), Rows({kR1}));
  EXPECT_EQ(Output({"read", "t", "reversed=true"}), Rows({kR3, kR2, kR1, kB4}));
  EXPECT_EQ(Output({"read", "t", "count=0"}), "");
}

TEST_F(CbtOutputTest, ReadColumns) {
  const std::string a1 =
      "r1\n"
      "  f:a                                      @ 1970/01/01-00:00:00.002000\n    \"v2\"\n"
      "  f:a                                      @ 1970/01/01-00:00:00.001000\n    \"v1\"\n";
  EXPECT_EQ(Output({"read", "t", "columns=f:a"}), Rows({a1 + "\n", kR2, kR3}));
  EXPECT_EQ(Output({"read", "t", "columns=a"}), Rows({a1 + "\n", kR2, kR3}));
  EXPECT_EQ(Output({"read", "t", "columns=f:a,g:z"}), Rows({kB4, a1 + "\n", kR2, kR3}));
  const std::string ag1 =
      a1 +
      "  g:q w                                    @ 1970/01/01-00:00:00.004000\n    \"va lue\"\n\n";
  EXPECT_EQ(Output({"read", "t", "columns=f:a,g:", "count=2"}), Rows({kB4, ag1}));
  EXPECT_EQ(Output({"read", "t", "columns=f:a|z"}), Rows({a1 + "\n", kR2, kR3}));
  EXPECT_EQ(Output({"read", "t", "columns=f:a,g:.*", "count=2"}), Rows({kB4, ag1}));
  EXPECT_EQ(Output({"read", "t", "columns=[f]:a"}), Rows({a1 + "\n", kR2, kR3}));
  EXPECT_EQ(Output({"read", "t", "regex=r[13]"}), Rows({kR1, kR3}));
  EXPECT_EQ(Output({"read", "t", "regex=r"}), "");
  EXPECT_EQ(Output({"read", "t", "regex=r1", "columns=f:a"}), Rows({a1 + "\n"}));
  EXPECT_EQ(Output({"lookup", "t", "r1", "columns=f:a", "cells-per-column=1"}),
            Rows({"r1\n  f:a                                      @ 1970/01/01-00:00:00.002000\n   "
                  " \"v2\"\n\n"}));
}

TEST_F(CbtOutputTest, KeysOnlyAndStats) {
  EXPECT_EQ(Output({"lookup", "t", "r3", "keys-only=true"}),
            Rows({"r3\n  f:a                                      @ 2020/01/01-07:00:00.000000\n   "
                  " \"\"\n\n"}));
  const std::string out = Output({"read", "t", "include-stats=full"});
  EXPECT_EQ(out.rfind(Rows({kB4, kR1, kR2, kR3}) +
                          "Summary Stats\n====================\nrows_seen_count: "
                          "4\nrows_returned_count: 4\ncells_seen_count: 8\n"
                          "cells_returned_count: 8\nfrontend_server_latency: ",
                      0),
            0u)
      << out;
}

TEST_F(CbtOutputTest, LookupCountAndDeletes) {
  EXPECT_EQ(Output({"lookup", "t", "r1"}), Rows({kR1}));
  EXPECT_EQ(Output({"lookup", "t", "none"}), Rows({kNoRow}));
  EXPECT_EQ(Output({"count", "t"}), "4\n");
  EXPECT_EQ(Output({"count", "t", "prefix=r"}), "3\n");
  EXPECT_EQ(Output({"count", "t", "prefix="}), "4\n");
  EXPECT_EQ(Output({"deletecolumn", "t", "r1", "f", "b"}), "");
  EXPECT_EQ(Output({"read", "t", "prefix=r1", "columns=f:b"}), "");
  EXPECT_EQ(Output({"deleterow", "t", "r1"}), "");
  EXPECT_EQ(Output({"lookup", "t", "r1"}), Rows({kNoRow}));
  EXPECT_EQ(Output({"deleteallrows", "t"}), "");
  EXPECT_EQ(Output({"count", "t"}), "0\n");
  EXPECT_EQ(Output({"deletetable", "t"}), "");
  EXPECT_EQ(Output({"ls"}), "");
}

TEST_F(CbtOutputTest, UnicodeIsQuotedAsGoDoes) {
  EXPECT_EQ(Output({"set", "t", "u",
                    "g:q\xc3\xa9x=h\xc3\xa9\n\t\x7f\xc2\xa0\xe2\x80\x8b\xf0\x9f\x98\x80\"\\@1000"}),
            "");
  EXPECT_EQ(
      Output({"lookup", "t", "u"}),
      Rows({"u\n  g:q\xc3\xa9x                                    @ 1970/01/01-00:00:00.001000\n"
            "    \"h\xc3\xa9\\n\\t\\x7f\\u00a0\\u200b\xf0\x9f\x98\x80\\\"\\\\\"\n\n"}));
  EXPECT_EQ(Output({"set", "t", "y", "g:q=1@253402300800000000"}), "");
  EXPECT_EQ(Output({"lookup", "t", "y"}), Rows({"y\n  g:q                                      @ "
                                                "10000/01/01-00:00:00.000000\n    \"1\"\n\n"}));
}

TEST_F(CbtOutputTest, CbtFlagsAreTaken) {
  const CommandResult result =
      RunPlain({"-project", "p", "-instance=i", "--creds", "c", "--db", database(), "count", "t"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out, "4\n");
}

TEST_F(CbtOutputTest, ImportTakesCbtsCsv) {
  const std::string csv =
      WriteFile("i.csv", ",f,,g\n,a,b,c\nk1,1@1000,2@2000,3@3000\nk2,,x@1000,\"q,z@1000\"\n");
  const CommandResult result = Run({"import", "t", csv, "timestamp=value-encoded", "batch-size=1"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.err, "Done importing 2 rows.\n");
  EXPECT_EQ(
      Output({"read", "t", "prefix=k"}),
      Rows(
          {"k1\n  f:a                                      @ 1970/01/01-00:00:00.001000\n    "
           "\"1\"\n"
           "  f:b                                      @ 1970/01/01-00:00:00.002000\n    \"2\"\n"
           "  g:c                                      @ 1970/01/01-00:00:00.003000\n    \"3\"\n\n",
           "k2\n  f:b                                      @ 1970/01/01-00:00:00.001000\n    "
           "\"x\"\n"
           "  g:c                                      @ 1970/01/01-00:00:00.001000\n    "
           "\"q,z\"\n\n"}));
}

}  // namespace
}  // namespace stele
