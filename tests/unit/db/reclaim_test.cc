// Tests that deleted, replaced and expired data leaves the files without a call of Compact().
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "db/engine.h"
#include "jobs/job_runner.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_contract.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr int kRows = 4000;
constexpr size_t kReclaimedBytes = 500;

class ReclaimTest : public ::testing::Test {
 protected:
  void SetUp() override {
    table_ = store_.MakeTable(Schema()
                                  .AddFamily("plain")
                                  .AddFamily("latest", GcRule::MaxNumVersions(1))
                                  .AddFamily("aged", GcRule::MaxAge(std::chrono::hours(1))));
  }
  static std::string RowKey(int row) { return fmt::format("row{:06}", row); }
  std::string RandomValue(size_t bytes = kReclaimedBytes) {
    std::string value(bytes, '\0');
    for (char& c : value) c = static_cast<char>(random_.Below(256));
    return value;
  }
  void Apply(const RowMutation& mutation) { ASSERT_EQ(table_.Apply(mutation), absl::OkStatus()); }
  void Flush() { ASSERT_EQ(table_.Flush(), absl::OkStatus()); }
  // Writes a value to every row, in one file.
  void WriteBase(const std::string& family) {
    for (int row = 0; row < kRows; ++row)
      Apply(RowMutation(RowKey(row)).SetCell(family, "q", RandomValue()));
    Flush();
    base_bytes_ = FileBytes();
    ASSERT_GT(base_bytes_, kRows * kReclaimedBytes);
  }
  uint64_t FileBytes() {
    uint64_t bytes = 0;
    for (const auto& [number, file] : store_.engine().storage().state.view()->version->Files())
      bytes += file->summary.file_bytes;
    return bytes;
  }
  uint64_t BytesCompacted() {
    return store_.engine().storage().jobs->counters().bytes_compacted.load();
  }
  void AwaitIdle() { ASSERT_EQ(store_.database().WaitForIdle(), absl::OkStatus()); }
  void RestAMinute() {
    store_.clock().Advance(std::chrono::minutes(1));
    AwaitIdle();
  }
  // The rest lasts: nothing is rewritten again and again.
  void ExpectNoMoreRewrites() {
    const uint64_t before = BytesCompacted();
    for (int minute = 0; minute < 5; ++minute) RestAMinute();
    EXPECT_EQ(BytesCompacted(), before);
  }

  Random random_{7};
  ContractDatabase store_;
  Table table_;
  uint64_t base_bytes_ = 0;
};

TEST_F(ReclaimTest, DeletedRows) {
  WriteBase("plain");
  for (int row = 0; row < kRows; ++row) Apply(RowMutation(RowKey(row)).DeleteFromRow());
  RestAMinute();
  EXPECT_EQ(FileBytes(), 0u);
  ExpectNoMoreRewrites();
}

TEST_F(ReclaimTest, DeletedRowsWhileOtherRowsAreWritten) {
  WriteBase("plain");
  for (int row = 0; row < kRows; ++row) Apply(RowMutation(RowKey(row)).DeleteFromRow());
  Flush();
  Apply(RowMutation("other").SetCell("plain", "q", "v"));
  Flush();
  AwaitIdle();
  EXPECT_LT(FileBytes(), base_bytes_ / 100);
}

TEST_F(ReclaimTest, HalfOfTheRowsInAnyOrder) {
  WriteBase("plain");
  for (int row = 0; row < kRows; row += 2) Apply(RowMutation(RowKey(row)).DeleteFromRow());
  RestAMinute();
  EXPECT_LT(FileBytes(), base_bytes_ * 6 / 10);
  ExpectNoMoreRewrites();
}

TEST_F(ReclaimTest, AFifthOfTheRowsTogether) {
  WriteBase("plain");
  for (int row = 0; row < kRows / 5; ++row) Apply(RowMutation(RowKey(row)).DeleteFromRow());
  RestAMinute();
  EXPECT_LT(FileBytes(), base_bytes_ * 81 / 100);
  ExpectNoMoreRewrites();
}

TEST_F(ReclaimTest, DeletedColumnsAndFamilies) {
  WriteBase("plain");
  for (int row = 0; row < kRows; ++row) {
    RowMutation mutation(RowKey(row));
    if (row % 2 == 0) {
      mutation.DeleteFromColumn("plain", "q");
    } else {
      mutation.DeleteFromFamily("plain");
    }
    Apply(mutation);
  }
  RestAMinute();
  EXPECT_EQ(FileBytes(), 0u);
}

TEST_F(ReclaimTest, OutrankedVersions) {
  WriteBase("latest");
  for (int row = 0; row < kRows; ++row) Apply(RowMutation(RowKey(row)).SetCell("latest", "q", "v"));
  RestAMinute();
  EXPECT_LT(FileBytes(), base_bytes_ / 10);
  ExpectNoMoreRewrites();
}

TEST_F(ReclaimTest, ReplacedCells) {
  for (const size_t bytes : {kReclaimedBytes, size_t{1}}) {
    for (int row = 0; row < kRows; ++row)
      Apply(RowMutation(RowKey(row))
                .SetCell("plain", "q", Timestamp::FromMillis(1), RandomValue(bytes)));
    if (bytes == kReclaimedBytes) Flush();
    if (bytes == kReclaimedBytes) base_bytes_ = FileBytes();
  }
  RestAMinute();
  EXPECT_LT(FileBytes(), base_bytes_ / 10);
}

