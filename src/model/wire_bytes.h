// model/wire_bytes.h: how long a protocol buffer message would be, for limits that Bigtable states in bytes of a message.
//
// Units:     bytes. Sums stop at kWireBytesCap, since shared children can make an expression grow exponentially.
// Threads:   pure functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace stele::internal {

inline constexpr uint64_t kWireBytesCap = uint64_t{1} << 40;

inline uint64_t VarintWireBytes(uint64_t value) { return (static_cast<uint64_t>(std::bit_width(value | 1)) + 6) / 7; }
// A signed field: a negative number takes ten bytes.
inline uint64_t Int64WireBytes(int64_t value) { return VarintWireBytes(static_cast<uint64_t>(value)); }
// A field of length-prefixed bytes with a tag of one byte.
inline uint64_t FieldWireBytes(uint64_t content_bytes) {
  return std::min(kWireBytesCap, 1 + VarintWireBytes(content_bytes) + content_bytes);
}

}  // namespace stele::internal
