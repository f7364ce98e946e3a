#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/coding.h"
#include "base/random.h"
#include "memtable/memtable.h"
#include "support/memtable_fill.h"

namespace stele::internal {
namespace {

constexpr uint64_t kCommits = 3'000;
constexpr uint64_t kRows = 64;
constexpr uint64_t kColumns = 24;  // more than a plain list of cells holds

std::string RowKey(uint64_t row) { return fmt::format("row{:04}", row); }

// Commit `sequence` sets one cell in each of two rows. Every tenth commit first deletes a third
// row. The expected contents at any sequence follow from the sequence number alone.
struct Commit {
  explicit Commit(uint64_t sequence)
      : random(sequence),
        deleted(random.Below(kRows)),
        rows{random.Below(kRows), random.Below(kRows)} {
    for (uint64_t& column : columns) column = random.Below(kColumns);
    deletes = sequence % 10 == 0;
  }
  Random random;
  uint64_t deleted;
  uint64_t rows[2];
  uint64_t columns[2];
  bool deletes;
};

void Write(Memtable* memtable, uint64_t sequence) {
  const Commit commit(sequence);
  BatchWriter writer;
  std::string value;
  AppendFixed64(value, sequence);
  if (commit.deletes) {
    writer.StartRow(1, RowKey(commit.deleted));
    writer.Add({.kind = CellKind::kDeleteRow});
  }
  for (int i : {0, 1}) {
    writer.StartRow(1, RowKey(commit.rows[i]));
    writer.Add({.kind = CellKind::kSet,
                .family_id = 1,
                .timestamp = 5,
                .qualifier = fmt::format("q{:02}", commit.columns[i]),
                .value = value});
  }
  ASSERT_TRUE(ApplyBatch(memtable, sequence, writer.Finish()).ok());
}

// By row and column: the sequence that set the cell, 0 for none.
using Table = std::vector<std::vector<uint64_t>>;

Table ExpectedAt(uint64_t sequence) {
  Table table(kRows, std::vector<uint64_t>(kColumns, 0));
  for (uint64_t s = 1; s <= sequence; ++s) {
    const Commit commit(s);
    if (commit.deletes) table[commit.deleted].assign(kColumns, 0);
    for (int i : {0, 1}) table[commit.rows[i]][commit.columns[i]] = s;
  }
  return table;
}

Table ReadAt(const Memtable& memtable, uint64_t sequence, Direction direction) {
  Table table(kRows, std::vector<uint64_t>(kColumns, 0));
  auto cursor = memtable.NewCursor(sequence, AllFamilies(memtable, direction));
  std::vector<Cell> cells;
  for (bool found = cursor->SeekToEdge(); found; found = cursor->NextRow()) {
    const uint64_t row = std::stoul(std::string(cursor->row_key().substr(3)));
    cells.clear();
    while (cursor->ReadCells(&cells)) {
    }
    for (const Cell& cell : cells) {
      if (cell.kind == CellKind::kSet)
        table[row][std::stoul(std::string(cell.qualifier.substr(1)))] =
            LoadFixed64(cell.value.data());
    }
  }
  return table;
}

// Cursors at published sequences see exactly the commits up to theirs while later ones are applied.
TEST(MemtableConcurrency, CursorsSeeTheirSnapshotBesideAWriter) {
  Memtable memtable(TestFamilies());
  std::atomic<uint64_t> published{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&, reader] {
      Random random(reader);
      for (uint64_t newest = 0; newest < kCommits;) {
        newest = published.load(std::memory_order_acquire);
        const uint64_t sequence = random.OneIn(2) ? newest : random.Below(newest + 1);
        const Direction direction = random.OneIn(2) ? Direction::kForward : Direction::kReverse;
        ASSERT_EQ(ReadAt(memtable, sequence, direction), ExpectedAt(sequence)) << sequence;
      }
    });
  }
  for (uint64_t sequence = 1; sequence <= kCommits; ++sequence) {
    Write(&memtable, sequence);
    published.store(sequence, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
}

// A reader seeks while rows are inserted. It finds published rows, by their complete key and with
// their adjacent rows in order, and no others.
TEST(MemtableConcurrency, SeeksFindPublishedRowsBesideInserts) {
  constexpr uint64_t kKeys = 20'000;
  const auto key = [](uint64_t i) { return fmt::format("shared-prefix{:05}", i * 7'919 % kKeys); };
  Memtable memtable(TestFamilies());
  std::atomic<uint64_t> published{0};
  std::vector<std::thread> readers;
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    readers.emplace_back([&, direction] {
      const bool forward = direction == Direction::kForward;
      Random random(7);
      for (uint64_t newest = 0; newest < kKeys;) {
        newest = published.load(std::memory_order_acquire);
        if (newest == 0) continue;
        auto cursor = memtable.NewCursor(newest, AllFamilies(memtable, direction));
        const std::string wanted = key(1 + random.Below(newest));
        ASSERT_NE(memtable.FindRow(wanted), nullptr) << wanted;
        ASSERT_EQ(memtable.FindRow(wanted + '\0'), nullptr) << wanted;
        ASSERT_TRUE(cursor->SeekRow(forward ? wanted : wanted + '\0'));
        ASSERT_EQ(cursor->row_key(), wanted);
        const std::string found(cursor->row_key());
        if (cursor->NextRow()) {
          ASSERT_TRUE(forward ? cursor->row_key() > found : cursor->row_key() < found);
        }
      }
    });
  }
  for (uint64_t sequence = 1; sequence <= kKeys; ++sequence) {
    BatchWriter writer;
    writer.StartRow(1, key(sequence));
    writer.Add({.kind = CellKind::kDeleteRow});
    ASSERT_TRUE(ApplyBatch(&memtable, sequence, writer.Finish()).ok());
    published.store(sequence, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace stele::internal
