#include "io/chunked_bytes.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/random.h"

namespace stele::internal {
namespace {

std::string All(const ChunkedBytes& bytes) {
  std::string out(bytes.size(), '?');
  EXPECT_EQ(bytes.Read(0, out.size() + 10, out.data()), out.size());
  return out;
}

TEST(ChunkedBytes, BehavesLikeAString) {
  Random random(1);
  ChunkedBytes bytes(16);
  std::string model;
  // Older copies must not change, and newer ones must diverge.
  std::vector<std::pair<ChunkedBytes, std::string>> copies;
  for (int i = 0; i < 3000; ++i) {
    switch (random.Below(5)) {
      case 0: {
        const uint64_t size = random.Below(200);
        ASSERT_EQ(bytes.Resize(size), 0);
        model.resize(size, '\0');
        break;
      }
      case 1:
        copies.emplace_back(bytes.Share(), model);
        if (copies.size() > 5) copies.erase(copies.begin());
        break;
      case 2:
        if (!copies.empty()) {
          auto& [copy, copy_model] = copies[random.Below(copies.size())];
          if (copy_model.empty()) break;
          const size_t offset = random.Below(copy_model.size());
          ASSERT_EQ(copy.Write(offset, "!"), 0);
          copy_model[offset] = '!';
        }
        break;
      default: {
        const uint64_t offset = random.Below(150);
        const std::string text(random.Below(60), static_cast<char>('a' + i % 26));
        ASSERT_EQ(bytes.Write(offset, text), 0);
        if (text.empty()) break;
        if (model.size() < offset + text.size()) model.resize(offset + text.size(), '\0');
        model.replace(offset, text.size(), text);
      }
    }
    ASSERT_EQ(All(bytes), model) << i;
    for (const auto& [copy, copy_model] : copies) ASSERT_EQ(All(copy), copy_model) << i;
  }
}

TEST(ChunkedBytes, IsZeroLooksAtTheBytesOnly) {
  ChunkedBytes bytes(4096);
  ASSERT_EQ(bytes.Resize(10'000), 0);
  EXPECT_TRUE(bytes.IsZero(0, 20'000));
  ASSERT_EQ(bytes.Write(5000, "x"), 0);
  EXPECT_FALSE(bytes.IsZero(0, 20'000));
  EXPECT_FALSE(bytes.IsZero(5000, 1));
  EXPECT_TRUE(bytes.IsZero(5001, 20'000));
  EXPECT_TRUE(bytes.IsZero(0, 5000));
}

TEST(ChunkedBytes, RefusesWhatWouldNotFit) {
  ChunkedBytes bytes(16);
  EXPECT_EQ(bytes.Write(UINT64_MAX - 2, "abc"), EFBIG);
  EXPECT_EQ(bytes.Write(uint64_t{1} << 40, "abc"), EFBIG);
  EXPECT_EQ(bytes.Resize(uint64_t{1} << 40), EFBIG);
  EXPECT_EQ(bytes.size(), 0u);
}

}  // namespace
}  // namespace stele::internal
