// bench/layout_lab/page.h: one unit of decoding, columnar inside. It has a head (counts, arrays,
// row keys) and the values.
//
// Format:    The head starts with four u32: rows, cells, bytes of the part that finds a row, and
//            bytes that all keys share. The part that finds a row follows: packed arrays of key
//            ends and row ends, the shared prefix, and the remainders of the keys. It comes first,
//            so that a lookup reads few cache lines. After it come packed arrays of columns,
//            timestamps and value ends, then the values. A varint before the timestamps is the unit
//            that divides all of them.
//
//            A packed array is width (0, 1, 2, 4, 8), stride (varint), base (signed varint), then
//            width bytes per element. Element i = base + stride * i + remainder i.
//
// Errors:    A page is trusted. The lab reads only its own output and compares hashes of all cells.
// Threads:   PageView is immutable.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/coding.h"
#include "data_set.h"

namespace stele::layout_lab {

// Returns the length of the common prefix.
size_t SharedBytes(std::string_view a, std::string_view b);

// Readable after every page: an element is loaded as eight bytes and masked.
inline constexpr size_t kSlackBytes = 8;

class PackedArray {
 public:
  uint64_t operator[](size_t i) const {
    return base_ + stride_ * i + (internal::LoadFixed64(rests_ + i * width_) & mask_);
  }
  // Returns the first byte after the array.
  const char* Open(const char* at, size_t count);

 private:
  const char* rests_ = nullptr;
  uint64_t mask_ = 0;
  uint64_t base_ = 0;
  uint64_t stride_ = 0;
  uint32_t width_ = 0;
};

class PageWriter {
 public:
  void AddRow(std::string_view row_key);
  void AddCell(const StoredCell& cell);  // a cell of the last row added
  bool empty() const { return columns_.empty(); }
  size_t row_count() const { return key_ends_.size(); }
  // The approximate size of head and values.
  size_t raw_bytes() const { return raw_bytes_; }
  // Replaces head and values, and starts the next page.
  void Finish(std::string* head, std::string* values);

 private:
  size_t raw_bytes_ = 0;
  std::string keys_;
  std::vector<int64_t> key_ends_, row_ends_, columns_, timestamps_, value_ends_;
  std::string values_;
};

class PageView {
 public:
  static size_t RowsBytes(const char* head) { return internal::LoadFixed32(head + 8); }
  // Opens the part that finds a row. The other parts may be elsewhere, or not decoded yet.
  void OpenRows(const char* head);
  const char* rows_end() const { return rows_end_; }
  // Opens columns, timestamps and value ends. Returns their end.
  const char* OpenCells(const char* cells);
  void SetValues(const char* values) { values_ = values; }

  uint32_t row_count() const { return row_count_; }
  uint32_t row_begin(uint32_t row) const {
    return row == 0 ? 0 : static_cast<uint32_t>(row_ends_[row - 1]);
  }
  uint32_t row_end(uint32_t row) const { return static_cast<uint32_t>(row_ends_[row]); }
  uint32_t column(uint32_t cell) const { return static_cast<uint32_t>(columns_[cell]); }
  int64_t timestamp(uint32_t cell) const {
    return static_cast<int64_t>(timestamps_[cell]) * timestamp_unit_;
  }
  std::string_view value(uint32_t cell) const {
    const uint64_t begin = cell == 0 ? 0 : value_ends_[cell - 1];
    return {values_ + begin, value_ends_[cell] - begin};
  }
  std::string_view key_prefix() const { return prefix_; }
  std::string_view key_rest(uint32_t row) const {
    const uint64_t begin = row == 0 ? 0 : key_ends_[row - 1];
    return {keys_ + begin, key_ends_[row] - begin};
  }
  // Returns the ordinal of the row, or row_count().
  uint32_t Find(std::string_view row_key) const;

 private:
  PackedArray key_ends_, row_ends_, columns_, timestamps_, value_ends_;
  int64_t timestamp_unit_ = 1;
  std::string_view prefix_;
  const char* keys_ = nullptr;
  const char* rows_end_ = nullptr;
  const char* values_ = nullptr;
  uint32_t row_count_ = 0;
  uint32_t cell_count_ = 0;
};

}  // namespace stele::layout_lab
