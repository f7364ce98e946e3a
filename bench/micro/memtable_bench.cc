// bench/micro/memtable_bench.cc: a memtable of 100,000 rows, each of 5 cells of 100 bytes. Times
// are per row.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "memtable/memtable.h"

namespace stele::internal {
namespace {

constexpr uint64_t kRowCount = 100'000;
constexpr int kCellCount = 5;

enum class Order { kAscending, kRandom };
// kHashed: the first eight bytes of most keys differ. kNumbered: they are the same in all keys.
enum class Keys { kHashed, kNumbered };

std::string RowKey(uint64_t row, Keys keys) {
  return keys == Keys::kHashed ? fmt::format("{:016x}", Random(row).Next())
                               : fmt::format("{:016}", row);
}

std::string RowBatch(const std::string& row_key) {
  const std::string value(100, 'v');
  BatchWriter writer;
  writer.StartRow(1, row_key);
  for (int cell = 0; cell < kCellCount; ++cell) {
    const std::string qualifier = fmt::format("field{}", cell);
    writer.Add({.kind = CellKind::kSet,
                .family_id = 1,
                .timestamp = 1'700'000'000'000'000,
                .qualifier = qualifier,
                .value = value});
  }
  return writer.Finish();
}

std::vector<std::string> Batches(Order order, Keys keys) {
  std::vector<std::string> row_keys;
  for (uint64_t row = 0; row < kRowCount; ++row) row_keys.push_back(RowKey(row, keys));
  std::sort(row_keys.begin(), row_keys.end());
  Random random(1);
  for (uint64_t row = kRowCount - 1; order == Order::kRandom && row > 0; --row)
    std::swap(row_keys[row], row_keys[random.Below(row + 1)]);
  std::vector<std::string> batches;
  for (const std::string& row_key : row_keys) batches.push_back(RowBatch(row_key));
  return batches;
}

std::unique_ptr<Memtable> NewMemtable() {
  return std::make_unique<Memtable>(FamilyList({{1, "family"}}));
}

void ApplyAll(Memtable* memtable, const std::vector<std::string>& batches) {
  uint64_t sequence = 0;
  for (const std::string& batch : batches) {
    BatchReader reader(batch);
    RowOps row;
    uint32_t position = 0;
    ++sequence;
    while (reader.NextRow(&row))
      benchmark::DoNotOptimize(memtable->Apply(sequence, row, &position));
  }
}

void InsertRows(benchmark::State& state, Order order, Keys keys) {
  const std::vector<std::string> batches = Batches(order, keys);
  for (auto _ : state) {
    auto memtable = NewMemtable();
    ApplyAll(memtable.get(), batches);
    state.PauseTiming();
    state.counters["bytes_per_row"] = static_cast<double>(memtable->bytes()) / kRowCount;
    memtable.reset();
    state.ResumeTiming();
  }
  state.counters["per_row"] = benchmark::Counter(
      kRowCount, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(InsertRows, random_hashed, Order::kRandom, Keys::kHashed)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(InsertRows, random_numbered, Order::kRandom, Keys::kNumbered)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(InsertRows, ascending_numbered, Order::kAscending, Keys::kNumbered)
    ->Unit(benchmark::kMillisecond);

void ReadRandomRow(benchmark::State& state, Keys keys) {
  auto memtable = NewMemtable();
  ApplyAll(memtable.get(), Batches(Order::kRandom, keys));
  std::vector<std::string> row_keys;
  Random random(2);
  for (int i = 0; i < 16'384; ++i) row_keys.push_back(RowKey(random.Below(kRowCount), keys));
  std::vector<Cell> cells;
  uint64_t next = 0;
  for (auto _ : state) {
    auto cursor = memtable->NewCursor(kRowCount, {.families = {0, 1}});
    cells.clear();
    benchmark::DoNotOptimize(cursor->SeekRow(row_keys[next++ % row_keys.size()]));
    cursor->ReadCells(&cells);
    benchmark::DoNotOptimize(cells.data());
  }
}
BENCHMARK_CAPTURE(ReadRandomRow, hashed, Keys::kHashed);
BENCHMARK_CAPTURE(ReadRandomRow, numbered, Keys::kNumbered);

void ScanRows(benchmark::State& state, Direction direction) {
  auto memtable = NewMemtable();
  ApplyAll(memtable.get(), Batches(Order::kRandom, Keys::kHashed));
  std::vector<Cell> cells;
  auto cursor = memtable->NewCursor(kRowCount, {.direction = direction, .families = {0, 1}});
  bool found = cursor->SeekToEdge();
  for (auto _ : state) {
    cells.clear();
    while (cursor->ReadCells(&cells)) {
    }
    benchmark::DoNotOptimize(cells.data());
    found = cursor->NextRow();
    if (!found) found = cursor->SeekToEdge();
  }
}
BENCHMARK_CAPTURE(ScanRows, forward, Direction::kForward);
BENCHMARK_CAPTURE(ScanRows, reverse, Direction::kReverse);

// The newest versions of a row whose five cells were overwritten so many times.
void ReadHotRow(benchmark::State& state) {
  auto memtable = NewMemtable();
  const auto version_count = static_cast<uint64_t>(state.range(0));
  const std::string value(100, 'v');
  for (uint64_t version = 1; version <= version_count; ++version) {
    BatchWriter writer;
    writer.StartRow(1, "row");
    for (int cell = 0; cell < kCellCount; ++cell) {
      const std::string qualifier = fmt::format("field{}", cell);
      writer.Add({.kind = CellKind::kSet,
                  .family_id = 1,
                  .timestamp = static_cast<int64_t>(version),
                  .qualifier = qualifier,
                  .value = value});
    }
    const std::string batch = writer.Finish();
    BatchReader reader(batch);
    RowOps row;
    uint32_t position = 0;
    while (reader.NextRow(&row)) benchmark::DoNotOptimize(memtable->Apply(version, row, &position));
  }
  std::vector<Cell> cells;
  for (auto _ : state) {
    auto cursor = memtable->NewCursor(version_count, {.families = {0, 1}, .latest_only = true});
    benchmark::DoNotOptimize(cursor->SeekRow("row"));
    cells.clear();
    while (cursor->ReadCells(&cells)) {
      const std::string qualifier(cells.back().qualifier);
      cursor->SkipTo(1, qualifier + '\0');
    }
    benchmark::DoNotOptimize(cells.data());
  }
}
BENCHMARK(ReadHotRow)->Arg(1)->Arg(100)->Arg(100'000);

// One row that gets as many cells as the other memtables have rows.
void InsertIntoOneRow(benchmark::State& state) {
  std::vector<std::string> batches;
  for (uint64_t cell = 0; cell < kRowCount; ++cell) {
    BatchWriter writer;
    writer.StartRow(1, "row");
    const std::string qualifier = RowKey(cell, Keys::kHashed);
    writer.Add({.kind = CellKind::kSet,
                .family_id = 1,
                .timestamp = 1,
                .qualifier = qualifier,
                .value = "value"});
    batches.push_back(writer.Finish());
  }
  for (auto _ : state) {
    auto memtable = NewMemtable();
    ApplyAll(memtable.get(), batches);
  }
  state.counters["per_cell"] = benchmark::Counter(
      kRowCount, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(InsertIntoOneRow)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stele::internal

BENCHMARK_MAIN();
