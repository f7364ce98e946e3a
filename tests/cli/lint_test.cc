// Tests stele lint: flags, exit statuses, formats.
#ifdef STELE_HAS_LAB
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/command_fixture.h"
#include "nlohmann/json.hpp"

namespace stele {
namespace {

constexpr char kOrdersDesign[] =
    "stele: design/1\n"
    "inputs: {orders: {format: csv}}\n"
    "tables:\n"
    "  orders:\n"
    "    families: {f: {}}\n"
    "    key: \"{id}\"\n"
    "    rows: [{input: orders, cells: {\"f:v\": \"{v}\"}}]\n";

class LintCommandTest : public CommandTest {
 protected:
  CommandResult LintKeys(const std::string& keys, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"lint", "--keys", WriteFile("keys", keys)});
    return RunPlain(more);
  }
  static std::string BytesOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  // The keys 1 to 2000.
  static std::string Numbers() {
    std::string text;
    for (int i = 1; i <= 2000; ++i) text += std::to_string(i) + "\n";
    return text;
  }
};

TEST_F(LintCommandTest, NoInputIsReplaced) {
  const std::string keys = WriteFile("keys", "a\nb\n");
  const std::string trace = WriteFile("trace.jsonl", "");
  for (const std::string& path : {keys, trace}) {
    const std::string before = BytesOf(path);
    const CommandResult result = RunPlain({"lint", "--keys", keys, "--trace", trace, "-o", path});
    EXPECT_EQ(result.exit_status, 1);
    EXPECT_NE(result.err.find("would be replaced"), std::string::npos) << result.err;
    EXPECT_EQ(BytesOf(path), before);
  }
}

// The command waits for keys from a pipe when the signal comes. It opens the pipe after it has made
// its directory. The pipe is full at first, so it has room only after the command has read. Then
// the command waits for the end, which does not come.
TEST_F(LintCommandTest, ASignalRemovesTheTemporaryRows) {
  const std::string keys = Path("pipe");
  const std::string directory = Path("tmp");
  ASSERT_EQ(::mkfifo(keys.c_str(), 0600), 0);
  ASSERT_TRUE(std::filesystem::create_directory(directory));
  const int writer = ::open(keys.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);  // waits for no reader
  ASSERT_GE(writer, 0);
  const std::string lines = "key\n";
  while (::write(writer, lines.data(), lines.size()) > 0) {
  }
  const auto lint = Start({"lint", "--keys", keys}, {"TMPDIR=" + directory});
  pollfd room = {.fd = writer, .events = POLLOUT, .revents = 0};
  constexpr int kBoundMillis = 5 * 60 * 1000;
  ASSERT_EQ(::poll(&room, 1, kBoundMillis), 1) << "the command reads nothing";
  EXPECT_FALSE(std::filesystem::is_empty(directory));
  EXPECT_EQ(lint->EndBy(SIGTERM), SIGTERM);
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  ::close(writer);
}

TEST_F(LintCommandTest, PrintsFindings) {
  const CommandResult result = LintKeys(Numbers());
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "t  error    KEY-UNPADDED  segment 1: numbers with 1 to 4 digits sort as text\n"
            "     \"10\" sorts before \"2\". Pad to 4 digits: stele key pad 4 N, or {field|pad:4} "
            "in a design\n"
            "t  warning  KEY-SEQ-ID    first segment: 2,000 numbers cover 100 % of 1..2000\n"
            "     the newest ids are the busiest and are all in one tablet. Reverse their digits: "
            "stele key rev-digits --width 4 N\n"
            "1 error, 1 warning, 0 notes\n");
}

TEST_F(LintCommandTest, NoRowsAreNoted) {
  const std::string design = WriteFile("schema.yaml", kOrdersDesign);
  const std::string header = WriteFile("header.csv", "id,v\n");
  const std::string wrong = WriteFile("wrong.csv", "key,v\n");
  const std::string empty = WriteFile("empty", "");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--keys", empty},
        {"--rows", empty},
        {"--design", design, "--input", "orders=" + header}}) {
    std::vector<std::string> all = {"lint"};
    all.insert(all.end(), words.begin(), words.end());
    const CommandResult result = RunPlain(all);
    EXPECT_EQ(result.exit_status, 0) << words[0];
    EXPECT_EQ(result.out, "0 errors, 0 warnings, 0 notes\n");
    EXPECT_EQ(result.err, "stele: there are no rows, so nothing was checked that needs them\n");
  }
  EXPECT_EQ(RunPlain({"lint", "--design", design}).err, "") << "no input was to be read";
  const CommandResult result = RunPlain({"lint", "--design", design, "--input", "orders=" + wrong});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.err.find("wrong.csv: no records. The header has no field \"id\"; it has key, v"),
            std::string::npos)
      << result.err;
}

