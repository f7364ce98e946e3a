// Tests CheckAndMutateRow and ReadModifyWriteRow through the public API. "Row N" is a row of the
// edge-case table of docs/reference/semantics.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/db_contract.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

// Of the manual clock; cut to a whole millisecond in these tables.
constexpr int64_t kNowMicros = 1'000'000'000'500;

class ConditionalTest : public ::testing::Test {
 protected:
  ConditionalTest() : table_(store_.MakeTable(Schema().AddFamily("f").AddFamily("g"))) {
    store_.clock().Set(Timestamp::FromMicros(kNowMicros));
  }
  RowMutation Set(const std::string& value = "new") {
    return RowMutation().SetCell("f", "set", Ms(1), value);
  }
  std::string Check(const Filter& predicate, const RowMutation& if_matched,
                    const RowMutation& if_not_matched) {
    const absl::StatusOr<MutationBranch> branch =
        table_.CheckAndMutateRow("r", predicate, if_matched, if_not_matched);
    if (!branch.ok()) return CodeName(branch.status());
    return *branch == MutationBranch::kPredicateMatched ? "matched" : "not matched";
  }
  std::string Modify(std::vector<ReadModifyWriteRule> rules) {
    const absl::StatusOr<Row> row = table_.ReadModifyWriteRow("r", rules);
    return row.ok() ? Show(*row) : CodeName(row.status());
  }
  static std::string Show(const Row& row) {
    std::string text(row.row_key());
    for (const CellView& cell : row.cells()) {
      text += fmt::format(" {}:{}@{}={}", cell.family(), cell.qualifier(),
                          cell.timestamp().micros(), Escaped(cell.value()));
    }
    return text;
  }
  static std::string Escaped(std::string_view value) {
    const CellView cell({}, {}, {}, value);
    const absl::StatusOr<int64_t> number = cell.AsInt64();
    return number.ok() ? fmt::format("#{}", *number) : std::string(value);
  }
  void Put(std::string_view qualifier, int64_t millis, std::string value) {
    ASSERT_TRUE(table_
                    .Apply(RowMutation("r").SetCell("f", std::string(qualifier), Ms(millis),
                                                    std::move(value)))
                    .ok());
  }

  ContractDatabase store_;
  Table& table_;
};

// Rows 37, 38 and 41.
TEST_F(ConditionalTest, WhetherThePredicateGivesACellDecides) {
  EXPECT_EQ(Check({}, Set("a"), Set("b")), "not matched");
  EXPECT_EQ(ShowAll(table_), "r f:set@1000=b");
  EXPECT_EQ(Check({}, Set("a"), RowMutation()), "matched");
  EXPECT_EQ(ShowAll(table_), "r f:set@1000=a");
  EXPECT_EQ(Check(Filter::Column("f", "none"), RowMutation("r").DeleteFromRow(), RowMutation()),
            "not matched");
  EXPECT_EQ(ShowAll(table_), "r f:set@1000=a");
  EXPECT_EQ(Check({}, RowMutation(), Set("b")), "matched");
  EXPECT_EQ(ShowAll(table_), "r f:set@1000=a");
  EXPECT_EQ(Check({}, RowMutation("r").DeleteFromRow(), Set()), "matched");
  EXPECT_EQ(Check({}, RowMutation("r").DeleteFromRow(), Set("c")), "not matched");
  EXPECT_EQ(ShowAll(table_), "r f:set@1000=c");
}

// Rows 14, 39, 42 and 43.
TEST_F(ConditionalTest, WhatIsWrongChangesNothing) {
  Put("q", 1, "v");
  const std::string before = ShowAll(table_);
  EXPECT_EQ(CodeName(table_.CheckAndMutateRow("", {}, Set(), Set()).status()), "InvalidArgument");
  EXPECT_EQ(Check({}, RowMutation(), RowMutation("r")), "InvalidArgument");
  EXPECT_EQ(Check({}, RowMutation("other").DeleteFromRow(), RowMutation()), "InvalidArgument");
  EXPECT_EQ(Check(Filter::Latest(0), Set(), RowMutation()), "InvalidArgument");
  EXPECT_EQ(Check(Filter::RowKeyRegex("("), Set(), Set()), "InvalidArgument");
  // Both branches must be well-formed. Only the branch that is applied is checked against the
  // families.
  EXPECT_EQ(Check({}, Set(), RowMutation().SetCell("f", "q", Timestamp::FromMicros(1), "v")),
            "InvalidArgument");
  EXPECT_EQ(Check({}, RowMutation().SetCell("none", "q", Ms(1), "v"), Set()), "NotFound");
  EXPECT_EQ(ShowAll(table_), before);
  EXPECT_EQ(Check({}, Set(), RowMutation().SetCell("none", "q", Ms(1), "v")), "matched");
}

TEST_F(ConditionalTest, ThePredicateSeesWhatAReadSees) {
  ASSERT_TRUE(table_
                  .ModifyColumnFamilies(
                      {FamilyChange::Update("f", GcRule::MaxAge(std::chrono::seconds(10)))})
                  .ok());
  Put("old", 999'980'000, "v");  // twenty seconds old
  EXPECT_EQ(Check({}, Set(), Set("dead")), "not matched");
  EXPECT_EQ(Modify({ReadModifyWriteRule::AppendValue("f", "old", "x")}), "r f:old@1000000000000=x");
}

