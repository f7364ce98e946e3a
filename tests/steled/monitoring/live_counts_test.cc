// Tests for failures of the live heat map's counts: an operation in the wrong band or step, counts
// that are lost when a table grows, and memory that grows with the number of tables.
#include "steled/monitoring/live_counts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>
#include <thread>
#include <utility>

#include "stele/stele.h"

namespace stele::server {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kBegin = 1'700'000'000 * kSecond;

double SumOf(const std::vector<double>& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0.0);
}

class LiveCountsTest : public testing::Test {
 protected:
  void AddTable(const std::string& name, int first, int after) {
    absl::StatusOr<Table> table = database_.OpenTable(name);
    if (!table.ok()) table = database_.CreateTable(name, Schema().AddFamily("f"));
    ASSERT_TRUE(table.ok());
    for (int i = first; i < after; ++i) {
      RowMutation row(fmt::format("row{:04}", i));
      ASSERT_TRUE(table->Apply(row.SetCell("f", "q", "v")).ok());
    }
  }
  void Refresh() {
    counts_.Refresh([this](const std::string& table) { return database_.OpenTable(table); });
  }
  // Begins to count the table.
  std::shared_ptr<TableCounts> Begin(const std::string& table) {
    EXPECT_EQ(counts_.Find(table), nullptr);
    Refresh();
    return counts_.Find(table);
  }
  void Write(const std::string& table, int row) {
    const std::string row_key = fmt::format("row{:04}", row);
    const std::string_view view = row_key;
    counts_.CountWrites(table, {&view, 1});
  }
  StepRing::Copy CopyOf(const std::string& table, HeatWindow window = HeatWindow::kMinutes) {
    return counts_.Find(table)->CopyAt(window, now_);
  }

  int64_t now_ = kBegin;
  Database database_ = Database::Open("mem:").value();
  LiveCounts counts_{[this] { return now_; }};
};

