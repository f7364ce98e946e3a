// Tests stele heatmap: flags, exit statuses, formats, hostile keys.
#ifdef STELE_HAS_LAB
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/command_fixture.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace stele {
namespace {

class HeatMapCommandTest : public CommandTest {
 protected:
  static std::string Operation(int i, const std::string& row, const std::string& table = "t") {
    return fmt::format(R"({{"t":{},"op":"set","table":"{}","row":"{}"}})",
                       1'700'000'000'000'000 + i * 100'000, table, row) +
           "\n";
  }
  // Half of the operations are on the row "hot".
  std::string HotTrace() const {
    std::string text;
    for (int i = 0; i < 1000; ++i)
      text += Operation(i, i % 2 == 1 ? std::string("hot") : fmt::format("{:03}", i * 37 % 200));
    return WriteFile("hot.jsonl", text);
  }
  // Without --db: a trace needs no database.
  void ExpectFailure(const std::vector<std::string>& args, int exit_status,
                     std::string_view text) const {
    const CommandResult result = RunPlain(args);
    EXPECT_EQ(result.exit_status, exit_status) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
  }
  std::string Contents(const std::string& path) const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
};

TEST_F(HeatMapCommandTest, PrintsPatternsAndWritesJson) {
  const std::string path = Path("map.json");
  const CommandResult result = RunPlain({"heatmap", HotTrace(), "-o", path});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "t: 101 bands x 100 steps of 1s, 1,000 operations\n"
            "  warning hot-row            \"hot\"  50 % of all operations   (stele lint --explain "
            "KEY-HOT-ROW)\n");
  const auto map = nlohmann::json::parse(Contents(path));
  EXPECT_EQ(map["heatmap"], 1);
  EXPECT_EQ(map["table"], "t");
  EXPECT_EQ(map["metric"], "ops");
  EXPECT_EQ(map["start_us"], 1'700'000'000'000'000);
  EXPECT_EQ(map["step_us"], 1'000'000);
  EXPECT_EQ(map["steps"], 100);
  EXPECT_EQ(map["bands"].size(), 101u);
  EXPECT_EQ(map["bands"][0]["start"], "");
  EXPECT_EQ(map["bands"][100]["start"], "hot");
  EXPECT_EQ(map["bands"][100]["end"], "");
  EXPECT_EQ(map["metrics"].size(), 3u);
  EXPECT_EQ(map["metrics"]["ops"].size(), 101u);
  EXPECT_EQ(map["metrics"]["ops"][100], nlohmann::json(std::vector<int>(100, 5)));
  EXPECT_EQ(map["metrics"]["reads"][100][0], 0);
  EXPECT_EQ(map["totals"], nlohmann::json({{"operations", 1000}, {"reads", 0}, {"writes", 1000}}));
  EXPECT_EQ(map["hottest_row"], nlohmann::json({{"row", "hot"}, {"operations", 500}}));
  ASSERT_EQ(map["patterns"].size(), 1u);
  EXPECT_EQ(map["patterns"][0]["name"], "hot-row");
  EXPECT_EQ(map["patterns"][0]["severity"], "warning");
  EXPECT_EQ(map["patterns"][0]["rule"], "KEY-HOT-ROW");
  EXPECT_EQ(map["patterns"][0]["measured"], 0.5);
  EXPECT_EQ(map["patterns"][0]["row"], "hot");
}

TEST_F(HeatMapCommandTest, FailOnChoosesTheExitStatus) {
  const std::string hot = HotTrace();
  const std::string even = WriteFile("even.jsonl", Operation(0, "a"));
  for (const auto& [fail_on, hot_status, even_status] :
       {std::tuple("never", 0, 0), {"warning", 3, 0}, {"info", 3, 3}}) {
    EXPECT_EQ(RunPlain({"heatmap", hot, "--fail-on", fail_on}).exit_status, hot_status);
    EXPECT_EQ(RunPlain({"heatmap", even, "--fail-on", fail_on}).exit_status, even_status);
  }
}

TEST_F(HeatMapCommandTest, PrintsTheMapWithoutColors) {
  std::string text;
  for (int i = 0; i < 4; ++i) text += Operation(i < 3 ? 0 : 10, "a");
  text += Operation(20, "b\\u001b[31m");
  text += Operation(20, "c\\u202e</script>");
  EXPECT_EQ(RunPlain({"heatmap", WriteFile("map.jsonl", text)}).out,
            "t: 3 bands x 3 steps of 1s, 6 operations\n"
            "                   @+\n"
            "b\\x1b[31m            +\n"
            "c\\xe2\\x80\\xae</sc~   +\n"
            "                   2023-11-14T22:13:20Z\n"
            "                   blank: 0, @: 3 ops\n"
            "  info    even               Gini coefficient 0.33\n"
            "  info    hottest row        \"a\"  4 of 6 operations\n");
}

TEST_F(HeatMapCommandTest, WritesCsvOfCellsWithOperations) {
  const std::string trace = WriteFile(
      "map.jsonl", Operation(0, "a") + Operation(10, "b\\\"c,") + Operation(10, "\\u00e9"));
  EXPECT_EQ(RunPlain({"heatmap", trace, "-o", Path("map.csv")}).exit_status, 0);
  EXPECT_EQ(Contents(Path("map.csv")),
            ",2023-11-14T22:13:20Z,1,0,1\n"
            "\"b\"\"c,\",2023-11-14T22:13:21Z,1,0,1\n"
            "\xc3\xa9,2023-11-14T22:13:21Z,1,0,1\n");
}

TEST_F(HeatMapCommandTest, EachTableHasAMap) {
  const std::string trace =
      WriteFile("two.jsonl", Operation(0, "a", "u") + Operation(0, "a", "p/i/../t"));
  const CommandResult text = RunPlain({"heatmap", trace});
  EXPECT_NE(text.out.find("t: 1 band x 1 step of 1s, 1 operation\n"), std::string::npos);
  EXPECT_NE(text.out.find("\n\nu: 1 band"), std::string::npos) << text.out;
  const auto list = nlohmann::json::parse(RunPlain({"heatmap", trace, "--format", "json"}).out);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["table"], "p/i/../t");
  const auto one = nlohmann::json::parse(
      RunPlain({"heatmap", trace, "--format=json", "--table", "u", "--metric", "writes"}).out);
  EXPECT_EQ(one["metric"], "writes");
  EXPECT_EQ(RunPlain({"heatmap", trace, "-o", Path("m.txt")}).exit_status, 0);
  EXPECT_TRUE(Contents(Path("m-u.txt")).starts_with("u: 1 band")) << Contents(Path("m-u.txt"));
  EXPECT_FALSE(Contents(Path("m-p%2fi%2f..%2ft.txt")).empty());
  EXPECT_FALSE(std::filesystem::exists(Path("m.txt")));
}

TEST_F(HeatMapCommandTest, BandsOfTheRowsOfADatabase) {
  Output({"createtable", "t", "families=f", "splits=k2"});
  for (int i = 0; i < 10; ++i) Output({"set", "t", fmt::format("k{}", i), "f:q=v"});
  std::string text;
  for (int i = 0; i < 40; ++i) text += Operation(0, fmt::format("k{}", i % 2));
  const std::string trace = WriteFile("db.jsonl", text);
  const std::string before = Output({"export", "t"});
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"heatmap", trace, "--format", "json", "--db", database()},
        {"--db", database(), "heatmap", trace, "--format", "json"}}) {
    const auto map = nlohmann::json::parse(RunPlain(args).out);
    EXPECT_EQ(map["bands"].size(), 10u);
    ASSERT_EQ(map["patterns"].size(), 2u);
    EXPECT_EQ(map["patterns"][0]["name"], "hot-tablet");
    EXPECT_EQ(map["patterns"][0]["start"], "");
    EXPECT_EQ(map["patterns"][0]["end"], "k2");
    EXPECT_EQ(map["patterns"][0]["measured"], 1);
    EXPECT_EQ(map["patterns"][1]["name"], "idle");
  }
  EXPECT_EQ(Output({"export", "t"}), before);
  ExpectError({"heatmap", WriteFile("u.jsonl", Operation(0, "a", "u")), "--db", database()}, 1,
              "u");
}

