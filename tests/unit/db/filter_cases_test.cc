// Tests the filter table of docs/reference/semantics.md as text. Each case names its row. Every
// kind of read must return the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "support/base_text_cases.h"
#include "support/db_contract.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

// Returns the bytes quoted as in the text of a filter.
std::string Quoted(std::string_view bytes) {
  const std::string text = Filter::ValueRegex(std::string(bytes)).ToString();
  return text.substr(text.find('"'), text.rfind('"') - text.find('"') + 1);
}

std::string PrintCells(const RowView& row) {
  std::string text;
  for (const CellView& cell : row.cells()) {
    text += fmt::format("{} {}:{} @{} {}", row.row_key(), cell.family(), Quoted(cell.qualifier()),
                        cell.timestamp().micros(), Quoted(cell.value()));
    for (const std::string& label : cell.labels()) text += " #" + label;
    text += "\n";
  }
  return text;
}

// Rows E, F and G. F is the row of the table; the others have one cell each.
class FilterCases {
 public:
  explicit FilterCases(bool flushed) {
    Table& table = store_.MakeTable(Schema().AddFamily("f").AddFamily("g"));
    EXPECT_EQ(table.Apply(RowMutation("F")
                              .SetCell("f", "a", Ms(2), "y\nz")
                              .SetCell("f", "a", Ms(1), "x")
                              .SetCell("f", "b", Ms(1), "x")
                              .SetCell("f", "b\n", Ms(3), "")
                              .SetCell("g", "a", Ms(1), std::string_view("\0\xff", 2))
                              .SetCell("g", "c", Ms(5), "xx")),
              absl::OkStatus());
    for (const auto& [row_key, value] : {std::pair{"E", "\x0f"}, std::pair{"G", "\xff"}}) {
      EXPECT_EQ(table.Apply(RowMutation(row_key).SetCell("g", "bits", Ms(1), value)),
                absl::OkStatus());
    }
    if (flushed) {
      EXPECT_EQ(table.Flush(), absl::OkStatus());
    }
  }

  // "row FILTER" reads row F. "rows FILTER" reads all rows.
  std::string Run(const TextCase& text_case) {
    const auto filter = Filter::Parse(text_case.command_line.substr(text_case.command.size()));
    if (!filter.ok()) return filter.status().ToString() + "\n";
    const bool is_of_one = text_case.command == "row";
    const RowSet rows = is_of_one ? RowSet(RowRange::Closed("F", "F")) : RowSet::All();
    const std::string forward = Scan(rows, *filter, {});
    EXPECT_EQ(Scan(rows, *filter, {.row_piece_bytes = 1}), forward) << text_case.command_line;
    if (is_of_one) {
      EXPECT_EQ(Scan(rows, *filter, {.reverse = true}), forward) << text_case.command_line;
      ExpectPointReads(*filter, forward);
    }
    return forward.empty() ? "nothing\n" : forward;
  }

 private:
  std::string Scan(const RowSet& rows, const Filter& filter, const ReadOptions& options) {
    RowReader reader = store_.table().ReadRows(rows, filter, options);
    std::string text;
    while (reader.Next()) text += PrintCells(reader.row());
    return reader.status().ok() ? text : CodeName(reader.status()) + "\n";
  }

  void ExpectPointReads(const Filter& filter, const std::string& expected) {
    const auto row = store_.table().ReadRow("F", filter);
    const auto exists = store_.table().Exists("F", filter);
    const auto many = store_.table().ReadMany(std::vector<std::string>{"F", "none"}, filter);
    if (!row.ok()) {
      EXPECT_EQ(CodeName(row.status()) + "\n", expected);
      EXPECT_EQ(CodeName(exists.status()), CodeName(row.status()));
      EXPECT_EQ(CodeName(many.status()), CodeName(row.status()));
      return;
    }
    EXPECT_EQ(row->has_value() ? PrintCells((*row)->view()) : "", expected);
    ASSERT_TRUE(exists.ok() && many.ok());
    EXPECT_EQ(*exists, !expected.empty());
    EXPECT_EQ((*many)[0].has_value() ? PrintCells((*many)[0]->view()) : "", expected);
    EXPECT_FALSE((*many)[1].has_value());
  }

  ContractDatabase store_;
};

TEST(FilterCasesTest, InMemory) {
  FilterCases cases(false);
  RunTextCases("filter/semantics.txt",
               [&](const TextCase& text_case) { return cases.Run(text_case); });
}

TEST(FilterCasesTest, InAFile) {
  FilterCases cases(true);
  RunTextCases("filter/semantics.txt",
               [&](const TextCase& text_case) { return cases.Run(text_case); });
}

// A read samples a row once, whether the row is whole, in parts, or requested twice. Each read
// samples independently.
TEST(FilterCasesTest, ASampleIsOfWholeRows) {
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f"));
  std::vector<RowMutation> rows;
  for (int i = 0; i < 1000; ++i) {
    rows.push_back(std::move(RowMutation(fmt::format("row{:04}", i))
                                 .SetCell("f", "a", Ms(1), "1")
                                 .SetCell("f", "b", Ms(1), "2")));
  }
  ASSERT_TRUE(table.BulkApply(rows).empty());
  std::vector<std::string> answers;
  for (const uint64_t piece_bytes : {1, 1 << 20}) {
    RowReader reader =
        table.ReadRows(RowSet::All(), Filter::RowSample(0.5), {.row_piece_bytes = piece_bytes});
    std::string keys;
    size_t cells = 0;
    while (reader.Next()) {
      cells += reader.row().cells().size();
      if (reader.row().is_last_piece()) keys += std::string(reader.row().row_key()) + " ";
    }
    ASSERT_EQ(reader.status(), absl::OkStatus());
    const size_t kept = keys.size() / 8;
    EXPECT_GT(kept, 400u);
    EXPECT_LT(kept, 600u);
    EXPECT_EQ(cells, 2 * kept);
    answers.push_back(keys);
  }
  EXPECT_NE(answers[0], answers[1]);
  const auto many = table.ReadMany(std::vector<std::string>(64, "row0500"), Filter::RowSample(0.5));
  ASSERT_TRUE(many.ok());
  for (const auto& row : *many) EXPECT_EQ(row.has_value(), many->front().has_value());
}

}  // namespace
}  // namespace stele::internal
