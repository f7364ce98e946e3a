// Tests idempotency tokens through the public API: a repeated call applies nothing and returns the
// result of the first (engine rule 2).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "admin/table_admin.h"
#include "db/engine.h"
#include "db/local_database.h"
#include "manifest/token_table.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_contract.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr char kToken[] = "token-01";

WriteOptions Under(std::string token, std::optional<Durability> durability = std::nullopt) {
  return {.durability = durability, .idempotency_token = std::move(token)};
}

RowMutation Add(std::string row_key = "r", int64_t amount = 1) {
  return RowMutation(std::move(row_key)).AddToCell("sum", "q", Timestamp(), amount);
}

class ContractTokenTest : public testing::Test {
 protected:
  ContractTokenTest() {
    store_.MakeTable(Schema()
                         .AddFamily({.name = "sum", .value_type = ValueType::kInt64Sum})
                         .AddFamily({.name = "counted", .gc = GcRule::MaxNumVersions(2)})
                         .AddFamily("f"));
  }

  Table& table() { return store_.table(); }
  int64_t Sum(std::string_view row_key = "r") {
    const std::optional<Row> row = table().ReadRow(row_key).value();
    return row.has_value() && row->cell("sum", "q") ? row->cell("sum", "q")->AsInt64().value() : 0;
  }
  // Releases the log's records of all writes so far.
  void LetTheLogForget() {
    ASSERT_TRUE(table().Flush().ok());
    ASSERT_TRUE(store_.engine().admin().FlushTable(kTokenTableId).ok());
    store_.Reopen();
  }

  ContractDatabase store_;
};

TEST_F(ContractTokenTest, ARepeatAppliesNothing) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(table().Apply(Add(), Under(kToken)).ok());
  EXPECT_EQ(Sum(), 1);
  EXPECT_TRUE(table().Apply(Add(), Under("token-02")).ok());
  EXPECT_TRUE(table().Apply(Add()).ok());
  EXPECT_EQ(Sum(), 3);
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(
        store_.database()
            .Apply(WriteBatch().Add(table(), Add()).Add(table(), Add("s")), Under("of a batch"))
            .ok());
  EXPECT_EQ(Sum(), 4);
  EXPECT_EQ(Sum("s"), 1);
  // Tokens are shared by all calls of the database.
  EXPECT_TRUE(store_.database().Apply(WriteBatch().Add(table(), Add()), Under(kToken)).ok());
  EXPECT_EQ(Sum(), 4);
}

TEST_F(ContractTokenTest, IsRememberedAcrossReopening) {
  ASSERT_TRUE(table().Apply(Add(), Under(kToken)).ok());
  store_.Reopen();
  ASSERT_TRUE(table().Apply(Add(), Under(kToken)).ok());
  EXPECT_EQ(Sum(), 1) << "from the log";
  LetTheLogForget();
  ASSERT_TRUE(table().Apply(Add("other")).ok());
  LetTheLogForget();
  ASSERT_TRUE(table().Apply(Add(), Under(kToken)).ok());
  EXPECT_EQ(Sum(), 1) << "from a file";
  store_.Reopen();
  store_.Reopen();
  ASSERT_TRUE(table().Apply(Add(), Under(kToken)).ok());
  EXPECT_EQ(Sum(), 1) << "and again";
}

TEST_F(ContractTokenTest, IsForgottenAfterFifteenMinutes) {
  for (const bool forgotten_log : {false, true}) {
    const std::string token = forgotten_log ? "in a file" : "in the log";
    const int64_t before = Sum();
    ASSERT_TRUE(table().Apply(Add(), Under(token)).ok());
    if (forgotten_log) LetTheLogForget();
    store_.clock().Advance(std::chrono::minutes(15) - std::chrono::microseconds(1));
    ASSERT_TRUE(table().Apply(Add(), Under(token)).ok());
    EXPECT_EQ(Sum(), before + 1);
    store_.clock().Advance(std::chrono::microseconds(1));
    ASSERT_TRUE(table().Apply(Add(), Under(token)).ok());
    EXPECT_EQ(Sum(), before + 2) << "a repeat of the repeat counts from here";
    ASSERT_TRUE(table().Apply(Add(), Under(token)).ok());
    EXPECT_EQ(Sum(), before + 2);
    store_.Reopen();
    ASSERT_TRUE(table().Apply(Add(), Under(token)).ok());
    EXPECT_EQ(Sum(), before + 2);
  }
}