TEST_F(LintCommandTest, FailOnChoosesTheExitStatus) {
  const std::string pad_and_note = "a#\xc3\xa9\n";  // one note
  for (const auto& [fail_on, status] :
       {std::pair("error", 0), {"warning", 0}, {"info", 3}, {"never", 0}})
    EXPECT_EQ(LintKeys(pad_and_note, {"--fail-on", fail_on}).exit_status, status) << fail_on;
  EXPECT_EQ(LintKeys("3\n20\n", {"--fail-on", "error"}).exit_status, 3);
  EXPECT_EQ(LintKeys("3\n20\n", {"--fail-on=never"}).exit_status, 0);
  EXPECT_EQ(LintKeys("3\n20\n", {"--skip", "KEY-UNPADDED"}).exit_status, 0);
}

TEST_F(LintCommandTest, WritesSarif) {
  const CommandResult result = LintKeys(Numbers(), {"--format", "sarif", "--skip", "KEY-SEQ-ID"});
  const auto sarif = nlohmann::json::parse(result.out);
  EXPECT_EQ(sarif["version"], "2.1.0");
  const auto& run = sarif["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["name"], "stele");
  EXPECT_TRUE(run["tool"]["driver"]["version"].is_string());
  const auto& rules = run["tool"]["driver"]["rules"];
  ASSERT_EQ(run["results"].size(), 2u);
  const auto& first = run["results"][0];
  EXPECT_EQ(first["ruleId"], "KEY-UNPADDED");
  const auto& rule = rules[first["ruleIndex"].get<size_t>()];
  EXPECT_EQ(rule["id"], "KEY-UNPADDED");
  EXPECT_EQ(rule["defaultConfiguration"]["level"], "error");
  for (const char* const text : {"shortDescription", "fullDescription", "help"})
    EXPECT_FALSE(rule[text]["text"].get<std::string>().empty());
  EXPECT_EQ(first["level"], "error");
  EXPECT_EQ(first["locations"][0]["logicalLocations"][0]["name"], "t");
  const std::string uri = first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
  EXPECT_TRUE(uri.ends_with("/keys") && uri[0] != '/') << uri;
  // xxh3 of the id, the table and where.
  EXPECT_EQ(first["partialFingerprints"]["stele/v1"].get<std::string>().size(), 16u);
  EXPECT_FALSE(first.contains("suppressions"));
  EXPECT_TRUE(run["results"][1].contains("suppressions"));
}

TEST_F(LintCommandTest, ChecksTheTablesOfADatabase) {
  Output({"createtable", "orders", "families=temperature"});
  Output({"createtable", "carts", "families=f:maxversions=1"});
  Output({"set", "orders", "a#3", "temperature:q=v"});
  Output({"set", "orders", "b#20", "temperature:q=v"});
  const CommandResult all = Run({"lint", "--format", "json"});
  EXPECT_EQ(all.exit_status, 3);
  const auto report = nlohmann::json::parse(all.out);
  EXPECT_EQ(report["tables"].size(), 2u);
  EXPECT_EQ(report["findings"][0]["id"], "KEY-UNPADDED");
  EXPECT_EQ(report["findings"][1]["id"], "SIZE-FAM-NAME");
  const CommandResult carts = Run({"lint", "carts"});
  EXPECT_EQ(carts.out, "0 errors, 0 warnings, 0 notes\n");
  EXPECT_TRUE(carts.err.starts_with("stele: there are no rows")) << carts.err;
  EXPECT_EQ(all.err,
            "stele: tables without rows: carts. Nothing was checked there that needs rows\n");
  const std::string rows = Output({"export", "orders"});
  const CommandResult exported = RunPlain({"lint", "--rows", WriteFile("rows", rows)});
  EXPECT_NE(exported.out.find("KEY-UNPADDED"), std::string::npos);
  EXPECT_EQ(Output({"export", "orders"}), rows);
  ExpectError({"lint", "none"}, 1, "none");
}

TEST_F(LintCommandTest, ChecksADesign) {
  const std::string design = WriteFile("schema.yaml", kOrdersDesign);
  const std::string input = "orders=" + WriteFile("sample.csv", "id,v\n3,a\n20,b\n3,c\n");
  const std::string path = Path("lint.sarif");
  const CommandResult result = RunPlain({"lint", "--design", design, "--input", input, "--format",
                                         "sarif", "-o", path, "--fail-on", "warning"});
  EXPECT_EQ(result.exit_status, 3) << result.err;
  EXPECT_EQ(result.out, "");
  const auto sarif = nlohmann::json::parse(BytesOf(path));
  const auto& results = sarif["runs"][0]["results"];
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0]["ruleId"], "KEY-DUP-IMPORT");
  EXPECT_EQ(results[1]["ruleId"], "KEY-UNPADDED");
  const auto& place = results[0]["locations"][0]["physicalLocation"];
  const std::string uri = place["artifactLocation"]["uri"];
  EXPECT_TRUE(uri.ends_with("/schema.yaml")) << uri;
  EXPECT_EQ(place["region"]["startLine"], 4);
  EXPECT_EQ(results[1]["locations"][0]["physicalLocation"]["region"]["startLine"], 6);
  EXPECT_EQ(RunPlain({"lint", "orders", "--design", design, "--input", input, "--limit", "1"})
                .exit_status,
            0);
  EXPECT_EQ(RunPlain({"lint", "--design", design}).out, "0 errors, 0 warnings, 0 notes\n");
}

