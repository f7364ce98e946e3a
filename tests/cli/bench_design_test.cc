// Tests bench --design: its flags, its operations, and that it never changes the table.
#ifdef STELE_HAS_LAB
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command_fixture.h"

namespace stele {
namespace {

using BenchWords = std::vector<std::string>;

constexpr char kShop[] =
    "stele: design/1\n"
    "inputs: {orders: {file: orders.csv}, more: {format: csv}}\n"
    "tables:\n"
    "  orders:\n"
    "    families: {o: {}}\n"
    "    key: \"{user}#{number|pad:3}\"\n"
    "    rows: [{input: orders, cells: {\"o:item\": \"{item}\", \"o:pieces\": \"{pieces}\"}}]\n"
    "    queries:\n"
    "      orders-of-user: {read: {prefix: \"{user}#\", limit: 30}}\n"
    "      one-order: {read: {row: \"{user}#{number|pad:3}\", columns: [\"o:item\"]}}\n"
    "      of-item: {read: {filter: 'value_regex(\"{item}\")'}}\n"
    "      add: {write: orders}\n"
    "      \"a/../b,\\e[31m\": {read: {limit: 1}}\n"
    "      wrong-filter: {read: {filter: 'timestamps({pieces}, )', row: \"{user}\"}}\n"
    "  other:\n"
    "    families: {o: {}}\n"
    "    key: \"{user}\"\n"
    "    rows: [{input: more, cells: {\"o:item\": \"{item}\"}}]\n"
    "    queries: {of-user: {read: {row: \"{user}\"}}, one-order: {read: {row: \"{user}\"}}}\n";

class BenchDesignTest : public CommandTest {
 protected:
  BenchDesignTest() : design_(WriteFile("shop.yaml", kShop)) {
    std::string csv = "user,number,item,pieces\n";
    for (int user = 0; user < 10; ++user) {
      for (int number = 0; number < 4; ++number)
        csv += "u" + std::to_string(user) + "," + std::to_string(number) + ",hat,1\n";
    }
    WriteFile("orders.csv", csv + "\"\x1b[31m\xff\",5,cap,2\n");
  }
  void Load() const { EXPECT_EQ(Run({"load", design_, "--table", "orders"}).exit_status, 0); }
  BenchWords Words(const std::string& queries, const BenchWords& more = {}) const {
    BenchWords words = {"bench", "--design", design_, "--query", queries};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::vector<nlohmann::json> RunJson(const std::string& queries, BenchWords more = {}) const {
    more.insert(more.end(), {"--operations", "50", "--format", "json"});
    std::istringstream lines(Output(Words(queries, more)));
    std::vector<nlohmann::json> documents;
    for (std::string line; std::getline(lines, line);)
      documents.push_back(nlohmann::json::parse(line));
    return documents;
  }

  const std::string design_;
};

TEST_F(BenchDesignTest, MeasuresQueries) {
  Load();
  const std::string before = Output({"export", "orders"});
  const auto lines =
      RunJson("orders-of-user,one-order", {"--threads", "3", "--distribution", "sequential"});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["run"]["table"], "orders");
  const std::string data = lines[0]["run"]["data"];
  EXPECT_NE(data.find("orders-of-user: 41 records of orders; one-order: 41 records of orders"),
            std::string::npos)
      << data;
  EXPECT_EQ(lines[1]["workload"], "orders-of-user");
  EXPECT_EQ(lines[1]["operations"], 50);
  EXPECT_EQ(lines[1]["errors"], nlohmann::json::object());
  EXPECT_GT(lines[1]["rows"], 150);
  EXPECT_EQ(lines[1]["cells"], lines[1]["rows"].get<int>() * 2);
  EXPECT_GT(lines[1]["disk_bytes"], 0) << "the rows are in the log";
  EXPECT_EQ(lines[2]["workload"], "one-order");
  EXPECT_EQ(lines[2]["rows"], 50);
  EXPECT_EQ(lines[2]["cells"], 50) << "one column";
  EXPECT_EQ(lines[2]["value_bytes"], 150) << "hat, or cap";
  EXPECT_EQ(Output({"export", "orders"}), before);
  EXPECT_EQ(Output({"ls"}), "orders\n");
}

TEST_F(BenchDesignTest, ADryRunPrintsResolvedKeys) {
  const CommandResult result =
      RunPlain(Words("orders-of-user,one-order", {"--dry-run", "3", "--distribution=sequential"}));
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out,
            "orders-of-user prefix \"u0#\" limit 30\n"
            "orders-of-user prefix \"u0#\" limit 30\n"
            "orders-of-user prefix \"u0#\" limit 30\n"
            "one-order row \"u0#000\" filter column(\"o\", \"item\")\n"
            "one-order row \"u0#001\" filter column(\"o\", \"item\")\n"
            "one-order row \"u0#002\" filter column(\"o\", \"item\")\n");
  const BenchWords random = Words("orders-of-user", {"--dry-run", "20", "--seed", "7"});
  EXPECT_EQ(RunPlain(random).out, RunPlain(random).out);
  EXPECT_NE(RunPlain(random).out,
            RunPlain(Words("orders-of-user", {"--dry-run", "20", "--seed", "8"})).out);
  EXPECT_FALSE(std::ifstream(database() + "/LOCK").good()) << "it opens no database";
}

TEST_F(BenchDesignTest, HostileTextsAreEscaped) {
  const CommandResult result = RunPlain(
      Words("orders-of-user", {"--dry-run", "1", "--distribution=latest", "--seed=3", "--input",
                               "orders=" + WriteFile("hostile.csv",
                                                     "user,number\n"
                                                     "\"\x1b[31m\xff\"\"\",1\n"
                                                     ",1\n")}));
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out, "orders-of-user prefix \"\\x1b[31m\\xff\\\"#\" limit 30\n");
}