TEST_F(ContractTokenTest, OnlyAWriteThatWasAppliedUsesItUp) {
  EXPECT_EQ(CodeName(table().Apply(RowMutation("r").SetCell("nope", "q", "v"), Under(kToken))),
            "NotFound");
  EXPECT_EQ(CodeName(table().Apply(RowMutation("r").SetCell("sum", "q", "v"), Under(kToken))),
            "InvalidArgument");
  EXPECT_TRUE(store_.database().Apply(WriteBatch(), Under(kToken)).ok()) << "nothing to apply";
  EXPECT_TRUE(table().Apply(Add(), Under(kToken)).ok());
  EXPECT_EQ(Sum(), 1);
  EXPECT_EQ(CodeName(table().Apply(Add(), Under("1234567"))), "InvalidArgument");
  EXPECT_EQ(CodeName(table().Apply(Add(), Under(std::string(1025, 't')))), "InvalidArgument");
  EXPECT_TRUE(table().Apply(Add(), Under(std::string(1024, 't'))).ok());
}

TEST_F(ContractTokenTest, BulkApplyCoversEachEntry) {
  std::vector<RowMutation> mutations;
  for (int i = 0; i < 6; ++i) mutations.push_back(Add("row" + std::to_string(i)));
  mutations[2] = RowMutation("row2").SetCell("nope", "q", "v");
  // Gets a GC fence, and so a separate batch.
  mutations[4].DeleteFromColumn("counted", "q", TimestampRange{.start = Timestamp::FromMillis(1)});
  std::vector<FailedMutation> failed = table().BulkApply(mutations, Under(kToken));
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].index, 2u);
  // The repetition applies the entries that the first call did not apply, and no others.
  mutations[2] = Add("row2");
  EXPECT_TRUE(table().BulkApply(mutations, Under(kToken)).empty());
  store_.Reopen();
  EXPECT_TRUE(table().BulkApply(mutations, Under(kToken, Durability::kDisk)).empty());
  LetTheLogForget();
  mutations.push_back(Add("row6"));
  EXPECT_TRUE(table().BulkApply(mutations, Under(kToken)).empty());
  for (int i = 0; i < 7; ++i) EXPECT_EQ(Sum("row" + std::to_string(i)), 1) << i;
}

// Regression: every batch of the call read the token's row, which has a cell for each earlier
// batch.
TEST_F(ContractTokenTest, BulkApplyReadsItsTokenOnce) {
  const std::atomic<uint64_t>& reads = store_.engine().storage().state.event_counts().token_reads;
  for (const bool is_fenced : {false, true}) {
    constexpr size_t kEntries = 60;
    std::vector<RowMutation> mutations;
    for (size_t i = 0; i < kEntries; ++i) {
      RowMutation& mutation = mutations.emplace_back(Add(fmt::format("{}{:02}", is_fenced, i)));
      // Each gets a separate batch, or several share one.
      if (is_fenced) {
        mutation.DeleteFromColumn("counted", "q",
                                  TimestampRange{.start = Timestamp::FromMillis(1)});
      } else {
        mutation.SetCell("f", "q", std::string(32 << 10, 'v'));
      }
    }
    std::vector<RowMutation> half = mutations;
    for (size_t i = 1; i < kEntries; i += 2) half[i].SetCell("nope", "q", "v");
    const WriteOptions options = Under(fmt::format("token of {}", is_fenced));
    const uint64_t commits_before = store_.database().Stats().since_open.commits;
    const uint64_t reads_before = reads;
    const std::vector<FailedMutation> failed = table().BulkApply(half, options);
    EXPECT_EQ(reads, reads_before + 1);
    EXPECT_GT(store_.database().Stats().since_open.commits, commits_before + 1);
    ASSERT_EQ(failed.size(), kEntries / 2);
    for (size_t i = 0; i < failed.size(); ++i) {
      EXPECT_EQ(failed[i].index, 2 * i + 1);
      EXPECT_EQ(CodeName(failed[i].status), "NotFound");
    }
    for (int repeats = 0; repeats < 2; ++repeats)
      EXPECT_TRUE(table().BulkApply(mutations, options).empty());
    EXPECT_EQ(reads, reads_before + 3);
    for (const RowMutation& mutation : mutations)
      EXPECT_EQ(Sum(mutation.row_key()), 1) << mutation.row_key();
  }
}

