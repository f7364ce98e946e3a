// Tests the limit of open files on the real file system. A database with many more SSTables than
// the process may open works as usual. If the process has no descriptors left, calls fail with an
// error, and they succeed again when there are some.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/random.h"
#include "base/status.h"
#include "db/engine.h"
#include "io/posix_descriptor.h"
#include "support/crash_child.h"
#include "support/db_workload.h"
#include "support/io_descriptor_limit.h"

namespace stele::internal {
namespace {

constexpr int kLimit = 32;
constexpr int kRows = 900;

class OpenFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Open();
    ASSERT_TRUE(database().CreateTable("t", Schema().AddFamily("f")).ok());
    table_ = database().OpenTable("t").value();
  }

  void Open(const std::string& name = "/db") {
    table_ = Table();
    database_.reset();
    EngineOptions options = SmallEngineOptions(PosixFileSystem());
    options.sizes.load_file_bytes = 3 << 10;
    options.database.memory_budget_bytes = uint64_t{32} << 20;
    database_ = std::make_unique<WorkloadDatabase>(options, scratch_.path() + name);
    ASSERT_EQ(database_->Open(), absl::OkStatus());
    table_ = database().OpenTable("t").value_or(Table());
  }
  Database& database() { return database_->database(); }

  // Three rows per SSTable.
  void Load() {
    BulkLoad load = table_.NewBulkLoad();
    for (int i = 0; i < kRows; ++i) {
      const std::string row = fmt::format("row{:04}", i);
      rows_[row] = Value(i);
      ASSERT_EQ(load.Add(RowMutation(row).SetCell("f", "q", Timestamp(), rows_[row])),
                absl::OkStatus());
    }
    ASSERT_EQ(load.Finish(), absl::OkStatus());
  }
  absl::Status Write(int number, int version) {
    const std::string row = fmt::format("row{:04}", number);
    const std::string value = Value(number * 1000 + version);
    STELE_RETURN_IF_ERROR(table_.Apply(RowMutation(row).SetCell("f", "q", Timestamp(), value)));
    rows_[row] = value;
    return absl::OkStatus();
  }
  std::string Value(int salt) {
    Random random(static_cast<uint64_t>(salt));
    std::string value = fmt::format("{} ", salt);
    while (value.size() < 1000) value.push_back(static_cast<char>('a' + random.Below(26)));
    return value;
  }
  void Expect(const std::map<std::string, std::string>& rows, const ReadOptions& options = {}) {
    auto expected = rows.begin();
    RowReader reader = table_.ReadRows(RowSet::All(), {}, options);
    for (const RowView& row : reader) {
      ASSERT_NE(expected, rows.end());
      EXPECT_EQ(row.row_key(), expected->first);
      EXPECT_EQ(row.cells()[0].value(), expected->second);
      ++expected;
    }
    EXPECT_EQ(reader.status(), absl::OkStatus());
    EXPECT_EQ(expected, rows.end());
  }

  const ScratchDirectory scratch_;
  std::unique_ptr<WorkloadDatabase> database_;
  Table table_;
  std::map<std::string, std::string> rows_;
};

TEST_F(OpenFilesTest, ALimitOf32IsEnoughForHundredsOfSstables) {
  const DescriptorLimit limit(kLimit);
  Load();
  ASSERT_GT(database().Stats().disk.sstables, size_t{200});
  EXPECT_LE(OpenDescriptorCount(), kLimit);
  Expect(rows_);
  for (int i = 0; i < 2 * kRows; i += 7) {
    const std::string row = fmt::format("row{:04}", i * 31 % kRows);
    const auto read = table_.ReadRow(row);
    ASSERT_TRUE(read.ok() && read->has_value()) << row << ": " << read.status();
    EXPECT_EQ((*read)->cells()[0].value(), rows_[row]);
  }
  const Snapshot snapshot = database().GetSnapshot().value();
  const std::map<std::string, std::string> before = rows_;
  RowReader held = table_.ReadRows();
  ASSERT_TRUE(held.Next());
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Write(i * 9, 1), absl::OkStatus()) << i;
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  ASSERT_EQ(database().Checkpoint(scratch_.path() + "/copy"), absl::OkStatus());
  ASSERT_EQ(table_.Compact(), absl::OkStatus());
  EXPECT_LT(database().Stats().disk.sstables, size_t{200});
  Expect(rows_);
  Expect(before, {.snapshot = snapshot});
  int held_rows = 1;
  while (held.Next()) ++held_rows;
  EXPECT_EQ(held.status(), absl::OkStatus()) << "of files that nothing but this reader still needs";
  EXPECT_EQ(held_rows, kRows);
  EXPECT_TRUE(database().Verify().value_or(VerifyReport{.damages = {VerifyReport::Damage()}}).ok());
  held = RowReader();
  ASSERT_EQ(database().Close(), absl::OkStatus());
  for (const char* const name : {"/db", "/copy"}) {
    Open(name);
    Expect(rows_);
    EXPECT_TRUE(
        database().Verify().value_or(VerifyReport{.damages = {VerifyReport::Damage()}}).ok());
  }
  EXPECT_LE(OpenDescriptorCount(), kLimit);
}

// Another thread takes every descriptor that is closed.
TEST_F(OpenFilesTest, AProcessWithoutDescriptorsLosesNothing) {
  const DescriptorLimit limit(kLimit);
  Load();
  int refused = 0;
  {
    DescriptorHog hog;
    for (int i = 0; i < 150; ++i) {
      const absl::Status status = Write(i, 1);
      EXPECT_TRUE(status.ok() || absl::IsResourceExhausted(status)) << status;
      refused += status.ok() ? 0 : 1;
      while (PosixFilePool().CloseOne()) {
      }
      hog.Take();
    }
    EXPECT_GT(refused, 0);
    const absl::Status flushed = table_.Flush();
    EXPECT_TRUE(absl::IsResourceExhausted(flushed)) << flushed;
    const absl::Status read = table_.ReadRow("row0899").status();
    EXPECT_TRUE(absl::IsResourceExhausted(read)) << read;
    EXPECT_NE(read.message().find("ulimit -n"), absl::string_view::npos) << read;
    EXPECT_TRUE(absl::IsResourceExhausted(database().Checkpoint(scratch_.path() + "/copy")));
  }
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus()) << "what failed is tried again";
  for (int i = 100; i < 300; ++i) ASSERT_EQ(Write(i, 2), absl::OkStatus()) << i;
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
  Expect(rows_);
  EXPECT_EQ(database().Checkpoint(scratch_.path() + "/copy"), absl::OkStatus());
  ASSERT_EQ(database().Close(), absl::OkStatus());
  Open();
  Expect(rows_);
}

}  // namespace
}  // namespace stele::internal
