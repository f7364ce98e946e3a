// A full disk: compactions leave room for flushes, a database can be opened on it, and deleting makes room.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "io/crash_file_system.h"
#include "io/file_names.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr uint64_t kRoomy = uint64_t{64} << 20;

class FullDiskTest : public ::testing::Test {
 protected:
  void SetUp() override { files_->SetCapacity(kRoomy); }
  void TearDown() override { Drop(); }

  absl::Status Open(bool small = false) {
    EngineOptions options = SmallEngineOptions(files_.get());
    if (!small) options.sizes = SizesFor(uint64_t{1} << 20);
    options.database.on_event = [this](const Event& event) {
      if (event.kind == Event::Kind::kBackgroundError) ++errors_told_;
    };
    STELE_ASSIGN_OR_RETURN(local_, OpenDatabase("/db", std::move(options)));
    database_ = Database(local_);
    return absl::OkStatus();
  }
  void Drop() {
    database_ = Database();
    local_.reset();
  }
  // The process dies, the machine does not, and the disk is full to the last byte but `free_bytes`.
  void KillOnAFullDisk(uint64_t free_bytes = 0) {
    std::unique_ptr<CrashFileSystem> image = files_->Crash(CrashPolicy::KilledProcess(), 1);
    Drop();
    files_ = std::move(image);
    files_->SetCapacity(files_->used_bytes() + free_bytes);
  }
  void FillDisk(uint64_t free_bytes = 0) { files_->SetCapacity(files_->used_bytes() + free_bytes); }

  Table Create(std::string_view name) {
    absl::StatusOr<Table> table = database_.CreateTable(name, Schema().AddFamily("f"));
    EXPECT_EQ(table.status(), absl::OkStatus());
    return table.value_or(Table());
  }
  Table Find(std::string_view name) { return database_.OpenTable(name).value_or(Table()); }
  static RowMutation SetRow(int row, size_t value_bytes = 4000) {
    std::string value(value_bytes, 'v');  // of bytes that no codec makes smaller
    uint64_t state = static_cast<uint64_t>(row) + 1;
    for (char& c : value) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      c = static_cast<char>(state >> 56);
    }
    return RowMutation(fmt::format("row{:04}", row)).SetCell("f", "q", Timestamp::FromMillis(1), value);
  }
  static void Write(Table& table, int begin, int end) {
    for (int row = begin; row < end; ++row) ASSERT_EQ(table.Apply(SetRow(row)), absl::OkStatus());
  }
  uint64_t ReserveBytes() { return files_->Stat("/db/RESERVE").value_or(FileInfo{}).bytes; }
  absl::Status Settle() {
    absl::Status idle = database_.WaitForIdle();
    for (int attempt = 0; attempt < 8 && !idle.ok(); ++attempt) idle = database_.WaitForIdle();
    return idle;
  }
  // A database with some files, some rows that are in the log alone, and, where there is such a thing, its reserve.
  void MakeDatabase() {
    ASSERT_EQ(Open(), absl::OkStatus());
    Table table = Create("t");
    Create("other");
    Write(table, 0, 100);
    ASSERT_EQ(table.Flush(), absl::OkStatus());
    ASSERT_EQ(Settle(), absl::OkStatus());
    Write(table, 100, 110);
  }

  std::unique_ptr<CrashFileSystem> files_ = std::make_unique<CrashFileSystem>();
  std::shared_ptr<LocalDatabase> local_;
  Database database_;
  int errors_told_ = 0;
};

TEST_F(FullDiskTest, AReserveIsKeptWhileThereIsRoom) {
  MakeDatabase();
  EXPECT_EQ(ReserveBytes(), uint64_t{1} << 20);
  Drop();
  EXPECT_EQ(ReserveBytes(), uint64_t{1} << 20) << "the next session may need it to open";
}

TEST_F(FullDiskTest, NoReserveTakesTheLastOfTheSpace) {
  files_->SetCapacity(uint64_t{1} << 20);
  ASSERT_EQ(Open(), absl::OkStatus());
  Table table = Create("t");
  Write(table, 0, 3);
  ASSERT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(ReserveBytes(), 0u);
  files_->SetCapacity(kRoomy);
  Write(table, 3, 6);
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(ReserveBytes(), uint64_t{1} << 20);
}

TEST_F(FullDiskTest, AfterAKillItOpensAndRowsCanBeDropped) {
  MakeDatabase();
  KillOnAFullDisk();
  ASSERT_EQ(Open(), absl::OkStatus());
  Table table = Find("t");
  EXPECT_TRUE(table.Exists("row0000").value_or(false));
  EXPECT_TRUE(table.Exists("row0109").value_or(false));
  const absl::Status refused = table.Apply(SetRow(200));
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_TRUE(absl::IsResourceExhausted(database_.Stats().last_background_error));
  EXPECT_EQ(errors_told_, 1);
  // Half of the rows, so that what is in memory has to be flushed.
  EXPECT_EQ(table.DropRowRange(RowRange::Prefix("row00")), absl::OkStatus());
  EXPECT_EQ(table.Apply(SetRow(200)), absl::OkStatus()) << "the files that went made more room than the reserve takes";
  EXPECT_FALSE(table.Exists("row0000").value_or(true));
  EXPECT_TRUE(table.Exists("row0109").value_or(false));
}

TEST_F(FullDiskTest, AfterAKillItOpensAndATableCanBeDeleted) {
  MakeDatabase();
  KillOnAFullDisk();
  ASSERT_EQ(Open(), absl::OkStatus());
  EXPECT_TRUE(absl::IsResourceExhausted(Find("other").Apply(SetRow(1))));
  ASSERT_EQ(database_.DeleteTable("t"), absl::OkStatus());
  ASSERT_EQ(Settle(), absl::OkStatus());
  FillDisk(uint64_t{4} << 20);
  EXPECT_EQ(Find("other").Apply(SetRow(1)), absl::OkStatus());
  ASSERT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(ReserveBytes(), uint64_t{1} << 20);
}

