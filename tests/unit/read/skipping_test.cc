// Tests engine rule 12: versions that statistics exclude are not read, and results do not depend on
// that.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/base_sanitized.h"
#include "support/cell_text.h"
#include "support/merge_history.h"
#include "support/read_fixture.h"

namespace stele::internal {
namespace {

constexpr int64_t kTimestamps = 60;

// Most timestamps grow with the commits, so that each file, and the rows written last, have
// separate time ranges.
History RandomHistory(Random& random, size_t count) {
  History history;
  const bool grows = !random.OneIn(4);
  const HistoryShape shape{.row_count = 1 + random.Below(20),
                           .qualifier_count = 2,
                           .timestamp_count = grows ? 8 : kTimestamps,
                           .tombstone_percent = random.OneIn(3) ? 0 : random.Below(25),
                           .last_family_adds = random.OneIn(2)};
  for (size_t i = 0; i < count; ++i) {
    Operation operation = RandomOperation(random, shape);
    OwnedCell& cell = operation.cell;
    const int64_t moved =
        grows && !random.OneIn(10) ? static_cast<int64_t>(i * kTimestamps / count) : 0;
    if (cell.kind >= CellKind::kDeleteRange) cell.timestamp += moved;
    if (cell.kind == CellKind::kDeleteRange && !random.OneIn(3)) cell.range_start += moved;
    if (cell.kind == CellKind::kSet) cell.value += std::string(random.Below(80), 'v');
    history.push_back(std::move(operation));
  }
  return history;
}

std::chrono::microseconds RandomAge(Random& random) {
  return std::chrono::microseconds(1 + random.Below(kTimestamps));
}

GcRule RandomRule(Random& random) {
  const auto versions = GcRule::MaxNumVersions(1 + static_cast<int>(random.Below(3)));
  switch (random.Below(6)) {
    case 0:
      return GcRule::None();
    case 1:
      return versions;
    case 2:
      return GcRule::MaxAge(RandomAge(random));
    case 3:
      return GcRule::Union(versions, GcRule::MaxAge(RandomAge(random)));
    case 4:
      return GcRule::Intersection(versions, GcRule::MaxAge(RandomAge(random)));
    default:
      return GcRule::Union(GcRule::MaxAge(RandomAge(random)),
                           GcRule::Intersection(versions, GcRule::MaxAge(RandomAge(random))));
  }
}

// A filter, and its definition as a function from cells to cells.
struct Step {
  Filter filter;
  std::function<bool(const OwnedCell& cell, size_t place_in_row, size_t place_in_column)> passes;
};

Step RandomStep(Random& random) {
  switch (random.Below(5)) {
    case 0: {
      const size_t count = 1 + random.Below(3);
      return {Filter::Latest(static_cast<int>(count)),
              [=](const OwnedCell&, size_t, size_t place) { return place < count; }};
    }
    case 1: {
      const size_t count = 1 + random.Below(6);
      return {Filter::CellsRowLimit(static_cast<int>(count)),
              [=](const OwnedCell&, size_t place, size_t) { return place < count; }};
    }
    case 2:
      return {Filter::Family("b"),
              [](const OwnedCell& cell, size_t, size_t) { return cell.family == 2; }};
    default: {
      const auto start = static_cast<int64_t>(random.Below(kTimestamps + 8));
      const bool has_end = random.OneIn(2);
      const int64_t end = has_end ? start + 1 + static_cast<int64_t>(random.Below(20)) : INT64_MAX;
      TimestampRange range{.start = Timestamp::FromMicros(start)};
      if (has_end) range.end = Timestamp::FromMicros(end);
      return {Filter::TimestampRange(range), [=](const OwnedCell& cell, size_t, size_t) {
                return cell.timestamp >= start && cell.timestamp < end;
              }};
    }
  }
}

void RunStep(const Step& step, std::vector<OwnedCell>* cells) {
  std::vector<OwnedCell> passed;
  size_t place_in_column = 0;
  for (size_t i = 0; i < cells->size(); ++i) {
    const OwnedCell& cell = (*cells)[i];
    const bool is_same_column = i > 0 && CompareColumn((*cells)[i - 1].View(), cell.View()) == 0;
    place_in_column = is_same_column ? place_in_column + 1 : 0;
    if (step.passes(cell, i, place_in_column)) passed.push_back(cell);
  }
  *cells = std::move(passed);
}

std::string Answer(const OwnedRows& live, const std::vector<Step>& steps, bool reverse) {
  std::vector<std::string> rows;
  for (OwnedRow row : live) {
    for (const Step& step : steps) RunStep(step, &row.cells);
    if (row.cells.empty()) continue;
    std::string text = row.row_key;
    for (const OwnedCell& cell : row.cells) {
      text += fmt::format(" {}:{}@{}={}", TestFamilies()[cell.family].name, cell.qualifier,
                          cell.timestamp, cell.value);
    }
    rows.push_back(std::move(text));
  }
  if (reverse) std::reverse(rows.begin(), rows.end());
  return fmt::format("{}", fmt::join(rows, "; "));
}

HandmadeTable MakeTable(const History& history, const std::vector<GcRule>& rules, Random& random) {
  HandmadeTable table({}, rules);
  const size_t source_count = 1 + random.Below(5);
  const size_t memtable_count = random.Below(2);
  for (size_t i = 0; i < source_count; ++i) {
    const OwnedRows rows = Resolve(history, history.size() * i / source_count,
                                   history.size() * (i + 1) / source_count);
    if (i + memtable_count < source_count) {
      constexpr std::array<uint32_t, 3> kGroupBytes = {64, 500, 3000};
      table.AddFile(rows, KeyRange::All(), kGroupBytes[random.Below(kGroupBytes.size())]);
    } else {
      table.AddMemtable(PrintRows(rows));
    }
  }
  return table;
}

uint64_t PagesOf(const HandmadeTable& table, RowStreamOptions options) {
  const auto stream = table.Open(std::move(options));
  while (stream->Next()) {
  }
  return stream->stats().blocks;
}

TEST(SkippingTest, RandomFiltersAnswerAsIfAllWereRead) {
  uint64_t pages = 0;
  uint64_t pages_of_all = 0;
  for (uint64_t seed = 1; seed <= ReducedPart(400); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const History history = RandomHistory(random, 20 + random.Below(100));
    const std::vector<GcRule> rules = {RandomRule(random), RandomRule(random)};
    const HandmadeTable table = MakeTable(history, rules, random);
    const auto now = static_cast<int64_t>(random.Below(kTimestamps + 10));
    const OwnedRows live = LiveRows(history, {Retention(rules[0]), Retention(rules[1])}, now);
    const OwnedRows stored = LiveRows(history, {}, now);
    for (int i = 0; i < 12; ++i) {
      std::vector<Step> steps;
      std::vector<Filter> filters = {Filter::PassAll(), Filter::PassAll()};
      for (size_t count = 1 + random.Below(3); count > 0; --count) {
        steps.push_back(RandomStep(random));
        filters.push_back(steps.back().filter);
      }
      const Filter filter = Filter::Chain(filters);
      RowStreamOptions options = table.Options(filter, now);
      options.reverse = random.OneIn(2);
      options.apply_gc = random.OneIn(2);
      std::string expected = Answer(options.apply_gc ? live : stored, steps, options.reverse);
      if (random.OneIn(4)) {
        const std::string row_key = fmt::format("row{}", random.Below(20));
        options.ranges = {KeyRange::Single(row_key)};
        OwnedRows row;
        for (const OwnedRow& one : options.apply_gc ? live : stored) {
          if (one.row_key == row_key) row.push_back(one);
        }
        expected = Answer(row, steps, false);
      } else {
        pages += PagesOf(table, options);
        pages_of_all += PagesOf(table, table.Options({}, now));
      }
      ASSERT_EQ(Show(table, std::move(options)), expected)
          << filter.ToString() << " of rules " << rules[0].ToString() << " and "
          << rules[1].ToString() << " at " << now;
    }
  }
  RecordProperty("pages", fmt::format("{} of {}", pages, pages_of_all));
  EXPECT_LT(pages * 4, pages_of_all * 3) << "hardly anything was skipped";
}

}  // namespace
}  // namespace stele::internal
