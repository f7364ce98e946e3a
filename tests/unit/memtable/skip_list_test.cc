#include "memtable/skip_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/random.h"
#include "memtable/cell_node.h"
#include "memtable/column_list.h"

namespace stele::internal {
namespace {

// The cells of a column.
class Column {
 public:
  explicit Column(uint64_t seed) : random_(seed) {}

  void Insert(const Cell& cell, const CommitPoint& commit) {
    const CellPlace place{cell.timestamp, cell.kind, commit};
    SkipList<CellNode>::Link* const link =
        list_.FindLink([&](const CellNode& node) { return IsBefore(node, place); });
    const int height = list_.NextHeight(&arena_, &random_, commit.sequence);
    ASSERT_GT(height, 0);
    char* memory = arena_.Allocate(CellNode::BytesFor(cell, height));
    ASSERT_NE(memory, nullptr);
    list_.Insert(CellNode::MakeAt(memory, cell, commit, height, {}), link);
  }
  std::vector<const CellNode*> Nodes() const {
    std::vector<const CellNode*> nodes;
    for (const CellNode* node = list_.First(); node != nullptr; node = node->next())
      nodes.push_back(node);
    return nodes;
  }
  const SkipList<CellNode>& list() const { return list_; }
  Random& random() { return random_; }

 private:
  Random random_;
  Arena arena_;
  SkipList<CellNode> list_;
};

CellPlace PlaceOf(const CellNode& node, const CommitPoint& commit) {
  return {node.timestamp(), node.kind(), commit};
}

TEST(SkipListTest, NextSincePassesOverWhatIsOlderAndNothingElse) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Column column(seed);
    Random& random = column.random();
    const bool grows = random.OneIn(2);
    const uint32_t count = random.OneIn(10) ? 600
                                            : SkipList<CellNode>::kPlainNodes + 2 +
                                                  static_cast<uint32_t>(random.Below(20));
    uint64_t sequence = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const int64_t timestamp = grows ? i : static_cast<int64_t>(random.Below(200));
      sequence += random.Below(2);
      column.Insert({.family = 1, .timestamp = timestamp}, {sequence, i});
    }
    const std::vector<const CellNode*> nodes = column.Nodes();
    ASSERT_EQ(nodes.size(), count);
    for (int i = 0; i < 300; ++i) {
      const CellNode* from = nodes[random.Below(nodes.size())];
      const CellNode* last = nodes[random.Below(nodes.size())];
      const uint64_t since = random.Below(sequence + 2);
      const CellPlace end = PlaceOf(*last, random.OneIn(2) ? kNewestCommit : kOldestCommit);
      const bool is_unbounded = random.OneIn(3);
      const auto is_before_end = [&](const CellNode& node) {
        return is_unbounded || IsBefore(node, end);
      };
      const CellNode* expected = from->next();
      while (expected != nullptr && expected->sequence() < since && is_before_end(*expected))
        expected = expected->next();
      ASSERT_EQ(SkipList<CellNode>::NextSince(since, from, is_before_end), expected)
          << "seed " << seed << ", " << i;
    }
  }
}

TEST(SkipListTest, SeekFindsEachNode) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Column column(seed);
    for (uint32_t i = 0; i < 500; ++i) {
      const auto timestamp = static_cast<int64_t>(column.random().Below(300));
      column.Insert({.family = 1, .timestamp = timestamp}, {i + 1, 0});
    }
    const CellNode* before = nullptr;
    for (const CellNode* node : column.Nodes()) {
      if (before != nullptr) {
        ASSERT_TRUE(IsBefore(*before, PlaceOf(*node, node->commit())));
      }
      const CellPlace place = PlaceOf(*node, node->commit());
      ASSERT_EQ(column.list().Seek([&](const CellNode& at) { return IsBefore(at, place); }), node);
      before = node;
    }
  }
}