TEST_F(ReclaimTest, ExpiredCells) {
  WriteBase("aged");
  store_.clock().Advance(std::chrono::minutes(50));
  for (int row = kRows; row < 5 * kRows; ++row)
    Apply(RowMutation(RowKey(row)).SetCell("aged", "q", RandomValue()));
  Flush();
  for (int minute = 0; minute < 12; ++minute) RestAMinute();
  EXPECT_LT(FileBytes(), 41 * base_bytes_ / 10);
}

// Rows are added at the end and deleted at the beginning.
TEST_F(ReclaimTest, AQueue) {
  uint64_t most = 0;
  constexpr int kHeld = 200;
  for (int row = 0; row < 5 * kRows; ++row) {
    Apply(RowMutation(RowKey(row)).SetCell("plain", "q", RandomValue()));
    if (row >= kHeld) Apply(RowMutation(RowKey(row - kHeld)).DeleteFromRow());
    if (row % 1000 == 999) Flush();
    if (row % 1000 == 999) AwaitIdle();
    most = std::max(most, FileBytes());
  }
  EXPECT_LT(most, 20 * kHeld * kReclaimedBytes);
  RestAMinute();
  EXPECT_LT(FileBytes(), kHeld * (kReclaimedBytes + 50) * 12 / 10);
}

TEST_F(ReclaimTest, OneLargeRowAmongManySmallOnes) {
  for (int row = 0; row < kRows; ++row) Apply(RowMutation(RowKey(row)).SetCell("plain", "q", "v"));
  RowMutation large("large");
  for (int column = 0; column < 4000; ++column)
    large.SetCell("plain", fmt::format("q{:05}", column), RandomValue());
  Apply(large);
  Flush();
  const uint64_t before = FileBytes();
  Apply(RowMutation("large").DeleteFromRow());
  Flush();
  RestAMinute();
  EXPECT_LT(FileBytes(), before / 10);
}

TEST_F(ReclaimTest, DeletesOfAbsentRowsRewriteNothing) {
  WriteBase("plain");
  for (int round = 0; round < 3; ++round) {
    for (int row = 0; row < kRows; ++row)
      Apply(RowMutation(RowKey(row) + "absent").DeleteFromRow());
    Flush();
    RestAMinute();
  }
  EXPECT_EQ(BytesCompacted(), 0u);
}

TEST_F(ReclaimTest, NewRowsRewriteNothing) {
  WriteBase("latest");
  for (int round = 0; round < 3; ++round) {
    for (int row = 0; row < kRows / 4; ++row)
      Apply(RowMutation(RowKey(row) + std::to_string(round)).SetCell("latest", "q", RandomValue()));
    Flush();
    RestAMinute();
  }
  EXPECT_EQ(BytesCompacted(), 0u);
}

// A tablet in use is not rewritten for less than a quarter, and a memtable of an idle one is
// flushed only if that may free a seventh.
TEST_F(ReclaimTest, FewDeletesWait) {
  WriteBase("plain");
  for (int row = 0; row < kRows / 20; ++row) Apply(RowMutation(RowKey(row)).DeleteFromRow());
  RestAMinute();
  EXPECT_EQ(FileBytes(), base_bytes_);
  for (int row = 0; row < kRows / 5; ++row) Apply(RowMutation(RowKey(row)).DeleteFromRow());
  Flush();
  AwaitIdle();
  EXPECT_GE(FileBytes(), base_bytes_);
}

// Regression: a sample that failed once was taken for the result until the files changed.
TEST(ReclaimAfterErrorTest, ASampleThatFailedIsTakenAgain) {
  CrashFileSystem files;
  const auto clock = std::make_shared<ManualClock>(Timestamp::FromMicros(1'000'000'000'000));
  EngineOptions options = SmallEngineOptions(&files);
  options.sizes = SizesFor(uint64_t{64} << 20);
  options.database.clock = clock;
  auto local = OpenDatabase("/db", std::move(options));
  ASSERT_TRUE(local.ok()) << local.status();
  Database database = Access::Make<Database>(*local);
  Table table = *database.CreateTable("t", Schema().AddFamily("f"));
  Random random(7);
  std::string value(500, '\0');
  const auto row_key = [](int row) { return fmt::format("row{:06}", row); };
  for (int row = 0; row < kRows; ++row) {
    for (char& c : value) c = static_cast<char>(random.Below(256));
    ASSERT_TRUE(table.Apply(RowMutation(row_key(row)).SetCell("f", "q", value)).ok());
  }
  ASSERT_TRUE(table.Flush().ok());
  ASSERT_TRUE(database.WaitForIdle().ok());
  const uint64_t full_bytes = database.Stats().disk.sstable_bytes;
  // Every other row: only a sample finds out how many bytes that frees.
  for (int row = 0; row < kRows; row += 2)
    ASSERT_TRUE(table.Apply(RowMutation(row_key(row)).DeleteFromRow()).ok());
  files.FailRead(files.reads() + 1, {.error_number = EIO, .sticky = true});
  clock->Advance(std::chrono::minutes(1));
  database.WaitForIdle().IgnoreError();
  files.ClearFaults();
  ASSERT_GE(database.Stats().disk.sstable_bytes, full_bytes)
      << "nothing was freed without a sample";
  for (int minute = 0; minute < 3; ++minute) {
    clock->Advance(std::chrono::minutes(1));
    ASSERT_TRUE(database.WaitForIdle().ok());
  }
  EXPECT_LT(database.Stats().disk.sstable_bytes, full_bytes * 6 / 10);
}

}  // namespace
}  // namespace stele::internal