TEST_F(ConditionalTest, AMutationOfABranchIsAppliedAsAWhole) {
  Put("q", 1, "1");
  Put("q", 2, "2");
  EXPECT_EQ(Check(Filter::Column("f", "q"),
                  RowMutation()
                      .DeleteFromColumn("f", "q", TimestampRange{Ms(2), Ms(3)})
                      .SetCell("f", "q", "stamped")
                      .SetCell("g", "", Ms(4), ""),
                  RowMutation()),
            "matched");
  EXPECT_EQ(ShowAll(table_), "r f:q@1000000000000=stamped, f:q@1000=1, g:@4000=");
}

// Rows 45, 46, 49 and 54.
TEST_F(ConditionalTest, RulesRunInOrderAndSeeEachOther) {
  EXPECT_EQ(Modify({ReadModifyWriteRule::IncrementAmount("f", "n", 0)}), "r f:n@1000000000000=#0");
  EXPECT_EQ(Modify({ReadModifyWriteRule::AppendValue("g", "log", "y"),
                    ReadModifyWriteRule::IncrementAmount("f", "n", 5),
                    ReadModifyWriteRule::AppendValue("g", "log", "z"),
                    ReadModifyWriteRule::IncrementAmount("f", "n", -7)}),
            "r f:n@1000000000000=#-2 g:log@1000000000000=yz");
  Put("wrap", 1, EncodeInt64(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(Modify({ReadModifyWriteRule::IncrementAmount("f", "wrap", 1)}),
            fmt::format("r f:wrap@1000000000000=#{}", std::numeric_limits<int64_t>::min()));
}

// Rows 47, 53 and 121.
TEST_F(ConditionalTest, AFailingRuleUndoesAll) {
  Put("three", 1, "abc");
  Put("empty", 1, "");
  const std::string before = ShowAll(table_);
  const ReadModifyWriteRule good = ReadModifyWriteRule::AppendValue("f", "good", "v");
  EXPECT_EQ(Modify({good, ReadModifyWriteRule::IncrementAmount("f", "three", 1)}),
            "FailedPrecondition");
  EXPECT_EQ(Modify({good, ReadModifyWriteRule::IncrementAmount("f", "empty", 1)}),
            "FailedPrecondition");
  EXPECT_EQ(Modify({ReadModifyWriteRule::AppendValue("f", "new", ""),
                    ReadModifyWriteRule::IncrementAmount("f", "new", 1)}),
            "FailedPrecondition");
  EXPECT_EQ(Modify({good, ReadModifyWriteRule::AppendValue("none", "q", "v")}), "NotFound");
  EXPECT_EQ(Modify({good, ReadModifyWriteRule::AppendValue("f", std::string(20'000, 'q'), "v")}),
            "InvalidArgument");
  EXPECT_EQ(Modify({}), "InvalidArgument");
  EXPECT_EQ(CodeName(table_.ReadModifyWriteRow("", {good}).status()), "InvalidArgument");
  EXPECT_EQ(ShowAll(table_), before);
}

TEST_F(ConditionalTest, LimitsOfTheTableHold) {
  Table small =
      store_.database()
          .CreateTable("small",
                       Schema().AddFamily("f").SetLimits({.value_bytes = 5, .mutations = 2}))
          .value_or(Table());
  const ReadModifyWriteRule append = ReadModifyWriteRule::AppendValue("f", "q", "abc");
  EXPECT_TRUE(small.ReadModifyWriteRow("r", {append}).ok());
  EXPECT_EQ(CodeName(small.ReadModifyWriteRow("r", {append}).status()), "InvalidArgument");
  const ReadModifyWriteRule nothing = ReadModifyWriteRule::AppendValue("f", "q", "");
  EXPECT_TRUE(small.ReadModifyWriteRow("r", {nothing, nothing}).ok());
  EXPECT_EQ(CodeName(small.ReadModifyWriteRow("r", {nothing, nothing, nothing}).status()),
            "InvalidArgument");
  EXPECT_EQ(ShowAll(small), "r f:q@1000000000000=abc");
}

// Rows 50 and 51.
TEST_F(ConditionalTest, TheNewCellIsNotOlderThanTheOneItReplaces) {
  Put("q", 1, "a");
  EXPECT_EQ(Modify({ReadModifyWriteRule::AppendValue("f", "q", "b")}), "r f:q@1000000000000=ab");
  EXPECT_EQ(ShowAll(table_), "r f:q@1000000000000=ab, f:q@1000=a");
  // Within the same millisecond.
  EXPECT_EQ(Modify({ReadModifyWriteRule::AppendValue("f", "q", "c")}), "r f:q@1000000000000=abc");
  Put("q", 1'000'070'000, "x");
  EXPECT_EQ(Modify({ReadModifyWriteRule::AppendValue("f", "q", "y")}), "r f:q@1000070000000=xy");
  EXPECT_EQ(ShowAll(table_), "r f:q@1000070000000=xy, f:q@1000000000000=abc, f:q@1000=a");
}

TEST_F(ConditionalTest, TheyCountAsWrites) {
  const uint64_t writes = table_.Stats()->writes;
  EXPECT_EQ(Check({}, RowMutation(), Set()), "not matched");
  EXPECT_EQ(Check({}, RowMutation(), Set()), "matched");  // changes nothing
  EXPECT_EQ(Modify({ReadModifyWriteRule::AppendValue("f", "q", "b")}), "r f:q@1000000000000=b");
  EXPECT_EQ(table_.Stats()->writes, writes + 2);
}

}  // namespace
}  // namespace stele::internal
