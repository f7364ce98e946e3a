// base/checksum.h: the two hashes of Stele.
//
// Checksum64 is XXH3 with a seed, the only checksum in all file formats. SipHash128 is a keyed
// hash: without the key it is infeasible to construct collisions. It is for byte strings that a
// client chooses, where a collision would do harm.
//
// Format:    docs/reference/format/conventions.md says what each checksum covers and what seeds it.
// Source:    XXH3: libxxhash. SipHash: Aumasson and Bernstein, "SipHash: a fast short-input PRF";
//            SipHash-2-4, the reference code's 128-bit variant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stele::internal {

uint64_t Checksum64(std::string_view bytes, uint64_t seed = 0);

struct SipKey {
  uint64_t first = 0;
  uint64_t second = 0;
  friend bool operator==(const SipKey&, const SipKey&) = default;
};

// Returns 16 bytes.
std::string SipHash128(std::string_view bytes, const SipKey& key);

}  // namespace stele::internal
