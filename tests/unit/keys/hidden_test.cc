// Tests the escapes of hidden characters in JSON.
#include "keys/hidden.h"

#include <gtest/gtest.h>

#include <string>

namespace stele::internal {
namespace {

TEST(HiddenTest, HiddenCharactersOfJsonAreEscaped) {
  EXPECT_EQ(EscapeHidden("{\n  \"a\": \"\\n\"\n}\n"), "{\n  \"a\": \"\\n\"\n}\n");
  EXPECT_EQ(EscapeHidden("[\"\u202e\u00e9\u65e5\x7f\"]"), "[\"\\u202e\u00e9\u65e5\\u007f\"]");
  EXPECT_EQ(EscapeHidden("\"\U000e0001\U0001f600\""), "\"\\udb40\\udc01\U0001f600\"");
}

TEST(HiddenTest, BytesThatAreNotUtf8Stay) {
  EXPECT_EQ(EscapeHidden("\"\xff\u200b\xe2\x80\""), "\"\xff\\u200b\xe2\x80\"");
}

}  // namespace
}  // namespace stele::internal
