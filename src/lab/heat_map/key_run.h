// heat_map/key_run.h: sorted keys with counts, compressed in memory.
//
// Format:    blocks of about 64 KiB, compressed with zstd. Each key has a varint of the bytes that
//            it shares with the key before it in the block, its other bytes with their length, and
//            a varint of its count.
// Threads:   confined to one thread.
// Memory:    about 4 to 7 bytes per key for keys that have a number or a hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/coding.h"

namespace stele::internal::lab {

// The number of bytes at the beginning that both have.
size_t SharedBytes(std::string_view a, std::string_view b);
// The 8 bytes after the first `skipped` ones, as a big-endian number. Missing bytes are zero. If
// two keys have the same first `skipped` bytes and different heads, the heads order them.
uint64_t HeadOf(std::string_view key, size_t skipped);

class KeyRun {
 public:
  struct Block {
    std::string compressed;
    size_t plain_bytes = 0;
  };

  // Keys must ascend.
  void Append(std::string_view key, uint64_t count);
  // Must follow the last Append().
  void Finish() { EndBlock(); }

  uint64_t keys() const { return keys_; }
  uint64_t bytes() const { return bytes_; }  // in memory
  std::vector<Block>& blocks() { return blocks_; }

 private:
  void EndBlock();

  std::vector<Block> blocks_;
  std::string open_block_;
  std::string last_key_;
  uint64_t keys_ = 0;
  uint64_t bytes_ = 0;
};

// Reads a run in order.
class KeyRunCursor {
 public:
  enum class Blocks : uint8_t { kKept, kFreed };  // after they were read
  KeyRunCursor(KeyRun* run, Blocks blocks) : run_(run), blocks_(blocks) {}

  // Returns false at the end. key() is valid until the next call.
  bool Next();
  std::string_view key() const { return key_; }
  uint64_t count() const { return count_; }

 private:
  bool NextBlock();

  KeyRun* const run_;
  const Blocks blocks_;
  size_t next_block_ = 0;
  std::string plain_;
  ByteReader rest_{""};  // of plain_
  std::string key_;
  uint64_t count_ = 0;
};

}  // namespace stele::internal::lab
