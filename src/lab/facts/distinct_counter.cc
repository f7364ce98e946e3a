#include "lab/facts/distinct_counter.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/checksum.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kSlotsMin = 64;
constexpr size_t kSlotsMax = 1'250'000;

size_t SlotOf(uint64_t hash, size_t slot_count) {
  return static_cast<size_t>((static_cast<unsigned __int128>(hash) * slot_count) >> 64);
}

// True if the hash was not in a slot.
bool Insert(uint64_t hash, std::vector<uint64_t>& slots) {
  size_t slot = SlotOf(hash, slots.size());
  while (slots[slot] != 0) {
    if (slots[slot] == hash) return false;
    if (++slot == slots.size()) slot = 0;
  }
  slots[slot] = hash;
  return true;
}

}  // namespace

void DistinctCounter::Add(std::string_view value) {
  AddHash(std::max<uint64_t>(Checksum64(value), 1));
}

void DistinctCounter::AddHash(uint64_t hash) {
  if (is_estimate_) {
    AddToSketch(hash);
    return;
  }
  if (slots_.empty()) slots_.resize(kSlotsMin);
  if (!Insert(hash, slots_)) return;
  ++used_;
  if (used_ > kExactMax) {
    is_estimate_ = true;
    for (const uint64_t known : slots_)
      if (known != 0) AddToSketch(known);
    slots_ = {};
  } else if (used_ * 5 > slots_.size() * 4 && slots_.size() < kSlotsMax) {
    Grow();
  }
}

void DistinctCounter::Grow() {
  std::vector<uint64_t> larger(std::min(kSlotsMax, slots_.size() * 3 / 2));
  for (const uint64_t known : slots_)
    if (known != 0) Insert(known, larger);
  slots_ = std::move(larger);
}

void DistinctCounter::AddToSketch(uint64_t hash) {
  char bytes[sizeof hash];
  for (size_t i = 0; i < sizeof hash; ++i) bytes[i] = static_cast<char>(hash >> (8 * i));
  std::string state;
  AppendHllItem(&state, std::string_view(bytes, sizeof bytes));
  sketch_.Add(state);
}

uint64_t DistinctCounter::Count() const {
  return is_estimate_ ? static_cast<uint64_t>(std::llround(sketch_.Estimate())) : used_;
}

}  // namespace stele::internal::lab
