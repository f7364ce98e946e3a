// Tests the verb bench: its flags, its table, and its output on a directory and in memory.
#ifdef STELE_HAS_LAB
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_split.h"
#include "cli/command_fixture.h"

namespace stele {
namespace {

using Json = nlohmann::json;
using Args = std::vector<std::string>;

class BenchTest : public CommandTest {
 protected:
  // A run of a few operations on a small table.
  static Args Small(const std::string& workloads, const Args& more = {}) {
    Args args = {"bench",         workloads, "--rows",      "300", "--fields",     "3",
                 "--value-bytes", "20",      "--scan-rows", "10",  "--operations", "50"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  // Runs it with --format json, and returns a document per line.
  std::vector<Json> RunJson(const std::string& workloads, Args more = {}) const {
    more.insert(more.end(), {"--format", "json"});
    std::istringstream lines(Output(Small(workloads, more)));
    std::vector<Json> documents;
    for (std::string line; std::getline(lines, line);) documents.push_back(Json::parse(line));
    return documents;
  }
};

TEST_F(BenchTest, EveryWorkloadRunsAndCountsWhatItDid) {
  const std::vector<Json> lines =
      RunJson("all,get-missing,filter,delete,bulk,ycsb-a,ycsb-b,ycsb-c,ycsb-d,ycsb-e,ycsb-f");
  ASSERT_EQ(lines.size(), 1 + 12 + 4 + 6u);
  EXPECT_EQ(lines[0]["run"]["table"], "bench");
  EXPECT_EQ(lines[0]["load"]["rows"], 300);
  EXPECT_EQ(lines[0]["load"]["cells"], 900);
  for (size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["operations"], 50) << lines[i];
    EXPECT_EQ(lines[i]["errors"], Json::object()) << lines[i];
    EXPECT_EQ(lines[i]["latency_us"]["count"], 50);
    EXPECT_TRUE(std::string(lines[i]["latency_us"]["histogram"]).starts_with("HISTFAAA"));
    EXPECT_GT(lines[i]["disk_bytes"], 0);
  }
  // Rows, cells and bytes of reads whose number is known.
  EXPECT_EQ(lines[1]["workload"], "get");
  EXPECT_EQ(lines[1]["rows"], 50);
  EXPECT_EQ(lines[1]["cells"], 150);
  EXPECT_EQ(lines[1]["value_bytes"], 3000);
  EXPECT_EQ(lines[2]["workload"], "mget");
  EXPECT_EQ(lines[2]["rows"], 500);
  EXPECT_EQ(lines[5]["workload"], "prefix");
  EXPECT_EQ(lines[5]["rows"], 5000) << "a prefix has 100 rows";
  EXPECT_EQ(lines[7]["workload"], "project");
  EXPECT_EQ(lines[7]["rows"], lines[7]["cells"]) << "one column";
  EXPECT_EQ(Output({"ls"}), "") << "its table is deleted at the end";
}

// Another seed chooses other rows, and makes other values.
TEST_F(BenchTest, TheChecksumIsThatOfTheCellsThatWereRead) {
  const auto checksums = [this](const std::string& workloads, const Args& more) {
    std::vector<std::string> all;
    const std::vector<Json> lines = RunJson(workloads, more);
    for (size_t i = 1; i < lines.size(); ++i) all.push_back(lines[i]["checksum"]);
    return all;
  };
  const std::vector<std::string> first = checksums("get,scan,mget,get-missing,put", {});
  ASSERT_EQ(first.size(), 5u);
  EXPECT_EQ(checksums("get,scan,mget,get-missing,put", {}), first) << "the same cells";
  const std::vector<std::string> other = checksums("get,scan,mget", {"--seed", "2"});
  for (size_t i = 0; i < other.size(); ++i) EXPECT_NE(other[i], first[i]) << i;
  EXPECT_EQ(first[3], "0000000000000000") << "it reads no cell";
  EXPECT_EQ(first[4], "0000000000000000") << "it reads no cell";
}

// A server has such a row, which marks the table of bench.
TEST_F(BenchTest, NoScanReadsTheRowBeforeTheData) {
  const auto rows = [this] {
    std::vector<std::string> all;
    for (const Json& line : RunJson("scan,reverse,prefix", {"--keep"}))
      if (line.contains("checksum")) all.push_back(line["checksum"]);
    return all;
  };
  const std::vector<std::string> before = rows();
  ASSERT_EQ(before.size(), 3u);
  Output({"set", "bench", "!bench", "f:field0=x"});
  EXPECT_EQ(rows(), before);
}

TEST_F(BenchTest, TheHeaderNamesTheDistributionOfTheWorkloads) {
  const auto distribution = [this](const char* workloads, const Args& more = {}) {
    return std::string(RunJson(workloads, more)[0]["run"]["distribution"]);
  };
  EXPECT_EQ(distribution("get,put"), "uniform");
  EXPECT_EQ(distribution("ycsb-a,ycsb-c"), "zipfian, theta 0.99");
  EXPECT_EQ(distribution("ycsb-a,ycsb-d,ycsb-c,get", {"--theta", "0.5"}),
            "zipfian, theta 0.5 (ycsb-a, ycsb-c); latest, theta 0.5 (ycsb-d); uniform (get)");
  const std::string text = Output(Small("ycsb-c"));
  EXPECT_NE(text.find("\nworkload                ops     ops/s "), std::string::npos) << text;
  EXPECT_NE(text.find(" p99.9       max     mean  cpu s errors\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nrun       zipfian, theta 0.99, 1 threads"), std::string::npos) << text;
}

TEST_F(BenchTest, TheSameCommandRunsInMemory) {
  const CommandResult result = RunPlain(
      {"--db", "mem:", "bench", "scan,put", "--rows", "100", "--operations", "20", "--threads=3"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_NE(result.out.find("\nscan "), std::string::npos) << result.out;
}

TEST_F(BenchTest, AKeptTableIsUsedAgain) {
  Output(Small("get", {"--load=only"}));
  EXPECT_EQ(Output({"ls"}), "bench\n");
  EXPECT_EQ(Output({"count", "bench"}), "300\n");
  std::vector<Json> lines = RunJson("get", {"--load", "never"});
  EXPECT_FALSE(lines[0].contains("load"));
  ExpectError(Small("get", {"--load", "never", "--versions", "2"}), 1, "versions=1");
  // Other contents are loaded again, and a table of an earlier run stays.
  lines = RunJson("latest", {"--versions", "2", "--keep"});
  EXPECT_EQ(lines[0]["load"]["cells"], 1800);
  EXPECT_EQ(lines[1]["rows"], lines[1]["cells"].get<int>() / 3) << "one version of each column";
  EXPECT_EQ(Output({"ls"}), "bench\n");
}

// A run measures the rows of a load, and not what an earlier run left of them.
TEST_F(BenchTest, ATableWhoseRowsChangedIsLoadedAgain) {
  for (const char* const workload : {"delete", "put", "bulk", "increment", "ycsb-d"}) {
    EXPECT_TRUE(RunJson(workload, {"--keep"})[0].contains("load")) << workload;
    ExpectError(Small("get", {"--load", "never"}), 1, "rows that a workload wrote or deleted");
  }
  EXPECT_TRUE(RunJson("update", {"--keep"})[0].contains("load"));
  EXPECT_FALSE(RunJson("get", {"--keep"})[0].contains("load")) << "updates write the same cells";
}

// Regression: each workload began at the first new row, and wrote those of the one before again.
TEST_F(BenchTest, AWorkloadAddsRowsBehindThoseOfTheOneBefore) {
  Output(Small("put,bulk,put", {"--keep"}));
  EXPECT_EQ(Output({"count", "bench"}), std::to_string(300 + 50 + 50 * 100 + 50) + "\n");
  const CommandResult printed =
      RunPlain({"bench", "put,get,bulk", "--rows", "1000", "--dry-run", "2"});
  EXPECT_EQ(printed.exit_status, 0) << printed.err;
  EXPECT_EQ(printed.out,
            "insert user000000001000\ninsert user000000001001\nread user000000000702\n"
            "read user000000000520\nbulk user000000001002 100\nbulk user000000001102 100\n");
}

TEST_F(BenchTest, ATableOfTheUserIsNeverChanged) {
  Output({"createtable", "bench", "families=f"});
  Output({"set", "bench", "user000000000001", "f:field0=mine@1000"});
  ExpectError(Small("put,delete"), 1, "bench did not create the table bench");
  EXPECT_EQ(Output({"count", "bench"}), "1\n");
  RunJson("put", {"--table", "other"});
  EXPECT_EQ(Output({"ls"}), "bench\n");
}

TEST_F(BenchTest, HashedKeysAreLoadedInTheirOrder) {
  Output(Small("get", {"--key-format", "hash", "--load", "only"}));
  EXPECT_EQ(Output({"count", "bench"}), "300\n");
  EXPECT_EQ(RunJson("get", {"--key-format", "hash"})[1]["rows"], 50);
  ExpectError(Small("prefix", {"--key-format", "hash"}), 2, "prefix needs keys");
  const CommandResult all = Run({"bench", "all", "--key-format", "hash", "--dry-run", "1"});
  EXPECT_EQ(all.exit_status, 0);
  EXPECT_EQ(all.out.find("prefix"), std::string::npos) << all.out;
  EXPECT_EQ(all.err,
            "stele: bench: all leaves out prefix: keys of --key-format hash have no prefixes of "
            "100 rows\n");
}

TEST_F(BenchTest, ADryRunOpensNothing) {
  const CommandResult result = RunPlain({"bench", "scan,get", "--rows", "1000", "--dry-run", "2"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out,
            "scan user000000000702 100\nscan user000000000520 100\nread user000000000702\n"
            "read user000000000520\n");
}

TEST_F(BenchTest, TwoDashesEndTheFlags) {
  const CommandResult result = RunPlain({"bench", "--rows=1000", "--dry-run=1", "--", "scan"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out, "scan user000000000702 100\n");
}

TEST_F(BenchTest, FormatAndOutputComeBeforeOrAfterTheVerb) {
  const auto begins_with = [](std::string_view text, std::string_view start) {
    EXPECT_TRUE(text.starts_with(start)) << text;
  };
  begins_with(Output(Small("get")), "machine ");
  begins_with(Output(Small("get", {"--format", "text"})), "machine ");
  begins_with(Output(Small("get", {"--format=csv"})), "workload,");
  for (const auto& [format, start] : {std::pair("text", "machine "), {"json", "{\"run\":"}}) {
    Args args = Small("get", {"-o=" + Path("out")});
    args.insert(args.begin(), {"--format", format});
    EXPECT_EQ(Output(args), "");
    std::ifstream file(Path("out"));
    std::string line;
    std::getline(file, line);
    begins_with(line, start);
  }
}

TEST_F(BenchTest, CsvHasTheFiguresOfTheDiskAndOfAnOpenLoop) {
  const std::vector<std::string> lines =
      absl::StrSplit(Output(Small("scan", {"--format=csv", "--rate=100000/s"})), '\n');
  ASSERT_EQ(lines.size(), 3u);  // the last one is empty
  const std::vector<std::string> names = absl::StrSplit(lines[0], ',');
  const std::vector<std::string> cells = absl::StrSplit(lines[1], ',');
  ASSERT_EQ(cells.size(), names.size()) << lines[1];
  std::map<std::string, std::string> figures;
  for (size_t i = 0; i < names.size(); ++i) figures[names[i]] = cells[i];
  EXPECT_EQ(figures["workload"], "scan");
  for (const std::string name : {"disk_bytes", "bytes_read", "late", "not_begun"})
    EXPECT_NE(figures[name], "") << name;
  EXPECT_EQ(figures.count("error_codes"), 1u);
  EXPECT_EQ(figures["error_codes"], "");
}

TEST_F(BenchTest, HistogramFilesAreWritten) {
  const std::string hgrm = Path("out.hgrm");
  const std::string hlog = Path("out.hlog");
  Output(Small("get,scan", {"--hgrm", hgrm, "--hlog", hlog}));
  for (const char* name : {"out.get.hgrm", "out.scan.hgrm"}) {
    std::ifstream file(Path(name));
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "       Value     Percentile TotalCount 1/(1-Percentile)") << name;
  }
  std::ifstream log(hlog);
  std::string text((std::istreambuf_iterator<char>(log)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(text.starts_with("#[Histogram log format version 1.3]\n")) << text;
  EXPECT_NE(text.find("\nTag=scan.scan,"), std::string::npos) << text;
}

TEST_F(BenchTest, AnOpenLoopReportsServiceTimes) {
  const std::vector<Json> lines = RunJson("get", {"--rate", "5000/s", "--threads", "2"});
  EXPECT_EQ(lines[1]["service_time_us"]["count"], 50);
  EXPECT_TRUE(lines[1].contains("late"));
  // The last of 50 operations is due 9.8 ms after the start.
  EXPECT_GE(lines[1]["seconds"], 0.0098);
}

// No computer sustains the first rate. Each operation that is due is measured, or counted.
TEST_F(BenchTest, AnOpenLoopMeasuresAllThatIsDue) {
  for (const int rate : {1'000'000'000, 1000}) {
    std::istringstream lines(
        Output({"bench", "get", "--rows=10", "--rate", std::to_string(rate) + "/s",
                "--duration=100ms", "--warmup=50ms", "--threads=2", "--format=json"}));
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);
    const Json result = Json::parse(line, nullptr, false);
    const int64_t not_begun = result["not_begun"];
    EXPECT_NEAR(result["operations"].get<int64_t>() + not_begun, rate / 10, 2) << result;
    EXPECT_TRUE(rate == 1000 || not_begun > 0) << result;
  }
}

TEST_F(BenchTest, OperationsOfTheWarmUpDoNotCount) {
  const std::vector<Json> lines = RunJson("get", {"--warmup", "50ms", "--threads", "2"});
  EXPECT_EQ(lines[1]["operations"], 50);
  EXPECT_EQ(lines[1]["latency_us"]["count"], 50);
}

TEST_F(BenchTest, WrongFlagsAreUsageErrors) {
  const std::vector<std::pair<Args, std::string>> wrong = {
      {{"bench"}, "bench WORKLOAD"},
      {{"bench", "fly"}, "unknown workload \"fly\"; known are ycsb-a"},
      {{"bench", "get", "--rows", "0"}, "--rows"},
      {{"bench", "get", "--rows", "10k"},
       "--rows: must be a plain number, for example 10000, not \"10k\""},
      {{"bench", "get", "--operations", "-1"}, "--operations: must be a plain number"},
      {{"bench", "get", "--operations", "0"}, "0 not in range 1 to 1000000000000000"},
      {{"bench", "get", "--rows", "1", "--rows", "2"}, "--rows"},
      {{"bench", "get", "--speed", "9"}, "--speed"},
      {{"bench", "get", "scan"}, "scan"},
      {{"bench", "get", "--format", "table"}, "--format of this command must be text, json or csv"},
      {{"bench", "get", "--format", "text", "--format", "json"}, "--format"},
      {{"--format", "text", "bench", "get", "--format", "json"}, "--format is given twice"},
      {{"--format", "jsonl", "bench", "get"}, "must be text, json or csv"},
      {{"-o", "a", "bench", "get", "-o", "b"}, "-o is given twice"},
      {{"bench", "get", "--dry-run", "1", "--", "--rows", "100"}, "--rows"},
      {{"bench", "get", "--duration", "9"}, "a time such as 30s"},
      {{"bench", "get", "--duration", "9s", "--operations", "3"}, "--operations"},
      {{"bench", "get", "--duration", "0s"}, "--duration must be more than 0"},
      {{"bench", "range", "--selectivity", "0"}, "--selectivity must be more than 0"},
      {{"bench", "range", "--selectivity", "nan", "--dry-run", "1"}, "must be a number"},
      {{"bench", "get", "--rate", "fast"}, "such as 500/s"},
      {{"bench", "get", "--rate", "0/s"}, "such as 500/s"},
      {{"bench", "get", "--load", "maybe"}, "--load"},
      {{"bench", "get", "--distribution", "normal"}, "--distribution must be"},
      {{"bench", "get", "--theta", "1"}, "--theta"},
      {{"bench", "get", "--theta", "NaN", "--dry-run", "1"}, "must be a number"},
      {{"bench", "get,ycsb-a", "--distribution", "uniform"}, "does not apply to ycsb-a"},
      {{"bench", "get", "--key-format", "k"}, "--key-format must be"},
      // Scans would read the marker row, or begin after keys that are less.
      {{"bench", "get", "--key-format", "!bench%d"}, "must be greater than \"!bench\""},
      {{"bench", "get", "--key-format", "!a%d"}, "must be greater than \"!bench\""},
      {{"bench", "get", "--key-format", " %d"}, "must be greater than \"!bench\""}};
  for (const auto& [args, text] : wrong) ExpectError(args, 2, text);
  for (const std::string format : {"%d", "!benchmark%d", "!c%04d"})
    EXPECT_EQ(RunPlain({"bench", "get", "--key-format", format, "--dry-run", "1"}).exit_status, 0);
  EXPECT_EQ(
      RunPlain({"bench", "ycsb-a", "--distribution", "zipfian", "--dry-run", "1"}).exit_status, 0);
}

TEST_F(BenchTest, TheHeadingIsWrittenBeforeTheFirstWorkload) {
  // The beginning of the output fails, so no workload runs.
  const CommandResult result =
      RunPlain({"--db", "mem:", "-o", "/dev/full", "bench", "get", "--rows", "10", "--operations",
                "10", "--hgrm", Path("latency.hgrm")});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.err.find("/dev/full"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(Path("latency.hgrm")));
}

// The reader of the output ends after the heading. Then the line of the first workload cannot be
// written, so the second one does not run. The first workload waits for a reader of its
// percentiles, so it cannot end before the reader of the output.
TEST_F(BenchTest, TheLineOfAWorkloadIsWrittenBeforeTheNextOne) {
  const std::string out = Path("out");
  const std::string percentiles = Path("latency.get.hgrm");
  ASSERT_EQ(::mkfifo(out.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(percentiles.c_str(), 0600), 0);
  const auto bench = Start({"--db", "mem:", "-o", out, "bench", "get,scan", "--rows", "10",
                            "--operations", "10", "--hgrm", Path("latency.hgrm")},
                           {});
  {
    std::ifstream reader(out);
    std::string line;
    while (std::getline(reader, line) && !line.starts_with("workload ")) {
    }
    EXPECT_TRUE(line.starts_with("workload ")) << line;
  }
  {
    std::ifstream reader(percentiles);
    std::string line;
    EXPECT_TRUE(std::getline(reader, line));
    while (std::getline(reader, line)) {
    }
  }
  bench->AwaitEnd();  // by SIGPIPE, or with an error if the environment ignores SIGPIPE
  EXPECT_FALSE(std::filesystem::exists(Path("latency.scan.hgrm")));
}

TEST_F(BenchTest, OutputsAreCheckedBeforeTheRun) {
  const std::string same = Path("same");
  ExpectError(Small("get", {"--hgrm", same, "--hlog", same}), 2, "two outputs");
  for (const char* const flag : {"--hgrm", "--hlog", "-o"}) {
    Args traced = {"--trace", same};
    for (const std::string& word : Small("get", {flag, same})) traced.push_back(word);
    ExpectError(traced, 2, "two outputs");
  }
  EXPECT_FALSE(std::filesystem::exists(same));
  ExpectError(Small("get", {"--hgrm", Path("none/x")}), 1, "there is no directory");
  ExpectError(Small("get", {"--hlog", Path("none/x")}), 1, "there is no directory");
  std::filesystem::create_directory(Path("here"));
  for (const char* const flag : {"--hgrm", "--hlog", "-o"})
    ExpectError(Small("get", {flag, Path("here")}), 1, "is a directory: name a file");
  std::filesystem::create_directory(Path("x.scan.hgrm"));
  ExpectError(Small("get,scan", {"--hgrm", Path("x.hgrm")}), 1, "is a directory: name a file");
  EXPECT_FALSE(std::filesystem::exists(database()));
}

}  // namespace
}  // namespace stele
#endif  // STELE_HAS_LAB
