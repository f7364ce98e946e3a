// Tests a full disk: compactions leave room for flushes, a database can be opened, and deletes free
// space.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "io/file_names.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "wal/log_format.h"
#include "wal/log_reader.h"

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
    options.database.on_event = [this](const DatabaseEvent& event) {
      if (event.kind != DatabaseEvent::Kind::kBackgroundError) return;
      ++errors_told_;
      last_error_ = event.message;
    };
    STELE_ASSIGN_OR_RETURN(local_, OpenDatabase("/db", std::move(options)));
    database_ = Access::Make<Database>(local_);
    return absl::OkStatus();
  }
  void Drop() {
    database_ = Database();
    local_.reset();
  }
  // Kills the process but not the machine, and leaves only `free_bytes` on the disk.
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
    std::string value(value_bytes, 'v');  // incompressible
    uint64_t state = static_cast<uint64_t>(row) + 1;
    for (char& c : value) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      c = static_cast<char>(state >> 56);
    }
    return RowMutation(fmt::format("row{:04}", row))
        .SetCell("f", "q", Timestamp::FromMillis(1), value);
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
  // Makes a database with several files, some rows only in the log, and its reserve if the platform
  // has one.
  void MakeDatabase() {
    ASSERT_EQ(Open(), absl::OkStatus());
    Table table = Create("t");
    Create("other");
    Write(table, 0, 100);
    ASSERT_EQ(table.Flush(), absl::OkStatus());
    ASSERT_EQ(Settle(), absl::OkStatus());
    Write(table, 100, 110);
  }

  // The same without a reserve, and without log segments for later use. An Open finds nothing that
  // it could remove.
  void MakeDatabaseWithoutReserve() {
    MakeDatabase();
    TakeReserve();
    ASSERT_EQ(Open(), absl::OkStatus()) << "the spare segments go";
    EXPECT_EQ(ReserveBytes(), 0u);
  }
  // Another process takes the bytes of the reserve. The database must not be open.
  void TakeReserve() {
    KillOnAFullDisk();
    ASSERT_EQ(files_->Remove("/db/RESERVE"), absl::OkStatus());
    FillDisk();
  }
  std::vector<std::string> Segments() {
    std::vector<std::string> names = files_->List("/db").value_or(std::vector<std::string>{});
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".log"); });
    return names;
  }
  // Closes the database properly, and returns the end of its log.
  LogTail CloseDatabase() {
    const uint64_t database_id = local_->engine()->storage().directory.id();
    FillDisk(uint64_t{4} << 20);  // for the end marks
    EXPECT_EQ(database_.Close(), absl::OkStatus());
    Drop();
    const auto tail =
        ReadLog({.file_system = files_.get(), .directory = "/db", .database_id = database_id},
                [](uint64_t, std::string_view) { return absl::OkStatus(); });
    EXPECT_TRUE(tail.ok() && tail->clean) << tail.status();
    return tail.value_or(LogTail());
  }
  // Opens the database, which has no space for a log segment.
  void OpenWithoutASegment() {
    const std::vector<std::string> segments = Segments();
    ASSERT_EQ(Open(), absl::OkStatus());
    ASSERT_EQ(Segments(), segments);
  }

  std::unique_ptr<CrashFileSystem> files_ = std::make_unique<CrashFileSystem>();
  std::shared_ptr<LocalDatabase> local_;
  Database database_;
  int errors_told_ = 0;
  std::string last_error_;
};

TEST_F(FullDiskTest, AReserveIsKeptWhileThereIsRoom) {
  MakeDatabase();
  EXPECT_EQ(ReserveBytes(), uint64_t{1} << 20);
  Drop();
  EXPECT_EQ(ReserveBytes(), uint64_t{1} << 20) << "the next session may need it to open";
}

TEST_F(FullDiskTest, AWriteThatFindsNoSpaceShowsInTheStatsUntilThereIsSpace) {
  MakeDatabase();
  EXPECT_EQ(database_.Stats().write_refusal, absl::OkStatus());
  FillDisk();
  Table table = Find("t");
  int row = 1000;
  while (table.Apply(SetRow(row)).ok()) ++row;
  EXPECT_TRUE(absl::IsResourceExhausted(database_.Stats().write_refusal));
  EXPECT_EQ(database_.WriteRefusal(), database_.Stats().write_refusal);
  files_->SetCapacity(kRoomy);
  ASSERT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(database_.Stats().write_refusal, absl::OkStatus()) << "without another write";
  EXPECT_EQ(database_.WriteRefusal(), absl::OkStatus());
}

