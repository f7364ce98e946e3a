// bench/compare/kv_cells.h: the encoding of cells in a key-value store, written and read as an
// experienced user would do it.
//
// Key:       esc(row key) 00 01 | family | esc(qualifier) 00 01 | big-endian ~timestamp. esc writes
//            FF after each 00. The cells of a row are adjacent, families are in order, and the
//            newest version of a column comes first. One memcmp with the row's prefix detects a
//            change of the row. Where a put replaces the older version, the timestamp is at the
//            front of the value instead.
// Cursors:   Templates over any iterator with Valid, Next, Prev, Seek, SeekToFirst, SeekToLast, and
//            key() and value() as string_view. SliceCursor adapts the iterators of LevelDB and
//            RocksDB.
// Threads:   One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "data.h"
#include "scan.h"
#include "tally.h"

namespace stele_compare {

constexpr size_t kTimestampBytes = 8;
constexpr size_t kEndBytes = 2;        // 00 01
constexpr int kVersionSteps = 8;       // older versions to step over before a seek past the column
constexpr int kForeignCellSteps = 10;  // cells of other columns to step over before a seek

enum class TimestampPlace : uint8_t { kKey, kValue };

inline void AppendEscaped(std::string* out, std::string_view bytes) {
  for (const char byte : bytes) {
    out->push_back(byte);
    if (byte == '\0') out->push_back('\xff');
  }
  out->append("\0\1", kEndBytes);
}

inline void AppendRowPrefix(std::string* out, std::string_view row_key) {
  AppendEscaped(out, row_key);
}

inline void AppendColumn(std::string* out, std::string_view family, std::string_view qualifier) {
  out->append(family);
  AppendEscaped(out, qualifier);
}

inline void AppendTimestamp(std::string* out, int64_t timestamp_micros) {
  const uint64_t bits = __builtin_bswap64(~static_cast<uint64_t>(timestamp_micros));
  out->append(reinterpret_cast<const char*>(&bits), kTimestampBytes);
}

// Calls put(key, value) for each cell of the row until it returns false.
template <typename Put>
void PutCells(const RowData& row, TimestampPlace place, const Put& put) {
  std::string key;
  std::string value;
  AppendRowPrefix(&key, row.row_key);
  const size_t prefix_bytes = key.size();
  for (const CellData& cell : row.cells) {
    key.resize(prefix_bytes);
    AppendColumn(&key, cell.family, cell.qualifier);
    if (place == TimestampPlace::kKey) {
      AppendTimestamp(&key, cell.timestamp_micros);
      if (!put(std::string_view(key), std::string_view(cell.value))) return;
      continue;
    }
    value.clear();
    AppendTimestamp(&value, cell.timestamp_micros);
    value += cell.value;
    if (!put(std::string_view(key), std::string_view(value))) return;
  }
}

// Returns the key of a cell whose timestamp is in the value.
inline std::string ColumnKey(std::string_view row_key, const ColumnName& column) {
  std::string key;
  AppendRowPrefix(&key, row_key);
  AppendColumn(&key, column.family, column.qualifier);
  return key;
}

// A put replaces a counter, so its timestamp is in the value.
inline std::string CounterKey(std::string_view row_key) {
  return ColumnKey(row_key, {kCounterFamily, kCounterQualifier});
}

// Makes the value of a counter with the present time and one more than `stored`, which is "" if
// there is no such counter. Returns false if `stored` is no counter.
inline bool IncrementKvCounter(std::string_view stored, std::string* value) {
  if (!stored.empty() && stored.size() != kTimestampBytes + kCounterBytes) return false;
  uint64_t bits = 0;
  if (!stored.empty()) std::memcpy(&bits, stored.data() + kTimestampBytes, kCounterBytes);
  bits = __builtin_bswap64(__builtin_bswap64(bits) + 1);
  const auto now =
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  value->clear();
  AppendTimestamp(value, now.time_since_epoch().count() * 1000);
  value->append(reinterpret_cast<const char*>(&bits), kCounterBytes);
  return true;
}

// Passes on a cell whose value begins with its timestamp. Returns false if it does not.
inline bool CountKvValue(const ColumnName& column, std::string_view value, Tally* tally) {
  if (value.size() < kTimestampBytes) return false;
  uint64_t bits;
  std::memcpy(&bits, value.data(), kTimestampBytes);
  value.remove_prefix(kTimestampBytes);
  tally->Cell(column.family, column.qualifier, static_cast<int64_t>(~__builtin_bswap64(bits)),
              value);
  return true;
}

template <typename Iterator>
class SliceCursor {
 public:
  explicit SliceCursor(Iterator* iterator) : iterator_(*iterator) {}
  bool Valid() const { return iterator_.Valid(); }
  void Next() { iterator_.Next(); }
  void Prev() { iterator_.Prev(); }
  void Seek(std::string_view key) { iterator_.Seek({key.data(), key.size()}); }
  void SeekToFirst() { iterator_.SeekToFirst(); }
  void SeekToLast() { iterator_.SeekToLast(); }
  std::string_view key() const { return ViewOf(iterator_.key()); }
  std::string_view value() const { return ViewOf(iterator_.value()); }

