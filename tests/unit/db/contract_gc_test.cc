// Tests which versions exist: garbage collection at read and after compaction, and its clock. See
// section 6 and rows 125 to 127 of docs/reference/semantics.md, and engine rules 7 to 10.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/status.h"
#include "support/db_contract.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Returns the remaining versions of column "f:q", as milliseconds before the clock's start.
std::string Ages(const Table& table, const ReadOptions& options = {}) {
  const absl::StatusOr<std::optional<Row>> row = table.ReadRow("r", {}, options);
  if (!row.ok()) return CodeName(row.status());
  if (!row->has_value()) return "none";
  std::string text;
  for (const CellView& cell : (*row)->cells()) {
    text += fmt::format("{}{}", text.empty() ? "" : " ",
                        (Ms(1'000'000'000).micros() - cell.timestamp().micros()) / 1000);
  }
  return text;
}

void Write(Table& table, const std::vector<int64_t>& ages_millis) {
  RowMutation mutation("r");
  for (const int64_t age : ages_millis) mutation.SetCell("f", "q", Ms(1'000'000'000 - age), "v");
  ASSERT_TRUE(table.Apply(mutation).ok());
}

struct RuleCase {
  const char* rule;
  std::vector<int64_t> ages;
  const char* left;
};

class ContractRuleTest : public testing::TestWithParam<RuleCase> {};
INSTANTIATE_TEST_SUITE_P(
    Rules, ContractRuleTest,
    // Row 125.
    testing::Values(
        RuleCase{"maxversions=2||maxage=60s", {0, 1, 2, 100'000}, "0 1"},
        // Row 126.
        RuleCase{"maxversions=2&&maxage=60s", {0, 1, 2, 100'000, 100'001}, "0 1 2"},
        // Row 127.
        RuleCase{"never", {0, 1, 2, 100'000}, "0 1 2 100000"},
        // .
        RuleCase{"maxversions=1", {-5, 0, 1}, "-5"},
        // Exactly that age stays.
        RuleCase{"maxage=60s", {-99'000, 60'000, 60'001, 59'999}, "-99000 59999 60000"},
        // The ordinal counts all.
        RuleCase{"maxversions=1&&maxage=60s", {100'000, 100'001, 5}, "5"},
        // nested.
        RuleCase{
            "(maxversions=3&&maxage=10s)||maxage=60s", {1, 2, 3, 4, 20'000, 70'000}, "1 2 3 4"},
        RuleCase{"(maxversions=1||maxage=10s)&&maxage=60s", {1, 2, 20'000, 70'000}, "1 2 20000"}));

TEST_P(ContractRuleTest, ReadsAndCompactionsLeaveTheSame) {
  const RuleCase& c = GetParam();
  const absl::StatusOr<GcRule> rule = GcRule::Parse(c.rule);
  ASSERT_TRUE(rule.ok()) << rule.status();
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f", *rule).AddFamily("other"));
  for (const int64_t age : c.ages) {
    Write(table, {age});
    if (age % 2 == 0) {
      ASSERT_TRUE(table.Flush().ok());
    }
  }
  EXPECT_EQ(Ages(table), c.left);
  ASSERT_TRUE(table.Flush().ok());
  EXPECT_EQ(Ages(table), c.left);
  ASSERT_TRUE(table.Compact().ok());
  EXPECT_EQ(Ages(table), c.left);
  EXPECT_EQ(Ages(table, {.apply_gc = false}), c.left);
  store.Reopen();
  EXPECT_EQ(Ages(store.table()), c.left);
}

TEST(ContractGcTest, WithoutApplyGcReadsShowWhatIsStored) {
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f", GcRule::MaxNumVersions(1)));
  Write(table, {0, 1, 2});
  EXPECT_EQ(Ages(table), "0");
  EXPECT_EQ(Ages(table, {.apply_gc = false}), "0 1 2");
  // A looser rule may show versions that are still stored. After a compaction with the stricter
  // rule it shows none (engine rule 10).
  ASSERT_TRUE(
      table.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::MaxNumVersions(2))}).ok());
  EXPECT_EQ(Ages(table), "0 1");
  ASSERT_TRUE(table.Compact().ok());
  ASSERT_TRUE(table.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::None())}).ok());
  EXPECT_EQ(Ages(table), "0 1");
}

// Engine rule 8: N=2, versions 1, 2, 3, delete 3: 1 stays deleted.
TEST(ContractGcTest, ARangedDeleteBringsNothingBack) {
  for (const bool compact : {false, true}) {
    ContractDatabase store;
    Table& table = store.MakeTable(Schema().AddFamily("f", GcRule::MaxNumVersions(2)));
    Write(table, {0, 1, 2});
    if (compact) {
      ASSERT_TRUE(table.Compact().ok());
    }
    ASSERT_TRUE(
        table.Apply(RowMutation("r").DeleteFromColumn("f", "q", {.start = Ms(1'000'000'000)}))
            .ok());
    EXPECT_EQ(Ages(table), "1");
    ASSERT_TRUE(table.Compact().ok());
    EXPECT_EQ(Ages(table), "1");
  }
}

TEST(ContractGcTest, RowsDisappearWithTheirLastCell) {
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f", GcRule::MaxAge(seconds(60))));
  Write(table, {10'000});
  EXPECT_TRUE(*table.Exists("r"));
  const Snapshot before = *store.database().GetSnapshot();
  store.clock().Advance(seconds(50));
  EXPECT_EQ(Ages(table), "10000");
  store.clock().Advance(milliseconds(1));
  EXPECT_EQ(Ages(table), "none");
  EXPECT_FALSE(*table.Exists("r"));
  EXPECT_EQ(ShowAll(table), "");
  ASSERT_TRUE(table.Compact().ok());
  EXPECT_EQ(table.Stats()->cells, 0u);
  // A snapshot uses its own time (engine rule 16).
  EXPECT_EQ(Ages(table, {.snapshot = before}), "10000");
}

TEST(ContractGcTest, ReadsAndStampsFollowTheClockBack) {  // engine rule 7
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f", GcRule::MaxAge(seconds(60))));
  Write(table, {0});
  store.clock().Advance(seconds(100));
  EXPECT_EQ(Ages(table), "none");
  store.clock().Advance(-seconds(90));
  EXPECT_EQ(Ages(table), "0");
  ASSERT_TRUE(table.Apply(RowMutation("s").SetCell("f", "q", "v")).ok());
  EXPECT_EQ(ShowAll(table), "r f:q@1000000000000=v; s f:q@1000010000000=v");
  EXPECT_EQ(store.database().GetSnapshot()->time(), Ms(1'000'010'000));
  store.Reopen(Ms(5));
  EXPECT_EQ(ShowAll(store.table()), "r f:q@1000000000000=v; s f:q@1000010000000=v");
  EXPECT_EQ(store.database().GetSnapshot()->time(), Ms(5));
}

// Engine rule 7, across a reopening.
TEST(ContractGcTest, AReadDoesNotChangeWhatIsShownLater) {
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f", GcRule::MaxAge(seconds(60))));
  Write(table, {0});
  store.clock().Advance(seconds(100));
  EXPECT_EQ(Ages(table), "none");
  store.Reopen(Ms(1'000'000'000));
  EXPECT_EQ(Ages(store.table()), "0");
}

TEST(ContractGcTest, ClocksBeforeTheEpochStampZero) {
  const absl::StatusOr<Database> database =
      Database::Open("mem:", {.clock = std::make_shared<ManualClock>(Ms(-5'000))});
  ASSERT_TRUE(database.ok()) << database.status();
  Table table = *Database(*database).CreateTable("t", Schema().AddFamily("f"));
  ASSERT_TRUE(table.Apply(RowMutation("r").SetCell("f", "q", "v")).ok());
  EXPECT_EQ(ShowAll(table), "r f:q@0=v");
}

TEST(ContractGcTest, WrongRulesAreRefused) {
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f"));
  GcRule deep = GcRule::MaxNumVersions(1);
  for (int i = 0; i < 21; ++i) deep = GcRule::Union(deep, GcRule::MaxNumVersions(2));
  std::vector<GcRule> many(300, GcRule::MaxNumVersions(1));
  for (const GcRule& wrong :
       {GcRule::MaxNumVersions(0), GcRule::MaxNumVersions(-1), GcRule::MaxAge(milliseconds(0)),
        GcRule::MaxAge(std::chrono::microseconds(999)), GcRule::MaxAge(-seconds(1)),
        GcRule::Union(GcRule::MaxNumVersions(1), GcRule::MaxNumVersions(0)), deep,
        GcRule::Union(many)}) {
    EXPECT_EQ(CodeName(store.database().CreateTable("x", Schema().AddFamily("f", wrong)).status()),
              "InvalidArgument")
        << wrong;
    EXPECT_EQ(CodeName(table.ModifyColumnFamilies({FamilyChange::Update("f", wrong)})),
              "InvalidArgument")
        << wrong;
    EXPECT_EQ(
        CodeName(table.ModifyColumnFamilies({FamilyChange::Create({.name = "g", .gc = wrong})})),
        "InvalidArgument")
        << wrong;
  }
  EXPECT_EQ(table.schema()->family("f")->gc, GcRule::None());
  EXPECT_EQ(table.schema()->family("g"), nullptr);
}

}  // namespace
}  // namespace stele::internal
