// Tests the order of rows against brute force, and its cost: comparisons are counted, not timed.
#include "merge/row_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/base_sanitized.h"

namespace stele::internal {
namespace {

class CountingComparison {
 public:
  CountingComparison(Direction direction, uint64_t* count)
      : comparison_(direction), count_(count) {}
  RowPlace PlaceOf(std::string_view row_key, size_t prefix_bytes) const {
    return comparison_.PlaceOf(row_key, prefix_bytes);
  }
  int operator()(const RowPlace& a, const RowPlace& b) const {
    ++*count_;
    return comparison_(a, b);
  }

 private:
  RowComparison comparison_;
  uint64_t* count_;
};

using RowKeys = std::vector<std::string>;

// Sources that step as cursors do: the bytes of a row key become invalid when its source steps.
class Walk {
 public:
  Walk(std::vector<RowKeys> sources, Direction direction)
      : sources_(std::move(sources)),
        order_(sources_.size(), CountingComparison(direction, &comparisons_)),
        at_(sources_.size()),
        keys_(sources_.size()) {
    for (RowKeys& row_keys : sources_) {
      std::sort(row_keys.begin(), row_keys.end());
      if (direction == Direction::kReverse) std::reverse(row_keys.begin(), row_keys.end());
    }
  }

  bool SeekToRow(size_t index) {
    order_.Clear();
    for (uint32_t i = 0; i < sources_.size(); ++i) {
      at_[i] = index;
      if (Lend(i)) order_.Place(i, View(i));
    }
    order_.Restart();
    return order_.FindRow();
  }
  bool Next() {
    const std::vector<uint32_t> on_row(order_.sources().begin(), order_.sources().end());
    if (on_row.size() == 1) {
      ++at_[on_row[0]];
      if (Lend(on_row[0])) return order_.StepAlone(View(on_row[0])) || order_.FindRow();
      order_.StepToEnd();
      return order_.FindRow();
    }
    for (const uint32_t source : on_row) {
      ++at_[source];
      if (Lend(source)) {
        order_.Step(View(source));
      } else {
        order_.StepToEnd();
      }
    }
    return order_.FindRow();
  }
  // Prints "row key: the sources that have it", newest first.
  std::string Text() const {
    std::string text = fmt::format("{}:", order_.row_key());
    for (const uint32_t source : order_.sources()) text += fmt::format(" {}", source);
    return text;
  }
  uint64_t comparisons() const { return comparisons_; }

 private:
  bool Lend(uint32_t source) {
    keys_[source].reset();
    if (at_[source] >= sources_[source].size()) return false;
    const std::string& row_key = sources_[source][at_[source]];
    keys_[source] = std::make_unique<char[]>(row_key.size());
    std::copy(row_key.begin(), row_key.end(), keys_[source].get());
    return true;
  }
  std::string_view View(uint32_t source) const {
    return {keys_[source].get(), sources_[source][at_[source]].size()};
  }

  std::vector<RowKeys> sources_;
  uint64_t comparisons_ = 0;
  RowOrder<CountingComparison> order_;
  std::vector<size_t> at_;
  std::vector<std::unique_ptr<char[]>> keys_;
};

std::vector<std::string> TextsOf(const std::vector<RowKeys>& sources, Direction direction) {
  std::set<std::string> all;
  for (const RowKeys& row_keys : sources) all.insert(row_keys.begin(), row_keys.end());
  std::vector<std::string> texts;
  for (const std::string& row_key : all) {
    std::string& text = texts.emplace_back(row_key + ":");
    for (size_t i = 0; i < sources.size(); ++i) {
      if (std::count(sources[i].begin(), sources[i].end(), row_key) > 0)
        text += fmt::format(" {}", i);
    }
  }
  if (direction == Direction::kReverse) std::reverse(texts.begin(), texts.end());
  return texts;
}

// Makes keys with common prefixes, keys that are prefixes of others, keys with trailing zeros, and
// keys of the greatest bytes.
std::string RandomKey(Random& random, std::string_view prefix) {
  switch (random.Below(8)) {
    case 0:
      return std::string(1 + random.Below(12), '\xff');
    case 1:
      return std::string(prefix.substr(0, 1 + random.Below(prefix.size()))) +
             std::string(random.Below(3), '\0');
    case 2:
      return fmt::format("{}", random.Below(30));
    default:
      return fmt::format("{}{}", prefix, random.Below(60));
  }
}

TEST(RowOrderTest, RowsComeInOrderWithAllWhoHaveThem) {
  for (uint64_t seed = 1; seed <= ReducedPart(600); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::string prefix = std::string("tenant#user00000").substr(0, 1 + random.Below(16));
    std::vector<RowKeys> sources(1 + random.Below(20));
    const uint64_t rows_max = 1 + random.Below(40);
    for (RowKeys& row_keys : sources) {
      std::set<std::string> some;
      for (uint64_t left = random.OneIn(5) ? 0 : random.Below(rows_max); left > 0; --left)
        some.insert(RandomKey(random, prefix));
      row_keys.assign(some.begin(), some.end());
    }
    for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
      Walk walk(sources, direction);
      std::vector<std::string> texts;
      for (bool found = walk.SeekToRow(0); found; found = walk.Next()) texts.push_back(walk.Text());
      ASSERT_EQ(texts, TextsOf(sources, direction));
      ASSERT_FALSE(walk.Next()) << "the end is the end";
      const bool again = walk.SeekToRow(0);
      ASSERT_EQ(again, !texts.empty());
      if (again) {
        ASSERT_EQ(walk.Text(), texts.front());
      }
    }
  }
}

RowKeys Numbered(uint64_t begin, uint64_t end, uint64_t step = 1) {
  RowKeys row_keys;
  for (uint64_t i = begin; i < end; i += step)
    row_keys.push_back(fmt::format("tenant#user{:08}", i));
  return row_keys;
}

uint64_t ComparisonsOfWalk(std::vector<RowKeys> sources, Direction direction) {
  Walk walk(std::move(sources), direction);
  for (bool found = walk.SeekToRow(0); found; found = walk.Next()) {
  }
  return walk.comparisons();
}

TEST(RowOrderTest, AStretchOfOneSourceCostsOneComparisonARow) {
  constexpr uint64_t kRows = 1000;
  std::vector<RowKeys> sources;
  for (uint64_t i = 0; i < 16; ++i) sources.push_back(Numbered(i * kRows, (i + 1) * kRows));
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    // In addition to one comparison per row: building the tree, and at each change of sources a few
    // walks up its four levels.
    EXPECT_LE(ComparisonsOfWalk(sources, direction), 16 * kRows + 16 + 16 * 4 * 4);
  }
}

TEST(RowOrderTest, ASourceAloneComparesLittleAndOneOfTwentyFiveTimes) {
  constexpr uint64_t kRows = 2000;
  EXPECT_EQ(ComparisonsOfWalk({Numbered(0, kRows)}, Direction::kForward), 0u);
  std::vector<RowKeys> taking_turns;
  for (uint64_t i = 0; i < 20; ++i) taking_turns.push_back(Numbered(i, kRows, 20));
  EXPECT_LE(ComparisonsOfWalk(taking_turns, Direction::kForward), 5 * kRows + 20);
  EXPECT_LE(ComparisonsOfWalk(taking_turns, Direction::kReverse), 5 * kRows + 20);
  // The sources that have a row are known without comparisons. Only the steps cost comparisons.
  EXPECT_LE(ComparisonsOfWalk(std::vector<RowKeys>(16, Numbered(0, kRows)), Direction::kForward),
            16 * 4 * kRows + 16);
}

}  // namespace
}  // namespace stele::internal
