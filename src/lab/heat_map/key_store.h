// heat_map/key_store.h: the known keys of all tables, each with the number of its point operations.
//
// Threads:   confined to one thread.
// Memory:    a buffer of 80 MiB, and `bytes_max` for compressed keys. If they need more, only every
//            2nd, 4th, ... key is known; a hash of the key selects them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/heat_map/key_run.h"

namespace stele::internal::lab {

class KeyStore {
 public:
  static constexpr uint64_t kDefaultBytesMax = uint64_t{340} << 20;

  explicit KeyStore(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // `table`: a number that the caller gives to the table. `count`: at most UINT32_MAX.
  void Add(uint16_t table, std::string_view key, uint64_t count);
  // Must follow the last Add().
  void Finish();

  // Calls `visit` for every known key, by table and key, with the sum of its counts.
  using Visit = std::function<void(uint16_t table, std::string_view key, uint64_t count)>;
  void ForEach(const Visit& visit);
  // The number of known keys of a table.
  uint64_t KeysOf(uint16_t table) const;
  // 1 in `keys_per_known_key()` keys is known.
  uint64_t keys_per_known_key() const { return uint64_t{1} << shift_; }

 private:
  // A key in bytes_, after the number of its table in 2 bytes.
  struct Entry {
    uint64_t head = 0;  // the first bytes after those that all keys share
    uint32_t offset = 0;
    uint32_t length = 0;
    uint32_t count = 0;
  };

  bool IsKnown(std::string_view key) const;
  std::string_view KeyOf(const Entry& entry) const {
    return std::string_view(bytes_).substr(entry.offset, entry.length);
  }
  void SortBuffer();
  // Makes a run of the buffer.
  void EmptyBuffer();
  // Makes one run of all, without the keys that are not known any more.
  void MergeRuns();

  const uint64_t bytes_max_;
  std::string bytes_;
  std::vector<Entry> entries_;
  size_t shared_ = 0;  // bytes that all keys in the buffer share
  std::vector<KeyRun> runs_;
  uint64_t run_bytes_ = 0;
  unsigned shift_ = 0;
  std::vector<uint64_t> keys_of_tables_;
};

}  // namespace stele::internal::lab
