#include "cell/fold.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/base_sanitized.h"
#include "support/cell_naive_fold.h"

namespace stele::internal {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

std::string Folded(CellKind kind, const std::vector<std::string>& values) {
  Fold fold;
  fold.Start(kind);
  for (const std::string& value : values) EXPECT_TRUE(fold.Add(value));
  return std::string(fold.Value());
}

std::string FoldedNumbers(CellKind kind, const std::vector<int64_t>& numbers) {
  std::vector<std::string> values;
  for (const int64_t number : numbers) values.push_back(FoldedNumber(number));
  return DeltaText(kind, Folded(kind, values));
}

std::vector<std::string> Items(uint64_t begin, uint64_t end) {
  std::vector<std::string> items;
  for (uint64_t i = begin; i < end; ++i) items.push_back(fmt::format("item {}", i));
  return items;
}

std::string SketchOf(const std::vector<std::string>& items) {
  HllSketch sketch;
  for (const std::string& item : items) {
    std::string state;
    AppendHllItem(&state, item);
    EXPECT_TRUE(sketch.Add(state));
  }
  std::string state;
  sketch.AppendState(&state);
  return state;
}

TEST(FoldTest, NumbersAreSignedAndSumsWrapAround) {
  EXPECT_EQ(FoldedNumbers(CellKind::kSum, {5, 3, 9}), "sum 17");
  EXPECT_EQ(FoldedNumbers(CellKind::kSum, {kMost, 1}), fmt::format("sum {}", kLeast));
  EXPECT_EQ(FoldedNumbers(CellKind::kSum, {kLeast, -1}), fmt::format("sum {}", kMost));
  EXPECT_EQ(FoldedNumbers(CellKind::kMin, {5, 3, 9}), "min 3");
  EXPECT_EQ(FoldedNumbers(CellKind::kMin, {5, -3, 0}), "min -3");
  EXPECT_EQ(FoldedNumbers(CellKind::kMax, {5, 3, 9}), "max 9");
  EXPECT_EQ(FoldedNumbers(CellKind::kMax, {-5, -3, kLeast}), "max -3");
  EXPECT_EQ(FoldedNumbers(CellKind::kMax, {-7}), "max -7")
      << "one is what it is, not held against nothing";
  EXPECT_EQ(FoldedNumber(1), std::string("\0\0\0\0\0\0\0\1", 8));
  EXPECT_EQ(FoldedNumber(-2), "\xff\xff\xff\xff\xff\xff\xff\xfe");
}

TEST(FoldTest, ValuesOfAnotherShapeAreRefused) {
  for (const CellKind kind : {CellKind::kSum, CellKind::kMin, CellKind::kMax}) {
    EXPECT_TRUE(IsDeltaValue(kind, std::string(8, 'x')));
    for (const size_t bytes : {0, 3, 7, 9}) {
      EXPECT_FALSE(IsDeltaValue(kind, std::string(bytes, 'x')));
      Fold fold;
      fold.Start(kind);
      EXPECT_FALSE(fold.Add(std::string(bytes, 'x')));
    }
  }
  EXPECT_FALSE(IsDeltaValue(CellKind::kHll, std::string(8, 'x')));
  EXPECT_FALSE(IsDeltaValue(CellKind::kSet, std::string(8, 'x')));
  EXPECT_EQ(DeltaText(CellKind::kSum, "x"), "an invalid aggregate cell of 1 bytes");
}

TEST(FoldTest, SketchesAreThoseOfTheNaiveReference) {
  for (const uint64_t count : {0, 1, 2, 100, 3071, 3072, 3073, 3100, 20'000}) {
    const std::vector<std::string> items = Items(0, count);
    EXPECT_EQ(SketchOf(items), NaiveSketch(items)) << count;
  }
}

// Hashes with every number of leading zeros. A test could not find such items by trying.
TEST(FoldTest, RareHashesAreThoseOfTheNaiveReference) {
  Random random(1);
  std::vector<uint64_t> hashes;
  for (uint64_t index = 0; index < 2000; ++index) {
    const uint64_t inner = random.OneIn(3) ? 0 : random.Below(2048);
    hashes.push_back(index << 50 | inner << 39 |
                     (random.Next() & ((uint64_t{1} << 39) - 1)) >> random.Below(40));
  }
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < hashes.size(); begin += 100) {
    parts.push_back(NaiveSketchOfHashes({hashes.begin() + static_cast<ptrdiff_t>(begin),
                                         hashes.begin() + static_cast<ptrdiff_t>(begin + 100)}));
    ASSERT_TRUE(IsHllState(parts.back()));
  }
  EXPECT_EQ(Folded(CellKind::kHll, parts), NaiveSketchOfHashes(hashes));
  parts.push_back(NaiveSketch(Items(0, 4000)));
  EXPECT_EQ(Folded(CellKind::kHll, parts), NaiveFold("hll", parts)) << "dense";
}

// Few items share all bits of an index, so these hashes are made by hand too.
TEST(FoldTest, OfTwoHashesOfOneIndexTheRarerStays) {
  const uint64_t index = uint64_t{7} << 50;
  const std::string common = NaiveSketchOfHashes({index | uint64_t{1} << 38});
  const std::string rare = NaiveSketchOfHashes({index | uint64_t{1} << 20});
  ASSERT_NE(common, rare);
  EXPECT_EQ(Folded(CellKind::kHll, {common, rare}), rare);
  EXPECT_EQ(Folded(CellKind::kHll, {rare, common}), rare);
}

// The result is the same to the byte for every order of folding. A reader must not see when a
// compaction ran.
TEST(FoldTest, TheOrderOfFoldingIsNoDifference) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const CellKind kind = static_cast<CellKind>(static_cast<int>(CellKind::kSum) + seed % 4);
    std::vector<std::string> values;
    for (uint64_t left = 2 + random.Below(12); left > 0; --left) {
      const uint64_t first = random.Below(5000);
      values.push_back(
          kind == CellKind::kHll
              ? NaiveSketch(Items(first, first + random.Below(random.OneIn(4) ? 5000 : 600)))
              : FoldedNumber(static_cast<int64_t>(random.Next())));
    }
    const std::string together = Folded(kind, values);
    const std::string_view words[] = {"sum", "min", "max", "hll"};
    ASSERT_EQ(together, NaiveFold(words[seed % 4], values));
    while (values.size() > 1) {
      const size_t first = random.Below(values.size() - 1);
      const size_t end = first + 2 + random.Below(values.size() - first - 1);
      const auto at = [&](size_t i) { return values.begin() + static_cast<ptrdiff_t>(i); };
      std::vector<std::string> part(at(first), at(end));
      std::reverse(part.begin(), part.end());
      values[first] = Folded(kind, part);
      values.erase(at(first + 1), at(end));
      std::rotate(values.begin(), values.begin() + 1, values.end());
    }
    ASSERT_EQ(values.front(), together);
  }
}

