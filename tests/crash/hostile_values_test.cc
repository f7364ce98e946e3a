// Tests a database whose values look like records of its log. A killed process leaves such values
// after the end of the log, in recycled files. Recovery must not report them as damage.
// How: a client overwrites one column with guessed record headers. The process is killed after
// every write. The same bytes in row keys, qualifiers and properties: the process is killed, or
// power is lost, at every third call of the file system.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "db/engine.h"
#include "manifest/manifest_format.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "support/wal_guessed_headers.h"

namespace stele::internal {
namespace {

constexpr int kWrites = 80;
constexpr size_t kValueBytes = 26 << 10;

// Segments are large compared to the values, as with every real budget.
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

// Returns "" if the image opens, is sound and, unless `expected` is empty, contains it.
std::string Check(CrashFileSystem* image, const std::string& expected, bool read_only) {
  WorkloadDatabase database(HostileOptions(image, read_only), "/db");
  if (const absl::Status opened = database.Open(); !opened.ok()) return opened.ToString();
  const absl::StatusOr<std::string> dump = DumpDatabase(database.database());
  if (!dump.ok()) return dump.status().ToString();
  if (!expected.empty() && *dump != expected) return "other data than was written";
  const absl::StatusOr<VerifyReport> report = database.database().Verify();
  if (!report.ok()) return report.status().ToString();
  return report->ok()
             ? ""
             : fmt::format("Verify: {}: {}", report->damages[0].file, report->damages[0].what);
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
    const uint64_t segment = database_.engine().storage().log->SegmentEnds().back().segment_number;
    const std::string value = GuessedRecordHeaders({.first_segment = segment,
                                                    .payload_bytes = 200 << 10,
                                                    .value_bytes = kValueBytes,
                                                    .shift_bytes = static_cast<size_t>(write) % 8});
    const Timestamp timestamp = Timestamp::FromMicros(1000 * (write + 1));
    const WriteOptions options{.durability =
                                   write % 3 == 2 ? Durability::kDisk : Durability::kProcess};
    absl::Status status =
        table_.Apply(RowMutation("row").SetCell("f", "q", timestamp, value), options);
    while (status.ok() && database_.engine().scheduler().Step()) {
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
  EXPECT_GT(database_.engine().storage().log->SegmentEnds().front().segment_number, 8u)
      << "segments were used again";
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

// Record headers of the manifest, as a client can write them that knows everything but the nonce.
std::string GuessedManifestHeaders(uint64_t database_id, uint64_t manifest_number, size_t bytes) {
  const ManifestHeader guess{.database_id = database_id, .number = manifest_number, .nonce = 0};
  std::string headers;
  for (uint64_t offset = kManifestHeaderBytes; headers.size() < bytes; offset += 8) {
    ManifestRecordHeader header{.type = static_cast<uint32_t>(ManifestRecordType::kEdit),
                                .previous_checksum = 0,
                                .offset = offset,
                                .edit_offset = offset};
    headers += EncodeRecord(&header, {}, RecordSeed(guess));
  }
  headers.resize(bytes);
  return headers;
}

// One database that is written with hostile names until a call of the file system crashes.
class HostileNames {
 public:
  explicit HostileNames(CrashFileSystem* files) : database_(HostileOptions(files), "/db") {}

  // Returns how many rows were acknowledged.
  int Run() {
    if (!database_.Open().ok()) return 0;
    const TableLimits limits{.row_key_bytes = 60'000, .qualifier_bytes = 60'000};
    const Schema schema = Schema().AddFamily("f").SetLimits(limits);
    if (!database_.database().CreateTable("t", schema).ok()) return 0;
    Table table = database_.database().OpenTable("t").value_or(Table());
    for (int row = 0; row < kRows; ++row) {
      if (!WriteRow(table, row).ok()) return row;
    }
    return kRows;
  }
  static std::string Prefix(int row) { return fmt::format("{:02}", row); }
  static constexpr int kRows = 6;

 private:
  absl::Status WriteRow(Table& table, int row) {
    static const std::string guessed =
        GuessedRecordHeaders({.segment_count = 8, .payload_bytes = 8 << 10, .value_bytes = 50'008});
    const auto log_headers = [row](size_t bytes) {
      return guessed.substr(static_cast<size_t>(row), bytes);
    };
    const std::string manifest_headers =
        GuessedManifestHeaders(database_.engine().storage().directory.id(),
                               static_cast<uint64_t>(row) + 1, 30'000 - static_cast<size_t>(row));
    STELE_RETURN_IF_ERROR(table.Apply(RowMutation(Prefix(row) + log_headers(50'000))
                                          .SetCell("f", log_headers(50'000), manifest_headers)
                                          .SetCell("f", manifest_headers, log_headers(20'000))));
    STELE_RETURN_IF_ERROR(table.SetProperty("p", manifest_headers + log_headers(20'000)));
    return row % 3 == 2 ? table.Flush() : absl::OkStatus();
  }

  WorkloadDatabase database_;
};

TEST(HostileNamesTest, AnyCrashLeavesADatabaseThatOpensWithItsRows) {
  constexpr uint64_t kCallsPerCrash = 3;
  bool crashed = true;
  for (uint64_t call = 1; crashed && !HasFailure(); call += kCallsPerCrash) {
    CrashFileSystem files;
    files.SetCrashAtCall(call);
    const int rows = HostileNames(&files).Run();
    crashed = files.crashed();
    for (const CrashPolicy& policy :
         {CrashPolicy::KilledProcess(), CrashPolicy::PowerLoss(), CrashPolicy::DropUnsynced()}) {
      const std::unique_ptr<CrashFileSystem> image = files.Crash(policy, call);
      ASSERT_EQ(Check(image.get(), "", /*read_only=*/false), "") << "crash at call " << call;
      if (policy.keep != CrashPolicy::Keep::kPageCache || rows == 0) continue;
      WorkloadDatabase database(HostileOptions(image.get()), "/db");
      ASSERT_EQ(database.Open(), absl::OkStatus());
      int rows_read = 0;
      RowReader reader = database.database().OpenTable("t").value_or(Table()).ReadRows();
      for (const RowView& row : reader) {
        EXPECT_TRUE(row.row_key().starts_with(HostileNames::Prefix(rows_read)));
        ++rows_read;
      }
      ASSERT_EQ(reader.status(), absl::OkStatus());
      ASSERT_GE(rows_read, rows) << "crash at call " << call;
    }
  }
}

}  // namespace
}  // namespace stele::internal
