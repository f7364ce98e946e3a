// Tests the public contract of aggregate families: docs/guide/data-model.md, and rows 113 to 123 of
// docs/reference/semantics.md.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/cell_naive_fold.h"
#include "support/db_contract.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

// Families least, most, plain, sketch and sum.
Schema AggregateSchema(const GcRule& rule = GcRule::None()) {
  return Schema()
      .AddFamily({.name = "sum", .gc = rule, .value_type = ValueType::kInt64Sum})
      .AddFamily({.name = "least", .gc = rule, .value_type = ValueType::kInt64Min})
      .AddFamily({.name = "most", .gc = rule, .value_type = ValueType::kInt64Max})
      .AddFamily({.name = "sketch", .gc = rule, .value_type = ValueType::kHll})
      .AddFamily("plain");
}

// Prints "family:qualifier@millis=number" for each cell. The number of a sketch is its estimate.
std::string Numbers(const Table& table, const ReadOptions& options = {}) {
  std::string text;
  RowReader reader = table.ReadRows(RowSet::All(), {}, options);
  while (reader.Next()) {
    for (const CellView& cell : reader.row().cells()) {
      const bool is_sketch = cell.family() == "sketch";
      const int64_t number =
          is_sketch ? static_cast<int64_t>(*cell.EstimateCardinality() + 0.5) : *cell.AsInt64();
      text += (text.empty() ? "" : " ") + std::string(cell.family()) + ":" +
              std::string(cell.qualifier()) + "@" +
              std::to_string(cell.timestamp().micros() / 1000) + "=" + std::to_string(number);
    }
  }
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  return text;
}

RowMutation Change() { return RowMutation("r"); }

TEST(ContractAggregateTest, AdditionsFold) {
  ContractDatabase store;
  Table& table = store.MakeTable(AggregateSchema());
  for (const int64_t number : {5, 3, 9}) {  // rows 113 and 114
    ASSERT_TRUE(table
                    .Apply(Change()
                               .AddToCell("sum", "q", Ms(1), number)
                               .AddToCell("least", "q", Ms(1), number)
                               .AddToCell("most", "q", Ms(1), number))
                    .ok());
    ASSERT_TRUE(
        table.Apply(Change().AddToCell("sketch", "q", Ms(1), "item " + std::to_string(number % 2)))
            .ok());
  }
  EXPECT_EQ(Numbers(table), "least:q@1=3 most:q@1=9 sketch:q@1=1 sum:q@1=17");
  ASSERT_TRUE(table.Apply(Change().AddToCell("sum", "q", Ms(2), -1)).ok());  // row 115
  EXPECT_EQ(Numbers(table), "least:q@1=3 most:q@1=9 sketch:q@1=1 sum:q@2=-1 sum:q@1=17");
  const std::optional<Row> row = *table.ReadRow("r");
  EXPECT_EQ(row->cell("sum", "q")->value(), NaiveNumber(-1));
  EXPECT_EQ(row->cell("sketch", "q")->value(), NaiveSketch({"item 1"}));
}

TEST(ContractAggregateTest, FoldingGoesOnOverFilesAndReopening) {
  ContractDatabase store;
  store.MakeTable(AggregateSchema());
  for (int round = 0; round < 4; ++round) {
    RowMutation mutation = Change();
    for (int i = 0; i < 100; ++i) {
      mutation.AddToCell("sum", "q", Ms(1), 1)
          .AddToCell("least", "q", Ms(1), -round)
          .AddToCell("most", "q", Ms(1), round);
      mutation.AddToCell("sketch", "q", Ms(1), "item " + std::to_string(round * 50 + i));
    }
    ASSERT_TRUE(store.table().Apply(mutation).ok());
    if (round == 0) {
      ASSERT_TRUE(store.table().Flush().ok());
    }
    if (round == 1) store.Reopen();
    if (round == 2) {
      ASSERT_TRUE(store.table().Compact().ok());
    }
  }
  const std::string expected = "least:q@1=-3 most:q@1=3 sketch:q@1=250 sum:q@1=400";
  EXPECT_EQ(Numbers(store.table()), expected);
  store.Reopen();
  EXPECT_EQ(Numbers(store.table()), expected);
  ASSERT_TRUE(store.table().Compact().ok());
  EXPECT_EQ(Numbers(store.table()), expected);
  EXPECT_EQ(Numbers(store.table(), {.reverse = true}), expected);
  EXPECT_TRUE(store.database().Verify()->ok());
}