TEST_F(FullDiskTest, AfterAKillItOpensAndDeletedRowsGiveTheirSpaceBack) {
  MakeDatabase();
  KillOnAFullDisk();
  ASSERT_EQ(Open(), absl::OkStatus());
  Table table = Find("t");
  const uint64_t used = files_->used_bytes();
  for (int row = 0; row < 105; ++row) {
    ASSERT_EQ(table.Apply(RowMutation(fmt::format("row{:04}", row)).DeleteFromRow()), absl::OkStatus());
  }
  std::vector<RowMutation> more;
  for (int row = 105; row < 109; ++row) more.push_back(RowMutation(fmt::format("row{:04}", row)).DeleteFromFamily("f"));
  EXPECT_TRUE(table.BulkApply(more).empty());
  EXPECT_TRUE(absl::IsResourceExhausted(table.Apply(SetRow(200)))) << "the reserve is for deletes";
  ASSERT_EQ(table.Compact(), absl::OkStatus());
  EXPECT_LT(files_->used_bytes() + (uint64_t{300} << 10), used + ReserveBytes());
  EXPECT_TRUE(table.Exists("row0109").value_or(false));
  EXPECT_FALSE(table.Exists("row0000").value_or(true));
}

TEST_F(FullDiskTest, ADiskThatFillsUpRefusesWritesUntilRowsAreDropped) {
  MakeDatabase();
  FillDisk();
  Table table = Find("t");
  absl::Status refused;
  int row = 110;
  for (; row < 1000 && refused.ok(); ++row) refused = table.Apply(SetRow(row));
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  Settle().IgnoreError();
  EXPECT_EQ(table.Apply(RowMutation("row0001").DeleteFromRow()), absl::OkStatus());
  EXPECT_FALSE(table.Exists("row0001").value_or(true));
  EXPECT_EQ(table.DropRowRange(RowRange::Prefix("row00")), absl::OkStatus());
  EXPECT_TRUE(table.Exists("row0109").value_or(false));
  FillDisk(uint64_t{4} << 20);
  Settle().IgnoreError();
  EXPECT_EQ(table.Apply(SetRow(row)), absl::OkStatus());
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(database_.Stats().last_background_error, absl::OkStatus());
}

// Else it could be taken back before the flush that it was released for.
TEST_F(FullDiskTest, TheReserveIsNotTakenBackWhileAFlushNeedsIt) {
  MakeDatabase();
  Table table = Find("t");
  FillDisk(uint64_t{500} << 10);
  files_->FailKind(CallKind::kWrite, 1, {.error_number = ENOSPC, .sticky = true, .path_part = ".sst"});
  EXPECT_TRUE(absl::IsResourceExhausted(table.Flush()));
  Engine& engine = *local_->engine();
  EXPECT_TRUE(engine.MakeRoom());
  EXPECT_FALSE(engine.RestoreReserve());
  EXPECT_EQ(ReserveBytes(), 0u);
  files_->ClearFaults();
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(ReserveBytes(), uint64_t{1} << 20);
  EXPECT_EQ(table.Apply(SetRow(200)), absl::OkStatus());
}

// Writing and flushing need no more room than there is. What a compaction would write beside its inputs is not there.
TEST_F(FullDiskTest, CompactionsLeaveTheSpaceToFlushes) {
  ASSERT_EQ(Open(/*small=*/true), absl::OkStatus());
  Table table = Create("t");
  const auto write_file = [&](int file) {
    for (const int row : {0, 1, 999}) {
      RowMutation mutation = SetRow(row, 4000 + static_cast<size_t>(file));
      ASSERT_EQ(table.Apply(mutation), absl::OkStatus());
    }
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  };
  for (int file = 0; file < 5; ++file) write_file(file);
  FillDisk(uint64_t{60} << 10);
  write_file(5);
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(table.Apply(SetRow(2)), absl::OkStatus());
  EXPECT_EQ(table.Flush(), absl::OkStatus());
  EXPECT_EQ(errors_told_, 1) << "that compactions wait is told";
  EXPECT_TRUE(absl::IsResourceExhausted(database_.Stats().last_background_error));
  EXPECT_EQ(database_.Stats().compactions, 0u);
  files_->SetCapacity(kRoomy);
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_GT(database_.Stats().compactions, 0u);
  EXPECT_EQ(database_.Stats().last_background_error, absl::OkStatus());
}

// The space went to others while the job ran.
TEST_F(FullDiskTest, ACompactionThatRunsOutOfSpaceIsGivenUpAndWritesGoOn) {
  ASSERT_EQ(Open(/*small=*/true), absl::OkStatus());
  Table table = Create("t");
  for (int file = 0; file < 6; ++file) {
    Write(table, 0, 3);
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }
  const size_t names = files_->List("/db")->size();
  const uint64_t used = files_->used_bytes();
  files_->FailKind(CallKind::kWrite, 1, {.error_number = ENOSPC, .path_part = ".sst"});
  EXPECT_TRUE(absl::IsResourceExhausted(database_.WaitForIdle()));
  EXPECT_EQ(files_->List("/db")->size(), names) << "no part of the output stays";
  EXPECT_EQ(files_->used_bytes(), used);
  EXPECT_EQ(table.Apply(SetRow(2)), absl::OkStatus());
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(database_.Stats().compactions, 1u);
}

}  // namespace
}  // namespace stele::internal