 private:
  template <typename Slice>
  static std::string_view ViewOf(const Slice& slice) {
    return {slice.data(), slice.size()};
  }

  Iterator& iterator_;
};

// Returns the length of the escaped text at the front, including its end mark, or npos if there is
// no end mark.
inline size_t EscapedBytes(std::string_view key) {
  for (size_t at = key.find('\0'); at != std::string_view::npos && at + 1 < key.size();
       at = key.find('\0', at + 2)) {
    if (key[at + 1] == '\1') return at + kEndBytes;
  }
  return std::string_view::npos;
}

// Returns the unescaped bytes. `escaped` excludes the end mark. Copies into `buffer` only if a byte
// was escaped.
inline std::string_view Unescaped(std::string_view escaped, std::string* buffer) {
  if (escaped.find('\0') == std::string_view::npos) return escaped;
  buffer->clear();
  for (size_t i = 0; i < escaped.size(); ++i) {
    buffer->push_back(escaped[i]);
    if (escaped[i] == '\0') ++i;
  }
  return *buffer;
}

// Decodes keys. It keeps the row of the previous key to detect a change of the row.
class CellKey {
 public:
  explicit CellKey(TimestampPlace place)
      : timestamp_bytes_(place == TimestampPlace::kKey ? kTimestampBytes : 0) {}

  // Returns false if the key is not in this encoding.
  bool Decode(std::string_view key) {
    key_ = key;
    is_new_row_ = prefix_.empty() || key.size() < prefix_.size() ||
                  std::memcmp(key.data(), prefix_.data(), prefix_.size()) != 0;
    if (is_new_row_) {
      const size_t bytes = EscapedBytes(key);
      if (bytes == std::string_view::npos) return false;
      prefix_.assign(key.substr(0, bytes));
      row_key_ = Unescaped(std::string_view(prefix_).substr(0, bytes - kEndBytes), &row_buffer_);
    }
    return key.size() >= prefix_.size() + 1 + kEndBytes + timestamp_bytes_;
  }
  bool is_new_row() const { return is_new_row_; }
  std::string_view prefix() const { return prefix_; }
  std::string_view row_key() const { return row_key_; }
  // Family and qualifier, as encoded in the key.
  std::string_view column() const {
    return key_.substr(prefix_.size(), key_.size() - prefix_.size() - timestamp_bytes_);
  }
  std::string_view key_without_timestamp() const {
    return key_.substr(0, key_.size() - timestamp_bytes_);
  }
  std::string_view family() const { return key_.substr(prefix_.size(), 1); }
  std::string_view qualifier() {
    return Unescaped(key_.substr(prefix_.size() + 1,
                                 key_.size() - prefix_.size() - 1 - kEndBytes - timestamp_bytes_),
                     &qualifier_buffer_);
  }
  // Passes the cell on. Returns false if the value has no timestamp but should.
  bool Count(std::string_view value, Tally* tally) {
    if (timestamp_bytes_ == 0) return CountKvValue({family(), qualifier()}, value, tally);
    uint64_t bits;
    std::memcpy(&bits, key_.data() + key_.size() - kTimestampBytes, kTimestampBytes);
    tally->Cell(family(), qualifier(), static_cast<int64_t>(~__builtin_bswap64(bits)), value);
    return true;
  }

