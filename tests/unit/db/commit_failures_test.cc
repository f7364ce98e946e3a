// Tests writes that the disk rejects, through the whole engine. A rejected write never reappears, a
// write that frees space is accepted, and writes in one write group do not fail because of each
// other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "db/engine.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

RowMutation SetValue(std::string row, std::string_view value) {
  return RowMutation(std::move(row)).SetCell("f", "q", Timestamp::FromMicros(1000), value);
}

class CommitFailuresTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(database_.Open(), absl::OkStatus()); }

  Table Create(std::string_view name) {
    absl::StatusOr<Table> table = database_.database().CreateTable(name, Schema().AddFamily("f"));
    EXPECT_TRUE(table.ok()) << table.status();
    return table.value_or(Table());
  }
  std::string Text() { return DumpDatabase(database_.database()).value_or("unreadable"); }

  CrashFileSystem files_;
  WorkloadDatabase database_{&files_};
};

// Regression: the write had failed for the caller, and after a kill it was there.
TEST_F(CommitFailuresTest, ARefusedWriteThatReachedTheDiskStaysRefused) {
  Table table = Create("t");
  ASSERT_EQ(table.Apply(SetValue("acked", "1")), absl::OkStatus());
  const std::string acked = Text();
  for (uint64_t nth = 1; nth <= 2; ++nth)
    files_.FailKind(CallKind::kWrite, nth, Fault{.error_number = EIO, .whole = true});
  EXPECT_TRUE(absl::IsUnavailable(table.Apply(SetValue("refused", "1"))));
  EXPECT_EQ(Text(), acked);
  for (const CrashPolicy& policy : {CrashPolicy::KilledProcess(), CrashPolicy::KeepAll()}) {
    const auto image = files_.Crash(policy, 1);
    WorkloadDatabase reopened(image.get());
    ASSERT_EQ(reopened.Open(), absl::OkStatus());
    EXPECT_EQ(DumpDatabase(reopened.database()).value_or("unreadable"), acked);
  }
  ASSERT_EQ(table.Apply(SetValue("next", "1")), absl::OkStatus());
  const std::string next = Text();
  const auto image = files_.Crash(CrashPolicy::KilledProcess(), 1);
  WorkloadDatabase reopened(image.get());
  ASSERT_EQ(reopened.Open(), absl::OkStatus());
  EXPECT_EQ(DumpDatabase(reopened.database()).value_or("unreadable"), next);
}

TEST_F(CommitFailuresTest, ARefusedWriteThatCannotBeUndonePoisonsAndSaysSo) {
  Table table = Create("t");
  files_.FailKind(CallKind::kWrite, 1, Fault{.error_number = EIO, .sticky = true, .whole = true});
  const absl::Status refused = table.Apply(SetValue("a", "1"));
  files_.ClearFaults();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_NE(refused.message().find("may be found again"), absl::string_view::npos) << refused;
  EXPECT_TRUE(absl::IsFailedPrecondition(table.Apply(SetValue("b", "1"))));
  EXPECT_EQ(table.Exists("a").value_or(true), false);
}

