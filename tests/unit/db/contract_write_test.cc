// Tests the effects and the rejections of writes: rows 1 to 34 of docs/reference/semantics.md, and
// the limits of a table.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "base/status.h"
#include "support/db_contract.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

constexpr Timestamp Us(int64_t micros) { return Timestamp::FromMicros(micros); }

// Checks that the mutation is rejected with this code and a text that names the place. It must
// write nothing, alone and in a batch with a valid row.
void ExpectRefused(ContractDatabase& store, const RowMutation& mutation, std::string_view code,
                   std::string_view where) {
  const std::string before = ShowAll(store.table());
  const absl::Status alone = store.table().Apply(mutation);
  EXPECT_EQ(CodeName(alone), code) << alone;
  EXPECT_NE(ToStd(alone.message()).find(where), std::string_view::npos)
      << alone << " does not say " << where;
  const RowMutation good = RowMutation("good").SetCell("f", "q", Ms(9), "v");
  const absl::Status batch =
      store.database().Apply(WriteBatch().Add(store.table(), good).Add(store.table(), mutation));
  EXPECT_EQ(CodeName(batch), code) << batch;
  EXPECT_NE(ToStd(batch.message()).find("mutation 1"), std::string_view::npos) << batch;
  EXPECT_EQ(ShowAll(store.table()), before);
  store.Reopen();
  EXPECT_EQ(ShowAll(store.table()), before);
}

TEST(ContractWriteTest, BadInputIsRefusedWithItsPlaceAndNothingIsWritten) {
  ContractDatabase store;
  store.MakeTable(Schema().AddFamily("f"));
  ASSERT_TRUE(store.table().Apply(RowMutation("r").SetCell("f", "q", Ms(1), "v")).ok());
  const auto set = [](const std::string& row_key) {
    return RowMutation(row_key).SetCell("f", "q", Ms(2), "v");
  };
  // Rows 13, 11, 15.
  ExpectRefused(store, set(""), "InvalidArgument", "Row keys must be non-empty");
  ExpectRefused(store, set(std::string(4097, 'k')), "InvalidArgument", "row key has 4097 bytes");
  ExpectRefused(store, RowMutation("r"), "InvalidArgument", "row \"r\": No mutations provided");
  ExpectRefused(store, set("r").SetCell("f", std::string(16385, 'q'), Ms(2), "v"),
                "InvalidArgument", "element #1: qualifier has 16385");
  // Rows 18 and 19: the valid first element is not applied.
  ExpectRefused(store, set("r").SetCell("nope", "q", Ms(2), "v"), "NotFound",
                "element #1: Requested column family not found: \"nope\"");
  ExpectRefused(store, set("r").DeleteFromFamily("nope"), "NotFound", "element #1");
  ExpectRefused(store, set("r").DeleteFromColumn("nope", "q"), "NotFound", "element #1");
  // Rows 3 and 7, and timestamps that are not multiples of 1000.
  ExpectRefused(store, set("r").SetCell("f", "q", Us(-1), "v"), "InvalidArgument",
                "element #1: timestamp: -1 us is negative");
  ExpectRefused(store, set("r").SetCell("f", "q", Us(-1000), "v"), "InvalidArgument", "element #1");
  ExpectRefused(store, set("r").SetCell("f", "q", Us(1234567), "v"), "InvalidArgument",
                "multiple of 1000");
  ExpectRefused(store, set("r").SetCell("f", "q", Us(std::numeric_limits<int64_t>::max()), "v"),
                "InvalidArgument", "multiple of 1000");
  // Rows 26 and 27.
  const auto erase = [&](int64_t start, int64_t end) {
    return set("r").DeleteFromColumn("f", "q", TimestampRange{.start = Us(start), .end = Us(end)});
  };
  ExpectRefused(store, erase(3000, 3000), "InvalidArgument", "element #1: timestamp range");
  ExpectRefused(store, erase(3000, 2000), "InvalidArgument", "element #1: timestamp range");
  ExpectRefused(store, erase(0, 0), "InvalidArgument", "element #1: timestamp range");
  ExpectRefused(store, erase(1000, 2500), "InvalidArgument",
                "element #1: end of the timestamp range");
  ExpectRefused(store, erase(-1000, 2000), "InvalidArgument",
                "element #1: start of the timestamp range");
}

