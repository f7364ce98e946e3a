#include "stele/row.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "base/hll.h"
#include "model/access.h"

namespace stele {
namespace {

CellView Cell(std::string_view family, std::string_view qualifier, int64_t micros,
              std::string_view value) {
  return CellView(family, qualifier, Timestamp::FromMicros(micros), value);
}

std::string Describe(std::span<const CellView> cells) {
  std::string out;
  for (const CellView& cell : cells) {
    out += std::string(cell.family()) + ":" + std::string(cell.qualifier()) + "@" +
           std::to_string(cell.timestamp().micros()) + "=" + std::string(cell.value());
    for (const std::string& label : cell.labels()) out += "#" + label;
    out += " ";
  }
  return out;
}

const std::vector<CellView>& Cells() {
  static const auto* const cells = new std::vector<CellView>{
      Cell("a", "", 5, "0"),  Cell("a", "q", 2, "1"), Cell("a", "q", 1, "2"),
      Cell("b", "q", 9, "3"), Cell("c", "p", 1, ""),  Cell("c", "q", 7, "4")};
  return *cells;
}

TEST(RowViewTest, FamilyIsAStretchOfTheCells) {
  const RowView view = internal::Access::Make<RowView>("row", Cells());
  EXPECT_EQ(Describe(view.family("a")), "a:@5=0 a:q@2=1 a:q@1=2 ");
  EXPECT_EQ(Describe(view.family("b")), "b:q@9=3 ");
  EXPECT_EQ(Describe(view.family("c")), "c:p@1= c:q@7=4 ");
  EXPECT_TRUE(view.family("").empty());
  EXPECT_TRUE(view.family("aa").empty());
  EXPECT_TRUE(view.family("d").empty());
  EXPECT_TRUE(RowView().family("a").empty());
}

TEST(CellTest, OwnsItsValue) {
  stele::Cell cell(Timestamp::FromMillis(3), EncodeInt64(-7));
  EXPECT_EQ(cell.timestamp(), Timestamp::FromMillis(3));
  EXPECT_EQ(*cell.AsInt64(), -7);
  EXPECT_EQ(cell.EstimateCardinality().status().code(), absl::StatusCode::kInvalidArgument);
  const stele::Cell copy = cell;
  EXPECT_EQ(copy, cell);
  const std::string value = std::move(cell).value();
  EXPECT_EQ(value, EncodeInt64(-7));
  EXPECT_EQ(copy.value(), value);
  EXPECT_EQ(stele::Cell().AsInt64().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RowViewTest, CellIsTheNewest) {
  const RowView view = internal::Access::Make<RowView>("row", Cells());
  EXPECT_EQ(view.cell("a", "q")->value(), "1");
  EXPECT_EQ(view.cell("a", "")->value(), "0");
  EXPECT_EQ(view.cell("c", "q")->value(), "4");
  EXPECT_FALSE(view.cell("a", "p").has_value());
  EXPECT_FALSE(view.cell("b", "").has_value());
  EXPECT_FALSE(view.cell("d", "q").has_value());
}

TEST(RowTest, OwnsItsBytes) {
  std::optional<Row> row;
  {
    auto row_key = std::make_unique<std::string>("the row key");
    auto bytes = std::make_unique<std::string>("family qualifier value");
    auto labels = std::make_unique<std::vector<std::string>>(
        std::vector<std::string>{"label one", "label two"});
    const std::string_view all = *bytes;
    const std::vector<CellView> cells{
        CellView(all.substr(0, 6), all.substr(7, 9), Timestamp::FromMicros(2), all.substr(17),
                 *labels),
        CellView(all.substr(0, 6), all.substr(7, 9), Timestamp::FromMicros(1), {}),
        CellView(all.substr(0, 6), "r", Timestamp::FromMicros(1), "x", std::span(*labels).first(1)),
        CellView("g", "r", Timestamp::FromMicros(1), "y"),
    };
    row = internal::Access::Make<RowView>(*row_key, cells).Own();
  }
  EXPECT_EQ(row->row_key(), "the row key");
  EXPECT_EQ(Describe(row->cells()),
            "family:qualifier@2=value#label one#label two family:qualifier@1= family:r@1=x#label "
            "one g:r@1=y ");
  EXPECT_TRUE(row->is_last_piece());
}

TEST(RowTest, CopiesShareAndOutliveTheOriginal) {
  std::optional<Row> original(
      internal::Access::Make<RowView>("row", Cells(), /*is_last_piece=*/false).Own());
  const Row copy = *original;
  EXPECT_EQ(copy.cells().data(), original->cells().data());
  original.reset();
  EXPECT_EQ(copy.row_key(), "row");
  EXPECT_EQ(copy.cells().size(), Cells().size());
  EXPECT_EQ(copy.cell("b", "q")->value(), "3");
  EXPECT_EQ(copy.family("a").size(), 3u);
  EXPECT_FALSE(copy.is_last_piece());
}

TEST(RowTest, AMovedFromRowIsEmpty) {
  Row row = internal::Access::Make<RowView>("row", Cells()).Own();
  {
    const Row moved = std::move(row);
    EXPECT_EQ(moved.row_key(), "row");
  }
  EXPECT_EQ(row.row_key(), "");  // NOLINT(bugprone-use-after-move): tests a moved-from row
  EXPECT_TRUE(row.cells().empty());
  EXPECT_TRUE(Row().cells().empty());
}

TEST(CellViewTest, NumbersAreEightBytesBigEndian) {
  for (const int64_t number :
       {int64_t{0}, int64_t{1}, int64_t{-1}, std::numeric_limits<int64_t>::min(),
        std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(*Cell("f", "q", 0, EncodeInt64(number)).AsInt64(), number);
  }
  for (const std::string& value : {std::string(), std::string(7, 'x'), std::string(9, 'x')}) {
    EXPECT_EQ(Cell("f", "q", 0, value).AsInt64().status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(CellViewTest, SketchesSayAboutHowManyItemsTheyCounted) {
  EXPECT_EQ(Cell("f", "q", 0, "12345678").EstimateCardinality().status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Cell("f", "q", 0, "").EstimateCardinality().status().code(),
            absl::StatusCode::kInvalidArgument);
  std::string state;
  internal::AppendHllItem(&state, "item");
  EXPECT_NEAR(*Cell("f", "q", 0, state).EstimateCardinality(), 1, 1e-6);
}

}  // namespace
}  // namespace stele
