#include "stele/row_set.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/random.h"
#include "model/row_ranges.h"

namespace stele {
namespace {

using internal::Intersect;
using internal::KeyRange;
using internal::Normalize;
using internal::PrefixSuccessor;
using internal::Random;
using internal::ToKeyRange;

const std::string kZero(1, '\0');

TEST(RowRangeTest, BoundsAreAsNamed) {
  struct Case {
    RowRange range;
    const char* contained;  // the keys of a..e that it contains
    const char* text;
  };
  const Case cases[] = {
      {RowRange::All(), "abcde", "[, )"},
      {RowRange(), "abcde", "[, )"},
      {RowRange::Empty(), "", "[\"\\x00\", \"\\x00\")"},
      {RowRange::StartingAt("c"), "cde", "[\"c\", )"},
      {RowRange::EndingAt("c"), "abc", "[, \"c\"]"},
      {RowRange::Closed("b", "d"), "bcd", "[\"b\", \"d\"]"},
      {RowRange::Open("b", "d"), "c", "(\"b\", \"d\")"},
      {RowRange::RightOpen("b", "d"), "bc", "[\"b\", \"d\")"},
      {RowRange::LeftOpen("b", "d"), "cd", "(\"b\", \"d\"]"},
      {RowRange::Closed("b", "b"), "b", "[\"b\", \"b\"]"},
      {RowRange::RightOpen("b", "b"), "", "[\"b\", \"b\")"},
      {RowRange::LeftOpen("b", "b"), "", "(\"b\", \"b\"]"},
      {RowRange::Open("b", "b"), "", "(\"b\", \"b\")"},
      {RowRange::Closed("d", "b"), "", "[\"d\", \"b\"]"},
      // Row 61 of docs/reference/semantics.md: an empty bound is open.
      {RowRange::Open("", "c"), "ab", "[, \"c\")"},
      {RowRange::Open("c", ""), "de", "(\"c\", )"},  // row 62
      {RowRange::Closed("", ""), "abcde", "[, )"},
      {RowRange::Prefix("c"), "c", "[\"c\", \"d\")"},
      {RowRange::Prefix(""), "abcde", "[, )"},
  };
  for (const Case& c : cases) {
    std::string contained;
    for (const char key : std::string("abcde")) {
      if (c.range.Contains(std::string(1, key))) contained.push_back(key);
    }
    EXPECT_EQ(contained, c.contained) << c.range;
    EXPECT_EQ(c.range.IsEmpty(), contained.empty()) << c.range;
    EXPECT_EQ(c.range.ToString(), c.text);
  }
}

TEST(RowRangeTest, NothingLiesBetweenAKeyAndItsSuccessor) {
  EXPECT_TRUE(RowRange::Open("a", "a" + kZero).IsEmpty());
  EXPECT_FALSE(RowRange::LeftOpen("a", "a" + kZero).IsEmpty());
}

TEST(RowRangeTest, PrefixRemembersHowItWasMade) {
  EXPECT_TRUE(RowRange::Prefix("").is_prefix());
  EXPECT_FALSE(RowRange::All().is_prefix());
  EXPECT_TRUE(RowRange::Prefix("a").Contains("a"));
  EXPECT_TRUE(RowRange::Prefix("a").Contains("a\xff\xff"));
  EXPECT_FALSE(RowRange::Prefix("a").Contains("b"));
  EXPECT_TRUE(RowRange::Prefix("\xff").Contains("\xff\xff"));
  EXPECT_FALSE(RowRange::Prefix("\xff").Contains("\xfe"));
  EXPECT_EQ(RowRange::Prefix("\xff").end_bound(), RangeBound::kUnbounded);
}

TEST(RowRangeTest, ComparesBytesAsUnsigned) {
  EXPECT_TRUE(RowRange::Closed("\x7f", "\x80").Contains("\x80"));
  EXPECT_FALSE(RowRange::EndingAt("a").Contains("\x80"));
}

TEST(PrefixSuccessorTest, Carries) {
  EXPECT_EQ(PrefixSuccessor("a"), "b");
  EXPECT_EQ(PrefixSuccessor("a\xff"), "b");
  EXPECT_EQ(PrefixSuccessor("a\xff\xff"), "b");
  EXPECT_EQ(PrefixSuccessor("\x7f"), "\x80");
  EXPECT_EQ(PrefixSuccessor("\xfe"), "\xff");
  EXPECT_EQ(PrefixSuccessor("\xff"), std::nullopt);
  EXPECT_EQ(PrefixSuccessor("\xff\xff"), std::nullopt);
  EXPECT_EQ(PrefixSuccessor(""), std::nullopt);
}

TEST(KeyRangeTest, ComesFromEachKindOfRange) {
  EXPECT_EQ(*ToKeyRange(RowRange::All()), KeyRange::All());
  EXPECT_EQ(*ToKeyRange(RowRange::Closed("a", "b")), (KeyRange{"a", "b" + kZero, false}));
  EXPECT_EQ(*ToKeyRange(RowRange::Open("a", "b")), (KeyRange{"a" + kZero, "b", false}));
  EXPECT_EQ(*ToKeyRange(RowRange::StartingAt("a")), (KeyRange{"a", "", true}));
  EXPECT_EQ(*ToKeyRange(RowRange::EndingAt("a")), (KeyRange{"", "a" + kZero, false}));
  EXPECT_TRUE(ToKeyRange(RowRange::RightOpen("a", "a"))->IsEmpty());
  EXPECT_TRUE(ToKeyRange(RowRange::LeftOpen("a", "a"))->IsEmpty());
  EXPECT_TRUE(ToKeyRange(RowRange::Open("a", "a"))->IsEmpty());
}

TEST(KeyRangeTest, InvertedIsInvalid) {  // row 59 of docs/reference/semantics.md
  for (const RowRange& range :
       {RowRange::Closed("d", "b"), RowRange::Open("d", "b"), RowRange::RightOpen("d", "b")}) {
    EXPECT_EQ(ToKeyRange(range).status().code(), absl::StatusCode::kInvalidArgument) << range;
    EXPECT_EQ(Normalize(range).status().code(), absl::StatusCode::kInvalidArgument) << range;
  }
}

TEST(KeyRangeTest, Relations) {
  const KeyRange ac{"a", "c", false};
  const KeyRange bd{"b", "d", false};
  const KeyRange cd{"c", "d", false};
  const KeyRange from_b{"b", "", true};
  EXPECT_TRUE(ac.Contains("b"));
  EXPECT_FALSE(ac.Contains("c"));
  EXPECT_TRUE(from_b.Contains("\xff"));
  EXPECT_TRUE(ac.EndsBefore("c"));
  EXPECT_FALSE(from_b.EndsBefore("\xff"));
  EXPECT_TRUE(ac.Overlaps(bd));
  EXPECT_FALSE(ac.Overlaps(cd));
  EXPECT_TRUE(from_b.Overlaps(cd));
  EXPECT_FALSE((KeyRange{"b", "b", false}).Overlaps(ac));
  EXPECT_EQ(Intersect(ac, bd), (KeyRange{"b", "c", false}));
  EXPECT_EQ(Intersect(from_b, KeyRange::All()), from_b);
  EXPECT_TRUE(Intersect(ac, cd).IsEmpty());
  EXPECT_TRUE(from_b.Covers(cd));
  EXPECT_FALSE(cd.Covers(from_b));
  EXPECT_TRUE(KeyRange::All().Covers(from_b));
  EXPECT_TRUE(cd.Covers(KeyRange{"x", "x", false}));
  EXPECT_TRUE(KeyRange::Single("k").Contains("k"));
  EXPECT_FALSE(KeyRange::Single("k").Contains("k" + kZero));
}

TEST(NormalizeTest, NothingAndAll) {
  EXPECT_TRUE(Normalize(RowSet())->empty());
  EXPECT_TRUE(Normalize(RowRange::Empty())->empty());
  EXPECT_EQ(*Normalize(RowSet::All()), std::vector<KeyRange>{KeyRange::All()});
}

TEST(NormalizeTest, AnEmptyRowKeyIsInvalid) {
  EXPECT_EQ(Normalize(RowSet().Append("")).status().code(), absl::StatusCode::kInvalidArgument);
}

// Row 57 of docs/reference/semantics.md, and related cases.
TEST(NormalizeTest, MergesWhatOverlapsOrTouches) {
  RowSet rows;
  rows.Append("e")
      .Append("b")
      .Append(RowRange::Closed("a", "c"))
      .Append(RowRange::RightOpen("b", "d"));
  EXPECT_EQ(*Normalize(rows), (std::vector<KeyRange>{{"a", "d", false}, KeyRange::Single("e")}));

  RowSet touching;
  touching.Append(RowRange::RightOpen("b", "c"))
      .Append(RowRange::RightOpen("a", "b"))
      .Append("c")
      .Append("c");
  EXPECT_EQ(*Normalize(touching), (std::vector<KeyRange>{{"a", "c" + kZero, false}}));

  RowSet unbounded;
  unbounded.Append(RowRange::StartingAt("m"))
      .Append("z")
      .Append(RowRange::Closed("x", "y"))
      .Append("a");
  EXPECT_EQ(*Normalize(unbounded), (std::vector<KeyRange>{KeyRange::Single("a"), {"m", "", true}}));
}

std::string RandomRowKey(Random& random) {
  const std::string letters("\0ab\xff", 4);
  std::string row_key(1, letters[random.Below(4)]);
  while (random.OneIn(2)) row_key.push_back(letters[random.Below(4)]);
  return row_key;
}

RowRange RandomRange(Random& random) {
  std::string a = RandomRowKey(random);
  std::string b = RandomRowKey(random);
  if (a > b) std::swap(a, b);
  switch (random.Below(7)) {
    case 0:
      return RowRange::Prefix(a);
    case 1:
      return RowRange::StartingAt(a);
    case 2:
      return RowRange::EndingAt(a);
    case 3:
      return RowRange::Closed(a, b);
    case 4:
      return RowRange::Open(a, b);
    case 5:
      return RowRange::RightOpen(a, b);
    default:
      return RowRange::LeftOpen(a, b);
  }
}

TEST(NormalizeTest, HoldsExactlyWhatTheSetHolds) {
  Random random(7);
  for (int round = 0; round < 3'000; ++round) {
    RowSet rows;
    std::set<std::string> points;
    for (uint64_t i = random.Below(4); i > 0; --i) rows.Append(RandomRange(random));
    for (uint64_t i = random.Below(4); i > 0; --i)
      rows.Append(*points.insert(RandomRowKey(random)).first);
    const absl::StatusOr<std::vector<KeyRange>> ranges = Normalize(rows);
    ASSERT_TRUE(ranges.ok()) << ranges.status();
    for (size_t i = 0; i < ranges->size(); ++i) {
      ASSERT_FALSE((*ranges)[i].IsEmpty());
      if (i > 0) {
        ASSERT_FALSE((*ranges)[i - 1].unbounded_end);
        ASSERT_LT((*ranges)[i - 1].end, (*ranges)[i].start);
      }
    }
    for (int probe = 0; probe < 30; ++probe) {
      const std::string row_key = RandomRowKey(random);
      bool expected = points.count(row_key) > 0;
      for (const RowRange& range : rows.ranges()) expected = expected || range.Contains(row_key);
      bool found = false;
      for (const KeyRange& range : *ranges) found = found || range.Contains(row_key);
      ASSERT_EQ(found, expected) << testing::PrintToString(row_key);
    }
  }
}

}  // namespace
}  // namespace stele
