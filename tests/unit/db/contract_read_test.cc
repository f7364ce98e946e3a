// Tests the results of reads: rows 55 to 66 and 95 to 111 of docs/reference/semantics.md, and the
// read options.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/status.h"
#include "support/db_contract.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

// Returns the keys read, or the error.
std::string KeysOf(RowReader reader) {
  std::string keys;
  for (const RowView& row : reader)
    keys += fmt::format("{}{}", keys.empty() ? "" : ",", row.row_key());
  return reader.status().ok() ? keys : CodeName(reader.status());
}

// Rows a to e, in memory, files or tablets, depending on the parameter.
class ContractRowSetTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    Schema schema = Schema().AddFamily("f");
    if (GetParam() == 2) schema.AddSplit("b").AddSplit("cc").AddSplit("d");
    Table& table = store_.MakeTable(schema);
    for (const char* row_key : {"a", "b", "c", "d", "e"}) {
      ASSERT_TRUE(table
                      .Apply(RowMutation(row_key)
                                 .SetCell("f", "q", Ms(2), "new")
                                 .SetCell("f", "q", Ms(1), "old"))
                      .ok());
      if (GetParam() >= 1 && *row_key == 'c') {
        ASSERT_TRUE(table.Flush().ok());
      }
    }
  }
  std::string Read(const RowSet& rows, const ReadOptions& options = {}) {
    return KeysOf(store_.table().ReadRows(rows, {}, options));
  }
  ContractDatabase store_;
};
INSTANTIATE_TEST_SUITE_P(Layouts, ContractRowSetTest, testing::Values(0, 1, 2));

TEST_P(ContractRowSetTest, RowSetsAreUnions) {
  EXPECT_EQ(KeysOf(store_.table().ReadRows()), "a,b,c,d,e");  // row 55
  EXPECT_EQ(Read(RowSet::All()), "a,b,c,d,e");
  EXPECT_EQ(Read(RowRange::All()), "a,b,c,d,e");
  EXPECT_EQ(Read(RowSet()), "");
  EXPECT_EQ(Read(RowSet()
                     .Append("e")
                     .Append("b")
                     .Append(RowRange::Closed("a", "c"))
                     .Append(RowRange::RightOpen("b", "d"))),
            "a,b,c,e");  // row 57
  EXPECT_EQ(Read(RowSet().Append("e").Append("b").Append("e").Append("zz").Append("a"),
                 {.reverse = true}),
            "e,b,a");
  EXPECT_EQ(Read(RowRange::Open("b", "d")), "c");  // row 58
  EXPECT_EQ(Read(RowRange::Closed("b", "d")), "b,c,d");
  EXPECT_EQ(Read(RowRange::Closed("b", "b")), "b");
  EXPECT_EQ(Read(RowRange::LeftOpen("b", "d")), "c,d");
  EXPECT_EQ(Read(RowRange::RightOpen("b", "d")), "b,c");
  EXPECT_EQ(Read(RowRange::EndingAt("b")), "a,b");
  EXPECT_EQ(Read(RowRange::Empty()), "");
  EXPECT_EQ(Read(RowRange::RightOpen("b", "b")), "");
  EXPECT_EQ(Read(RowRange::LeftOpen("b", "b")), "");
  EXPECT_EQ(Read(RowRange::Open("b", "b")), "");
  EXPECT_EQ(Read(RowRange::RightOpen("d", "b")), "InvalidArgument");  // row 59
  EXPECT_EQ(Read(RowSet().Append("a").Append(RowRange::Closed("d", "b"))), "InvalidArgument");
  EXPECT_EQ(Read(RowSet().Append("a").Append("")), "InvalidArgument");  // section 1.4
  EXPECT_EQ(Read(RowRange::Open("", "c")), "a,b");                      // row 61
  EXPECT_EQ(Read(RowRange::RightOpen("c", "")), "c,d,e");               // row 62
  EXPECT_EQ(Read(RowRange::Closed("c", "")), "c,d,e");
  EXPECT_EQ(Read(RowRange::Prefix("")), "a,b,c,d,e");
  EXPECT_EQ(Read(RowRange::Prefix("c")), "c");
  EXPECT_EQ(Read(RowRange::Prefix("\xff")), "");
}