TEST_F(LintCommandTest, ReadsAConfigFile) {
  const std::string keys = WriteFile("keys", "3\n20\n");
  const std::string good = WriteFile("good", "ignore: [{id: KEY-UNPADDED, reason: old}]\n");
  EXPECT_EQ(RunPlain({"lint", "--keys", keys, "--config", good}).exit_status, 0);
  const std::string bad = WriteFile("bad", "ignore: [{id: KEY-NONE, reason: old}]\n");
  const CommandResult result = RunPlain({"lint", "--keys", keys, "--config", bad});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.err.find("bad:1:10: \"KEY-NONE\" is not a rule"), std::string::npos)
      << result.err;
  EXPECT_EQ(RunPlain({"lint", "--keys", keys, "--config", Path("none")}).exit_status, 1);
}

TEST_F(LintCommandTest, SkipsWrongLinesOfTraces) {
  const std::string good = "{\"t\":1,\"op\":\"get\",\"table\":\"t\",\"row\":\"a\"}\n";
  const std::string trace = WriteFile("trace.jsonl", good + "[]\n" + good);
  const CommandResult wrong = RunPlain({"lint", "--trace", trace});
  EXPECT_EQ(wrong.exit_status, 1);
  EXPECT_NE(wrong.err.find("trace.jsonl:2: not a JSON object"), std::string::npos) << wrong.err;
  const CommandResult skipped = RunPlain({"lint", "--trace", trace, "--skip-bad"});
  EXPECT_EQ(skipped.exit_status, 3);
  EXPECT_EQ(skipped.out,
            "1 wrong line or damaged block of the trace skipped\n0 errors, 0 warnings, 0 notes\n");
  const std::string all_good = WriteFile("good.jsonl", good);
  EXPECT_EQ(RunPlain({"lint", "--trace", all_good, "--skip-bad"}).exit_status, 0);
  ExpectError({"lint", "--keys", trace, "--skip-bad"}, 2, "--skip-bad needs --trace");
  ExpectError({"lint", "--trace", trace, "--skip-bad=1"}, 2, "no value");
}

TEST_F(LintCommandTest, SetOnlyAndExplain) {
  const std::vector<std::string> rule = {"--only", "SIZE-KEY-MAX"};
  EXPECT_EQ(LintKeys("abc\n", rule).exit_status, 0);
  EXPECT_EQ(
      LintKeys("abc\n", {"--only", "SIZE-KEY-MAX", "--set", "SIZE-KEY-MAX.bytes=2"}).exit_status,
      3);
  const std::string text = RunPlain({"lint", "--explain", "SIZE-KEY-MAX"}).out;
  EXPECT_TRUE(text.starts_with("## SIZE-KEY-MAX\n")) << text;
  EXPECT_NE(text.find("SIZE-KEY-MAX.bytes"), std::string::npos);
}

TEST_F(LintCommandTest, ARuleThatWasChosenAndDidNotRunIsReported) {
  const CommandResult text = LintKeys("a\nb\n", {"--only", "SIZE-FAM-NAME"});
  EXPECT_EQ(text.out,
            "SIZE-FAM-NAME did not run: it needs a schema\n0 errors, 0 warnings, 0 notes\n");
  const CommandResult json = LintKeys("a\nb\n", {"--only", "SIZE-FAM-NAME", "--format", "json"});
  EXPECT_NE(json.out.find("\"tables\":{\"t\":{\"rows\":2,\"cells\":2,"), std::string::npos)
      << json.out;
}

