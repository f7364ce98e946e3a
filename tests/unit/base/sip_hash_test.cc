// Tests SipHash-2-4-128 against the test vectors of its reference code.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/checksum.h"
#include "base/coding.h"

namespace stele::internal {
namespace {

// The key 00 01 .. 0f of the reference code.
constexpr SipKey kKey{.first = 0x0706050403020100, .second = 0x0f0e0d0c0b0a0908};

std::string InHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes) {
    hex += kDigits[static_cast<unsigned char>(byte) >> 4];
    hex += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return hex;
}

std::string HashOfFirst(size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i));
  return InHex(SipHash128(bytes, kKey));
}

TEST(SipHash, AnswersAsTheReferenceCode) {
  EXPECT_EQ(HashOfFirst(0), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(HashOfFirst(1), "da87c1d86b99af44347659119b22fc45");
  EXPECT_EQ(HashOfFirst(2), "8177228da4a45dc7fca38bdef60affe4");
  EXPECT_EQ(HashOfFirst(15), "5493e99933b0a8117e08ec0f97cfc3d9");
  EXPECT_EQ(HashOfFirst(16), "6ee2a4ca67b054bbfd3315bf85230577");
}

TEST(SipHash, DependsOnTheKeyAndOnTheLength) {
  EXPECT_NE(SipHash128("token", kKey),
            SipHash128("token", {.first = kKey.first, .second = kKey.second + 1}));
  EXPECT_NE(SipHash128("token", kKey),
            SipHash128("token", {.first = kKey.first + 1, .second = kKey.second}));
  EXPECT_NE(SipHash128(std::string_view("\0", 1), kKey),
            SipHash128(std::string_view("\0\0", 2), kKey));
}

}  // namespace
}  // namespace stele::internal
