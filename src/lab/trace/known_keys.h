// trace/known_keys.h: keeps a sample of the row keys of a table, or of the keys in its operations,
// in order.
//
// Threads:   confined to one thread.
// Memory:    `bytes_max`. If the keys do not fit, only one in two, four, eight, ... is kept. Those
//            of a table are chosen by position, and those of a trace by hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stele::internal::lab {

class KnownKeys {
 public:
  static constexpr size_t kBytesMax = size_t{12} << 20;

  explicit KnownKeys(size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

  // Adds the next key of a table. Keys come in order.
  void AddInOrder(std::string_view row_key);
  // Adds a key of a trace. `is_row`: it is a row key, and not only the start of a scan. For one
  // object, call either this function or AddInOrder, not both.
  void Add(std::string_view key, bool is_row);
  // Drops about half of the kept keys of a trace.
  void Halve();
  // Call it after the last key.
  void Finish();

  // The bytes that keys occupy.
  size_t bytes() const { return bytes_; }
  // The number of different keys, with those that were left out. For a trace it is known after
  // Finish(), and is an estimate if keys were left out.
  uint64_t count() const { return count_; }
  // The kept keys in order, after Finish().
  const std::vector<std::string>& keys() const { return keys_; }
  bool is_row(size_t index) const { return is_row_.empty() || is_row_[index]; }
  // The index of the greatest kept key that is not above `key`; 0 if there is none.
  size_t IndexOf(std::string_view key) const;

 private:
  static constexpr size_t kTableKeyBytes = 48;   // the overhead of a key in keys_
  static constexpr size_t kTraceKeyBytes = 112;  // the overhead of a key in found_

  size_t bytes_max_;
  size_t bytes_ = 0;
  uint64_t count_ = 0;
  uint64_t stride_ = 1;  // a power of two: one key of this many is kept
  std::vector<std::string> keys_;
  std::vector<bool> is_row_;                     // of keys_; empty: all are
  std::unordered_map<std::string, bool> found_;  // the keys of a trace, until Finish()
};

}  // namespace stele::internal::lab