TEST_F(LintCommandTest, RulesOfImportsAreExplained) {
  const std::string text = RunPlain({"lint", "--explain", "DDB-ADJACENCY"}).out;
  EXPECT_TRUE(text.starts_with("## DDB-ADJACENCY\n\n")) << text;
  EXPECT_NE(text.find("(info; found by import dynamodb, not by lint)"), std::string::npos) << text;
  const std::string all = RunPlain({"lint", "--explain", "all"}).out;
  for (const char* const id :
       {"DDB-ADJACENCY", "DDB-DATE-ATTR", "DDB-DATE-STRING", "DDB-GSI", "DDB-REVERSE-TS-SK",
        "DDB-SHARD-SUFFIX", "DDB-SPLIT-COUNTER", "DDB-SPLIT-VALUE", "DDB-TABLE-PER-PERIOD",
        "DDB-TTL", "DDB-VERSION-COPIES"})
    EXPECT_NE(all.find(std::string("\n## ") + id + "\n"), std::string::npos) << id;
  ExpectError({"lint", "--only", "DDB-TTL", "--keys", WriteFile("keys", "a\n")}, 2,
              "DDB-TTL is found by import dynamodb, and lint does not check it");
}

TEST_F(LintCommandTest, AdviceForPaddedNumbersKeepsTheirWidth) {
  std::string keys;
  for (int i = 0; i < 1000; ++i) keys += "0" + std::to_string(1000 + i).substr(1) + "\n";
  EXPECT_NE(LintKeys(keys).out.find("stele key rev-digits --width 4 N"), std::string::npos);
}

TEST_F(LintCommandTest, WrongUsageIsExitStatus2) {
  const std::string keys = WriteFile("keys", "a\n");
  ExpectError({"lint", "--only", "KEY-NONE", "--keys", keys}, 2, "--explain all");
  EXPECT_NE(RunPlain({"lint"}).err.find("use --db DIR, --design, --keys"), std::string::npos);
  ExpectError({"lint", "--skip", "KEY-NONE", "--keys", keys}, 2, "KEY-NONE");
  ExpectError({"lint", "--explain", "KEY-NONE"}, 2, "KEY-NONE");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"orders"}, std::vector<std::string>{"--keys", keys},
        std::vector<std::string>{"--format", "json"}}) {
    std::vector<std::string> words = {"lint", "--explain", "SIZE-KEY-MAX"};
    words.insert(words.end(), more.begin(), more.end());
    ExpectError(words, 2, "--explain checks nothing");
  }
  ExpectError({"lint", "--format", "xml", "--keys", keys}, 2, "must be text, json or sarif");
  ExpectError({"lint", "--set", "KEY-PII.x=1", "--keys", keys}, 2, "KEY-PII.x");
  for (const std::string value : {"", "x", "1x", "-1", "nan", "inf", "1e30"})
    ExpectError({"lint", "--set", "KEY-TENANT.share=" + value, "--keys", keys}, 2, "a number");
  ExpectError({"lint", "--fail-on", "note", "--keys", keys}, 2, "--fail-on");
  ExpectError({"lint", "--format", "csv", "--keys", keys}, 2, "format");
  ExpectError({"lint", "--sample", "0", "--keys", keys}, 2, "--sample");
  ExpectError({"lint", "orders", "--keys", keys}, 2, "or one file");
  ExpectError({"lint", "--rows", keys, "--keys", keys}, 2, "or one file");
  ExpectError({"lint", "--keys", Path("none")}, 1, "none");
  const std::string design = WriteFile("schema.yaml", kOrdersDesign);
  ExpectError({"lint", "--design", design, "--keys", keys}, 2, "tables, a design");
  ExpectError({"lint", "--keys", keys, "--limit", "3"}, 2, "need --design");
  ExpectError({"lint", "--keys", keys, "--trace", "-"}, 2, "reads a trace twice: store it");
  ExpectError({"lint", "--design", design, "--limit", "0"}, 2, "--limit");
  ExpectError({"lint", "--design", design, "--input", "orders"}, 2, "NAME=PATH");
  ExpectError({"lint", "--design", design, "--input", "none=x"}, 1, "no input");
}

}  // namespace
}  // namespace stele
#endif
