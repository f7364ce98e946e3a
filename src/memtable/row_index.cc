#include "memtable/row_index.h"

#include <new>

#include "base/checksum.h"
#include "base/random.h"
#include "memtable/row_node.h"

namespace stele::internal {
namespace {

// The low bits of a slot are the address without its last three bits, which are always 0. The high
// bits are those of the hash.
constexpr int kAddressBits = 48;
constexpr int kAlignmentBits = 3;
constexpr int kHashShift = kAddressBits - kAlignmentBits;
constexpr int kHashBits = 64 - kHashShift;

size_t FirstPosition(uint64_t content, size_t mask) { return (content >> kHashShift) & mask; }

RowNode* RowOf(uint64_t content) {
  return reinterpret_cast<RowNode*>(
      static_cast<uintptr_t>(content << kHashBits >> kHashBits << kAlignmentBits));
}

}  // namespace

RowIndex::RowIndex() : seed_(RandomSeed()) {}

uint64_t RowIndex::HashBitsOf(uint64_t hash) {
  static_assert(kSlotsMax == size_t{1} << kHashBits);
  return hash << kPartBits >> kHashShift << kHashShift;
}

uint64_t RowIndex::HashOf(std::string_view row_key) const { return Checksum64(row_key, seed_); }

std::optional<RowNode*> RowIndex::Find(std::string_view row_key, uint64_t hash) const {
  if (gave_up_.load(std::memory_order_relaxed)) return std::nullopt;
  const Part* const part = parts_[PartOf(hash)].load(std::memory_order_acquire);
  if (part == nullptr) return nullptr;
  const uint64_t wanted = HashBitsOf(hash);
  // A quarter of the slots is empty.
  for (size_t position = FirstPosition(wanted, part->mask);;
       position = (position + 1) & part->mask) {
    const uint64_t content = part->slots()[position].load(std::memory_order_acquire);
    if (content == 0) return nullptr;
    if ((content ^ wanted) >> kHashShift != 0) continue;
    RowNode* const row = RowOf(content);
    if (row->row_key() == row_key) return row;
  }
}

void RowIndex::Add(RowNode* row, uint64_t hash, Arena* arena) {
  if (gave_up_.load(std::memory_order_relaxed)) return;
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(row));
  const size_t part = PartOf(hash);
  const Part* const present = parts_[part].load(std::memory_order_relaxed);
  const bool has_room = present != nullptr && row_counts_[part] < (present->mask + 1) / 4 * 3;
  if (address >> kAddressBits != 0 || (!has_room && !Grow(part, arena)) ||
      !Place(HashBitsOf(hash) | address >> kAlignmentBits,
             parts_[part].load(std::memory_order_relaxed))) {
    GiveUp();
    return;
  }
  ++row_counts_[part];
}

RowIndex::Part* RowIndex::MakePart(Arena* arena, size_t slot_count) {
  char* const memory = arena->Allocate(sizeof(Part) + slot_count * sizeof(Slot));
  if (memory == nullptr) return nullptr;
  auto* const part = new (memory) Part(slot_count);
  for (size_t i = 0; i < slot_count; ++i) new (part->slots() + i) Slot(0);
  return part;
}

bool RowIndex::Place(uint64_t content, Part* part) {
  size_t position = FirstPosition(content, part->mask);
  for (size_t probe = 0; probe < kProbesMax; ++probe) {
    Slot& slot = part->slots()[position];
    if (slot.load(std::memory_order_relaxed) == 0) {
      slot.store(content, std::memory_order_release);
      return true;
    }
    position = (position + 1) & part->mask;
  }
  return false;
}

// Replaces a part by one of twice the size. Readers may continue to use the old part, which stays
// in the arena.
bool RowIndex::Grow(size_t part, Arena* arena) {
  const Part* const old = parts_[part].load(std::memory_order_relaxed);
  const size_t slot_count = old == nullptr ? kSlotsMin : 2 * (old->mask + 1);
  Part* const grown = slot_count <= kSlotsMax ? MakePart(arena, slot_count) : nullptr;
  if (grown == nullptr) return false;
  for (size_t i = 0; old != nullptr && i <= old->mask; ++i) {
    const uint64_t content = old->slots()[i].load(std::memory_order_relaxed);
    if (content != 0 && !Place(content, grown)) return false;
  }
  parts_[part].store(grown, std::memory_order_release);
  return true;
}

}  // namespace stele::internal
