// bench/compare/data.h: the rows that every engine gets: the same keys, columns, versions and values, made from numbers alone.
//
// Values:    slices of a pool of text (words and random tokens) that zstd halves; lz4 takes it to about 70%.
// Keys:      "usr:" and 12 digits, with gaps: a missing key lies between two that exist.
// Threads:   Pool and RowMaker are thread-compatible; one RowMaker for each thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stele_compare {

// A data set of its own directory in each engine; rows are those that --rows asks for, or a part of it.
enum class DataSet : uint8_t {
  kSorted,     // rows x 5 columns, loaded in bulk
  kRandom,     // the same rows, written one by one in random order
  kWide,       // rows/10 x 25 columns: one small column in a family of its own beside 24 of 100 bytes
  kVersions,   // rows/100 x 5 columns x 100 versions
  kOverwrite,  // rows/10 x 5 columns, each overwritten about 10 times, one version kept
  kSynced,     // as kRandom, to sync commits into
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
  std::span<const CellData> cells;  // in the order in which they are stored
};

// Bytes of one row as a user counts them: the row key once, and each cell's family, qualifier, timestamp and value.
uint64_t UserBytes(const RowData& row);

// A good mix of the bits of a number; the only source of chance here.
inline uint64_t Mix(uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

class Pool {
 public:
  explicit Pool(size_t bytes);
  std::string_view Slice(uint64_t chance, size_t bytes) const {
    return std::string_view(text_).substr(chance % (text_.size() - bytes), bytes);
  }

 private:
  std::string text_;
};

// The key of row `row_index`, and one that lies right behind it and is nobody's.
std::string RowKeyOf(uint64_t row_index);
std::string MissingKeyAfter(uint64_t row_index);

uint64_t RowCountOf(DataSet data_set, uint64_t rows);
uint64_t CellsInRow(DataSet data_set);
// 0 to count-1 in an order that depends on `seed` alone.
std::vector<uint32_t> Shuffled(uint64_t count, uint64_t seed);

class RowMaker {
 public:
  RowMaker(const Pool& pool, DataSet data_set) : pool_(pool), data_set_(data_set) {}
  // Row `row_index` as overwrite number `overwrite` leaves it (0: first written). Valid until the next call.
  const RowData& Make(uint64_t row_index, uint64_t overwrite = 0);

 private:
  void AddVersions(std::string_view family, std::string_view qualifier, uint64_t column_chance, uint64_t overwrite);

  const Pool& pool_;
  const DataSet data_set_;
  std::string row_key_;
  std::vector<CellData> cells_;
  RowData row_;
};

}  // namespace stele_compare
