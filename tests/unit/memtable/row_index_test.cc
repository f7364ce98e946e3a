#include "memtable/row_index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/arena.h"
#include "base/buffer.h"
#include "memtable/row_node.h"

namespace stele::internal {
namespace {

std::string KeyOf(int row) { return fmt::format("row{:06}", row); }

RowNode* MakeRow(const std::string& row_key, Arena* arena) {
  return RowNode::Make(arena, row_key, /*sequence=*/1, /*height=*/1);
}

TEST(RowIndex, FindsEveryRowThatWasAddedAndNoOther) {
  Arena arena;
  RowIndex index;
  EXPECT_EQ(index.Find("absent", index.HashOf("absent")), nullptr);
  std::vector<RowNode*> rows;
  for (int row = 0; row < 20'000; ++row) {
    rows.push_back(MakeRow(KeyOf(row), &arena));
    index.Add(rows.back(), index.HashOf(KeyOf(row)), &arena);
    if (row % 997 != 0) continue;
    for (int earlier = 0; earlier <= row; ++earlier)
      ASSERT_EQ(index.Find(KeyOf(earlier), index.HashOf(KeyOf(earlier))), rows[earlier]);
    for (int later = row + 1; later < row + 1'000; ++later)
      ASSERT_EQ(index.Find(KeyOf(later), index.HashOf(KeyOf(later))), nullptr);
  }
}

TEST(RowIndex, RowsWithOneHashAreToldApartByTheirKeys) {
  Arena arena;
  RowIndex index;
  RowNode* const first = MakeRow("first", &arena);
  RowNode* const second = MakeRow("second", &arena);
  index.Add(first, /*hash=*/UINT64_MAX, &arena);
  index.Add(second, /*hash=*/UINT64_MAX, &arena);
  EXPECT_EQ(index.Find("first", UINT64_MAX), first);
  EXPECT_EQ(index.Find("second", UINT64_MAX), second);
  EXPECT_EQ(index.Find("third", UINT64_MAX), nullptr);
}

TEST(RowIndex, ManyRowsWithOneHashMakeItGiveUp) {
  Arena arena;
  RowIndex index;
  int count = 0;
  for (; count < 100'000 && index.Find("absent", 1).has_value(); ++count)
    index.Add(MakeRow(KeyOf(count), &arena), /*hash=*/1, &arena);
  EXPECT_LT(count, 100'000);
  EXPECT_EQ(index.Find(KeyOf(0), index.HashOf(KeyOf(0))), std::nullopt);
}

TEST(RowIndex, RefusedMemoryMakesItGiveUp) {
  Arena rows;
  Arena arena;
  RowIndex index;
  RowNode* const row = MakeRow("row", &rows);
  FailBufferAllocation(1);
  index.Add(row, index.HashOf("row"), &arena);
  FailBufferAllocation(0);
  EXPECT_EQ(index.Find("row", index.HashOf("row")), std::nullopt);
  index.Add(MakeRow("later", &rows), index.HashOf("later"), &arena);
  EXPECT_EQ(index.Find("later", index.HashOf("later")), std::nullopt);
}

}  // namespace
}  // namespace stele::internal