// A health check must not wait for a busy database. Otherwise this test does not end.
TEST_F(FullDiskTest, ThatWritesAreAcceptedIsKnownWithoutTheLockOfTheState) {
  MakeDatabase();
  const MutexLock lock(local_->engine()->storage().state.mutex());
  EXPECT_EQ(database_.WriteRefusal(), absl::OkStatus());
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
  EXPECT_TRUE(absl::IsResourceExhausted(database_.Stats().write_refusal));
  EXPECT_GT(database_.Stats().since_open.replayed_log_bytes, 10u * 4000)
      << "ten rows were only in the log";
  // Half of the rows, so that the memtable must be flushed.
  EXPECT_EQ(table.DropRowRange(RowRange::Prefix("row00")), absl::OkStatus());
  EXPECT_EQ(table.Apply(SetRow(200)), absl::OkStatus())
      << "the files that went made more room than the reserve takes";
  EXPECT_EQ(database_.Stats().write_refusal, absl::OkStatus());
  EXPECT_FALSE(table.Exists("row0000").value_or(true));
  EXPECT_TRUE(table.Exists("row0109").value_or(false));
}

// The disk seems to have room. Only a write finds that there is none.
TEST_F(FullDiskTest, AfterAKillUnderAQuotaItOpensAndRowsCanBeDeletedAndDropped) {
  MakeDatabase();
  KillOnAFullDisk();
  files_->SetQuota(files_->used_bytes());
  ASSERT_EQ(Open(), absl::OkStatus());
  Table table = Find("t");
  EXPECT_TRUE(table.Exists("row0109").value_or(false));
  EXPECT_EQ(table.Apply(RowMutation("row0109").DeleteFromRow()), absl::OkStatus());
  EXPECT_EQ(table.DropRowRange(RowRange::Prefix("row00")), absl::OkStatus());
  EXPECT_EQ(table.Apply(SetRow(200)), absl::OkStatus());
  EXPECT_FALSE(table.Exists("row0000").value_or(true));
}

// The quota is used up while the database is open, and it has its reserve. The log finds out first,
// because the memtable is far from full.
TEST_F(FullDiskTest, UnderAQuotaARowCanBeDeleted) {
  EngineOptions options = SmallEngineOptions(files_.get());
  options.sizes = SizesFor(uint64_t{64} << 20);
  options.sizes.segment_bytes = options.sizes.first_segment_bytes = uint64_t{64} << 10;
  options.sizes.reserve_bytes = uint64_t{1} << 20;
  auto local = OpenDatabase("/db", std::move(options));
  ASSERT_TRUE(local.ok()) << local.status();
  local_ = *local;
  database_ = Access::Make<Database>(local_);
  Table table = Create("t");
  ASSERT_EQ(table.Apply(SetRow(1)), absl::OkStatus());
  ASSERT_EQ(Settle(), absl::OkStatus());
  ASSERT_EQ(ReserveBytes(), uint64_t{1} << 20);
  files_->SetQuota(files_->used_bytes());
  int row = 200;
  absl::Status refused;
  for (; row < 2000 && refused.ok(); ++row) refused = table.Apply(SetRow(row));
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(database_.Stats().since_open.flushes, 0u);
  // More than the rest of the log's segment takes.
  for (int deleted = 0; deleted < 500; ++deleted) {
    ASSERT_EQ(table.Apply(RowMutation(fmt::format("row{:04}", deleted)).DeleteFromRow()),
              absl::OkStatus())
        << deleted;
  }
  EXPECT_FALSE(table.Exists("row0001").value_or(true));
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
    ASSERT_EQ(table.Apply(RowMutation(fmt::format("row{:04}", row)).DeleteFromRow()),
              absl::OkStatus());
  }
  std::vector<RowMutation> more;
  for (int row = 105; row < 109; ++row)
    more.push_back(RowMutation(fmt::format("row{:04}", row)).DeleteFromFamily("f"));
  EXPECT_TRUE(table.BulkApply(more).empty());
  EXPECT_TRUE(absl::IsResourceExhausted(table.Apply(SetRow(200)))) << "the reserve is for deletes";
  ASSERT_EQ(table.Compact(), absl::OkStatus());
  EXPECT_LT(files_->used_bytes() + (uint64_t{300} << 10), used + ReserveBytes());
  EXPECT_TRUE(table.Exists("row0109").value_or(false));
  EXPECT_FALSE(table.Exists("row0000").value_or(true));
}

