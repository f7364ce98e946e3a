#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"
#include "model/access.h"
#include "model/filter_node.h"
#include "stele/filter.h"

namespace stele {
namespace {

using internal::FilterKind;
using internal::Random;

TEST(FilterTest, TheDefaultPassesAll) {
  EXPECT_EQ(internal::Access::Node(Filter()).kind, FilterKind::kPassAll);
  EXPECT_EQ(Filter(), Filter::PassAll());
  EXPECT_NE(Filter(), Filter::BlockAll());
}

TEST(FilterTest, EqualityIsOfTheExpression) {
  EXPECT_EQ(Filter::Chain(Filter::Family("a"), Filter::Latest(1)),
            Filter::Chain(Filter::Family("a"), Filter::Latest(1)));
  EXPECT_NE(Filter::Chain(Filter::Family("a"), Filter::Latest(1)),
            Filter::Chain(Filter::Latest(1), Filter::Family("a")));
  EXPECT_NE(Filter::Chain(Filter::Family("a"), Filter::Latest(1)),
            Filter::Interleave(Filter::Family("a"), Filter::Latest(1)));
  EXPECT_NE(Filter::Family("a"), Filter::FamilyRegex("a"));
  EXPECT_NE(Filter::Column("a", "b"), Filter::Column("a", "c"));
  EXPECT_NE(Filter::RowSample(0.25), Filter::RowSample(0.5));
  EXPECT_NE(Filter::TimestampRange({}), Filter::TimestampRange({.end = Timestamp()}));
  EXPECT_NE(Filter::ColumnRange("f", ByteRange::RightOpen("a", "b")),
            Filter::ColumnRange("f", ByteRange::Closed("a", "b")));
}

TEST(ByteRangeTest, BoundsAreLiteral) {
  EXPECT_TRUE(ByteRange().Contains(""));
  EXPECT_FALSE(ByteRange::RightOpen("", "").Contains(""));
  EXPECT_TRUE(ByteRange::Closed("", "").Contains(""));
  EXPECT_FALSE(ByteRange::Closed("", "").Contains("a"));
  EXPECT_FALSE(ByteRange::Open("", "b").Contains(""));
  EXPECT_TRUE(ByteRange::EndingAt("").Contains(""));
  EXPECT_FALSE(ByteRange::EndingAt("").Contains(std::string_view("\0", 1)));
  EXPECT_TRUE(ByteRange::LeftOpen("a", "b").Contains("b"));
  EXPECT_FALSE(ByteRange::LeftOpen("a", "b").Contains("a"));
  EXPECT_TRUE(ByteRange::StartingAt("a").Contains("\xff"));
}

struct Case {
  Filter filter;
  const char* text;
};

std::vector<Case> Cases() {
  return {
      {Filter::PassAll(), "all"},
      {Filter::BlockAll(), "none"},
      {Filter::Latest(3), "latest(3)"},
      {Filter::Latest(-1), "latest(-1)"},
      {Filter::FamilyRegex("c.*"), "family_regex(\"c.*\")"},
      {Filter::ColumnRegex("\\C*"), "column_regex(\"\\\\C*\")"},
      {Filter::Family("cf"), "family(\"cf\")"},
      {Filter::Column("cf", std::string("\0\"\xff", 3)), "column(\"cf\", \"\\x00\\\"\\xff\")"},
      {Filter::ColumnRange("cf", ByteRange::RightOpen("a", "b")),
       "column_range(\"cf\", [\"a\", \"b\"))"},
      {Filter::ColumnRange("cf", ByteRange::LeftOpen("", "")),
       "column_range(\"cf\", (\"\", \"\"])"},
      {Filter::ValueRange(ByteRange::All()), "value_range([, ))"},
      {Filter::ValueRange(ByteRange::StartingAt("a")), "value_range([\"a\", ))"},
      {Filter::ValueRange(ByteRange::EndingAt("a")), "value_range([, \"a\"])"},
      {Filter::ValueRange(ByteRange::Open("a", "b")), "value_range((\"a\", \"b\"))"},
      {Filter::TimestampRange({.start = Timestamp::FromMicros(5)}), "timestamps(5, )"},
      {Filter::TimestampRange({.start = Timestamp::FromMicros(-5), .end = Timestamp()}),
       "timestamps(-5, 0)"},
      {Filter::RowKeyRegex("row"), "row_regex(\"row\")"},
      {Filter::ValueRegex(""), "value_regex(\"\")"},
      {Filter::ValueBitmask("\x01"), "value_bitmask(\"\\x01\")"},
      {Filter::CellsRowLimit(1), "row_limit(1)"},
      {Filter::CellsRowOffset(0), "row_offset(0)"},
      {Filter::RowSample(0.25), "sample(0.25)"},
      {Filter::StripValue(), "strip"},
      {Filter::Label("l-1"), "label(\"l-1\")"},
      {Filter::Sink(), "sink"},
      {Filter::Condition(Filter::Family("a"), Filter::PassAll()),
       "condition(family(\"a\"), all, none)"},
      {Filter::Chain(Filter::Family("cf"), Filter::Latest(1)), "chain(family(\"cf\"), latest(1))"},
      {Filter::Interleave(Filter::StripValue(), Filter::Sink(), Filter::PassAll()),
       "interleave(strip, sink, all)"},
      {Filter::Chain(std::vector<Filter>{}), "chain()"},
      {Filter::Interleave(std::vector<Filter>{Filter::PassAll()}), "interleave(all)"},
  };
}

TEST(FilterTextTest, EveryKindIsPrintedAndParsed) {
  for (const Case& c : Cases()) {
    EXPECT_EQ(c.filter.ToString(), c.text);
    const absl::StatusOr<Filter> parsed = Filter::Parse(c.text);
    ASSERT_TRUE(parsed.ok()) << c.text << ": " << parsed.status();
    EXPECT_EQ(*parsed, c.filter) << c.text;
  }
}

TEST(FilterTextTest, SpaceIsFreeAndEscapesHaveShortForms) {
  EXPECT_EQ(*Filter::Parse("  chain (\n family( \"cf\" ) ,latest( 1 ) )\t"),
            Filter::Chain(Filter::Family("cf"), Filter::Latest(1)));
  EXPECT_EQ(*Filter::Parse(R"(value_regex("\n\r\t\0\"\\\x7F"))"),
            Filter::ValueRegex(std::string("\n\r\t\0\"\\\x7f", 7)));
  EXPECT_EQ(*Filter::Parse("value_range((\"a\",))"),
            Filter::ValueRange(ByteRange(RangeBound::kOpen, "a", RangeBound::kUnbounded, "")));
  EXPECT_EQ(*Filter::Parse("value_range([,\"a\"))"),
            Filter::ValueRange(ByteRange(RangeBound::kUnbounded, "", RangeBound::kOpen, "a")));
}

TEST(FilterTextTest, RefusesWhatIsWrong) {
  const char* const texts[] = {
      "",
      " ",
      "al",
      "all()",
      "all all",
      "latest",
      "latest()",
      "latest(x)",
      "latest(1",
      "latest(1))",
      "latest(2147483648)",
      "family(cf)",
      "family(\"cf)",
      "family(\"cf\"",
      "family(\"\\q\")",
      "family(\"\\x1\")",
      "family(\"\\xg0\")",
      "family(\"\\",
      "column(\"a\")",
      "column(\"a\" \"b\")",
      "column_range(\"a\", \"b\")",
      "value_range([\"a\"])",
      "value_range(\"a\", \"b\")",
      "timestamps(1)",
      "timestamps(, 1)",
      "timestamps(1, 99999999999999999999)",
      "sample()",
      "sample(x)",
      "sample(0.5x)",
      "condition(all)",
      "condition(all, all, all, all)",
      "chain(all,)",
      "chain(,all)",
      "chain(all all)",
      "sample(0.5",
      "Chain(all, all)",
  };
  for (const char* text : texts) {
    const absl::StatusOr<Filter> filter = Filter::Parse(text);
    EXPECT_EQ(filter.status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(FilterTextTest, ErrorsNameThePosition) {
  const absl::Status status = Filter::Parse("chain(all, latest(x))").status();
  EXPECT_NE(std::string(status.message()).find("position 18"), std::string::npos) << status;
}

TEST(FilterTextTest, EndsAtADepthInsteadOfTheStack) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "chain(";
  EXPECT_EQ(Filter::Parse(deep).status().code(), absl::StatusCode::kInvalidArgument);
}

std::string RandomBytes(Random& random) {
  std::string bytes;
  for (uint64_t i = random.Below(6); i > 0; --i)
    bytes.push_back(static_cast<char>(random.OneIn(2) ? 'a' + random.Below(26) : random.Next()));
  return bytes;
}

ByteRange RandomByteRange(Random& random) {
  const auto bound = [&random] { return static_cast<RangeBound>(random.Below(3)); };
  return ByteRange(bound(), RandomBytes(random), bound(), RandomBytes(random));
}

Filter RandomLeaf(Random& random) {
  const int count = static_cast<int>(random.Next());
  switch (random.Below(18)) {
    case 0:
      return Filter::BlockAll();
    case 1:
      return Filter::Latest(count);
    case 2:
      return Filter::FamilyRegex(RandomBytes(random));
    case 3:
      return Filter::ColumnRegex(RandomBytes(random));
    case 4:
      return Filter::Family(RandomBytes(random));
    case 5:
      return Filter::Column(RandomBytes(random), RandomBytes(random));
    case 6:
      return Filter::ColumnRange(RandomBytes(random), RandomByteRange(random));
    case 7:
      return Filter::ValueRange(RandomByteRange(random));
    case 8: {
      TimestampRange range{.start = Timestamp::FromMicros(static_cast<int64_t>(random.Next()))};
      if (random.OneIn(2)) range.end = Timestamp::FromMicros(static_cast<int64_t>(random.Next()));
      return Filter::TimestampRange(range);
    }
    case 9:
      return Filter::RowKeyRegex(RandomBytes(random));
    case 10:
      return Filter::ValueRegex(RandomBytes(random));
    case 11:
      return Filter::ValueBitmask(RandomBytes(random));
    case 12:
      return Filter::CellsRowLimit(count);
    case 13:
      return Filter::CellsRowOffset(count);
    case 14:
      return Filter::RowSample(static_cast<double>(static_cast<int64_t>(random.Next())) /
                               static_cast<double>(1 + random.Below(1'000'000)));
    case 15:
      return Filter::StripValue();
    case 16:
      return Filter::Label(RandomBytes(random));
    default:
      return random.OneIn(2) ? Filter::Sink() : Filter::PassAll();
  }
}

Filter RandomFilter(Random& random, int depth_left) {
  if (depth_left == 0 || !random.OneIn(3)) return RandomLeaf(random);
  if (random.OneIn(3)) {
    return Filter::Condition(RandomFilter(random, depth_left - 1),
                             RandomFilter(random, depth_left - 1),
                             RandomFilter(random, depth_left - 1));
  }
  std::vector<Filter> children;
  for (uint64_t i = random.Below(4); i > 0; --i)
    children.push_back(RandomFilter(random, depth_left - 1));
  return random.OneIn(2) ? Filter::Chain(children) : Filter::Interleave(children);
}

TEST(FilterTextTest, EveryFilterParsesBack) {
  Random random(5);
  for (int i = 0; i < 20'000; ++i) {
    const Filter filter = RandomFilter(random, 6);
    const std::string text = filter.ToString();
    const absl::StatusOr<Filter> back = Filter::Parse(text);
    ASSERT_TRUE(back.ok()) << text << ": " << back.status();
    ASSERT_EQ(*back, filter) << text;
  }
  for (const double odd : {0.1, 1e-300, -0.0, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(*Filter::Parse(Filter::RowSample(odd).ToString()), Filter::RowSample(odd)) << odd;
  }
}

}  // namespace
}  // namespace stele
