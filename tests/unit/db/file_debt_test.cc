// Calls that make small files wait for compactions, so that files do not accumulate.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "db/engine.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr int kFileCount = 500;
constexpr size_t kFree = 64 + 1024 / 4;  // no call waits yet

// Without threads, a call that waits runs the jobs.
class FileDebtTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(database_.Open(), absl::OkStatus());
    table_ = *database_.database().CreateTable("t", Schema().AddFamily("f"));
  }
  static RowMutation Row(int i) {
    return RowMutation(fmt::format("{:05}", i)).SetCell("f", "q", Timestamp::FromMillis(1), "v");
  }
  // Makes as many files as no call waits for, and one more.
  void MakeFiles() {
    for (int i = 0; FilesNow() <= kFree; ++i) {
      ASSERT_EQ(table_.Apply(Row(i)), absl::OkStatus());
      ASSERT_EQ(database_.engine().admin().FlushTable(1), absl::OkStatus());
      ASSERT_LT(i, kFileCount);
    }
  }
  size_t FilesNow() { return database_.engine().storage().state.view()->version->files.size(); }

  CrashFileSystem files_;
  WorkloadDatabase database_{&files_};
  Table table_;
};

TEST_F(FileDebtTest, FlushesOfFewRowsDoNotAccumulateFiles) {
  for (int i = 0; i < kFileCount; ++i) {
    ASSERT_EQ(table_.Apply(Row(i)), absl::OkStatus());
    ASSERT_EQ(table_.Flush(), absl::OkStatus());
  }
  EXPECT_LT(FilesNow(), 330u);
  EXPECT_GT(FilesNow(), 16u) << "a few files are free";
}

TEST_F(FileDebtTest, LoadsOfFewRowsDoNotAccumulateFiles) {
  for (int i = 0; i < kFileCount; ++i) {
    BulkLoad load = table_.NewBulkLoad();
    ASSERT_EQ(load.Add(Row(i)), absl::OkStatus());
    ASSERT_EQ(load.Finish(), absl::OkStatus());
  }
  EXPECT_LT(FilesNow(), 330u);
}

// Regression: only loads below the size of a small file waited.
TEST_F(FileDebtTest, ALoadOfLargeFilesWaits) {
  Table other = *database_.database().CreateTable("other", Schema().AddFamily("f"));
  MakeFiles();
  BulkLoad load = other.NewBulkLoad();
  uint64_t state = 1;
  for (int i = 0; i < 20; ++i) {
    std::string value(64 << 10, '\0');  // incompressible
    for (char& c : value) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      c = static_cast<char>(state >> 56);
    }
    ASSERT_EQ(
        load.Add(RowMutation(Row(i).row_key()).SetCell("f", "q", Timestamp::FromMillis(1), value)),
        absl::OkStatus());
  }
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  EXPECT_GT(database_.database().Stats().since_open.bytes_loaded, uint64_t{1} << 20);
  EXPECT_LT(FilesNow(), kFree);
}

TEST_F(FileDebtTest, OnlyAFlushThatMakesAFileWaits) {
  Table other = *database_.database().CreateTable("other", Schema().AddFamily("f"));
  ASSERT_EQ(other.Apply(Row(0)), absl::OkStatus());
  MakeFiles();
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  EXPECT_EQ(FilesNow(), kFree + 1) << "the table has no rows in memory";
  ASSERT_EQ(other.Flush(), absl::OkStatus());
  EXPECT_LT(FilesNow(), kFree);
}

TEST_F(FileDebtTest, OnlyADropOfRowsInMemoryWaits) {
  Table other = *database_.database().CreateTable("other", Schema().AddFamily("f"));
  ASSERT_EQ(other.Apply(Row(0)), absl::OkStatus());
  MakeFiles();
  ASSERT_EQ(other.DropRowRange(RowRange::Prefix("1")), absl::OkStatus());
  EXPECT_EQ(FilesNow(), kFree + 1) << "no row of the range is in memory";
  ASSERT_EQ(other.DropRowRange(RowRange::Prefix("0")), absl::OkStatus());
  EXPECT_LT(FilesNow(), kFree);
}

TEST_F(FileDebtTest, ACompactionOfOtherRowsWaits) {
  Table other = *database_.database().CreateTable("other", Schema().AddFamily("f").AddSplit("1"));
  ASSERT_EQ(other.Apply(Row(0)), absl::OkStatus());
  MakeFiles();
  ASSERT_EQ(other.Compact(RowRange::Prefix("1")), absl::OkStatus());
  EXPECT_LT(FilesNow(), kFree);
}

TEST_F(FileDebtTest, AChangeOfFamiliesWaits) {
  Table other = *database_.database().CreateTable("other", Schema().AddFamily("f"));
  ASSERT_EQ(other.Apply(Row(0)), absl::OkStatus());
  MakeFiles();
  ASSERT_EQ(other.ModifyColumnFamilies({FamilyChange::Create({.name = "g"})}), absl::OkStatus());
  EXPECT_LT(FilesNow(), kFree);
}

}  // namespace
}  // namespace stele::internal
