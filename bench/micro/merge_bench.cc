// bench/micro/merge_bench.cc: the cost of a merged cell: one source; four sources with different
// rows; four sources with the same rows.
// The sources are arrays in memory, so that little more than the merge is measured. Items are
// returned cells.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "merge/merge_cursor.h"
#include "merge/retention_cursor.h"

namespace stele::internal {
namespace {

constexpr size_t kRowCount = 20'000;
constexpr size_t kColumnCount = 10;
constexpr size_t kAtRandom = ~size_t{0};  // as `stretch`: each row is in a random source

struct ArrayRow {
  std::string row_key;
  std::vector<Cell> cells;
};

const std::string& Qualifier(size_t column) {
  static const std::vector<std::string> qualifiers = [] {
    std::vector<std::string> names;
    for (size_t i = 0; i < kColumnCount; ++i) names.push_back(fmt::format("qualifier{}", i));
    return names;
  }();
  return qualifiers[column];
}

class ArrayCursor final : public CellCursor {
 public:
  explicit ArrayCursor(const std::vector<ArrayRow>* rows) : rows_(*rows) {}

  bool SeekToEdge() override { return Enter(0); }
  bool SeekRow(std::string_view) override { return Enter(0); }
  bool NextRow() override { return Enter(row_ + 1); }
  std::string_view row_key() const override { return rows_[row_].row_key; }
  bool ReadCells(std::vector<Cell>* cells) override {
    if (is_read_) return false;
    is_read_ = true;
    cells->insert(cells->end(), rows_[row_].cells.begin(), rows_[row_].cells.end());
    return true;
  }
  bool IsRowDone() const override { return is_read_; }
  void SkipTo(uint32_t, std::string_view) override {}
  void Unpin() override {}
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  bool Enter(size_t row) {
    row_ = row;
    is_read_ = false;
    return row_ < rows_.size();
  }

  const std::vector<ArrayRow>& rows_;
  size_t row_ = 0;
  bool is_read_ = false;
};

// Makes source `index` of `count`. Disjoint sources alternate every `stretch` rows. Overlapping
// sources have all rows, with different timestamps.
std::vector<ArrayRow> MakeRows(size_t index, size_t count, size_t stretch) {
  std::vector<ArrayRow> rows;
  for (size_t i = 0; i < kRowCount; ++i) {
    if (stretch == kAtRandom && (i * 0x9e3779b97f4a7c15 >> 40) % count != index) continue;
    if (stretch != 0 && stretch != kAtRandom && i / stretch % count != index) continue;
    ArrayRow row{fmt::format("tenant#user{:012}", i), {}};
    for (size_t column = 0; column < kColumnCount; ++column) {
      row.cells.push_back({.family = 1,
                           .timestamp = static_cast<int64_t>(1000 - index),
                           .qualifier = Qualifier(column),
                           .value = "a value of some thirty-two bytes"});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void Scan(benchmark::State& state, size_t source_count, size_t stretch, bool keeps_one_version) {
  std::vector<std::vector<ArrayRow>> sources;
  for (size_t i = 0; i < source_count; ++i) sources.push_back(MakeRows(i, source_count, stretch));
  size_t cell_count = 0;
  std::vector<Cell> cells;
  const std::vector<Retention> rules = {Retention(GcRule::MaxNumVersions(1))};
  for (auto _ : state) {
    std::vector<std::unique_ptr<CellCursor>> cursors;
    for (const auto& rows : sources) cursors.push_back(std::make_unique<ArrayCursor>(&rows));
    auto cursor = NewMergeCursor(std::move(cursors), Direction::kForward);
    if (keeps_one_version) {
      RetentionPolicy policy{.rules = rules, .drop_tombstones = true};
      cursor = NewRetentionCursor(std::move(cursor), std::move(policy));
    }
    for (bool found = cursor->SeekToEdge(); found; found = cursor->NextRow()) {
      cells.clear();
      while (cursor->ReadCells(&cells)) {
      }
      cell_count += cells.size();
      benchmark::DoNotOptimize(cells.data());
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(cell_count));
}

BENCHMARK_CAPTURE(Scan, one_source, 1, 0, false);
BENCHMARK_CAPTURE(Scan, one_source_one_version, 1, 0, true);
BENCHMARK_CAPTURE(Scan, four_disjoint_long_stretches, 4, 1000, false);
BENCHMARK_CAPTURE(Scan, four_disjoint_row_by_row, 4, 1, false);
BENCHMARK_CAPTURE(Scan, twenty_disjoint_long_stretches, 20, 1000, false);
BENCHMARK_CAPTURE(Scan, twenty_disjoint_row_by_row, 20, 1, false);
BENCHMARK_CAPTURE(Scan, twenty_disjoint_at_random, 20, kAtRandom, false);
BENCHMARK_CAPTURE(Scan, four_overlapping, 4, 0, false);
BENCHMARK_CAPTURE(Scan, four_overlapping_one_version, 4, 0, true);

}  // namespace
}  // namespace stele::internal

BENCHMARK_MAIN();