TEST(ContractAggregateTest, StatesFoldIntoOthers) {
  ContractDatabase store;
  Table& table = store.MakeTable(AggregateSchema());
  ASSERT_TRUE(table
                  .Apply(Change()
                             .AddToCell("sketch", "q", Ms(1), "a")
                             .MergeToCell("sketch", "q", Ms(1), NaiveSketch({"a", "b", "c"})))
                  .ok());
  ASSERT_TRUE(table
                  .Apply(Change()
                             .MergeToCell("sum", "q", Ms(1), EncodeInt64(4))
                             .MergeToCell("sum", "q", Ms(1), EncodeInt64(5)))
                  .ok());
  ASSERT_TRUE(table
                  .Apply(Change()
                             .MergeToCell("least", "q", Ms(1), EncodeInt64(-4))
                             .AddToCell("least", "q", Ms(1), 0))
                  .ok());
  EXPECT_EQ(Numbers(table), "least:q@1=-4 sketch:q@1=3 sum:q@1=9");
  // A state that a read returned may be folded into another cell.
  const std::string state((*table.ReadRow("r"))->cell("sketch", "q")->value());
  ASSERT_TRUE(table
                  .Apply(Change()
                             .MergeToCell("sketch", "other", Ms(1), state)
                             .AddToCell("sketch", "other", Ms(1), "d"))
                  .ok());
  EXPECT_EQ(Numbers(table), "least:q@1=-4 sketch:other@1=4 sketch:q@1=3 sum:q@1=9");
}

TEST(ContractAggregateTest, SumsWrapAround) {
  ContractDatabase store;
  Table& table = store.MakeTable(AggregateSchema());
  ASSERT_TRUE(
      table.Apply(Change().AddToCell("sum", "q", Ms(1), std::numeric_limits<int64_t>::max())).ok());
  ASSERT_TRUE(table.Flush().ok());
  ASSERT_TRUE(table.Apply(Change().AddToCell("sum", "q", Ms(1), 1)).ok());
  EXPECT_EQ(Numbers(table), "sum:q@1=" + std::to_string(std::numeric_limits<int64_t>::min()));
}

TEST(ContractAggregateTest, DeletesCutTheChain) {
  for (const bool flushes : {false, true}) {
    SCOPED_TRACE(flushes);
    ContractDatabase store;
    Table& table = store.MakeTable(AggregateSchema());
    const auto apply = [&](const RowMutation& mutation) {
      ASSERT_TRUE(table.Apply(mutation).ok());
      if (flushes) {
        ASSERT_TRUE(table.Flush().ok());
      }
    };
    const auto add = [] {
      return Change()
          .AddToCell("sum", "q", Ms(1), 10)
          .AddToCell("sum", "q", Ms(2), 20)
          .AddToCell("least", "q", Ms(1), 1);
    };
    apply(add());
    apply(Change().DeleteFromColumn("sum", "q").AddToCell("sum", "q", Ms(1), 1));  // row 123
    EXPECT_EQ(Numbers(table), "least:q@1=1 sum:q@1=1");
    apply(add());
    EXPECT_EQ(Numbers(table), "least:q@1=1 sum:q@2=20 sum:q@1=11");
    apply(Change().DeleteFromColumn("sum", "q", TimestampRange{.start = Ms(1), .end = Ms(2)}));
    apply(Change().AddToCell("sum", "q", Ms(1), 3).AddToCell("sum", "q", Ms(2), 3));
    EXPECT_EQ(Numbers(table), "least:q@1=1 sum:q@2=23 sum:q@1=3");
    apply(Change().DeleteFromFamily("sum"));
    EXPECT_EQ(Numbers(table), "least:q@1=1");
    apply(add());
    EXPECT_EQ(Numbers(table), "least:q@1=1 sum:q@2=20 sum:q@1=10");
    apply(
        Change().AddToCell("sum", "q", Ms(1), 100).DeleteFromRow().AddToCell("sum", "q", Ms(1), 5));
    apply(Change().AddToCell("sum", "q", Ms(1), 1));
    EXPECT_EQ(Numbers(table), "sum:q@1=6");
    ASSERT_TRUE(table.DropRowRange(RowRange::All()).ok());
    apply(Change().AddToCell("sum", "q", Ms(1), 7));
    EXPECT_EQ(Numbers(table), "sum:q@1=7");
    ASSERT_TRUE(table.Compact().ok());
    EXPECT_EQ(Numbers(table), "sum:q@1=7");
  }
}

