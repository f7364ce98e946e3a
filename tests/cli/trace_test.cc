// Tests the commands that read traces, with traces in the binary form.
#ifdef STELE_HAS_LAB
#include "cli/command_fixture.h"
#include "support/trace_testing.h"

namespace stele {
namespace {

using internal::GetTraceRecord;
using internal::TraceHeader;

class TraceCommandTest : public CommandTest {
 protected:
  // Two blocks of one operation each on the table "orders".
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

}  // namespace
}  // namespace stele
#endif  // STELE_HAS_LAB
