// base/sip_hash.h: SipHash-2-4 with 128 bits, a keyed hash. Without the key it is infeasible to
// construct collisions.
//
// Use:       names of byte strings that a client chooses, where a collision would do harm. Use
//            Checksum64 for everything else.
// Source:    Aumasson and Bernstein, "SipHash: a fast short-input PRF"; the reference code's
//            128-bit variant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stele::internal {

struct SipKey {
  uint64_t first = 0;
  uint64_t second = 0;
  friend bool operator==(const SipKey&, const SipKey&) = default;
};

// Returns 16 bytes.
std::string SipHash128(std::string_view bytes, const SipKey& key);

}  // namespace stele::internal
