#include "support/cell_naive_fold.h"

#include <algorithm>
#include <map>

#include "base/checksum.h"

namespace stele::internal {
namespace {

// The state of a sketch. Sparse: maps a 25-bit index to the greatest (leading zeros + 1) of the
// other 39 bits. Dense: the same per register.
struct NaiveState {
  bool is_dense = false;
  std::map<uint32_t, uint32_t> sparse;
  std::vector<uint32_t> registers = std::vector<uint32_t>(16384, 0);
};

uint32_t LeadingZeros(uint64_t bits, int width) {
  uint32_t zeros = 0;
  for (int bit = width - 1; bit >= 0 && (bits >> bit & 1) == 0; --bit) ++zeros;
  return zeros;
}

void MakeDense(NaiveState* state) {
  if (state->is_dense) return;
  state->is_dense = true;
  for (const auto& [index, rank] : state->sparse) {
    const uint32_t inner = index % 2048;
    const uint32_t value = inner == 0 ? 11 + rank : LeadingZeros(inner, 11) + 1;
    state->registers[index / 2048] = std::max(state->registers[index / 2048], value);
  }
  state->sparse.clear();
}

void AddPlace(uint32_t index, uint32_t rank, NaiveState* state) {
  uint32_t& greatest = state->sparse[index];
  greatest = std::max(greatest, rank);
}

NaiveState Decoded(std::string_view bytes) {
  NaiveState state;
  if (bytes[1] == 0) {
    uint64_t entry = 0;
    uint64_t step = 0;
    int shift = 0;
    for (const char c : bytes.substr(2)) {
      step |= static_cast<uint64_t>(c & 0x7f) << shift;
      shift += 7;
      if ((c & 0x80) != 0) continue;
      entry += step;
      AddPlace(static_cast<uint32_t>(entry / 64), static_cast<uint32_t>(entry % 64), &state);
      step = 0;
      shift = 0;
    }
    return state;
  }
  MakeDense(&state);
  for (size_t bit = 0; bit < 16384 * 6; ++bit) {
    const auto byte = static_cast<unsigned char>(bytes[2 + bit / 8]);
    if ((byte >> bit % 8 & 1) != 0) state.registers[bit / 6] |= 1U << bit % 6;
  }
  return state;
}

std::string Encoded(NaiveState state) {
  if (state.sparse.size() > 3072) MakeDense(&state);
  std::string bytes = {1, state.is_dense ? '\1' : '\0'};
  if (state.is_dense) {
    bytes.resize(2 + 12288);
    for (size_t bit = 0; bit < 16384 * 6; ++bit) {
      if ((state.registers[bit / 6] >> bit % 6 & 1) != 0)
        bytes[2 + bit / 8] = static_cast<char>(bytes[2 + bit / 8] | 1 << bit % 8);
    }
    return bytes;
  }
  uint32_t before = 0;
  for (const auto& [index, rank] : state.sparse) {
    uint32_t step = index * 64 + rank - before;
    before += step;
    for (; step >= 128; step /= 128) bytes.push_back(static_cast<char>(step % 128 + 128));
    bytes.push_back(static_cast<char>(step));
  }
  return bytes;
}

std::string FoldSketches(const std::vector<std::string>& values) {
  NaiveState sum = Decoded(values.front());
  for (const std::string& value : values) {
    NaiveState other = Decoded(value);
    if (other.is_dense) MakeDense(&sum);
    if (sum.is_dense) MakeDense(&other);
    for (const auto& [index, rank] : other.sparse) AddPlace(index, rank, &sum);
    for (size_t i = 0; i < 16384; ++i)
      sum.registers[i] = std::max(sum.registers[i], other.registers[i]);
  }
  return Encoded(std::move(sum));
}

}  // namespace

std::string NaiveNumber(int64_t number) {
  std::string value;
  for (int shift = 56; shift >= 0; shift -= 8)
    value.push_back(static_cast<char>(static_cast<uint64_t>(number) >> shift));
  return value;
}

int64_t NaiveNumberOf(std::string_view value) {
  uint64_t number = 0;
  for (const char c : value) number = number * 256 + static_cast<unsigned char>(c);
  return static_cast<int64_t>(number);
}

std::string NaiveFold(std::string_view aggregate, const std::vector<std::string>& values) {
  if (aggregate == "hll") return FoldSketches(values);
  std::vector<int64_t> numbers;
  for (const std::string& value : values) numbers.push_back(NaiveNumberOf(value));
  if (aggregate == "min") return NaiveNumber(*std::min_element(numbers.begin(), numbers.end()));
  if (aggregate == "max") return NaiveNumber(*std::max_element(numbers.begin(), numbers.end()));
  uint64_t sum = 0;
  for (const int64_t number : numbers) sum += static_cast<uint64_t>(number);
  return NaiveNumber(static_cast<int64_t>(sum));
}

std::string NaiveSketchOfHashes(const std::vector<uint64_t>& hashes) {
  NaiveState state;
  for (const uint64_t hash : hashes) {
    const auto index = static_cast<uint32_t>(hash >> 39);
    AddPlace(index, index % 2048 != 0 ? 0 : LeadingZeros(hash & ((uint64_t{1} << 39) - 1), 39) + 1,
             &state);
  }
  return Encoded(std::move(state));
}

std::string NaiveSketch(const std::vector<std::string>& items) {
  std::vector<uint64_t> hashes;
  for (const std::string& item : items) hashes.push_back(Checksum64(item));
  return NaiveSketchOfHashes(hashes);
}

}  // namespace stele::internal
