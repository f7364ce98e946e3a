// Tests stele replay: what runs, in which order, and what is counted.
#ifdef STELE_HAS_LAB
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "cli/command_fixture.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace stele {
namespace {

using Json = nlohmann::json;

class ReplayCommandTest : public CommandTest {
 protected:
  void SetUp() override { Output({"createtable", "t", "families=f"}); }

  // The members after t, op and table.
  static std::string Operation(int64_t micros, const std::string& op, const std::string& members,
                               const std::string& table = "t") {
    return fmt::format(R"({{"t":{},"op":"{}","table":"{}",{}}})", micros, op, table, members) +
           "\n";
  }
  // The lines of the JSON report: the settings, and the operations by their word.
  struct Report {
    Json run;
    std::map<std::string, Json> ops;
  };
  static Report ReportOf(const CommandResult& result) {
    Report report;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) {
      const Json json = Json::parse(line, nullptr, false);
      if (json.contains("run")) report.run = json["run"];
      if (json.contains("op")) report.ops[json["op"]] = json;
    }
    return report;
  }
  Report Replayed(const std::string& trace, std::vector<std::string> flags = {},
                  int exit_status = 0) const {
    std::vector<std::string> args = {
        "replay", WriteFile("trace.jsonl", trace), "--rate", "max", "--format", "json"};
    args.insert(args.end(), flags.begin(), flags.end());
    const CommandResult result = Run(args);
    EXPECT_EQ(result.exit_status, exit_status) << result.err;
    return ReportOf(result);
  }
};

TEST_F(ReplayCommandTest, WritesHaveTheRecordedColumnsAndBytes) {
  const std::string trace =
      Operation(1, "set", R"("row":"a","cells":3,"columns":["f:x","f:y"],"bytes":50)") +
      Operation(2, "set", R"("row":"b","cells":2,"bytes":2)") + Operation(3, "set", R"("row":"c")");
  const Report report = Replayed(trace);
  EXPECT_EQ(report.ops.at("set")["operations"], 3);
  EXPECT_EQ(report.ops.at("set")["cells"], 6);
  // The row, the qualifiers x, y and q2, and the values.
  EXPECT_EQ(report.ops.at("set")["value_bytes"], 50 - 1 - 4);
  std::map<std::string, size_t> value_bytes;
  std::istringstream rows(Output({"export", "t"}));
  for (std::string line; std::getline(rows, line);) {
    const Json row = Json::parse(line, nullptr, false);
    for (const Json& cell : row["cells"])
      value_bytes[row["row"].get<std::string>() + " " + cell["family"].get<std::string>() + ":" +
                  cell["qualifier"].get<std::string>()] = cell["value"].get<std::string>().size();
  }
  EXPECT_EQ(value_bytes, (std::map<std::string, size_t>{{"a f:q2", 15},
                                                        {"a f:x", 15},
                                                        {"a f:y", 15},
                                                        {"b f:q0", 0},
                                                        {"b f:q1", 0},
                                                        {"c f:q0", 0}}));
}

TEST_F(ReplayCommandTest, TheSeedDecidesTheValues) {
  const std::string trace = Operation(1, "set", R"("row":"a","columns":["f:x"],"bytes":40)");
  const auto value = [&](const std::string& seed) {
    Replayed(trace, {"--seed", seed});
    return Json::parse(Output({"export", "t"}), nullptr, false)["cells"][0]["value"];
  };
  const Json first = value("1");
  EXPECT_NE(value("2"), first);
  EXPECT_EQ(value("1"), first);
}