TEST_F(BenchDesignTest, ANameOfAQueryIsOnlyText) {
  Load();
  // A name with a comma is not in a list; the names of files come from those without one.
  WriteFile("shop.yaml", std::string(kShop).replace(std::string(kShop).find("/b,"), 3, "/b"));
  const std::string name = "a/../b\x1b[31m";
  const CommandResult text = Run(Words(name, {"--operations", "2"}));
  EXPECT_EQ(text.exit_status, 0) << text.err;
  EXPECT_EQ(text.out.find('\x1b'), std::string::npos) << text.out;
  const std::string hgrm = Path("out.hgrm");
  Output(Words(name + ",one-order",
               {"--operations", "2", "--hgrm", hgrm, "--hlog", Path("out.hlog")}));
  EXPECT_TRUE(std::ifstream(Path("out.a%2F..%2Fb%1B%5B31m.hgrm")).good());
  std::ifstream log(Path("out.hlog"));
  const std::string lines((std::istreambuf_iterator<char>(log)), std::istreambuf_iterator<char>());
  EXPECT_NE(lines.find("\nTag=a%2F..%2Fb%1B%5B31m.query,"), std::string::npos) << lines;
}

TEST_F(BenchDesignTest, ErrorsOfOperationsAreCounted) {
  Load();
  const CommandResult result = Run(Words("wrong-filter", {"--operations", "5"}));
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find("5 errors "), std::string::npos) << result.out << result.err;
  EXPECT_NE(result.out.find("     5\n"), std::string::npos) << "the column errors: " << result.out;
  const CommandResult csv = Run(Words("wrong-filter", {"--operations", "5", "--format", "csv"}));
  EXPECT_TRUE(csv.out.ends_with(" 5\n")) << "the column error_codes: " << csv.out;
}

