#include "base/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/buffer.h"
#include "base/random.h"

namespace stele::internal {
namespace {

TEST(Arena, PiecesAreAlignedAndDoNotOverlap) {
  Arena arena;
  Random random(5);
  std::vector<std::pair<char*, size_t>> pieces;
  size_t asked_bytes = 0;
  for (int i = 0; i < 2000; ++i) {
    const size_t bytes = random.OneIn(50) ? random.Below(200'000) : random.Below(300);
    char* const piece = arena.Allocate(bytes);
    ASSERT_NE(piece, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(piece) % 8, 0u);
    std::memset(piece, i % 251, bytes);
    pieces.emplace_back(piece, bytes);
    asked_bytes += bytes;
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    for (size_t at = 0; at < pieces[i].second; ++at)
      ASSERT_EQ(pieces[i].first[at], static_cast<char>(i % 251)) << i;
  }
  EXPECT_GE(arena.bytes(), asked_bytes);
}

TEST(Arena, CountsWhatItTookFromTheSystem) {
  Arena arena;
  EXPECT_EQ(arena.bytes(), 0u);
  ASSERT_NE(arena.Allocate(1), nullptr);
  const size_t first_block_bytes = arena.bytes();
  EXPECT_EQ(first_block_bytes, 512u);
  ASSERT_NE(arena.Allocate(100), nullptr);
  EXPECT_EQ(arena.bytes(), first_block_bytes);  // from the same block
  ASSERT_NE(arena.Allocate(10 << 20), nullptr);
  // A separate block of exactly the requested size.
  EXPECT_EQ(arena.bytes(), first_block_bytes + (10 << 20));
  char* const small = arena.Allocate(8);
  ASSERT_NE(small, nullptr);
  // The first block is still the current one.
  EXPECT_EQ(arena.bytes(), first_block_bytes + (10 << 20));
}

TEST(Arena, RefusedMemoryChangesNothing) {
  Arena arena;
  char* const before = arena.Allocate(16);
  const size_t bytes = arena.bytes();
  // Variables, so that the compiler does not reject the sizes itself; the last would wrap around
  // when rounded up.
  for (const size_t impossible : {SIZE_MAX / 2, SIZE_MAX - 4096, SIZE_MAX - 3}) {
    EXPECT_EQ(arena.Allocate(impossible), nullptr) << impossible;
  }
  FailBufferAllocation(1);
  EXPECT_EQ(arena.Allocate(8000), nullptr);
  EXPECT_EQ(arena.bytes(), bytes);
  EXPECT_EQ(arena.Allocate(16), before + 16);
}

}  // namespace
}  // namespace stele::internal