TEST(ContractWriteTest, LimitsAreExact) {
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f").SetLimits({.row_key_bytes = 4,
                                                                    .qualifier_bytes = 3,
                                                                    .value_bytes = 5,
                                                                    .row_bytes = 60,
                                                                    .mutations = 4}));
  const auto apply = [&](const RowMutation& mutation) { return CodeName(table.Apply(mutation)); };
  EXPECT_EQ(apply(RowMutation("1234").SetCell("f", "qqq", Ms(1), "12345")), "OK");
  EXPECT_EQ(apply(RowMutation("12345").SetCell("f", "q", Ms(1), "v")), "InvalidArgument");
  EXPECT_EQ(apply(RowMutation("1").SetCell("f", "qqqq", Ms(1), "v")), "InvalidArgument");
  EXPECT_EQ(apply(RowMutation("1").DeleteFromColumn("f", "qqqq")), "InvalidArgument");
  EXPECT_EQ(apply(RowMutation("1").SetCell("f", "q", Ms(1), "123456")), "InvalidArgument");
  RowMutation four("1");
  for (int i = 0; i < 4; ++i) four.SetCell("f", "q", Ms(i), "v");
  EXPECT_EQ(apply(four), "OK");
  EXPECT_EQ(apply(four.SetCell("f", "q", Ms(9), "v")), "InvalidArgument");
  EXPECT_EQ(ShowAll(table), "1 f:q@3000=v, f:q@2000=v, f:q@1000=v, f:q@0=v; 1234 f:qqq@1000=12345");
}

