#include "base/hll.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/checksum.h"
#include "base/coding.h"

namespace stele::internal {
namespace {

constexpr char kSparse = 0;
constexpr char kDense = 1;
constexpr size_t kHeadBytes = 2;
constexpr int kRankBits = 6;  // in an entry, below its 25 index bits
constexpr uint32_t kRankMask = (1U << kRankBits) - 1;
// The bits of a sparse index below the register number.
constexpr int kInnerBits = kHllSparsePrecision - kHllPrecision;
constexpr uint32_t kInnerMask = (1U << kInnerBits) - 1;
constexpr int kRestBits = 64 - kHllSparsePrecision;
constexpr uint32_t kRestRankMax = kRestBits + 1;
constexpr size_t kDenseBytes = kHllRegisterCount * 6 / 8;
constexpr uint32_t kEntryMax = UINT32_MAX >> (32 - kHllSparsePrecision - kRankBits);

uint32_t IndexOf(uint32_t entry) { return entry >> kRankBits; }

// The rank is stored only if the index bits do not determine it.
uint32_t EntryOf(uint64_t hash) {
  const auto index = static_cast<uint32_t>(hash >> kRestBits);
  if ((index & kInnerMask) != 0) return index << kRankBits;
  const uint64_t rest = hash << kHllSparsePrecision;
  const uint32_t rank =
      rest == 0 ? kRestRankMax : static_cast<uint32_t>(std::countl_zero(rest)) + 1;
  return index << kRankBits | rank;
}

bool IsEntry(uint32_t entry) {
  const uint32_t rank = entry & kRankMask;
  if ((IndexOf(entry) & kInnerMask) != 0) return rank == 0;
  return rank >= 1 && rank <= kRestRankMax;
}

uint8_t RegisterValue(uint32_t entry) {
  const uint32_t inner = IndexOf(entry) & kInnerMask;
  if (inner == 0) return static_cast<uint8_t>(kInnerBits + (entry & kRankMask));
  return static_cast<uint8_t>(kInnerBits - std::bit_width(inner) + 1);
}

// Reads differences, each encoded in as few bytes as possible. Returns false if they are malformed.
bool ReadEntries(std::string_view body, std::vector<uint32_t>* entries) {
  entries->clear();
  ByteReader reader(body);
  uint32_t entry = 0;
  while (!reader.AtEnd()) {
    const size_t before = reader.remaining();
    uint32_t step;
    if (!reader.ReadVarint32(&step) ||
        before - reader.remaining() != static_cast<size_t>(std::bit_width(step | 1) + 6) / 7)
      return false;
    if (step > kEntryMax - entry || entries->size() == kHllSparseEntriesMax) return false;
    const bool is_first = entries->empty();
    const uint32_t next = entry + step;
    if (!IsEntry(next) || (!is_first && IndexOf(next) == IndexOf(entry))) return false;
    entries->push_back(entry = next);
  }
  return true;
}

// Four registers of six bits occupy three bytes, the first register in the lowest bits.
uint8_t RegisterAt(std::string_view body, size_t index) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(body.data()) + index / 4 * 3;
  const uint32_t four = bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16;
  return four >> (index % 4 * 6) & 0x3f;
}

bool IsDenseBody(std::string_view body) {
  if (body.size() != kDenseBytes) return false;
  for (size_t i = 0; i < kHllRegisterCount; ++i) {
    if (RegisterAt(body, i) > kHllRegisterMax) return false;
  }
  return true;
}

bool HasHead(std::string_view state) {
  return state.size() >= kHeadBytes && static_cast<uint8_t>(state[0]) == kHllFormat &&
         (state[1] == kSparse || state[1] == kDense);
}

// Ertl's sigma and tau: the contributions of the lowest and the highest register value, as limits
// of series.
double Sigma(double x) {
  if (x == 1) return HUGE_VAL;
  double z = x;
  for (double y = 1, before = -1; before != z; y += y) {
    x *= x;
    before = z;
    z += x * y;
  }
  return z;
}

double Tau(double x) {
  if (x == 0 || x == 1) return 0;
  double z = 1 - x;
  for (double y = 1, before = -1; before != z;) {
    x = std::sqrt(x);
    before = z;
    y /= 2;
    z -= (1 - x) * (1 - x) * y;
  }
  return z / 3;
}

}  // namespace

