#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <string>

#include "base/checksum.h"
#include "base/random.h"

namespace stele::internal {
namespace {

TEST(Random, IsTheSameForTheSameSeed) {
  Random first(42);
  Random second(42);
  Random other(43);
  int equal_count = 0;
  for (int i = 0; i < 100; ++i) {
    const uint64_t v = first.Next();
    EXPECT_EQ(v, second.Next());
    equal_count += v == other.Next();
  }
  EXPECT_EQ(equal_count, 0);
  // SplitMix64's first number: seeds in bug reports must stay valid
  EXPECT_EQ(Random(0).Next(), 0xe220a8397b1dcdafu);
}

TEST(Random, BelowCoversItsRange) {
  Random random(1);
  int counts[10] = {};
  for (int i = 0; i < 10'000; ++i) ++counts[random.Below(10)];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 200);
  EXPECT_EQ(random.Below(1), 0u);
}

TEST(Random, SeedsDiffer) {
  std::set<uint64_t> seeds;
  for (int i = 0; i < 1000; ++i) seeds.insert(RandomSeed());
  EXPECT_EQ(seeds.size(), 1000u);
}

// Seeds become the nonces of log segments, which a client must not know. A client knows the time
// and can guess a process id.
TEST(Random, SeedsAreNotMadeOfTheClock) {
  const auto now = [] {
    return static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  };
  constexpr uint64_t kTicksMax = 20'000;
  constexpr uint64_t kCallsMax = 1'100;  // earlier calls in this process
  uint64_t begin = 0;
  uint64_t end = kTicksMax + 1;
  uint64_t seed = 0;
  while (end - begin > kTicksMax) {
    begin = now();
    seed = RandomSeed();
    end = now();
  }
  const uint64_t process = static_cast<uint64_t>(::getpid()) << 40;
  for (uint64_t tick = begin; tick <= end; ++tick) {
    const uint64_t first = Random(tick ^ process).Next();
    for (uint64_t call = 0; call < kCallsMax; ++call)
      ASSERT_NE(seed, first + 0x9e3779b97f4a7c15 * call);
  }
}

TEST(Checksum, IsXxh3AsPublished) {
  EXPECT_EQ(Checksum64(""), 0x2d06800538d394c2u);  // files on disk depend on it
  EXPECT_NE(Checksum64("", 1), Checksum64(""));
}

TEST(Checksum, EveryBitCounts) {
  for (const size_t bytes : {1, 16, 100, 240, 241, 1000}) {
    std::string text(bytes, 'x');
    const uint64_t checksum = Checksum64(text, 9);
    for (size_t bit = 0; bit < bytes * 8; ++bit) {
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
      EXPECT_NE(Checksum64(text, 9), checksum) << bytes << " " << bit;
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    }
    EXPECT_EQ(Checksum64(text, 9), checksum);
  }
}

}  // namespace
}  // namespace stele::internal