TEST_F(LiveCountsTest, CountsByBandAndStep) {
  AddTable("t", 0, 1'000);
  const auto counts = Begin("t");
  ASSERT_NE(counts, nullptr);
  ASSERT_EQ(counts->starts().size(), LiveCounts::kBandsMax);
  EXPECT_EQ(counts->starts().front(), "");
  EXPECT_EQ(counts->starts()[128], "row0500");
  Write("t", 500);
  Write("t", 499);
  now_ += 5 * kSecond;
  ScanCounter scan(&counts_, counts);
  for (int row = 500; row < 508; ++row) scan.OnRow(fmt::format("row{:04}", row));
  scan.OnEnd("row0500");
  ScanCounter empty(&counts_, counts);
  empty.OnEnd("zzz");
  const StepRing::Copy copy = CopyOf("t");
  EXPECT_EQ(copy.steps, 2u);
  EXPECT_EQ(copy.start_micros, kBegin / (5 * kSecond) * 5 * kSecond);
  EXPECT_EQ(SumOf(copy.writes), 2);
  EXPECT_EQ(copy.writes[127], 1);
  EXPECT_EQ(copy.writes[128], 1);
  // Rows 500 to 507 are in two bands or three, and each counts once.
  EXPECT_EQ(copy.reads[256 + 128], 1);
  EXPECT_EQ(copy.reads[256 + 129], 1);
  EXPECT_EQ(copy.reads[256 + 255], 1);
  EXPECT_EQ(SumOf({copy.reads.begin(), copy.reads.begin() + 256}), 0);
  const StepRing::Copy day = CopyOf("t", HeatWindow::kDay);
  EXPECT_EQ(day.steps, 1u);
  EXPECT_EQ(SumOf(day.writes), 2);
}

TEST_F(LiveCountsTest, OldStepsEnd) {
  AddTable("t", 0, 10);
  Begin("t");
  Write("t", 1);
  now_ += 239 * 5 * kSecond;
  EXPECT_EQ(CopyOf("t").steps, 240u);
  EXPECT_EQ(SumOf(CopyOf("t").writes), 1);
  now_ += 5 * kSecond;
  EXPECT_EQ(CopyOf("t").steps, 240u);
  EXPECT_EQ(SumOf(CopyOf("t").writes), 0);
  EXPECT_EQ(SumOf(CopyOf("t", HeatWindow::kDay).writes), 1);
  now_ += 365 * 86'400 * kSecond;
  Write("t", 1);
  EXPECT_EQ(SumOf(CopyOf("t").writes), 1);
  EXPECT_EQ(SumOf(CopyOf("t", HeatWindow::kDay).writes), 1);
  now_ -= 86'400 * kSecond;  // the clock is set back
  Write("t", 1);
  EXPECT_EQ(SumOf(CopyOf("t").writes), 2);
}

TEST_F(LiveCountsTest, ATableThatGrowsGetsBandsAndKeepsItsCounts) {
  AddTable("t", 0, 4);
  Begin("t");
  ASSERT_EQ(counts_.Find("t")->starts().size(), 4u);
  for (int i = 0; i < 10; ++i) Write("t", 3);
  AddTable("t", 4, 400);
  Refresh();
  const auto grown = counts_.Find("t");
  EXPECT_EQ(grown->starts().size(), 256u);
  const StepRing::Copy copy = CopyOf("t");
  EXPECT_EQ(SumOf(copy.writes), 10);
  EXPECT_EQ(copy.writes[0] + copy.writes[1], 0) << "the rows before row0003";
  Refresh();
  EXPECT_EQ(counts_.Find("t"), grown) << "nothing was written";
}

// New rows behind all others.
TEST_F(LiveCountsTest, ABandThatHoldsManyNewRowsIsDivided) {
  AddTable("t", 0, 1'000);
  Begin("t");
  Write("t", 0);
  AddTable("t", 1'000, 1'100);
  Refresh();
  EXPECT_GT(counts_.Find("t")->starts().back(), "row1000");
  EXPECT_EQ(SumOf(CopyOf("t").writes), 1);
}

TEST_F(LiveCountsTest, AtMostSixteenTables) {
  for (int i = 0; i < 17; ++i) AddTable(fmt::format("t{}", i), 0, 1);
  for (int i = 0; i < 16; ++i) {
    ASSERT_NE(Begin(fmt::format("t{}", i)), nullptr);
    Write(fmt::format("t{}", i), 0);
  }
  EXPECT_EQ(Begin("t16"), nullptr);
  EXPECT_EQ(Begin("none"), nullptr);
  now_ += 600 * kSecond;
  for (int i = 0; i < 16; ++i)
    if (i != 3) Write(fmt::format("t{}", i), 0);
  now_ += 900 * kSecond;  // t3 was not used for 25 minutes
  EXPECT_NE(Begin("t16"), nullptr);
  EXPECT_EQ(counts_.tables().size(), 16u);
  EXPECT_EQ(counts_.tables().count("t3"), 0u);
}

TEST_F(LiveCountsTest, ADeletedTableIsCountedNoMore) {
  AddTable("t", 0, 1);
  Begin("t");
  Write("t", 0);
  ASSERT_TRUE(database_.DeleteTable("t").ok());
  Refresh();
  EXPECT_TRUE(counts_.tables().empty());
}

TEST_F(LiveCountsTest, ThreadsCountWhileBandsChange) {
  AddTable("t", 0, 2);
  Begin("t");
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([this] {
      for (int i = 0; i < 20'000; ++i) Write("t", i % 1'000);
    });
  }
  for (const auto& [first, after] : {std::pair(2, 100), {100, 1'000}}) {
    AddTable("t", first, after);
    Write("t", first);  // the threads may have ended
    Refresh();
  }
  for (std::thread& thread : threads) thread.join();
  // Counts that arrive while a table gets new bands may be lost.
  EXPECT_GT(SumOf(CopyOf("t").writes), 0);
  EXPECT_LE(SumOf(CopyOf("t").writes), 60'002);
  EXPECT_EQ(counts_.Find("t")->starts().size(), 256u);
}

TEST_F(LiveCountsTest, TheReadsOfTheMapAreInNoTrace) {
  AddTable("t", 0, 10);
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("stele_live_counts_{}", getpid());
  ASSERT_TRUE(database_.StartTrace(path.string()).ok());
  ASSERT_NE(Begin("t"), nullptr);
  const auto summary = database_.StopTrace();
  std::filesystem::remove(path);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->operations, 0u);
}

}  // namespace
}  // namespace stele::server