TEST_F(HeatMapCommandTest, TheFormatMayComeBeforeTheVerb) {
  const std::string trace = HotTrace();
  const CommandResult text = RunPlain({"--format", "text", "heatmap", trace});
  EXPECT_EQ(text.exit_status, 0) << text.err;
  EXPECT_EQ(text.out, RunPlain({"heatmap", trace}).out);
  const CommandResult json = RunPlain({"--format", "json", "heatmap", trace});
  EXPECT_EQ(json.out, RunPlain({"heatmap", trace, "--format", "json"}).out);
  ExpectFailure({"--format", "text", "heatmap", trace, "--format", "text"}, 2, "given twice");
  ExpectFailure({"--format", "table", "heatmap", trace}, 2, "must be text or json");
}

TEST_F(HeatMapCommandTest, PrintsJsonBesideAFile) {
  const CommandResult result =
      RunPlain({"heatmap", HotTrace(), "--format", "json", "-o", Path("m.json")});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["table"], "t");
  EXPECT_EQ(Contents(Path("m.json")), result.out);
  for (const char* const name : {"m.html", "m.csv"}) {
    ExpectFailure({"heatmap", HotTrace(), "--format", "json", "-o", Path(name)}, 2, "contradict");
    ExpectFailure({"--format=json", "heatmap", HotTrace(), "-o", Path(name)}, 2, "contradict");
    EXPECT_FALSE(std::filesystem::exists(Path(name)));
  }
}

