// Tests that rows of unusual shapes are read as written, from memory, from several files, and from
// one file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include "base/random.h"
#include "db/local_database.h"
#include "io/mem_file_system.h"
#include "model/access.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

class ShapesTest : public ::testing::Test {
 protected:
  // Row, family, qualifier, and a number that is less for newer versions.
  using Place = std::tuple<std::string, std::string, std::string, int64_t>;

  void Open(const Schema& schema) {
    EngineOptions options = SmallEngineOptions(&files_);
    options.database.memory_budget_bytes = 1 << 20;
    options.sizes = SizesFor(1 << 20);
    auto opened = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    database_ = Access::Make<Database>(*opened);
    absl::StatusOr<Table> table = database_.CreateTable("t", schema);
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *table;
  }

  void Set(const std::string& row_key, const std::string& family, const std::string& qualifier,
           int64_t millis, const std::string& value) {
    ASSERT_EQ(table_.Apply(RowMutation(row_key).SetCell(family, qualifier,
                                                        Timestamp::FromMillis(millis), value)),
              absl::OkStatus());
    cells_[{row_key, family, qualifier, -millis}] = value;
  }

  void ExpectAll(const ReadOptions& options = {}) {
    std::map<Place, std::string> found;
    RowReader reader = table_.ReadRows(RowSet::All(), {}, options);
    for (const RowView& row : reader) {
      for (const CellView& cell : row.cells()) {
        found[{std::string(row.row_key()), std::string(cell.family()),
               std::string(cell.qualifier()), -cell.timestamp().micros() / 1000}] = cell.value();
      }
    }
    EXPECT_EQ(reader.status(), absl::OkStatus());
    EXPECT_TRUE(found == cells_) << found.size() << " cells instead of " << cells_.size();
  }

  void ExpectThroughout() {
    ExpectAll();
    ASSERT_EQ(table_.Flush(), absl::OkStatus());
    ExpectAll({.row_piece_bytes = 100});
    ASSERT_EQ(table_.Compact(), absl::OkStatus());
    ExpectAll();
    ExpectAll({.reverse = true, .row_piece_bytes = 1});
  }

  MemFileSystem files_;
  Database database_;
  Table table_;
  std::map<Place, std::string> cells_;
};

TEST_F(ShapesTest, AHundredFamiliesInSparseRows) {
  Schema schema;
  for (int family = 0; family < 100; ++family) schema.AddFamily(fmt::format("f{:02}", family));
  Open(schema);
  Random random(1);
  for (int i = 0; i < 6000; ++i) {
    const int family = static_cast<int>(random.OneIn(3) ? random.Below(100) : random.Below(4));
    Set(fmt::format("row{:05}", random.Below(3000)), fmt::format("f{:02}", family),
        fmt::format("q{}", random.Below(3)), 1, std::string(random.Below(60), 'v'));
  }
  // One row has all families.
  for (int family = 0; family < 100; ++family)
    Set("row01500", fmt::format("f{:02}", family), "q", 1, std::string(2000, 'w'));
  ExpectThroughout();
}

TEST_F(ShapesTest, EmptyQualifiersAndValues) {
  Open(Schema().AddFamily("f").AddFamily("g"));
  for (int row = 0; row < 300; ++row) {
    const std::string row_key = fmt::format("r{:03}", row);
    Set(row_key, "f", "", 1, "");
    if (row % 3 == 0) Set(row_key, "f", "", 2, "newer");
    if (row % 4 == 0) Set(row_key, "g", std::string(1, '\0'), 1, "");
    if (row % 5 == 0) Set(row_key, "g", "", 1, std::string(row % 2 == 0 ? 20'000 : 0, 'x'));
  }
  ExpectThroughout();
}

TEST_F(ShapesTest, LongHistoriesBesideShortOnes) {
  Open(Schema().AddFamily("f"));
  Random random(2);
  for (int i = 0; i < 20'000; ++i) {
    Set(random.OneIn(4) ? "short" + fmt::format("{}", random.Below(2000)) : "long", "f",
        fmt::format("q{}", random.Below(2)), static_cast<int64_t>(random.Below(1'000'000)),
        fmt::format("{}", i));
  }
  ExpectThroughout();
}

}  // namespace
}  // namespace stele::internal