TEST(ContractAggregateTest, ASnapshotSeesTheFoldAsOfItself) {
  ContractDatabase store;
  Table& table = store.MakeTable(AggregateSchema());
  int64_t next = 0;
  std::vector<std::pair<Snapshot, std::string>> snapshots;
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 40 * (round + 1); ++i, ++next) {
      ASSERT_TRUE(table
                      .Apply(Change()
                                 .AddToCell("sum", "q", Ms(1), 1)
                                 .AddToCell("sketch", "q", Ms(1), std::to_string(next)))
                      .ok());
      if (i == 17) {  // limits how much a memtable node may fold
        ASSERT_TRUE(table.Apply(Change().DeleteFromColumn("plain", "q")).ok());
      }
    }
    snapshots.emplace_back(*store.database().GetSnapshot(), "sketch:q@1=" + std::to_string(next) +
                                                                " sum:q@1=" + std::to_string(next));
    if (round == 3) {
      ASSERT_TRUE(table.Flush().ok());
    }
  }
  ASSERT_TRUE(table.Apply(Change().DeleteFromRow()).ok());
  for (const auto& [snapshot, expected] : snapshots)
    EXPECT_EQ(Numbers(table, {.snapshot = snapshot}), expected);
  ASSERT_TRUE(table.Compact().ok());
  for (const auto& [snapshot, expected] : snapshots)
    EXPECT_EQ(Numbers(table, {.snapshot = snapshot}), expected);
  EXPECT_EQ(Numbers(table), "");
}

TEST(ContractAggregateTest, RanksCountFoldedCells) {
  ContractDatabase store;
  Table& table = store.MakeTable(AggregateSchema(GcRule::MaxNumVersions(1)));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(
        table.Apply(Change().AddToCell("sum", "q", Ms(2), 1).AddToCell("sum", "q", Ms(1), 1)).ok());
    ASSERT_TRUE(table.Apply(Change().AddToCell("sum", "q", Ms(2), 1)).ok());
    ASSERT_TRUE(table.Flush().ok());
  }
  EXPECT_EQ(Numbers(table), "sum:q@2=6");
  ASSERT_TRUE(table.Compact().ok());
  EXPECT_EQ(Numbers(table), "sum:q@2=6");
  EXPECT_EQ(Numbers(table, {.apply_gc = false}), "sum:q@2=6");
  // The GC fence of engine rule 8: a range delete of the newest version makes nothing reappear,
  // whether or not a compaction ran.
  ASSERT_TRUE(table.Apply(Change().AddToCell("sum", "q", Ms(1), 100)).ok());
  EXPECT_EQ(Numbers(table), "sum:q@2=6");
  ASSERT_TRUE(
      table.Apply(Change().DeleteFromColumn("sum", "q", TimestampRange{.start = Ms(2)})).ok());
  EXPECT_EQ(Numbers(table), "");
  ASSERT_TRUE(table.Apply(Change().AddToCell("sum", "q", Ms(1), 1)).ok());
  EXPECT_EQ(Numbers(table), "sum:q@1=1");
}

TEST(ContractAggregateTest, LatestAndOneColumnFoldAllSources) {
  ContractDatabase store;
  Table& table = store.MakeTable(AggregateSchema());
  for (int64_t file = 0; file < 4; ++file) {
    RowMutation mutation = Change();
    for (int64_t millis = 1; millis <= 20 - 5 * file; ++millis)
      mutation.AddToCell("sum", "q", Ms(millis), 1).AddToCell("sum", "r", Ms(millis), 1);
    ASSERT_TRUE(table.Apply(mutation).ok());
    ASSERT_TRUE(table.Flush().ok());
  }
  ASSERT_TRUE(
      table.Apply(Change().DeleteFromColumn("sum", "q", TimestampRange{.start = Ms(4)})).ok());
  const auto number = [&](std::string_view qualifier, const Filter& filter) {
    return *(*table.ReadRow("r",
                            Filter::Chain(Filter::Column("sum", std::string(qualifier)), filter)))
                ->cells()
                .front()
                .AsInt64();
  };
  EXPECT_EQ(number("q", Filter::Latest(1)), 4) << "at 3 ms, where every file has one";
  EXPECT_EQ(number("r", Filter::Latest(1)), 1);
  EXPECT_EQ(number("r", Filter::Chain(Filter::TimestampRange({.start = Ms(1), .end = Ms(11)}),
                                      Filter::Latest(1))),
            3);
  EXPECT_EQ(number("r", Filter::CellsRowLimit(1)), 1);
  EXPECT_EQ(number("r", Filter::TimestampRange({.start = Ms(5), .end = Ms(6)})), 4);
}

