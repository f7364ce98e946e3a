// Regression tests, through the public API, of bugs in sections, blocks and the merge.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stele/stele.h"
#include "support/model_timestamps.h"

namespace stele {
namespace {

class LayoutCasesTest : public testing::Test {
 protected:
  void SetUp() override {
    database_ = Database::Open("mem:").value_or(Database());
    table_ = database_.CreateTable("t", Schema().AddFamily("a").AddFamily("f").AddFamily("w"))
                 .value_or(Table());
  }
  void Apply(const RowMutation& mutation) { ASSERT_EQ(table_.Apply(mutation), absl::OkStatus()); }
  size_t CountRows() {
    RowReader reader = table_.ReadRows();
    size_t count = 0;
    while (reader.Next()) ++count;
    EXPECT_EQ(reader.status(), absl::OkStatus());
    return count;
  }
  // Returns the values of the row "row" in order.
  std::string Values(const Filter& filter) {
    const auto row = table_.ReadRow("row", filter);
    if (!row.ok() || !row->has_value()) return std::string(row.status().message());
    std::string values;
    for (const CellView& cell : (*row)->cells()) values += std::string(cell.value()) + " ";
    return values;
  }

  Database database_;
  Table table_;
};

// Many cells compress to almost nothing. Such a page is closed by its number of cells, and must not
// count as a small page because of its bytes.
TEST_F(LayoutCasesTest, RowsOfOneEmptyCell) {
  for (const size_t key_bytes : {8, 14, 20, 28, 40}) {
    std::vector<RowMutation> rows;
    for (int i = 0; i < 5000; ++i) {
      std::string row_key = fmt::format("{:02}{:06}", key_bytes, i);
      row_key.resize(key_bytes, '.');
      rows.push_back(std::move(RowMutation(row_key).SetCell("f", "member", Ms(0), "")));
    }
    ASSERT_TRUE(table_.BulkApply(rows).empty());
  }
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  EXPECT_EQ(CountRows(), 25'000u);
  ASSERT_EQ(table_.Compact(), absl::OkStatus());
  EXPECT_EQ(CountRows(), 25'000u);
}

// The newest version in one file is hidden. The next version is in that file's history, next to a
// tombstone there, and not in an older file.
TEST_F(LayoutCasesTest, LatestOfAColumnWhoseNewestWasDeleted) {
  Apply(RowMutation("row").SetCell("f", "c", Ms(93), "C93"));
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  Apply(RowMutation("row").DeleteFromColumn("f", "c", TimestampRange{Ms(85), Ms(91)}));
  Apply(RowMutation("row").SetCell("f", "c", Ms(100), "B100").SetCell("f", "c", Ms(95), "B95"));
  for (int i = 0; i < 2000; ++i) {  // so that the file gets a history section
    RowMutation other(fmt::format("a{:07}", i));
    for (int j = 1; j <= 20; ++j)
      other.SetCell("f", "q", Ms(j), std::string(30, static_cast<char>('a' + (i * 7 + j) % 26)));
    Apply(other);
  }
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  Apply(RowMutation("row").DeleteFromColumn("f", "c", TimestampRange{Ms(97), Ms(101)}));
  EXPECT_EQ(Values(Filter()), "B95 C93 ");
  EXPECT_EQ(Values(Filter::Latest(1)), "B95 ");
  EXPECT_EQ(Values(Filter::Latest(2)), "B95 C93 ");
}

// A large value that a join of sections returned must stay valid until the whole batch is released.
TEST_F(LayoutCasesTest, ALargeValueAmongSections) {
  for (int i = 0; i < 2000; ++i) {  // so that "a" is a narrow family with its own section
    Apply(std::move(
        RowMutation(fmt::format("a{:07}", i))
            .SetCell("a", "n", Ms(1), "x")
            .SetCell("w", "q", Ms(1), std::string(500, static_cast<char>('a' + i % 26)))));
  }
  const std::string large(1 << 20, 'L');
  RowMutation row("row");
  for (int i = 0; i < 10; ++i) row.SetCell("a", fmt::format("n{:03}", i), Ms(1), "x");
  for (int i = 0; i < 300; ++i)
    row.SetCell("w", fmt::format("q{:03}", i), Ms(1), i == 249 ? large : "s");
  Apply(row);
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  for (int round = 0; round < 2; ++round) {
    const auto read = table_.ReadRow("row", Filter::Column("w", "q249"));
    ASSERT_TRUE(read.ok() && read->has_value()) << read.status();
    EXPECT_TRUE((*read)->cells()[0].value() == large) << "after " << round << " compactions";
    ASSERT_EQ(table_.Compact(), absl::OkStatus());
  }
}

}  // namespace
}  // namespace stele