// On a full disk, rows that share their memtable with others cannot be dropped, and none is. Rows
// in files can be dropped, and that makes room for the others.
TEST_F(CommitFailuresTest, DropRowRangeOnAFullDisk) {
  Table full = Create("full");
  Table waiting = Create("waiting");
  for (int i = 0; i < 8; ++i)
    ASSERT_EQ(full.Apply(SetValue(fmt::format("row{}", i), std::string(4000, 'x'))),
              absl::OkStatus());
  ASSERT_EQ(full.Flush(), absl::OkStatus());
  ASSERT_EQ(waiting.Apply(SetValue("a", std::string(2000, 'y'))), absl::OkStatus());
  ASSERT_EQ(waiting.Apply(SetValue("b", std::string(2000, 'z'))), absl::OkStatus());
  const std::string before = Text();
  files_.SetCapacity(files_.used_bytes());
  EXPECT_TRUE(absl::IsResourceExhausted(waiting.Flush()));
  EXPECT_TRUE(
      absl::IsResourceExhausted(waiting.Apply(SetValue("c", "refused while the disk is full"))));
  EXPECT_TRUE(absl::IsResourceExhausted(waiting.DropRowRange(RowRange::Closed("b", "b"))));
  EXPECT_EQ(Text(), before);
  files_.SetCapacity(files_.used_bytes() + 500);  // the manifest's last block has room for an edit
  ASSERT_EQ(full.DropRowRange(RowRange::All()), absl::OkStatus());
  EXPECT_EQ(DumpTable(full).value_or("unreadable").size(), 0u);
  EXPECT_EQ(waiting.DropRowRange(RowRange::Closed("b", "b")), absl::OkStatus());
  EXPECT_TRUE(*waiting.Exists("a"));
  EXPECT_FALSE(*waiting.Exists("b"));
  EXPECT_EQ(waiting.Apply(SetValue("c", "there is room again")), absl::OkStatus());
}

// A drop of all rows of a memtable needs no flush, and so no space but that of its edit.
TEST_F(CommitFailuresTest, DropRowRangeOfWholeMemtablesOnAFullDisk) {
  Table table = Create("t");
  ASSERT_EQ(table.Apply(SetValue("a", std::string(4000, 'x'))), absl::OkStatus());
  ASSERT_EQ(table.Apply(SetValue("b1", "older")), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  const std::string before = Text();
  for (const char* const row : {"b1", "b2"})
    ASSERT_EQ(table.Apply(SetValue(row, std::string(2000, 'y'))), absl::OkStatus());
  files_.SetCapacity(files_.used_bytes());
  EXPECT_TRUE(absl::IsResourceExhausted(table.Flush()));
  files_.SetCapacity(files_.used_bytes() + 500);  // the manifest's last block has room for edits
  ASSERT_EQ(table.DropRowRange(RowRange::Prefix("b")), absl::OkStatus());
  EXPECT_EQ(DumpTable(table).value_or("unreadable"), "a f:q@1000=" + std::string(4000, 'x') + "\n");
  const std::string after = Text();
  for (const CrashPolicy& policy : {CrashPolicy::DropUnsynced(), CrashPolicy::KeepAll()}) {
    const auto image = files_.Crash(policy, 1);
    WorkloadDatabase reopened(image.get());
    ASSERT_EQ(reopened.Open(), absl::OkStatus());
    EXPECT_EQ(DumpDatabase(reopened.database()).value_or("unreadable"), after);
  }
  files_.SetCapacity(UINT64_MAX);
  EXPECT_EQ(table.Apply(SetValue("b3", "later")), absl::OkStatus()) << "no flush fails any more";
  ASSERT_EQ(table.DropRowRange(RowRange::All()), absl::OkStatus());
  EXPECT_EQ(DumpTable(table).value_or("unreadable"), "");
}

// Regression: a small row before a large one made a batch above the size limit, and both were
// rejected. A large row now gets a separate batch.
TEST_F(CommitFailuresTest, BulkApplyPutsALargeRowIntoABatchOfItsOwn) {
  Table table = Create("t");
  const uint64_t before = database_.database().Stats().since_open.commits;
  const std::string large(600 << 10, 'x');
  const std::vector<RowMutation> mutations = {SetValue("a", "1"), SetValue("b", "1"),
                                              SetValue("c", large), SetValue("d", "1"),
                                              SetValue("e", "1")};
  EXPECT_TRUE(table.BulkApply(mutations).empty());
  EXPECT_EQ(database_.database().Stats().since_open.commits - before, 3u) << "a and b; c; d and e";
  for (const char* row : {"a", "b", "c", "d", "e"})
    EXPECT_TRUE(table.Exists(row).value_or(false)) << row;
}

}  // namespace
}  // namespace stele::internal
