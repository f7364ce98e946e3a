// Tests bytes as text for a terminal.
#include "keys/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace stele::internal {
namespace {

TEST(PrintableTest, OnlyVisibleTextIsLiteral) {
  EXPECT_EQ(EscapedBytes(""), "");
  EXPECT_EQ(EscapedBytes("user#1 \"a\""), "user#1 \"a\"");
  EXPECT_EQ(EscapedBytes("a\\b"), "a\\\\b");
  EXPECT_EQ(EscapedBytes(std::string("\0\n\x1b[31m\x7f", 8)), "\\x00\\x0a\\x1b[31m\\x7f");
  EXPECT_EQ(EscapedBytes("caf\u00e9 \u65e5"), "caf\u00e9 \u65e5");
  EXPECT_EQ(EscapedBytes("\n\u00e9"), "\\x0a\u00e9") << "a control character changes no other";
}

TEST(PrintableTest, OneHiddenCharacterEscapesAllOutsideAscii) {
  // Bytes that are not UTF-8, a change of the direction of text, and a space without a width.
  EXPECT_EQ(EscapedBytes("\u00e9\xff"), "\\xc3\\xa9\\xff");
  EXPECT_EQ(EscapedBytes("\u00e9\u202e"), "\\xc3\\xa9\\xe2\\x80\\xae");
  EXPECT_EQ(EscapedBytes("a\u200b"), "a\\xe2\\x80\\x8b");
  EXPECT_EQ(EscapedBytes("\u00e9\\u"), "\\xc3\\xa9\\\\u");
}

TEST(PrintableTest, AMessageKeepsItsQuotesAndEscapes) {
  EXPECT_EQ(EscapedMessage(""), "");
  EXPECT_EQ(EscapedMessage("row \"a\\x00\": no caf\u00e9"), "row \"a\\x00\": no caf\u00e9");
  EXPECT_EQ(EscapedMessage("a\n\x1b[31m\u202e\u00e9"), "a\\x0a\\x1b[31m\\xe2\\x80\\xae\u00e9");
  EXPECT_EQ(EscapedMessage("\xff\u00e9\xc3"), "\\xff\u00e9\\xc3");
  EXPECT_EQ(EscapedMessage(std::string(100, 'm')), std::string(100, 'm'));
}

TEST(PrintableTest, TheFirstCharacterIsCheckedUtf8) {
  EXPECT_EQ(FirstRune("ab").bytes, 1u);
  EXPECT_EQ(FirstRune("\u20ac!").bytes, 3u);
  EXPECT_EQ(FirstRune("\u20ac!").code, U'\u20ac');
  EXPECT_EQ(FirstRune("\xc0\x80").bytes, 0u) << "overlong";
  EXPECT_EQ(FirstRune("\xed\xa0\x80").bytes, 0u) << "a surrogate";
  EXPECT_EQ(FirstRune("\xe2\x82").bytes, 0u) << "incomplete";
}

}  // namespace
}  // namespace stele::internal
