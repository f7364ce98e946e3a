// Tests stele compare-designs: exact figures, answers, and the files left behind.
#ifdef STELE_HAS_LAB
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/command_fixture.h"
#include "compare/work_directory.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace stele {
namespace {

using Json = nlohmann::json;

// 10 users with 4 orders each.
constexpr char kByUser[] =
    "stele: design/1\n"
    "inputs: {orders: {file: orders.csv}}\n"
    "tables:\n"
    "  orders:\n"
    "    families: {o: {gc: \"maxversions=1\"}}\n"
    "    key: \"{user}#{number}\"\n"
    "    rows: [{input: orders, timestamp: \"1000\", cells: {\"o:item\": \"{item}\", "
    "\"o:pieces\": \"{pieces}\"}}]\n"
    "    queries:\n"
    "      of-user: {weight: 6, read: {prefix: \"{user}#\"}, answer: [\"o:item\"]}\n"
    "      one: {weight: 3, read: {row: \"{user}#{number}\", columns: [\"o:item\"]}}\n"
    "      add: {write: orders}\n";

// The orders of a user are spread over the table.
constexpr char kByNumber[] =
    "stele: design/1\n"
    "inputs: {orders: {file: orders.csv}}\n"
    "tables:\n"
    "  by_number:\n"
    "    families: {o: {gc: \"maxversions=1\"}}\n"
    "    key: \"{number}#{user}\"\n"
    "    rows: [{input: orders, timestamp: \"1000\", cells: {\"o:item\": \"{item}\", "
    "\"o:pieces\": \"{pieces}\"}}]\n"
    "    queries:\n"
    "      of-user: {read: {filter: 'row_regex(\".*#{user}\")'}, answer: [\"o:item\"]}\n"
    "      one: {read: {row: \"{number}#{user}\", columns: [\"o:item\"]}}\n"
    "      add: {write: orders}\n";

class CompareCommandTest : public CommandTest {
 protected:
  CompareCommandTest()
      : by_user_(WriteFile("by-user.yaml", kByUser)),
        by_number_(WriteFile("by-number.yaml", kByNumber)) {
    std::string csv = "user,number,item,pieces\n";
    for (int user = 0; user < 10; ++user)
      for (int number = 0; number < 4; ++number)
        csv += fmt::format("u{},{},hat{}{},1\n", user, number, user, number);
    WriteFile("orders.csv", csv);
  }