TEST_P(ContractRowSetTest, LimitAndReverse) {  // rows 63, 65
  EXPECT_EQ(Read(RowSet::All(), {.limit = 2}), "a,b");
  EXPECT_EQ(Read(RowSet::All(), {.limit = 2, .reverse = true}), "e,d");
  EXPECT_EQ(Read(RowRange::Closed("b", "d"), {.limit = 9, .reverse = true}), "d,c,b");
  EXPECT_EQ(Read(RowRange::EndingAt("c"), {.limit = 1, .reverse = true}), "c");
  EXPECT_EQ(Read(RowRange::Open("b", "e"), {.reverse = true}), "d,c");
  EXPECT_EQ(Read(RowSet::All(), {.limit = -1}), "InvalidArgument");
  EXPECT_EQ(Show(store_.table().ReadRows(RowSet::All(), {}, {.limit = 1, .reverse = true})),
            "e f:q@2000=new, f:q@1000=old");
  // Rows without a result do not count toward the limit.
  ASSERT_TRUE(store_.table().Apply(RowMutation("b").DeleteFromRow()).ok());
  ASSERT_TRUE(store_.table().Apply(RowMutation("c").SetCell("f", "special", Ms(1), "v")).ok());
  ASSERT_TRUE(store_.table().Apply(RowMutation("e").SetCell("f", "special", Ms(1), "v")).ok());
  EXPECT_EQ(Read(RowSet::All(), {.limit = 2}), "a,c");
  EXPECT_EQ(
      KeysOf(store_.table().ReadRows(RowSet::All(), Filter::Column("f", "special"), {.limit = 2})),
      "c,e");
}

TEST_P(ContractRowSetTest, PointReads) {
  const Table& table = store_.table();
  EXPECT_EQ(Show(*table.ReadRow("c")), "c f:q@2000=new, f:q@1000=old");
  EXPECT_EQ(Show(*table.ReadRow("c", Filter::Latest(1), {.limit = 7, .reverse = true})),
            "c f:q@2000=new");
  EXPECT_EQ(Show(*table.ReadRow("cc")), "none");
  EXPECT_EQ(Show(*table.ReadRow("c", Filter::Family("g"))), "none");
  EXPECT_EQ(CodeName(table.ReadRow("").status()), "InvalidArgument");
  EXPECT_TRUE(*table.Exists("c"));
  EXPECT_FALSE(*table.Exists("cc"));
  EXPECT_FALSE(*table.Exists("c", Filter::Column("f", "r")));
  EXPECT_EQ(CodeName(table.Exists("").status()), "InvalidArgument");
}

TEST_P(ContractRowSetTest, ReadManyAnswersInTheOrderAskedAndTwiceWhatIsAskedTwice) {
  const std::vector<std::string> row_keys = {"d", "zz", "a", "d"};
  const absl::StatusOr<std::vector<std::optional<Row>>> rows =
      store_.table().ReadMany(row_keys, Filter::Latest(1));
  ASSERT_TRUE(rows.ok()) << rows.status();
  std::string text;
  for (const std::optional<Row>& row : *rows) text += Show(row) + "; ";
  EXPECT_EQ(text, "d f:q@2000=new; none; a f:q@2000=new; d f:q@2000=new; ");
  const std::array<std::string_view, 2> with_empty = {"a", ""};
  EXPECT_EQ(CodeName(store_.table().ReadMany(with_empty).status()), "InvalidArgument");
  const std::vector<std::string_view> none;
  EXPECT_TRUE(store_.table().ReadMany(none)->empty());
  // Invalid arguments are an error even if no row is requested.
  EXPECT_EQ(CodeName(store_.table().ReadMany(none, Filter::Latest(0)).status()), "InvalidArgument");
  ASSERT_TRUE(store_.database().DeleteTable("t").ok());
  EXPECT_EQ(CodeName(store_.table().ReadMany(none).status()), "NotFound");
}