// Regression: the log used the last of the space, so that neither a flush nor the next Open had
// room.
TEST_F(FullDiskTest, DeletesOfSingleRowsLeaveRoomForFlushesAndTheNextOpen) {
  ASSERT_EQ(Open(), absl::OkStatus());
  Table table = Create("t");
  files_->SetCapacity(uint64_t{6} << 20);
  int rows = 0;
  while (table.Apply(SetRow(rows, 300)).ok()) ++rows;
  ASSERT_GT(rows, 5000);
  for (int row = 0; row < rows; ++row) {
    if (row % 1000 == 0) {
      table = Table();
      KillOnAFullDisk(files_->FreeBytes("/db").value_or(0));
      ASSERT_EQ(Open(), absl::OkStatus()) << "after " << row << " deletes";
      table = Find("t");
    }
    const absl::Status deleted =
        table.Apply(RowMutation(fmt::format("row{:04}", row)).DeleteFromRow());
    if (deleted.ok()) continue;
    // The tombstones took the space that the last flush had left. A drop needs none.
    EXPECT_TRUE(absl::IsResourceExhausted(deleted)) << deleted;
    EXPECT_GT(row, 500);
  }
  ASSERT_EQ(table.DropRowRange(RowRange::All()), absl::OkStatus());
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(table.Apply(SetRow(0)), absl::OkStatus());
}

// Regression: each session began a log segment, and none released those of earlier sessions. After
// some sessions there was no room for another one.
TEST_F(FullDiskTest, ManyShortSessionsLeaveRoomForTheNextOpen) {
  MakeDatabase();
  KillOnAFullDisk();
  const uint64_t capacity = files_->used_bytes();
  for (int row = 0; row < 40; ++row) {
    ASSERT_EQ(Open(), absl::OkStatus()) << "session " << row;
    Table table = Find("t");
    ASSERT_EQ(table.Apply(RowMutation(fmt::format("row{:04}", row)).DeleteFromRow()),
              absl::OkStatus());
    table = Table();
    KillOnAFullDisk();
    files_->SetCapacity(capacity);
  }
}

// Regression: deleted rows were taken to be as small as their tombstones. So compactions that would
// free them waited for the space of the whole tablet.
TEST_F(FullDiskTest, DeletedRowsGiveTheirSpaceBackWithoutACallOfCompact) {
  ASSERT_EQ(Open(), absl::OkStatus());
  Table table = Create("t");
  ASSERT_EQ(Settle(), absl::OkStatus());  // makes the reserve
  files_->SetCapacity(uint64_t{6} << 20);
  int rows = 0;
  while (table.Apply(SetRow(rows, 300)).ok()) ++rows;
  ASSERT_GT(rows, 5000);
  for (int row = 0; row < rows; ++row) {
    ASSERT_EQ(table.Apply(RowMutation(fmt::format("row{:04}", row)).DeleteFromRow()),
              absl::OkStatus())
        << row;
    if (row % 500 != 499) continue;
    ASSERT_EQ(table.Flush(), absl::OkStatus());
    Settle().IgnoreError();
  }
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_LT(files_->used_bytes(), uint64_t{3} << 20);
  EXPECT_EQ(table.Apply(SetRow(0)), absl::OkStatus());
}

// Regression: there was none if the usual size did not fit.
TEST_F(FullDiskTest, ASmallDiskHasASmallReserve) {
  files_->SetCapacity(uint64_t{40} << 20);
  EngineOptions options = SmallEngineOptions(files_.get());
  options.sizes = SizesFor(uint64_t{256} << 20);
  ASSERT_GT(options.sizes.reserve_bytes, uint64_t{1} << 20);
  const auto open = [&] {
    absl::StatusOr<std::shared_ptr<LocalDatabase>> opened = OpenDatabase("/db", options);
    EXPECT_EQ(opened.status(), absl::OkStatus());
    if (!opened.ok()) return;
    local_ = *std::move(opened);
    database_ = Access::Make<Database>(local_);
  };
  open();
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(ReserveBytes(), uint64_t{1} << 20);
  KillOnAFullDisk();
  options.file_system = files_.get();
  open();
  ASSERT_NE(local_, nullptr);
  EXPECT_EQ(ReserveBytes(), 0u) << "Open used it";
  KillOnAFullDisk(uint64_t{100} << 20);
  options.file_system = files_.get();
  open();
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(ReserveBytes(), options.sizes.reserve_bytes);
}

