#include "model/token_use.h"

#include <gtest/gtest.h>

#include <string>

namespace stele::internal {
namespace {

TEST(TokenUseTest, CoversWhatWasAdded) {
  TokenUse use{.token = "12345678", .entries = {{2, 4}}};
  use.Add({{6, 7}, {4, 5}, {0, 1}});
  const std::vector<EntryRange> expected = {{0, 1}, {2, 5}, {6, 7}};
  EXPECT_EQ(use.entries, expected);
  for (uint64_t entry = 0; entry < 9; ++entry) EXPECT_EQ(use.Covers(entry), entry == 0 || (entry >= 2 && entry < 5) || entry == 6) << entry;
  use.Add({{0, 9}});
  EXPECT_EQ(use.entries, std::vector<EntryRange>({{0, 9}}));
  EXPECT_FALSE(TokenUse().Covers(0));
}

TEST(TokenUseTest, ComesBackFromItsBytes) {
  const TokenUse use{
      .token = std::string("tok\0en\xff", 7) + "x", .answer = TokenAnswer::kPredicateNotMatched, .entries = {{0, 1}, {5, 300}}};
  std::string bytes;
  AppendTokenUse(&bytes, use);
  ByteReader in(bytes);
  TokenUse read;
  ASSERT_TRUE(ReadTokenUse(&in, &read));
  EXPECT_EQ(read, use);
  EXPECT_TRUE(in.AtEnd());
  for (size_t length = 0; length < bytes.size(); ++length) {
    ByteReader cut(std::string_view(bytes).substr(0, length));
    EXPECT_FALSE(ReadTokenUse(&cut, &read)) << length;
  }
}

TEST(TokenUseTest, MalformedBytesAreRefused) {
  const auto reads = [](const std::string& bytes) {
    ByteReader in(bytes);
    TokenUse use;
    return ReadTokenUse(&in, &use);
  };
  ASSERT_TRUE(reads(std::string("\1t\0\1\0\1", 6)));
  EXPECT_FALSE(reads(std::string("\0\0\1\0\1", 5))) << "no token";
  EXPECT_FALSE(reads(std::string("\1t\3\1\0\1", 6))) << "an unknown answer";
  EXPECT_FALSE(reads(std::string("\1t\0\0", 4))) << "no entry";
  EXPECT_FALSE(reads(std::string("\1t\0\1\0\0", 6))) << "a range of nothing";
  EXPECT_FALSE(reads(std::string("\1t\0\2\0\1\0\1", 8))) << "two ranges without a gap";
  EXPECT_FALSE(reads(std::string("\1t\0\1\0\xff\xff\xff\xff\x7f", 10))) << "beyond all entries";
}

TEST(StoredTokenTest, LivesForFifteenMinutes) {
  const StoredToken token{.use = {.token = "12345678", .entries = {{0, 1}}}, .commit_micros = 1000};
  EXPECT_TRUE(token.IsLive(1000));
  EXPECT_TRUE(token.IsLive(1000 + kTokenMemoryMicros - 1));
  EXPECT_FALSE(token.IsLive(1000 + kTokenMemoryMicros));
}

}  // namespace
}  // namespace stele::internal
