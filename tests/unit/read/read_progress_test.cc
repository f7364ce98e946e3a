// Tests the progress reports of a read that finds nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/read_fixture.h"

namespace stele::internal {
namespace {

using Reports = std::vector<std::string>;

// Returns the reports of a read of all rows. No cell passes the filter. Reports depend on counts
// only, because the interval is 0: every 64th empty batch or empty row. A row of one batch counts
// twice.
Reports ReadNothing(const HandmadeTable& table, bool reverse = false) {
  Reports reports;
  RowStreamOptions options = table.Options(Filter::ValueRegex("nowhere"));
  options.reverse = reverse;
  options.progress_interval = {};
  options.on_progress = [&](std::string_view key) { reports.emplace_back(key); };
  EXPECT_EQ(Show(table, std::move(options)), "");
  return reports;
}

TEST(ReadProgressTest, EveryThirtySecondRowIsReportedInTheOrderOfTheRead) {
  HandmadeTable table;
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += fmt::format("r{:03} a:q @1 = v\n", i);
  table.AddFile(lines);
  EXPECT_EQ(ReadNothing(table), Reports({"r031", "r063", "r095", "r127", "r159", "r191"}));
  EXPECT_EQ(ReadNothing(table, /*reverse=*/true),
            Reports({"r168", "r136", "r104", "r072", "r040", "r008"}));
}

TEST(ReadProgressTest, ARowThatIsReturnedRestartsTheCount) {
  HandmadeTable table;
  std::string lines;
  for (int i = 0; i < 200; ++i)
    lines += fmt::format("r{:03} a:q @1 = {}\n", i, i == 100 ? "wanted" : "v");
  table.AddFile(lines);
  Reports reports;
  RowStreamOptions options = table.Options(Filter::ValueRegex("wanted"));
  options.progress_interval = {};
  options.on_progress = [&](std::string_view key) { reports.emplace_back(key); };
  EXPECT_EQ(Show(table, std::move(options)), "r100 a:q@1=wanted");
  EXPECT_EQ(reports, Reports({"r031", "r063", "r095", "r132", "r164", "r196"}));
}

TEST(ReadProgressTest, NoReportIsMadeWithinTheInterval) {
  HandmadeTable table;
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += fmt::format("r{:03} a:q @1 = v\n", i);
  table.AddFile(lines);
  RowStreamOptions options = table.Options(Filter::ValueRegex("nowhere"));
  options.progress_interval = std::chrono::hours(1);
  options.on_progress = [](std::string_view key) { ADD_FAILURE() << key; };
  EXPECT_EQ(Show(table, std::move(options)), "");
}

TEST(ReadProgressTest, ALargeRowReportsNoNewKey) {
  HandmadeTable table;
  std::string lines;
  for (int i = 0; i < 200 * static_cast<int>(kCellBatch); ++i)
    lines += fmt::format("row a:q{:06} @1 = v\n", i);
  table.AddMemtable(lines);
  const Reports reports = ReadNothing(table);
  EXPECT_GE(reports.size(), 3u);
  EXPECT_EQ(reports, Reports(reports.size()));
}

}  // namespace
}  // namespace stele::internal