TEST_F(ReplayCommandTest, ReadsRunAsRecorded) {
  for (const std::string row : {"a", "b", "c", "d"})
    Output({"set", "t", row, "f:x=1@1000", "f:y=2@1000"});
  const std::string trace =
      Operation(1, "get", R"x("row":"a","filter":"column(\"f\", \"x\")")x") +
      Operation(2, "get", R"("row":"missing")") + Operation(3, "mget", R"("keys":["a","z","d"])") +
      Operation(4, "scan", R"("start":"b")") +
      Operation(5, "scan", R"("end":"c","reverse":true,"limit":1)") +
      Operation(6, "scan", R"("ranges":[["a","b"],["d",null]],"families":["none"])") +
      Operation(7, "scan", R"("ranges":[["a","b"],["d",null]],"families":["f"])");
  const Report report = Replayed(trace);
  EXPECT_EQ(report.ops.at("get")["operations"], 2);
  EXPECT_EQ(report.ops.at("get")["rows"], 1);
  EXPECT_EQ(report.ops.at("get")["cells"], 1);
  EXPECT_EQ(report.ops.at("mget")["rows"], 2);
  EXPECT_EQ(report.ops.at("scan")["operations"], 4);
  EXPECT_EQ(report.ops.at("scan")["rows"], 3 + 1 + 0 + 2);
  EXPECT_EQ(report.ops.at("all")["operations"], 7);
  EXPECT_EQ(report.ops.at("all")["latency_us"]["count"], 7);
  EXPECT_EQ(report.run["loop"], "closed loop");
}

TEST_F(ReplayCommandTest, OperationsOnARowKeepTheirOrder) {
  // The last write of a row decides its value. Rows are next to each other in the trace.
  std::string trace;
  for (int i = 0; i < 6000; ++i)
    trace +=
        Operation(i, "set", fmt::format(R"("row":"r{}","columns":["f:x"],"bytes":30)", i / 30));
  Output({"createtable", "u", "families=f"});
  Replayed(trace, {"--threads", "1"});
  Replayed(trace, {"--threads", "8", "--map", "t=u"});
  const auto values = [&](const std::string& table) {
    std::map<std::string, std::string> newest;
    std::istringstream rows(Output({"export", table}));
    for (std::string line; std::getline(rows, line);) {
      const Json row = Json::parse(line, nullptr, false);
      newest[row["row"]] = row["cells"][0]["value"];
    }
    return newest;
  };
  EXPECT_EQ(values("t").size(), 200U);
  EXPECT_EQ(values("u"), values("t"));
}

TEST_F(ReplayCommandTest, SkipsWhatCannotBeReplayed) {
  Output({"set", "t", "a", "f:x=1@1000"});
  const std::string trace =
      Operation(1, "rmw", R"("row":"a")") + Operation(2, "cas", R"("row":"a")") +
      Operation(3, "drop", R"("start":"","end":"")") +
      Operation(4, "cas", R"("row":"b","columns":["f:x"])") +
      Operation(5, "set", R"("row":"a")", "other") + Operation(6, "get", R"("row":"a")");
  const Report report = Replayed(trace);
  EXPECT_EQ(report.run["skipped"].size(), 4U) << report.run;
  EXPECT_EQ(report.run["skipped"]["operations on tables that the database does not have"], 1);
  EXPECT_EQ(report.ops.at("all")["operations"], 2);
  EXPECT_EQ(report.ops.at("get")["rows"], 1);
  EXPECT_EQ(Output({"count", "t"}), "2\n");

  const Report reads = Replayed(trace, {"--writes", "skip"});
  EXPECT_EQ(reads.run["skipped"]["writes, which are skipped"], 5);
  EXPECT_EQ(reads.ops.at("all")["operations"], 1);

  Replayed(trace, {"--writes", "apply-drops", "--limit", "3"});
  EXPECT_EQ(Output({"count", "t"}), "0\n");
}

TEST_F(ReplayCommandTest, ADropWithOtherMembersDropsNothing) {
  Output({"set", "t", "a", "f:x=1@1000"});
  for (const char* const members : {R"("row":"z")", R"("keys":["z"])", R"("ranges":[["y","z"]])",
                                    R"("ranges":[])", R"("start":"a","row":"z")"}) {
    const Report report =
        Replayed(Operation(1, "drop", members), {"--writes", "apply-drops"}, /*exit_status=*/1);
    EXPECT_EQ(report.run["errors"]["INVALID_ARGUMENT"], 1) << members << report.run;
    EXPECT_EQ(Output({"count", "t"}), "1\n") << members;
  }
}

TEST_F(ReplayCommandTest, ADropIsOrderedWithAllThreads) {
  std::string trace;
  for (int i = 0; i < 2000; ++i)
    trace += Operation(i, "set", fmt::format(R"("row":"r{}","columns":["f:x"])", i));
  trace += Operation(2000, "drop", R"("start":"","end":"")");
  for (int i = 0; i < 10; ++i)
    trace += Operation(2001 + i, "set", fmt::format(R"("row":"r{}","columns":["f:x"])", i));
  Replayed(trace, {"--writes", "apply-drops", "--threads", "8"});
  EXPECT_EQ(Output({"count", "t"}), "10\n");
}

TEST_F(ReplayCommandTest, TheWarmupCountsReplayedOperations) {
  std::string trace;
  for (int i = 0; i < 50; ++i) trace += Operation(i, i % 5 == 0 ? "get" : "set", R"("row":"a")");
  const Report report = Replayed(trace, {"--writes", "skip", "--warmup", "4"});
  EXPECT_EQ(report.ops.at("get")["operations"], 10 - 4);
  EXPECT_EQ(Replayed(trace, {"--writes", "skip", "--limit", "20"}).ops.at("get")["operations"], 4)
      << "the limit counts the operations of the trace";
}

TEST_F(ReplayCommandTest, AWriteThatNoTableTakesIsAnError) {
  const Report report = Replayed(Operation(1, "set", R"("row":"a","cells":100001)") +
                                     Operation(2, "set", R"("row":"a","bytes":104857601)"),
                                 {}, /*exit_status=*/1);
  EXPECT_EQ(report.run["errors"]["INVALID_ARGUMENT"], 2) << report.run;
  EXPECT_EQ(Output({"count", "t"}), "0\n");
}

TEST_F(ReplayCommandTest, AWrongLineEndsWithAReport) {
  const Report report =
      Replayed(Operation(1, "get", R"("row":"a")") + "{}\n" + Operation(2, "get", R"("row":"a")"),
               {"-o", Path("report.json")}, /*exit_status=*/1);
  std::ostringstream text;
  text << std::ifstream(Path("report.json")).rdbuf();
  EXPECT_EQ(ReportOf({.out = text.str()}).ops["get"]["operations"], 1) << text.str();
  EXPECT_FALSE(report.run.is_null()) << "--format json prints JSON beside a file, too";
}

TEST_F(ReplayCommandTest, ALongCallIsWrittenLate) {
  std::string trace;
  for (int i = 0; i < 60'000; ++i) trace += Operation(2, "get", R"("row":"a")");
  const Report report = Replayed(trace + Operation(1, "scan", R"("limit":1)"));
  EXPECT_EQ(report.ops.at("get")["operations"], 60'000);
  EXPECT_EQ(report.ops.at("scan")["operations"], 1);
}

TEST_F(ReplayCommandTest, AWarmupOfTheWholeTraceIsNoted) {
  const std::string trace = WriteFile("one.jsonl", Operation(1, "get", R"("row":"a")"));
  const std::string note = "no operation was measured";
  EXPECT_NE(Output({"replay", trace, "--warmup", "2"}).find(note), std::string::npos);
  EXPECT_EQ(Output({"replay", trace}).find(note), std::string::npos);
}

TEST_F(ReplayCommandTest, TheTextIsForATerminal) {
  const std::string trace = WriteFile("a\x1b[31m", Operation(1, "get", R"("row":"a")"));
  EXPECT_EQ(Output({"replay", trace, "--rate", "max"}).find('\x1b'), std::string::npos);
}

TEST_F(ReplayCommandTest, ErrorsAreCountedByCode) {
  const std::string trace = Operation(1, "set", R"("row":"a","columns":["none:x"])") +
                            Operation(2, "get", R"("row":"a","filter":"nonsense")") +
                            Operation(3, "set", R"("row":"a","columns":["f:x"])") +
                            Operation(4, "get", R"("row":"a")");
  const Report report = Replayed(trace, {}, 1);
  uint64_t errors = 0;
  for (const auto& [code, count] : report.run["errors"].items()) errors += count.get<uint64_t>();
  EXPECT_EQ(errors, 2U) << report.run;
  EXPECT_EQ(report.ops.at("all")["operations"], 4);
  EXPECT_EQ(report.ops.at("get")["rows"], 1);
}

TEST_F(ReplayCommandTest, OpenLoopKeepsTheRecordedTimes) {
  // 20 operations, one per 10 ms: the last one is due after 95 ms if the replay is twice as fast.
  std::string trace;
  for (int i = 0; i < 20; ++i) trace += Operation(1'000'000 + i * 10'000, "get", R"("row":"a")");
  const std::string path = WriteFile("trace.jsonl", trace);
  const auto begin = std::chrono::steady_clock::now();
  const CommandResult result =
      Run({"replay", path, "--rate", "2x", "--warmup", "5", "--format=json"});
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(95));
  ASSERT_EQ(result.exit_status, 0) << result.err;
  const Report report = ReportOf(result);
  EXPECT_EQ(report.run["loop"], "open loop, 2 times as fast as recorded");
  EXPECT_EQ(report.ops.at("get")["operations"], 15);
  EXPECT_EQ(report.ops.at("get")["service_time_us"]["count"], 15);
  EXPECT_EQ(report.ops.at("all")["due_rates"]["time_us"], 14 * 5000 + 1000);
}

TEST_F(ReplayCommandTest, WritesFilesForHistogramTools) {
  const std::string trace = WriteFile(
      "trace.jsonl", Operation(1, "get", R"("row":"a")") + Operation(2, "set", R"("row":"a")"));
  Output({"replay", trace, "--rate", "max", "--hgrm", Path("a.hgrm"), "--hlog", Path("a.hlog")});
  std::ostringstream percentiles;
  percentiles << std::ifstream(Path("a.hgrm")).rdbuf();
  EXPECT_NE(percentiles.str().find("Percentile"), std::string::npos);
  std::ostringstream log;
  log << std::ifstream(Path("a.hlog")).rdbuf();
  EXPECT_NE(log.str().find("\nTag=get,"), std::string::npos) << log.str();
  EXPECT_NE(log.str().find("\nTag=set,"), std::string::npos) << log.str();
}

// The command stops itself when it has opened the trace: then it waits for signals.
TEST_F(ReplayCommandTest, ASignalEndsTheReplayWithAReport) {
  const std::string trace =
      WriteFile("trace.jsonl", Operation(1, "get", R"("row":"a")") +
                                   Operation(3'600'000'001, "get", R"("row":"a")"));
  for (const char* const name : {"report.txt", "report.json"}) {
    const auto replay =
        StartAndStopAtOpen(".jsonl", 1, {"--db", database(), "replay", trace, "-o", Path(name)});
    ASSERT_TRUE(replay->AwaitStop());
    EXPECT_EQ(replay->EndBy(SIGTERM), SIGTERM);
    std::ifstream file(Path(name));
    const std::string report((std::istreambuf_iterator<char>(file)), {});
    EXPECT_NE(report.find("the replay was stopped; the later operations did not run"),
              std::string::npos)
        << report;
  }
}

TEST_F(ReplayCommandTest, MapsTables) {
  const std::string trace =
      WriteFile("trace.jsonl", Operation(1, "set", R"("row":"a")", "p/i/old"));
  ExpectError({"replay", trace, "--rate", "max"}, 1, "name another one with --map OLD=NEW");
  Output({"replay", trace, "--rate", "max", "--map", "p/i/old=t"});
  EXPECT_EQ(Output({"count", "t"}), "1\n");
  ExpectError({"replay", trace, "--map", "p/i/old"}, 2, "OLD=NEW");
  ExpectError({"replay", trace, "--map", "a=b,a=c"}, 2, "twice");
}

TEST_F(ReplayCommandTest, WrongInputIsAnError) {
  const std::string trace = WriteFile("trace.jsonl", Operation(1, "get", R"("row":"a")") + "{}\n");
  const CommandResult wrong = Run({"replay", trace, "--rate", "max"});
  EXPECT_EQ(wrong.exit_status, 1);
  EXPECT_NE(wrong.err.find("trace.jsonl:2: "), std::string::npos) << wrong.err;
  const CommandResult skipped = Run({"replay", trace, "--rate", "max", "--skip-bad"});
  EXPECT_EQ(skipped.exit_status, 3);
  EXPECT_NE(skipped.err.find("left out 1 wrong line or damaged block"), std::string::npos)
      << skipped.err;
  ExpectError({"replay", Path("none"), "--rate", "max"}, 1, "none");
  const std::string same = WriteFile("trace.json", Operation(1, "get", R"("row":"a")"));
  ExpectError({"replay", same, "-o", same}, 1, "trace.json");
  ExpectError({"replay", trace, "-o", trace}, 2, "must end in .html, .json or .txt");
  ExpectError({"replay", trace, "--hgrm", trace}, 1, "trace.jsonl");
  for (const std::string rate : {"0x", "x", "5", "-1/s", "fast", "1e3/s", "1.2.3x", "nanx", "infx"})
    ExpectError({"replay", trace, "--rate=" + rate}, 2, "--rate must be");
  ExpectError({"replay", trace, "--threads", "0"}, 2, "--threads");
  ExpectError({"replay", trace, "--limit", "0"}, 2, "--limit");
  ExpectError({"replay", trace, "--warmup", "soon"}, 2, "--warmup");
  ExpectError({"replay", trace, "--writes", "some"}, 2, "--writes");
  ExpectError({"replay"}, 2, "usage: stele replay");
}

TEST_F(ReplayCommandTest, OutputsHaveFilesOfTheirOwn) {
  const std::string trace = WriteFile("trace.jsonl", Operation(1, "get", R"("row":"a")"));
  const std::string same = Path("same.txt");
  ExpectError({"replay", trace, "-o", same, "--hgrm", same}, 2, "same.txt");
  ExpectError({"replay", trace, "--hgrm", same, "--hlog", same}, 2, "same.txt");
  ExpectError({"--trace", same, "replay", trace, "-o", same}, 2, "two outputs");
  ExpectError({"--trace", same, "replay", trace, "--hlog", same}, 2, "two outputs");
  EXPECT_FALSE(std::filesystem::exists(same));
  for (const char* const flag : {"-o", "--hgrm", "--hlog"})
    ExpectError({"replay", trace, flag, Path("none/x.txt")}, 1, "there is no directory");
  // The write of the trace does not run before these errors.
  const std::string writes = WriteFile("writes.jsonl", Operation(1, "set", R"("row":"a")"));
  std::filesystem::create_directory(Path("directory.txt"));
  for (const char* const flag : {"-o", "--hgrm", "--hlog"})
    ExpectError({"replay", writes, flag, Path("directory.txt")}, 1,
                "directory.txt is a directory: name a file");
  if (::geteuid() != 0) {
    std::filesystem::create_directory(Path("locked"));
    std::filesystem::permissions(
        Path("locked"), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    ExpectError({"replay", writes, "--hgrm", Path("locked/x")}, 1, "write to");
  }
  EXPECT_EQ(Output({"count", "t"}), "0\n");
}

TEST_F(ReplayCommandTest, TheReportIsAlsoAFile) {
  const std::string trace = WriteFile(
      "trace.jsonl", Operation(1, "get", R"("row":"a")") + Operation(2, "set", R"("row":"a")"));
  std::vector<std::string> files;
  for (const char* const name : {"report.txt", "report.json", "report.html"}) {
    const CommandResult result = Run({"replay", trace, "--rate", "max", "-o", Path(name)});
    EXPECT_EQ(result.exit_status, 0) << result.err;
    const std::string wrote = "wrote " + Path(name) + "\n";
    EXPECT_TRUE(result.out.ends_with(wrote)) << result.out;
    std::ifstream file(Path(name));
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    files.push_back(text);
    if (files.size() == 1) {
      EXPECT_EQ(text + wrote, result.out);
    }
  }
  EXPECT_TRUE(files[1].starts_with("{\"run\":{")) << files[1];
  EXPECT_TRUE(files[2].starts_with("<!doctype html>"));
}

// Orders of users. Each user's are one range.
class ReplayDesignTest : public ReplayCommandTest {
 protected:
  ReplayDesignTest() {
    WriteFile("orders.csv", "user,number,item\nu1,1,hat\nu1,2,cap\nu2,1,hat\n");
    design_ = WriteFile("design.yaml",
                        "stele: design/1\n"
                        "inputs: {orders: {file: orders.csv}}\n"
                        "tables:\n"
                        "  orders:\n"
                        "    families: {o: {gc: \"maxversions=1\"}}\n"
                        "    key: \"{user}#{number}\"\n"
                        "    rows: [{input: orders, cells: {\"o:item\": \"{item}\"}}]\n"
                        "    queries:\n"
                        "      of-user: {read: {prefix: \"{user}#\"}}\n"
                        "      one: {read: {row: \"{user}#{number}\"}}\n"
                        "      add: {write: orders}\n");
    trace_ = WriteFile(
        "workload.jsonl",
        "{\"t\":5000000,\"query\":\"of-user\",\"params\":{\"user\":\"u1\"}}\n"
        "{\"t\":5000000,\"query\":\"one\",\"params\":{\"user\":\"u2\",\"number\":\"1\"}}\n"
        "{\"t\":5200000,\"query\":\"add\",\"record\":{\"user\":\"u3\",\"number\":\"1\","
        "\"item\":\"scarf\"}}\n");
  }
  void Load() const { Output({"load", design_}); }
  CommandResult ReplayWith(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"replay", trace_, "--design", design_, "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  }

  std::string design_;
  std::string trace_;
};

TEST_F(ReplayDesignTest, ALogicalTraceRunsThroughADesign) {
  Load();
  const CommandResult result = ReplayWith({"--hlog", Path("log")});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  const Report report = ReportOf(result);
  EXPECT_EQ(report.run["loop"], "open loop at the recorded times");
  EXPECT_GE(report.run["seconds"], 0.2);
  EXPECT_EQ(report.ops.at("of-user")["rows"], 2);
  EXPECT_EQ(report.ops.at("of-user")["cells"], 2);
  EXPECT_EQ(report.ops.at("of-user")["value_bytes"], 6);
  EXPECT_EQ(report.ops.at("one")["operations"], 1);
  EXPECT_EQ(report.ops.at("one")["rows"], 1);
  EXPECT_EQ(report.ops.at("add")["operations"], 1);
  EXPECT_EQ(report.ops.at("add")["cells"], 1);
  EXPECT_EQ(report.ops.at("all")["operations"], 3);
  EXPECT_NE(Output({"lookup", "orders", "u3#1"}).find("scarf"), std::string::npos);
  std::ifstream log(Path("log"));
  std::string lines((std::istreambuf_iterator<char>(log)), {});
  EXPECT_NE(lines.find("\nTag=of-user,0.000,"), std::string::npos) << lines;
}

TEST_F(ReplayDesignTest, FlagsApplyToALogicalTrace) {
  Load();
  const Report reads = ReportOf(ReplayWith({"--writes", "skip", "--rate", "max"}));
  EXPECT_EQ(reads.ops.count("add"), 0u);
  EXPECT_EQ(reads.run["skipped"]["writes, which are skipped"], 1);
  EXPECT_EQ(Output({"count", "orders"}), "3\n");
  const Report first = ReportOf(ReplayWith({"--limit", "1", "--rate", "max"}));
  EXPECT_EQ(first.ops.at("all")["operations"], 1);
  Output({"createtable", "other", "families=o"});
  const Report mapped = ReportOf(ReplayWith({"--map", "orders=other", "--rate", "max"}));
  EXPECT_EQ(mapped.ops.at("of-user")["rows"], 0);
  EXPECT_EQ(Output({"count", "other"}), "1\n");
}

TEST_F(ReplayDesignTest, WrongUsesAreErrors) {
  ExpectError({"replay", trace_, "--design", design_}, 1, "orders");
  Load();
  ExpectError({"replay", trace_, "--table", "orders"}, 2, "--table is the table of --design");
  ExpectError({"replay", trace_, "--design", design_, "--skip-bad"}, 2, "--skip-bad is for");
  ExpectError({"replay", trace_, "--design", design_, "--table", "none"}, 1, "has no table none");
  const std::string same = WriteFile("workload.json", "");
  ExpectError({"replay", same, "--design", design_, "-o", same}, 1, "would be replaced");
  ExpectError(
      {"replay", WriteFile("n.jsonl", "{\"query\":\"of-user\",\"params\":{\"user\":\"u\"}}\n"),
       "--design", design_},
      1, "n.jsonl has no times: use --rate N/s, or --rate max");
}

}  // namespace
}  // namespace stele
#endif
