#include <gtest/gtest.h>

#include <limits>

#include "model/access.h"
#include "model/filter_node.h"
#include "model/validate.h"

namespace stele {
namespace {

absl::Status Validate(const Filter& filter,
                      TimestampGranularity granularity = TimestampGranularity::kMillis) {
  return internal::ValidateFilter(filter, granularity);
}

// Checks that a filter is invalid alone and at every position in a composite.
void ExpectInvalidFilter(const Filter& filter) {
  for (const Filter& outer :
       {filter, Filter::Chain(Filter::PassAll(), filter),
        Filter::Interleave(filter, Filter::PassAll()), Filter::Condition(filter, Filter::PassAll()),
        Filter::Condition(Filter::PassAll(), filter),
        Filter::Condition(Filter::PassAll(), Filter::PassAll(), filter)}) {
    EXPECT_EQ(Validate(outer).code(), absl::StatusCode::kInvalidArgument) << outer;
  }
}

void ExpectValid(const Filter& filter) {
  EXPECT_TRUE(Validate(filter).ok()) << filter << ": " << Validate(filter);
}

TEST(ValidateFilterTest, Counts) {  // rows 101 and 102 of docs/reference/semantics.md
  ExpectValid(Filter::Latest(1));
  ExpectValid(Filter::CellsRowLimit(1));
  ExpectValid(Filter::CellsRowOffset(0));
  ExpectValid(Filter::CellsRowOffset(100));
  for (const int count : {0, -1, std::numeric_limits<int>::min()}) {
    ExpectInvalidFilter(Filter::Latest(count));
    ExpectInvalidFilter(Filter::CellsRowLimit(count));
  }
  ExpectInvalidFilter(Filter::CellsRowOffset(-1));
}

TEST(ValidateFilterTest, Regexes) {  // rows 86 and 87; FilterProgramTest tests RE2's own errors
  ExpectInvalidFilter(Filter::RowKeyRegex(""));
  ExpectValid(Filter::ColumnRegex(""));
  ExpectValid(Filter::ValueRegex(""));
  ExpectValid(Filter::FamilyRegex(""));
  ExpectInvalidFilter(Filter::FamilyRegex("(?:f)"));
  ExpectInvalidFilter(Filter::Family("a:b"));
  ExpectInvalidFilter(Filter::Column("a:b", "q"));
  ExpectValid(Filter::Column("f", "a:b"));
  ExpectValid(Filter::Family("no such family"));
}

TEST(ValidateFilterTest, Ranges) {  // rows 95 and 97
  for (const ByteRange& range :
       {ByteRange(), ByteRange::RightOpen("", ""), ByteRange::Closed("", ""),
        ByteRange::Open("a", "a"), ByteRange(RangeBound::kUnbounded, "", RangeBound::kOpen, ""),
        ByteRange::LeftOpen("a", "b")}) {
    ExpectValid(Filter::ColumnRange("f", range));
    ExpectValid(Filter::ColumnRange("", range));
    ExpectValid(Filter::ValueRange(range));
  }
  for (const ByteRange& range :
       {ByteRange::Closed("b", "a"), ByteRange::Open("b", "a"), ByteRange::RightOpen("a", "")}) {
    ExpectInvalidFilter(Filter::ColumnRange("f", range));
    ExpectInvalidFilter(Filter::ValueRange(range));
  }
}

TEST(ValidateFilterTest, Timestamps) {  // rows 98 and 99
  const auto between = [](int64_t start, int64_t end) {
    return Filter::TimestampRange(
        {.start = Timestamp::FromMicros(start), .end = Timestamp::FromMicros(end)});
  };
  ExpectValid(Filter::TimestampRange({}));
  ExpectValid(between(1'000, 2'000));
  ExpectValid(between(2'000, 2'000));
  ExpectInvalidFilter(between(2'000, 1'000));
  ExpectInvalidFilter(between(2'000, 0));
  ExpectInvalidFilter(between(-1'000, 1'000));
  ExpectInvalidFilter(between(1'001, 2'000));
  EXPECT_TRUE(Validate(between(1'001, 1'002), TimestampGranularity::kMicros).ok());
}

TEST(ValidateFilterTest, Samples) {  // row 103
  ExpectValid(Filter::RowSample(0.5));
  ExpectValid(Filter::RowSample(std::numeric_limits<double>::denorm_min()));
  for (const double p : {0.0, 1.0, -0.5, 1.5, std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN()}) {
    ExpectInvalidFilter(Filter::RowSample(p));
  }
}

TEST(ValidateFilterTest, Bitmasks) {
  ExpectValid(Filter::ValueBitmask(std::string(1, '\0')));
  ExpectInvalidFilter(Filter::ValueBitmask(""));
}

TEST(ValidateFilterTest, Labels) {  // rows 81, 82 and 83
  ExpectValid(Filter::Label("a"));
  ExpectValid(Filter::Label("abc-0123456789x"));
  for (const char* label : {"", "ABC", "a_b", "a b", "0123456789abcdef"})
    ExpectInvalidFilter(Filter::Label(label));
  ExpectInvalidFilter(Filter::Chain(Filter::Label("a"), Filter::Label("b")));
  ExpectInvalidFilter(
      Filter::Chain(Filter::Label("a"), Filter::Chain(Filter::PassAll(), Filter::Label("b"))));
  ExpectInvalidFilter(Filter::Chain(Filter::Interleave(Filter::Label("a"), Filter::PassAll()),
                                    Filter::StripValue(), Filter::Label("b")));
  ExpectValid(Filter::Interleave(Filter::Label("a"), Filter::Label("b")));
  ExpectValid(Filter::Interleave(Filter::Label("a"),
                                 Filter::Chain(Filter::Family("g"), Filter::Label("b"))));
  ExpectValid(
      Filter::Chain(Filter::PassAll(), Filter::Interleave(Filter::Label("a"), Filter::Label("b"))));
  // A label in one chain does not conflict with a later label in another chain.
  ExpectValid(Filter::Interleave(Filter::Chain(Filter::Label("a"), Filter::PassAll()),
                                 Filter::Chain(Filter::Label("b"), Filter::PassAll())));
}

TEST(ValidateFilterTest, Sinks) {  // rows 106 and 107
  ExpectValid(Filter::Sink());
  ExpectValid(Filter::Chain(Filter::Sink(), Filter::BlockAll()));
  ExpectValid(Filter::Chain(
      Filter::Family("A"),
      Filter::Interleave(Filter::PassAll(), Filter::Chain(Filter::Label("foo"), Filter::Sink()))));
  for (const Filter& inner :
       {Filter::Sink(),
        Filter::Chain(Filter::PassAll(), Filter::Interleave(Filter::Sink(), Filter::PassAll()))}) {
    EXPECT_FALSE(Validate(Filter::Condition(inner, Filter::PassAll())).ok());
    EXPECT_FALSE(Validate(Filter::Condition(Filter::PassAll(), inner)).ok());
    EXPECT_FALSE(Validate(Filter::Condition(Filter::PassAll(), Filter::PassAll(), inner)).ok());
  }
  ExpectValid(
      Filter::Interleave(Filter::Condition(Filter::PassAll(), Filter::PassAll()), Filter::Sink()));
}

TEST(ValidateFilterTest, CompositesTakeAtLeastTwo) {
  ExpectInvalidFilter(Filter::Chain(std::vector<Filter>{}));
  ExpectInvalidFilter(Filter::Chain(Filter::PassAll()));
  ExpectInvalidFilter(Filter::Interleave(std::vector<Filter>{}));
  ExpectInvalidFilter(Filter::Interleave(Filter::PassAll()));
}

TEST(ValidateFilterTest, Depth) {  // row 109
  Filter chain = Filter::PassAll();
  Filter condition = Filter::PassAll();
  for (int i = 0; i < internal::kFilterDepthMax; ++i) {
    chain = i % 2 == 0 ? Filter::Chain(Filter::PassAll(), chain)
                       : Filter::Interleave(Filter::PassAll(), chain);
    condition = Filter::Condition(condition, Filter::PassAll());
  }
  ExpectValid(chain);
  ExpectValid(condition);
  ExpectInvalidFilter(Filter::Chain(chain, Filter::PassAll()));
  ExpectInvalidFilter(Filter::Condition(condition, Filter::PassAll()));
}

// Row 109; sizes of the equivalent protocol buffer, counted by hand.
TEST(ValidateFilterTest, Size) {
  EXPECT_EQ(internal::Access::Node(Filter::PassAll()).wire_bytes, 3u);
  EXPECT_EQ(internal::Access::Node(Filter::Latest(1)).wire_bytes, 2u);
  EXPECT_EQ(internal::Access::Node(Filter::Latest(-1)).wire_bytes, 11u);
  EXPECT_EQ(internal::Access::Node(Filter::Family("c-f")).wire_bytes,
            2u + 4u);  // the '-' is quoted
  EXPECT_EQ(internal::Access::Node(Filter::Column("cf", "q")).wire_bytes,
            2u + (2u + 4u) + (2u + 3u));
  EXPECT_EQ(
      internal::Access::Node(Filter::ColumnRange("cf", ByteRange::Closed("a", "b"))).wire_bytes,
      2u + 4u + 3u + 3u);
  EXPECT_EQ(internal::Access::Node(Filter::TimestampRange({.start = Timestamp::FromMicros(1),
                                                           .end = Timestamp::FromMicros(128)}))
                .wire_bytes,
            2u + 2u + 3u);
  EXPECT_EQ(internal::Access::Node(Filter::RowSample(0.5)).wire_bytes, 9u);
  EXPECT_EQ(internal::Access::Node(Filter::Label("l")).wire_bytes, 4u);
  EXPECT_EQ(
      internal::Access::Node(Filter::Chain(Filter::Latest(1), Filter::StripValue())).wire_bytes,
      2u + 4u + 4u);

  ExpectValid(Filter::ValueRegex(std::string(20'480 - 4, 'x')));
  EXPECT_EQ(Validate(Filter::ValueRegex(std::string(20'480 - 3, 'x'))).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Validate(Filter::ValueBitmask(std::string(21'000, 'x'))).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ValidateFilterTest, AMonstrousFilterIsRefusedAndHarmless) {
  Filter chained;
  Filter doubled;
  for (int i = 0; i < 200'000; ++i) chained = Filter::Chain(Filter::PassAll(), chained);
  for (int i = 0; i < 200; ++i) doubled = Filter::Interleave(doubled, doubled);
  EXPECT_EQ(Validate(chained).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Validate(doubled).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_LT(doubled.ToString().size(), 1'000'000u);
  EXPECT_TRUE(chained == chained);
}

}  // namespace
}  // namespace stele