// A node that notices if it can be reached while its links are incomplete.
struct WatchfulNode {
  using List = SkipList<WatchfulNode>;

  std::atomic<WatchfulNode*>& link() { return next_link; }
  const WatchfulNode* next() const { return next_link.load(); }
  int height() const { return levels; }
  UpperLink<WatchfulNode>& upper_link(int level) {
    bool is_reachable = false;
    for (const WatchfulNode* node = list->First(); node != nullptr; node = node->next())
      is_reachable = is_reachable || node == this;
    was_incomplete = was_incomplete || (is_reachable && upper[level].newest.load() == 0);
    return upper[level];
  }
  const UpperLink<WatchfulNode>& upper_link(int level) const { return upper[level]; }
  uint64_t newest() const { return sequence; }

  List* list = nullptr;
  uint64_t key = 0;
  uint64_t sequence = 0;
  int levels = 1;
  std::atomic<WatchfulNode*> next_link{nullptr};
  UpperLink<WatchfulNode> upper[12];
  bool was_incomplete = false;
};

// Regression: a reader continued from a node that was being inserted, with a link that seemed to
// skip nothing new.
TEST(SkipListTest, ANodeIsCompleteBeforeItCanBeReached) {
  Random random(1);
  Arena arena;
  SkipList<WatchfulNode> list;
  std::vector<std::unique_ptr<WatchfulNode>> nodes;
  for (uint64_t sequence = 1; sequence <= 200; ++sequence) {
    WatchfulNode& node = *nodes.emplace_back(std::make_unique<WatchfulNode>());
    node.list = &list;
    node.key = sequence * 7919 % 1009;
    node.sequence = sequence;
    SkipList<WatchfulNode>::Link* const link =
        list.FindLink([&](const WatchfulNode& other) { return other.key < node.key; });
    node.levels = list.NextHeight(&arena, &random, sequence);
    ASSERT_GT(node.levels, 0);
    list.Insert(&node, link);
  }
  for (const auto& node : nodes) EXPECT_FALSE(node->was_incomplete) << node->sequence;
}

// A column that is set and deleted repeatedly. Nodes between two old versions must not look new.
TEST(SkipListTest, WhatADeleteHidesLooksOlderThanTheDelete) {
  Column column(1);
  uint64_t sequence = 0;
  for (int64_t round = 1; round <= 2000; ++round) {
    column.Insert({.family = 1, .timestamp = round}, {++sequence, 0});
    column.Insert({.family = 1,
                   .kind = CellKind::kDeleteRange,
                   .timestamp = std::numeric_limits<int64_t>::max()},
                  {++sequence, 0});
  }
  int links = 0;
  for (const CellNode* node : column.Nodes()) {
    for (int level = 1; level < node->height() && node->kind() == CellKind::kSet;
         ++level, ++links) {
      ASSERT_LE(node->upper_link(level).newest.load(), node->sequence());
    }
  }
  EXPECT_GT(links, 100);
}

// A change of an old column must be seen by whoever passes over it.
TEST(SkipListTest, AChangedColumnIsNotPassedOver) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    Arena arena;
    ColumnList columns;
    uint64_t sequence = 0;
    for (int i = 0; i < 400; ++i) {
      const std::string qualifier = fmt::format("{:03}", random.Below(60));
      ASSERT_TRUE(columns.Insert(
          &arena, &random,
          {.family = 1, .timestamp = static_cast<int64_t>(random.Below(3)), .qualifier = qualifier},
          {++sequence, 0}));
    }
    for (const ColumnNode* from = columns.First(); from != nullptr; from = from->next()) {
      const uint64_t since = random.Below(sequence + 2);
      const ColumnNode* expected = from->next();
      while (expected != nullptr && expected->newest() < since) expected = expected->next();
      ASSERT_EQ(
          SkipList<ColumnNode>::NextSince(since, from, [](const ColumnNode&) { return true; }),
          expected)
          << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace stele::internal
