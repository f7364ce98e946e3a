// Tests the reports for maintenance: files that could not be opened for a while, damage by file and
// offset, a poisoned database, and the statistics of data in memory.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/engine.h"
#include "io/file_names.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

class MaintenanceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options = SmallEngineOptions(&file_system_);
    // Only explicit calls flush.
    options.sizes.memtable_bytes = options.sizes.write_memory_bytes = 8 << 20;
    absl::StatusOr<std::shared_ptr<LocalDatabase>> opened = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    local_ = *std::move(opened);
    database_ = Access::Make<Database>(local_);
    absl::StatusOr<Table> table = database_.CreateTable("t", Schema().AddFamily("f"));
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *table;
  }
  Engine& engine() { return *local_->engine(); }
  absl::Status Set(const std::string& row_key, size_t value_bytes = 1,
                   Durability durability = Durability::kProcess) {
    return table_.Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMicros(1000),
                                                     std::string(value_bytes, 'v')),
                        {.durability = durability});
  }
  // Makes a write whose log sync fails.
  void Poison() {
    file_system_.FailKind(CallKind::kSync, 1, {.error_number = EIO, .path_part = ".log"});
    EXPECT_FALSE(Set("lost", 1, Durability::kDisk).ok());
    EXPECT_FALSE(engine().storage().committer->poison().ok());
  }

  CrashFileSystem file_system_;
  std::shared_ptr<LocalDatabase> local_;
  Database database_;
  Table table_;
};

TEST_F(MaintenanceTest, AFileThatCouldNotBeOpenedIsTriedAgain) {
  ASSERT_TRUE(Set("r").ok());
  // The flush creates the file. Its install opens the file for reading.
  const std::string name = SstableName(engine().storage().directory.next_file_number());
  file_system_.FailKind(CallKind::kOpen, 1,
                        {.error_number = EMFILE, .sticky = true, .path_part = name});
  ASSERT_TRUE(table_.Flush().ok());
  EXPECT_EQ(table_.Exists("r").status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(database_.Verify()->ok());
  file_system_.ClearFaults();
  EXPECT_TRUE(table_.Exists("r").value_or(false));
  EXPECT_TRUE(database_.Verify()->ok());
  EXPECT_TRUE(table_.Compact().ok());
}

TEST_F(MaintenanceTest, DamageOfTheLogIsToldByFileAndOffset) {
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(Set("r" + std::to_string(i), 100, Durability::kDisk).ok());
  const std::string name = SegmentName(engine().storage().log->oldest_segment());
  const std::string bytes = *file_system_.ReadFile(JoinPath("/db", name));
  const size_t hit = bytes.find(std::string(100, 'v'));
  ASSERT_NE(hit, std::string::npos);
  ASSERT_TRUE(file_system_.FlipBit(JoinPath("/db", name), hit, 0).ok());
  const VerifyReport report = *database_.Verify();
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_EQ(report.damages[0].file, name);
  EXPECT_GT(report.damages[0].offset, 0u);
  EXPECT_LT(report.damages[0].offset, hit);
  EXPECT_TRUE(report.damages[0].what.starts_with("no valid record")) << report.damages[0].what;
}

// While the database is open, the end of the written data is known. Damage of the last bytes must
// not look like an unfinished write.
TEST_F(MaintenanceTest, DamageOfTheNewestBytesIsTold) {
  const std::string log_name = SegmentName(engine().storage().log->oldest_segment());
  for (const Durability durability : {Durability::kProcess, Durability::kDisk}) {
    ASSERT_EQ(Set("r", 100, durability), absl::OkStatus());
    EXPECT_TRUE(database_.Verify()->ok());
    const uint64_t end = engine().storage().log->SegmentEnds().back().offset;
    ASSERT_TRUE(file_system_.FlipBit(JoinPath("/db", log_name), end - 20, 0).ok());
    const VerifyReport report = *database_.Verify();
    ASSERT_EQ(report.damages.size(), 1u);
    EXPECT_EQ(report.damages[0].file, log_name);
    EXPECT_LT(report.damages[0].offset, end);
    ASSERT_TRUE(file_system_.FlipBit(JoinPath("/db", log_name), end - 20, 0).ok());
  }
  const ManifestLog::SyncedEnd synced = engine().storage().manifest->synced_end();
  const std::string name = ManifestName(synced.number);
  ASSERT_TRUE(file_system_.FlipBit(JoinPath("/db", name), synced.bytes - 3, 0).ok());
  const VerifyReport report = *database_.Verify();
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_EQ(report.damages[0].file, name);
}

TEST_F(MaintenanceTest, DamageOfTheManifestIsToldByFileAndOffset) {
  const std::string name = ManifestName(engine().storage().manifest->number());
  const size_t bytes = file_system_.ReadFile(JoinPath("/db", name))->size();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(table_.SetProperty("p", std::to_string(i)).ok());
  ASSERT_TRUE(file_system_.FlipBit(JoinPath("/db", name), bytes + 20, 0).ok());
  VerifyReport report = *database_.Verify();
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_EQ(report.damages[0].file, name);
  EXPECT_EQ(report.damages[0].offset, bytes);
  ASSERT_TRUE(file_system_.WriteFile(JoinPath("/db", kCurrentName), "short").ok());
  report = *database_.Verify();
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_EQ(report.damages[0].file, kCurrentName);
  EXPECT_NE(report.damages[0].what, "");
}

// After a kill, the manifest may end with a torn record, or before one. That is an error if the log
// has commits that came after the lost record.
TEST_F(MaintenanceTest, AManifestThatLostItsEndIsNoTornOne) {
  ASSERT_TRUE(Set("dropped", 1, Durability::kDisk).ok());
  const auto load = [&]() -> absl::Status {
    BulkLoad bulk = table_.NewBulkLoad();
    STELE_RETURN_IF_ERROR(bulk.Add(RowMutation("loaded").SetCell("f", "q", "v")));
    return bulk.Finish();
  };
  const std::vector<std::pair<std::string, std::function<absl::Status()>>> changes = {
      {"a table made",
       [&] { return database_.CreateTable("u", Schema().AddFamily("f")).status(); }},
      {"a family made",
       [&] {
         return table_.ModifyColumnFamilies(std::vector{FamilyChange::Create({.name = "g"})});
       }},
      {"a family dropped",
       [&] { return table_.ModifyColumnFamilies(std::vector{FamilyChange::Drop("g")}); }},
      {"a table dropped", [&] { return database_.DeleteTable("u"); }},
      {"rows loaded", load},
      {"rows dropped", [&] { return table_.DropRowRange(RowRange::Prefix("dropped")); }},
      {"a flush", [&] { return table_.Flush(); }},
  };
  for (const auto& [what, change] : changes) {
    SCOPED_TRACE(what);
    const std::string path = JoinPath("/db", ManifestName(engine().storage().manifest->number()));
    const size_t bytes = file_system_.ReadFile(path)->size();
    ASSERT_EQ(change(), absl::OkStatus());
    const std::unique_ptr<CrashFileSystem> before = file_system_.Crash(CrashPolicy::KeepAll(), 0);
    ASSERT_EQ(Set("r", 1, Durability::kDisk), absl::OkStatus());
    for (const size_t torn : {size_t{0}, size_t{5}}) {
      const std::unique_ptr<CrashFileSystem> after = file_system_.Crash(CrashPolicy::KeepAll(), 0);
      for (CrashFileSystem* image : {before.get(), after.get()}) {
        ASSERT_TRUE(image->WriteFile(path, image->ReadFile(path)->substr(0, bytes + torn)).ok());
      }
      const absl::Status opened = OpenDatabase("/db", SmallEngineOptions(after.get())).status();
      EXPECT_EQ(opened.code(), absl::StatusCode::kDataLoss) << opened;
      EXPECT_NE(opened.message().find("MANIFEST"), absl::string_view::npos) << opened;
    }
    EXPECT_TRUE(OpenDatabase("/db", SmallEngineOptions(before.get())).ok())
        << "nobody was told of it";
  }
}

TEST_F(MaintenanceTest, APoisonedDatabaseIsVerified) {
  ASSERT_TRUE(Set("r", 100, Durability::kDisk).ok());
  ASSERT_TRUE(table_.Flush().ok());
  Poison();
  absl::StatusOr<VerifyReport> report = database_.Verify();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->ok());
  EXPECT_GE(report->files, 3u) << "the SSTable, the manifest, the log";
  ASSERT_TRUE(file_system_.WriteFile(JoinPath("/db", kCurrentName), "short").ok());
  report = database_.Verify();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(report->ok());
}