// Regression: after each commit of the other call, a call read all uses of the token again. Later
// it read those behind the first entry that no call had applied, which may be an invalid one.
TEST_F(ContractTokenTest, TwoBulkAppliesWithOneTokenReadItOnceEach) {
  const EventCounts& counts = store_.engine().storage().state.event_counts();
  constexpr size_t kEntries = 300;
  for (const size_t invalid_step : {kEntries, size_t{100}, size_t{2}}) {
    const auto is_invalid = [&](size_t i) { return i % invalid_step == 1; };
    std::vector<RowMutation> mutations;
    for (size_t i = 0; i < kEntries; ++i) {  // each gets a separate batch
      mutations.push_back(Add(fmt::format("row{:03} of {:03}", i, invalid_step)));
      mutations.back().DeleteFromColumn("counted", "q",
                                        TimestampRange{.start = Timestamp::FromMillis(1)});
      if (is_invalid(i)) mutations.back().SetCell("nope", "q", "v");
    }
    const uint64_t reads_before = counts.token_reads;
    const uint64_t uses_before = counts.token_uses_read;
    const auto apply = [&] {
      const std::vector<FailedMutation> failed =
          table().BulkApply(mutations, Under(fmt::format("token of {}", invalid_step)));
      EXPECT_EQ(failed.size(), (kEntries + invalid_step - 2) / invalid_step);
      for (const FailedMutation& entry : failed) EXPECT_TRUE(is_invalid(entry.index));
    };
    std::thread other(apply);
    apply();
    other.join();
    EXPECT_EQ(counts.token_reads, reads_before + 2);
    EXPECT_LE(counts.token_uses_read, uses_before + kEntries);
    for (size_t i = 0; i < kEntries; ++i)
      EXPECT_EQ(Sum(mutations[i].row_key()), is_invalid(i) ? 0 : 1) << mutations[i].row_key();
  }
}

TEST_F(ContractTokenTest, ACheckAnswersTheBranchOfTheFirst) {
  const auto check = [&](const std::string& token) {
    return table().CheckAndMutateRow("r", {}, Add("", 10), Add("", 1), Under(token)).value();
  };
  EXPECT_EQ(check("first of all"), MutationBranch::kPredicateNotMatched);
  EXPECT_EQ(check("first of all"), MutationBranch::kPredicateNotMatched)
      << "although it would match now";
  EXPECT_EQ(check("the second"), MutationBranch::kPredicateMatched);
  ASSERT_TRUE(table().Apply(RowMutation("r").DeleteFromRow()).ok());
  LetTheLogForget();
  EXPECT_EQ(check("the second"), MutationBranch::kPredicateMatched)
      << "although it would not match now";
  EXPECT_EQ(Sum(), 0);
}

// Regression: a branch without changes did not use its token, so that a repetition could take the
// other branch.
TEST_F(ContractTokenTest, ABranchWithoutChangesUsesItsTokenUp) {
  int tokens = 0;
  for (const bool reopens : {false, true}) {
    for (const bool matches : {false, true}) {
      const std::string row_key = fmt::format("row{}", ++tokens);
      const WriteOptions options = Under(fmt::format("token of {}", row_key));
      const MutationBranch first =
          matches ? MutationBranch::kPredicateMatched : MutationBranch::kPredicateNotMatched;
      const auto check = [&] {
        return table()
            .CheckAndMutateRow(row_key, {}, matches ? RowMutation() : Add(""),
                               matches ? Add("") : RowMutation(), options)
            .value();
      };
      const RowMutation set = RowMutation(row_key).SetCell("f", "q", "v");
      const RowMutation deletion = RowMutation(row_key).DeleteFromRow();
      if (matches) {
        ASSERT_TRUE(table().Apply(set).ok());
      }
      ASSERT_EQ(check(), first);
      ASSERT_TRUE(table().Apply(matches ? deletion : set).ok());
      if (reopens) LetTheLogForget();
      EXPECT_EQ(check(), first) << row_key << ": although the other branch would be taken now";
      EXPECT_EQ(Sum(row_key), 0) << row_key;
      store_.clock().Advance(std::chrono::minutes(15));
      EXPECT_NE(check(), first) << row_key << ": forgotten";
      EXPECT_EQ(Sum(row_key), 1) << row_key;
    }
  }
}

