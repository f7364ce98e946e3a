// Tests the maximum cost of each kind of read: blocks accessed, and bytes read and decoded, as a
// share of the stored bytes. Each bound is close to the necessary cost, so that any additional
// access fails the test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "db/local_database.h"
#include "io/mem_file_system.h"
#include "model/access.h"
#include "stele/stele.h"
#include "support/model_timestamps.h"

namespace stele {
namespace {

Filter Between(int64_t start_millis, int64_t end_millis) {
  return Filter::TimestampRange({Ms(start_millis), Ms(end_millis)});
}

std::string Noise(std::mt19937_64& random, size_t bytes) {
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// The values are incompressible: stored and decoded bytes are about the same.
constexpr int kRows = 4000;        // of "rows"; 5 cells of 100 bytes and a narrow one of 8: 2.3 MB
constexpr int kColumns = 10'000;   // of the row "wide" among 100 small ones; 100 bytes each: 1.1 MB
constexpr int kVersionRows = 200;  // of "versions"; 100 versions of 100 bytes: 2.2 MB
// Of "series" and "layers"; 300 bytes: 1.3 MB; each row is a millisecond later.
constexpr int kSeries = 4000;
constexpr int kLargeRows = 5;  // of "large"; 4 versions of 100,000 bytes: 2 MB
// Of the row "long" of "hidden"; 100,000 bytes: 4 MB, the newest deleted.
constexpr int kHiddenVersions = 40;
constexpr int kWindow = 500;  // rows of them that are read

class ReadStatsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    database_ = new Database(Open());
    FillRows();
    FillWide();
    FillVersions();
    FillSeries();
    FillLarge();
    FillHidden();
  }
  static void TearDownTestSuite() { delete database_; }
  // In memory. It prefetches also on a machine with one processor: a scan that prefetches reads
  // other ranges of a file than one that does not.
  static Database Open() {
    const auto files = std::make_shared<internal::MemFileSystem>();
    return internal::Access::Make<Database>(
        internal::OpenDatabase("/mem",
                               {.sizes = internal::SizesFor(DatabaseOptions().memory_budget_bytes),
                                .file_system = files.get(),
                                .owned_file_system = files,
                                .background_threads = 2,
                                .prefetch_threads = 1})
            .value());
  }

  static Table Create(const char* name, const Schema& schema) {
    return database_->CreateTable(name, schema).value_or(Table());
  }
  static void Write(Table& table, std::vector<RowMutation> rows) {
    ASSERT_TRUE(table.BulkApply(rows).empty());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }

  static void FillRows() {
    Table table = Create("rows", Schema().AddFamily("f").AddFamily("n"));
    std::mt19937_64 random(1);
    std::vector<RowMutation> rows;
    for (int i = 0; i < kRows; ++i) {
      RowMutation row(fmt::format("row{:05}", i));
      for (int c = 0; c < 5; ++c)
        row.SetCell("f", fmt::format("q{}", c), Ms(1), Noise(random, 100));
      rows.push_back(std::move(row.SetCell("n", "n", Ms(1), Noise(random, 8))));
    }
    Write(table, std::move(rows));
    ASSERT_EQ(table.Compact(), absl::OkStatus());
  }

  static void FillWide() {
    Table table = Create("wide", Schema().AddFamily("f"));
    std::mt19937_64 random(2);
    std::vector<RowMutation> rows;
    for (int i = 0; i < 100; ++i)
      rows.push_back(std::move(RowMutation(fmt::format("row{}", i)).SetCell("f", "c", Ms(1), "v")));
    RowMutation wide("wide");
    for (int c = 0; c < kColumns; ++c)
      wide.SetCell("f", fmt::format("c{:05}", c), Ms(1), Noise(random, 100));
    rows.push_back(std::move(wide));
    Write(table, std::move(rows));
    ASSERT_EQ(table.Compact(), absl::OkStatus());
  }