TEST(ContractAggregateTest, WhatDoesNotFitIsRefusedWhole) {
  ContractDatabase store;
  Table& table = store.MakeTable(AggregateSchema());
  const auto refused = [&](const RowMutation& mutation, std::string_view text) {
    const absl::Status status = table.Apply(mutation);
    EXPECT_EQ(CodeName(status), "InvalidArgument") << text;
    EXPECT_NE(std::string(status.message()).find(text), std::string::npos) << status;
    EXPECT_EQ(ShowAll(table), "");
  };
  const auto good = [] {
    return Change().AddToCell("sum", "q", Ms(1), 1).SetCell("plain", "q", Ms(1), "v");
  };
  // Row 121.
  refused(good().SetCell("sum", "q", Ms(1), EncodeInt64(1)),
          "element #2: Column family type mismatch");
  refused(good().AddToCell("plain", "q", Ms(1), 1), "Column family type mismatch");
  refused(good().AddToCell("plain", "q", Ms(1), "item"), "Column family type mismatch");
  refused(good().AddToCell("sketch", "q", Ms(1), 1), "AddToCell with an item");
  refused(good().AddToCell("sum", "q", Ms(1), "item"), "AddToCell with a number");
  refused(good().MergeToCell("plain", "q", Ms(1), EncodeInt64(1)), "Column family type mismatch");
  refused(good().MergeToCell("sum", "q", Ms(1), "123"), "the state of 3 bytes is not");  // row 118
  refused(good().MergeToCell("sum", "q", Ms(1), "123456789"), "the state of 9 bytes is not");
  refused(good().MergeToCell("sketch", "q", Ms(1), "garbage"), "the state of 7 bytes is not");
  refused(good().AddToCell("sum", "q", Timestamp::FromMicros(1500), 1), "multiple of 1000");
  refused(good().MergeToCell("sum", "q", Timestamp::FromMicros(-1), EncodeInt64(1)), "negative");
  EXPECT_EQ(CodeName(table.Apply(good().AddToCell("nope", "q", Ms(1), 1))), "NotFound");
  const std::vector<FailedMutation> failed = table.BulkApply(
      {{Change().AddToCell("plain", "q", Ms(1), 1), Change().AddToCell("sum", "q", Ms(1), 1),
        Change().SetCell("sum", "q", Ms(1), "v")}});
  ASSERT_EQ(failed.size(), 2u);
  EXPECT_EQ(failed[1].index, 2u);
  EXPECT_EQ(Numbers(table), "sum:q@1=1");
}

// An empty state is no change, alone or among others. It creates no row and no cell, also in replay
// (section 7 of docs/reference/semantics.md).
TEST(ContractAggregateTest, AStateOfNoBytesChangesNothing) {
  ContractDatabase store;
  Table& table = store.MakeTable(AggregateSchema());
  for (const char* const family : {"sum", "least", "sketch"}) {
    EXPECT_EQ(CodeName(table.Apply(Change().MergeToCell(family, "q", Ms(1), ""))), "OK") << family;
  }
  EXPECT_TRUE(table
                  .BulkApply({{Change().MergeToCell("sum", "q", Ms(1), ""),
                               Change().MergeToCell("sum", "q", Ms(1), "")}})
                  .empty());
  EXPECT_EQ(ShowAll(table), "");
  ASSERT_EQ(table.Apply(Change()
                            .MergeToCell("sum", "q", Ms(2), "")
                            .AddToCell("sum", "q", Ms(1), 4)
                            .MergeToCell("sum", "q", Ms(1), "")),
            absl::OkStatus());
  EXPECT_EQ(Numbers(table), "sum:q@1=4");
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  EXPECT_EQ(Numbers(table), "sum:q@1=4");
  EXPECT_EQ(CodeName(table.Apply(Change().MergeToCell("plain", "q", Ms(1), ""))),
            "InvalidArgument");
}