TEST_F(ContractTokenTest, AReadModifyWriteAnswersTheRowOfTheFirst) {
  const auto modify = [&] {
    const std::vector<ReadModifyWriteRule> rules = {
        ReadModifyWriteRule::IncrementAmount("f", "n", 5),
        ReadModifyWriteRule::AppendValue("f", "a", std::string("x\0", 2)),
        ReadModifyWriteRule::AppendValue("counted", "", "")};
    return Show(table().ReadModifyWriteRow("m", rules, Under("increment")).value());
  };
  const std::string first = modify();
  EXPECT_EQ(modify(), first);
  ASSERT_TRUE(
      table().ReadModifyWriteRow("m", {ReadModifyWriteRule::IncrementAmount("f", "n", 1)}).ok());
  ASSERT_TRUE(
      table()
          .Apply(RowMutation("m").SetCell("f", "a", Timestamp::FromMillis(2'000'000'000), "new"))
          .ok());
  EXPECT_EQ(modify(), first) << "whatever was written since";
  LetTheLogForget();
  ASSERT_TRUE(table().ModifyColumnFamilies({FamilyChange::Drop("f")}).ok());
  EXPECT_EQ(modify(), first) << "also of a family that is gone";
}

TEST_F(ContractTokenTest, ALargeRowIsReadAgainForARepeat) {
  int tokens = 0;
  const auto modify = [&](const std::string& token) {
    const std::vector<ReadModifyWriteRule> rules = {
        ReadModifyWriteRule::AppendValue("f", "large", std::string(5000, 'v')),
        ReadModifyWriteRule::IncrementAmount("f", "n", 5)};
    return table().ReadModifyWriteRow("m", rules, Under(token));
  };
  // Changes that a repeat notices, after the first call.
  const std::vector<std::function<absl::Status()>> changes = {
      [&] { return modify("another token").status(); },
      [&] { return table().Apply(RowMutation("m").DeleteFromColumn("f", "n")); },
      [&] { return table().ModifyColumnFamilies({FamilyChange::Drop("f")}); }};
  for (const std::function<absl::Status()>& change : changes) {
    const std::string token = fmt::format("token {:02}", ++tokens);
    const std::string first = Show(modify(token).value());
    EXPECT_EQ(Show(modify(token).value()), first);
    LetTheLogForget();
    EXPECT_EQ(Show(modify(token).value()), first);
    // The first change adds versions with later timestamps, which is no change of the cells.
    store_.clock().Advance(std::chrono::seconds(1));
    ASSERT_TRUE(change().ok());
    const std::string rows = ShowAll(table());
    const absl::StatusOr<Row> repeated = modify(token);
    if (tokens == 1) {
      EXPECT_EQ(Show(repeated.value()), first);
    } else {
      EXPECT_EQ(CodeName(repeated.status()), "FailedPrecondition") << tokens;
    }
    EXPECT_EQ(ShowAll(table()), rows) << "nothing is applied";
  }
}

TEST_F(ContractTokenTest, ALargeRowThatWasOverwrittenIsNotReturned) {
  const Schema micros = Schema().SetGranularity(TimestampGranularity::kMicros).AddFamily("f");
  store_.clock().Advance(std::chrono::microseconds(1));
  for (Table written : {table(), store_.database().CreateTable("micros", micros).value()}) {
    const auto append = [&] {
      return written.ReadModifyWriteRow(
          "m", {ReadModifyWriteRule::AppendValue("f", "q", std::string(5000, 'v'))},
          Under("token of " + written.name()));
    };
    // With the timestamp and the length of the first value.
    const auto overwrite = [&,
                            timestamp = append().value().cells().front().timestamp()](char byte) {
      return written.Apply(RowMutation("m").SetCell("f", "q", timestamp, std::string(5000, byte)));
    };
    ASSERT_TRUE(overwrite('w').ok());
    EXPECT_EQ(CodeName(append().status()), "FailedPrecondition") << written.name();
    ASSERT_TRUE(overwrite('v').ok());
    EXPECT_TRUE(append().ok()) << written.name();
  }
}

TEST_F(ContractTokenTest, AConditionalWriteRefusesATokenOfAnotherKindOfWrite) {
  const std::vector<ReadModifyWriteRule> rules = {
      ReadModifyWriteRule::IncrementAmount("f", "n", 1)};
  const auto check = [&](const std::string& token) {
    return CodeName(table().CheckAndMutateRow("r", {}, Add(""), Add(""), Under(token)).status());
  };
  const auto modify = [&](const std::string& token) {
    return CodeName(table().ReadModifyWriteRow("r", rules, Under(token)).status());
  };
  ASSERT_TRUE(table().Apply(Add(), Under("of Apply")).ok());
  ASSERT_EQ(check("of a check"), "OK");
  ASSERT_EQ(modify("of a modification"), "OK");
  EXPECT_EQ(check("of Apply"), "FailedPrecondition");
  EXPECT_EQ(modify("of Apply"), "FailedPrecondition");
  EXPECT_EQ(check("of a modification"), "FailedPrecondition");
  EXPECT_EQ(modify("of a check"), "FailedPrecondition");
  for (const char* token : {"of a check", "of a modification"})
    EXPECT_TRUE(table().Apply(Add(), Under(token)).ok()) << "nothing to answer";
  EXPECT_EQ(Sum(), 2);
}

// Returns the sum after a power loss. A write without sync precedes it; with `repeats`, a
// repetition with sync follows that write.
int64_t SumAfterPowerLoss(bool repeats, bool in_bulk) {
  const std::vector<RowMutation> mutations = {Add()};
  const auto write = [&](Table table, Durability durability) {
    if (in_bulk) return table.BulkApply(mutations, Under(kToken, durability)).empty();
    return table.Apply(mutations[0], Under(kToken, durability)).ok();
  };
  CrashFileSystem files;
  Database database =
      Access::Make<Database>(OpenDatabase("/db", SmallEngineOptions(&files)).value());
  Table table =
      database
          .CreateTable("t", Schema().AddFamily({.name = "sum", .value_type = ValueType::kInt64Sum}))
          .value();
  EXPECT_TRUE(write(table, Durability::kProcess));
  if (repeats) {
    EXPECT_TRUE(write(table, Durability::kDisk));
  }
  const std::unique_ptr<CrashFileSystem> image = files.Crash(CrashPolicy::DropUnsynced(), 1);
  const Database recovered =
      Access::Make<Database>(OpenDatabase("/db", SmallEngineOptions(image.get())).value());
  const std::optional<Row> row = recovered.OpenTable("t").value().ReadRow("r").value();
  return row.has_value() ? row->cell("sum", "q")->AsInt64().value() : 0;
}

TEST_F(ContractTokenTest, ADurableRepeatOfAWriteIsDurable) {
  for (const bool in_bulk : {false, true}) {
    EXPECT_EQ(SumAfterPowerLoss(false, in_bulk), 0);
    EXPECT_EQ(SumAfterPowerLoss(true, in_bulk), 1);
  }
}

TEST_F(ContractTokenTest, TheFilesOfTokensAreCounted) {
  EXPECT_EQ(store_.database().Stats().disk.token_bytes, 0u);
  ASSERT_TRUE(table().Apply(Add(), Under(kToken)).ok());
  LetTheLogForget();
  const DatabaseStats::Disk disk = store_.database().Stats().disk;
  EXPECT_GT(disk.token_bytes, 0u);
  EXPECT_EQ(disk.token_bytes + table().Stats()->bytes_on_disk, disk.sstable_bytes);
}

TEST_F(ContractTokenTest, ACheckpointRemembersToo) {
  ASSERT_TRUE(table().Apply(Add(), Under("in a file")).ok());
  LetTheLogForget();
  ASSERT_TRUE(table().Apply(Add(), Under("in the log")).ok());
  ASSERT_TRUE(store_.database().Checkpoint("/copy").ok());
  ASSERT_TRUE(store_.database().Close().ok());
  store_.Open({}, "/copy");
  for (const char* token : {"in a file", "in the log"})
    EXPECT_TRUE(table().Apply(Add(), Under(token)).ok());
  EXPECT_EQ(Sum(), 2);
}

// Regression: tokens took up to a sixteenth of the budget, and then writes with a token were
// rejected for 15 minutes.
TEST(ContractTokenBudgetTest, TokensDoNotRunOut) {
  constexpr int kTokens = 20'000;
  constexpr uint64_t kBudgetBytes = uint64_t{2} << 20;
  ContractDatabase store(kBudgetBytes);
  store.Open({.memory_budget_bytes = kBudgetBytes});
  Table& table =
      store.MakeTable(Schema().AddFamily({.name = "sum", .value_type = ValueType::kInt64Sum}));
  const auto write = [&](int i) {
    return table.Apply(Add("r", 1), Under(fmt::format("{:0>900}", i)));
  };
  for (int i = 0; i < kTokens; ++i) {
    const absl::Status status = write(i);
    ASSERT_TRUE(status.ok()) << i << ": " << status;
    store.clock().Advance(std::chrono::milliseconds(1));
  }
  EXPECT_LT(store.database().Stats().memory.charged_bytes, kBudgetBytes);
  for (int i = 0; i < kTokens; i += 100) ASSERT_TRUE(write(i).ok());
  EXPECT_EQ(table.ReadRow("r").value()->cell("sum", "q")->AsInt64().value(), kTokens);
}

}  // namespace
}  // namespace stele::internal