TEST_F(HeatMapCommandTest, TablesOfAServerHaveFullNames) {
  Output({"createtable", "t", "families=f"});
  Output({"set", "t", "a", "f:q=v"});
  Output({"set", "t", "b", "f:q=v"});
  const std::string one = WriteFile("one.jsonl", Operation(0, "a", "p/i/t"));
  const CommandResult map = RunPlain({"heatmap", one, "--db", database()});
  EXPECT_TRUE(map.out.starts_with("t: 2 bands")) << map.out << map.err;
  const std::string two =
      WriteFile("two.jsonl", Operation(0, "a", "p/i/t") + Operation(1, "a", "p/j/t"));
  const CommandResult maps = RunPlain({"heatmap", two});
  EXPECT_TRUE(maps.out.starts_with("p/i/t: 1 band")) << maps.out;
  EXPECT_NE(maps.out.find("\np/j/t: 1 band"), std::string::npos) << maps.out;
  ExpectError({"heatmap", two, "--db", database()}, 1, "p/j/t of the traces have the same name");
  EXPECT_EQ(RunPlain({"heatmap", two, "--db", database(), "--table", "p/j/t"}).exit_status, 0);
}

TEST_F(HeatMapCommandTest, SelectsAndSkips) {
  const std::string trace = WriteFile("sel.jsonl", Operation(0, "a") + Operation(50, "b") + "{}\n");
  const CommandResult result = RunPlain({"heatmap", trace, "--skip-bad", "--from",
                                         "2023-11-14T22:13:21Z", "--to", "1700000006000000"});
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_TRUE(result.out.starts_with("t: 1 band x 1 step of 1s, 1 operation\n")) << result.out;
  EXPECT_EQ(result.err, "stele: left out 1 wrong line or damaged block\n");
  ExpectFailure({"heatmap", trace}, 1, "sel.jsonl:3: the line has no \"t\"");
  ExpectFailure({"heatmap", "-"}, 2, "reads a trace twice");
}

TEST_F(HeatMapCommandTest, WritesPagesAndImages) {
  const std::string trace = HotTrace();
  EXPECT_EQ(RunPlain({"heatmap", trace, "-o", Path("m.png"), "--scale", "2"}).exit_status, 0);
  EXPECT_TRUE(Contents(Path("m.png")).starts_with("\x89PNG\r\n"));
  const std::string other = WriteFile("other.jsonl", Operation(0, "b"));
  EXPECT_EQ(RunPlain({"heatmap", trace, "-o", Path("m.html"), "--compare", other}).exit_status, 0);
  const std::string page = Contents(Path("m.html"));
  EXPECT_NE(page.find("id=\"heatmap-data\">{\"heatmap\":1,"), std::string::npos);
  EXPECT_NE(page.find("id=\"heatmap-compare\">{\"heatmap\":1,"), std::string::npos);
  EXPECT_EQ(RunPlain({"heatmap", trace, other, "-o", Path("one.html")}).exit_status, 0);
  EXPECT_EQ(Contents(Path("one.html")).find("heatmap-compare\">"), std::string::npos);
}

