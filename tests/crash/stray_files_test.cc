// Tests a file whose name has a very large number, left in a database's directory by hand. Recovery
// gives new files numbers above those that it finds. Near 2^64 the numbers overflowed, log segments
// no longer followed each other, and synced writes were lost without an error.
// How: stray files of every kind and with large numbers; then synced writes, flushes, kills and
// checkpoints.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "db/engine.h"
#include "io/file_names.h"
#include "manifest/manifest_log.h"
#include "support/base_sanitized.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr int kKills = 4;
constexpr int kRowsBetweenKills = 40;
constexpr std::string_view kStrayBytes = "not a file of this database";

std::vector<uint64_t> GreatNumbers() {
  std::vector<uint64_t> numbers = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 2, UINT64_MAX - 30};
  const std::vector<int> all_bits =
      kReduced ? std::vector<int>{63, 33} : std::vector<int>{63, 62, 61, 33};
  for (const int bits : all_bits) {
    for (const uint64_t below : {1, 0}) numbers.push_back((uint64_t{1} << bits) - below);
  }
  return numbers;
}

std::vector<std::string> StrayNames(uint64_t number) {
  return {SegmentName(number), SstableName(number), ManifestName(number), SpillName(number),
          TemporaryName(SegmentName(number))};
}

std::string RowKey(int row) { return fmt::format("row{:05}", row); }

// Writes `count` rows from `first` on, each synced.
absl::Status WriteRows(Database& database, int first, int count) {
  absl::StatusOr<Table> table = database.OpenTable("t");
  if (!table.ok()) return table.status();
  for (int row = first; row < first + count; ++row) {
    const RowMutation mutation = RowMutation(RowKey(row)).SetCell("f", "q", std::string(700, 'v'));
    if (absl::Status status = table->Apply(mutation, {.durability = Durability::kDisk});
        !status.ok())
      return status;
  }
  return table->Flush();
}

int CountRows(const Database& database) {
  int rows = 0;
  RowReader reader = database.OpenTable("t").value_or(Table()).ReadRows(RowRange::All());
  for (const RowView& row : reader) {
    EXPECT_EQ(row.row_key(), RowKey(rows));
    ++rows;
  }
  EXPECT_EQ(reader.status(), absl::OkStatus());
  return rows;
}

std::unique_ptr<CrashFileSystem> NewDatabase() {
  CrashFileSystem files;
  WorkloadDatabase database(&files);
  EXPECT_EQ(database.Open(), absl::OkStatus());
  EXPECT_TRUE(database.database().CreateTable("t", Schema().AddFamily("f")).ok());
  EXPECT_EQ(WriteRows(database.database(), 0, kRowsBetweenKills), absl::OkStatus());
  return files.Crash(CrashPolicy::KilledProcess(), 0);
}

// Writes synced rows without a flush, so that log segments follow each other, and kills the
// process. `rows_each` rows are written before each kill; few of them fill no memtable, so no edit
// is written. Returns "" if all rows exist.
std::string GoOnInTheLog(std::unique_ptr<CrashFileSystem> files,
                         int rows_each = kRowsBetweenKills) {
  for (int kill = 0; kill < kKills; ++kill) {
    WorkloadDatabase database(files.get());
    if (const absl::Status opened = database.Open(); !opened.ok()) return opened.ToString();
    absl::StatusOr<Table> table = database.database().OpenTable("t");
    if (!table.ok()) return table.status().ToString();
    const int rows = CountRows(database.database());
    const int expected = kRowsBetweenKills + kill * rows_each;
    if (rows != expected) return fmt::format("{} of {} rows", rows, expected);
    for (int row = rows; row < rows + rows_each; ++row) {
      const RowMutation mutation =
          RowMutation(RowKey(row)).SetCell("f", "q", std::string(700, 'v'));
      const absl::Status written = table->Apply(mutation, {.durability = Durability::kDisk});
      if (!written.ok()) return written.ToString();
    }
    std::unique_ptr<CrashFileSystem> image = files->Crash(CrashPolicy::DropUnsynced(), 0);
    *table = Table();
    database.Drop();
    files = std::move(image);
  }
  return "";
}