 private:
  const size_t timestamp_bytes_;
  std::string_view key_;
  std::string prefix_;  // of the row, with its end mark
  std::string_view row_key_;
  std::string row_buffer_;
  std::string qualifier_buffer_;
  bool is_new_row_ = false;
};

// Reads the newest version of each column of at most `rows_max` rows, while keys begin with
// `prefix`.
template <typename Iterator>
bool ReadKvLatest(Iterator& cursor, std::string_view prefix, uint64_t rows_max, Tally* tally) {
  CellKey cell(TimestampPlace::kKey);
  std::string shown;  // the key of the last column reported, without timestamp
  int steps = 0;
  while (cursor.Valid()) {
    const std::string_view key = cursor.key();
    if (!key.starts_with(prefix)) break;
    if (!shown.empty() && key.size() == shown.size() + kTimestampBytes && key.starts_with(shown)) {
      if (++steps <= kVersionSteps) {
        cursor.Next();
      } else {
        shown.back() = '\2';  // after every version: the column's text ends in 00 01
        cursor.Seek(shown);
        shown.clear();
      }
      continue;
    }
    if (!cell.Decode(key)) return false;
    if (cell.is_new_row()) {
      if (rows_max-- == 0) break;
      tally->Row(cell.row_key());
    }
    if (!cell.Count(cursor.value(), tally)) return false;
    shown.assign(cell.key_without_timestamp());
    steps = 0;
    cursor.Next();
  }
  return true;
}

// Reads a row, or only the newest version of each of its columns. Returns false if a key is not in
// this encoding.
template <typename Iterator>
bool ReadKvRow(Iterator& cursor, std::string_view row_prefix, TimestampPlace place,
               bool latest_only, Tally* tally) {
  cursor.Seek(row_prefix);
  if (latest_only && place == TimestampPlace::kKey)
    return ReadKvLatest(cursor, row_prefix, 1, tally);
  CellKey cell(place);
  for (; cursor.Valid(); cursor.Next()) {
    const std::string_view key = cursor.key();
    if (!key.starts_with(row_prefix)) break;
    if (!cell.Decode(key)) return false;
    if (cell.is_new_row()) tally->Row(cell.row_key());
    if (!cell.Count(cursor.value(), tally)) return false;
  }
  return true;
}

// Reads all cells from the cursor on, forwards or backwards.
template <typename Iterator>
bool ScanKvCells(Iterator& cursor, const Scan& scan, TimestampPlace place, Tally* tally) {
  CellKey cell(place);
  uint64_t rows_left = scan.RowsMax();
  while (cursor.Valid()) {
    if (!cell.Decode(cursor.key())) return false;
    if (cell.is_new_row()) {
      if (rows_left-- == 0 || !cell.row_key().starts_with(scan.row_prefix)) break;
      tally->Row(cell.row_key());
    }
    if (!cell.Count(cursor.value(), tally)) return false;
    if (scan.is_reverse) {
      cursor.Prev();
    } else {
      cursor.Next();
    }
  }
  return true;
}

// Reads the cells whose value begins with `scan.value_start`, until it has found as many rows as
// requested.
template <typename Iterator>
bool ScanKvMatching(Iterator& cursor, const Scan& scan, TimestampPlace place, Tally* tally) {
  const size_t value_at = place == TimestampPlace::kKey ? 0 : kTimestampBytes;
  CellKey cell(place);
  uint64_t rows_left = scan.RowsMax();
  bool is_shown = false;  // the row
  for (; cursor.Valid(); cursor.Next()) {
    if (!cell.Decode(cursor.key())) return false;
    if (cell.is_new_row()) {
      if (rows_left == 0) break;
      is_shown = false;
    }
    const std::string_view value = cursor.value();
    if (value.size() < value_at) return false;
    if (!value.substr(value_at).starts_with(scan.value_start)) continue;
    if (!is_shown) {
      tally->Row(cell.row_key());
      --rows_left;
      is_shown = true;
    }
    if (!cell.Count(value, tally)) return false;
  }
  return true;
}

// Reads one column of the rows from the cursor on.
template <typename Iterator>
bool ScanKvColumn(Iterator& cursor, const Scan& scan, TimestampPlace place, Tally* tally) {
  CellKey cell(place);
  std::string wanted;
  AppendColumn(&wanted, scan.family, scan.qualifier);
  std::string target;
  std::string shown_row;
  uint64_t rows_left = scan.RowsMax();
  int steps = 0;
  while (cursor.Valid()) {
    if (!cell.Decode(cursor.key())) return false;
    if (cell.is_new_row() && rows_left == 0) break;
    const std::string_view column = cell.column();
    if (column == wanted) {
      if (shown_row != cell.prefix()) {
        tally->Row(cell.row_key());
        --rows_left;
      }
      shown_row.assign(cell.prefix());
      if (!cell.Count(cursor.value(), tally)) return false;
      steps = 0;
      cursor.Next();
    } else if (++steps <= kForeignCellSteps) {
      cursor.Next();
    } else {
      target.assign(cell.prefix());
      if (column < wanted) {
        target += wanted;
      } else {
        target.back() = '\2';  // after the row
      }
      cursor.Seek(target);
      steps = 0;
    }
  }
  return true;
}

// Moves to the first cell of the scan.
template <typename Iterator>
void SeekStart(Iterator& cursor, const Scan& scan) {
  if (!scan.IsShort()) return scan.is_reverse ? cursor.SeekToLast() : cursor.SeekToFirst();
  std::string start;
  AppendRowPrefix(&start, scan.start);
  if (!scan.is_reverse) return cursor.Seek(start);
  start.back() = '\2';  // after the row
  cursor.Seek(start);
  if (cursor.Valid()) {
    cursor.Prev();
  } else {
    cursor.SeekToLast();
  }
}

template <typename Iterator>
bool ScanKv(Iterator& cursor, const Scan& scan, TimestampPlace place, Tally* tally) {
  SeekStart(cursor, scan);
  if (scan.latest_only && place == TimestampPlace::kKey)
    return ReadKvLatest(cursor, "", scan.RowsMax(), tally);
  if (!scan.family.empty()) return ScanKvColumn(cursor, scan, place, tally);
  if (!scan.value_start.empty()) return ScanKvMatching(cursor, scan, place, tally);
  return ScanKvCells(cursor, scan, place, tally);
}

}  // namespace stele_compare
