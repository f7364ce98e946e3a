// Persistent sequences: compares random changes with std::vector and std::map, and counts copies.
#include "base/shared_sequence.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "base/random.h"

namespace stele::internal {
namespace {

using Sequence = SharedSequence<int>;

std::vector<int> ToVector(const Sequence& sequence) { return {sequence.begin(), sequence.end()}; }

// Some changes of a sequence of this size, ascending; the same are made to `plain`.
std::vector<Sequence::Change> RandomChanges(Random& random, std::vector<int>* plain, int* next) {
  std::vector<Sequence::Change> changes;
  std::vector<int> after;
  size_t at = 0;
  while (true) {
    const size_t begin = at + random.Below(random.OneIn(3) ? 5 : 300);
    if (begin > plain->size()) break;
    Sequence::Change change{
        .begin = begin,
        .end = std::min(plain->size(), begin + random.Below(random.OneIn(5) ? 200 : 3)),
        .with = {}};
    after.insert(after.end(), plain->begin() + static_cast<long>(at),
                 plain->begin() + static_cast<long>(begin));
    for (uint64_t i = random.Below(random.OneIn(5) ? 150 : 4); i > 0; --i) {
      after.push_back(*next);
      change.with.push_back(std::make_shared<const int>((*next)++));
    }
    at = change.end;
    changes.push_back(std::move(change));
  }
  after.insert(after.end(), plain->begin() + static_cast<long>(at), plain->end());
  *plain = std::move(after);
  return changes;
}

TEST(SharedSequenceTest, ChangesDoWhatTheyDoToAVector) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    Sequence sequence;
    std::vector<int> plain;
    int next = 0;
    for (int step = 0; step < 60; ++step) {
      const Sequence before = sequence;
      const std::vector<int> plain_before = plain;
      sequence.Replace(RandomChanges(random, &plain, &next));
      ASSERT_EQ(ToVector(sequence), plain) << seed << " " << step;
      ASSERT_EQ(ToVector(before), plain_before) << "a copy keeps what it had";
      ASSERT_EQ(sequence.size(), plain.size());
      for (int look = 0; look < 10 && !plain.empty(); ++look) {
        const size_t index = random.Below(plain.size());
        ASSERT_EQ(sequence[index], plain[index]);
        ASSERT_EQ(*(sequence.end() - static_cast<long>(plain.size() - index)), plain[index]);
        ASSERT_EQ(std::lower_bound(sequence.begin(), sequence.end(), -1) - sequence.begin(), 0);
      }
      // The differences lead from one to the other.
      std::vector<int> led;
      size_t at = 0;
      for (const Sequence::Difference& difference : Sequence::Differences(before, sequence)) {
        led.insert(led.end(), plain_before.begin() + static_cast<long>(at),
                   plain_before.begin() + static_cast<long>(difference.a_begin));
        led.insert(led.end(), plain.begin() + static_cast<long>(difference.b_begin),
                   plain.begin() + static_cast<long>(difference.b_end));
        at = difference.a_end;
      }
      led.insert(led.end(), plain_before.begin() + static_cast<long>(at), plain_before.end());
      ASSERT_EQ(led, plain);
    }
  }
}

TEST(SharedSequenceTest, APartitionPointIsThatOfAVector) {
  constexpr int kChunk = static_cast<int>(Sequence::kChunkMax);
  for (const int count : {0, 1, 2, kChunk - 1, kChunk, kChunk + 1, 2 * kChunk, 10 * kChunk + 7}) {
    std::vector<int> plain(static_cast<size_t>(count));
    std::iota(plain.begin(), plain.end(), 0);
    const Sequence sequence(plain);
    for (int bound = 0; bound <= count; ++bound) {
      const auto is_before = [bound](int element) { return element < bound; };
      ASSERT_EQ(sequence.PartitionPoint(is_before), static_cast<size_t>(bound)) << count;
    }
  }
}

