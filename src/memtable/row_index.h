// memtable/row_index.h: finds a row of a memtable by its complete key, without a search in the
// sorted list: a hash table from row keys to rows.
//
// Used by:   memtable/row_list.cc adds each new row, and looks here before it searches.
// Layout:    32 parts, each a table with open addressing that doubles when it is 3/4 full. So an
//            insert moves the rows of at most one part. A slot has 19 bits of the hash of a
//            row, and its address. The lowest of these bits choose the slot, so moving a row does
//            not access it. A search accesses a row only if all 19 bits are equal.
// Gives up:  if memory is refused, if a row finds no empty slot among 512, if a part outgrows its
//            bits of the hash, or if an address has more than 48 bits. Find then returns nullopt,
//            and the caller searches the list.
// Threads:   one inserting thread and any number of concurrent readers. A reader finds every row
//            that was added before the sequence that it reads was published.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/arena.h"

namespace stele::internal {

class RowNode;

class RowIndex {
 public:
  RowIndex();
  RowIndex(const RowIndex&) = delete;
  RowIndex& operator=(const RowIndex&) = delete;

  // Each index has a random seed, so that keys with equal hashes are hard to choose.
  uint64_t HashOf(std::string_view row_key) const;
  // Returns the row, or nullptr if it was not added; nullopt if the index has given up.
  std::optional<RowNode*> Find(std::string_view row_key, uint64_t hash) const;
  // Adds a row whose key was not added before. The arena gives the memory.
  void Add(RowNode* row, uint64_t hash, Arena* arena);

 private:
  static constexpr size_t kPartBits = 5;
  static constexpr size_t kSlotsMin = 8;
  static constexpr size_t kSlotsMax = size_t{1} << 19;
  // An insert examines at most this many slots. If the hashes are evenly distributed, a part of
  // kSlotsMax slots needs about half of them.
  static constexpr size_t kProbesMax = 512;

  using Slot = std::atomic<uint64_t>;  // 0: empty
  // The slots follow it in the arena. Their number is a power of two.
  struct Part {
    explicit Part(size_t slot_count) : mask(slot_count - 1) {}
    Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
    const Slot* slots() const { return reinterpret_cast<const Slot*>(this + 1); }
    const size_t mask;
  };

  static size_t PartOf(uint64_t hash) { return hash >> (64 - kPartBits); }
  // The bits next to those that choose the part, in their place in a slot.
  static uint64_t HashBitsOf(uint64_t hash);
  static Part* MakePart(Arena* arena, size_t slot_count);
  // Stores the content of a slot in an empty one. Returns false if there is none within kProbesMax.
  static bool Place(uint64_t content, Part* part);
  // Replaces a part by one of twice the size. Returns false if that is impossible.
  bool Grow(size_t part, Arena* arena);
  void GiveUp() { gave_up_.store(true, std::memory_order_relaxed); }

  const uint64_t seed_;
  std::array<std::atomic<Part*>, size_t{1} << kPartBits> parts_{};  // null: empty
  // For the inserting thread: the rows of each part.
  std::array<uint32_t, size_t{1} << kPartBits> row_counts_{};
  std::atomic<bool> gave_up_{false};  // relaxed: the published sequence orders it
};

}  // namespace stele::internal