TEST_F(BenchDesignTest, TheTableMustExist) {
  ExpectError(Words("one-order", {"--operations", "1", "--table", "orders"}), 1,
              "has no table orders: \"stele load\" creates and fills it");
  EXPECT_FALSE(std::filesystem::exists(database()));
  Output({"createtable", "x", "families=f"});
  ExpectError(Words("one-order", {"--operations", "1", "--table", "orders"}), 1,
              "has no table orders: \"stele load\" creates and fills it");
  EXPECT_EQ(Output({"ls"}), "x\n");
}

TEST_F(BenchDesignTest, RefusesWrites) {
  Load();
  ExpectError(Words("add"), 1, "the query add writes, and bench never changes a table");
}

TEST_F(BenchDesignTest, NoInputIsReplaced) {
  Load();
  for (const std::string file : {"shop.yaml", "orders.csv"}) {
    const auto size = std::filesystem::file_size(Path(file));
    for (const char* const flag : {"--hgrm", "--hlog", "-o"})
      ExpectError(Words("one-order", {"--table", "orders", "--operations", "1", flag, Path(file)}),
                  1, "would be replaced");
    EXPECT_EQ(std::filesystem::file_size(Path(file)), size);
  }
}

// The names of the files are those that are written: in.QUERY.csv.
TEST_F(BenchDesignTest, NoFileOfSeveralQueriesReplacesAnInput) {
  Load();
  std::filesystem::copy_file(Path("orders.csv"), Path("in.one-order.csv"));
  const auto size = std::filesystem::file_size(Path("in.one-order.csv"));
  ExpectError(Words("orders-of-user,one-order",
                    {"--table", "orders", "--operations", "1", "--hgrm", Path("in.csv"), "--input",
                     "orders=" + Path("in.one-order.csv")}),
              1, "would be replaced");
  EXPECT_EQ(std::filesystem::file_size(Path("in.one-order.csv")), size);
}

TEST_F(BenchDesignTest, ALocationMayHaveAnyByte) {
  for (const char* const format : {"json", "csv", "text"}) {
    BenchWords words = {"--db", Path("db\xff\x1b"), "bench", "get", "--rows",
                        "1",    "--operations",     "1"};
    if (format != std::string("text")) words.insert(words.end(), {"--format", format});
    const CommandResult result = RunPlain(words);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << result.out;
  }
}

TEST_F(BenchDesignTest, WrongQueriesAreErrors) {
  ExpectError(Words("none"), 1, "no table has the query none");
  ExpectError(Words("orders-of-user,of-user"), 1, "no table has all of the queries");
  ExpectError(Words("one-order"), 2, "2 tables of the design have one-order");
  ExpectError(Words("one-order", {"--table", "none"}), 1, "has no table \"none\"");
  ExpectError(Words("of-user"), 1, "the input \"more\" has no file");
  ExpectError(Words("of-item", {"--input", "x=y"}), 1, "has no input \"x\"");
  ExpectError({"bench", "--design", Path("none"), "--query", "a"}, 1, "none");
}

TEST_F(BenchDesignTest, WrongFlagsAreUsageErrors) {
  for (const char* const flag :
       {"--rows=1", "--fields=1", "--value-bytes=1", "--versions=1", "--key-format=hash",
        "--scan-rows=1", "--selectivity=0.5", "--load=never", "--keep"})
    ExpectError(Words("one-order", {flag}), 2, "describes a table of bench");
  ExpectError(Words("one-order", {"scan"}), 2, "not both");
  ExpectError({"bench", "--design", design_}, 2, "needs --query");
  ExpectError(Words(","), 2, "needs --query");
  ExpectError({"bench", "get", "--query", "x"}, 2, "--query needs --design");
  ExpectError({"bench", "get", "--input", "x=y"}, 2, "--input needs --design");
  ExpectError({"bench", "--operations", "1"}, 2, "name a workload");
  ExpectError(Words("one-order", {"--input", "x"}), 2, "--input must be NAME=PATH");
  ExpectError(Words("one-order", {"--input", "x=1", "--input", "x=2"}), 2, "twice");
}

}  // namespace
}  // namespace stele
#endif