TEST_F(MaintenanceTest, CloseTellsThatTheDatabaseWasPoisoned) {
  ASSERT_TRUE(Set("r").ok());
  Poison();
  const absl::Status closed = database_.Close();
  EXPECT_EQ(closed.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(database_.Close(), closed);
  EXPECT_EQ(database_.Verify().status().code(), absl::StatusCode::kFailedPrecondition);
  local_.reset();
  database_ = Database();
  table_ = Table();
  EXPECT_TRUE(OpenDatabase("/db", SmallEngineOptions(&file_system_)).ok()) << "the lock is free";
}

TEST_F(MaintenanceTest, FiguresTellOfWhatIsInMemory) {
  EXPECT_EQ(table_.Stats()->bytes_logical, 0u);
  ASSERT_EQ(table_.SampleRowKeys()->size(), 1u);
  EXPECT_EQ(table_.SampleRowKeys()->back().offset_bytes, 0u);
  constexpr int kRows = 400;
  constexpr size_t kValueBytes = 2000;
  constexpr uint64_t kRowBytes = 4 + 1 + 8 + kValueBytes;  // row key, qualifier, timestamp, value
  for (int i = 0; i < kRows; ++i) ASSERT_TRUE(Set("r" + std::to_string(100 + i), kValueBytes).ok());
  const TableStats in_memory = *table_.Stats();
  EXPECT_EQ(in_memory.rows, uint64_t{kRows});
  EXPECT_EQ(in_memory.cells, uint64_t{kRows});
  EXPECT_EQ(in_memory.bytes_logical, kRows * kRowBytes);
  EXPECT_EQ(in_memory.files, 0u);
  const std::vector<RowKeySample> samples = *table_.SampleRowKeys();
  EXPECT_GT(samples.size(), 4u);
  EXPECT_EQ(samples.back().row_key, "");
  EXPECT_EQ(samples.back().offset_bytes, kRows * kRowBytes);
  for (size_t i = 1; i < samples.size(); ++i)
    EXPECT_GT(samples[i].offset_bytes, samples[i - 1].offset_bytes);
  const uint64_t of_half = table_.SampleRowKeys(RowRange::StartingAt("r300"))->back().offset_bytes;
  EXPECT_GT(of_half, kRows * kRowBytes / 4);
  EXPECT_LT(of_half, kRows * kRowBytes * 3 / 4);
  ASSERT_TRUE(table_.Flush().ok());
  const TableStats in_files = *table_.Stats();
  EXPECT_EQ(in_files.rows, in_memory.rows);
  EXPECT_EQ(in_files.cells, in_memory.cells);
  EXPECT_EQ(in_files.bytes_logical, in_memory.bytes_logical);
}

}  // namespace
}  // namespace stele::internal
