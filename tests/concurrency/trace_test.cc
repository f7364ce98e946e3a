// Tests a trace that is started and stopped while threads read and write: every record that the
// summaries count is in the file once, and no call fails.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "stele/stele.h"
#include "support/trace_testing.h"

namespace stele {
namespace {

constexpr int kTraceThreads = 4;
constexpr int kTraces = 20;
constexpr uint64_t kCallsPerTrace = 300;

TEST(TraceConcurrencyTest, StartsAndStopsBesideCalls) {
  std::string directory = (std::filesystem::temp_directory_path() / "stele_trace_XXXXXX").string();
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const std::string path = directory + "/t.trace";
  Database database = Database::Open("mem:").value();
  const Table table = database.CreateTable("t", Schema().AddFamily("f")).value();
  std::atomic<bool> ends{false};
  std::atomic<uint64_t> failures{0};
  std::atomic<uint64_t> calls{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kTraceThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Table mine = table;
      for (uint64_t i = 0; !ends; ++i) {
        const std::string row = fmt::format("{}#{}", thread, i);
        if (!mine.Apply(RowMutation(row).SetCell("f", "q", "v")).ok()) ++failures;
        if (!mine.ReadRow(row).ok()) ++failures;
        if (i % 16 == 0) {
          RowReader reader = mine.ReadRows(RowRange::Prefix(row), {}, {.limit = 2});
          while (reader.Next()) {
          }
          if (!reader.status().ok()) ++failures;
        }
        ++calls;
      }
    });
  }
  uint64_t recorded = 0;
  for (int trace = 0; trace < kTraces; ++trace) {
    ASSERT_TRUE(database.StartTrace(path, {.append = true}).ok());
    const uint64_t before = calls;
    while (calls < before + kCallsPerTrace) std::this_thread::yield();
    const auto summary = database.StopTrace();
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_GT(summary->recorded, 0u);
    EXPECT_LE(summary->recorded + summary->dropped, summary->operations);
    recorded += summary->recorded;
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0u);

  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const auto read = internal::ReadTraceBytes(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->damaged, 0u);
  EXPECT_EQ(read->records.size(), recorded);
  EXPECT_EQ(read->summaries, static_cast<uint64_t>(kTraces));
  // A row is written once, so it is recorded at most once.
  std::map<std::string, int> writes;
  for (const internal::TraceRecord& record : read->records) {
    if (record.op != internal::TraceOp::kSet) continue;
    EXPECT_EQ(++writes[record.row], 1) << record.row;
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace stele
