// Tests write groups: a conditional write joins a group only if the group's other writes do not
// touch its rows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/checksum.h"
#include "commit/row_latches.h"
#include "db/engine.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

// Returns keys that share no row latch, so that all their writers can queue at the same time.
std::vector<std::string> RowsOfTheirOwn(size_t count) {
  std::vector<std::string> rows;
  std::set<size_t> stripes;
  for (int i = 0; rows.size() < count; ++i) {
    const std::string row = fmt::format("row{}", i);
    if (stripes.insert(Checksum64(row) % RowLatches::kStripes).second) rows.push_back(row);
  }
  return rows;
}

class GroupCommitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(database_.Open(), absl::OkStatus());
    table_ = database_.database().CreateTable("t", Schema().AddFamily("f")).value_or(Table());
  }
  Engine& engine() { return database_.engine(); }

  // Runs the writers so that all are in the queue, in this order, before the first commit. Returns
  // the number of file syncs.
  int RunTogether(const std::vector<std::function<void()>>& writers) {
    std::vector<std::thread> threads;
    EXPECT_EQ(engine().storage().committer->RunExclusive([&] {
      for (const std::function<void()>& writer : writers) {
        threads.emplace_back(writer);
        while (engine().storage().committer->queued() < threads.size() + 1)
          std::this_thread::yield();
      }
      syncs_ = 0;
      return absl::OkStatus();
    }),
              absl::OkStatus());
    for (std::thread& thread : threads) thread.join();
    return syncs_;
  }
  // Sets f:first if the row is empty, else f:second.
  MutationBranch Check(const std::string& row) {
    const absl::StatusOr<MutationBranch> branch = Table(table_).CheckAndMutateRow(
        row, {}, RowMutation().SetCell("f", "second", Ms(1), "v"),
        RowMutation().SetCell("f", "first", Ms(1), "v"), {.durability = Durability::kDisk});
    EXPECT_TRUE(branch.ok()) << branch.status();
    return branch.value_or(MutationBranch::kPredicateMatched);
  }
  void Set(const std::string& row, const std::string& value) {
    EXPECT_EQ(Table(table_).Apply(RowMutation(row).SetCell("f", "q", Ms(1), value),
                                  {.durability = Durability::kDisk}),
              absl::OkStatus());
  }
  uint64_t Refusals() { return engine().storage().state.event_counts().condition_refusals.load(); }
  std::string Text() { return DumpTable(table_).value_or("unreadable"); }

  CrashFileSystem files_;
  std::atomic<int> syncs_{0};
  ObservedFileSystem observed_{&files_, [this](CallKind kind, const std::string&) {
                                 syncs_ += kind == CallKind::kSync ? 1 : 0;
                               }};
  WorkloadDatabase database_{SmallEngineOptions(&observed_), "/db"};
  Table table_;
};

// Regression: each conditional write was a separate group, so that sixteen clients waited for
// sixteen syncs in sequence.
TEST_F(GroupCommitTest, ConditionalWritesOfDifferentRowsShareASync) {
  std::vector<std::function<void()>> writers;
  for (const std::string& row : RowsOfTheirOwn(12)) {
    writers.push_back([this, row] { EXPECT_EQ(Check(row), MutationBranch::kPredicateNotMatched); });
    writers.push_back([this, row] { Set(row + "'s neighbour", "v"); });
  }
  EXPECT_EQ(RunTogether(writers), 1);
  EXPECT_EQ(Refusals(), 0u);
}

TEST_F(GroupCommitTest, AConditionalWriteSeesWhatTheGroupBeforeItWrites) {
  MutationBranch branch = MutationBranch::kPredicateNotMatched;
  EXPECT_EQ(RunTogether({[this] { Set("other", "v"); }, [this] { Set("r", "v"); },
                         [&] { branch = Check("r"); }}),
            2);
  EXPECT_EQ(branch, MutationBranch::kPredicateMatched);
  EXPECT_EQ(Refusals(), 1u) << "it was looked at again";
  EXPECT_EQ(Text(), "other f:q@1000=v\nr f:q@1000=v\nr f:second@1000=v\n");
}

// A group too large to search it for rows.
TEST_F(GroupCommitTest, AConditionalWriteBehindALargeBatchWaits) {
  MutationBranch branch = MutationBranch::kPredicateNotMatched;
  const auto write_much = [this] {
    std::vector<RowMutation> mutations;
    for (int i = 0; i < 40; ++i)
      mutations.push_back(
          RowMutation(fmt::format("m{:02}", i)).SetCell("f", "q", Ms(1), std::string(2000, 'x')));
    EXPECT_TRUE(Table(table_).BulkApply(mutations, {.durability = Durability::kDisk}).empty());
  };
  EXPECT_EQ(
      RunTogether({[this] { Set("other", "v"); }, write_much, [&] { branch = Check("m39"); }}), 2);
  EXPECT_EQ(branch, MutationBranch::kPredicateMatched);
}

}  // namespace
}  // namespace stele::internal
