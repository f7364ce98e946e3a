// Tests large writes whose mutation is freed before it is applied.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>

#include "db/engine.h"
#include "db/local_table.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr uint64_t kBudgetBytes = uint64_t{8} << 20;
constexpr size_t kLargeBytes = kBudgetBytes / 2;  // such a write runs alone

EngineOptions Options(FileSystem* file_system) {
  EngineOptions options = SmallEngineOptions(file_system);
  options.database.memory_budget_bytes = kBudgetBytes;
  options.sizes = SizesFor(kBudgetBytes);
  return options;
}

class OwnedWritesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    files_.SetCapacity(uint64_t{256} << 20);  // with room for the reserve
    ASSERT_EQ(database_.Open(), absl::OkStatus());
    table_ = database_.database().CreateTable("t", Schema().AddFamily("f")).value_or(Table());
  }

  static RowMutation SetRow(size_t value_bytes) {
    return RowMutation("row").SetCell("f", "q", Timestamp::FromMillis(1),
                                      std::string(value_bytes, 'v'));
  }
  size_t StoredBytes() const {
    const auto cell = table_.ReadCell("row", "f", "q");
    return cell.ok() && cell->has_value() ? (*cell)->value().size() : 0;
  }
  Engine& engine() { return database_.engine(); }
  uint32_t table_id() const {
    return static_cast<const LocalTable&>(*Access::Backend(table_)).table_id();
  }

  CrashFileSystem files_;
  WorkloadDatabase database_{Options(&files_), "/db"};
  Table table_;
};

TEST_F(OwnedWritesTest, ALargeMutationIsFreedAndApplied) {
  RowMutation mutation = SetRow(kLargeBytes);
  EXPECT_EQ(table_.Apply(std::move(mutation)), absl::OkStatus());
  EXPECT_EQ(Access::EncodedOps(mutation).size(), 0u);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(mutation.row_key(), "row");
  EXPECT_EQ(StoredBytes(), kLargeBytes);
  EXPECT_EQ(table_.Stats()->writes, 1u);
  const RowMutation kept = SetRow(kLargeBytes + 1);
  EXPECT_EQ(table_.Apply(kept), absl::OkStatus());
  EXPECT_GT(Access::EncodedOps(kept).size(), kLargeBytes);
  EXPECT_EQ(StoredBytes(), kLargeBytes + 1);
}

TEST_F(OwnedWritesTest, TheBranchThatIsAppliedIsFreed) {
  for (const bool exists : {false, true}) {
    RowMutation if_matched = SetRow(kLargeBytes + 1);
    RowMutation if_not_matched = SetRow(kLargeBytes);
    const absl::StatusOr<MutationBranch> branch =
        table_.CheckAndMutateRow("row", Filter(), std::move(if_matched), std::move(if_not_matched));
    ASSERT_EQ(branch.status(), absl::OkStatus());
    EXPECT_EQ(*branch,
              exists ? MutationBranch::kPredicateMatched : MutationBranch::kPredicateNotMatched);
    const RowMutation& applied = exists ? if_matched : if_not_matched;  // NOLINT
    EXPECT_EQ(Access::EncodedOps(applied).size(), 0u);
    EXPECT_EQ(StoredBytes(), exists ? kLargeBytes + 1 : kLargeBytes);
  }
  EXPECT_EQ(table_.Stats()->writes, 2u);
}

// A pause refuses the write, which is then attempted again.
TEST_F(OwnedWritesTest, AWriteThatAPauseRefusesIsNotFreed) {
  for (const size_t bytes : {kLargeBytes, kLargeBytes + 1}) {
    ASSERT_EQ(
        engine().storage().committer->PauseWrites(table_id(), [] { return absl::OkStatus(); }),
        absl::OkStatus());
    const uint64_t refusals_before = engine().storage().state.event_counts().pause_refusals.load();
    std::thread writer([this, bytes] {
      if (bytes == kLargeBytes) {
        EXPECT_EQ(table_.Apply(SetRow(bytes)), absl::OkStatus());
      } else {
        EXPECT_EQ(table_.CheckAndMutateRow("row", Filter(), SetRow(bytes), RowMutation()).status(),
                  absl::OkStatus());
      }
    });
    while (engine().storage().state.event_counts().pause_refusals.load() == refusals_before)
      std::this_thread::yield();
    engine().storage().committer->ResumeWrites(table_id());
    writer.join();
    EXPECT_EQ(StoredBytes(), bytes);
  }
}

// A branch that only deletes must not make the server try again to apply a freed one.
TEST_F(OwnedWritesTest, AWriteThatFindsNoSpaceFails) {
  ASSERT_EQ(table_.Apply(SetRow(1)), absl::OkStatus());
  files_.SetCapacity(files_.used_bytes());
  RowMutation if_not_matched("row");
  if_not_matched.DeleteFromRow();
  const absl::StatusOr<MutationBranch> branch =
      table_.CheckAndMutateRow("row", Filter(), SetRow(kLargeBytes), std::move(if_not_matched));
  EXPECT_TRUE(absl::IsResourceExhausted(branch.status())) << branch.status();
  const absl::Status status = table_.Apply(SetRow(kLargeBytes));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(StoredBytes(), 1u);
}

}  // namespace
}  // namespace stele::internal