  static void FillVersions() {
    Table table = Create("versions", Schema().AddFamily("f"));
    std::mt19937_64 random(3);
    std::vector<RowMutation> rows;
    for (int i = 0; i < kVersionRows; ++i) {
      RowMutation row(fmt::format("row{:05}", i));
      for (int version = 1; version <= 100; ++version)
        row.SetCell("f", "c", Ms(version), Noise(random, 100));
      rows.push_back(std::move(row));
    }
    Write(table, std::move(rows));
    ASSERT_EQ(table.Compact(), absl::OkStatus());
  }

  // "series": each row is a millisecond later, in one file. "layers": the same rows in three files
  // by time, the oldest file with another family. "counted": the same with a rule that counts
  // versions.
  static void FillSeries() {
    std::mt19937_64 random(4);
    Table series = Create("series", Schema().AddFamily("f"));
    std::vector<RowMutation> rows;
    for (int i = 0; i < kSeries; ++i) {
      rows.push_back(std::move(
          RowMutation(fmt::format("row{:05}", i)).SetCell("f", "c", Ms(i), Noise(random, 300))));
    }
    Write(series, std::move(rows));
    ASSERT_EQ(series.Compact(), absl::OkStatus());
    for (const bool counts : {false, true}) {
      Table layers =
          Create(counts ? "counted" : "layers",
                 Schema()
                     .AddFamily("f", counts ? GcRule::MaxNumVersions(10) : GcRule::None())
                     .AddFamily("g"));
      for (int layer = 0; layer < 3; ++layer) {
        rows.clear();
        for (int i = 0; i < kSeries; ++i) {
          RowMutation row(fmt::format("row{:05}", i));
          rows.push_back(std::move(row.SetCell(layer == 0 ? "g" : "f", "c",
                                               Ms(1000 * layer + i % 1000), Noise(random, 100))));
        }
        Write(layers, std::move(rows));
      }
    }
  }