TEST_P(ContractRowSetTest, StatsCountWhatWasSeenAndReturned) {  // row 66
  RowReader reader =
      store_.table().ReadRows(RowRange::Closed("a", "d"), Filter::TimestampRange({.start = Ms(2)}));
  while (reader.Next()) {
  }
  const ReadStats stats = reader.stats();
  EXPECT_EQ(stats.rows_seen, 4u);
  EXPECT_EQ(stats.rows_returned, 4u);
  EXPECT_EQ(stats.cells_seen, 8u);
  EXPECT_EQ(stats.cells_returned, 4u);
  RowReader barren = store_.table().ReadRows(
      RowSet::All(),
      Filter::Chain(Filter::CellsRowLimit(9), Filter::TimestampRange({.start = Ms(9)})));
  EXPECT_FALSE(barren.Next());
  EXPECT_EQ(barren.stats().rows_seen, 5u);
  EXPECT_EQ(barren.stats().rows_returned, 0u);
}

TEST_P(ContractRowSetTest, ReadsStopWhenAsked) {
  std::stop_source source;
  RowReader reader = store_.table().ReadRows(RowSet::All(), {}, {.stop = source.get_token()});
  ASSERT_TRUE(reader.Next());
  source.request_stop();
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(CodeName(reader.status()), "Cancelled");
  EXPECT_EQ(CodeName(store_.table().ReadRow("a", {}, {.stop = source.get_token()}).status()),
            "Cancelled");
  EXPECT_EQ(CodeName(store_.table().Exists("a", {}, {.stop = source.get_token()}).status()),
            "Cancelled");
  const ReadOptions late{.deadline = std::chrono::steady_clock::time_point::min()};
  EXPECT_EQ(Read(RowSet::All(), late), "DeadlineExceeded");
  EXPECT_EQ(CodeName(store_.table().ReadRow("a", {}, late).status()), "DeadlineExceeded");
  const std::array<std::string_view, 1> row_keys = {"a"};
  EXPECT_EQ(CodeName(store_.table().ReadMany(row_keys, {}, late).status()), "DeadlineExceeded");
  EXPECT_EQ(CodeName(store_.table().Compact(RowRange::All(), {.stop = source.get_token()})),
            "Cancelled");
}

TEST_P(ContractRowSetTest, ALargeRowComesInPieces) {
  Table& table = store_.table();
  for (const bool flushed : {false, true}) {
    if (flushed) {
      ASSERT_TRUE(table.Flush().ok());
    }
    EXPECT_EQ(Show(table.ReadRows(RowRange::Closed("a", "b"), {}, {.row_piece_bytes = 1})),
              "a f:q@2000=new +a f:q@1000=old; b f:q@2000=new +b f:q@1000=old");
    RowReader reader =
        table.ReadRows(RowSet::All(), {}, {.limit = 2, .reverse = true, .row_piece_bytes = 1});
    std::string keys;
    while (reader.Next()) keys += reader.row().row_key();
    EXPECT_EQ(keys, "eedd");
    EXPECT_EQ(reader.stats().rows_returned, 2u);
  }
  EXPECT_EQ(Read(RowSet::All(), {.row_piece_bytes = 0}), "InvalidArgument");
}

