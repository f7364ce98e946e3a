// Tests filters with interleaves, conditions and sinks over rows of any size, in parts, in both
// directions, against their definition.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "read/pass_reader.h"
#include "read/row_lookup.h"
#include "read/source_chain.h"
#include "support/base_sanitized.h"
#include "support/cell_text.h"
#include "support/merge_history.h"
#include "support/model_naive_filter.h"
#include "support/read_fixture.h"

namespace stele::internal {
namespace {

const FilterWords& Words() {
  static const auto* const words = new FilterWords{.families = {"a", "b", "c", "d"},
                                                   .qualifiers = {"", "q1", "q3", "q5", "q7", "q9"},
                                                   .values = {"", "x", "yz", "abc"},
                                                   .row_keys = {"row0", "row1", "row2"},
                                                   .timestamps = {0, 10, 20, 25, 30, 39}};
  return *words;
}

OwnedRow RandomRow(Random& random, int number, size_t cell_count, size_t value_bytes) {
  std::set<std::tuple<uint32_t, std::string, int64_t>> places;
  while (places.size() < cell_count) {
    places.emplace(1 + static_cast<uint32_t>(random.Below(4)), fmt::format("q{}", random.Below(10)),
                   -static_cast<int64_t>(random.Below(40)));
  }
  OwnedRow row{fmt::format("row{}", number), {}};
  for (const auto& [family, qualifier, negated] : places) {
    const bool is_word = random.OneIn(3);
    row.cells.push_back({.family = family,
                         .timestamp = -negated,
                         .qualifier = random.OneIn(200) ? "" : qualifier,
                         .value = is_word ? Words().values[random.Below(4)]
                                          : std::string(1 + random.Below(value_bytes), 'v')});
  }
  std::sort(row.cells.begin(), row.cells.end(), [](const OwnedCell& a, const OwnedCell& b) {
    return CompareCells(a.View(), b.View()) < 0;
  });
  const auto is_same = [](const OwnedCell& a, const OwnedCell& b) {
    return CompareCells(a.View(), b.View()) == 0;
  };
  row.cells.erase(std::unique(row.cells.begin(), row.cells.end(), is_same), row.cells.end());
  return row;
}

// Puts each cell into one of two files.
HandmadeTable MakeFilteredTable(Random& random, const OwnedRows& rows) {
  HandmadeTable table({}, {});
  OwnedRows older;
  OwnedRows newer;
  for (const OwnedRow& row : rows) {
    older.push_back({row.row_key, {}});
    newer.push_back({row.row_key, {}});
    for (const OwnedCell& cell : row.cells)
      (random.OneIn(2) ? older : newer).back().cells.push_back(cell);
    if (older.back().cells.empty()) older.pop_back();
    if (newer.back().cells.empty()) newer.pop_back();
  }
  table.AddFile(older, KeyRange::All(), 20'000);
  table.AddFile(newer, KeyRange::All(), 20'000);
  return table;
}

NaiveRow ToNaive(const OwnedRow& row) {
  NaiveRow naive;
  for (const OwnedCell& cell : row.cells)
    naive.push_back({TestFamilies()[cell.family].name, cell.qualifier, cell.timestamp, cell.value});
  return naive;
}

void Append(const RowView& view, NaiveRow* row) {
  for (const CellView& cell : view.cells()) {
    row->push_back({std::string(cell.family()), std::string(cell.qualifier()),
                    cell.timestamp().micros(), std::string(cell.value())});
    for (const std::string& label : cell.labels()) row->back().label += label;
  }
}

using Rows = std::vector<std::pair<std::string, NaiveRow>>;

Rows ReadStream(const HandmadeTable& table, RowStreamOptions options) {
  const auto stream = table.Open(std::move(options));
  Rows rows;
  bool goes_on = false;
  while (stream->Next()) {
    const RowView& view = stream->row();
    EXPECT_FALSE(view.cells().empty());
    if (!goes_on) rows.emplace_back(view.row_key(), NaiveRow());
    EXPECT_EQ(rows.back().first, view.row_key());
    Append(view, &rows.back().second);
    goes_on = !view.is_last_piece();
  }
  EXPECT_EQ(stream->status(), absl::OkStatus());
  EXPECT_FALSE(goes_on);
  return rows;
}

Rows LookUp(const HandmadeTable& table, const OwnedRows& stored, const Filter& filter) {
  Rows rows;
  for (const OwnedRow& row : stored) {
    RowStreamOptions options = table.Options(filter);
    RowLookup lookup{.sequence = options.sequence, .now = options.now};
    const auto found = LookUpRow(table.view(), row.row_key, &options.program, &lookup);
    EXPECT_EQ(found.status(), absl::OkStatus());
    if (!found.ok() || !found->has_value()) continue;
    rows.emplace_back((*found)->row_key(), NaiveRow());
    Append((*found)->view(), &rows.back().second);
  }
  return rows;
}

Rows AnswerTo(const OwnedRows& stored, const Filter& filter) {
  Rows rows;
  for (const OwnedRow& row : stored) {
    NaiveRow passed = FilterNaively(filter, row.row_key, ToNaive(row));
    if (!passed.empty()) rows.emplace_back(row.row_key, std::move(passed));
  }
  return rows;
}

void ExpectSameAnswer(Rows actual, Rows expected, const Filter& filter) {
  ASSERT_EQ(actual.size(), expected.size()) << filter;
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(actual[i].first, expected[i].first) << filter;
    const NaiveRow shown = InOrder(std::move(actual[i].second));
    const NaiveRow wanted = InOrder(std::move(expected[i].second));
    ASSERT_TRUE(shown == wanted) << filter << " of " << actual[i].first << ": " << shown.size()
                                 << " cells, expected " << wanted.size();
  }
}

struct Sizes {
  size_t cells;
  size_t value_bytes;
  std::vector<uint64_t> pieces;
};

void CompareRandomFilters(const Sizes& sizes, uint64_t seeds, int filters) {
  std::map<std::string, uint64_t> seen;
  for (uint64_t seed = 1; seed <= ReducedPart(seeds); ++seed) {
    Random random(seed);
    OwnedRows rows;
    for (int i = 0; i < 3; ++i)
      rows.push_back(
          RandomRow(random, i, 1 + random.Below(sizes.cells) + sizes.cells / 2, sizes.value_bytes));
    const HandmadeTable table = MakeFilteredTable(random, rows);
    for (int i = 0; i < filters; ++i) {
      SCOPED_TRACE(fmt::format("seed {}, filter {}", seed, i));
      const Filter filter = RandomFilter(random, Words(), 2 + static_cast<int>(random.Below(3)));
      Rows expected = AnswerTo(rows, filter);
      RowStreamOptions options = table.Options(filter);
      seen["passed"] += !expected.empty();
      seen["several passes"] += options.program.pass_count() > 1 && !expected.empty();
      options.reverse = random.OneIn(2);
      options.piece_bytes = sizes.pieces[random.Below(sizes.pieces.size())];
      ASSERT_NO_FATAL_FAILURE(ExpectSameAnswer(LookUp(table, rows, filter), expected, filter));
      if (options.reverse) std::reverse(expected.begin(), expected.end());
      ASSERT_NO_FATAL_FAILURE(
          ExpectSameAnswer(ReadStream(table, std::move(options)), expected, filter));
    }
  }
  EXPECT_GE(seen["passed"], ReducedPart(50));
  EXPECT_GE(seen["several passes"], ReducedPart(10));
}

TEST(FilterPassesTest, SmallRows) {
  CompareRandomFilters({.cells = 60, .value_bytes = 50, .pieces = {1, 100, 1 << 20}}, 40, 10);
}

// Rows larger than the limit kept while conditions are evaluated are read again.
TEST(FilterPassesTest, RowsThatAreReadAgain) {
  const size_t value_bytes = 2 * kKeptRowBytes / 150;
  CompareRandomFilters(
      {.cells = 300, .value_bytes = value_bytes, .pieces = {1, 100'000, 1 << 20, 16 << 20}}, 6, 30);
}

HandmadeTable MakeFilteredTable(Random& random, const History& history) {
  HandmadeTable table({}, {});
  const size_t source_count = 2 + random.Below(5);
  for (size_t i = 0; i < source_count; ++i) {
    const OwnedRows rows = Resolve(history, history.size() * i / source_count,
                                   history.size() * (i + 1) / source_count);
    if (i + 1 < source_count || random.OneIn(2)) {
      table.AddFile(rows, KeyRange::All(), uint32_t{64} << random.Below(6));
    } else {
      table.AddMemtable(PrintRows(rows));
    }
  }
  return table;
}

// Cells that a source may omit for a filter are still hidden by its tombstones in older sources.
TEST(FilterPassesTest, OverTombstones) {
  uint64_t passed = 0;
  for (uint64_t seed = 1; seed <= ReducedPart(150); ++seed) {
    Random random(seed);
    const HistoryShape shape{.family_count = 1 + static_cast<uint32_t>(random.Below(4)),
                             .qualifier_count = 1 + random.Below(10),
                             .timestamp_count = 40,
                             .tombstone_percent = random.Below(40),
                             .last_family_adds = random.OneIn(2)};
    History history;
    while (history.size() < 150) {
      history.push_back(RandomOperation(random, shape));
      OwnedCell& cell = history.back().cell;
      if (cell.kind == CellKind::kSet && random.OneIn(3))
        cell.value = Words().values[random.Below(4)];
    }
    const HandmadeTable table = MakeFilteredTable(random, history);
    const OwnedRows live = LiveRows(history, {}, 0);
    for (int i = 0; i < 20; ++i) {
      SCOPED_TRACE(fmt::format("seed {}, filter {}", seed, i));
      const Filter filter = RandomFilter(random, Words(), static_cast<int>(random.Below(4)));
      Rows expected = AnswerTo(live, filter);
      passed += !expected.empty();
      RowStreamOptions options = table.Options(filter);
      options.reverse = random.OneIn(2);
      options.piece_bytes = random.OneIn(2) ? 1 : 100;
      ASSERT_NO_FATAL_FAILURE(ExpectSameAnswer(LookUp(table, live, filter), expected, filter));
      if (options.reverse) std::reverse(expected.begin(), expected.end());
      ASSERT_NO_FATAL_FAILURE(
          ExpectSameAnswer(ReadStream(table, std::move(options)), expected, filter));
    }
  }
  EXPECT_GE(passed, ReducedPart(1000));
}

OwnedRow LargeRow(const std::string& row_key) {
  OwnedRow row{row_key, {}};
  for (int i = 0; i < 400; ++i) {
    row.cells.push_back({.family = 1,
                         .timestamp = 1,
                         .qualifier = fmt::format("q{:03}", i),
                         .value = std::string(8000, 'a')});
  }
  row.cells.push_back({.family = 2, .timestamp = 1, .qualifier = "decides", .value = row_key});
  return row;
}

TEST(FilterPassesTest, ARowReadAgainIsCountedOnce) {
  HandmadeTable table({}, {});
  table.AddFile({LargeRow("row0"), LargeRow("row1")}, KeyRange::All(), 20'000);
  const Filter filter =
      Filter::Condition(Filter::ValueRegex("row1"), Filter::CellsRowLimit(3), Filter::PassAll());
  for (const bool reverse : {false, true}) {
    RowStreamOptions options = table.Options(filter);
    options.reverse = reverse;
    const auto stream = table.Open(std::move(options));
    while (stream->Next()) {
    }
    EXPECT_EQ(stream->status(), absl::OkStatus());
    EXPECT_EQ(stream->stats().cells_seen, 802u);
    EXPECT_EQ(stream->stats().cells_returned, 404u);
    EXPECT_EQ(stream->stats().rows_seen, 2u);
  }
}

// Memory is released as early as possible: neither the row nor its copies are in memory as a whole.
TEST(FilterPassesTest, ALargeRowIsNotHeldWhole) {
  HandmadeTable table({}, {});
  table.AddFile({LargeRow("row0")}, KeyRange::All(), 20'000);
  MemoryTracker tracker(uint64_t{1} << 30);
  const Filter copies =
      Filter::Interleave(Filter::PassAll(), Filter::Label("l"), Filter::PassAll());
  RowStreamOptions options = table.Options(
      Filter::Chain(Filter::Condition(Filter::ColumnRegex("decides"), copies, Filter::BlockAll())));
  options.memory_tracker = &tracker;
  options.piece_bytes = 100'000;
  const auto stream = table.Open(std::move(options));
  uint64_t cells = 0;
  uint64_t most = 0;
  while (stream->Next()) {
    cells += stream->row().cells().size();
    most = std::max(most, tracker.bytes(MemoryTracker::Use::kBlocks));
  }
  EXPECT_EQ(stream->status(), absl::OkStatus());
  EXPECT_EQ(cells, 3u * 401);
  EXPECT_LT(most, 600'000u);
}

TEST(FilterPassesTest, DecidingIsInterrupted) {
  HandmadeTable table({}, {});
  table.AddFile({LargeRow("row0")}, KeyRange::All(), 20'000);
  std::stop_source source;
  source.request_stop();
  RowStreamOptions options =
      table.Options(Filter::Condition(Filter::ColumnRegex("decides"), Filter::PassAll()));
  PassReader passes;
  Interruption interruption{.stop = source.get_token()};
  ChainOptions chain_options =
      ReadChainOptions(table.view().definition(), options.program, true, options.now);
  chain_options.sequence = table.sequence();
  const auto chain = OpenChain(table.view(), table.view().tablets.front(), chain_options);
  ASSERT_TRUE(chain.ok());
  ASSERT_TRUE((*chain)->SeekRow("row0"));
  ASSERT_NE(options.program.StartRow("row0"), FilterProgram::Next::kRowDone);
  passes.StartRow(chain->get(), Direction::kForward, &options.program, &interruption);
  std::vector<Cell> cells;
  EXPECT_FALSE(passes.Read(&cells));
  EXPECT_EQ(passes.status().code(), absl::StatusCode::kCancelled) << passes.status();
}

}  // namespace
}  // namespace stele::internal
