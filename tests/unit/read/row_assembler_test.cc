// Tests RowAssembler: one cell is enough for Exists, and memory of a large row of which little
// passes is released.
#include "read/row_assembler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "read/source_chain.h"
#include "support/read_fixture.h"

namespace stele::internal {
namespace {

OwnedRow GiantRow(int cells, std::string_view value) {
  OwnedRow row{"giant", {}};
  for (int i = 0; i < cells; ++i) {
    row.cells.push_back({.family = 1,
                         .timestamp = 1,
                         .qualifier = fmt::format("q{:04}", i),
                         .value = i == 3 ? "once" : std::string(value)});
  }
  return row;
}

// Reads the giant row of a table piece by piece.
class GiantRead {
 public:
  GiantRead(const HandmadeTable& table, const Filter& filter, RowAssemblerOptions options)
      : program_(*FilterProgram::Compile(filter, table.view().definition().families)),
        stream_(table.Options(filter)) {
    chain_options_ = ReadChainOptions(table.view().definition(), program_, true, stream_.now);
    chain_options_.sequence = table.sequence();
    chain_options_.only_row = "giant";
    chain_options_.stats = &stats_;
    chain_ = *OpenChain(table.view(), table.view().tablets.front(), chain_options_);
    options.stats = &stats_;
    assembler.emplace(&program_, &interruption, options);
  }
  bool Begin() {
    return chain_->SeekRow("giant") && assembler->StartRow("giant") &&
           assembler->Read(chain_.get());
  }

  Interruption interruption;
  std::optional<RowAssembler> assembler;

 private:
  FilterProgram program_;
  const RowStreamOptions stream_;
  CursorStats stats_;
  ChainOptions chain_options_;
  std::unique_ptr<CellCursor> chain_;
};

// Regression: whether a giant row has any cell was known only after a search for a second one.
TEST(RowAssemblerTest, TheFirstCellThatPassesIsEnough) {
  HandmadeTable table({}, {});
  table.AddFile({GiantRow(5000, "v")}, KeyRange::All(), 4000);
  const Filter once = Filter::ValueRegex("once");
  for (const Filter& filter : {once, Filter::Condition(once, Filter::ColumnRegex("q000.")),
                               Filter::Interleave(once, Filter::BlockAll())}) {
    GiantRead read(table, filter, {.piece_bytes = 1, .first_cell_only = true});
    ASSERT_TRUE(read.Begin()) << filter;
    EXPECT_EQ(read.assembler->piece().size(), 1u);
    EXPECT_LE(read.assembler->cells_seen(), 1000u) << filter;
  }
}

TEST(RowAssemblerTest, PiecesAreFullAndOnlyTheLastHasNoMore) {
  HandmadeTable table({}, {});
  table.AddFile({GiantRow(1000, "v")}, KeyRange::All(), 4000);
  GiantRead read(table, Filter(), {.piece_bytes = 60});
  ASSERT_TRUE(read.Begin());
  std::vector<std::string> qualifiers;
  for (bool more = true; more;) {
    size_t bytes = 0;
    for (const Cell& cell : read.assembler->piece()) {
      qualifiers.emplace_back(cell.qualifier);
      bytes += cell.qualifier.size() + cell.value.size();
    }
    more = read.assembler->has_more();
    EXPECT_LT(bytes, 60u + 9);
    if (!more) break;
    EXPECT_GE(bytes, 60u);
    ASSERT_TRUE(read.assembler->ReadMore()) << read.assembler->status();
  }
  ASSERT_EQ(qualifiers.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(qualifiers.begin(), qualifiers.end()));
}

// A whole row is one piece, and a stop token must end it all the same.
TEST(RowAssemblerTest, AStopTokenEndsTheReadOfALongRow) {
  HandmadeTable table({}, {});
  table.AddFile({GiantRow(9000, "v")}, KeyRange::All(), 4000);
  std::stop_source source;
  GiantRead read(table, Filter(), {.piece_bytes = uint64_t{1} << 30});
  read.interruption.stop = source.get_token();
  source.request_stop();
  EXPECT_FALSE(read.Begin());
  EXPECT_TRUE(absl::IsCancelled(read.assembler->status())) << read.assembler->status();
}

}  // namespace
}  // namespace stele::internal