TEST(SharedSequenceTest, AChangeCopiesLittleAndTheDifferencesNameJustIt) {
  std::vector<int> plain(10'000);
  const Sequence before(plain);
  Sequence after = before;
  EXPECT_TRUE(Sequence::Differences(before, after).empty());
  std::vector<Sequence::Change> changes;
  for (const size_t at : {size_t{0}, size_t{5'000}, size_t{5'100}, size_t{9'999}}) {
    changes.push_back({.begin = at, .end = at + 1, .with = {std::make_shared<const int>(1)}});
  }
  after.Replace(std::move(changes));
  const std::vector<Sequence::Difference> differences = Sequence::Differences(before, after);
  ASSERT_EQ(differences.size(), 4u);
  for (const Sequence::Difference& difference : differences) {
    EXPECT_EQ(difference.a_begin, difference.b_begin);
    EXPECT_EQ(difference.a_end, difference.a_begin + 1);
    EXPECT_EQ(difference.b_end, difference.b_begin + 1);
  }
  size_t shared = 0;
  for (size_t i = 0; i < plain.size(); ++i) shared += before.Get(i) == after.Get(i) ? 1 : 0;
  EXPECT_EQ(shared, plain.size() - 4);
}

// Single insertions and removals must not leave a list of tiny chunks, which every change copies.
TEST(SharedSequenceTest, ManySmallChangesKeepChunksLarge) {
  Random random(3);
  SharedMap<uint64_t, uint64_t> map;
  std::map<uint64_t, uint64_t> plain;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t key = random.Below(5'000);
    if (random.OneIn(2)) {
      map.Set(key, static_cast<uint64_t>(step));
      plain[key] = static_cast<uint64_t>(step);
    } else {
      map.Erase(key);
      plain.erase(key);
    }
  }
  ASSERT_EQ(map.size(), plain.size());
  EXPECT_TRUE(std::equal(
      map.begin(), map.end(), plain.begin(), plain.end(),
      [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }));
  for (uint64_t key = 0; key < 5'000; ++key) {
    ASSERT_EQ(map.contains(key), plain.contains(key));
    if (plain.contains(key)) {
      ASSERT_EQ(map.at(key), plain.at(key));
    }
  }
  EXPECT_LT(map.entries().chunk_count(), 4 * plain.size() / Sequence::kChunkMax);
}

// Table ids and file numbers ascend, so new entries come at the end, one by one.
TEST(SharedSequenceTest, SingleInsertionsAtEitherEndKeepChunksLarge) {
  constexpr int64_t kCount = 5'000;
  for (const int64_t step : {1, -1}) {
    SharedMap<int64_t, int64_t> map;
    for (int64_t i = 0; i < kCount; ++i) map.Set(step * i, i);
    ASSERT_EQ(map.size(), size_t{kCount});
    EXPECT_LT(map.entries().chunk_count(), 4 * kCount / Sequence::kChunkMax) << step;
    for (int64_t i = 0; i < kCount; ++i) ASSERT_EQ(map.at(step * i), i);
  }
}

TEST(SharedSequenceTest, AMapTakesManyChangesAtOnce) {
  using Map = SharedMap<int, int>;
  Map map;
  std::vector<std::pair<int, std::shared_ptr<const Map::Entry>>> changes;
  for (int i = 0; i < 1'000; i += 2)
    changes.emplace_back(i, std::make_shared<const Map::Entry>(i, i));
  map.Change(changes);
  EXPECT_EQ(map.size(), 500u);
  changes = {{-1, nullptr},
             {0, nullptr},
             {3, std::make_shared<const Map::Entry>(3, 33)},
             {998, std::make_shared<const Map::Entry>(998, 1)}};
  const Map before = map;
  map.Change(changes);
  EXPECT_EQ(map.size(), 500u);
  EXPECT_FALSE(map.contains(0));
  EXPECT_EQ(map.at(3), 33);
  EXPECT_EQ(map.at(998), 1);
  EXPECT_EQ(before.at(998), 998);
  EXPECT_EQ(map.find(5), map.end());
  const Map only = map.Only(998);
  EXPECT_EQ(only.size(), 1u);
  EXPECT_EQ(only.entries().Get(0), map.find(998).Get()) << "the entry is shared";
  EXPECT_TRUE(map.Only(5).empty());
}

}  // namespace
}  // namespace stele::internal
