#include "support/db_wide_row.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace stele::internal {
namespace {

constexpr uint32_t kCellsPerMutation = 4000;

class WideRow {
 public:
  WideRow(Database& database, uint32_t cell_count) : cell_count_(cell_count) {
    absl::StatusOr<Table> table = database.CreateTable(
        "wide", Schema().AddFamily("f", GcRule::MaxNumVersions(1)).AddFamily("g"));
    EXPECT_TRUE(table.ok()) << table.status();
    table_ = *table;
    for (const char* row_key : {"a", "z"}) {
      EXPECT_EQ(table_.Apply(RowMutation(row_key).SetCell("g", "", Timestamp::FromMillis(1), "")),
                absl::OkStatus());
    }
  }

  void Run() {
    Write(0, 1);
    ReadAll({}, 0);
    EXPECT_EQ(table_.Flush(), absl::OkStatus());
    ReadAll({.row_piece_bytes = 1 << 20}, 0);
    EXPECT_EQ(table_.Compact(), absl::OkStatus());
    ReadAll({}, 0);
    ReadAll({.reverse = true, .row_piece_bytes = 100'000}, 0);
    ReadParts();
    // Write the second half again: the GC rule then makes its old versions garbage.
    Write(cell_count_ / 2, 2);
    ReadAll({}, cell_count_ / 2);
    EXPECT_EQ(table_.Compact(), absl::OkStatus());
    EXPECT_EQ(table_.Stats()->cells, cell_count_ + 2u);
    ReadAll({.reverse = true}, cell_count_ / 2);
    EXPECT_EQ(table_.Apply(RowMutation("m").DeleteFromFamily("f")), absl::OkStatus());
    EXPECT_EQ(table_.ReadRow("m")->has_value(), false);
    EXPECT_EQ(table_.Compact(), absl::OkStatus());
    EXPECT_EQ(table_.Stats()->cells, 2u);
  }

 private:
  static std::string Qualifier(uint32_t cell) { return fmt::format("{:08x}", cell); }
  static std::string Value(uint32_t cell, int64_t round) {
    return fmt::format("{:x}", cell * 7 + round);
  }

  // Writes the cells in strides, so that every memtable and every file contains cells from the
  // whole row.
  void Write(uint32_t first, int64_t round) {
    const uint32_t count = cell_count_ - first;
    const uint32_t mutation_count = (count + kCellsPerMutation - 1) / kCellsPerMutation;
    for (uint32_t i = 0; i < mutation_count; ++i) {
      RowMutation mutation("m");
      for (uint32_t cell = first + i; cell < cell_count_; cell += mutation_count) {
        mutation.SetCell("f", Qualifier(cell), Timestamp::FromMillis(round), Value(cell, round));
      }
      ASSERT_EQ(table_.Apply(mutation), absl::OkStatus());
    }
  }

  // Cells from index `renewed_from` on must have the value of the second round.
  void ReadAll(const ReadOptions& options, uint32_t renewed_from) {
    std::string rows;
    uint32_t next = 0;
    size_t pieces = 0;
    uint64_t most_cells = 0;
    RowReader reader = table_.ReadRows(RowSet::All(), {}, options);
    for (const RowView& row : reader) {
      if (row.is_last_piece()) rows += row.row_key();
      if (row.row_key() != "m") continue;
      ++pieces;
      most_cells = std::max<uint64_t>(most_cells, row.cells().size());
      for (const CellView& cell : row.cells()) {
        ASSERT_EQ(cell.qualifier(), Qualifier(next));
        ASSERT_EQ(cell.value(), Value(next, renewed_from > 0 && next >= renewed_from ? 2 : 1));
        ++next;
      }
    }
    EXPECT_EQ(reader.status(), absl::OkStatus());
    EXPECT_EQ(rows, options.reverse ? "zma" : "amz");
    EXPECT_EQ(next, cell_count_);
    // Each cell of a partial row costs memory in addition to its bytes, so the number of cells has
    // a bound too.
    EXPECT_LE(most_cells, std::max<uint64_t>(256, options.row_piece_bytes / 64));
    if (cell_count_ > 1'000'000) {
      EXPECT_GT(pieces, 1u);
    }
  }

  std::vector<std::string> Qualifiers(const Filter& filter) {
    std::vector<std::string> qualifiers;
    RowReader reader = table_.ReadRows(RowRange::Closed("m", "m"), filter);
    for (const RowView& row : reader) {
      for (const CellView& cell : row.cells()) qualifiers.emplace_back(cell.qualifier());
    }
    EXPECT_EQ(reader.status(), absl::OkStatus());
    return qualifiers;
  }

  void ReadParts() {
    const uint32_t middle = cell_count_ / 2;
    const auto range =
        Filter::ColumnRange("f", ByteRange::RightOpen(Qualifier(middle), Qualifier(middle + 1000)));
    const std::vector<std::string> part = Qualifiers(range);
    ASSERT_EQ(part.size(), 1000u);
    for (uint32_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], Qualifier(middle + i));
    EXPECT_EQ(Qualifiers(Filter::CellsRowLimit(3)),
              (std::vector<std::string>{Qualifier(0), Qualifier(1), Qualifier(2)}));
    EXPECT_EQ(Qualifiers(Filter::Column("f", Qualifier(cell_count_ - 2))),
              std::vector<std::string>{Qualifier(cell_count_ - 2)});
    const absl::StatusOr<std::optional<Row>> one =
        table_.ReadRow("m", Filter::Column("f", Qualifier(middle)));
    ASSERT_TRUE(one.ok() && one->has_value()) << one.status();
    EXPECT_EQ((*one)->cells()[0].value(), Value(middle, 1));
  }

  const uint32_t cell_count_;
  Table table_;
};

}  // namespace

void WorkOnAWideRow(Database& database, uint32_t cell_count) {
  WideRow(database, cell_count).Run();
}

}  // namespace stele::internal