void AppendHllItem(std::string* state, std::string_view item) {
  state->push_back(static_cast<char>(kHllFormat));
  state->push_back(kSparse);
  AppendVarint(*state, EntryOf(Checksum64(item)));
}

bool IsHllState(std::string_view state) {
  if (!HasHead(state)) return false;
  const std::string_view body = state.substr(kHeadBytes);
  if (state[1] == kDense) return IsDenseBody(body);
  std::vector<uint32_t> entries;
  return ReadEntries(body, &entries);
}

std::optional<double> EstimateHll(std::string_view state) {
  HllSketch sketch;
  if (!sketch.Add(state)) return std::nullopt;
  return sketch.Estimate();
}

void HllSketch::Clear() {
  entries_.clear();
  registers_.clear();
}

bool HllSketch::Add(std::string_view state) {
  if (!HasHead(state)) return false;
  const std::string_view body = state.substr(kHeadBytes);
  return state[1] == kDense ? AddDense(body) : AddSparse(body);
}

bool HllSketch::AddSparse(std::string_view body) {
  if (!ReadEntries(body, &added_)) return false;
  if (is_dense()) {
    for (const uint32_t entry : added_) Raise(entry);
  } else {
    AddEntries();
  }
  return true;
}

// If two entries have the same index, the greater one is kept, since it has the greater rank.
void HllSketch::AddEntries() {
  merged_.clear();
  auto old_entry = entries_.begin();
  for (const uint32_t entry : added_) {
    while (old_entry != entries_.end() && IndexOf(*old_entry) < IndexOf(entry))
      merged_.push_back(*old_entry++);
    const bool is_same = old_entry != entries_.end() && IndexOf(*old_entry) == IndexOf(entry);
    merged_.push_back(is_same ? std::max(entry, *old_entry++) : entry);
  }
  merged_.insert(merged_.end(), old_entry, entries_.end());
  entries_.swap(merged_);
  if (entries_.size() > kHllSparseEntriesMax) BecomeDense();
}

bool HllSketch::AddDense(std::string_view body) {
  if (!IsDenseBody(body)) return false;
  if (!is_dense()) BecomeDense();
  for (size_t i = 0; i < kHllRegisterCount; ++i)
    registers_[i] = std::max(registers_[i], RegisterAt(body, i));
  return true;
}

void HllSketch::BecomeDense() {
  registers_.assign(kHllRegisterCount, 0);
  for (const uint32_t entry : entries_) Raise(entry);
  entries_.clear();
}

void HllSketch::Raise(uint32_t entry) {
  uint8_t& value = registers_[IndexOf(entry) >> kInnerBits];
  value = std::max(value, RegisterValue(entry));
}

void HllSketch::AppendState(std::string* out) const {
  out->push_back(static_cast<char>(kHllFormat));
  out->push_back(is_dense() ? kDense : kSparse);
  uint32_t before = 0;
  for (const uint32_t entry : entries_) {
    AppendVarint(*out, entry - before);
    before = entry;
  }
  for (size_t i = 0; i < registers_.size(); i += 4) {
    const uint32_t four = registers_[i] | uint32_t{registers_[i + 1]} << 6 |
                          uint32_t{registers_[i + 2]} << 12 | uint32_t{registers_[i + 3]} << 18;
    out->push_back(static_cast<char>(four));
    out->push_back(static_cast<char>(four >> 8));
    out->push_back(static_cast<char>(four >> 16));
  }
}

double HllSketch::Estimate() const {
  if (!is_dense()) {
    // The expected number of items that occupy this many of 2^25 places.
    const double places = 1 << kHllSparsePrecision;
    return -places * std::log1p(-static_cast<double>(entries_.size()) / places);
  }
  constexpr double kCount = kHllRegisterCount;
  std::array<uint32_t, kHllRegisterMax + 1> registers_of{};
  for (const uint8_t value : registers_) ++registers_of[value];
  double z = kCount * Tau(1 - registers_of[kHllRegisterMax] / kCount);
  for (int value = kHllRegisterMax - 1; value >= 1; --value)
    z = (z + registers_of[static_cast<size_t>(value)]) / 2;
  z += kCount * Sigma(registers_of[0] / kCount);
  return kCount * kCount / (2 * std::log(2.0)) / z;
}

}  // namespace stele::internal
