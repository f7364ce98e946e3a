// sstable/format/packed_ints.h: an array of integers, each stored as base + stride * index + a
// remainder of fixed width. Any element can be read in place.
//
// Used by:   sstable/write/page_builder.cc (AppendPackedOffsets, AppendPackedValues),
//            sstable/read/page.cc (PackedInts).
// Format:    docs/reference/format/sstable.md "Pages": width (0, 1, 2, 4 or 8 bytes), base
//            (signed varint), stride (varint), then the remainders. Equal values, and offsets
//            of items of equal length, have width 0 and need only the head.
// Errors:    ReadFrom returns false for an impossible head or length. Values are not checked: the
//            reader of a page checks them once.
// Threads:   plain values.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/coding.h"

namespace stele::internal {

// At least this many bytes must be readable after the last array: an element is loaded as eight
// bytes and masked.
inline constexpr size_t kPackedSlackBytes = 8;

class PackedInts {
 public:
  uint64_t operator[](size_t index) const {
    return base_ + uint64_t{stride_} * index +
           (LoadFixed64(remainders_ + index * width_) & kMasks[width_]);
  }
  uint32_t width() const { return width_; }
  // The element without its remainder; does not access memory.
  uint64_t predicted(size_t index) const { return base_ + uint64_t{stride_} * index; }
  // The address of the element's remainder, which has no bytes if width() is 0.
  const char* address(size_t index) const { return remainders_ + index * width_; }

  // Loads elements one after the other. Cheaper than operator[] for each of them.
  class Reader {
   public:
    Reader(const PackedInts& array, size_t index)
        : remainder_(array.address(index)),
          predicted_(array.predicted(index)),
          mask_(kMasks[array.width_]),
          width_(array.width_),
          stride_(array.stride_) {}

    uint64_t Next() {
      const uint64_t element = predicted_ + (LoadFixed64(remainder_) & mask_);
      remainder_ += width_;
      predicted_ += stride_;
      return element;
    }

   private:
    const char* remainder_;
    uint64_t predicted_;
    uint64_t mask_;
    uint32_t width_;
    uint32_t stride_;
  };

  // Parses the head and `count` remainders from `in`, whose bytes must stay alive. After that the
  // elements [0, count) may be loaded.
  bool ReadFrom(ByteReader* in, uint64_t count);
  // True if the elements [0, count) are in [least, greatest].
  bool AllWithin(uint64_t count, uint64_t least, uint64_t greatest) const;
  // True if [0, count] are `count` + 1 offsets: the first is 0, they do not descend, and the last
  // is `end`.
  bool AreOffsets(uint64_t count, uint64_t end) const;

 private:
  // By width. Static, so that the objects are small: a page has six of them, and a read waits for
  // the memory of the page object.
  static constexpr uint64_t kMasks[9] = {0, 0xff, 0xffff, 0, 0xffff'ffff, 0, 0, 0, ~uint64_t{0}};

  const char* remainders_ = nullptr;
  uint64_t base_ = 0;
  uint32_t stride_ = 0;
  uint32_t width_ = 0;
};

// Encodes values without a stride.
void AppendPackedValues(std::string* out, std::span<const int64_t> values);
void AppendPackedValues(std::string* out, std::span<const uint32_t> values);
void AppendPackedValues(std::string* out, std::span<const uint8_t> values);
// Encodes ascending values with roughly equal distances.
void AppendPackedOffsets(std::string* out, std::span<const uint32_t> offsets);

}  // namespace stele::internal