TEST(ContractAggregateTest, ConditionalWritesReadTheFold) {
  ContractDatabase store;
  Table& table = store.MakeTable(AggregateSchema());
  const auto modify = [&](const ReadModifyWriteRule& rule) {
    return CodeName(table.ReadModifyWriteRow("r", {rule}).status());
  };
  // Row 121.
  EXPECT_EQ(modify(ReadModifyWriteRule::IncrementAmount("sum", "q", 1)), "InvalidArgument");
  EXPECT_EQ(modify(ReadModifyWriteRule::AppendValue("sketch", "q", "x")), "InvalidArgument");
  EXPECT_EQ(modify(ReadModifyWriteRule::IncrementAmount("plain", "q", 1)), "OK");
  ASSERT_TRUE(table.Apply(RowMutation("s").AddToCell("sum", "q", Ms(1), 1)).ok());
  const Filter newest = Filter::Chain(Filter::Column("sum", "q"), Filter::Latest(1));
  const auto branch = table.CheckAndMutateRow(
      "s", newest, RowMutation().AddToCell("sum", "q", Ms(1), 2).AddToCell("sum", "q", Ms(1), 3),
      RowMutation());
  EXPECT_EQ(branch.value(), MutationBranch::kPredicateMatched);
  EXPECT_EQ((*table.ReadRow("s"))->cell("sum", "q")->AsInt64().value(), 6);
  // Only the branch that is applied is checked against the families.
  EXPECT_TRUE(
      table.CheckAndMutateRow("s", newest, RowMutation(), RowMutation().SetCell("sum", "q", "v"))
          .ok());
  EXPECT_EQ(CodeName(table
                         .CheckAndMutateRow("s", newest, RowMutation().SetCell("sum", "q", "v"),
                                            RowMutation())
                         .status()),
            "InvalidArgument");
}

TEST(ContractAggregateTest, ABulkLoadRefusesThem) {
  ContractDatabase store;
  Table& table = store.MakeTable(AggregateSchema());
  BulkLoad load = table.NewBulkLoad();
  EXPECT_EQ(CodeName(load.Add(RowMutation("a").AddToCell("sum", "q", Ms(1), 1))),
            "InvalidArgument");
  EXPECT_EQ(CodeName(load.Add(RowMutation("a").SetCell("sum", "q", Ms(1), EncodeInt64(1)))),
            "InvalidArgument");
  ASSERT_TRUE(load.Add(RowMutation("a").SetCell("plain", "q", Ms(1), EncodeInt64(7))).ok());
  ASSERT_TRUE(load.Finish().ok());
  EXPECT_EQ(Numbers(table), "plain:q@1=7");
}

TEST(ContractAggregateTest, TheTypeStaysWithTheFamily) {
  ContractDatabase store;
  Table& table = store.MakeTable(AggregateSchema());
  ASSERT_TRUE(table.Apply(Change().AddToCell("sum", "q", Ms(1), 1)).ok());
  ASSERT_TRUE(
      table.ModifyColumnFamilies({FamilyChange::Update("sum", GcRule::MaxNumVersions(3))}).ok());
  ASSERT_TRUE(table
                  .ModifyColumnFamilies(
                      {FamilyChange::Create({.name = "new", .value_type = ValueType::kInt64Max})})
                  .ok());
  store.Reopen();
  const Schema schema = *store.table().schema();
  EXPECT_EQ(schema.family("sum")->value_type, ValueType::kInt64Sum);
  EXPECT_EQ(schema.family("new")->value_type, ValueType::kInt64Max);
  EXPECT_EQ(Numbers(store.table()), "sum:q@1=1");
  // A family created again under the same name is a new one and may have another type.
  ASSERT_TRUE(
      store.table()
          .ModifyColumnFamilies({FamilyChange::Drop("sum"), FamilyChange::Create({.name = "sum"})})
          .ok());
  ASSERT_TRUE(store.table().Apply(Change().SetCell("sum", "q", Ms(1), EncodeInt64(5))).ok());
  EXPECT_EQ(Numbers(store.table()), "sum:q@1=5");
  ASSERT_TRUE(store.table().Compact().ok());
  EXPECT_EQ(Numbers(store.table()), "sum:q@1=5");
}

}  // namespace
}  // namespace stele::internal
