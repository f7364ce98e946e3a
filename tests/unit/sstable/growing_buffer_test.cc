#include "sstable/format/growing_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "base/random.h"

namespace stele::internal {
namespace {

TEST(GrowingBuffer, HoldsWhatWasAppendedWhateverItGrewBy) {
  GrowingBuffer buffer;
  std::string expected;
  Random random(3);
  EXPECT_TRUE(buffer.empty());
  for (int i = 0; i < 300; ++i) {
    const std::string part(random.Below(5000), static_cast<char>('a' + i % 26));
    if (i % 2 == 0) {
      ASSERT_EQ(buffer.Append(part), absl::OkStatus());
    } else {
      const auto out = buffer.Extend(part.size());
      ASSERT_TRUE(out.ok());
      std::memcpy(*out, part.data(), part.size());
    }
    expected += part;
    ASSERT_EQ(buffer.size(), expected.size());
  }
  EXPECT_EQ(buffer.view(), expected);
  EXPECT_GE(buffer.memory_bytes(), expected.size());
  EXPECT_LE(buffer.memory_bytes(), expected.size() * 17 / 10);
  buffer.ShortenTo(10);
  EXPECT_EQ(buffer.view(), expected.substr(0, 10));
  const size_t memory_bytes = buffer.memory_bytes();
  buffer.Clear();
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.memory_bytes(), memory_bytes) << "kept for what comes next";
}

TEST(GrowingBuffer, RefusedMemoryLeavesWhatWasThere) {
  GrowingBuffer buffer;
  ASSERT_EQ(buffer.Append("before"), absl::OkStatus());
  FailBufferAllocation(1);
  EXPECT_EQ(buffer.Append(std::string(10'000, 'x')).code(), absl::StatusCode::kResourceExhausted);
  FailBufferAllocation(0);
  EXPECT_EQ(buffer.view(), "before");
  ASSERT_EQ(buffer.Append("!"), absl::OkStatus());
  EXPECT_EQ(buffer.view(), "before!");
}

TEST(GrowingBuffer, MovesAndLeavesNothingBehind) {
  GrowingBuffer buffer;
  ASSERT_EQ(buffer.Append("moved"), absl::OkStatus());
  const GrowingBuffer other = std::move(buffer);
  EXPECT_EQ(other.view(), "moved");
  buffer = GrowingBuffer();
  EXPECT_EQ(buffer.view(), "");
  ASSERT_EQ(buffer.Append("anew"), absl::OkStatus());
  EXPECT_EQ(buffer.view(), "anew");
}

}  // namespace
}  // namespace stele::internal
