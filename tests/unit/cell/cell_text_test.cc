#include "support/cell_text.h"

#include <gtest/gtest.h>

namespace stele::internal {
namespace {

TEST(CellText, PrintsWhatItParses) {
  const std::string text =
      "r\\x202 c:\\x00\\xff @max = \\x20\\x5c\n"
      "r1 DELETE\n"
      "r1 a DELETE\n"
      "r1 a:q1 DELETE [3,max]\n"
      "r1 a:q1 @7 = one two\n"
      "r1 b: @-5 =\n"
      "r1 c:q @1 sum -5\n";
  EXPECT_EQ(PrintRows(ParseRows(text)), text);
}

TEST(CellText, SortsRowsAndCells) {
  EXPECT_EQ(PrintRows(ParseRows("# a comment\n"
                                "b a:q @1 = x\n"
                                "\n"
                                "  a b:q @1 = x\n"
                                "a a:q @1 = x\n"
                                "a a:q @2 = x\n"
                                "a a:q DELETE [0,2]\n"
                                "a DELETE\n")),
            "a DELETE\n"
            "a a:q DELETE [0,2]\n"
            "a a:q @2 = x\n"
            "a a:q @1 = x\n"
            "a b:q @1 = x\n"
            "b a:q @1 = x\n");
}

TEST(VectorCursor, HandsOutItsRowsInBothDirections) {
  const OwnedRows rows =
      ParseRows("a a:q @2 = 1\na a:q @1 = 2\na b:q @3 = 3\na b:r @3 = 4\nb DELETE\nc a:q @1 = 5\n");
  EXPECT_EQ(ReadAll(NewVectorCursor(rows).get()), rows);
  EXPECT_EQ(ReadAll(NewVectorCursor(rows, {.direction = Direction::kReverse}).get()),
            OwnedRows(rows.rbegin(), rows.rend()));
}

TEST(VectorCursor, SkipsColumnsButNeitherTheRowTombstoneNorTheFamilysOwn) {
  auto cursor =
      NewVectorCursor(ParseRows("r DELETE\nr a DELETE\nr a:x @1 = 1\nr b DELETE\nr b:x @1 = 2\nr "
                                "b:y @1 = 3\nr c:x @1 = 4\n"));
  ASSERT_TRUE(cursor->SeekRow("r"));
  cursor->SkipTo(2, "y");
  EXPECT_EQ(PrintRows({{"r", ReadRow(cursor.get())}}),
            "r DELETE\nr b DELETE\nr b:y @1 = 3\nr c:x @1 = 4\n");
}

TEST(VectorCursor, FailsTheCallItIsAskedToFail) {
  auto cursor = NewVectorCursor(ParseRows("r a:q @1 = value\n"), {.failing_call = 3});
  std::vector<Cell> cells;
  ASSERT_TRUE(cursor->SeekToEdge());
  ASSERT_TRUE(cursor->ReadCells(&cells));
  EXPECT_EQ(cells.front().value, "value");
  EXPECT_FALSE(cursor->NextRow());
  EXPECT_EQ(cursor->status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace stele::internal
