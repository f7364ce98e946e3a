#include "memtable/cell_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace stele::internal {
namespace {

std::vector<const CellNode*> NodesOf(const CellList& list) {
  std::vector<const CellNode*> nodes;
  for (const CellNode* node = list.First(); node != nullptr; node = node->next())
    nodes.push_back(node);
  return nodes;
}

// Finds the next node by walking the list.
const CellNode* NextSinceByWalking(uint64_t sequence, const CellNode* from, const CellPlace& end) {
  const CellNode* node = from->next();
  while (node != nullptr && node->sequence() < sequence && IsBefore(*node, end))
    node = node->next();
  return node;
}

TEST(CellListTest, NextSincePassesOverWhatIsOlderAndNothingElse) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Arena arena;
    CellList list;
    const bool grows = random.OneIn(2);
    const uint32_t count =
        random.OneIn(10) ? 600
                         : CellList::kPlainCells + 2 + static_cast<uint32_t>(random.Below(20));
    uint64_t sequence = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const std::string qualifier(1, static_cast<char>('a' + random.Below(3)));
      const int64_t timestamp = grows ? i : static_cast<int64_t>(random.Below(200));
      sequence += random.Below(2);
      ASSERT_TRUE(list.Insert(&arena, &random,
                              {.family = 1, .timestamp = timestamp, .qualifier = qualifier},
                              {sequence, i}));
    }
    const std::vector<const CellNode*> nodes = NodesOf(list);
    ASSERT_EQ(nodes.size(), count);
    for (int i = 0; i < 300; ++i) {
      const CellNode* from = nodes[random.Below(nodes.size())];
      const CellNode* last = nodes[random.Below(nodes.size())];
      const uint64_t since = random.Below(sequence + 2);
      const CellPlace row_end{{.family = std::numeric_limits<uint32_t>::max()}, kNewestCommit};
      const CellPlace end =
          random.OneIn(3)
              ? row_end
              : CellPlace{last->cell_key(), random.OneIn(2) ? kNewestCommit : kOldestCommit};
      ASSERT_EQ(CellList::NextSince(since, from, end), NextSinceByWalking(since, from, end))
          << "seed " << seed << ", " << i;
    }
  }
}

// A column that is set and deleted repeatedly. Nodes between two old versions must not look new.
TEST(CellListTest, WhatADeleteHidesLooksOlderThanTheDelete) {
  Random random(1);
  Arena arena;
  CellList list;
  uint64_t sequence = 0;
  for (int64_t round = 1; round <= 2000; ++round) {
    ASSERT_TRUE(list.Insert(&arena, &random, {.family = 1, .timestamp = round, .qualifier = "lock"},
                            {++sequence, 0}));
    const Cell tombstone{.family = 1,
                         .kind = CellKind::kDeleteRange,
                         .timestamp = std::numeric_limits<int64_t>::max(),
                         .qualifier = "lock"};
    ASSERT_TRUE(list.Insert(&arena, &random, tombstone, {++sequence, 0}));
  }
  int links = 0;
  for (const CellNode* node : NodesOf(list)) {
    for (int level = 1; level < node->height() && node->kind() == CellKind::kSet;
         ++level, ++links) {
      ASSERT_LE(node->upper_link(level).newest.load(), node->sequence());
    }
  }
  EXPECT_GT(links, 100);
}

}  // namespace
}  // namespace stele::internal
