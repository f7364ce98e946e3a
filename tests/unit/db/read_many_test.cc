// Tests that ReadMany, and a scan of single rows, start the file reads of later rows before they
// need them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

constexpr int kReadManyRows = 400;  // of about 500 bytes, in row groups of 1 KiB

std::string KeyOf(int row) { return fmt::format("row{:04}", row); }

class ReadManyTest : public testing::Test {
 protected:
  ReadManyTest() {
    EXPECT_EQ(database_.Open(), absl::OkStatus());
    Table table = database_.database().CreateTable("t", Schema().AddFamily("f")).value();
    std::mt19937_64 random(1);
    for (int row = 0; row < kReadManyRows; ++row) {
      std::string value(500, '\0');
      for (char& c : value) c = static_cast<char>(random());
      EXPECT_TRUE(
          table.Apply(RowMutation(KeyOf(row)).SetCell("f", "q", Timestamp::FromMicros(1000), value))
              .ok());
    }
    EXPECT_TRUE(table.Flush().ok());
    EXPECT_TRUE(table.Compact().ok());
    table = Table();  // a handle keeps the database open
    Reopen();
  }

  static EngineOptions Options(FileSystem* files) {
    EngineOptions options = SmallEngineOptions(files);
    options.sizes.cache_bytes = 1 << 20;  // more than the table has
    return options;
  }

  // Empties the block cache.
  void Reopen() {
    table_ = Table();
    database_.Drop();
    EXPECT_EQ(database_.Open(), absl::OkStatus());
    table_ = database_.database().OpenTable("t").value();
  }

  // Reads the rows, and compares them with single reads. Returns how many reads were started.
  uint64_t StartedBy(const std::vector<std::string>& row_keys, const Filter& filter = {}) {
    const uint64_t before = files_.started_reads();
    const auto rows = table_.ReadMany(row_keys, filter);
    const uint64_t started = files_.started_reads() - before;
    EXPECT_EQ(rows.status(), absl::OkStatus());
    for (size_t i = 0; i < row_keys.size() && rows.ok(); ++i) {
      const std::optional<Row> row = table_.ReadRow(row_keys[i], filter).value();
      EXPECT_EQ(row.has_value(), (*rows)[i].has_value()) << row_keys[i];
      if (!row.has_value() || !(*rows)[i].has_value()) continue;
      EXPECT_EQ(row->cells()[0].value(), (*rows)[i]->cells()[0].value()) << row_keys[i];
    }
    EXPECT_EQ(files_.started_reads() - before, started) << "single reads start none";
    return started;
  }

  CrashFileSystem disk_;
  ObservedFileSystem files_{&disk_, [](CallKind, const std::string&) {}};
  WorkloadDatabase database_{Options(&files_), "/db"};
  Table table_;
};

TEST_F(ReadManyTest, StartsTheReadsOfAllRowsAfterTheFirst) {
  std::vector<std::string> row_keys;
  for (int row = 0; row < kReadManyRows; row += 4)
    row_keys.push_back(KeyOf(row * 37 % kReadManyRows));
  EXPECT_EQ(StartedBy(row_keys), row_keys.size() - 1);
}

TEST_F(ReadManyTest, StartsNoneForCachedRows) {
  std::vector<std::string> row_keys;
  for (int row = 0; row < 20; ++row) row_keys.push_back(KeyOf(row * 10));
  EXPECT_EQ(StartedBy(row_keys), 19u);
  EXPECT_EQ(StartedBy(row_keys), 0u);
  // One row is not cached. The read of the other one that is not was started by it.
  row_keys.insert(row_keys.begin() + 5, KeyOf(301));
  row_keys.push_back(KeyOf(395));
  EXPECT_EQ(StartedBy(row_keys), 1u);
}

TEST_F(ReadManyTest, StartsNoneForRowsThatNoFileHas) {
  std::vector<std::string> row_keys = {KeyOf(7)};
  for (int row = 0; row < 30; ++row) row_keys.push_back(KeyOf(row) + "x");
  row_keys.push_back(KeyOf(200));
  const uint64_t started = StartedBy(row_keys);
  EXPECT_GE(started, 1u);
  EXPECT_LE(started, 4u) << "the bloom filter rules out nearly all of them";
}

TEST_F(ReadManyTest, AScanOfSingleRowsStartsThemToo) {
  for (const bool is_reversed : {false, true}) {
    Reopen();
    RowSet rows;
    for (int row = 0; row < kReadManyRows; row += 4) rows.Append(KeyOf(row));
    rows.Append(RowRange::Closed(KeyOf(101), KeyOf(103)));
    const uint64_t before = files_.started_reads();
    RowReader reader = table_.ReadRows(rows, {}, {.reverse = is_reversed});
    int found = 0;
    while (reader.Next()) ++found;
    EXPECT_EQ(reader.status(), absl::OkStatus());
    EXPECT_EQ(found, kReadManyRows / 4 + 3);
    EXPECT_GE(files_.started_reads() - before, kReadManyRows / 4 - 3u);
    EXPECT_LT(files_.started_reads() - before, kReadManyRows / 4 + 0u);
  }
}

}  // namespace
}  // namespace stele::internal
