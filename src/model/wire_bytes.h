// model/wire_bytes.h: computes the sizes of protocol buffer messages. Bigtable's limits are sizes
// of messages.
//
// Units:     bytes. Sums saturate at kWireBytesCap, since shared children can make an expression
//            grow exponentially.
// Threads:   pure functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace stele::internal {

inline constexpr uint64_t kWireBytesCap = uint64_t{1} << 40;

inline uint64_t VarintWireBytes(uint64_t value) {
  return (static_cast<uint64_t>(std::bit_width(value | 1)) + 6) / 7;
}
// The size of a signed field; a negative number takes ten bytes.
inline uint64_t Int64WireBytes(int64_t value) {
  return VarintWireBytes(static_cast<uint64_t>(value));
}
// The size of a length-prefixed field with a tag of one byte.
inline uint64_t FieldWireBytes(uint64_t content_bytes) {
  return std::min(kWireBytesCap, 1 + VarintWireBytes(content_bytes) + content_bytes);
}

}  // namespace stele::internal
