#include "filter/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/status.h"

namespace stele::internal {
namespace {

constexpr int64_t kBytesMax = 1 << 20;

Pattern CompiledPattern(const std::string& regex) {
  auto pattern = Pattern::Compile("regex", regex, kBytesMax);
  EXPECT_TRUE(pattern.ok()) << regex << ": " << pattern.status();
  return pattern.ok() ? *std::move(pattern) : Pattern();
}

std::unique_ptr<re2::RE2> Reference(const std::string& regex) {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  return std::make_unique<re2::RE2>(regex, options);
}

bool InAny(const std::vector<KeyRange>& ranges, std::string_view bytes) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [bytes](const KeyRange& range) { return range.Contains(bytes); });
}

// Matching without RE2 must give RE2's result, and the key ranges must contain every match.
void ExpectAsRe2(const std::string& regex, const std::vector<std::string>& subjects) {
  const auto reference = Reference(regex);
  const absl::StatusOr<Pattern> pattern = Pattern::Compile("regex", regex, kBytesMax);
  ASSERT_EQ(pattern.ok(), reference->ok()) << Printable(regex) << ": " << pattern.status();
  if (!pattern.ok()) return;
  const std::vector<KeyRange> ranges = pattern->Ranges();
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_FALSE(ranges[i].IsEmpty()) << Printable(regex);
    if (i > 0) {
      EXPECT_LE(ranges[i - 1].end, ranges[i].start) << Printable(regex);
    }
  }
  for (const std::string& subject : subjects) {
    const bool matches = re2::RE2::FullMatch(re2::StringPiece(subject), *reference);
    ASSERT_EQ(pattern->Matches(subject), matches)
        << Printable(regex) << " on " << Printable(subject);
    ASSERT_TRUE(!matches || InAny(ranges, subject))
        << Printable(regex) << " on " << Printable(subject);
  }
}

TEST(PatternTest, WhatClientsSendTakesNoRe2) {
  for (const char* regex : {"", "lock", "a b", "stats\\.2024", "a-b", "a\\-b", "\\x00\\xff",
                            "one|other", "a||b", "user:.*", "\\C*", ".*", "\xe9"}) {
    EXPECT_FALSE(Pattern::NeedsRe2(regex)) << regex;
  }
  for (const char* regex : {"lock.", "(lock)", "a*", "a|b.*", ".*a", "a.*?", "a\\d", "a\\", "[a]",
                            "^a", "a$", "a{2}", "a+", "\\x{41}", "\\_"}) {
    EXPECT_TRUE(Pattern::NeedsRe2(regex)) << regex;
  }
}

TEST(PatternTest, EveryByteAndEveryEscapeIsAsInRe2) {
  std::vector<std::string> subjects = {"", "a", "aa", "ab"};
  for (int byte = 0; byte < 256; ++byte)
    subjects.push_back(std::string(1, static_cast<char>(byte)));
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    for (const std::string& regex : {one, "\\" + one, "a" + one, one + "b", "\\" + one + "0f",
                                     "a|" + one, one + ".*", "\\x4" + one}) {
      ASSERT_NO_FATAL_FAILURE(ExpectAsRe2(regex, subjects));
    }
  }
}

TEST(PatternTest, RandomRegexesAreAsInRe2) {
  const std::vector<std::string> pieces = {"a",
                                           "b",
                                           "ab",
                                           "\n",
                                           ".",
                                           ".*",
                                           "\\C*",
                                           "|",
                                           "\\.",
                                           "\\|",
                                           "\\x61",
                                           "*",
                                           std::string(1, '\0'),
                                           "\xff",
                                           "(",
                                           "\\"};
  const std::vector<std::string> letters = {"a",   "b", ".", "|", "\n", "*", std::string(1, '\0'),
                                            "\xff"};
  Random random(20'251'122);
  const auto any = [&random](const std::vector<std::string>& of, uint64_t count_max) {
    std::string text;
    for (uint64_t count = random.Below(count_max + 1); count > 0; --count)
      text += of[random.Below(of.size())];
    return text;
  };
  int plain_count = 0;
  for (int i = 0; i < 5'000; ++i) {
    const std::string regex = any(pieces, 5);
    plain_count += !Pattern::NeedsRe2(regex);
    std::vector<std::string> subjects;
    for (int j = 0; j < 30; ++j) subjects.push_back(any(letters, 4));
    ASSERT_NO_FATAL_FAILURE(ExpectAsRe2(regex, subjects));
  }
  EXPECT_GT(plain_count, 500);
}

TEST(PatternTest, RangesAreOneForEachText) {
  EXPECT_EQ(CompiledPattern("b|a|b").Ranges(),
            (std::vector<KeyRange>{KeyRange::Single("a"), KeyRange::Single("b")}));
  EXPECT_EQ(CompiledPattern("ab.*").Ranges(), (std::vector<KeyRange>{{"ab", "ac", false}}));
  EXPECT_EQ(CompiledPattern("\\C*").Ranges(), (std::vector<KeyRange>{KeyRange::All()}));
  EXPECT_EQ(CompiledPattern("\\xff.*").Ranges(), (std::vector<KeyRange>{{"\xff", "", true}}));
  EXPECT_EQ(CompiledPattern("ab[cd]").Ranges(),
            (std::vector<KeyRange>{{"abc", std::string("abd\0", 4), false}}));
}

}  // namespace
}  // namespace stele::internal