// The row of the filter table in docs/reference/semantics.md, in memory and on disk.
class ContractFilterTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    Table& table = store_.MakeTable(Schema().AddFamily("f").AddFamily("g"));
    ASSERT_TRUE(table
                    .Apply(RowMutation("F")
                               .SetCell("f", "a", Ms(2), "y\nz")
                               .SetCell("f", "a", Ms(1), "x")
                               .SetCell("f", "b", Ms(1), "x")
                               .SetCell("f", "b\n", Ms(3), "")
                               .SetCell("g", "a", Ms(1), std::string_view("\0\xff", 2))
                               .SetCell("g", "c", Ms(5), "xx"))
                    .ok());
    if (GetParam()) {
      ASSERT_TRUE(table.Flush().ok());
    }
  }
  // Returns the columns and milliseconds that pass. Checks that every kind of read returns the
  // same.
  std::string Pass(const Filter& filter) {
    RowReader reader = store_.table().ReadRows(RowSet::All(), filter);
    std::string text;
    for (const RowView& row : reader) {
      for (const CellView& cell : row.cells()) {
        text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", cell.family(),
                            Printable(cell.qualifier()), cell.timestamp().micros() / 1000);
      }
    }
    if (!reader.status().ok()) text = CodeName(reader.status());
    const absl::StatusOr<bool> exists = store_.table().Exists("F", filter);
    const absl::StatusOr<std::optional<Row>> row = store_.table().ReadRow("F", filter);
    EXPECT_EQ(CodeName(exists.status()), CodeName(reader.status()));
    EXPECT_EQ(CodeName(row.status()), CodeName(reader.status()));
    if (exists.ok() && row.ok()) {
      EXPECT_EQ(*exists, !text.empty());
      EXPECT_EQ(row->has_value(), !text.empty());
    }
    return text;
  }
  ContractDatabase store_;
};
INSTANTIATE_TEST_SUITE_P(MemoryAndDisk, ContractFilterTest, testing::Bool());

TEST_P(ContractFilterTest, FiltersByNameAndPlacePassWhatTheSemanticsSay) {
  const std::string all = "fa2 fa1 fb1 fb\\x0a3 ga1 gc5";
  EXPECT_EQ(Pass({}), all);  // row 75
  EXPECT_EQ(Pass(Filter::PassAll()), all);
  EXPECT_EQ(Pass(Filter::Family("f")), "fa2 fa1 fb1 fb\\x0a3");
  EXPECT_EQ(Pass(Filter::Family("nope")), "");
  EXPECT_EQ(Pass(Filter::Family("f.*")), "");  // a name, not a regex
  EXPECT_EQ(Pass(Filter::Column("f", "b")), "fb1");
  EXPECT_EQ(Pass(Filter::Column("g", "b")), "");
  // Row 97: bounds are literal.
  EXPECT_EQ(Pass(Filter::ColumnRange("f", ByteRange::RightOpen("", ""))), "");
  EXPECT_EQ(Pass(Filter::ColumnRange("f", ByteRange::Closed("", ""))), "");
  EXPECT_EQ(Pass(Filter::ColumnRange("f", ByteRange::All())), "fa2 fa1 fb1 fb\\x0a3");
  EXPECT_EQ(Pass(Filter::ColumnRange("f", ByteRange::LeftOpen("a", "b"))), "fb1");
  EXPECT_EQ(Pass(Filter::ColumnRange("f", ByteRange::Open("a", "c"))), "fb1 fb\\x0a3");
  EXPECT_EQ(Pass(Filter::ColumnRange("f", ByteRange::EndingAt("a"))), "fa2 fa1");
  EXPECT_EQ(Pass(Filter::ColumnRange("f", ByteRange::StartingAt("b"))), "fb1 fb\\x0a3");
  EXPECT_EQ(Pass(Filter::ColumnRange("f", ByteRange::RightOpen("a", "a"))), "");
  EXPECT_EQ(Pass(Filter::ColumnRange("nope", ByteRange::All())), "");
  EXPECT_EQ(Pass(Filter::ColumnRange("f", ByteRange::Closed("b", "a"))), "InvalidArgument");
  EXPECT_EQ(Pass(Filter::Latest(1)), "fa2 fb1 fb\\x0a3 ga1 gc5");
  EXPECT_EQ(Pass(Filter::CellsRowLimit(3)), "fa2 fa1 fb1");
  EXPECT_EQ(Pass(Filter::CellsRowLimit(100)), all);
}

