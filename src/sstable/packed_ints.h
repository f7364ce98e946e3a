// sstable/packed_ints.h: an array of integers stored as base + stride * index + a fixed-width rest, read in place at any index.
//
// Path:      page_builder -> AppendPacked*; page -> PackedInts.
// Format:    docs/format/sstable.md "Packed integers": width (0, 1, 2, 4 or 8 bytes), base (signed varint), stride (varint), then the
//            rests. Equal values, and offsets of equally long things, have width 0 and cost nothing but the head.
// Errors:    ReadFrom answers false for a head or length that is not possible. Values are any: the reader of a page checks them once.
// Threads:   plain values.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/coding.h"

namespace stele::internal {

// At least this many bytes must be readable after the last array: an element is loaded as eight bytes and masked.
inline constexpr size_t kPackedSlackBytes = 8;

class PackedInts {
 public:
  uint64_t operator[](size_t index) const {
    return base_ + uint64_t{stride_} * index + (LoadFixed64(rests_ + index * width_) & kMasks[width_]);
  }
  uint32_t width() const { return width_; }
  // The element without its rest: no memory is looked at.
  uint64_t trend(size_t index) const { return base_ + uint64_t{stride_} * index; }
  // The element's place in memory, if it takes any.
  const char* address(size_t index) const { return rests_ + index * width_; }

  // Takes the head and `count` rests from `in`, whose bytes stay alive. Elements of [0, count) may then be loaded.
  bool ReadFrom(ByteReader* in, uint64_t count);
  // All of [0, count) lie in [least, greatest].
  bool AllWithin(uint64_t count, uint64_t least, uint64_t greatest) const;
  // [0, count] are `count` + 1 offsets: the first 0, none less than the one before, the last `end`.
  bool AreOffsets(uint64_t count, uint64_t end) const;

 private:
  // By width. Not a member: a page has six of these, and its head is waited for.
  static constexpr uint64_t kMasks[9] = {0, 0xff, 0xffff, 0, 0xffff'ffff, 0, 0, 0, ~uint64_t{0}};

  const char* rests_ = nullptr;
  uint64_t base_ = 0;
  uint32_t stride_ = 0;
  uint32_t width_ = 0;
};

// Values without a trend.
void AppendPackedValues(std::string* out, std::span<const int64_t> values);
void AppendPackedValues(std::string* out, std::span<const uint32_t> values);
void AppendPackedValues(std::string* out, std::span<const uint8_t> values);
// Ascending values, about equally far apart.
void AppendPackedOffsets(std::string* out, std::span<const uint32_t> offsets);

}  // namespace stele::internal