  static void FillLarge() {
    Table table = Create("large", Schema().AddFamily("f"));
    std::mt19937_64 random(5);
    std::vector<RowMutation> rows;
    for (int i = 0; i < kLargeRows; ++i) {
      RowMutation row(fmt::format("row{:05}", i));
      for (int version = 1; version <= 4; ++version)
        row.SetCell("f", "c", Ms(version), Noise(random, 100'000));
      rows.push_back(std::move(row));
    }
    Write(table, std::move(rows));
  }

  // Makes a file with a history section, because its first rows have old versions. The newest of
  // the many large versions is deleted in memory.
  static void FillHidden() {
    Table table = Create("hidden", Schema().AddFamily("f"));
    std::mt19937_64 random(6);
    std::vector<RowMutation> rows;
    for (int i = 0; i < 600; ++i) {
      RowMutation row(fmt::format("a{:05}", i));
      for (int version = 1; version <= 8; ++version)
        row.SetCell("f", "c", Ms(version), Noise(random, 100));
      rows.push_back(std::move(row));
    }
    RowMutation row("long");
    for (int version = 1; version <= kHiddenVersions; ++version)
      row.SetCell("f", "c", Ms(version), Noise(random, 100'000));
    rows.push_back(std::move(row));
    Write(table, std::move(rows));
    ASSERT_EQ(table.Apply(RowMutation("long").DeleteFromColumn(
                  "f", "c", TimestampRange{.start = Ms(kHiddenVersions)})),
              absl::OkStatus());
  }

  static Database* database_;
};
Database* ReadStatsTest::database_ = nullptr;

struct Kind {
  const char* what;
  const char* table;
  RowSet rows;
  Filter filter;
  ReadOptions options;
  // Expected values, and upper bounds.
  uint64_t cells;
  uint64_t blocks;
  double read_percent;     // of the table's files
  double decoded_percent;  // of the table's files
};

RowSet OneRow(const char* row_key) { return RowRange::Closed(row_key, row_key); }

ReadOptions Limit(int64_t limit, bool reverse = false) {
  return {.limit = limit, .reverse = reverse, .fill_cache = false};
}

std::vector<Kind> Kinds() {
  const ReadOptions plain{.fill_cache = false};
  const ReadOptions reverse{.reverse = true, .fill_cache = false};
  const Filter latest = Filter::Latest(1);
  return {
      {"a row", "rows", OneRow("row02000"), {}, plain, 6, 4, 1.9, 0.6},
      {"a missing row", "rows", OneRow("row02000x"), {}, plain, 0, 0, 0, 0},
      {"a row outside of all", "rows", OneRow("zzz"), {}, plain, 0, 0, 0, 0},
      {"a narrow family of a row", "rows", OneRow("row02000"), Filter::Family("n"), plain, 1, 2,
       0.5, 0.4},
      {"all rows", "rows", RowSet::All(), {}, plain, 6 * kRows, 761, 99.5, 101},
      {"all rows backwards", "rows", RowSet::All(), {}, reverse, 6 * kRows, 757, 99.5, 101},
      {"a narrow family", "rows", RowSet::All(), Filter::Family("n"), plain, kRows, 46, 2.6, 3.4},
      {"a narrow family backwards", "rows", RowSet::All(), Filter::Family("n"), reverse, kRows, 44,
       2.6, 3.4},
      {"an unknown family", "rows", RowSet::All(), Filter::Family("x"), plain, 0, 0, 0, 0},
      {"one row of all", "rows", RowSet::All(), {}, Limit(1), 6, 4, 1.9, 0.6},
      {"the last row", "rows", RowSet::All(), {}, Limit(1, true), 6, 9, 0.6, 0.7},
      {"100 rows", "rows", RowRange::StartingAt("row02000"), {}, Limit(100), 600, 30, 3.8, 3.8},
      {"100 rows backwards",
       "rows",
       RowRange::RightOpen("", "row02000"),
       {},
       Limit(100, true),
       600,
       30,
       6.2,
       3.7},
      {"a prefix of 100 rows", "rows", RowRange::Prefix("row020"), {}, plain, 600, 30, 3.8, 3.8},
      {"the first cell of each of 100 rows", "rows", RowRange::Prefix("row020"),
       Filter::CellsRowLimit(1), plain, 100, 30, 3.8, 3.8},
      {"a column of a wide row", "wide", OneRow("wide"), Filter::Column("f", "c07000"), plain, 1, 3,
       5.6, 3.2},
      {"100 columns of a wide row", "wide", OneRow("wide"),
       Filter::ColumnRange("f", ByteRange::RightOpen("c070", "c071")), plain, 100, 3, 5.6, 3.2},
      {"the first 10 cells of a wide row", "wide", OneRow("wide"), Filter::CellsRowLimit(10), plain,
       10, 3, 2.9, 3.4},
      {"the newest of 100 versions", "versions", RowSet::All(), latest, plain, kVersionRows, 11,
       1.2, 1.2},
      {"the newest of 100 versions of a row", "versions", OneRow("row00100"), latest, plain, 1, 2,
       1.2, 0.3},
      {"the newest five of 100 versions", "versions", OneRow("row00100"), Filter::Latest(5), plain,
       5, 4, 2.8, 0.9},
      {"new ones of 100 versions", "versions", RowSet::All(), Filter::TimestampRange({Ms(100)}),
       plain, kVersionRows, 13, 1.2, 1.2},
      {"no version", "versions", RowSet::All(), Filter::TimestampRange({Ms(200)}), plain, 0, 0, 0,
       0},
      {"old rows of a series", "series", RowSet::All(), Between(1000, 1000 + kWindow), plain,
       kWindow, 58, 15.5, 14.0},
      {"old rows of a series backwards", "series", RowSet::All(), Between(1000, 1000 + kWindow),
       reverse, kWindow, 56, 15.5, 13.9},
      {"new rows of a series", "series", RowSet::All(),
       Filter::TimestampRange({Ms(kSeries - kWindow)}), plain, kWindow, 58, 13.7, 13.9},
      {"a row of a series at another time", "series", OneRow("row02000"), Between(1, 10), plain, 0,
       1, 0.1, 0.2},
  };
}

// Reads of large values, and of files with different ages.
std::vector<Kind> FileKinds() {
  const ReadOptions plain{.fill_cache = false};
  const Filter latest = Filter::Latest(1);
  return {
      {"one of four large versions", "large", RowSet::All(), Between(2, 3), plain, kLargeRows, 2,
       26.5, 26.5},
      {"the newest of four large versions", "large", RowSet::All(), latest, plain, kLargeRows, 2,
       26.5, 26.5},
      {"the newest of 40 large versions, behind a deleted one", "hidden", OneRow("long"), latest,
       plain, 1, 4, 4.5, 4.5},
      {"the newest file", "layers", RowSet::All(), Filter::TimestampRange({Ms(2000)}), plain,
       kSeries, 186, 35.3, 36.6},
      {"the middle file", "layers", RowSet::All(), Between(1000, 2000), plain, kSeries, 186, 35.3,
       36.6},
      {"the middle file's row", "layers", OneRow("row02000"), Between(1000, 2000), plain, 1, 2, 2.2,
       0.5},
      {"the newest version of a column that older files have, too", "layers", OneRow("row02000"),
       Filter::Chain(Filter::Column("f", "c"), latest), plain, 1, 2, 2.2, 0.5},
      {"all versions of a column that older files have, too", "layers", OneRow("row02000"),
       Filter::Column("f", "c"), plain, 2, 4, 4.4, 1.0},
      {"the oldest file, for its family", "layers", RowSet::All(), Filter::Family("g"), plain,
       kSeries, 186, 35.3, 36.6},
      {"between the files", "layers", RowSet::All(), Between(3000, 9000), plain, 0, 0, 0, 0},
      {"the newest file where versions are counted", "counted", RowSet::All(),
       Filter::TimestampRange({Ms(2000)}), plain, kSeries, 186, 35.3, 36.6},
      {"the middle file where versions are counted", "counted", RowSet::All(), Between(1000, 2000),
       plain, kSeries, 373, 70.6, 73.1},
  };
}

// The filters that the first list does not cover.
std::vector<Kind> FilterKinds() {
  const ReadOptions plain{.fill_cache = false};
  const ReadOptions reverse{.reverse = true, .fill_cache = false};
  const Filter latest = Filter::Latest(1);
  const Filter narrow = Filter::Family("n");
  return {
      {"nothing", "rows", RowSet::All(), Filter::BlockAll(), plain, 0, 0, 0, 0},
      {"rows by a literal regex", "rows", RowSet::All(), Filter::RowKeyRegex("row02000"), plain, 6,
       4, 1.9, 0.6},
      {"rows by a prefix", "rows", RowSet::All(), Filter::RowKeyRegex("row0200\\d"), plain, 60, 21,
       2.2, 2.2},
      {"rows by either of two regexes", "rows", RowSet::All(),
       Filter::Interleave(Filter::RowKeyRegex("row02000"), Filter::RowKeyRegex("row02001")),
       reverse, 12, 4, 1.9, 0.6},
      {"a regex that no row of the range matches", "rows", RowRange::StartingAt("row03"),
       Filter::RowKeyRegex("row01\\C*"), plain, 0, 0, 0, 0},
      {"a narrow family by regex", "rows", RowSet::All(), Filter::FamilyRegex("[l-n]"), plain,
       kRows, 46, 2.6, 3.4},
      {"a narrow family twice", "rows", RowSet::All(),
       Filter::Interleave(narrow, Filter::Chain(narrow, Filter::StripValue())), plain, 2 * kRows,
       46, 2.6, 3.4},
      {"a narrow family, if it is there", "rows", RowSet::All(),
       Filter::Condition(narrow, Filter::Chain(narrow, Filter::Label("l"))), plain, kRows, 46, 2.6,
       3.4},
      {"a narrow family that is sunk", "rows", RowSet::All(),
       Filter::Chain(narrow, Filter::Sink(), Filter::Family("f")), plain, kRows, 46, 2.6, 3.4},
      {"a narrow family by its values", "rows", RowSet::All(),
       Filter::Chain(narrow, Filter::ValueRange(ByteRange::All()), Filter::ValueRegex("\\C*"),
                     Filter::ValueBitmask(std::string(8, '\0'))),
       plain, kRows, 46, 2.6, 3.4},
      {"two columns of a giant row", "wide", OneRow("wide"),
       Filter::Interleave(Filter::Column("f", "c00010"), Filter::Column("f", "c09990")), plain, 2,
       5, 3.4, 3.6},
      {"a column of a giant row by regex", "wide", OneRow("wide"),
       Filter::ColumnRegex("c0500[0-3]"), plain, 4, 3, 5.7, 3.0},
      {"two columns of a giant row by a regex of their names", "wide", OneRow("wide"),
       Filter::ColumnRegex("c00010|c09990"), plain, 2, 5, 3.4, 3.6},
      {"a column of a giant row, if there is another", "wide", OneRow("wide"),
       Filter::Condition(Filter::Column("f", "c00010"), Filter::Column("f", "c05000")), plain, 1, 5,
       5.7, 5.9},
      {"the first cells of a giant row, twice", "wide", OneRow("wide"),
       Filter::Chain(Filter::Interleave(Filter::PassAll(), Filter::StripValue()),
                     Filter::CellsRowLimit(4)),
       plain, 4, 3, 2.9, 3.1},
      {"the end of a giant row", "wide", OneRow("wide"), Filter::CellsRowOffset(kColumns - 1),
       plain, 1, 80, 100, 101},
      {"the newest of 100 versions twice", "versions", RowSet::All(),
       Filter::Interleave(latest, Filter::Chain(latest, Filter::StripValue())), plain,
       2 * kVersionRows, 13, 1.2, 1.2},
      {"the newest of 100 versions, if there is one", "versions", RowSet::All(),
       Filter::Condition(Filter::PassAll(), latest), plain, kVersionRows, 13, 1.2, 1.2},
      {"the middle file by parts", "layers", RowSet::All(),
       Filter::Interleave(Between(1000, 1500), Between(1500, 2000)), plain, kSeries, 186, 35.3,
       36.6},
  };
}

TEST_F(ReadStatsTest, EachKindOfReadTouchesLittleMoreThanItNeeds) {
  std::vector<Kind> kinds = Kinds();
  const std::vector<Kind> of_files = FileKinds();
  kinds.insert(kinds.end(), of_files.begin(), of_files.end());
  const std::vector<Kind> more = FilterKinds();
  kinds.insert(kinds.end(), more.begin(), more.end());
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.what);
    Table table = database_->OpenTable(kind.table).value_or(Table());
    RowReader reader = table.ReadRows(kind.rows, kind.filter, kind.options);
    uint64_t cells = 0;
    while (reader.Next()) cells += reader.row().cells().size();
    ASSERT_EQ(reader.status(), absl::OkStatus());
    const ReadStats stats = reader.stats();
    const auto stored = table.Stats();
    ASSERT_TRUE(stored.ok());
    const auto percent = [&](uint64_t bytes) {
      return 100.0 * static_cast<double>(bytes) / static_cast<double>(stored->bytes_on_disk);
    };
    EXPECT_EQ(cells, kind.cells);
    EXPECT_EQ(stats.cells_returned, kind.cells);
    EXPECT_LE(stats.blocks, kind.blocks);
    EXPECT_LE(percent(stats.bytes_read), kind.read_percent);
    EXPECT_LE(percent(stats.bytes_decoded), kind.decoded_percent);
  }
}

// Cached blocks are accessed again but not read. A snapshot reads the same as any other read.
TEST_F(ReadStatsTest, ASecondReadReadsNothing) {
  Table table = database_->OpenTable("rows").value_or(Table());
  const auto snapshot = database_->GetSnapshot();
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  std::vector<ReadStats> stats;
  for (const ReadOptions& options : {ReadOptions{.limit = 100}, ReadOptions{.limit = 100},
                                     ReadOptions{.limit = 100, .snapshot = *snapshot}}) {
    RowReader reader = table.ReadRows(RowRange::StartingAt("row03000"), {}, options);
    while (reader.Next()) {
    }
    ASSERT_EQ(reader.status(), absl::OkStatus());
    stats.push_back(reader.stats());
  }
  EXPECT_GT(stats[0].bytes_read, 0u);
  for (const size_t again : {1, 2}) {
    EXPECT_EQ(stats[again].bytes_read, 0u);
    EXPECT_EQ(stats[again].bytes_decoded, 0u);
    EXPECT_EQ(stats[again].blocks, stats[0].blocks);
    EXPECT_EQ(stats[again].cells_returned, 600u);
  }
}

}  // namespace
}  // namespace stele