// Regression: a released reserve was made again only with its old size. So under a limit of file
// sizes that was set meanwhile, writes were refused until the database was opened again.
TEST_F(FullDiskTest, UnderALimitOfFileSizesTheReserveIsSmallerOrMissing) {
  EngineOptions options = SmallEngineOptions(files_.get());
  options.sizes = SizesFor(uint64_t{64} << 20);
  const uint64_t reserve_bytes = options.sizes.reserve_bytes;
  ASSERT_GT(reserve_bytes, uint64_t{2} << 20);
  const auto open = [&] {
    absl::StatusOr<std::shared_ptr<LocalDatabase>> opened = OpenDatabase("/db", options);
    ASSERT_EQ(opened.status(), absl::OkStatus());
    local_ = *std::move(opened);
    database_ = Access::Make<Database>(local_);
    ASSERT_EQ(Settle(), absl::OkStatus());
    ASSERT_EQ(ReserveBytes(), reserve_bytes);
  };
  open();
  Table table = Create("t");
  files_->SetFileBytesMax(uint64_t{2} << 20);
  ASSERT_TRUE(local_->engine()->storage().gate.MakeRoom());
  EXPECT_EQ(table.Apply(SetRow(0)), absl::OkStatus());
  EXPECT_EQ(ReserveBytes(), uint64_t{1} << 20);
  files_->SetFileBytesMax(uint64_t{900} << 10);
  ASSERT_TRUE(local_->engine()->storage().gate.MakeRoom());
  EXPECT_EQ(table.Apply(SetRow(1)), absl::OkStatus());
  EXPECT_EQ(ReserveBytes(), 0u);
  EXPECT_EQ(database_.WriteRefusal(), absl::OkStatus());
  files_->SetFileBytesMax(UINT64_MAX);
  EXPECT_EQ(table.Apply(SetRow(2)), absl::OkStatus());
  table = Table();
  Drop();
  open();
  table = Find("t");
  for (const char* row : {"row0000", "row0001", "row0002"})
    EXPECT_TRUE(table.Exists(row).value_or(false)) << row;
}

// A smaller one would leave most of the released space to other writes.
TEST_F(FullDiskTest, UnderAQuotaTheReserveIsMadeAgainWithItsSize) {
  EngineOptions options = SmallEngineOptions(files_.get());
  options.sizes = SizesFor(uint64_t{64} << 20);
  absl::StatusOr<std::shared_ptr<LocalDatabase>> opened = OpenDatabase("/db", options);
  ASSERT_EQ(opened.status(), absl::OkStatus());
  local_ = *std::move(opened);
  database_ = Access::Make<Database>(local_);
  Table table = Create("t");
  ASSERT_EQ(Settle(), absl::OkStatus());
  const uint64_t reserve_bytes = ReserveBytes();
  ASSERT_GT(reserve_bytes, uint64_t{2} << 20);
  files_->SetQuota(files_->used_bytes() - 1);
  ASSERT_TRUE(local_->engine()->storage().gate.MakeRoom());
  EXPECT_TRUE(absl::IsResourceExhausted(table.Apply(SetRow(0))));
  EXPECT_EQ(ReserveBytes(), 0u);
  EXPECT_EQ(table.Apply(RowMutation("row0000").DeleteFromRow()), absl::OkStatus());
  files_->SetQuota(kRoomy);
  EXPECT_EQ(table.Apply(SetRow(0)), absl::OkStatus());
  EXPECT_EQ(ReserveBytes(), reserve_bytes);
}

// Regression: where segments are small, a database with large memtables had thousands of them, and
// each took a file descriptor.
TEST_F(FullDiskTest, ManySmallSegmentsOfTheLogAreReleasedByAFlush) {
  files_->SetCapacity(uint64_t{40} << 20);
  EngineOptions options = SmallEngineOptions(files_.get());
  options.sizes = SizesFor(uint64_t{1} << 30);
  absl::StatusOr<std::shared_ptr<LocalDatabase>> opened = OpenDatabase("/db", options);
  ASSERT_EQ(opened.status(), absl::OkStatus());
  local_ = *std::move(opened);
  database_ = Access::Make<Database>(local_);
  Table table = Create("t");
  int row = 0;
  for (; Segments().size() < 60; ++row) ASSERT_EQ(table.Apply(SetRow(row)), absl::OkStatus());
  ASSERT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(database_.Stats().since_open.flushes, 0u);
  for (; Segments().size() < 70; ++row) ASSERT_EQ(table.Apply(SetRow(row)), absl::OkStatus());
  ASSERT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(database_.Stats().since_open.flushes, 1u);
  EXPECT_LT(Segments().size(), 15u);
}

