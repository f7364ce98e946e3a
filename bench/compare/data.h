// bench/compare/data.h: the rows that every engine gets. Keys, columns, versions and values are
// computed from numbers alone.
//
// Values:    Substrings of a pool of text (words and random tokens). zstd compresses it to about 50
//            %, lz4 to about 70 %.
// Keys:      "usr:" and 12 digits, with gaps. A missing key is between two that exist. The rows of
//            DataSet::kBench have the keys of `stele bench`.
// Threads:   Pool and RowMaker are thread-compatible. Use one RowMaker per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stele_compare {

// A data set has its own directory in each engine. "rows" is the number given with --rows.
enum class DataSet : uint8_t {
  kSorted,       // rows x 5 columns, bulk loaded
  kRandom,       // the same rows, written one by one in random order
  kWide,         // rows/10 x 25 columns: a small column in its own family, and 24 of 100 bytes
  kVersions,     // rows/100 x 5 columns x 100 versions
  kOverwrite,    // rows/10 x 5 columns, each overwritten about 10 times, one version kept
  kSynced,       // like kRandom; target of synced commits
  kYcsb,         // like kRandom, one version kept; YCSB's workloads change it
  kLarge,        // rows/4 x 1 column of 1,000 bytes, bulk loaded
  kLargeRandom,  // the same rows, written one by one in random order
  kRangeDelete,  // like kRandom; half of its rows are deleted
  kLogged,       // like kRandom, at most 160 MB; only in the log
  kCounters,     // a counter per row, at most 100,000 rows; one version kept
  kBench,        // the table of `stele bench --fields 5`, bulk loaded; one version kept
};
std::string_view NameOf(DataSet data_set);

struct CellData {
  std::string_view family;  // one character, which is also the family byte of an encoded key
  std::string_view qualifier;
  int64_t timestamp_micros = 0;  // whole milliseconds
  std::string_view value;
};

struct RowData {
  std::string_view row_key;
  std::span<const CellData> cells;  // in storage order
};

// The size of one row as a user counts it: the row key once, and the family, qualifier, timestamp
// and value of each cell.
uint64_t UserBytes(const RowData& row);

// Mixes the bits of a number. It is the only source of randomness here.
inline uint64_t Mix(uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

// The column that projections read. It is the first one of a row and its family has no other.
constexpr std::string_view kProjectedFamily = "0";
constexpr std::string_view kProjectedQualifier = "st";

// A counter is one cell of 8 bytes, big-endian.
constexpr std::string_view kCounterFamily = "0";
constexpr std::string_view kCounterQualifier = "n";
constexpr size_t kCounterBytes = 8;
std::string EncodedCounter(uint64_t count);

// The columns of DataSet::kBench are in one family, like those of `stele bench`. The first cell of
// one row in ten begins with kMatchingValue, which no other value contains.
struct ColumnName {
  std::string_view family;
  std::string_view qualifier;
};
std::span<const ColumnName> BenchColumns();
// The same, and the column of the counters that workloads add to rows.
std::span<const ColumnName> BenchColumnsAndCounter();
constexpr std::string_view kMatchingValue = "#";

class Pool {
 public:
  explicit Pool(size_t bytes);
  std::string_view Slice(uint64_t chance, size_t bytes) const {
    return std::string_view(text_).substr(chance % (text_.size() - bytes), bytes);
  }

 private:
  std::string text_;
};

// The key of row `row_index`, and a key directly after it that does not exist.
std::string RowKeyOf(uint64_t row_index);
std::string MissingKeyAfter(uint64_t row_index);
// The key of a row of DataSet::kBench: "user" and 12 digits, without gaps.
std::string BenchKeyOf(uint64_t row_index);

uint64_t RowCountOf(DataSet data_set, uint64_t rows);
uint64_t CellsInRow(DataSet data_set);
// The numbers 0 to count-1 in an order that depends only on `seed`.
std::vector<uint32_t> Shuffled(uint64_t count, uint64_t seed);

class RowMaker {
 public:
  RowMaker(const Pool& pool, DataSet data_set) : pool_(pool), data_set_(data_set) {}
  // Returns row `row_index` after overwrite number `overwrite` (0: as first written). Valid until
  // the next call.
  const RowData& Make(uint64_t row_index, uint64_t overwrite = 0);
  // Returns only one cell of the row, that of column number `chance` mod the number of columns.
  const RowData& MakeOneCell(uint64_t row_index, uint64_t overwrite, uint64_t chance);

 private:
  void AddVersions(std::string_view family, std::string_view qualifier, uint64_t column_chance,
                   uint64_t overwrite);
  void AddColumn(uint64_t row_index, size_t column, uint64_t overwrite);

  const Pool& pool_;
  const DataSet data_set_;
  std::string row_key_;
  std::vector<CellData> cells_;
  std::string matching_value_;
  RowData row_;
};

}  // namespace stele_compare
