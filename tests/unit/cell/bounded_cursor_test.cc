#include "cell/bounded_cursor.h"

#include <gtest/gtest.h>

#include "support/cell_text.h"

namespace stele::internal {
namespace {

constexpr std::string_view kRows =
    "b a:q @1 = 1\n"
    "d a:q @1 = 2\n"
    "f a:q @1 = 3\n"
    "h a:q @1 = 4\n";

std::unique_ptr<CellCursor> Bounded(Direction direction, std::string start,
                                    std::optional<std::string> end, uint64_t failing_call = 0) {
  return NewBoundedCursor(
      NewVectorCursor(ParseRows(kRows), {.direction = direction, .failing_call = failing_call}),
      direction, std::move(start), std::move(end));
}

std::string RowsOf(CellCursor* cursor) {
  std::string rows;
  for (const OwnedRow& row : ReadAll(cursor)) rows += row.row_key;
  return rows;
}

struct Bounds {
  const char* start;
  std::optional<std::string> end;
  const char* rows;
};

const Bounds kBounds[] = {
    {"", std::nullopt, "bdfh"},
    {"b", "h", "bdf"},
    {"c", "g", "df"},
    {"d", "d\x01", "d"},
    {"d", "f", "d"},
    {"", "b", ""},
    {"i", {}, ""},
    {"h", std::nullopt, "h"},
    {"e", "f", ""},
    {"", "h\x01", "bdfh"},
};

TEST(BoundedCursor, HandsOutTheRowsOfTheRangeForward) {
  for (const Bounds& bounds : kBounds) {
    EXPECT_EQ(RowsOf(Bounded(Direction::kForward, bounds.start, bounds.end).get()), bounds.rows)
        << bounds.start;
  }
}

TEST(BoundedCursor, HandsOutTheRowsOfTheRangeInReverse) {
  for (const Bounds& bounds : kBounds) {
    std::string rows(bounds.rows);
    std::reverse(rows.begin(), rows.end());
    EXPECT_EQ(RowsOf(Bounded(Direction::kReverse, bounds.start, bounds.end).get()), rows)
        << bounds.start;
  }
}

TEST(BoundedCursor, SeekingBeforeTheRangeFindsItsFirstRow) {
  auto forward = Bounded(Direction::kForward, "c", "g");
  ASSERT_TRUE(forward->SeekRow("a"));
  EXPECT_EQ(forward->row_key(), "d");
  auto reverse = Bounded(Direction::kReverse, "c", "g");
  ASSERT_TRUE(reverse->SeekRow("z"));
  EXPECT_EQ(reverse->row_key(), "f");
}

TEST(BoundedCursor, SeekingInsideTheRangeFindsTheRow) {
  auto forward = Bounded(Direction::kForward, "c", "g");
  ASSERT_TRUE(forward->SeekRow("e"));
  EXPECT_EQ(forward->row_key(), "f");
  EXPECT_FALSE(forward->NextRow());
  auto reverse = Bounded(Direction::kReverse, "c", "g");
  ASSERT_TRUE(reverse->SeekRow("f"));
  EXPECT_EQ(reverse->row_key(), "d");
  EXPECT_FALSE(reverse->NextRow());
}

TEST(BoundedCursor, SeekingBehindTheRangeEndsAndReadsNothing) {
  auto forward = Bounded(Direction::kForward, "c", "g");
  EXPECT_FALSE(forward->SeekRow("g"));
  std::vector<Cell> cells;
  EXPECT_FALSE(forward->ReadCells(&cells));
  EXPECT_FALSE(forward->NextRow()) << "a row behind the range must not be passed";
  auto reverse = Bounded(Direction::kReverse, "c", "g");
  EXPECT_FALSE(reverse->SeekRow("c"));
  EXPECT_FALSE(reverse->NextRow());
  EXPECT_TRUE(forward->SeekToEdge()) << "a seek brings it back";
}

TEST(BoundedCursor, PassesOnTheFailureOfItsInput) {
  auto cursor = Bounded(Direction::kForward, "", std::nullopt, 2);
  ASSERT_TRUE(cursor->SeekToEdge());
  EXPECT_FALSE(cursor->NextRow());
  EXPECT_EQ(cursor->status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace stele::internal
