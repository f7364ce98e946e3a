// Tests the progress reports of a read that finds nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/db_contract.h"

namespace stele::internal {
namespace {

// A filter that passes no cell and is slow.
Filter Nothing() { return Filter::ValueRegex(".*(nowhere|neverwhere)[0-9]+"); }

class ReadProgressTest : public testing::Test {
 protected:
  void Apply(const std::vector<RowMutation>& mutations) {
    ASSERT_TRUE(store_.table().BulkApply(mutations).empty());
  }

  // Returns the progress reports of reads of all rows. Repeats the read until there is a report.
  std::vector<std::string> Told(const Filter& filter, bool reverse = false) {
    std::vector<std::string> told;
    while (told.empty()) {
      RowReader reader = store_.table().ReadRows(
          RowSet::All(), filter, {.reverse = reverse, .on_progress = [&](std::string_view key) {
                                    told.emplace_back(key);
                                  }});
      while (reader.Next()) told.clear();  // reports from before a row was found do not matter here
      EXPECT_TRUE(reader.status().ok()) << reader.status();
    }
    return told;
  }

  ContractDatabase store_;
};

TEST_F(ReadProgressTest, RowsThatWereLookedAtInTheOrderOfTheRead) {
  store_.MakeTable(Schema().AddFamily("f"));
  for (int part = 0; part < 40; ++part) {
    std::vector<RowMutation> rows;
    for (int i = 0; i < 1000; ++i) {
      rows.push_back(RowMutation(fmt::format("row{:06}", part * 1000 + i))
                         .SetCell("f", "q", Timestamp::FromMillis(1), std::string(200, 'v')));
    }
    Apply(rows);
  }
  std::vector<std::string> told = Told(Nothing());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(std::adjacent_find(told.begin(), told.end()), told.end());
  for (const std::string& key : told) EXPECT_TRUE(key.starts_with("row0")) << key;
  told = Told(Nothing(), /*reverse=*/true);
  EXPECT_TRUE(std::is_sorted(told.rbegin(), told.rend()));
}

TEST_F(ReadProgressTest, NothingNewWithinALargeRow) {
  store_.MakeTable(Schema().AddFamily("f"));
  for (int part = 0; part < 40; ++part) {
    RowMutation row("row");
    for (int i = 0; i < 1000; ++i)
      row.SetCell("f", fmt::format("q{:06}", part * 1000 + i), Timestamp::FromMillis(1),
                  std::string(200, 'v'));
    Apply({row});
  }
  const std::vector<std::string> told = Told(Nothing());
  EXPECT_EQ(told, std::vector<std::string>(told.size(), ""));
}

}  // namespace
}  // namespace stele::internal