TEST(ContractWriteTest, TheDefaultLimitsAreBigtables) {
  ContractDatabase store(uint64_t{1} << 30);
  Table& table = store.MakeTable(Schema().AddFamily("f"));
  EXPECT_EQ(
      CodeName(table.Apply(
          RowMutation(std::string(4096, 'k')).SetCell("f", std::string(16384, 'q'), Ms(1), "v"))),
      "OK");
  RowMutation most("m");
  for (int i = 0; i < 100'000; ++i) most.DeleteFromRow();
  EXPECT_EQ(CodeName(table.Apply(most)), "OK");
  const absl::Status over = table.Apply(most.DeleteFromRow());
  EXPECT_EQ(CodeName(over), "InvalidArgument");
  EXPECT_NE(ToStd(over.message()).find("100001 changes"), std::string_view::npos) << over;
  std::string value(size_t{100} << 20, 'v');
  EXPECT_EQ(CodeName(table.Apply(RowMutation("v").SetCell("f", "q", Ms(1), value))), "OK");
  value.push_back('v');
  EXPECT_EQ(CodeName(table.Apply(RowMutation("w").SetCell("f", "q", Ms(1), value))),
            "InvalidArgument");
  ASSERT_TRUE(table.Flush().ok());
  const absl::StatusOr<std::optional<Row>> read = table.ReadRow("v");
  ASSERT_TRUE(read.ok() && read->has_value()) << read.status();
  EXPECT_EQ((*read)->cells()[0].value().size(), size_t{100} << 20);
  EXPECT_FALSE(*table.Exists("w"));
}

TEST(ContractWriteTest, AMicrosecondTableTakesEveryTimestamp) {  // section 1.3
  ContractDatabase store;
  Table& table =
      store.MakeTable(Schema().AddFamily("f").SetGranularity(TimestampGranularity::kMicros));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  ASSERT_TRUE(table
                  .Apply(RowMutation("r")
                             .SetCell("f", "q", Us(kMost), "a")
                             .SetCell("f", "q", Us(1), "b")
                             .SetCell("f", "q", "now"))
                  .ok());
  EXPECT_EQ(ShowAll(table), "r f:q@9223372036854775807=a, f:q@1000000000000=now, f:q@1=b");
  ASSERT_TRUE(
      table.Apply(RowMutation("r").DeleteFromColumn("f", "q", TimestampRange{.start = Us(2)}))
          .ok());
  EXPECT_EQ(ShowAll(table), "r f:q@1=b");
}

TEST(ContractWriteTest, TimestampsAreStoredAndSorted) {  // rows 2, 6, 9, 10
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f"));
  store.clock().Set(Us(1'000'001'234'567));
  ASSERT_TRUE(table
                  .Apply(RowMutation("r")
                             .SetCell("f", "", Ms(5), "")
                             .SetCell("f", "\xff", Ms(1), "x")
                             .SetCell("f", "q", "now")
                             .SetCell("f", "q", Us(9223372036854775000), "last")
                             .SetCell("f", "q", Timestamp(), "zero")
                             .SetCell("f", "q", Ms(2), "old")
                             .SetCell("f", "q", Ms(2), ""))
                  .ok());
  const std::string_view all =
      "r f:@5000=, f:q@9223372036854775000=last, f:q@1000001234000=now, f:q@2000=, f:q@0=zero, "
      "f:\\xff@1000=x";
  EXPECT_EQ(ShowAll(table), all);
  ASSERT_TRUE(table.Flush().ok());
  EXPECT_EQ(ShowAll(table), all);
}

TEST(ContractWriteTest, DeletesRemoveWhatLiesBeforeThemInCommitOrder) {  // rows 21 to 30
  for (const bool flush_between : {false, true}) {
    ContractDatabase store;
    Table& table = store.MakeTable(Schema().AddFamily("f").AddFamily("g"));
    const auto apply = [&](const RowMutation& mutation) {
      ASSERT_TRUE(table.Apply(mutation).ok());
      if (flush_between) {
        ASSERT_TRUE(table.Flush().ok());
      }
    };
    // Row 21.
    apply(RowMutation("a")
              .SetCell("f", "q", Ms(1), "1")
              .DeleteFromRow()
              .SetCell("f", "q", Ms(1), "2"));
    apply(RowMutation("b").SetCell("f", "q", Ms(5), "5"));
    apply(RowMutation("b").DeleteFromColumn("f", "q"));
    apply(RowMutation("b").SetCell("f", "q", Ms(3), "3"));  // row 22
    RowMutation four("c");
    for (int i = 1; i <= 4; ++i) four.SetCell("f", "q", Ms(i), "v").SetCell("g", "q", Ms(i), "v");
    apply(four);
    apply(RowMutation("c").DeleteFromColumn("f", "q", {.start = Ms(2), .end = Ms(3)}));  // row 23
    apply(RowMutation("c").DeleteFromColumn("g", "q", {}));                              // row 25
    // Row 29.
    apply(RowMutation("d").DeleteFromRow().DeleteFromFamily("f").DeleteFromColumn("g", "q"));
    apply(RowMutation("e").SetCell("f", "q", Ms(1), "v"));
    apply(RowMutation("e").DeleteFromFamily("f"));
    const std::string_view rows =
        "a f:q@1000=2; b f:q@3000=3; c f:q@4000=v, f:q@3000=v, f:q@1000=v";
    EXPECT_EQ(ShowAll(table), rows);
    // Row 30.
    EXPECT_EQ(Show(table.ReadRows(RowRange::StartingAt("c"), {}, {.limit = 1, .reverse = true}))
                  .substr(0, 1),
              "c");
    EXPECT_FALSE(*table.Exists("e"));
    EXPECT_FALSE(*table.Exists("d"));
    ASSERT_TRUE(table.Compact().ok());
    EXPECT_EQ(ShowAll(table), rows);
    store.Reopen();
    EXPECT_EQ(ShowAll(store.table()), rows);
  }
}

// Rows 31, 33 to 35.
TEST(ContractWriteTest, BulkApplyGivesAVerdictForEachEntryAndAppliesTheRestInOrder) {
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f"));
  EXPECT_TRUE(table.BulkApply({}).empty());
  const std::vector<RowMutation> entries = {
      RowMutation("r").SetCell("f", "q", Ms(1), "1"),
      RowMutation("x").SetCell("nope", "q", Ms(1), "v"),
      RowMutation("r").DeleteFromRow(),
      RowMutation(""),
      RowMutation("y"),
      RowMutation("r").SetCell("f", "q", Ms(3), "3"),
      RowMutation("z").SetCell("f", "ok", Ms(1), "v").SetCell("f", "q", Us(1), "v"),
  };
  std::string verdicts;
  for (const FailedMutation& failed : table.BulkApply(entries))
    verdicts += fmt::format("{} {}; ", failed.index, CodeName(failed.status));
  EXPECT_EQ(verdicts, "1 NotFound; 3 InvalidArgument; 4 InvalidArgument; 6 InvalidArgument; ");
  EXPECT_EQ(ShowAll(table), "r f:q@3000=3");
}

// A clock that advances at every read.
class RunningClock : public TimestampClock {
 public:
  Timestamp Now() override { return Ms(1'000'000 + reads_.fetch_add(1)); }

 private:
  std::atomic<int64_t> reads_{0};
};

TEST(ContractWriteTest, OneCallStampsOneTime) {  // section 1.3: the clock is read once per request
  absl::StatusOr<Database> database =
      Database::Open("mem:", {.clock = std::make_shared<RunningClock>()});
  ASSERT_TRUE(database.ok()) << database.status();
  absl::StatusOr<Table> table = database->CreateTable("t", Schema().AddFamily("f"));
  ASSERT_TRUE(table.ok()) << table.status();
  std::vector<RowMutation> entries;
  for (int i = 0; i < 10'000; ++i)
    entries.push_back(RowMutation(fmt::format("{:05}", i)).SetCell("f", "q", "v"));
  entries[7'000].DeleteFromColumn("f", "other", {.start = Ms(1)});
  ASSERT_TRUE(table->BulkApply(entries).empty());
  ASSERT_TRUE(
      database
          ->Apply(WriteBatch()
                      .Add(*table, RowMutation("x").SetCell("f", "q", "v").SetCell("f", "r", "v"))
                      .Add(*table, RowMutation("y").SetCell("f", "q", "v")))
          .ok());
  std::set<Timestamp> bulk, batch;
  RowReader reader = table->ReadRows();
  for (const RowView& row : reader) {
    for (const CellView& cell : row.cells())
      (row.row_key() < "x" ? bulk : batch).insert(cell.timestamp());
  }
  ASSERT_TRUE(reader.status().ok());
  EXPECT_EQ(bulk.size(), 1u);
  EXPECT_EQ(batch.size(), 1u);
}

TEST(ContractWriteTest, ABatchIsForOneDatabaseAndWholeOrNotAtAll) {
  ContractDatabase store;
  ContractDatabase other;
  Table& table = store.MakeTable(Schema().AddFamily("f"));
  other.MakeTable(Schema().AddFamily("f"));
  Table second = *store.database().CreateTable("second", Schema().AddFamily("g"));
  const RowMutation good = RowMutation("r").SetCell("f", "q", Ms(1), "v");
  const auto apply = [&](const WriteBatch& batch) {
    return CodeName(store.database().Apply(batch));
  };
  EXPECT_EQ(apply(WriteBatch()), "OK");
  EXPECT_EQ(apply(WriteBatch().Add(table, good).Add(other.table(), good)), "InvalidArgument");
  EXPECT_EQ(apply(WriteBatch().Add(table, good).Add(Table(), good)), "FailedPrecondition");
  EXPECT_EQ(apply(WriteBatch().Add(table, good).Add(second, good)), "NotFound");
  EXPECT_EQ(ShowAll(table), "");
  EXPECT_EQ(apply(WriteBatch()
                      .Add(table, good)
                      .Add(second, RowMutation("s").SetCell("g", "q", Ms(1), "v"))
                      .Add(table, RowMutation("r").SetCell("f", "q", Ms(1), "again"))),
            "OK");
  EXPECT_EQ(ShowAll(table), "r f:q@1000=again");
  EXPECT_EQ(ShowAll(second), "s g:q@1000=v");
  ASSERT_TRUE(store.database().DeleteTable("second").ok());
  EXPECT_EQ(apply(WriteBatch()
                      .Add(table, good)
                      .Add(second, RowMutation("s").SetCell("g", "q", Ms(1), "v"))),
            "NotFound");
  EXPECT_EQ(ShowAll(table), "r f:q@1000=again");
}

TEST(ContractWriteTest, WhatIsNotOfferedAnswersUnimplemented) {
  EXPECT_EQ(CodeName(Database::Open("bigtable://p/i").status()), "Unimplemented");
}

}  // namespace
}  // namespace stele::internal
