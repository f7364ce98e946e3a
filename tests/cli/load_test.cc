// Tests stele load: output, exit statuses and flags.
#ifdef STELE_HAS_LAB
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
            "\"duplicates\":0}}}\n");
}

TEST_F(LoadCommandTest, BadRecordsCreateNothing) {
  const CommandResult result = Run(Words("k,v\n,1\n"));
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.err.find("in:2: key: field \"k\": absent"), std::string::npos) << result.err;
  EXPECT_NE(Run({"ls"}).exit_status, 0) << "the database exists";
  const CommandResult some =
      Run(Words("k,v\n,1\na,2\n", {"--skip-bad", "all", "--bad-file", Path("bad")}));
  EXPECT_EQ(some.exit_status, 3) << some.err;
  EXPECT_NE(some.out.find("1 records were left out"), std::string::npos) << some.out;
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
