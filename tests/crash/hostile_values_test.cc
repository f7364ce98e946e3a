// What could break: a database whose values look like records of its log. A killed process leaves such values behind
// the end of the log, in files that were used before. Recovery must not take them for damage.
// How: a client overwrites one column with guessed record headers. After every write the process is killed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "db/engine.h"
#include "io/crash_file_system.h"
#include "support/db_workload.h"
#include "support/wal_guessed_headers.h"

namespace stele::internal {
namespace {

constexpr int kWrites = 80;
constexpr size_t kValueBytes = 26 << 10;

// Segments are large against the values, as under every real budget.
EngineOptions HostileOptions(FileSystem* files, bool read_only = false) {
  EngineOptions options = SmallEngineOptions(files);
  options.sizes.memtable_bytes = 96 << 10;
  options.sizes.write_memory_bytes = 384 << 10;
  options.sizes.log_bytes_max = 384 << 10;
  options.sizes.segment_bytes = 256 << 10;
  options.sizes.first_segment_bytes = 64 << 10;
  options.database.read_only = read_only;
  return options;
}

// "": the image opens, is sound and, unless `expected` is empty, holds it.
std::string Check(CrashFileSystem* image, const std::string& expected, bool read_only) {
  WorkloadDatabase database(HostileOptions(image, read_only), "/db");
  if (const absl::Status opened = database.Open(); !opened.ok()) return opened.ToString();
  const absl::StatusOr<std::string> dump = DumpDatabase(database.database());
  if (!dump.ok()) return dump.status().ToString();
  if (!expected.empty() && *dump != expected) return "other data than was written";
  const absl::StatusOr<VerifyReport> report = database.database().Verify();
  if (!report.ok()) return report.status().ToString();
  return report->ok() ? "" : fmt::format("Verify: {}: {}", report->damages[0].file, report->damages[0].what);
}

class HostileValuesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(database_.Open(), absl::OkStatus());
    const Schema schema = Schema().AddFamily("f", GcRule::MaxNumVersions(1));
    ASSERT_TRUE(database_.database().CreateTable("t", schema).ok());
    table_ = database_.database().OpenTable("t").value_or(Table());
  }

  absl::Status Write(int write) {
    const uint64_t segment = database_.engine().log->Parts().back().number;
    const std::string value = GuessedRecordHeaders(
        {.first_segment = segment, .payload_bytes = 200 << 10, .value_bytes = kValueBytes, .shift_bytes = static_cast<size_t>(write) % 8});
    const Timestamp timestamp = Timestamp::FromMicros(1000 * (write + 1));
    const WriteOptions options{.durability = write % 3 == 2 ? Durability::kDisk : Durability::kProcess};
    absl::Status status = table_.Apply(RowMutation("row").SetCell("f", "q", timestamp, value), options);
    while (status.ok() && database_.engine().background->Step()) {
    }
    return status;
  }

  CrashFileSystem files_;
  WorkloadDatabase database_{HostileOptions(&files_), "/db"};
  Table table_;
};

TEST_F(HostileValuesTest, EveryKillLeavesADatabaseThatOpens) {
  for (int write = 0; write < kWrites && !HasFailure(); ++write) {
    ASSERT_EQ(Write(write), absl::OkStatus());
    const std::string expected = DumpDatabase(database_.database()).value_or("no dump");
    for (const bool read_only : {true, false}) {
      const std::unique_ptr<CrashFileSystem> image = files_.Crash(CrashPolicy::KilledProcess(), 0);
      EXPECT_EQ(Check(image.get(), expected, read_only), "") << "killed after write " << write;
    }
  }
  EXPECT_GT(database_.engine().log->Parts().front().number, 8u) << "segments were used again";
}

TEST_F(HostileValuesTest, EveryPowerLossLeavesADatabaseThatOpens) {
  for (int write = 0; write < kWrites && !HasFailure(); ++write) {
    ASSERT_EQ(Write(write), absl::OkStatus());
    const uint64_t seed = static_cast<uint64_t>(write);
    const std::unique_ptr<CrashFileSystem> image = files_.Crash(CrashPolicy::PowerLoss(), seed);
    EXPECT_EQ(Check(image.get(), "", false), "") << "power lost after write " << write;
  }
}

TEST_F(HostileValuesTest, VerifyOfTheOpenDatabaseFindsNothing) {
  for (int write = 0; write < kWrites && !HasFailure(); ++write) {
    ASSERT_EQ(Write(write), absl::OkStatus());
    const absl::StatusOr<VerifyReport> report = database_.database().Verify();
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->ok()) << "after write " << write << ": " << report->damages[0].what;
  }
}

}  // namespace
}  // namespace stele::internal
