#include "model/token_use.h"

#include <gtest/gtest.h>

#include <string>

namespace stele::internal {
namespace {

TEST(TokenUseTest, CoversItsEntriesAlone) {
  const TokenUse use{.entries = {{0, 1}, {2, 5}, {6, 7}}};
  for (uint64_t entry = 0; entry < 9; ++entry) {
    EXPECT_EQ(use.Covers(entry), entry == 0 || (entry >= 2 && entry < 5) || entry == 6) << entry;
  }
  EXPECT_FALSE(TokenUse().Covers(0));
}

TEST(TokenUseTest, ComesBackFromItsBytes) {
  for (const TokenResult result :
       {TokenResult::kOk, TokenResult::kPredicateMatched, TokenResult::kPredicateNotMatched,
        TokenResult::kRow, TokenResult::kLargeRow}) {
    TokenUse use{.result = result, .entries = {{0, 1}, {5, 300}}};
    if (result >= TokenResult::kRow) use.row = std::string("r\0w", 3);
    TokenUse read;
    ASSERT_TRUE(DecodeTokenUse(EncodeTokenUse(use), &read));
    EXPECT_EQ(read, use);
  }
  const std::string bytes = EncodeTokenUse({.entries = {{0, 1}, {5, 300}}});
  TokenUse read;
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecodeTokenUse(std::string_view(bytes).substr(0, length), &read)) << length;
  }
}

TEST(TokenUseTest, MalformedBytesAreRefused) {
  const auto reads = [](const std::string& bytes) {
    TokenUse use;
    return DecodeTokenUse(bytes, &use);
  };
  ASSERT_TRUE(reads(std::string("\0\1\0\1", 4)));
  ASSERT_TRUE(reads(std::string("\3\1\0\1row", 7)));
  ASSERT_TRUE(reads(std::string("\4\1\0\1row", 7)));
  EXPECT_FALSE(reads(std::string("\5\1\0\1", 4))) << "an unknown result";
  EXPECT_FALSE(reads(std::string("\0\0", 2))) << "no entry";
  EXPECT_FALSE(reads(std::string("\0\1\0\0", 4))) << "a range of nothing";
  EXPECT_FALSE(reads(std::string("\0\2\0\1\0\1", 6))) << "two ranges without a gap";
  EXPECT_FALSE(reads(std::string("\0\1\0\xff\xff\xff\xff\x7f", 8))) << "beyond all entries";
  EXPECT_FALSE(reads(std::string("\0\1\0\1row", 7))) << "a row that was not answered";
}

}  // namespace
}  // namespace stele::internal