TEST_F(HeatMapCommandTest, ComparedTracesHaveTheirOwnPatterns) {
  const std::string hot = HotTrace();
  const std::string even = WriteFile("even\x1b.jsonl", Operation(0, "a"));
  const std::string shown = Path("even\\x1b.jsonl");
  const std::string hot_lines = RunPlain({"heatmap", hot, "-o", Path("hot.html")}).out;
  const std::string even_lines = RunPlain({"heatmap", even, "-o", Path("even.html")}).out;
  ASSERT_NE(hot_lines.find("hot-row"), std::string::npos) << hot_lines;
  ASSERT_NE(even_lines.find("even"), std::string::npos) << even_lines;
  const auto compared = [&](const std::string& one, const std::string& other) {
    return RunPlain(
        {"heatmap", one, "--compare", other, "-o", Path("m.html"), "--fail-on", "warning"});
  };
  const CommandResult result = compared(hot, even);
  EXPECT_EQ(result.out, hot + ":\n" + hot_lines + "\n" + shown + ":\n" + even_lines);
  EXPECT_EQ(result.exit_status, 3);
  const CommandResult swapped = compared(even, hot);
  EXPECT_EQ(swapped.out, shown + ":\n" + even_lines + "\n" + hot + ":\n" + hot_lines);
  EXPECT_EQ(swapped.exit_status, 3) << "a warning of the second trace";
  EXPECT_EQ(compared(even, even).exit_status, 0);
  const std::string both =
      RunPlain({"heatmap", hot, even, "--compare", hot, "-o", Path("m.html")}).out;
  EXPECT_TRUE(both.starts_with(hot + ", " + shown + ":\nt: ")) << both;
  EXPECT_TRUE(both.ends_with("\n\n" + hot + ":\n" + hot_lines)) << both;
}

TEST_F(HeatMapCommandTest, WrongLinesOfAComparedTraceAreCounted) {
  const std::string one = WriteFile("one.jsonl", Operation(0, "a") + "{}\n");
  const std::string other = WriteFile("other.jsonl", Operation(0, "a") + "{}\n{}\n");
  const std::vector<std::string> words = {"heatmap",      one,         "--compare", other, "-o",
                                          Path("m.html"), "--skip-bad"};
  const CommandResult result = RunPlain(words);
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.err, "stele: left out 3 wrong lines or damaged blocks\n");
}

TEST_F(HeatMapCommandTest, NoTraceIsReplaced) {
  const std::string one = WriteFile("one.json", Operation(0, "a"));
  ExpectFailure({"heatmap", one, "-o", one}, 1, "would be replaced");
  const std::string two = WriteFile("m-u.txt", Operation(0, "a", "u") + Operation(0, "a", "t"));
  ExpectFailure({"heatmap", two, "-o", Path("m.txt")}, 1, "would be replaced");
  const std::string other = WriteFile("other.html", Operation(0, "b"));
  ExpectFailure({"heatmap", one, "--compare", other, "-o", other}, 1, "would be replaced");
  EXPECT_EQ(Contents(one), Operation(0, "a"));
  EXPECT_EQ(Contents(other), Operation(0, "b"));
  EXPECT_EQ(Contents(two), Operation(0, "a", "u") + Operation(0, "a", "t"));
  EXPECT_FALSE(std::filesystem::exists(Path("m-t.txt")));
}