// Regression: a load used the last of the space. There is no reserve, since it did not fit.
TEST_F(FullDiskTest, ALoadLeavesRoomForTheNextOpen) {
  files_->SetCapacity(uint64_t{2} << 20);
  ASSERT_EQ(Open(), absl::OkStatus());
  Table table = Create("t");
  absl::Status loaded;
  for (int begin = 0; loaded.ok(); begin += 20) {
    BulkLoad load = table.NewBulkLoad();
    for (int row = begin; row < begin + 20 && loaded.ok(); ++row) loaded = load.Add(SetRow(row));
    if (loaded.ok()) loaded = load.Finish();
    ASSERT_LT(begin, 10'000);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(loaded)) << loaded;
  ASSERT_EQ(ReserveBytes(), 0u);
  table = Table();
  KillOnAFullDisk(files_->FreeBytes("/db").value_or(0));
  ASSERT_EQ(Open(), absl::OkStatus());
  EXPECT_EQ(Find("t").DropRowRange(RowRange::All()), absl::OkStatus());
}

// Less than a log segment takes, but enough for edits of the manifest.
constexpr uint64_t kEditsBytes = 2000;

// Regression: it could not be opened for writing, and so not even be emptied.
TEST_F(FullDiskTest, WithoutAReserveItOpensAndRowsCanBeDropped) {
  MakeDatabaseWithoutReserve();
  KillOnAFullDisk();
  const int errors_before = errors_told_;
  OpenWithoutASegment();
  EXPECT_EQ(errors_told_, errors_before + 1);
  EXPECT_NE(last_error_.find(".log"), std::string::npos) << last_error_;
  Table table = Find("t");
  EXPECT_TRUE(table.Exists("row0000").value_or(false));
  EXPECT_TRUE(table.Exists("row0109").value_or(false)) << "it is only in the log";
  for (const RowMutation& mutation : {SetRow(200), RowMutation("row0000").DeleteFromRow()}) {
    const absl::Status refused = table.Apply(mutation);
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(database_.Stats().write_refusal));
  EXPECT_TRUE(absl::IsResourceExhausted(database_.Stats().last_background_error));
  EXPECT_TRUE(absl::IsResourceExhausted(table.DropRowRange(RowRange::Prefix("row00"))));
  EXPECT_EQ(database_.Sync(), absl::OkStatus());
  const absl::StatusOr<VerifyReport> report = database_.Verify();
  ASSERT_EQ(report.status(), absl::OkStatus());
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(database_.Close(), absl::OkStatus());
  Drop();
  OpenWithoutASegment();
  FillDisk(kEditsBytes);
  table = Find("t");
  ASSERT_EQ(table.DropRowRange(RowRange::Prefix("row00")), absl::OkStatus());
  EXPECT_FALSE(table.Exists("row0000").value_or(true));
  table = Table();
  KillOnAFullDisk();
  OpenWithoutASegment();
  table = Find("t");
  EXPECT_FALSE(table.Exists("row0000").value_or(true));
  EXPECT_TRUE(table.Exists("row0109").value_or(false));
  EXPECT_TRUE(absl::IsResourceExhausted(table.Apply(SetRow(200))));
  files_->SetCapacity(kRoomy);
  EXPECT_EQ(table.Apply(SetRow(200)), absl::OkStatus()) << "without another Open";
  EXPECT_EQ(database_.WriteRefusal(), absl::OkStatus());
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_GT(ReserveBytes(), 0u);
  table = Table();
  KillOnAFullDisk(kRoomy);
  ASSERT_EQ(Open(), absl::OkStatus());
  for (const char* row : {"row0100", "row0109", "row0200"})
    EXPECT_TRUE(Find("t").Exists(row).value_or(false)) << row;
  EXPECT_FALSE(Find("t").Exists("row0000").value_or(true));
}

TEST_F(FullDiskTest, WithoutAReserveItOpensAndATableAndAFamilyCanBeDropped) {
  MakeDatabaseWithoutReserve();
  KillOnAFullDisk(kEditsBytes);
  OpenWithoutASegment();
  EXPECT_EQ(Find("t").ModifyColumnFamilies({FamilyChange::Drop("f")}), absl::OkStatus());
  EXPECT_EQ(database_.DeleteTable("t"), absl::OkStatus());
  files_->SetCapacity(kRoomy);
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(Find("other").Apply(SetRow(1)), absl::OkStatus());
  Drop();
  ASSERT_EQ(Open(), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(database_.OpenTable("t").status()));
  EXPECT_TRUE(Find("other").Exists("row0001").value_or(false));
}

// The log was closed properly, and the edits of later sessions have no segment that follows. So the
// log ends with an end mark, and the manifest goes on after its own.
TEST_F(FullDiskTest, AfterACloseADropWithoutASegmentSurvivesACrashAtAnyCall) {
  MakeDatabaseWithoutReserve();
  ASSERT_TRUE(CloseDatabase().clean);
  const std::unique_ptr<CrashFileSystem> base = files_->Crash(CrashPolicy::KilledProcess(), 1);
  const std::vector<std::string> segments = Segments();
  bool completed = false;
  for (uint64_t call = 1; !completed; ++call) {
    ASSERT_LT(call, 200u);
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      Drop();
      files_ = base->Crash(CrashPolicy::KilledProcess(), 1);
      FillDisk(kEditsBytes);
      files_->SetCrashAtCall(call);
      bool dropped = false;
      if (Open().ok()) {
        dropped = Find("t").DropRowRange(RowRange::Prefix("row00")).ok();
        if (dropped && !files_->crashed()) EXPECT_EQ(Segments(), segments);
        FillDisk();  // without space for the marks of another close
        Drop();
      }
      completed = !files_->crashed();
      std::unique_ptr<CrashFileSystem> image =
          files_->Crash(seed == 1   ? CrashPolicy::KilledProcess()
                        : seed == 2 ? CrashPolicy::DropUnsynced()
                                    : CrashPolicy::Random(seed * 1000 + call),
                        seed);
      Drop();
      files_ = std::move(image);
      FillDisk();
      ASSERT_EQ(Open(), absl::OkStatus()) << "call " << call << " image " << seed;
      EXPECT_TRUE(Find("t").Exists("row0109").value_or(false));
      const bool has_rows = Find("t").Exists("row0000").value_or(true);
      ASSERT_FALSE(dropped && has_rows) << "call " << call << " image " << seed;
      files_->SetCapacity(kRoomy);
      ASSERT_EQ(Settle(), absl::OkStatus());
      ASSERT_EQ(Find("t").Apply(SetRow(200)), absl::OkStatus());
      Drop();
      ASSERT_EQ(Open(), absl::OkStatus()) << "call " << call << " image " << seed;
      EXPECT_TRUE(Find("t").Exists("row0200").value_or(false));
      EXPECT_EQ(Find("t").Exists("row0000").value_or(!has_rows), has_rows);
    }
  }
}

// A number of the manifest or its size did not fit into the log's end mark (log.md). So later edits
// could not be told from a lost end. Regression: the database was refused for good after them.
TEST_F(FullDiskTest, AfterACloseThatStatesNoManifestEndItOpensOnlyWithSpace) {
  MakeDatabaseWithoutReserve();
  const std::string manifest =
      JoinPath("/db", ManifestName(local_->engine()->storage().manifest->number()));
  const LogTail tail = CloseDatabase();
  ASSERT_TRUE(tail.clean);
  const std::string path = JoinPath("/db", SegmentName(tail.segment_number));
  std::string bytes = files_->ReadFile(path).value_or("");
  const auto segment = DecodeSegmentHeader(std::string_view(bytes).substr(0, kSegmentHeaderBytes));
  ASSERT_TRUE(segment.has_value());
  const RecordPlace place{tail.segment_number, segment->nonce, tail.end_offset - RecordBytes(0)};
  auto mark = DecodeRecordHeader(std::string_view(bytes).substr(place.offset), place, bytes.size());
  ASSERT_TRUE(mark.has_value() && mark->type == RecordType::kEndMark);
  ASSERT_NE(mark->manifest, SyncedManifestEnd());
  mark->manifest = SyncedManifestEnd();
  EncodeRecord(*mark, "", place, bytes.data() + place.offset);
  ASSERT_EQ(files_->WriteFile(path, bytes), absl::OkStatus());
  for (const uint64_t free_bytes : {uint64_t{0}, kEditsBytes}) {
    FillDisk(free_bytes);
    const absl::Status opened = Open();
    EXPECT_TRUE(absl::IsResourceExhausted(opened)) << opened;
    Drop();
  }
  files_->SetCapacity(kRoomy);
  const std::string whole = files_->ReadFile(manifest).value_or("");
  ASSERT_GT(whole.size(), 1u);
  ASSERT_EQ(files_->WriteFile(manifest, whole.substr(0, whole.size() - 1)), absl::OkStatus());
  const absl::Status without_mark = Open();
  EXPECT_TRUE(absl::IsDataLoss(without_mark)) << without_mark;
  Drop();
  ASSERT_EQ(files_->WriteFile(manifest, whole), absl::OkStatus());
  ASSERT_EQ(Open(), absl::OkStatus());
  EXPECT_TRUE(Find("t").Exists("row0000").value_or(false));
  EXPECT_TRUE(Find("t").Exists("row0109").value_or(false));
  EXPECT_EQ(Find("t").Apply(SetRow(200)), absl::OkStatus());
}

// The disk seems to have much room. Only a write finds that there is none.
TEST_F(FullDiskTest, UnderAQuotaWithoutAReserveItOpensAndRowsCanBeDropped) {
  MakeDatabaseWithoutReserve();
  KillOnAFullDisk();
  files_->SetQuota(files_->used_bytes());
  OpenWithoutASegment();
  EXPECT_NE(last_error_.find("quota"), std::string::npos) << last_error_;
  EXPECT_NE(last_error_.find(".log"), std::string::npos) << last_error_;
  Table table = Find("t");
  EXPECT_TRUE(table.Exists("row0109").value_or(false));
  for (const RowMutation& mutation : {SetRow(200), RowMutation("row0000").DeleteFromRow()}) {
    const absl::Status refused = table.Apply(mutation);
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  }
  files_->SetQuota(files_->used_bytes() + kEditsBytes);
  ASSERT_EQ(table.DropRowRange(RowRange::Prefix("row00")), absl::OkStatus());
  EXPECT_FALSE(table.Exists("row0000").value_or(true));
  files_->SetQuota(kRoomy);
  EXPECT_EQ(Settle(), absl::OkStatus());  // the drop began a job, which found no space
  EXPECT_EQ(table.Apply(SetRow(200)), absl::OkStatus()) << "without another Open";
  EXPECT_EQ(database_.WriteRefusal(), absl::OkStatus());
  EXPECT_GT(ReserveBytes(), 0u);
  table = Table();
  KillOnAFullDisk(kRoomy);
  ASSERT_EQ(Open(), absl::OkStatus());
  EXPECT_TRUE(Find("t").Exists("row0109").value_or(false));
  EXPECT_TRUE(Find("t").Exists("row0200").value_or(false));
  EXPECT_FALSE(Find("t").Exists("row0000").value_or(true));
}

// Spare segments are kept as long as the disk seems to have room.
TEST_F(FullDiskTest, UnderAQuotaASpareSegmentGivesItsSpaceToTheLog) {
  MakeDatabaseWithoutReserve();
  const std::string spare = SegmentName(local_->engine()->storage().directory.next_file_number());
  KillOnAFullDisk();
  const std::vector<std::string> segments = Segments();
  ASSERT_EQ(files_->WriteFile(JoinPath("/db", spare), std::string(size_t{64} << 10, '\0')),
            absl::OkStatus());
  files_->SetQuota(files_->used_bytes());
  ASSERT_EQ(Open(), absl::OkStatus());
  EXPECT_EQ(Segments().size(), segments.size() + 1);
  EXPECT_FALSE(files_->Stat(JoinPath("/db", spare)).ok());
  Table table = Find("t");
  const absl::Status refused = table.Apply(SetRow(200));
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(table.Apply(RowMutation("row0109").DeleteFromRow()), absl::OkStatus());
  EXPECT_FALSE(table.Exists("row0109").value_or(true));
  files_->SetQuota(kRoomy);
  EXPECT_EQ(table.Apply(SetRow(200)), absl::OkStatus());
  EXPECT_EQ(database_.WriteRefusal(), absl::OkStatus());
}

TEST_F(FullDiskTest, WithoutAReserveOnlyALackOfSpaceIsAccepted) {
  MakeDatabaseWithoutReserve();
  KillOnAFullDisk();
  for (const int error_number : {EIO, EACCES, EMFILE}) {
    files_->FailKind(CallKind::kCreate, 1,
                     {.error_number = error_number, .sticky = true, .path_part = ".log"});
    EXPECT_FALSE(Open().ok()) << error_number;
    files_->ClearFaults();
  }
  OpenWithoutASegment();
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

TEST_F(FullDiskTest, AConditionalWriteThatOnlyDeletesIsAdmitted) {
  MakeDatabase();
  KillOnAFullDisk();
  ASSERT_EQ(Open(), absl::OkStatus());
  Table table = Find("t");
  const RowMutation none;
  const RowMutation row = RowMutation().DeleteFromRow();
  const RowMutation column = RowMutation().DeleteFromColumn("f", "q");
  const RowMutation mixed = RowMutation().DeleteFromRow().SetCell("f", "q", "v");
  const auto check = [&](const std::string& row_key, const RowMutation& if_matched,
                         const RowMutation& if_not_matched, const WriteOptions& options = {}) {
    return table.CheckAndMutateRow(row_key, Filter::PassAll(), if_matched, if_not_matched, options)
        .status();
  };
  EXPECT_TRUE(absl::IsResourceExhausted(check("row0001", row, mixed))) << "one branch writes";
  EXPECT_EQ(check("row0001", row, none), absl::OkStatus());
  EXPECT_EQ(check("row0002", row, column), absl::OkStatus());
  EXPECT_EQ(check("absent", none, row), absl::OkStatus());
  EXPECT_EQ(check("row0003", row, none, {.idempotency_token = "the token"}), absl::OkStatus());
  for (const char* deleted : {"row0001", "row0002", "row0003"})
    EXPECT_FALSE(table.Exists(deleted).value_or(true)) << deleted;
  EXPECT_TRUE(table.Exists("row0004").value_or(false));
}

// Otherwise the reserve could be allocated again before the flush that needs its space.
// Regression: it counted as a full disk, and the next delete gave the reserve up.
TEST_F(FullDiskTest, MissingDescriptorsAreNotAFullDisk) {
  MakeDatabase();
  const uint64_t reserve_bytes = ReserveBytes();
  ASSERT_GT(reserve_bytes, 0u);
  Table table = Find("t");
  files_->FailKind(CallKind::kCreate, 1,
                   {.error_number = EMFILE, .sticky = true, .path_part = ".sst"});
  EXPECT_TRUE(absl::IsResourceExhausted(table.Flush()));
  EXPECT_TRUE(absl::IsResourceExhausted(table.Apply(SetRow(200))));
  table.Apply(RowMutation("row0000").DeleteFromRow()).IgnoreError();
  table.DropRowRange(RowRange::Prefix("row0001")).IgnoreError();
  EXPECT_EQ(ReserveBytes(), reserve_bytes);
  files_->ClearFaults();
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(table.Apply(SetRow(200)), absl::OkStatus());
}

TEST_F(FullDiskTest, TheReserveIsNotTakenBackWhileAFlushNeedsIt) {
  MakeDatabase();
  Table table = Find("t");
  FillDisk(uint64_t{500} << 10);
  files_->FailKind(CallKind::kWrite, 1,
                   {.error_number = ENOSPC, .sticky = true, .path_part = ".sst"});
  EXPECT_TRUE(absl::IsResourceExhausted(table.Flush()));
  Engine& engine = *local_->engine();
  EXPECT_TRUE(engine.storage().gate.MakeRoom());
  EXPECT_FALSE(engine.storage().gate.RestoreReserve());
  EXPECT_EQ(ReserveBytes(), 0u);
  files_->ClearFaults();
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(ReserveBytes(), uint64_t{1} << 20);
  EXPECT_EQ(table.Apply(SetRow(200)), absl::OkStatus());
}

// There is enough room for writes and flushes, but not for the output of a compaction next to its
// inputs.
TEST_F(FullDiskTest, CompactionsLeaveTheSpaceToFlushes) {
  ASSERT_EQ(Open(/*small=*/true), absl::OkStatus());
  Table table = Create("t");
  const auto write_file = [&](int file) {
    for (const int row : {0, 100, 900}) {  // nothing is replaced
      RowMutation mutation = SetRow(row + file, 4000);
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
  EXPECT_EQ(database_.Stats().compaction.compactions, 0u);
  files_->SetCapacity(kRoomy);
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_GT(database_.Stats().compaction.compactions, 0u);
  EXPECT_EQ(database_.Stats().last_background_error, absl::OkStatus());
}

// Other files took the space while the job ran.
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
  EXPECT_EQ(database_.Stats().compaction.compactions, 1u);
}

}  // namespace
}  // namespace stele::internal
