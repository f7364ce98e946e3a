#include "memtable/plain_cells.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "memtable/memtable.h"
#include "support/cell_text.h"
#include "support/cell_vector_cursor.h"
#include "support/memtable_fill.h"

namespace stele::internal {
namespace {

constexpr char kNotPlain[] = "not plain";

// Returns the cells of row "r" as text.
std::string ReadPlain(const Memtable& memtable, uint64_t sequence, const CursorOptions& options) {
  const RowNode* const row = memtable.FindRow("r");
  if (row == nullptr) return "absent";
  std::vector<Cell> cells(1);
  const bool is_plain = Memtable::ReadPlainRow(*row, sequence, options, &cells);
  EXPECT_TRUE(is_plain || cells.size() == 1) << "nothing was appended";
  if (!is_plain) return kNotPlain;
  std::vector<OwnedCell> owned;
  for (size_t i = 1; i < cells.size(); ++i) owned.push_back(OwnedCell::Copy(cells[i]));
  return PrintRows({{"r", owned}});
}

// Each string is one commit, with sequences 1, 2, 3 ...
struct PlainCase {
  const char* name;
  std::vector<const char*> commits;
  uint64_t sequence;
  bool latest_only;
  const char* expected;
};

const PlainCase kPlainCases[] = {
    {"InOrder",
     {"r b:y @1 = 3\nr b:x @1 = 2\nr a:z @1 = 1", "r b:x @2 = newer"},
     2,
     false,
     "r a:z @1 = 1\nr b:x @2 = newer\nr b:x @1 = 2\nr b:y @1 = 3\n"},
    {"NothingOfLaterCommits",
     {"r a:q @1 = one", "r a:q @1 = two\nr a:q @2 = three\nr b:q @1 = four"},
     1,
     false,
     "r a:q @1 = one\n"},
    {"NewestOfOneCellKey",
     {"r a:q @1 = one\nr a:q @0 = zero", "r a:q @1 = two", "r a:q @1 = three"},
     2,
     false,
     "r a:q @1 = two\nr a:q @0 = zero\n"},
    {"LatestOnly",
     {"r a:p @1 = p\nr a:q @1 = one", "r a:q @2 = two", "r a:q @3 = three"},
     2,
     true,
     "r a:p @1 = p\nr a:q @2 = two\n"},
    {"LaterTombstonesOfARangeAreNotSeen",
     {"r a:q @1 = one", "r a:q DELETE [1,1]"},
     1,
     false,
     "r a:q @1 = one\n"},
    {"LaterDeltasAreNotSeen", {"r a:q @1 = one", "r b:q @1 sum 5"}, 1, false, "r a:q @1 = one\n"},
    {"ATombstoneOfARange", {"r a:q DELETE [1,2]\nr a:q @9 = x"}, 1, false, kNotPlain},
    {"ATombstoneOfARangeBelowTheLatest", {"r a:q DELETE [1,2]\nr a:q @9 = x"}, 1, true, kNotPlain},
    {"ATombstoneOfAFamily", {"r b DELETE\nr a:q @9 = x"}, 1, false, kNotPlain},
    {"ATombstoneOfTheRow", {"r DELETE\nr a:q @9 = x"}, 1, false, kNotPlain},
    {"ADelta", {"r a:q @9 = x\nr b:q @1 sum 5"}, 1, false, kNotPlain},
};

TEST(PlainCells, ReadsRowsOfVersions) {
  for (const PlainCase& c : kPlainCases) {
    Memtable memtable(TestFamilies());
    for (size_t i = 0; i < c.commits.size(); ++i) ApplyLines(&memtable, i + 1, c.commits[i]);
    CursorOptions options = AllFamilies(memtable);
    options.latest_only = c.latest_only;
    EXPECT_EQ(ReadPlain(memtable, c.sequence, options), c.expected) << c.name;
  }
}

TEST(PlainCells, LeavesOutFamiliesThatAreNotWanted) {
  Memtable memtable(TestFamilies());
  ApplyLines(&memtable, 1, "r a:q @1 = x\nr b:q @1 sum 1\nr c:q @1 = y");
  EXPECT_EQ(ReadPlain(memtable, 1, {.families = {0, 1, 0, 2, 0}}), "r a:q @1 = x\nr b:q @1 = y\n")
      << "c has the family index of b";
  EXPECT_EQ(ReadPlain(memtable, 1, {.families = {0, 1}}), "r a:q @1 = x\n");
}

TEST(PlainCells, ARowOfManyNodesIsNotPlain) {
  Memtable columns(TestFamilies());
  Memtable versions(TestFamilies());
  Memtable overwrites(TestFamilies());
  const auto expect = [&](bool is_plain, uint64_t sequence) {
    for (const Memtable* const memtable : {&columns, &versions, &overwrites}) {
      const std::string text = ReadPlain(*memtable, sequence, AllFamilies(*memtable));
      EXPECT_EQ(text != kNotPlain, is_plain) << text;
    }
  };
  for (uint64_t i = 1; i <= 64; ++i) {
    ApplyLines(&columns, i, fmt::format("r a:{} @1 = x", i));
    ApplyLines(&versions, i, fmt::format("r a:q @{} = x", i));
    ApplyLines(&overwrites, i, "r a:q @1 = x");
  }
  expect(true, 64);
  ApplyLines(&columns, 65, "r b:q @1 = x");
  ApplyLines(&versions, 65, "r a:q @1000 = x");
  ApplyLines(&overwrites, 65, "r a:q @1 = x");
  expect(false, 65);
  expect(false, 1);  // its nodes are counted, too
}

}  // namespace
}  // namespace stele::internal