// Writes and kills the process several times. Returns "" if all synced rows exist each time.
std::string GoOn(std::unique_ptr<CrashFileSystem> files) {
  for (int kill = 1; kill <= kKills; ++kill) {
    std::unique_ptr<CrashFileSystem> image;
    {
      WorkloadDatabase database(files.get());
      if (const absl::Status opened = database.Open(); !opened.ok()) return opened.ToString();
      const int rows = CountRows(database.database());
      if (rows != kill * kRowsBetweenKills)
        return fmt::format("{} of {} rows", rows, kill * kRowsBetweenKills);
      const absl::Status written = WriteRows(database.database(), rows, kRowsBetweenKills);
      if (!written.ok()) return written.ToString();
      if (const absl::Status copied = database.database().Checkpoint("/copy"); !copied.ok())
        return copied.ToString();
      image = files->Crash(CrashPolicy::KilledProcess(), 0);
    }
    files = std::move(image);
    WorkloadDatabase copy(SmallEngineOptions(files.get()), "/copy");
    if (const absl::Status opened = copy.Open(); !opened.ok()) return opened.ToString();
    if (CountRows(copy.database()) != (kill + 1) * kRowsBetweenKills)
      return "rows are missing in the checkpoint";
    copy.Drop();
    const absl::StatusOr<std::map<std::string, std::string>> copied =
        ReadDirectory(files.get(), "/copy");
    if (!copied.ok()) return copied.status().ToString();
    for (const auto& [name, bytes] : *copied) {
      if (!files->Remove("/copy/" + name).ok()) return "cannot remove " + name;
    }
  }
  return "";
}

TEST(StrayFilesTest, OfGreatNumbersCostNoWriteAndStay) {
  for (const uint64_t number : GreatNumbers()) {
    for (const std::string& name : StrayNames(number)) {
      SCOPED_TRACE(name);
      std::unique_ptr<CrashFileSystem> files = NewDatabase();
      ASSERT_EQ(files->WriteFile("/db/" + name, kStrayBytes), absl::OkStatus());
      EXPECT_EQ(GoOnInTheLog(files->Crash(CrashPolicy::KilledProcess(), 0)), "");
      EXPECT_EQ(GoOn(std::move(files)), "");
    }
  }
}

// A stray whose number recovery counts moves the next number far up. The files made after that must
// be recognised by the next recovery, and a stray just above must not be taken for one of them.
TEST(StrayFilesTest, AtTheEdgesOfTheRecognisedNumbersCostNoWrite) {
  for (const uint64_t distance : {uint64_t{1} << 20, uint64_t{1} << 31, uint64_t{1} << 32}) {
    for (const int step : {-2, -1, 0, 1}) {
      std::unique_ptr<CrashFileSystem> files = NewDatabase();
      const auto recovered = ManifestLog::Recover(files.get(), "/db", /*read_only=*/true);
      ASSERT_EQ(recovered.status(), absl::OkStatus());
      for (const std::string& name :
           StrayNames(recovered->version->next_file_number + distance + step)) {
        SCOPED_TRACE(name);
        std::unique_ptr<CrashFileSystem> image = files->Crash(CrashPolicy::KilledProcess(), 0);
        ASSERT_EQ(image->WriteFile("/db/" + name, kStrayBytes), absl::OkStatus());
        EXPECT_EQ(GoOnInTheLog(image->Crash(CrashPolicy::KilledProcess(), 0), /*rows_each=*/2), "");
        EXPECT_EQ(GoOn(std::move(image)), "");
      }
    }
  }
}

TEST(StrayFilesTest, AreLeftAlone) {
  std::unique_ptr<CrashFileSystem> files = NewDatabase();
  std::vector<std::string> names;
  for (const uint64_t number : GreatNumbers()) {
    for (const std::string& name : StrayNames(number)) {
      if (!name.ends_with(".tmp")) names.push_back(name);
    }
  }
  for (const std::string& name : names)
    ASSERT_EQ(files->WriteFile("/db/" + name, kStrayBytes), absl::OkStatus());
  WorkloadDatabase database(files.get());
  ASSERT_EQ(database.Open(), absl::OkStatus());
  ASSERT_EQ(WriteRows(database.database(), kRowsBetweenKills, kRowsBetweenKills), absl::OkStatus());
  ASSERT_EQ(database.database().Close(), absl::OkStatus());
  for (const std::string& name : names)
    EXPECT_EQ(files->ReadFile("/db/" + name).value_or("gone"), kStrayBytes) << name;
}

TEST(StrayFilesTest, InACheckpointsDirectoryCostNoWrite) {
  for (const uint64_t number : GreatNumbers()) {
    std::unique_ptr<CrashFileSystem> files = NewDatabase();
    std::unique_ptr<CrashFileSystem> image;
    {
      WorkloadDatabase database(files.get());
      ASSERT_EQ(database.Open(), absl::OkStatus());
      ASSERT_EQ(database.database().Checkpoint("/older"), absl::OkStatus());
      ASSERT_EQ(files->WriteFile("/older/" + SstableName(number), kStrayBytes), absl::OkStatus());
      ASSERT_EQ(database.database().Checkpoint("/older"), absl::OkStatus()) << number;
      image = files->Crash(CrashPolicy::KilledProcess(), 0);
    }
    EXPECT_EQ(GoOn(std::move(image)), "") << number;
  }
}

}  // namespace
}  // namespace stele::internal
