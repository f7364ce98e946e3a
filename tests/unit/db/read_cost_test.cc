// Counts the allocations of reads by key, over a settled file and over live data.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "model/access.h"
#include "support/base_sanitized.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "unit/db/allocations.h"

namespace stele::internal {
namespace {

constexpr int kCostRows = 300;

std::string CostRowOf(int i) { return fmt::format("row{:06}", i); }
std::string MissingCostRowOf(int i) { return CostRowOf(i) + "m"; }

struct CostShape {
  int files = 1;              // row i is in the files [0, i % files], and
  bool has_memtable = false;  // if i is divisible by 10, in the memtable
  GcRule rule = GcRule::None();
};

class CostRows {
 public:
  explicit CostRows(const CostShape& shape) {
    EngineOptions options = SmallEngineOptions(&file_system_);
    options.sizes.memtable_bytes = options.sizes.write_memory_bytes = 8 << 20;
    options.sizes.log_bytes_max = options.sizes.segment_bytes = 8 << 20;
    options.sizes.cache_bytes = 8 << 20;
    database_ = Access::Make<Database>(OpenDatabase("/db", std::move(options)).value());
    table_ =
        database_.CreateTable("t", Schema().AddFamily("a", shape.rule).AddFamily("b", shape.rule))
            .value();
    for (int file = 0; file < shape.files; ++file) {
      for (int row = 0; row < kCostRows; ++row) {
        if (row % shape.files >= file) Write(row, file);
      }
      EXPECT_EQ(table_.Flush(), absl::OkStatus());
    }
    for (int row = 0; shape.has_memtable && row < kCostRows; row += 10) Write(row, shape.files);
    EXPECT_EQ(table_.Stats()->files, static_cast<size_t>(shape.files));
  }
  const Table& table() const { return table_; }

 private:
  void Write(int row, int version) {
    const Timestamp timestamp = Timestamp::FromMicros(1'000'000 + version * 1'000);
    const std::string value(100, static_cast<char>('a' + version));
    RowMutation mutation(CostRowOf(row));
    mutation.SetCell("a", "status", timestamp, value);
    for (const char* qualifier : {"address", "mail", "name"})
      mutation.SetCell("b", qualifier, timestamp, value);
    EXPECT_EQ(table_.Apply(mutation), absl::OkStatus());
  }

  CrashFileSystem file_system_;
  Database database_;
  Table table_;
};

std::vector<CostShape> AllCostShapes() {
  std::vector<CostShape> shapes;
  for (const GcRule& rule :
       {GcRule::None(), GcRule::MaxNumVersions(1), GcRule::MaxAge(std::chrono::hours(1))}) {
    shapes.push_back({.files = 1, .rule = rule});
    shapes.push_back({.files = 3, .has_memtable = true, .rule = rule});
  }
  return shapes;
}

// A key between others, for which no bloom filter gives a false positive.
TEST(ReadCostTest, AMissingKeyAllocatesNothing) {
  if (kSanitized) GTEST_SKIP() << "allocations are not counted";
  for (const CostShape& shape : AllCostShapes()) {
    const CostRows rows(shape);
    const std::string row_key = MissingCostRowOf(100);
    const auto read = [&] { EXPECT_EQ(*rows.table().ReadRow(row_key), std::nullopt); };
    const auto look = [&] { EXPECT_FALSE(*rows.table().Exists(row_key)); };
    EXPECT_EQ(CountOf(read).objects, 0) << shape.files << " " << shape.rule.ToString();
    EXPECT_EQ(CountOf(look).objects, 0) << shape.files << " " << shape.rule.ToString();
  }
}

// Reads once before, so that the blocks are in the cache.
template <typename Read>
int64_t ObjectsOf(const Read& read) {
  read();
  return CountOf(read).objects;
}

// The answer is one allocation, the array of cells another one. A row in several sources adds
// arrays of their cells, and a read of one column adds the cursors of a merge.
TEST(ReadCostTest, ARowAllocatesLittleBesidesTheAnswer) {
  if (kSanitized) GTEST_SKIP() << "allocations are not counted";
  const CostRows settled({.files = 1, .rule = GcRule::MaxNumVersions(1)});
  const CostRows live({.files = 3, .has_memtable = true, .rule = GcRule::MaxNumVersions(1)});
  const std::string in_all = CostRowOf(50);  // in three files and the memtable
  const auto row_of = [&](const CostRows& rows) {
    return ObjectsOf([&] { EXPECT_TRUE(rows.table().ReadRow(in_all)->has_value()); });
  };
  const auto cell_of = [&](const CostRows& rows) {
    return ObjectsOf([&] { EXPECT_TRUE(rows.table().ReadCell(in_all, "b", "mail")->has_value()); });
  };
  EXPECT_LE(row_of(settled), 2);
  EXPECT_LE(cell_of(settled), 3);
  EXPECT_LE(row_of(live), 15);
  EXPECT_LE(cell_of(live), 22);
}

TEST(ReadCostTest, AScanOfAFewRowsAllocatesLittle) {
  if (kSanitized) GTEST_SKIP() << "allocations are not counted";
  const RowSet rows(RowRange::StartingAt(CostRowOf(50)));
  const auto scan_of = [&](const CostRows& of, int64_t limit) {
    return ObjectsOf([&] {
      RowReader reader = of.table().ReadRows(rows, {}, {.limit = limit});
      int64_t count = 0;
      while (reader.Next()) ++count;
      EXPECT_EQ(reader.status(), absl::OkStatus());
      EXPECT_EQ(count, limit);
    });
  };
  const CostRows settled({.files = 1, .rule = GcRule::MaxNumVersions(1)});
  const CostRows live({.files = 3, .has_memtable = true, .rule = GcRule::MaxNumVersions(1)});
  EXPECT_LE(scan_of(settled, 1), 20);
  EXPECT_LE(scan_of(settled, 100), 20);
  EXPECT_LE(scan_of(live, 1), 43);
  EXPECT_LE(scan_of(live, 100), 43);
}

}  // namespace
}  // namespace stele::internal