TEST_F(HeatMapCommandTest, ARecordingIsNotReplaced) {
  for (const char* const table : {"t", "u"}) {
    Output({"createtable", table, "families=f"});
    Output({"set", table, "a", "f:q=v"});
    Output({"set", table, "b", "f:q=v"});
  }
  const std::string trace = WriteFile("in.jsonl", Operation(0, "a", "t") + Operation(0, "a", "u"));
  const std::string same = Path("same.html");
  ExpectFailure({"--trace", same, "heatmap", trace, "--db", database(), "-o", same}, 2,
                "two outputs");
  EXPECT_FALSE(std::filesystem::exists(same));
  // The file of a table. Its name is known when the recording has begun.
  ExpectFailure(
      {"--trace", Path("m-u.txt"), "heatmap", trace, "--db", database(), "-o", Path("m.txt")}, 2,
      "two outputs");
  EXPECT_TRUE(Contents(Path("m-u.txt")).starts_with("SteleTrc"));
  EXPECT_FALSE(std::filesystem::exists(Path("m-t.txt")));
}

TEST_F(HeatMapCommandTest, WrongUsageIsExitStatus2) {
  const std::string trace = HotTrace();
  ExpectFailure({"heatmap"}, 2, "heatmap TRACE");
  for (const auto& [flag, value] :
       std::vector<std::pair<std::string, std::string>>{{"--bands", "0"},
                                                        {"--bands", "1001"},
                                                        {"--columns", "x"},
                                                        {"--columns", "2001"},
                                                        {"--step", "0s"},
                                                        {"--step", "10"},
                                                        {"--from", "then"},
                                                        {"--metric", "heat"},
                                                        {"--fail-on", "any"},
                                                        {"--scale", "2"},
                                                        {"--compare", "x"},
                                                        {"--format", "csv"},
                                                        {"-o", "map.gif"},
                                                        {"-o", ".json"},
                                                        {"--none", "x"}})
    ExpectFailure({"heatmap", trace, flag, value}, 2, flag);
  ExpectFailure({"heatmap", trace, "--follow", "-o", Path("m.png")}, 2, "--follow");
  ExpectFailure({"heatmap", Path("none.jsonl"), "--follow"}, 1, "none.jsonl");
  ExpectFailure({"heatmap", trace, "--from", "5", "--to", "5"}, 2, "--from must be before");
  ExpectFailure({"heatmap", Path("none.jsonl")}, 1, "none.jsonl");
  ExpectFailure({"heatmap", trace, "--metric", "bytes"}, 1, "bytes");
  ExpectFailure({"heatmap", trace, "--table", "u"}, 1, "their tables are: t");
  ExpectFailure({"heatmap", Path("none.jsonl"), "-o", Path("none/m.csv")}, 1,
                "there is no directory");
}

TEST_F(HeatMapCommandTest, FollowRefusesCompressedTraces) {
  const std::string gzip = WriteFile("t.jsonl", "\x1f\x8b\x08");
  ExpectFailure({"heatmap", gzip, "--follow"}, 1, "--follow reads only plain files");
  const std::string zstd = WriteFile("t.jsonl.zst", "\x28\xb5\x2f\xfd");
  ExpectFailure({"heatmap", zstd, "--follow"}, 1, "--follow reads only plain files");
}

// The new file has the size of the old one. The command writes to a pipe.
TEST_F(HeatMapCommandTest, FollowNoticesAFileThatReplacesTheTrace) {
  const std::string trace = WriteFile("t.jsonl", Operation(0, "row", "first"));
  const std::string other = WriteFile("new.jsonl", Operation(0, "row", "other"));
  ASSERT_EQ(std::filesystem::file_size(trace), std::filesystem::file_size(other));
  const std::string out = Path("stdout-started");
  ASSERT_EQ(::mkfifo(out.c_str(), 0600), 0);
  const int reader = ::open(out.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  const auto follow = Start({"heatmap", trace, "--follow"}, {});
  std::string text;
  const auto await = [&](std::string_view what) {
    constexpr int kMillis = 120'000;
    pollfd wait = {reader, POLLIN, 0};
    while (text.find(what) == std::string::npos && ::poll(&wait, 1, kMillis) == 1) {
      char bytes[4096];
      const ssize_t count = ::read(reader, bytes, sizeof(bytes));
      if (count <= 0) break;
      text.append(bytes, static_cast<size_t>(count));
    }
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  await("first: ");
  std::filesystem::rename(other, trace);
  await("other: ");
  ::close(reader);
}

}  // namespace
}  // namespace stele
#endif
