// Tests the commands that read traces, with traces in the binary form.
#ifdef STELE_HAS_LAB
#include "cli/command_fixture.h"
#include "fmt/format.h"
#include "support/trace_testing.h"

namespace stele {
namespace {

using internal::GetTraceRecord;
using internal::TraceHeader;

class TraceCommandTest : public CommandTest {
 protected:
  static constexpr char kCutOff[] =
      "stele: the recording did not end normally, or still runs: the trace has its complete blocks "
      "only\n";

  // Two blocks of one operation each on the table "orders", without a summary.
  static std::string SmallTrace() {
    const TraceHeader header = internal::FixedTraceHeader();
    std::string file = internal::EncodeTraceHeader(header);
    internal::AppendRecords(header, {GetTraceRecord(1)}, &file);
    internal::AppendRecords(header, {GetTraceRecord(2)}, &file);
    return file;
  }
};

TEST_F(TraceCommandTest, EveryCommandReadsTheBinaryForm) {
  const std::string trace = WriteFile("small.trace", SmallTrace());
  std::string damaged = SmallTrace();
  damaged[internal::kTraceHeaderBytes] ^= 1;
  const std::string bad = WriteFile("bad.trace", damaged);
  Output({"createtable", "orders", "families=f"});

  EXPECT_NE(Output({"heatmap", trace}).find("2 operations"), std::string::npos);
  CommandResult result = Run({"heatmap", bad});
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_NE(result.out.find("1 operation\n"), std::string::npos) << result.out;
  EXPECT_EQ(result.err, "stele: left out 1 wrong line or damaged block\n");

  EXPECT_EQ(RunPlain({"lint", "--trace", trace}).exit_status, 0);
  result = RunPlain({"lint", "--trace", bad});
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_NE(result.out.find("1 wrong line or damaged block of the trace skipped\n"),
            std::string::npos)
      << result.out;

  result = Run({"replay", trace, "--rate", "max", "--format", "json"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_NE(result.out.find("\"operations\":2"), std::string::npos) << result.out;
  result = Run({"replay", bad, "--rate", "max", "--format", "json"});
  EXPECT_EQ(result.exit_status, 3) << result.err;
  EXPECT_NE(result.out.find("\"operations\":1"), std::string::npos) << result.out;
}

TEST_F(TraceCommandTest, ADamagedHeaderIsAnError) {
  std::string damaged = SmallTrace();
  damaged[30] ^= 1;
  const std::string bad = WriteFile("bad.trace", damaged);
  Output({"createtable", "orders"});
  ExpectError({"lint", "--trace", bad}, 1, "the header of the trace is damaged");
}

TEST_F(TraceCommandTest, ShowsAndConverts) {
  const std::string trace = WriteFile("small.trace", SmallTrace());
  CommandResult result = RunPlain({"trace", "info", trace});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_NE(result.out.find("records    2\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("cut off before its end\n"), std::string::npos) << result.out;
  result = RunPlain({"trace", "info", trace, "--format", "json"});
  EXPECT_TRUE(result.out.starts_with("{\"trace_info\":1,")) << result.out;
  const std::string lines = RunPlain({"trace", "cat", trace}).out;
  EXPECT_TRUE(lines.starts_with("{\"trace\":1,\"sample\":1}\n{\"t\":")) << lines;
  for (const char* name : {"a.jsonl", "a.jsonl.zst", "a.trace"}) {
    const std::string path = Path(name);
    result = RunPlain({"trace", "cat", trace, "-o", path});
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, kCutOff);
    result = RunPlain({"trace", "cat", path});
    EXPECT_EQ(result.out, lines) << name;
    EXPECT_EQ(result.err, path.ends_with(".trace") ? kCutOff : "") << "JSON lines have no end";
  }
}

TEST_F(TraceCommandTest, ARecordingThatDidNotEndIsNoted) {
  const TraceHeader header = internal::FixedTraceHeader();
  std::string whole = SmallTrace();
  internal::AppendSummary(header, {.operations = 2, .recorded = 2}, &whole);
  for (const char* function : {"info", "cat"}) {
    // The second file has no complete block.
    for (const size_t bytes : {SmallTrace().size(), internal::kTraceHeaderBytes + 20}) {
      const std::string cut = WriteFile("cut.trace", whole.substr(0, bytes));
      const CommandResult result = RunPlain({"trace", function, cut});
      EXPECT_EQ(result.exit_status, 0) << function << bytes;
      EXPECT_EQ(result.err, kCutOff) << function << bytes;
    }
    const std::string ended = WriteFile("ended.trace", whole);
    EXPECT_EQ(RunPlain({"trace", function, ended}).err, "") << function;
  }
}

TEST_F(TraceCommandTest, AReplayTellsThatTheRecordingDidNotEnd) {
  Output({"createtable", "orders", "families=f"});
  const TraceHeader header = internal::FixedTraceHeader();
  std::string one = internal::EncodeTraceHeader(header);
  internal::AppendRecords(header, {GetTraceRecord(1)}, &one);
  std::string whole = SmallTrace();
  internal::AppendSummary(header, {.operations = 2, .recorded = 2}, &whole);
  const auto replay = [&](size_t bytes) {
    return Run({"replay", WriteFile("cut.trace", whole.substr(0, bytes)), "--rate", "max"});
  };
  // The second file ends in its second block.
  for (const auto& [bytes, operations] :
       {std::pair(SmallTrace().size(), 2), std::pair(one.size() + 20, 1)}) {
    const CommandResult result = replay(bytes);
    EXPECT_EQ(result.exit_status, 0) << bytes;
    EXPECT_EQ(result.err,
              fmt::format("stele: the recording did not end normally, or still runs: the trace has "
                          "its complete blocks only; operations that were read: {}\n",
                          operations));
    EXPECT_NE(result.out.find(fmt::format("\nthe recording was cut off before its end; operations "
                                          "that were read: {}\n",
                                          operations)),
              std::string::npos)
        << result.out;
  }
  const CommandResult ended = replay(whole.size());
  EXPECT_EQ(ended.exit_status, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(ended.out.find("cut off"), std::string::npos) << ended.out;
  const std::string none =
      WriteFile("none.trace", whole.substr(0, internal::kTraceHeaderBytes + 20));
  ExpectError({"replay", none, "--rate", "max"}, 1,
              "none.trace: the trace has no operation: its recording did not end normally");
  ExpectError({"replay", WriteFile("none.jsonl", "\n"), "--rate", "max"}, 1,
              "none.jsonl: the trace has no operation");
}

TEST_F(TraceCommandTest, DamageIsNotedAndWrongWordsAreErrors) {
  std::string damaged = SmallTrace();
  damaged[internal::kTraceHeaderBytes] ^= 1;
  const std::string bad = WriteFile("bad.trace", damaged);
  for (const char* function : {"info", "cat"}) {
    const CommandResult result = RunPlain({"trace", function, bad});
    EXPECT_EQ(result.exit_status, 3);
    EXPECT_EQ(result.err, std::string(kCutOff) +
                              "stele: left out 1 wrong line or damaged block of the trace\n");
  }
  const std::string lines = WriteFile("bad.jsonl", "{}\n");
  ExpectError({"trace", "cat", lines}, 1, "bad.jsonl:1: the line has no \"t\"");
  EXPECT_EQ(RunPlain({"trace", "info", lines, "--skip-bad"}).exit_status, 3);
  ExpectError({"trace", "cat", bad, "-o", bad}, 1, "would be replaced");
  ExpectError({"trace", "cat", bad, "-o", Path("a.txt")}, 2, "-o must end with");
  ExpectError({"trace", "show", bad}, 2, "trace info TRACE");
  ExpectError({"trace", "info"}, 2, "trace info TRACE");
  ExpectError({"trace", "info", Path("none")}, 1, "none");
}

TEST_F(TraceCommandTest, EveryVerbRejectsAnOperationWithoutItsRow) {
  Output({"createtable", "t", "families=f"});
  const std::string bad = WriteFile("bad.jsonl", "{\"t\":1,\"op\":\"get\",\"table\":\"t\"}\n");
  const std::vector<std::vector<std::string>> verbs = {
      {"trace", "cat", bad}, {"trace", "info", bad}, {"heatmap", bad}, {"lint", "--trace", bad}};
  const std::string message = "bad.jsonl:1: a get needs the member \"row\"";
  for (const auto& verb : verbs) ExpectError(verb, 1, message);
  const CommandResult replayed = Run({"replay", bad});
  EXPECT_EQ(replayed.exit_status, 1);
  EXPECT_NE(replayed.err.find(message), std::string::npos) << replayed.err;
}

TEST_F(TraceCommandTest, InfoShowsSpansInReadableUnits) {
  for (const auto& [micros, span] :
       std::vector<std::pair<int64_t, std::string>>{{5, "5us"},
                                                    {1'500, "1.5ms"},
                                                    {92'706'624, "1m 32s"},
                                                    {8'000'000'000, "2h 13m"},
                                                    {176'400'000'000, "2d 1h"}}) {
    const std::string line = R"(,"op":"get","table":"t","row":"a"})";
    const std::string trace =
        WriteFile("span.jsonl", fmt::format("{{\"t\":1{0}\n{{\"t\":{1}{0}\n", line, micros + 1));
    const std::string out = RunPlain({"trace", "info", trace}).out;
    EXPECT_NE(out.find(", " + span + "\n"), std::string::npos) << out;
  }
}

TEST_F(TraceCommandTest, RecordsTheOperationsOfAVerb) {
  const std::string trace = Path("verb.trace");
  Output({"createtable", "orders", "families=f"});
  CommandResult result = Run({"--trace", trace, "set", "orders", "r1", "f:q=secret"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.err, "stele: recorded 1 of 1 operation in " + trace + "; 0 dropped\n");
  const std::string lines = RunPlain({"trace", "cat", trace}).out;
  EXPECT_NE(lines.find("\"op\":\"set\",\"table\":\"orders\",\"row\":\"r1\""), std::string::npos)
      << lines;
  EXPECT_EQ(lines.find("secret"), std::string::npos) << lines;
  ExpectError({"--trace", trace, "read", "orders"}, 1, "verb.trace exists; name a new file");
  EXPECT_EQ(RunPlain({"trace", "cat", trace}).out, lines);
  result = Run({"--trace=" + Path("s.trace"), "--trace-sample=1000000", "read", "orders"});
  EXPECT_NE(result.out, "") << result.err;
  EXPECT_NE(RunPlain({"trace", "cat", Path("s.trace")}).out.find("\"sample\":1000000"),
            std::string::npos);
}

TEST_F(TraceCommandTest, ALookupIsOneOperation) {
  Output({"createtable", "orders", "families=f"});
  Output({"set", "orders", "r1", "f:q=v"});
  for (const std::string row : {"r1", "none"}) {
    const std::string trace = Path(row + ".trace");
    const CommandResult result = Run({"--trace", trace, "lookup", "orders", row});
    EXPECT_EQ(result.exit_status, 0);
    EXPECT_EQ(result.err, "stele: recorded 1 of 1 operation in " + trace + "; 0 dropped\n");
  }
}

TEST_F(TraceCommandTest, RefusesTracesThatCannotBeRecorded) {
  Output({"createtable", "orders", "families=f"});
  ExpectError({"--trace", "", "read", "orders"}, 2, "--trace needs the name of a file");
  ExpectError({"--trace-sample", "0", "read", "orders"}, 2, "--trace-sample must be 1 to 1000000");
  ExpectError({"--trace", database() + "/x.trace", "read", "orders"}, 1,
              "choose a place elsewhere");
  const std::string both = Path("both");
  ExpectError({"--trace", both, "-o", both, "read", "orders"}, 2, "both");
  EXPECT_EQ(RunPlain({"trace", "cat", both}).exit_status, 1) << "nothing was written";
  ExpectError({"--trace", "./relative.trace", "-o", "relative.trace", "read", "orders"}, 2,
              "relative.trace");
  const CommandResult help = Run({"--trace", Path("help.trace"), "help"});
  EXPECT_EQ(help.exit_status, 1);
  EXPECT_NE(help.err.find("so nothing was recorded"), std::string::npos) << help.err;
}

}  // namespace
}  // namespace stele
#endif  // STELE_HAS_LAB