TEST_P(ContractFilterTest, TimestampRanges) {  // rows 98, 99; an explicit end is literal
  EXPECT_EQ(Pass(Filter::TimestampRange({.start = Ms(1), .end = Ms(2)})), "fa1 fb1 ga1");
  EXPECT_EQ(Pass(Filter::TimestampRange({.start = Ms(2)})), "fa2 fb\\x0a3 gc5");
  EXPECT_EQ(Pass(Filter::TimestampRange({})), "fa2 fa1 fb1 fb\\x0a3 ga1 gc5");
  EXPECT_EQ(Pass(Filter::TimestampRange({.start = {}, .end = Timestamp()})), "");
  EXPECT_EQ(Pass(Filter::TimestampRange({.start = Ms(2), .end = Ms(2)})), "");
  EXPECT_EQ(Pass(Filter::TimestampRange({.start = Ms(3), .end = Ms(2)})), "InvalidArgument");
  EXPECT_EQ(Pass(Filter::TimestampRange(
                {.start = Timestamp::FromMicros(1001), .end = Timestamp::FromMicros(1002)})),
            "InvalidArgument");
  EXPECT_EQ(Pass(Filter::TimestampRange({.start = Timestamp::FromMicros(-1000)})),
            "InvalidArgument");
}

TEST_P(ContractFilterTest, ChainsWorkInTheirOrder) {
  const Filter old = Filter::TimestampRange({.start = {}, .end = Ms(2)});
  EXPECT_EQ(Pass(Filter::Chain(Filter::Latest(1), old)), "fb1 ga1");
  EXPECT_EQ(Pass(Filter::Chain(old, Filter::Latest(1))), "fa1 fb1 ga1");
  EXPECT_EQ(Pass(Filter::Chain(Filter::CellsRowLimit(1), Filter::Family("g"))), "");
  EXPECT_EQ(Pass(Filter::Chain(Filter::Family("g"), Filter::CellsRowLimit(1))), "ga1");
  EXPECT_EQ(Pass(Filter::Chain(Filter::Family("f"), Filter::Family("g"))), "");
  EXPECT_EQ(
      Pass(Filter::Chain(Filter::CellsRowLimit(4), Filter::Latest(1), Filter::CellsRowLimit(2))),
      "fa2 fb1");
  EXPECT_EQ(Pass(Filter::Chain(Filter::Latest(2), Filter::Latest(1), Filter::PassAll())),
            "fa2 fb1 fb\\x0a3 ga1 gc5");
}

TEST_P(ContractFilterTest, WrongFiltersAreRefusedAlsoWhereNoRowIsRead) {
  Filter deep = Filter::Latest(1);
  for (int i = 0; i < 20; ++i) deep = Filter::Chain(deep, Filter::PassAll());
  EXPECT_EQ(Pass(deep), "fa2 fb1 fb\\x0a3 ga1 gc5");
  const std::vector<Filter> wrong = {
      Filter::Latest(0), Filter::CellsRowLimit(0), Filter::CellsRowLimit(-1),
      Filter::CellsRowOffset(-1),  // row 102
      Filter::RowSample(0.0),      // row 103
      Filter::RowSample(1.0), Filter::RowSample(-0.5), Filter::RowSample(1.5),
      Filter::Label("ABC"),  // row 82
      Filter::Label("0123456789abcdef"),
      Filter::FamilyRegex("(?:f)"),  // row 87
      Filter::RowKeyRegex(""),       // row 86
      Filter::ValueRegex("(x)\\1"),  // row 93
      Filter::ValueRegex("x{1001}"),
      // Row 83.
      Filter::Chain(Filter::Label("a"), Filter::Label("b")),
      // Row 106.
      Filter::Condition(Filter::Sink(), Filter::PassAll()), Filter::Chain(std::vector<Filter>{}),
      Filter::Chain(std::vector<Filter>{Filter::PassAll()}), Filter::ValueBitmask(""),
      Filter::Column("f", std::string(21'000, 'q')),  // row 109
      Filter::Chain(deep, Filter::PassAll())};
  for (const Filter& filter : wrong) {
    EXPECT_EQ(Pass(filter), "InvalidArgument") << filter.ToString().substr(0, 100);
    EXPECT_EQ(KeysOf(store_.table().ReadRows(RowSet(), filter)), "InvalidArgument")
        << filter.ToString().substr(0, 100);
  }
}

}  // namespace
}  // namespace stele::internal