TEST(HllTest, TheStateIsWhatTheFormatSays) {
  std::string state;
  AppendHllItem(&state, "item");
  EXPECT_EQ(state, NaiveSketch({"item"}));
  EXPECT_EQ(state.substr(0, 2), std::string("\1\0", 2));
  EXPECT_EQ(SketchOf({}), std::string("\1\0", 2));
  EXPECT_EQ(*EstimateHll(SketchOf({})), 0);
  EXPECT_EQ(SketchOf(Items(0, 4000)).size(), 2u + 12288u);
}

TEST(HllTest, MalformedStatesAreRefused) {
  const std::string sparse = SketchOf(Items(0, 5));
  const std::string dense = SketchOf(Items(0, 4000));
  ASSERT_TRUE(IsHllState(sparse) && IsHllState(dense));
  std::vector<std::string> malformed = {
      "",     "\1",        std::string("\2\0", 2), std::string("\0\0", 2),
      "\1\2", dense + "x", dense.substr(0, 100)};
  std::string register_above = dense;
  register_above[2] = 52;  // the first register, above 64 - 14 + 1
  malformed.push_back(register_above);
  // Ends in the middle of a number.
  malformed.push_back(sparse.substr(0, sparse.size() - 1) + "\x80");
  malformed.push_back(sparse + std::string(1, '\0'));  // the last entry twice
  // A number with more bytes than necessary.
  malformed.push_back(sparse + "\x80" + std::string(1, '\0'));
  // Index 1 needs no rank, index 0 one.
  malformed.push_back(std::string("\1\0", 2) + "\x40");
  malformed.push_back(std::string("\1\0\x41", 3));  // index 1 with a rank
  // Index 0 with a rank of 41.
  malformed.push_back(std::string("\1\0", 2) + "\x29");
  malformed.push_back(std::string("\1\0", 2) + "\xff\xff\xff\xff\x0f");  // above 2^31
  malformed.push_back(std::string("\1\0\x01\x01", 4));                   // two ranks for one index
  std::string many("\1\0", 2);
  many += "\x40";
  for (int i = 0; i < 3073; ++i) many += "\x40";
  malformed.push_back(many);  // more entries than a sparse state may have
  malformed.erase(std::find(malformed.begin(), malformed.end(), std::string("\1\0", 2) + "\x40"));
  EXPECT_TRUE(IsHllState(std::string("\1\0", 2) + "\x40")) << "index 1";
  for (const std::string& state : malformed) {
    HllSketch sketch;
    ASSERT_TRUE(sketch.Add(sparse));
    EXPECT_FALSE(IsHllState(state)) << testing::PrintToString(state);
    EXPECT_FALSE(sketch.Add(state));
    EXPECT_FALSE(EstimateHll(state).has_value());
    std::string after;
    sketch.AppendState(&after);
    EXPECT_EQ(after, sparse) << "nothing was added";
  }
}