  std::vector<std::string> Words(const std::string& other,
                                 const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {
        "compare-designs", by_user_, other,         "--operations", "400",
        "--rounds",        "1",      "--time=5000", "--seed=7"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Json Compared(const std::string& other, const std::vector<std::string>& more = {},
                int exit_status = 0) const {
    std::vector<std::string> words = Words(other, more);
    words.insert(words.end(), {"--format", "json"});
    const CommandResult result = RunPlain(words);
    EXPECT_EQ(result.exit_status, exit_status) << result.err;
    return Json::parse(result.out, nullptr, false);
  }
  std::string Contents(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Without what repeats: blanks.
  static std::string Squeezed(const std::string& text) {
    std::string squeezed;
    for (const char byte : text)
      if (byte != ' ' || (!squeezed.empty() && squeezed.back() != ' ')) squeezed += byte;
    return squeezed;
  }
  // Other words than those of kByNumber.
  std::string Changed(const std::string& name, const std::string& from,
                      const std::string& to) const {
    std::string text = kByNumber;
    text.replace(text.find(from), from.size(), to);
    return WriteFile(name, text);
  }

  const std::string by_user_;
  const std::string by_number_;
};

TEST_F(CompareCommandTest, FiguresAreExact) {
  const Json compared = Compared(by_number_);
  ASSERT_EQ(compared["designs"].size(), 2u) << compared;
  uint64_t operations = 0;
  for (const Json& design : compared["designs"]) {
    EXPECT_EQ(design["data"]["records"], 40);
    EXPECT_EQ(design["data"]["rows"], 40);
    EXPECT_EQ(design["data"]["cells_kept"], 80);
    EXPECT_EQ(design["data"]["cells_per_row"]["max"], 2);
    EXPECT_EQ(design["data"]["key_bytes"], 40 * 4);
    EXPECT_EQ(design["data"]["qualifier_bytes"], 40 * 12);  // with the family's name
    EXPECT_EQ(design["data"]["value_bytes"], 40 * 6);
    EXPECT_GT(design["data"]["disk_bytes"], 0);
    const Json& of_user = design["queries"][0];
    const auto count = of_user["operations"].get<uint64_t>();
    EXPECT_EQ(of_user["requests"], count);
    EXPECT_EQ(of_user["rows_returned"], 4 * count);
    EXPECT_EQ(of_user["cells_returned"], 8 * count);
    EXPECT_EQ(of_user["bytes_returned"], count * 4 * (4 + 10 + 6));
    EXPECT_EQ(design["queries"][1]["cells_returned"], design["queries"][1]["operations"]);
    EXPECT_EQ(design["queries"][2]["writes"], "orders");
    operations = 0;
    for (const Json& query : design["queries"]) operations += query["operations"].get<uint64_t>();
    EXPECT_EQ(operations, 400u);
    EXPECT_GT(of_user["operations"], design["queries"][1]["operations"]) << "the weights";
    EXPECT_GT(of_user["latency_us"]["p99"], 0);
    EXPECT_TRUE(of_user["latency_us"]["histogram"].get<std::string>().starts_with("HISTFAAA"));
  }
  EXPECT_EQ(compared["answers_compared"], compared["designs"][0]["queries"][0]["operations"]);
  EXPECT_EQ(compared["answers_equal"], compared["answers_compared"]);
  EXPECT_EQ(compared["designs"][0]["heat_map"]["steps"], 100) << "the map of the page";
  EXPECT_EQ(compared["designs"][0]["design"], "by-user");
  EXPECT_EQ(compared["designs"][1]["table"], "by_number");
}

TEST_F(CompareCommandTest, TheSameSeedGivesTheSameFigures) {
  const auto exact = [&](const std::vector<std::string>& more) {
    Json compared = Compared(by_number_, more);
    for (Json& design : compared["designs"]) {
      for (Json& query : design["queries"]) query.erase("latency_us");
      for (const std::string member : {"operations_per_second", "cpu_seconds"})
        for (const char* const ending : {"", "_least", "_largest"}) design.erase(member + ending);
      design.erase("rates");
      design["data"].erase("load_seconds");
    }
    compared.erase("threads");
    compared.erase("better");  // also at times
    return compared;
  };
  const Json first = exact({});
  EXPECT_EQ(exact({"--threads", "3"}), first);
  EXPECT_NE(exact({"--distribution", "zipfian"})["designs"], first["designs"]);
}

TEST_F(CompareCommandTest, ADifferentAnswerGivesExitStatus3) {
  const std::string wrong = Changed("wrong.yaml", ".*#{user}", "[0-2]#{user}");
  const Json compared = Compared(wrong, {}, /*exit_status=*/3);
  EXPECT_EQ(compared["answers_equal"], 0);
  EXPECT_EQ(compared["differences"].size(), 3u);
  EXPECT_EQ(compared["differences"][0]["query"], "of-user");
  const CommandResult text = RunPlain(Words(wrong));
  EXPECT_EQ(text.exit_status, 3);
  EXPECT_NE(text.out.find("\nanswers     equal in 0 of "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\n            of-user, user=u"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find(" answers differ, so no design is better\n"), std::string::npos);
}

TEST_F(CompareCommandTest, TheTextMarksTheBetterDesign) {
  const CommandResult text =
      RunPlain(Words(Changed("twice.yaml", "\"o:pieces\"", "\"o:number-of-pieces\"")));
  EXPECT_EQ(text.exit_status, 0) << text.err;
  EXPECT_NE(Squeezed(text.out).find("\nlogical bytes 880 * 1,280\n"), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("\nby-user is better at logical bytes, "), std::string::npos) << text.out;
}

TEST_F(CompareCommandTest, TheTextIsATable) {
  const CommandResult result = RunPlain(Words(by_number_));
  EXPECT_EQ(result.exit_status, 0) << result.err;
  const std::string text = Squeezed(result.out);
  EXPECT_TRUE(text.starts_with("loading by-user 40 records, ")) << text;
  const char* const parts[] = {
      " s by-number 40 records, ",
      "\nreplaying 400 operations, closed loop, 1 thread, rounds 1, uniform distribution, seed 7\n",
      " by-user by-number\ntable orders by_number\n",
      "\ndisk bytes, compacted ",
      "\nof-user rows seen / returned 1.0 * 10.0\n",
      "\n rows returned / operation 4.00 4.00\n",
      "\n p50 / p99 / max us ",
      "\none rows seen / returned 1.0 1.0\n",
      "\nadd operations ",
      "\noverall operations/s ",
      "\nload hottest band, Gini ",
      "\n patterns ",
      "\nfindings only in one design COL-AS-DATA (note) KEY-FULL-SCAN (warning)\n",
      "\nanswers equal in ",
      "\n* clearly better than all others\nby-user is better at of-user rows seen / returned"};
  size_t at = 0;
  for (const char* const part : parts) {
    const size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "is not below the others in\n" << result.out;
    at = found + 1;
  }
  EXPECT_TRUE(text.ends_with(".\n")) << text;
  EXPECT_EQ(text.find('\n', text.find(" is better at ")), text.size() - 1) << "one sentence";
}

TEST_F(CompareCommandTest, FindingsOfSomeDesignsHaveALine) {
  const std::string third = Changed("third.yaml", "answer: [\"o:item\"]", "answer: [\"o:item\"] ");
  const CommandResult result = RunPlain(Words(by_number_, {third}));
  EXPECT_EQ(result.exit_status, 0) << result.err;
  const std::string text = Squeezed(result.out);
  EXPECT_NE(text.find("\n third 40 records, "), std::string::npos) << result.out;
  EXPECT_NE(text.find("\nfindings only in one design COL-AS-DATA (note) - -\n"
                      " in some designs - KEY-FULL-SCAN (warning) KEY-FULL-SCAN (warning)\n"),
            std::string::npos)
      << result.out;
}

TEST_F(CompareCommandTest, TheReportIsAlsoAFile) {
  std::vector<std::string> files;
  for (const char* const name : {"report.txt", "report.json", "report.html"}) {
    const CommandResult result = RunPlain(Words(by_number_, {"-o", Path(name)}));
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_NE(result.out.find("\nlogical bytes  "), std::string::npos) << result.out;
    const std::string file = Contents(name);
    files.push_back(file);
    if (files.size() == 1) {
      EXPECT_EQ(file + "wrote " + Path(name) + "\n", result.out);
    }
  }
  const Json file = Json::parse(files[1], nullptr, false);
  ASSERT_EQ(file["designs"].size(), 2u) << files[1];
  EXPECT_EQ(file["designs"][1]["heat_map"]["steps"], 100) << "the map of the page";
  EXPECT_TRUE(files[2].starts_with("<!doctype html>"));
  EXPECT_NE(files[2].find("<title>Comparison of designs</title>"), std::string::npos);
  for (const char* const name : {"other.json", "other.html"}) {
    const CommandResult json = RunPlain(Words(by_number_, {"-o", Path(name), "--format", "json"}));
    EXPECT_EQ(json.exit_status, 0) << json.err;
    const Json latency =
        Json::parse(json.out, nullptr, false)["designs"][0]["queries"][0]["latency_us"];
    for (const char* const figure : {"count", "min", "mean", "stdev", "p90", "p999", "p9999"})
      EXPECT_TRUE(latency.contains(figure)) << figure << " in " << json.out;
    EXPECT_NE(Contents(name), "");
  }
}

TEST_F(CompareCommandTest, ACellThatNoRecordFillsIsNoted) {
  const CommandResult text = RunPlain(Words(Changed("typo.yaml", "\"{pieces}\"", "\"{piecs}\"")));
  EXPECT_EQ(text.exit_status, 0) << text.err;
  EXPECT_NE(text.out.find("\nnote: typo: no record fills the cell o:pieces = {piecs}\n"),
            std::string::npos)
      << text.out;
}

TEST_F(CompareCommandTest, AnEstimateHasNodesAndPrices) {
  const std::string nodes =
      WriteFile("nodes.yaml",
                "reads: 1000\nwrites: 500\nscan_mb: 10\nstorage_tb: 1\ntarget: 0.5\nrate: 4000\n"
                "data_factor: 1000000000\nnode_hour: 2\ngb_month: 0.1\n");
  const Json compared = Compared(by_number_, {"--estimate", nodes});
  EXPECT_EQ(compared["estimate_rate"], 4000);
  const Json& design = compared["designs"][0];
  const Json& estimate = design["estimate"];
  const auto operations = [&](size_t query) {
    return design["queries"][query]["operations"].get<double>();
  };
  // 400 operations at 4,000 per second: of-user scans 4 rows of 22 bytes, and one reads a row.
  EXPECT_EQ(estimate["reads_per_second"], 10 * (operations(0) + operations(1)));
  EXPECT_EQ(estimate["writes_per_second"], 10 * operations(2));
  EXPECT_NEAR(estimate["scan_mb_per_second"], 10 * operations(0) * 88 / 1e6, 1e-9);
  const double gigabytes = design["data"]["disk_bytes"].get<double>();
  EXPECT_NEAR(estimate["storage_gb"], gigabytes, 1e-6);
  const double load = estimate["reads_per_second"].get<double>() / 1000 +
                      estimate["writes_per_second"].get<double>() / 500 +
                      estimate["scan_mb_per_second"].get<double>() / 10;
  EXPECT_NEAR(estimate["load"], load, 1e-9);
  const double for_storage = std::ceil(gigabytes / 1000 / 0.5);
  EXPECT_EQ(estimate["nodes"], std::max(for_storage, std::ceil(load / 0.5)));
  EXPECT_NEAR(estimate["month_price"], estimate["nodes"].get<double>() * 2 * 730 + gigabytes * 0.1,
              1e-6);
  // The other design's scans see all rows.
  const Json& other = compared["designs"][1]["estimate"];
  EXPECT_GT(other["scan_mb_per_second"], estimate["scan_mb_per_second"]);
  EXPECT_EQ(other["reads_per_second"], estimate["reads_per_second"]);
}

TEST_F(CompareCommandTest, AnEstimateHasDefaults) {
  const CommandResult text =
      RunPlain(Words(by_number_, {"--estimate", WriteFile("n.yaml", "target: 0.7\n")}));
  EXPECT_EQ(text.exit_status, 0) << text.err;
  const std::string squeezed = Squeezed(text.out);
  const size_t at = squeezed.find("\nestimate rows read/s, with one per scan ");
  ASSERT_NE(at, std::string::npos) << text.out;
  EXPECT_NE(squeezed.find("\n nodes 1 1\n for Cloud Bigtable: 1,000 operations/s\n", at),
            std::string::npos)
      << text.out;
  EXPECT_EQ(text.out.find("price"), std::string::npos);
  // A logical trace has a rate.
  const std::string trace =
      WriteFile("t.jsonl",
                "{\"t\":7000000,\"query\":\"of-user\",\"params\":{\"user\":\"u1\"}}\n"
                "{\"t\":7500000,\"query\":\"of-user\",\"params\":{\"user\":\"u1\"}}\n"
                "{\"t\":8000000,\"query\":\"of-user\",\"params\":{\"user\":\"u2\"}}\n");
  const CommandResult traced = RunPlain({"compare-designs", by_user_, by_number_, "--trace", trace,
                                         "--estimate", Path("n.yaml"), "--rounds", "1"});
  EXPECT_NE(traced.out.find("for Cloud Bigtable: 2 operations/s\n"), std::string::npos)
      << traced.out << traced.err;
}

TEST_F(CompareCommandTest, AWrongEstimateFileIsAnError) {
  const std::pair<const char*, const char*> cases[] = {
      {"reads: 0\n", "n.yaml:1:8: reads must be a number from 1e-09"},
      {"writes: -1\n", "writes must be a number from"},
      {"scan_mb: inf\n", "scan_mb must be a number from"},
      {"target: 1.5\n", "target must be a number from 1e-09 to 1"},
      {"storage_tb: five\n", "storage_tb must be a number"},
      {"rate: 0x10\n", "rate must be a number"},
      {"read: 5\n", "read"},
      {"node_hour: 5\n", "node_hour and gb_month are needed together"},
      {"- 5\n", "an estimate"}};
  for (const auto& [text, error] : cases)
    ExpectError(Words(by_number_, {"--estimate", WriteFile("n.yaml", text)}), 1, error);
  ExpectError(Words(by_number_, {"--estimate", Path("none.yaml")}), 1, "none.yaml");
  const std::string same = WriteFile("n.txt", "reads: 5\n");
  ExpectError(Words(by_number_, {"--estimate", same, "-o", same}), 1, "would be replaced");
}

TEST_F(CompareCommandTest, AColdCacheReadsFiles) {
  const Json compared = Compared(by_number_, {"--cache", "both"});
  for (const Json& design : compared["designs"]) {
    EXPECT_GT(design["operations_per_second"], 0);
    EXPECT_GT(design["cold"]["operations_per_second"], 0);
    EXPECT_FALSE(design["cold"].contains("late"));
    uint64_t bytes_read = 0;
    for (const Json& query : design["queries"]) {
      bytes_read += query["cold_bytes_read"].get<uint64_t>();
      EXPECT_GT(query["latency_us"]["max"], 0);
      EXPECT_GT(query["cold_latency_us"]["max"], 0);
    }
    EXPECT_GT(bytes_read, 0u);
  }
  const Json cold = Compared(by_number_, {"--cache", "cold"});
  EXPECT_FALSE(cold["designs"][0].contains("operations_per_second"));
  EXPECT_FALSE(cold["designs"][0]["queries"][0].contains("latency_us"));
  EXPECT_GT(cold["designs"][0]["queries"][0]["cold_latency_us"]["p50"], 0);
  const CommandResult text = RunPlain(Words(by_number_, {"--cache", "both"}));
  EXPECT_NE(text.out.find("1 thread, rounds 1, warm and cold cache, "), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("            bytes read / operation "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("            p50 / p99 / max us (cold cache) "), std::string::npos)
      << text.out;
  EXPECT_EQ(RunPlain(Words(by_number_)).out.find("cold"), std::string::npos);
}

TEST_F(CompareCommandTest, AnOpenLoopWaitsForItsTimes) {
  // The last of 400 operations is due after 0.2 s.
  const Json open = Compared(by_number_, {"--rate", "2000/s"});
  EXPECT_EQ(open["loop"], "open loop, 2000 operations/s");
  for (const Json& design : open["designs"]) {
    EXPECT_LT(design["operations_per_second"], 2010);
    EXPECT_TRUE(design.contains("late"));
  }
  EXPECT_FALSE(Compared(by_number_)["designs"][0].contains("late"));
  std::string lines;
  for (int i = 0; i < 21; ++i)
    lines += fmt::format("{{\"t\":{},\"query\":\"of-user\",\"params\":{{\"user\":\"u1\"}}}}\n",
                         900000000 + i * 10000);
  const std::string trace = WriteFile("t.jsonl", lines);
  const auto at_rate = [&](const std::string& rate) {
    const CommandResult result =
        RunPlain({"compare-designs", by_user_, by_number_, "--trace", trace, "--rounds", "1",
                  "--rate", rate, "--format", "json"});
    EXPECT_EQ(result.exit_status, 0) << result.err;
    return Json::parse(result.out, nullptr, false);
  };
  EXPECT_LT(at_rate("recorded")["designs"][0]["operations_per_second"], 106);
  EXPECT_LT(at_rate("2x")["designs"][0]["operations_per_second"], 212);
  ExpectError({"compare-designs", by_user_, by_number_, "--trace",
               WriteFile("n.jsonl", "{\"query\":\"of-user\",\"params\":{\"user\":\"u1\"}}\n"),
               "--rate", "recorded"},
              1, "n.jsonl has no times");
  ExpectError(Words(by_number_, {"--rate", "recorded"}), 2, "--rate needs --trace");
  ExpectError(Words(by_number_, {"--rate", "5"}), 2, "--rate must be");
  ExpectError(Words(by_number_, {"--cache", "hot"}), 2, "--cache must be warm, cold or both");
}

TEST_F(CompareCommandTest, HostileTextIsEscaped) {
  WriteFile("orders.csv", "user,number,item,pieces\n\"\x1b[31m\",1,hat,1\n");
  const CommandResult text = RunPlain(Words(Changed("wrong.yaml", ".*#{user}", ".*#{user}x")));
  EXPECT_EQ(text.exit_status, 3) << text.err;
  EXPECT_EQ(text.out.find('\x1b'), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("user=\\x1b[31m"), std::string::npos) << text.out;
}

TEST_F(CompareCommandTest, ALogicalTraceIsAWorkload) {
  const auto synth = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"trace",        "synth", by_user_, by_number_,
                                      "--operations", "400",   "--seed", "7"};
    words.insert(words.end(), more.begin(), more.end());
    return RunPlain(words).out;
  };
  const std::string trace = synth({});
  EXPECT_EQ(std::count(trace.begin(), trace.end(), '\n'), 400);
  EXPECT_EQ(synth({}), trace);
  const std::string slower = synth({"--rate", "500/s"});
  EXPECT_EQ(synth({"--rate", "500"}), slower);
  EXPECT_NE(slower.find("\n{\"t\":2000,"), std::string::npos) << slower.substr(0, 300);
  // The same operations have the same figures.
  const Json drawn = Compared(by_number_);
  const std::string path = WriteFile("workload.jsonl", trace);
  const CommandResult read = RunPlain({"compare-designs", by_user_, by_number_, "--trace", path,
                                       "--rounds", "1", "--time=5000", "--format", "json"});
  EXPECT_EQ(read.exit_status, 0) << read.err;
  const Json replayed = Json::parse(read.out, nullptr, false);
  EXPECT_EQ(replayed["answers_equal"], drawn["answers_equal"]);
  for (size_t design = 0; design < 2; ++design) {
    for (size_t query = 0; query < 3; ++query) {
      Json one = replayed["designs"][design]["queries"][query];
      Json other = drawn["designs"][design]["queries"][query];
      one.erase("latency_us");
      other.erase("latency_us");
      EXPECT_EQ(one, other);
    }
  }
}

TEST_F(CompareCommandTest, ALogicalTraceKeepsAnyByte) {
  WriteFile("orders.csv", "user,number,item,pieces\n\"\xff\x01\",1,hat,1\n");
  const std::string trace =
      RunPlain({"trace", "synth", by_user_, "--operations", "20", "--seed", "7"}).out;
  EXPECT_NE(trace.find("\"params_base64\":{\"user\":\"/wE=\"}"), std::string::npos) << trace;
  const CommandResult read =
      RunPlain({"compare-designs", by_user_, by_number_, "--trace", WriteFile("any.jsonl", trace)});
  EXPECT_EQ(read.exit_status, 0) << read.err;
  EXPECT_NE(read.out.find("\nanswers     equal in "), std::string::npos) << read.out;
}

TEST_F(CompareCommandTest, WrongLinesOfALogicalTraceAreErrors) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "not a JSON object"},
      {"{", "not a JSON object"},
      {"{\"t\":1}", "no \"query\""},
      {"{\"query\":\"none\",\"params\":{}}", "the first design has no query \"none\""},
      {"{\"query\":\"of-user\",\"params\":{\"user\":7}}", "the field \"user\" is not a text"},
      {"{\"query\":\"of-user\",\"params\":[]}", "\"params\" is not an object"},
      {"{\"query\":\"of-user\",\"params_base64\":{\"user\":\"?\"}}", "is not a text"},
      {"{\"query\":\"of-user\"}", "user"},
      {"{\"query\":\"add\",\"record\":{\"user\":\"a\",\"number\":\"1\"}}",
       "the record has no cells"}};
  for (const auto& [line, error] : cases) {
    const std::string first = "{\"query\":\"of-user\",\"params\":{\"user\":\"u1\"}}\n";
    const CommandResult result = RunPlain({"compare-designs", by_user_, by_number_, "--trace",
                                           WriteFile("wrong.jsonl", first + line + "\n")});
    EXPECT_EQ(result.exit_status, 1) << line;
    EXPECT_NE(result.err.find("wrong.jsonl:2: "), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(error), std::string::npos) << result.err;
  }
  const std::string empty = WriteFile("empty.jsonl", "");
  ExpectError({"compare-designs", by_user_, by_number_, "--trace", empty}, 1, "has no operation");
  ExpectError({"compare-designs", by_user_, by_number_, "--trace", empty, "--seed", "1"}, 2,
              "--trace gives them");
  const std::string design = WriteFile("design.txt", kByUser);
  const std::string one =
      WriteFile("one.json", "{\"query\":\"of-user\",\"params\":{\"user\":\"u1\"}}\n");
  for (const std::string& output : {one, design}) {
    ExpectError({"compare-designs", design, by_number_, "--trace", one, "-o", output}, 1,
                "would be replaced");
  }
  const std::string same = Path("recorded.txt");
  std::vector<std::string> traced = Words(by_number_, {"-o", same});
  traced.insert(traced.begin(), {"--trace", same});
  ExpectError(traced, 2, "two outputs");
  EXPECT_FALSE(std::filesystem::exists(same));
  ExpectError({"trace", "synth"}, 2, "usage: stele trace");
  ExpectError({"trace", "synth", by_user_, "--rate", "2x"}, 2,
              "--rate must be operations per second such as 500 or 500/s");
}

TEST_F(CompareCommandTest, WrongInputIsAnError) {
  ExpectError({"compare-designs", by_user_}, 2, "usage: stele compare-designs");
  ExpectError(Words(by_user_), 2, "two designs are named by-user");
  ExpectError(Words(by_number_, {"--operations", "0"}), 2, "--operations");
  ExpectError(Words(by_number_, {"--rounds", "0"}), 2, "--rounds");
  ExpectError(Words(by_number_, {"--threads", "x"}), 2, "--threads");
  ExpectError(Words(by_number_, {"--distribution", "odd"}), 2, "odd");
  ExpectError(Words(by_number_, {"--table", "orders"}), 1,
              "has no table orders; its tables: by_number");
  ExpectError(Words(Changed("less.yaml", "      one:", "      two:")), 1, "missing: one");
  ExpectError(
      Words(Changed("reads.yaml", "add: {write: orders}", "add: {read: {row: \"{user}\"}}")), 1,
      "the query add writes orders in by-user and reads in reads");
  ExpectError(Words(Changed("other.yaml", "{number}#{user}", "{absent}#{user}")), 1,
              "no record of the input \"orders\" has its fields");
  ExpectError(Words(Path("none.yaml")), 1, "none.yaml");
  const std::string orders = WriteFile("orders.txt", "user,number,item,pieces\nu,1,hat,1\n");
  ExpectError(Words(by_number_, {"--input", "orders=" + orders, "-o", orders}), 1,
              "would be replaced");
  ExpectError(Words(by_number_, {"--keep", Path(".")}), 1, "--keep names a new directory");
  ExpectError(Words(by_number_, {"--keep", Path("kept"), "-o", Path("kept.txt/x.txt")}), 1,
              "there is no directory");
  ExpectError(Words(by_number_, {"--keep", Path("kept"), "-o", Path("kept/by-user.txt")}), 1,
              "there is no directory");
  ExpectError(Words(by_number_, {"-o", Path("report.htm")}), 2, "must end in .html, .json or .txt");
  EXPECT_FALSE(std::filesystem::exists(Path("kept")));
  ExpectError(Words(WriteFile("..yaml", kByNumber)), 2, "must not begin with a point");
}

TEST_F(CompareCommandTest, TheFreeSpaceIsCheckedFirst) {
  const std::string orders = WriteFile("orders.csv", "user,number,item,pieces\nu,1,hat,1\n");
  std::error_code error;
  std::filesystem::resize_file(orders, uint64_t{1} << 43, error);  // a sparse file
  if (error) GTEST_SKIP() << "no file of 8 TiB here: " << error.message();
  ExpectError(Words(by_number_, {"--input", "orders=" + orders}), 1, "the databases need about");
}

TEST_F(CompareCommandTest, TheLimitAlsoLimitsTheWorkload) {
  const Json compared = Compared(by_number_, {"--limit", "8", "--keep", Path("kept")});
  EXPECT_EQ(compared["designs"][0]["data"]["records"], 8);
  const Json& one = compared["designs"][0]["queries"][1];
  EXPECT_EQ(one["rows_returned"], one["operations"]) << "each row was loaded";
  EXPECT_EQ(RunPlain({"--db", Path("kept/by-user"), "count", "orders"}).out, "8\n");
}

TEST_F(CompareCommandTest, AnswersWithoutValuesAreCounted) {
  std::string text = kByUser;
  text.replace(text.find("answer: [\"o:item\"]"), 18, "answer: [\"o:itm\"] ");
  WriteFile("by-user.yaml", text);
  const std::string other = Changed("typo.yaml", "answer: [\"o:item\"]", "answer: [\"o:itm\"]");
  const Json compared = Compared(other);
  EXPECT_GT(compared["answers_empty"], 0);
  EXPECT_EQ(compared["answers_empty"], compared["answers_compared"]);
  EXPECT_NE(RunPlain(Words(other)).out.find("have no value in any design"), std::string::npos);
}

TEST_F(CompareCommandTest, AFullScanTouchesTheBusiestRange) {
  const Json compared =
      Compared(Changed("scan.yaml", "of-user: {read: {filter: 'row_regex(\".*#{user}\")'}",
                       "of-user: {read: {filter: 'value_regex(\".*\")'}"),
               {}, /*exit_status=*/3);
  const Json& scans = compared["designs"][1];
  EXPECT_GE(scans["hottest_band_share"].get<double>(), 0.5) << scans;
  EXPECT_LT(compared["designs"][0]["hottest_band_share"].get<double>(), 0.5);
  EXPECT_EQ(compared["differences"][0]["values"], Json::parse("[4,40]"));
}

TEST_F(CompareCommandTest, DatabasesAreKeptOnRequest) {
  Compared(by_number_, {"--keep", Path("kept")});
  EXPECT_EQ(RunPlain({"--db", Path("kept/by-user"), "count", "orders"}).out, "40\n");
  EXPECT_EQ(RunPlain({"--db", Path("kept/by-number"), "count", "by_number"}).out, "40\n");
  EXPECT_TRUE(std::filesystem::exists(Path("kept/by-user.trace.jsonl")));
}

TEST(WorkDirectoryTest, ATemporaryDirectoryIsRemoved) {
  std::string path;
  {
    const auto directory = cli::WorkDirectory::Make("");
    ASSERT_TRUE(directory.ok()) << directory.status();
    path = (*directory)->path();
    std::ofstream(path + "/file") << "x";
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(WorkDirectoryTest, ASignalRemovesATemporaryDirectory) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto directory = cli::WorkDirectory::Make("");
    const std::string path = directory.ok() ? (*directory)->path() : "";
    std::ofstream(path + "/file") << "x";
    if (::write(ends[1], path.data(), path.size()) < 0) ::_exit(1);
    ::close(ends[1]);
    while (true) ::pause();
  }
  ::close(ends[1]);
  std::string path;
  char bytes[256];
  for (ssize_t count = 0; (count = ::read(ends[0], bytes, sizeof(bytes))) > 0;)
    path.append(bytes, static_cast<size_t>(count));
  ::close(ends[0]);
  EXPECT_TRUE(std::filesystem::exists(path + "/file")) << path;
  ASSERT_EQ(::kill(child, SIGTERM), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_FALSE(std::filesystem::exists(path)) << path;
}

// Regression: the signals stayed blocked, and the command could not be interrupted.
TEST(WorkDirectoryTest, WithoutDescriptorsSignalsAreNotBlocked) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = 0;
    if (::setrlimit(RLIMIT_NOFILE, &files) != 0) ::_exit(2);
    const auto directory = cli::WorkDirectory::MakeTemporary("test");
    if (!directory.ok() || ::rmdir((*directory)->path().c_str()) != 0) ::_exit(3);
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    ::_exit(sigismember(&blocked, SIGTERM) != 0 || sigismember(&blocked, SIGINT) != 0 ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace stele
#endif