// Random bytes, and states with one changed byte, are accepted or rejected without a crash. An
// accepted state has its canonical form.
TEST(HllTest, AnyBytesAreJudged) {
  Random random(7);
  for (int i = 0; i < 4000; ++i) {
    std::string state =
        random.OneIn(2) ? SketchOf(Items(0, random.Below(40))) : std::string("\1\0", 2);
    if (i % 400 == 0) state = SketchOf(Items(0, 4000));
    for (uint64_t left = random.Below(6); left > 0; --left)
      state.push_back(static_cast<char>(random.Below(256)));
    if (random.OneIn(2)) state[random.Below(state.size())] = static_cast<char>(random.Below(256));
    HllSketch sketch;
    if (!IsHllState(state)) {
      ASSERT_FALSE(sketch.Add(state));
      continue;
    }
    ASSERT_TRUE(sketch.Add(state));
    std::string again;
    sketch.AppendState(&again);
    ASSERT_EQ(again, state);
  }
}

// Measures the standard error of many sketches, at sizes from exact to large. 1.04 / sqrt(16384) is
// 0.81 %.
TEST(HllTest, TheErrorIsWhatIsStated) {
  for (const uint64_t count : {10, 1000, 3000, 4000, 20'000, 60'000, 200'000}) {
    if (kReduced && count > 20'000) continue;
    constexpr int kSketches = 24;
    double squares = 0;
    double sum = 0;
    for (int sketch_index = 0; sketch_index < kSketches; ++sketch_index) {
      Random random(1000 + static_cast<uint64_t>(sketch_index));
      HllSketch sketch;
      for (uint64_t done = 0; done < count;) {
        std::vector<uint64_t> hashes;
        for (uint64_t left = std::min<uint64_t>(3000, count - done); left > 0; --left, ++done)
          hashes.push_back(random.Next());
        ASSERT_TRUE(sketch.Add(NaiveSketchOfHashes(hashes)));
      }
      const double error = sketch.Estimate() / static_cast<double>(count) - 1;
      squares += error * error;
      sum += error;
    }
    const double deviation = std::sqrt(squares / kSketches);
    const double stated = count <= kHllSparseEntriesMax ? 0.0005 : 0.0081;
    // With 24 samples, chance stays far below this.
    EXPECT_LT(deviation, 1.5 * stated) << count << ": " << deviation;
    EXPECT_LT(std::abs(sum / kSketches), stated) << count << ": a bias";
    if (count > 100'000) {
      EXPECT_GT(deviation, stated / 2) << "better than it can be";
    }
  }
}

}  // namespace
}  // namespace stele::internal
